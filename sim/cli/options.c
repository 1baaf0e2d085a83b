#include "core/base/assert.h"
#include "core/base/nearest.h"
#include "sim/cli/cli.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum exit_code unknown_option(const char *command, const char *name,
                                     const struct option *options, size_t count)
{
    struct nearest nearest = nearest_begin(bytes_of(name));
    for (size_t i = 0; i < count; i++)
        nearest_offer(&nearest, options[i].name);
    if (nearest_name(&nearest) != NULL)
        return usage_error(command, "unknown option \"%s\"; did you mean \"%s\"?", name,
                           nearest_name(&nearest));
    return usage_error(command, "unknown option \"%s\"", name);
}

enum exit_code options_parse(int argc, char **argv, const struct option *options, size_t count,
                             int *words)
{
    ASSERT(argc >= 1);
    *words = 0;
    bool ended = false;
    for (int i = 1; i < argc; i++) {
        char *word = argv[i];
        if (ended || strncmp(word, "--", 2) != 0) {
            argv[++*words] = word;
            continue;
        }
        if (word[2] == 0) {
            ended = true;
            continue;
        }
        size_t size = strcspn(word, "=");
        const struct option *found = NULL;
        for (size_t k = 0; k < count && found == NULL; k++)
            if (strlen(options[k].name) == size && memcmp(options[k].name, word, size) == 0)
                found = &options[k];
        char name[64];
        snprintf(name, sizeof(name), "%.*s", (int)(size < 60 ? size : 60), word);
        if (found == NULL)
            return unknown_option(argv[0], name, options, count);
        if (found->flag != NULL) {
            if (word[size] == '=')
                return usage_error(argv[0], "option \"%s\" takes no value", name);
            *found->flag = true;
        } else if (word[size] == '=') {
            *found->value = word + size + 1;
        } else if (i + 1 < argc) {
            *found->value = argv[++i];
        } else {
            return usage_error(argv[0], "option \"%s\" needs a value", name);
        }
    }
    return EXIT_GOOD;
}

void complain(const struct err *err)
{
    fprintf(stderr, "metersim: %s\n", err->message);
    if (err->hint[0] != 0)
        fprintf(stderr, "hint: %s\n", err->hint);
}

enum exit_code usage_error(const char *command, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    fprintf(stderr, "metersim %s: %s\n", command, text);
    for (size_t i = 0; i < command_count; i++)
        if (strcmp(commands[i].name, command) == 0)
            fprintf(stderr, "usage: metersim %s %s\n", command, commands[i].arguments);
    return EXIT_USAGE;
}

bool parse_int(const char *text, int64_t *value)
{
    char *end;
    errno = 0;
    long long parsed = strtoll(text, &end, 10);
    if (errno != 0 || end == text || *end != 0 || text[0] == ' ')
        return false;
    *value = parsed;
    return true;
}

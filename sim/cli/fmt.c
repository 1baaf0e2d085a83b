/* metersim fmt: scenarios in their canonical form. metersim doctor: what the machine has. */
#include "sim/base/file.h"
#include "sim/cli/cli.h"
#include "sim/scenario/scenario.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define FMT_ARENA_BYTES ((size_t)512 * 1024 * 1024)
#define FMT_FILE_BYTES  ((size_t)4 * 1024 * 1024)

static bool write_whole(const char *path, const char *text, size_t size)
{
    char temporary[1100];
    snprintf(temporary, sizeof(temporary), "%s.new", path);
    FILE *file = fopen(temporary, "w");
    if (file == NULL)
        return false;
    bool good = fwrite(text, 1, size, file) == size;
    good = fclose(file) == 0 && good;
    if (good && rename(temporary, path) == 0)
        return true;
    remove(temporary);
    return false;
}

static enum exit_code format_file(const char *path, bool check)
{
    struct arena arena;
    struct bytes text;
    struct scenario *scenario;
    struct scenario_errors errors = {0};
    struct err err = {0};
    enum exit_code code = EXIT_GOOD;
    arena_init(&arena, FMT_ARENA_BYTES);
    if (file_read(path, FMT_FILE_BYTES, &arena, &text, &err) != STATUS_OK) {
        complain(&err);
        code = EXIT_USAGE;
    } else if (scenario_parse(path, (const char *)text.data, text.size, &arena, &scenario,
                              &errors) != STATUS_OK) {
        char line[600];
        for (size_t i = 0; i < errors.count; i++) {
            scenario_error_format(path, &errors.errors[i], line, sizeof(line));
            fprintf(stderr, "%s\n", line);
        }
        code = EXIT_USAGE;
    } else {
        size_t size = 0;
        const char *canonical = scenario_print(scenario, &arena, &size);
        bool same =
            canonical != NULL && size == text.size && memcmp(canonical, text.data, size) == 0;
        if (canonical == NULL) {
            fprintf(stderr, "metersim: no memory to print \"%s\"\n", path);
            code = EXIT_INTERNAL;
        } else if (check && !same) {
            printf("%s is not in canonical form\n", path);
            code = EXIT_FELL;
        } else if (!same && !write_whole(path, canonical, size)) {
            fprintf(stderr, "metersim: could not write \"%s\": %s\n", path, strerror(errno));
            code = EXIT_USAGE;
        }
    }
    arena_free(&arena);
    return code;
}

enum exit_code command_fmt(int argc, char **argv)
{
    bool check = false;
    int words;
    const struct option known[] = {{"--check", NULL, &check}};
    enum exit_code code = options_parse(argc, argv, known, 1, &words);
    if (code != EXIT_GOOD)
        return code;
    if (words == 0)
        return usage_error(argv[0], "at least one FILE is required");
    for (int i = 1; i <= words; i++) {
        enum exit_code one = format_file(argv[i], check);
        if (one > code)
            code = one;
    }
    return code;
}

/* metersim fmt: scenarios in their canonical form. */
#include "sim/base/file.h"
#include "sim/cli/cli.h"
#include "sim/scenario/scenario.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FMT_ARENA_BYTES ((size_t)512 * 1024 * 1024)
#define FMT_FILE_BYTES  ((size_t)4 * 1024 * 1024)

/* Fills and renames a file beside it, so that a full disk costs nothing; errno says what failed. */
static bool replace(const char *path, char *temporary, const char *text, size_t size)
{
    struct stat about;
    int descriptor = mkstemp(temporary);
    if (descriptor < 0)
        return false;
    FILE *file = fdopen(descriptor, "w");
    bool good = file != NULL && stat(path, &about) == 0 &&
                fchmod(descriptor, about.st_mode & 07777) == 0 &&
                fwrite(text, 1, size, file) == size && fflush(file) == 0;
    int reason = errno;
    if (file != NULL ? fclose(file) != 0 && good : close(descriptor) != 0) {
        reason = errno;
        good = false;
    }
    if (good && rename(temporary, path) == 0)
        return true;
    reason = good ? errno : reason;
    remove(temporary);
    errno = reason;
    return false;
}

/* Through a symbolic link to the file itself. */
static bool write_whole(const char *link, const char *text, size_t size)
{
    char *path = realpath(link, NULL);
    size_t room = path != NULL ? strlen(path) + 8 : 0;
    char *temporary = path != NULL ? malloc(room) : NULL;
    bool good = false;
    if (temporary != NULL) {
        snprintf(temporary, room, "%s.XXXXXX", path);
        good = replace(path, temporary, text, size);
    }
    int reason = errno;
    free(temporary);
    free(path);
    errno = reason;
    return good;
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

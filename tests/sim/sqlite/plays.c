#include "tests/sim/sqlite/plays.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *read_all(const char *path)
{
    FILE *file = fopen(path, "r");
    if (!file || fseek(file, 0, SEEK_END) != 0) {
        fprintf(stderr, "could not read \"%s\": run from the root of the repository\n", path);
        exit(2);
    }
    size_t size = (size_t)ftell(file);
    char *text = calloc(1, size + 1);
    rewind(file);
    if (!text || fread(text, 1, size, file) != size) {
        fprintf(stderr, "could not read \"%s\"\n", path);
        exit(2);
    }
    fclose(file);
    return text;
}

struct play_file play_file_read(const char *path)
{
    struct play_file file = {.memory = read_all(path)};
    for (const char *at = file.memory; (at = strstr(at, "\n== ")); at++)
        file.count++;
    file.plays = calloc(file.count, sizeof *file.plays);
    char *at = strstr(file.memory, "\n== ");
    for (size_t i = 0; file.plays && at; i++) {
        char *title = at + strlen("\n== ");
        char *lines = title + strcspn(title, "\n") + 1;
        lines[-1] = '\0';
        at = strstr(lines, "\n== ");
        if (at)
            *at = '\0';
        file.plays[i] = (struct play_text){.title = title, .lines = lines};
    }
    return file;
}

void play_file_free(struct play_file *file)
{
    free(file->plays);
    free(file->memory);
    *file = (struct play_file){0};
}

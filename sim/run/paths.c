#include "sim/run/paths.h"

#include "core/base/assert.h"
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FOLDER "scenarios/"

static const char *format_path(struct arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static const char *format_path(struct arena *arena, const char *format, ...)
{
    va_list arguments;
    char *text = NULL;
    va_start(arguments, format);
    int size = vasprintf(&text, format, arguments);
    va_end(arguments);
    const char *kept = size >= 0 ? arena_copy(arena, text, (size_t)size) : NULL;
    free(text);
    return kept;
}

/* Where the last folder `scenarios` of a path begins; NULL: there is none. */
static const char *find_folder(const char *path)
{
    const char *found = NULL;
    for (const char *at = strstr(path, FOLDER); at != NULL; at = strstr(at + 1, FOLDER))
        if (at == path || at[-1] == '/')
            found = at;
    return found;
}

/* A path split in two: root_size bytes of root, and from rest on what is below it. */
struct split {
    const char *path;
    size_t root_size;
    const char *rest; /* "scenarios/poison/x.scn", or the file's name alone */
    bool in_tree;     /* there is a folder `scenarios` */
};

/* False: the arena is exhausted. */
static bool split_path(const char *scenario, struct arena *arena, struct split *split)
{
    const char *path = strncmp(scenario, "./", 2) == 0 ? scenario + 2 : scenario;
    const char *folder = find_folder(path);
    char *whole = folder == NULL ? realpath(scenario, NULL) : NULL;
    if (whole != NULL && find_folder(whole) != NULL) {
        path = arena_copy(arena, whole, strlen(whole));
        folder = path != NULL ? find_folder(path) : NULL;
    }
    free(whole);
    if (path == NULL)
        return false;
    const char *slash = strrchr(path, '/');
    split->path = path;
    split->in_tree = folder != NULL;
    split->rest = folder != NULL ? folder : slash != NULL ? slash + 1 : path;
    split->root_size = (size_t)(split->rest - path);
    return true;
}

const char *path_golden(const char *scenario, struct arena *arena)
{
    static const size_t ending = sizeof(".scn") - 1;
    struct split split;
    if (!split_path(scenario, arena, &split))
        return NULL;
    const char *rest = split.in_tree ? split.rest + strlen(FOLDER) : split.rest;
    size_t size = strlen(rest);
    ASSERT(size > ending && strcmp(rest + size - ending, ".scn") == 0);
    return format_path(arena, "%.*s%s%.*s.golden", (int)split.root_size, split.path,
                       split.in_tree ? "golden/" : "", (int)(size - ending), rest);
}

const char *path_data(const char *scenario, const char *name, struct arena *arena)
{
    struct split split;
    if (!split_path(scenario, arena, &split))
        return NULL;
    return format_path(arena, "%.*stests/data/%s", (int)split.root_size, split.path, name);
}

const char *path_name(const char *scenario, struct arena *arena)
{
    struct split split;
    if (!split_path(scenario, arena, &split))
        return NULL;
    return split.in_tree ? split.rest : scenario;
}

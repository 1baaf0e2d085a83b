#include "sim/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SHOWN_BYTES 160 /* of a path in a message */

static const char *kind_of(mode_t mode)
{
    if (S_ISDIR(mode))
        return "a folder";
    if (S_ISFIFO(mode))
        return "a pipe";
    if (S_ISSOCK(mode))
        return "a socket";
    return "a device";
}

/* NULL with err filled. A pipe that nobody writes would never end, nor would /dev/zero. */
static FILE *open_regular(const char *path, size_t limit, struct err *err)
{
    struct stat about;
    int descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    FILE *file = NULL;
    const char *shown = err_tail(path, SHOWN_BYTES);
    if (descriptor < 0 || fstat(descriptor, &about) != 0) {
        /* a socket cannot be opened at all, ENXIO says it badly */
        bool socket = errno == ENXIO && stat(path, &about) == 0 && S_ISSOCK(about.st_mode);
        err_set(err, STATUS_IO, NULL, "could not open file \"%s\": %s", shown,
                socket ? "it is a socket" : strerror(errno));
    } else if (!S_ISREG(about.st_mode)) {
        err_set(err, STATUS_IO, NULL, "cannot read \"%s\": it is %s, not a file", shown,
                kind_of(about.st_mode));
        err_hint(err, "%s",
                 S_ISDIR(about.st_mode) ? "name the files in it" : "write it to a file first");
    } else if (about.st_size > 0 && (uintmax_t)about.st_size > limit) {
        err_set(err, STATUS_INVALID, NULL, "file \"%s\" is larger than %zu bytes", shown, limit);
    } else if ((file = fdopen(descriptor, "rb")) == NULL) {
        err_set(err, STATUS_NO_MEMORY, NULL, "no memory for file \"%s\"", shown);
    }
    if (file == NULL && descriptor >= 0)
        close(descriptor);
    return file;
}

enum status file_read(const char *path, size_t limit, struct arena *arena, struct bytes *out,
                      struct err *err)
{
    const char *shown = err_tail(path, SHOWN_BYTES);
    FILE *file = open_regular(path, limit, err);
    if (file == NULL)
        return err->status;
    size_t capacity = 64 * 1024;
    size_t used = 0;
    char *buffer = malloc(capacity);
    bool whole = false;
    enum status status = STATUS_OK;
    while (buffer != NULL) {
        size_t got = fread(buffer + used, 1, capacity - used, file);
        used += got;
        whole = got == 0;
        if (whole || used > limit)
            break;
        if (used == capacity) {
            char *grown = realloc(buffer, capacity * 2);
            if (grown == NULL)
                break;
            buffer = grown;
            capacity *= 2;
        }
    }
    if (ferror(file))
        status =
            err_set(err, STATUS_IO, NULL, "could not read file \"%s\": %s", shown, strerror(errno));
    else if (used > limit)
        status = err_set(err, STATUS_INVALID, NULL, "file \"%s\" is larger than %zu bytes", shown,
                         limit);
    fclose(file);
    if (status == STATUS_OK) {
        out->data = whole ? arena_copy(arena, buffer, used) : NULL;
        out->size = used;
        if (out->data == NULL)
            status = err_set(err, STATUS_NO_MEMORY, NULL, "no memory for file \"%s\"", shown);
    }
    free(buffer);
    return status;
}

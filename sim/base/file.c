#include "sim/base/file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum status file_read(const char *path, size_t limit, struct arena *arena, struct bytes *out,
                      struct err *err)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return err_set(err, STATUS_IO, NULL, "could not open file \"%s\": %s", path,
                       strerror(errno));
    size_t capacity = 64 * 1024;
    size_t used = 0;
    char *buffer = malloc(capacity);
    enum status status = STATUS_OK;
    while (buffer != NULL) {
        size_t got = fread(buffer + used, 1, capacity - used, file);
        used += got;
        if (got == 0 || used > limit)
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
            err_set(err, STATUS_IO, NULL, "could not read file \"%s\": %s", path, strerror(errno));
    else if (used > limit)
        status =
            err_set(err, STATUS_INVALID, NULL, "file \"%s\" is larger than %zu bytes", path, limit);
    fclose(file);
    if (status == STATUS_OK) {
        out->data = buffer != NULL ? arena_copy(arena, buffer, used) : NULL;
        out->size = used;
        if (out->data == NULL)
            status = err_set(err, STATUS_NO_MEMORY, NULL, "no memory for file \"%s\"", path);
    }
    free(buffer);
    return status;
}

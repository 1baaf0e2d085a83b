/* Whole files. */
#ifndef SIM_BASE_FILE_H
#define SIM_BASE_FILE_H

#include "core/base/arena.h"
#include "core/base/bytes.h"
#include "core/base/err.h"

/* A whole file into arena, NUL behind it. limit: the most bytes taken. STATUS_IO: it could not be
 * opened or read, or is no regular file (a pipe is never waited for); STATUS_INVALID: it is larger;
 * STATUS_NO_MEMORY. */
enum status file_read(const char *path, size_t limit, struct arena *arena, struct bytes *out,
                      struct err *err);

#endif

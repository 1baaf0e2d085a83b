/* How values lie in SQLite: bigint[15] is 120 bytes, little endian; uuid is 36 lower-case
 * characters. Private to core/store/sqlite.
 */
#ifndef CORE_STORE_SQLITE_CODEC_H
#define CORE_STORE_SQLITE_CODEC_H

#include "core/base/bytes.h"
#include "core/model/histogram.h"
#include <sqlite3.h>

#define BUCKETS_BLOB_SIZE (HISTOGRAM_BUCKETS * 8)

void buckets_encode(const struct histogram *histogram, uint8_t out[BUCKETS_BLOB_SIZE]);
/* False unless the size is right and no bucket is negative. */
bool buckets_decode(const void *blob, size_t size, struct histogram *out);

/* What PostgreSQL stores as text in a UTF-8 database: valid UTF-8 without NUL. Control characters
 * are the writer's business (R-DEC-3), not the store's. */
bool text_is_valid(struct bytes text);

/* The extended code of an error that names its own SQLSTATE: the first five characters of the
 * message, then a space. Set by function_error, read by sqlite_error. */
#define SQLITE_ERROR_SQLSTATE (SQLITE_ERROR | (200 << 8))

#endif

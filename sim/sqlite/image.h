/* Rows and keys of SQLite as bytes: values one after the other,
 *
 *   integer, float   type byte, 8 bytes in the machine's order
 *   text, blob       type byte, uint32 size, the bytes
 *   null             type byte
 *
 * Equal keys have equal bytes: key columns are integers, text or blobs with binary collation.
 */
#ifndef SIM_SQLITE_IMAGE_H
#define SIM_SQLITE_IMAGE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A growing buffer. Zero is an empty one. failed: out of memory; the bytes are then no image. */
struct image_buffer {
    uint8_t *data;
    size_t size;
    size_t capacity;
    bool failed;
};

void image_clear(struct image_buffer *buffer);
void image_free(struct image_buffer *buffer);

void image_put_integer(struct image_buffer *buffer, int64_t value);
/* type: SQLITE_TEXT or SQLITE_BLOB. */
void image_put_bytes(struct image_buffer *buffer, int type, const void *data, size_t size);
/* Bytes that are values already. */
void image_put_raw(struct image_buffer *buffer, const uint8_t *image, size_t size);
/* An argument of an SQL function or of the preupdate hook. */
void image_put_value(struct image_buffer *buffer, sqlite3_value *value);
/* A column of the statement's current row. */
void image_put_column(struct image_buffer *buffer, sqlite3_stmt *statement, int column);

/* The bytes of the value at image. */
size_t image_value_size(const uint8_t *image);
/* Binds count values from image on to the parameters first, first + 1, ... The bytes must outlive
 * the statement's run. False when SQLite refuses. */
bool image_bind(sqlite3_stmt *statement, int first, const uint8_t *image, int count);

#endif

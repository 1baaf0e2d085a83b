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

#include "core/base/assert.h"
#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* A growing buffer. Zero is an empty one. failed: out of memory; the bytes are then no image. */
struct image_buffer {
    uint8_t *data;
    size_t size;
    size_t capacity;
    bool failed;
};

void image_free(struct image_buffer *buffer);
/* Makes room for size more bytes; false: out of memory. */
bool image_grow(struct image_buffer *buffer, size_t size);

/* Every key and every old image goes through the next four. */
static inline void image_clear(struct image_buffer *buffer)
{
    buffer->size = 0;
    buffer->failed = false;
}

static inline uint8_t *image_reserve(struct image_buffer *buffer, size_t size)
{
    if (buffer->capacity - buffer->size < size && !image_grow(buffer, size))
        return NULL;
    uint8_t *place = buffer->data + buffer->size;
    buffer->size += size;
    return place;
}

static inline void image_put_integer(struct image_buffer *buffer, int64_t value)
{
    uint8_t *place = image_reserve(buffer, 9);
    if (!place)
        return;
    place[0] = SQLITE_INTEGER;
    memcpy(place + 1, &value, 8);
}

/* type: SQLITE_TEXT or SQLITE_BLOB. */
static inline void image_put_bytes(struct image_buffer *buffer, int type, const void *data,
                                   size_t size)
{
    ASSERT(size <= UINT32_MAX);
    uint8_t *place = image_reserve(buffer, 5 + size);
    if (!place)
        return;
    uint32_t size32 = (uint32_t)size;
    place[0] = (uint8_t)type;
    memcpy(place + 1, &size32, 4);
    if (size > 0)
        memcpy(place + 5, data, size);
}

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

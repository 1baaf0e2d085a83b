#include "sim/sqlite/image.h"

#include <stdlib.h>

void image_free(struct image_buffer *buffer)
{
    free(buffer->data);
    *buffer = (struct image_buffer){0};
}

bool image_grow(struct image_buffer *buffer, size_t size)
{
    size_t capacity = (buffer->size + size) * 2;
    uint8_t *data = realloc(buffer->data, capacity);
    if (!data) {
        buffer->failed = true;
        return false;
    }
    buffer->data = data;
    buffer->capacity = capacity;
    return true;
}

static void put_float(struct image_buffer *buffer, double value)
{
    uint8_t *place = image_reserve(buffer, 9);
    if (!place)
        return;
    place[0] = SQLITE_FLOAT;
    memcpy(place + 1, &value, 8);
}

void image_put_raw(struct image_buffer *buffer, const uint8_t *image, size_t size)
{
    uint8_t *place = image_reserve(buffer, size);
    if (place && size > 0)
        memcpy(place, image, size);
}

static void put_null(struct image_buffer *buffer)
{
    uint8_t *place = image_reserve(buffer, 1);
    if (place)
        place[0] = SQLITE_NULL;
}

/* Text is taken as a blob: sqlite3_value_text would copy it to end it with a NUL. */
void image_put_value(struct image_buffer *buffer, sqlite3_value *value)
{
    int type = sqlite3_value_type(value);
    switch (type) {
    case SQLITE_INTEGER:
        image_put_integer(buffer, sqlite3_value_int64(value));
        break;
    case SQLITE_FLOAT:
        put_float(buffer, sqlite3_value_double(value));
        break;
    case SQLITE_TEXT:
    case SQLITE_BLOB: {
        const void *data = sqlite3_value_blob(value);
        image_put_bytes(buffer, type, data, (size_t)sqlite3_value_bytes(value));
        break;
    }
    default:
        put_null(buffer);
    }
}

void image_put_column(struct image_buffer *buffer, sqlite3_stmt *statement, int column)
{
    int type = sqlite3_column_type(statement, column);
    switch (type) {
    case SQLITE_INTEGER:
        image_put_integer(buffer, sqlite3_column_int64(statement, column));
        break;
    case SQLITE_FLOAT:
        put_float(buffer, sqlite3_column_double(statement, column));
        break;
    case SQLITE_TEXT:
    case SQLITE_BLOB: {
        const void *data = sqlite3_column_blob(statement, column);
        image_put_bytes(buffer, type, data, (size_t)sqlite3_column_bytes(statement, column));
        break;
    }
    default:
        put_null(buffer);
    }
}

size_t image_value_size(const uint8_t *image)
{
    uint32_t size32;
    switch (image[0]) {
    case SQLITE_INTEGER:
    case SQLITE_FLOAT:
        return 9;
    case SQLITE_NULL:
        return 1;
    default:
        memcpy(&size32, image + 1, 4);
        return 5 + (size_t)size32;
    }
}

static int bind_one(sqlite3_stmt *statement, int parameter, const uint8_t *image)
{
    int64_t integer;
    double number;
    uint32_t size32;
    switch (image[0]) {
    case SQLITE_INTEGER:
        memcpy(&integer, image + 1, 8);
        return sqlite3_bind_int64(statement, parameter, integer);
    case SQLITE_FLOAT:
        memcpy(&number, image + 1, 8);
        return sqlite3_bind_double(statement, parameter, number);
    case SQLITE_NULL:
        return sqlite3_bind_null(statement, parameter);
    default:
        memcpy(&size32, image + 1, 4);
        if (image[0] == SQLITE_TEXT)
            return sqlite3_bind_text(statement, parameter, (const char *)image + 5, (int)size32,
                                     SQLITE_STATIC);
        return sqlite3_bind_blob(statement, parameter, image + 5, (int)size32, SQLITE_STATIC);
    }
}

bool image_bind(sqlite3_stmt *statement, int first, const uint8_t *image, int count)
{
    for (int i = 0; i < count; i++) {
        if (bind_one(statement, first + i, image) != SQLITE_OK)
            return false;
        image += image_value_size(image);
    }
    return true;
}

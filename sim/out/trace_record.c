#include "sim/out/trace_record.h"

#include "core/base/assert.h"
#include "core/base/time.h"
#include "core/store/call.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the buffer ---- */

void trace_buffer_grow(struct trace_buffer *buffer, size_t size)
{
    size_t capacity = buffer->capacity ? buffer->capacity : 4096;
    while (capacity - buffer->size < size)
        capacity *= 2;
    uint8_t *data = realloc(buffer->data, capacity);
    ASSERT(data);
    buffer->data = data;
    buffer->capacity = capacity;
}

void trace_buffer_put(struct trace_buffer *buffer, const void *data, size_t size)
{
    memcpy(trace_buffer_reserve(buffer, size), data, size);
    buffer->size += size;
}

void trace_buffer_free(struct trace_buffer *buffer)
{
    free(buffer->data);
    *buffer = (struct trace_buffer){0};
}

/* ---- reading a record; its bytes are our own, so a misfit is a programmer error ---- */

struct cursor {
    const uint8_t *at;
    size_t left;
};

static const uint8_t *take(struct cursor *cursor, size_t size)
{
    ASSERT(size <= cursor->left);
    const uint8_t *at = cursor->at;
    cursor->at += size;
    cursor->left -= size;
    return at;
}

static uint64_t take_int(struct cursor *cursor, size_t size)
{
    const uint8_t *at = take(cursor, size);
    uint64_t value = 0;
    for (size_t i = 0; i < size; i++)
        value |= (uint64_t)at[i] << (8 * i);
    return value;
}

static struct bytes take_bytes(struct cursor *cursor)
{
    size_t size = (size_t)take_int(cursor, 4);
    return (struct bytes){take(cursor, size), size};
}

/* ---- JSON ---- */

static void put_string(struct trace_buffer *line, const char *string)
{
    trace_buffer_put(line, string, strlen(string));
}

static void put_integer(struct trace_buffer *line, int64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRId64, value);
    put_string(line, text);
}

/* A run of bytes without ASCII control characters. What is no text is shown as U+FFFD a byte. */
static void put_run(struct trace_buffer *line, struct bytes run)
{
    bool is_text = text_is_storable(run);
    for (size_t i = 0; i < run.size; i++) {
        uint8_t byte = run.data[i];
        if (byte == '"' || byte == '\\')
            put_string(line, "\\");
        if (byte < 0x80 || is_text)
            trace_buffer_put(line, &byte, 1);
        else
            put_string(line, "\\ufffd");
    }
}

static void put_text(struct trace_buffer *line, struct bytes text)
{
    put_string(line, "\"");
    size_t start = 0;
    for (size_t i = 0; i <= text.size; i++) {
        bool control = i < text.size && (text.data[i] < 0x20 || text.data[i] == 0x7f);
        if (i < text.size && !control)
            continue;
        put_run(line, (struct bytes){text.data + start, i - start});
        if (control) {
            char escape[8];
            snprintf(escape, sizeof escape, "\\u%04x", text.data[i]);
            put_string(line, escape);
        }
        start = i + 1;
    }
    put_string(line, "\"");
}

static void put_hex(struct trace_buffer *line, struct bytes bytes)
{
    static const char digits[] = "0123456789abcdef";
    put_string(line, "\"");
    for (size_t i = 0; i < bytes.size; i++) {
        char pair[2] = {digits[bytes.data[i] >> 4], digits[bytes.data[i] & 15]};
        trace_buffer_put(line, pair, 2);
    }
    put_string(line, "\"");
}

static void put_bits(struct trace_buffer *line, uint64_t bits)
{
    char text[24];
    snprintf(text, sizeof text, "\"%016" PRIx64 "\"", bits);
    put_string(line, text);
}

/* Outside of what nanoseconds can hold the bare number is shown. */
static void put_time_us(struct trace_buffer *line, int64_t us)
{
    if (us > INT64_MAX / NS_PER_US || us < INT64_MIN / NS_PER_US) {
        put_integer(line, us);
        return;
    }
    char text[TIME_TEXT_SIZE];
    time_format_ns(us * NS_PER_US, text);
    put_text(line, bytes_of(text));
}

static void put_date(struct trace_buffer *line, int64_t day)
{
    if (day > INT64_MAX / NS_PER_DAY || day < INT64_MIN / NS_PER_DAY) {
        put_integer(line, day);
        return;
    }
    char text[TIME_TEXT_SIZE];
    day_format(day, text);
    put_text(line, bytes_of(text));
}

static void put_buckets(struct trace_buffer *line, struct cursor *cursor)
{
    for (int i = 0; i < HISTOGRAM_BUCKETS; i++) {
        put_string(line, i ? "," : "[");
        put_integer(line, (int64_t)take_int(cursor, 8));
    }
    put_string(line, "]");
}

static void put_value(struct trace_buffer *line, enum value_type type, struct cursor *cursor)
{
    char uuid_text[UUID_TEXT_SIZE + 1];
    struct uuid uuid;
    switch (type) {
    case VALUE_INT:
        put_integer(line, (int64_t)take_int(cursor, 8));
        return;
    case VALUE_BOOL:
        put_string(line, take_int(cursor, 8) ? "true" : "false");
        return;
    case VALUE_TIME:
        put_time_us(line, (int64_t)take_int(cursor, 8));
        return;
    case VALUE_DATE:
        put_date(line, (int64_t)take_int(cursor, 8));
        return;
    case VALUE_FLOAT:
        put_bits(line, take_int(cursor, 8));
        return;
    case VALUE_TEXT:
        put_text(line, take_bytes(cursor));
        return;
    case VALUE_BYTES:
        put_hex(line, take_bytes(cursor));
        return;
    case VALUE_UUID:
        memcpy(uuid.bytes, take(cursor, 16), 16);
        uuid_format(&uuid, uuid_text);
        put_text(line, bytes_of(uuid_text));
        return;
    case VALUE_BUCKETS:
        put_buckets(line, cursor);
        return;
    }
    assert_fail("every value type is shown", __FILE__, __LINE__);
}

static void put_rows(struct trace_buffer *line, struct cursor *cursor)
{
    struct bytes names[QUERY_COLUMNS_MAX];
    enum value_type types[QUERY_COLUMNS_MAX];
    size_t columns = take_int(cursor, 1);
    ASSERT(columns <= QUERY_COLUMNS_MAX);
    for (size_t c = 0; c < columns; c++) {
        names[c] = take_bytes(cursor);
        types[c] = (enum value_type)take_int(cursor, 1);
    }
    uint64_t rows = take_int(cursor, 4);
    put_string(line, "[");
    for (uint64_t r = 0; r < rows; r++) {
        put_string(line, r ? ",{" : "{");
        for (size_t c = 0; c < columns; c++) {
            put_string(line, c ? "," : "");
            put_text(line, names[c]);
            put_string(line, ":");
            put_value(line, types[c], cursor);
        }
        put_string(line, "}");
    }
    put_string(line, "]");
}

static void put_field(struct trace_buffer *line, struct cursor *cursor)
{
    enum trace_field field = (enum trace_field)take_int(cursor, 1);
    put_string(line, ",");
    put_text(line, take_bytes(cursor));
    put_string(line, ":");
    switch (field) {
    case TRACE_INT:
        put_integer(line, (int64_t)take_int(cursor, 8));
        return;
    case TRACE_NUMBER:
        put_bits(line, take_int(cursor, 8));
        return;
    case TRACE_TEXT:
        put_text(line, take_bytes(cursor));
        return;
    case TRACE_HEX:
        put_hex(line, take_bytes(cursor));
        return;
    case TRACE_ROWS:
        put_rows(line, cursor);
        return;
    }
    assert_fail("every field is shown", __FILE__, __LINE__);
}

void trace_record_json(struct bytes record, struct trace_buffer *line)
{
    struct cursor cursor = {record.data, record.size};
    char at[TIME_TEXT_SIZE];
    line->size = 0;
    time_format_ns((int64_t)take_int(&cursor, 8), at);
    put_string(line, "{\"at\":");
    put_text(line, bytes_of(at));
    put_string(line, ",\"actor\":");
    put_text(line, take_bytes(&cursor));
    put_string(line, ",\"step\":");
    put_text(line, take_bytes(&cursor));
    while (cursor.left > 0)
        put_field(line, &cursor);
    put_string(line, "}");
    *trace_buffer_reserve(line, 1) = '\0';
}

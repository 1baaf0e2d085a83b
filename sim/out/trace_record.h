/* The bytes of one event, as they are hashed and kept, and their JSON line. Private to sim/out.
 *
 *   event   at:8 actor:str step:str field*
 *   field   'i' name:str value:8        integer        'd' name:str bits:8      double
 *           't' name:str value:str      text           'x' name:str value:str   bytes
 *           'r' name:str columns:1 (name:str type:1)* rows:4 value*             rows of a call
 *   value   TEXT, BYTES: str   UUID: 16 bytes   BUCKETS: 15 * 8   all others: 8
 *   str     size:4 bytes
 *
 * Integers are little endian on every machine. The form is closed: equal bytes mean equal events.
 */
#ifndef SIM_OUT_TRACE_RECORD_H
#define SIM_OUT_TRACE_RECORD_H

#include "core/base/bytes.h"
#include <stddef.h>
#include <stdint.h>

enum trace_field {
    TRACE_INT = 'i',
    TRACE_NUMBER = 'd',
    TRACE_TEXT = 't',
    TRACE_HEX = 'x',
    TRACE_ROWS = 'r',
};

/* A growing buffer; running out of memory ends the simulator. */
struct trace_buffer {
    uint8_t *data;
    size_t size;
    size_t capacity;
};

void trace_buffer_grow(struct trace_buffer *buffer, size_t size);

/* Room for size more bytes; returns where they start. The caller moves buffer->size on. */
static inline uint8_t *trace_buffer_reserve(struct trace_buffer *buffer, size_t size)
{
    if (size > buffer->capacity - buffer->size)
        trace_buffer_grow(buffer, size);
    return buffer->data + buffer->size;
}

void trace_buffer_put(struct trace_buffer *buffer, const void *data, size_t size);
void trace_buffer_free(struct trace_buffer *buffer);

/* Replaces line's content by the JSON of one whole record, without newline, with a NUL behind. */
void trace_record_json(struct bytes record, struct trace_buffer *line);

#endif

#include "sim/out/trace.h"

#include "core/base/assert.h"
#include "sim/out/trace_record.h"
#include <endian.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

struct trace {
    FILE *sink;
    XXH3_state_t *state;
    uint64_t events;
    bool open; /* between trace_event and trace_end */
    bool keep;
    struct trace_buffer record; /* of the open event; with keep: of all events, end to end */
    struct trace_buffer ends;   /* with keep: size_t for each event, the end of its record */
    size_t record_start;        /* of the open event */
    struct trace_buffer *line;
};

/* ---- writing a record ---- */

static void put_le64(uint8_t *out, uint64_t value)
{
    uint64_t little = htole64(value);
    memcpy(out, &little, sizeof little);
}

static void put_le32(uint8_t *out, uint32_t value)
{
    uint32_t little = htole32(value);
    memcpy(out, &little, sizeof little);
}

static uint64_t double_bits(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline void write_int(struct trace_buffer *record, uint64_t value)
{
    put_le64(trace_buffer_reserve(record, 8), value);
    record->size += 8;
}

static void write_bytes(struct trace_buffer *record, struct bytes value)
{
    ASSERT(value.size <= UINT32_MAX);
    uint8_t *out = trace_buffer_reserve(record, 4 + value.size);
    put_le32(out, (uint32_t)value.size);
    if (value.size > 0)
        memcpy(out + 4, value.data, value.size);
    record->size += 4 + value.size;
}

static void write_buckets(struct trace_buffer *record, const struct histogram *buckets)
{
    uint8_t *out = trace_buffer_reserve(record, HISTOGRAM_BUCKETS * 8);
    for (int i = 0; i < HISTOGRAM_BUCKETS; i++)
        put_le64(out + 8 * i, (uint64_t)buckets->counts[i]);
    record->size += HISTOGRAM_BUCKETS * 8;
}

static inline void write_value(struct trace_buffer *record, enum value_type type,
                               const struct value *value)
{
    switch (type) {
    case VALUE_INT:
    case VALUE_BOOL:
    case VALUE_TIME:
    case VALUE_DATE:
        write_int(record, (uint64_t)value->integer);
        return;
    case VALUE_FLOAT:
        write_int(record, double_bits(value->number));
        return;
    case VALUE_TEXT:
    case VALUE_BYTES:
        write_bytes(record, value->bytes);
        return;
    case VALUE_UUID:
        ASSERT(value->bytes.size == 16);
        trace_buffer_put(record, value->bytes.data, 16);
        return;
    case VALUE_BUCKETS:
        write_buckets(record, value->buckets);
        return;
    }
    assert_fail("every value type is recorded", __FILE__, __LINE__);
}

static void write_field(struct trace *trace, enum trace_field field, const char *name)
{
    ASSERT(trace->open);
    *trace_buffer_reserve(&trace->record, 1) = (uint8_t)field;
    trace->record.size++;
    write_bytes(&trace->record, bytes_of(name));
}

static void write_rows(struct trace *trace, const char *name, const struct query_column *columns,
                       int column_count, const struct value *values, size_t row_count)
{
    struct trace_buffer *record = &trace->record;
    write_field(trace, TRACE_ROWS, name);
    uint8_t count = (uint8_t)column_count;
    trace_buffer_put(record, &count, 1);
    for (int c = 0; c < column_count; c++) {
        write_bytes(record, bytes_of(columns[c].name));
        uint8_t type = (uint8_t)columns[c].type;
        trace_buffer_put(record, &type, 1);
    }
    ASSERT(row_count <= UINT32_MAX);
    put_le32(trace_buffer_reserve(record, 4), (uint32_t)row_count);
    record->size += 4;
    for (size_t r = 0; r < row_count; r++)
        for (int c = 0; c < column_count; c++)
            write_value(record, columns[c].type, values++);
}

/* ---- the trace ---- */

struct trace *trace_new(FILE *sink)
{
    struct trace *trace = calloc(1, sizeof *trace);
    if (!trace)
        return NULL;
    trace->sink = sink;
    trace->state = XXH3_createState();
    trace->line = calloc(1, sizeof *trace->line);
    if (!trace->state || !trace->line || XXH3_64bits_reset(trace->state) != XXH_OK) {
        trace_free(trace);
        return NULL;
    }
    return trace;
}

void trace_free(struct trace *trace)
{
    if (!trace)
        return;
    XXH3_freeState(trace->state);
    trace_buffer_free(&trace->record);
    trace_buffer_free(&trace->ends);
    if (trace->line)
        trace_buffer_free(trace->line);
    free(trace->line);
    free(trace);
}

void trace_keep(struct trace *trace)
{
    ASSERT(trace->events == 0 && !trace->open);
    trace->keep = true;
}

void trace_event(struct trace *trace, int64_t now_ns, const char *actor, const char *step)
{
    ASSERT(!trace->open);
    ASSERT(actor && step);
    trace->open = true;
    if (!trace->keep)
        trace->record.size = 0;
    trace->record_start = trace->record.size;
    write_int(&trace->record, (uint64_t)now_ns);
    write_bytes(&trace->record, bytes_of(actor));
    write_bytes(&trace->record, bytes_of(step));
}

void trace_int(struct trace *trace, const char *name, int64_t value)
{
    write_field(trace, TRACE_INT, name);
    write_int(&trace->record, (uint64_t)value);
}

void trace_text(struct trace *trace, const char *name, struct bytes value)
{
    write_field(trace, TRACE_TEXT, name);
    write_bytes(&trace->record, value);
}

void trace_word(struct trace *trace, const char *name, const char *value)
{
    trace_text(trace, name, bytes_of(value));
}

void trace_hex(struct trace *trace, const char *name, struct bytes value)
{
    write_field(trace, TRACE_HEX, name);
    write_bytes(&trace->record, value);
}

void trace_number(struct trace *trace, const char *name, double value)
{
    write_field(trace, TRACE_NUMBER, name);
    write_int(&trace->record, double_bits(value));
}

void trace_call_params(struct trace *trace, const struct store_call *call)
{
    ASSERT(call->query < QUERY_COUNT);
    const struct query *query = &queries[call->query];
    if (query->param_count > 0)
        write_rows(trace, "params", query->params, query->param_count, call->params,
                   call->row_count);
}

void trace_call_results(struct trace *trace, const struct store_call *call)
{
    ASSERT(call->query < QUERY_COUNT);
    const struct query *query = &queries[call->query];
    if (call->affected != 0)
        trace_int(trace, "affected", call->affected);
    if (call->row_affected &&
        (query->kind == QUERY_KIND_INSERT || query->kind == QUERY_KIND_UPSERT))
        trace_hex(trace, "row_affected", (struct bytes){call->row_affected, call->row_count});
    if (query->result_count > 0)
        write_rows(trace, "results", query->results, query->result_count, call->results,
                   call->result_rows);
}

void trace_end(struct trace *trace)
{
    ASSERT(trace->open);
    trace->open = false;
    trace->events++;
    struct bytes record = {trace->record.data + trace->record_start,
                           trace->record.size - trace->record_start};
    XXH_errorcode failed = XXH3_64bits_update(trace->state, record.data, record.size);
    ASSERT(failed == XXH_OK);
    if (trace->keep)
        trace_buffer_put(&trace->ends, &trace->record.size, sizeof trace->record.size);
    if (trace->sink) {
        trace_record_json(record, trace->line);
        fwrite(trace->line->data, 1, trace->line->size, trace->sink);
        fputc('\n', trace->sink);
    }
}

uint64_t trace_events(const struct trace *trace)
{
    return trace->events;
}

uint64_t trace_hash(const struct trace *trace)
{
    ASSERT(!trace->open);
    return XXH3_64bits_digest(trace->state);
}

/* ---- what was kept ---- */

static struct bytes kept(const struct trace *trace, uint64_t event)
{
    ASSERT(trace->keep);
    ASSERT(event < trace->events);
    size_t start = 0;
    size_t end;
    if (event > 0)
        memcpy(&start, trace->ends.data + (event - 1) * sizeof start, sizeof start);
    memcpy(&end, trace->ends.data + event * sizeof end, sizeof end);
    return (struct bytes){trace->record.data + start, end - start};
}

bool trace_first_difference(const struct trace *a, const struct trace *b, uint64_t *event)
{
    ASSERT(a->keep && b->keep);
    uint64_t common = a->events < b->events ? a->events : b->events;
    for (uint64_t i = 0; i < common; i++) {
        if (!bytes_equal(kept(a, i), kept(b, i))) {
            *event = i;
            return true;
        }
    }
    *event = common;
    return a->events != b->events;
}

const char *trace_kept_line(const struct trace *trace, uint64_t event)
{
    trace_record_json(kept(trace, event), trace->line);
    return (const char *)trace->line->data;
}

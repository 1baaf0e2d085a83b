#include "core/store/rows.h"
#include <string.h>

enum status call_once(struct store *store, struct store_call *call, struct err *err)
{
    ASSERT(store && store->call && err);
    ASSERT(queries[call->query].param_count == 0 || call->params);
    call->row_count = queries[call->query].param_count > 0;
    return store->call(store, call, err);
}

static enum status sink_rows(struct row_sink *sink, const struct store_call *call, struct err *err)
{
    size_t wanted = sink->count + call->result_rows;
    if (wanted > sink->capacity) {
        size_t capacity = wanted > 2 * sink->capacity ? wanted : 2 * sink->capacity;
        void *rows = arena_array(sink->arena, capacity, sink->row_size);
        if (!rows)
            return err_set(err, STATUS_NO_MEMORY, NULL, "out of memory for the rows of \"%s\"",
                           queries[call->query].name);
        if (sink->count > 0)
            memcpy(rows, sink->rows, sink->count * sink->row_size);
        sink->rows = rows;
        sink->capacity = capacity;
    }
    size_t columns = (size_t)queries[call->query].result_count;
    for (size_t i = 0; i < call->result_rows; i++) {
        char *row = (char *)sink->rows + sink->count * sink->row_size;
        if (!sink->take(&call->results[i * columns], sink->shared, row))
            return err_sql(err, "XX001", "query \"%s\" returned a row that makes no sense",
                           queries[call->query].name);
        sink->count++;
    }
    return STATUS_OK;
}

static void check_source(const struct row_source *source)
{
    ASSERT(source->n >= 1 && source->rows);
    ASSERT(queries[source->query].param_count > 0);
    const char *rows = source->rows;
    for (size_t i = 1; i < source->n; i++)
        ASSERT(source->compare(rows + (i - 1) * source->row_size, rows + i * source->row_size) < 0);
}

enum status call_rows(struct store *store, const struct row_source *source, struct row_sink *sink,
                      int64_t *affected, uint8_t *row_affected, struct err *err)
{
    ASSERT(store && err);
    check_source(source);
    struct value params[LIMIT_CALL_ROWS * QUERY_COLUMNS_MAX];
    size_t columns = (size_t)queries[source->query].param_count;
    int64_t total = 0;
    for (size_t first = 0; first < source->n; first += LIMIT_CALL_ROWS) {
        size_t left = source->n - first;
        struct store_call call = {
            .query = source->query,
            .params = params,
            .row_count = left < LIMIT_CALL_ROWS ? left : LIMIT_CALL_ROWS,
            .arena = sink ? sink->arena : NULL,
            .row_affected = row_affected ? row_affected + first : NULL,
        };
        const char *rows = (const char *)source->rows + first * source->row_size;
        for (size_t i = 0; i < call.row_count; i++)
            source->fill(rows + i * source->row_size, source->shared, &params[i * columns]);
        enum status status = store->call(store, &call, err);
        if (status == STATUS_OK && sink)
            status = sink_rows(sink, &call, err);
        if (status != STATUS_OK)
            return status;
        total += call.affected;
    }
    if (affected)
        *affected = total;
    return STATUS_OK;
}

enum status call_list(struct store *store, enum query_id query, const struct value *params,
                      struct row_sink *sink, struct err *err)
{
    ASSERT(sink && sink->arena);
    struct store_call call = {.query = query, .params = params, .arena = sink->arena};
    enum status status = call_once(store, &call, err);
    return status == STATUS_OK ? sink_rows(sink, &call, err) : status;
}

enum status call_integer(struct store *store, enum query_id query, const struct value *params,
                         struct arena *arena, int64_t *integer, struct err *err)
{
    ASSERT(arena && integer);
    ASSERT(queries[query].result_count == 1);
    struct store_call call = {.query = query, .params = params, .arena = arena};
    enum status status = call_once(store, &call, err);
    if (status != STATUS_OK)
        return status;
    if (call.result_rows != 1)
        return err_sql(err, "XX001", "query \"%s\" returned %zu rows, not one", queries[query].name,
                       call.result_rows);
    *integer = call.results[0].integer;
    return STATUS_OK;
}

enum status call_flag(struct store *store, enum query_id query, const struct value *params,
                      struct arena *arena, bool *flag, struct err *err)
{
    ASSERT(queries[query].results[0].type == VALUE_BOOL);
    int64_t integer = 0;
    enum status status = call_integer(store, query, params, arena, &integer, err);
    if (status == STATUS_OK)
        *flag = integer != 0;
    return status;
}

enum status call_change(struct store *store, enum query_id query, const struct value *params,
                        int64_t *changed, struct err *err)
{
    ASSERT(queries[query].result_count == 0);
    struct store_call call = {.query = query, .params = params};
    enum status status = call_once(store, &call, err);
    if (status == STATUS_OK && changed)
        *changed = call.affected;
    return status;
}

bool take_source(struct bytes name, enum source *source)
{
    *source = bytes_equal(name, bytes_of(source_name(SOURCE_SPAN))) ? SOURCE_SPAN : SOURCE_METRIC;
    return bytes_equal(name, bytes_of(source_name(*source)));
}

bool take_uuid(struct bytes bytes, struct uuid *uuid)
{
    if (bytes.size != sizeof uuid->bytes)
        return false;
    memcpy(uuid->bytes, bytes.data, sizeof uuid->bytes);
    return true;
}

bool take_hash(struct bytes bytes, struct sha256 *hash)
{
    if (bytes.size != sizeof hash->bytes)
        return false;
    memcpy(hash->bytes, bytes.data, sizeof hash->bytes);
    return true;
}

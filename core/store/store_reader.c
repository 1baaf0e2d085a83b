/* The readers' queries (sql/.../reader.sql; R-READ-1). */
#include "core/store/rows.h"

static bool row_take(const struct value *values, const void *shared, void *item)
{
    struct minute_row *row = item;
    *row = (struct minute_row){
        .tenant = *(const struct uuid *)shared,
        .bucket_start_us = values[0].integer,
        .service = values[1].bytes,
        .method = values[2].bytes,
        .route = values[3].bytes,
        .status_code = (int16_t)values[4].integer,
        .counts = *values[6].buckets,
        .sum = values[7].number,
        .count = values[8].integer,
        .lossy = values[9].integer != 0,
    };
    return row->status_code == values[4].integer && take_source(values[5].bytes, &row->source);
}

enum status store_read_rows(struct store *store, enum read_level level, const struct uuid *tenant,
                            int64_t from_us, int64_t until_us, struct arena *arena,
                            struct minute_row **rows, size_t *count, struct err *err)
{
    static const enum query_id read_queries[] = {
        [READ_MINUTE] = QUERY_READ_MINUTE_ROWS,
        [READ_HOURLY] = QUERY_READ_HOURLY_ROWS,
        [READ_DAILY] = QUERY_READ_DAILY_ROWS,
    };
    ASSERT(level >= READ_MINUTE && level <= READ_DAILY);
    ASSERT(tenant && rows && count);
    struct value params[] = {value_uuid(tenant), value_int(from_us), value_int(until_us)};
    struct row_sink sink = {
        .arena = arena, .row_size = sizeof **rows, .take = row_take, .shared = tenant};
    enum status status = call_list(store, read_queries[level], params, &sink, err);
    *rows = sink.rows;
    *count = sink.count;
    return status;
}

static bool hour_take(const struct value *values, const void *shared, void *item)
{
    (void)shared;
    int64_t *hour = item;
    *hour = values[0].integer;
    return true;
}

enum status store_read_pending(struct store *store, const struct uuid *tenant, int64_t from_us,
                               int64_t until_us, struct arena *arena, int64_t **hours_us,
                               size_t *count, struct err *err)
{
    ASSERT(tenant && hours_us && count);
    struct value params[] = {value_uuid(tenant), value_int(from_us), value_int(until_us)};
    struct row_sink sink = {.arena = arena, .row_size = sizeof **hours_us, .take = hour_take};
    enum status status = call_list(store, QUERY_READ_PENDING, params, &sink, err);
    *hours_us = sink.rows;
    *count = sink.count;
    return status;
}

/* The jobs' queries (sql/.../rollup.sql, partition.sql, retention.sql). */
#include "core/base/time.h"
#include "core/store/rows.h"
#include <stdlib.h>

#define CLAIM_ROWS_MAX 1000000

/* ---- marks ---- */

static int mark_compare_tenant_hour(const void *a, const void *b)
{
    const struct mark_row *left = a;
    const struct mark_row *right = b;
    int order = uuid_compare(&left->tenant, &right->tenant);
    if (order != 0)
        return order;
    return left->hour_us < right->hour_us ? -1 : left->hour_us > right->hour_us;
}

static int mark_compare_hour_tenant(const void *a, const void *b)
{
    const struct mark_row *left = a;
    const struct mark_row *right = b;
    if (left->hour_us != right->hour_us)
        return left->hour_us < right->hour_us ? -1 : 1;
    return uuid_compare(&left->tenant, &right->tenant);
}

static bool mark_take(const struct value *values, const void *shared, void *item)
{
    (void)shared;
    struct mark_row *row = item;
    row->hour_us = values[1].integer;
    row->marked_at_us = values[2].integer;
    return take_uuid(values[0].bytes, &row->tenant);
}

/* "returning" promises no order, the contract of store.h does. Keys are unique. */
static void give_marks(struct row_sink *sink, int (*compare)(const void *, const void *),
                       struct mark_row **rows, size_t *count)
{
    if (sink->count > 1)
        qsort(sink->rows, sink->count, sink->row_size, compare);
    *rows = sink->rows;
    *count = sink->count;
}

enum status store_claim_rollup_hours(struct store *store, int64_t after_hour_us,
                                     const struct uuid *after_tenant, size_t limit,
                                     struct arena *arena, struct mark_row **rows, size_t *count,
                                     struct err *err)
{
    ASSERT(after_tenant && rows && count);
    ASSERT(limit >= 1 && limit <= CLAIM_ROWS_MAX);
    struct value params[] = {value_int(after_hour_us), value_uuid(after_tenant),
                             value_int((int64_t)limit)};
    struct row_sink sink = {.arena = arena, .row_size = sizeof **rows, .take = mark_take};
    enum status status = call_list(store, QUERY_CLAIM_ROLLUP_HOURS, params, &sink, err);
    give_marks(&sink, mark_compare_hour_tenant, rows, count);
    return status;
}

static void mark_key_fill(const void *item, const void *shared, struct value *params)
{
    (void)shared;
    const struct mark_row *row = item;
    params[0] = value_uuid(&row->tenant);
    params[1] = value_int(row->hour_us);
}

enum status store_claim_marked_hours(struct store *store, const struct mark_row *keys, size_t n,
                                     struct arena *arena, struct mark_row **rows, size_t *count,
                                     struct err *err)
{
    ASSERT(rows && count);
    struct row_source source = {.query = QUERY_CLAIM_MARKED_HOUR,
                                .rows = keys,
                                .row_size = sizeof *keys,
                                .n = n,
                                .fill = mark_key_fill,
                                .compare = mark_compare_tenant_hour};
    struct row_sink sink = {.arena = arena, .row_size = sizeof **rows, .take = mark_take};
    enum status status = call_rows(store, &source, &sink, NULL, NULL, err);
    give_marks(&sink, mark_compare_hour_tenant, rows, count);
    return status;
}

enum status store_try_lock_rollup_hour(struct store *store, const struct hour_lock *lock,
                                       struct arena *arena, bool *granted, struct err *err)
{
    ASSERT(lock && granted);
    struct value params[] = {value_int(lock->lock), value_uuid(&lock->tenant),
                             value_int(lock->hour_us)};
    return call_flag(store, QUERY_TRY_LOCK_ROLLUP_HOUR, params, arena, granted, err);
}

enum status store_restore_rollup_mark(struct store *store, const struct mark_row *mark,
                                      struct err *err)
{
    ASSERT(mark);
    struct value params[] = {value_uuid(&mark->tenant), value_int(mark->hour_us),
                             value_int(mark->marked_at_us)};
    return call_change(store, QUERY_RESTORE_ROLLUP_MARK, params, NULL, err);
}

enum status store_mark_drifted_hours(struct store *store, int64_t from_us, int64_t until_us,
                                     int64_t marked_at_us, bool by_buckets, struct arena *arena,
                                     struct mark_row **rows, size_t *count, struct err *err)
{
    ASSERT(from_us <= until_us && rows && count);
    ASSERT(from_us < INT64_MAX - US_PER_HOUR);
    int64_t first_hour = time_floor(from_us + US_PER_HOUR - 1, US_PER_HOUR);
    struct value params[] = {value_int(first_hour), value_int(until_us), value_int(marked_at_us),
                             value_bool(by_buckets)};
    struct row_sink sink = {.arena = arena, .row_size = sizeof **rows, .take = mark_take};
    enum status status = call_list(store, QUERY_MARK_DRIFTED_HOURS, params, &sink, err);
    give_marks(&sink, mark_compare_tenant_hour, rows, count);
    return status;
}

/* ---- hours and days ---- */

enum status store_lock_rollup_day(struct store *store, int64_t lock, struct err *err)
{
    struct value params[] = {value_int(lock)};
    return call_change(store, QUERY_LOCK_ROLLUP_DAY, params, NULL, err);
}

static enum status change_hour(struct store *store, enum query_id query, const struct uuid *tenant,
                               int64_t hour_us, int64_t *changed, struct err *err)
{
    ASSERT(tenant && changed);
    ASSERT(time_floor(hour_us, US_PER_HOUR) == hour_us);
    struct value params[] = {value_uuid(tenant), value_int(hour_us)};
    return call_change(store, query, params, changed, err);
}

enum status store_delete_hourly_rows(struct store *store, const struct uuid *tenant,
                                     int64_t hour_us, int64_t *deleted, struct err *err)
{
    return change_hour(store, QUERY_DELETE_HOURLY_ROWS, tenant, hour_us, deleted, err);
}

enum status store_rollup_hour(struct store *store, const struct uuid *tenant, int64_t hour_us,
                              int64_t *inserted, struct err *err)
{
    return change_hour(store, QUERY_ROLLUP_HOUR, tenant, hour_us, inserted, err);
}

enum status store_delete_daily_rows(struct store *store, const struct uuid *tenant, int64_t day_us,
                                    int64_t *deleted, struct err *err)
{
    ASSERT(tenant && deleted);
    struct value params[] = {value_uuid(tenant), value_int(day_us)};
    return call_change(store, QUERY_DELETE_DAILY_ROWS, params, deleted, err);
}

enum status store_rollup_day(struct store *store, const struct uuid *tenant, int64_t day_us,
                             int64_t from_us, int64_t until_us, int64_t *inserted, struct err *err)
{
    ASSERT(tenant && inserted);
    ASSERT(from_us < until_us);
    struct value params[] = {value_uuid(tenant), value_int(day_us), value_int(from_us),
                             value_int(until_us)};
    return call_change(store, QUERY_ROLLUP_DAY, params, inserted, err);
}

enum status store_session_day(struct store *store, int64_t at_us, struct arena *arena,
                              int64_t *from_us, int64_t *until_us, struct err *err)
{
    ASSERT(arena && from_us && until_us);
    struct value params[] = {value_int(at_us)};
    struct store_call call = {.query = QUERY_SESSION_DAY, .params = params, .arena = arena};
    enum status status = call_once(store, &call, err);
    if (status != STATUS_OK)
        return status;
    /* a midnight that comes twice is the later one: the day may begin after at_us, as it does there
     */
    if (call.result_rows != 1 || call.results[0].integer >= call.results[1].integer)
        return err_sql(err, "XX001", "the session's day ends before it begins");
    *from_us = call.results[0].integer;
    *until_us = call.results[1].integer;
    return STATUS_OK;
}

/* ---- partitions ---- */

static enum query_id of_table(enum partition_table table, enum query_id minute,
                              enum query_id hourly)
{
    ASSERT(table == PARTITION_MINUTE || table == PARTITION_HOURLY);
    return table == PARTITION_MINUTE ? minute : hourly;
}

static void check_first_day(enum partition_table table, int64_t first_day)
{
    ASSERT(table == PARTITION_MINUTE ||
           month_first_day(month_index_of_day(first_day)) == first_day);
}

enum status store_lock_partitioned(struct store *store, enum partition_table table, struct err *err)
{
    enum query_id query =
        of_table(table, QUERY_LOCK_MINUTE_PARTITIONS, QUERY_LOCK_HOURLY_PARTITIONS);
    return call_change(store, query, NULL, NULL, err);
}

enum status store_create_partition(struct store *store, enum partition_table table,
                                   int64_t first_day, struct arena *arena, bool *done,
                                   struct err *err)
{
    check_first_day(table, first_day);
    struct value params[] = {value_int(first_day)};
    enum query_id query =
        of_table(table, QUERY_CREATE_MINUTE_PARTITION, QUERY_CREATE_HOURLY_PARTITION);
    return call_flag(store, query, params, arena, done, err);
}

enum status store_drop_partition(struct store *store, enum partition_table table, int64_t first_day,
                                 struct arena *arena, bool *done, struct err *err)
{
    check_first_day(table, first_day);
    struct value params[] = {value_int(first_day)};
    enum query_id query = of_table(table, QUERY_DROP_MINUTE_PARTITION, QUERY_DROP_HOURLY_PARTITION);
    return call_flag(store, query, params, arena, done, err);
}

static bool integer_take(const struct value *values, const void *shared, void *item)
{
    (void)shared;
    int64_t *integer = item;
    *integer = values[0].integer;
    return true;
}

enum status store_list_partitions(struct store *store, enum partition_table table,
                                  struct arena *arena, int64_t **days, size_t *count,
                                  struct err *err)
{
    ASSERT(days && count);
    struct row_sink sink = {.arena = arena, .row_size = sizeof **days, .take = integer_take};
    enum query_id query =
        of_table(table, QUERY_LIST_MINUTE_PARTITIONS, QUERY_LIST_HOURLY_PARTITIONS);
    enum status status = call_list(store, query, NULL, &sink, err);
    *days = sink.rows;
    *count = sink.count;
    return status;
}

/* ---- retention ---- */

enum status store_rollup_pending_in_day(struct store *store, int64_t day, struct arena *arena,
                                        bool *pending, struct err *err)
{
    struct value params[] = {value_int(day)};
    return call_flag(store, QUERY_ROLLUP_PENDING_IN_DAY, params, arena, pending, err);
}

enum status store_prune(struct store *store, enum prune_table table, int64_t before_us,
                        int64_t *deleted, struct err *err)
{
    static const enum query_id prune_queries[] = {
        [PRUNE_INGEST_DEDUP] = QUERY_PRUNE_INGEST_DEDUP,
        [PRUNE_SERIES_STATE] = QUERY_PRUNE_SERIES_STATE,
        [PRUNE_RESOURCE_SEEN] = QUERY_PRUNE_RESOURCE_SEEN,
    };
    ASSERT(table >= PRUNE_INGEST_DEDUP && table <= PRUNE_RESOURCE_SEEN);
    struct value params[] = {value_int(before_us)};
    return call_change(store, prune_queries[table], params, deleted, err);
}

enum status store_prune_route_registry(struct store *store, int64_t before_day, int64_t *deleted,
                                       struct err *err)
{
    struct value params[] = {value_int(before_day)};
    return call_change(store, QUERY_PRUNE_ROUTE_REGISTRY, params, deleted, err);
}

/* The writer's queries, in the order of its transaction (sql/.../writer.sql). */
#include "core/store/rows.h"
#include <string.h>

static int compare_int(int64_t a, int64_t b)
{
    return a < b ? -1 : a > b;
}

/* ---- messages and tenants ---- */

static int ingest_message_compare(const void *a, const void *b)
{
    const struct ingest_message_row *left = a;
    const struct ingest_message_row *right = b;
    return bytes_compare(left->msg_id, right->msg_id);
}

static void ingest_message_fill(const void *item, const void *shared, struct value *params)
{
    (void)shared;
    const struct ingest_message_row *row = item;
    params[0] = value_bytes(row->msg_id);
    params[1] = value_uuid(&row->tenant);
    params[2] = value_int(row->applied_at_us);
}

enum status store_record_ingest_messages(struct store *store, const struct ingest_message_row *rows,
                                         size_t n, uint8_t *inserted, struct err *err)
{
    ASSERT(inserted);
    struct row_source source = {.query = QUERY_RECORD_INGEST_MESSAGE,
                                .rows = rows,
                                .row_size = sizeof *rows,
                                .n = n,
                                .fill = ingest_message_fill,
                                .compare = ingest_message_compare};
    return call_rows(store, &source, NULL, NULL, inserted, err);
}

enum status store_get_ingest_message_tenant(struct store *store, struct bytes msg_id,
                                            struct arena *arena, bool *found, struct uuid *tenant,
                                            struct err *err)
{
    ASSERT(arena && found && tenant);
    struct value params[] = {value_bytes(msg_id)};
    struct store_call call = {
        .query = QUERY_GET_INGEST_MESSAGE_TENANT, .params = params, .arena = arena};
    enum status status = call_once(store, &call, err);
    if (status != STATUS_OK)
        return status;
    *found = call.result_rows > 0;
    if (*found && !take_uuid(call.results[0].bytes, tenant))
        return err_sql(err, "XX001", "tenant of a message is not a uuid");
    return STATUS_OK;
}

enum status store_lock_tenant(struct store *store, const struct uuid *tenant, int64_t lock,
                              struct arena *arena, bool *removed, struct err *err)
{
    ASSERT(tenant && removed);
    struct value params[] = {value_uuid(tenant), value_int(lock)};
    return call_flag(store, QUERY_LOCK_TENANT, params, arena, removed, err);
}

/* ---- processes ---- */

static int process_key_compare(const void *a, const void *b)
{
    const struct process_key *left = a;
    const struct process_key *right = b;
    int order = sha256_compare(&left->resource_hash, &right->resource_hash);
    return order ? order : compare_int(left->start_unix_nano, right->start_unix_nano);
}

static void process_key_fill(const void *item, const void *shared, struct value *params)
{
    const struct process_key *key = item;
    params[0] = value_uuid(shared);
    params[1] = value_hash(&key->resource_hash);
    params[2] = value_int(key->start_unix_nano);
}

static bool resource_take(const struct value *values, const void *shared, void *item)
{
    (void)shared;
    struct resource_row *row = item;
    row->key.start_unix_nano = values[1].integer;
    row->first_seen_at_us = values[2].integer;
    row->last_seen_at_us = values[3].integer;
    row->first_point_unix_nano = values[4].integer;
    return take_hash(values[0].bytes, &row->key.resource_hash);
}

enum status store_get_resources_seen(struct store *store, const struct uuid *tenant,
                                     const struct process_key *keys, size_t n, struct arena *arena,
                                     struct resource_row **rows, size_t *count, struct err *err)
{
    ASSERT(tenant && rows && count);
    struct row_source source = {.query = QUERY_GET_RESOURCES_SEEN,
                                .rows = keys,
                                .row_size = sizeof *keys,
                                .n = n,
                                .fill = process_key_fill,
                                .shared = tenant,
                                .compare = process_key_compare};
    struct row_sink sink = {.arena = arena, .row_size = sizeof **rows, .take = resource_take};
    enum status status = call_rows(store, &source, &sink, NULL, NULL, err);
    *rows = sink.rows;
    *count = sink.count;
    return status;
}

static int resource_write_compare(const void *a, const void *b)
{
    const struct resource_write *left = a;
    const struct resource_write *right = b;
    int order = uuid_compare(&left->tenant, &right->tenant);
    return order ? order : process_key_compare(&left->key, &right->key);
}

static void resource_write_fill(const void *item, const void *shared, struct value *params)
{
    (void)shared;
    const struct resource_write *row = item;
    params[0] = value_uuid(&row->tenant);
    params[1] = value_hash(&row->key.resource_hash);
    params[2] = value_int(row->key.start_unix_nano);
    params[3] = value_int(row->seen_at_us);
    params[4] = value_int(row->first_point_unix_nano);
}

enum status store_touch_resources(struct store *store, const struct resource_write *rows, size_t n,
                                  struct err *err)
{
    struct row_source source = {.query = QUERY_TOUCH_RESOURCE,
                                .rows = rows,
                                .row_size = sizeof *rows,
                                .n = n,
                                .fill = resource_write_fill,
                                .compare = resource_write_compare};
    return call_rows(store, &source, NULL, NULL, NULL, err);
}

/* ---- streams ---- */

static int series_compare(const void *a, const void *b)
{
    return sha256_compare(a, b);
}

static void series_fill(const void *item, const void *shared, struct value *params)
{
    params[0] = value_uuid(shared);
    params[1] = value_hash(item);
}

static bool series_state_take(const struct value *values, const void *shared, void *item)
{
    (void)shared;
    struct series_state_row *row = item;
    row->key.start_unix_nano = values[1].integer;
    row->state = (struct stream_state){
        .exists = true,
        .last_unix_nano = values[2].integer,
        .last_count = values[3].integer,
        .last_sum = values[4].number,
        .last_counts = *values[5].buckets,
        .baseline = values[6].integer != 0,
    };
    return take_hash(values[0].bytes, &row->key.series_hash);
}

enum status store_get_series_states(struct store *store, const struct uuid *tenant,
                                    const struct sha256 *series, size_t n, struct arena *arena,
                                    struct series_state_row **rows, size_t *count, struct err *err)
{
    ASSERT(tenant && rows && count);
    struct row_source source = {.query = QUERY_GET_SERIES_STATES,
                                .rows = series,
                                .row_size = sizeof *series,
                                .n = n,
                                .fill = series_fill,
                                .shared = tenant,
                                .compare = series_compare};
    struct row_sink sink = {.arena = arena, .row_size = sizeof **rows, .take = series_state_take};
    enum status status = call_rows(store, &source, &sink, NULL, NULL, err);
    *rows = sink.rows;
    *count = sink.count;
    return status;
}

enum status store_count_series_states(struct store *store, const struct uuid *tenant,
                                      struct arena *arena, int64_t *count, struct err *err)
{
    ASSERT(tenant && count);
    struct value params[] = {value_uuid(tenant)};
    return call_integer(store, QUERY_COUNT_SERIES_STATES, params, arena, count, err);
}

static int series_state_write_compare(const void *a, const void *b)
{
    const struct series_state_write *left = a;
    const struct series_state_write *right = b;
    int order = uuid_compare(&left->tenant, &right->tenant);
    if (order == 0)
        order = sha256_compare(&left->key.series_hash, &right->key.series_hash);
    return order ? order : compare_int(left->key.start_unix_nano, right->key.start_unix_nano);
}

static void series_state_write_fill(const void *item, const void *shared, struct value *params)
{
    (void)shared;
    const struct series_state_write *row = item;
    params[0] = value_uuid(&row->tenant);
    params[1] = value_hash(&row->key.series_hash);
    params[2] = value_int(row->key.start_unix_nano);
    params[3] = value_int(row->state.last_unix_nano);
    params[4] = value_int(row->state.last_count);
    params[5] = value_float(row->state.last_sum);
    params[6] = value_buckets(&row->state.last_counts);
    params[7] = value_int(row->last_seen_at_us);
    params[8] = value_bool(row->state.baseline);
    params[9] = value_bool(row->guarded);
    params[10] = value_bool(row->had_previous);
    params[11] = value_int(row->had_previous ? row->previous_unix_nano : 0);
}

enum status store_upsert_series_states(struct store *store, const struct series_state_write *rows,
                                       size_t n, size_t *written, struct err *err)
{
    ASSERT(written);
    struct row_source source = {.query = QUERY_UPSERT_SERIES_STATE,
                                .rows = rows,
                                .row_size = sizeof *rows,
                                .n = n,
                                .fill = series_state_write_fill,
                                .compare = series_state_write_compare};
    int64_t affected = 0;
    enum status status = call_rows(store, &source, NULL, &affected, NULL, err);
    ASSERT(affected >= 0 && affected <= (int64_t)n);
    *written = (size_t)affected;
    return status;
}

/* ---- caps ---- */

enum status store_get_cap_warnings(struct store *store, const struct uuid *tenant, int64_t from_day,
                                   int64_t until_day, struct arena *arena, int64_t *count,
                                   struct err *err)
{
    ASSERT(tenant && from_day <= until_day);
    struct value params[] = {value_uuid(tenant), value_int(from_day), value_int(until_day)};
    return call_integer(store, QUERY_GET_CAP_WARNINGS, params, arena, count, err);
}

static bool route_take(const struct value *values, const void *shared, void *item)
{
    (void)shared;
    struct route_row *row = item;
    row->service = values[0].bytes;
    row->route = values[1].bytes;
    return true;
}

enum status store_list_routes(struct store *store, const struct uuid *tenant, int64_t day,
                              struct arena *arena, struct route_row **rows, size_t *count,
                              struct err *err)
{
    ASSERT(tenant && rows && count);
    struct value params[] = {value_uuid(tenant), value_int(day)};
    struct row_sink sink = {.arena = arena, .row_size = sizeof **rows, .take = route_take};
    enum status status = call_list(store, QUERY_LIST_ROUTES, params, &sink, err);
    *rows = sink.rows;
    *count = sink.count;
    return status;
}

static int route_registry_compare(const void *a, const void *b)
{
    const struct route_registry_row *left = a;
    const struct route_registry_row *right = b;
    int order = uuid_compare(&left->tenant, &right->tenant);
    if (order == 0)
        order = compare_int(left->day, right->day);
    if (order == 0)
        order = bytes_compare(left->service, right->service);
    return order ? order : bytes_compare(left->route, right->route);
}

static void route_registry_fill(const void *item, const void *shared, struct value *params)
{
    (void)shared;
    const struct route_registry_row *row = item;
    params[0] = value_uuid(&row->tenant);
    params[1] = value_int(row->day);
    params[2] = value_bytes(row->service);
    params[3] = value_bytes(row->route);
    params[4] = value_int(row->created_at_us);
}

enum status store_register_routes(struct store *store, const struct route_registry_row *rows,
                                  size_t n, struct err *err)
{
    struct row_source source = {.query = QUERY_REGISTER_ROUTE,
                                .rows = rows,
                                .row_size = sizeof *rows,
                                .n = n,
                                .fill = route_registry_fill,
                                .compare = route_registry_compare};
    return call_rows(store, &source, NULL, NULL, NULL, err);
}

/* ---- minutes ---- */

static int hour_lock_compare(const void *a, const void *b)
{
    const struct hour_lock *left = a;
    const struct hour_lock *right = b;
    int order = compare_int(left->lock, right->lock);
    if (order == 0)
        order = uuid_compare(&left->tenant, &right->tenant);
    return order ? order : compare_int(left->hour_us, right->hour_us);
}

static void hour_lock_fill(const void *item, const void *shared, struct value *params)
{
    (void)shared;
    const struct hour_lock *row = item;
    params[0] = value_int(row->lock);
    params[1] = value_uuid(&row->tenant);
    params[2] = value_int(row->hour_us);
}

enum status store_lock_rollup_hours(struct store *store, const struct hour_lock *locks, size_t n,
                                    struct err *err)
{
    struct row_source source = {.query = QUERY_LOCK_ROLLUP_HOUR,
                                .rows = locks,
                                .row_size = sizeof *locks,
                                .n = n,
                                .fill = hour_lock_fill,
                                .compare = hour_lock_compare};
    return call_rows(store, &source, NULL, NULL, NULL, err);
}

static int minute_compare(const void *a, const void *b)
{
    const struct minute_row *left = a;
    const struct minute_row *right = b;
    int order = uuid_compare(&left->tenant, &right->tenant);
    if (order == 0)
        order = compare_int(left->bucket_start_us, right->bucket_start_us);
    if (order == 0)
        order = bytes_compare(left->service, right->service);
    if (order == 0)
        order = bytes_compare(left->method, right->method);
    if (order == 0)
        order = bytes_compare(left->route, right->route);
    if (order == 0)
        order = compare_int(left->status_code, right->status_code);
    return order ? order : strcmp(source_name(left->source), source_name(right->source));
}

static void minute_fill(const void *item, const void *shared, struct value *params)
{
    (void)shared;
    const struct minute_row *row = item;
    params[0] = value_uuid(&row->tenant);
    params[1] = value_int(row->bucket_start_us);
    params[2] = value_bytes(row->service);
    params[3] = value_bytes(row->method);
    params[4] = value_bytes(row->route);
    params[5] = value_int(row->status_code);
    params[6] = value_text(source_name(row->source));
    params[7] = value_buckets(&row->counts);
    params[8] = value_float(row->sum);
    params[9] = value_int(row->count);
    params[10] = value_bool(row->lossy);
}

enum status store_add_minutes(struct store *store, const struct minute_row *rows, size_t n,
                              struct err *err)
{
    struct row_source source = {.query = QUERY_ADD_MINUTE,
                                .rows = rows,
                                .row_size = sizeof *rows,
                                .n = n,
                                .fill = minute_fill,
                                .compare = minute_compare};
    return call_rows(store, &source, NULL, NULL, NULL, err);
}

static int mark_compare(const void *a, const void *b)
{
    const struct mark_row *left = a;
    const struct mark_row *right = b;
    int order = uuid_compare(&left->tenant, &right->tenant);
    return order ? order : compare_int(left->hour_us, right->hour_us);
}

static void mark_fill(const void *item, const void *shared, struct value *params)
{
    (void)shared;
    const struct mark_row *row = item;
    params[0] = value_uuid(&row->tenant);
    params[1] = value_int(row->hour_us);
    params[2] = value_int(row->marked_at_us);
}

enum status store_mark_rollup_pending(struct store *store, const struct mark_row *rows, size_t n,
                                      struct err *err)
{
    struct row_source source = {.query = QUERY_MARK_ROLLUP_PENDING,
                                .rows = rows,
                                .row_size = sizeof *rows,
                                .n = n,
                                .fill = mark_fill,
                                .compare = mark_compare};
    return call_rows(store, &source, NULL, NULL, NULL, err);
}

/* ---- warnings ---- */

const char *warning_kind_name(enum warning_kind kind)
{
    static const char *const names[WARNING_KIND_COUNT] = {
        [WARNING_CARDINALITY_OVERFLOW] = "cardinality_overflow",
        [WARNING_COARSE_BUCKETS] = "coarse_buckets",
        [WARNING_LOSSY_HISTOGRAM] = "lossy_histogram",
        [WARNING_SECRET_IN_PATH] = "secret_in_path",
        [WARNING_SPAN_DERIVED] = "span_derived",
    };
    ASSERT(kind >= 0 && kind < WARNING_KIND_COUNT);
    return names[kind];
}

static int warning_compare(const void *a, const void *b)
{
    const struct warning_row *left = a;
    const struct warning_row *right = b;
    int order = uuid_compare(&left->tenant, &right->tenant);
    if (order == 0)
        order = compare_int(left->day, right->day);
    return order ? order : compare_int((int64_t)left->kind, (int64_t)right->kind);
}

static void warning_fill(const void *item, const void *shared, struct value *params)
{
    (void)shared;
    const struct warning_row *row = item;
    ASSERT(row->count > 0);
    params[0] = value_uuid(&row->tenant);
    params[1] = value_int(row->day);
    params[2] = value_text(warning_kind_name(row->kind));
    params[3] = value_int(row->count);
}

enum status store_add_ingest_warnings(struct store *store, const struct warning_row *rows, size_t n,
                                      struct err *err)
{
    struct row_source source = {.query = QUERY_ADD_INGEST_WARNING,
                                .rows = rows,
                                .row_size = sizeof *rows,
                                .n = n,
                                .fill = warning_fill,
                                .compare = warning_compare};
    return call_rows(store, &source, NULL, NULL, NULL, err);
}

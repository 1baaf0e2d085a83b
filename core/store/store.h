/* The named queries of MS ("Queries") as typed functions, plus the few of ours.
 *
 * Legal order: store_begin, any queries, then store_commit or store_rollback. One session is one
 * connection of one actor; not shared between threads.
 * Shapes: arrays are read-only, n >= 1, ascending by their full key without repeats (asserted,
 * R-TX-2).
 * Errors: the status of the SQLSTATE (status.h); err carries the SQLSTATE. Results live in arena.
 * Times are microseconds UTC (_us), days since 1970 (_day) or unix nanoseconds (_nano).
 * These wrappers check the contract for every backend and decorator alike.
 */
#ifndef CORE_STORE_STORE_H
#define CORE_STORE_STORE_H

#include "core/base/sha256.h"
#include "core/model/point.h"
#include "core/model/point_rule.h"
#include "core/store/call.h"

enum store_role { ROLE_METRICS_WRITER, ROLE_JOBS, ROLE_CP_SYSTEM, ROLE_READER };

/* READ COMMITTED (R-TX-1). */
enum status store_begin(struct store *store, enum store_role role, struct err *err);
enum status store_commit(struct store *store, struct err *err);
/* Also after an error; its own failure is not reported. */
void store_rollback(struct store *store);

/* ---- writer, in the order of its transaction ---- */

struct ingest_message_row {
    struct bytes msg_id;
    struct uuid tenant;
    int64_t applied_at_us;
};
/* Dedup by Nats-Msg-Id: inserted[i] is 1 when row i is new. Waits for another transaction that
 * inserts the same id. */
enum status store_record_ingest_messages(struct store *store, const struct ingest_message_row *rows,
                                         size_t n, uint8_t *inserted, struct err *err);
/* The tenant of an id that is there (S-7). *found false when it is not. */
enum status store_get_ingest_message_tenant(struct store *store, struct bytes msg_id,
                                            struct arena *arena, bool *found, struct uuid *tenant,
                                            struct err *err);

/* Shared advisory lock on the tenant until the end of the transaction, then whether it is removed
 * (R-TX-7). lock: identity_tenant_lock. */
enum status store_lock_tenant(struct store *store, const struct uuid *tenant, int64_t lock,
                              struct arena *arena, bool *removed, struct err *err);

struct process_key {
    struct sha256 resource_hash;
    int64_t start_unix_nano;
};
struct resource_row {
    struct process_key key;
    int64_t first_seen_at_us;
    int64_t last_seen_at_us;
    int64_t first_point_unix_nano;
};
/* Sorted by key; absent ones are left out. */
enum status store_get_resources_seen(struct store *store, const struct uuid *tenant,
                                     const struct process_key *keys, size_t n, struct arena *arena,
                                     struct resource_row **rows, size_t *count, struct err *err);

struct series_key {
    struct sha256 series_hash;
    int64_t start_unix_nano;
};
struct series_state_row {
    struct series_key key;
    struct stream_state state;
};
/* Every start time of each series; sorted by key. */
enum status store_get_series_states(struct store *store, const struct uuid *tenant,
                                    const struct sha256 *series, size_t n, struct arena *arena,
                                    struct series_state_row **rows, size_t *count, struct err *err);
enum status store_count_series_states(struct store *store, const struct uuid *tenant,
                                      struct arena *arena, int64_t *count, struct err *err);

/* cardinality_overflow of the days from..until, inclusive (S-5). */
enum status store_get_cap_warnings(struct store *store, const struct uuid *tenant, int64_t from_day,
                                   int64_t until_day, struct arena *arena, int64_t *count,
                                   struct err *err);

struct route_row {
    struct bytes service;
    struct bytes route;
};
/* Routes admitted for a tenant and day, sorted by (service, route). */
enum status store_list_routes(struct store *store, const struct uuid *tenant, int64_t day,
                              struct arena *arena, struct route_row **rows, size_t *count,
                              struct err *err);
struct route_registry_row {
    struct uuid tenant;
    int64_t day;
    struct bytes service;
    struct bytes route;
    int64_t created_at_us;
};
enum status store_register_routes(struct store *store, const struct route_registry_row *rows,
                                  size_t n, struct err *err);

struct hour_lock {
    int64_t lock; /* identity_hour_lock; sorted by it */
    struct uuid tenant;
    int64_t hour_us;
};
/* Shared locks, one after the other in order. */
enum status store_lock_rollup_hours(struct store *store, const struct hour_lock *locks, size_t n,
                                    struct err *err);

struct minute_row {
    struct uuid tenant;
    int64_t bucket_start_us;
    struct bytes service;
    struct bytes method;
    struct bytes route;
    int16_t status_code;
    enum source source;
    struct histogram counts;
    double sum;
    int64_t count;
    bool lossy;
};
/* Adds to the row of the key. 23514 with no partition, 22003 on overflow. */
enum status store_add_minutes(struct store *store, const struct minute_row *rows, size_t n,
                              struct err *err);

struct mark_row {
    int64_t hour_us; /* sorted by (tenant, hour) */
    struct uuid tenant;
    int64_t marked_at_us;
};
enum status store_mark_rollup_pending(struct store *store, const struct mark_row *rows, size_t n,
                                      struct err *err);

struct series_state_write {
    struct uuid tenant;
    struct series_key key;
    struct stream_state state;
    int64_t last_seen_at_us;
    bool guarded;               /* S-13: write only where the row is as it was judged */
    bool had_previous;          /* judged from a row that was there */
    int64_t previous_unix_nano; /* its last_unix_nano */
};
/* *written < n (S-13): another writer judged the same stream; roll back and retry (as 40001). A row
 * that retention has taken away since is written again: no other point was counted in between. */
enum status store_upsert_series_states(struct store *store, const struct series_state_write *rows,
                                       size_t n, size_t *written, struct err *err);

struct resource_write {
    struct uuid tenant;
    struct process_key key;
    int64_t seen_at_us;            /* first_seen_at when new; last_seen_at always (greatest) */
    int64_t first_point_unix_nano; /* merged with least (S-1) */
};
enum status store_touch_resources(struct store *store, const struct resource_write *rows, size_t n,
                                  struct err *err);

/* In the order of their names: the order of the key. */
enum warning_kind {
    WARNING_CARDINALITY_OVERFLOW,
    WARNING_COARSE_BUCKETS,
    WARNING_LOSSY_HISTOGRAM,
    WARNING_SECRET_IN_PATH,
    WARNING_SPAN_DERIVED,
    WARNING_KIND_COUNT
};
const char *warning_kind_name(enum warning_kind kind);

struct warning_row {
    struct uuid tenant;
    int64_t day;
    enum warning_kind kind;
    int64_t count; /* > 0 */
};
enum status store_add_ingest_warnings(struct store *store, const struct warning_row *rows, size_t n,
                                      struct err *err);

/* ---- jobs ---- */

/* Deletes and returns up to limit marks after (after_hour_us, after_tenant) in (hour, tenant)
 * order, skipping locked ones (R-ROLL-3). after_hour_us = INT64_MIN starts at the first. */
enum status store_claim_rollup_hours(struct store *store, int64_t after_hour_us,
                                     const struct uuid *after_tenant, size_t limit,
                                     struct arena *arena, struct mark_row **rows, size_t *count,
                                     struct err *err);
/* The same for named hours only (those the drift check marked). keys: tenant and hour_us, sorted by
 * them; returned in (hour, tenant) order. */
enum status store_claim_marked_hours(struct store *store, const struct mark_row *keys, size_t n,
                                     struct arena *arena, struct mark_row **rows, size_t *count,
                                     struct err *err);
/* The exclusive hour lock without waiting. */
enum status store_try_lock_rollup_hour(struct store *store, const struct hour_lock *lock,
                                       struct arena *arena, bool *granted, struct err *err);
/* Puts a claimed mark back with its marked_at. */
enum status store_restore_rollup_mark(struct store *store, const struct mark_row *mark,
                                      struct err *err);
/* Marks every unmarked hour in [from_us, until_us) that has minute rows and whose hourly rows
 * differ: by_buckets: in any of the 15 totals (S-14); else in the request count. Returns the hours
 * marked, in (tenant, hour) order. */
enum status store_mark_drifted_hours(struct store *store, int64_t from_us, int64_t until_us,
                                     int64_t marked_at_us, bool by_buckets, struct arena *arena,
                                     struct mark_row **rows, size_t *count, struct err *err);
/* Exclusive, waits (S-10). lock: identity_day_lock. */
enum status store_lock_rollup_day(struct store *store, int64_t lock, struct err *err);
enum status store_delete_hourly_rows(struct store *store, const struct uuid *tenant,
                                     int64_t hour_us, int64_t *deleted, struct err *err);
/* Inserts the hour from its minutes, sums in time order; 23514 with no hourly partition. */
enum status store_rollup_hour(struct store *store, const struct uuid *tenant, int64_t hour_us,
                              int64_t *inserted, struct err *err);
/* The day row at day_us from the hours in [from_us, until_us). */
enum status store_delete_daily_rows(struct store *store, const struct uuid *tenant, int64_t day_us,
                                    int64_t *deleted, struct err *err);
enum status store_rollup_day(struct store *store, const struct uuid *tenant, int64_t day_us,
                             int64_t from_us, int64_t until_us, int64_t *inserted, struct err *err);
/* The bounds of the session time zone's day that contains at_us (A-10 off). */
enum status store_session_day(struct store *store, int64_t at_us, struct arena *arena,
                              int64_t *from_us, int64_t *until_us, struct err *err);

enum partition_table { PARTITION_MINUTE, PARTITION_HOURLY };

/* lock table ... in access exclusive mode nowait; 55P03 when it is in use (R-PART-2). */
enum status store_lock_partitioned(struct store *store, enum partition_table table,
                                   struct err *err);
/* first_day: the day, or the first day of the month. *done false: nothing to do. */
enum status store_create_partition(struct store *store, enum partition_table table,
                                   int64_t first_day, struct arena *arena, bool *done,
                                   struct err *err);
enum status store_drop_partition(struct store *store, enum partition_table table, int64_t first_day,
                                 struct arena *arena, bool *done, struct err *err);
/* First days, ascending, read from the bounds (R-PART-1). */
enum status store_list_partitions(struct store *store, enum partition_table table,
                                  struct arena *arena, int64_t **days, size_t *count,
                                  struct err *err);
enum status store_rollup_pending_in_day(struct store *store, int64_t day, struct arena *arena,
                                        bool *pending, struct err *err);

enum prune_table { PRUNE_INGEST_DEDUP, PRUNE_SERIES_STATE, PRUNE_RESOURCE_SEEN };
/* Rows applied, or last seen, before before_us. */
enum status store_prune(struct store *store, enum prune_table table, int64_t before_us,
                        int64_t *deleted, struct err *err);
enum status store_prune_route_registry(struct store *store, int64_t before_day, int64_t *deleted,
                                       struct err *err);

/* ---- control plane (cp) ---- */

/* api.purge_tenant: exclusive tenant lock, then the deletes of MS "Tenant purge". Refuses a tenant
 * that is not removed: 55000 (STATUS_TRANSIENT by its class: it may be removed later). */
enum status store_purge_tenant(struct store *store, const struct uuid *tenant, int64_t lock,
                               bool keep_aggregates, struct err *err);
/* cp.tenants: status "active" or "removed". */
enum status store_set_tenant(struct store *store, const struct uuid *tenant, const char *status,
                             struct err *err);

/* ---- readers (R-READ-1) ---- */

enum read_level { READ_MINUTE, READ_HOURLY, READ_DAILY };
/* Rows of one tenant with from_us <= bucket_start < until_us, in key order; tenant is set in each.
 */
enum status store_read_rows(struct store *store, enum read_level level, const struct uuid *tenant,
                            int64_t from_us, int64_t until_us, struct arena *arena,
                            struct minute_row **rows, size_t *count, struct err *err);
/* Pending hours of one tenant in the range, ascending (00021). */
enum status store_read_pending(struct store *store, const struct uuid *tenant, int64_t from_us,
                               int64_t until_us, struct arena *arena, int64_t **hours_us,
                               size_t *count, struct err *err);

/* A whole table in the order of its key: a query without parameters (QUERY_DUMP_..., or
 * QUERY_LIST_..._PARTITIONS). values: *count rows of queries[query].result_count values. */
enum status store_dump(struct store *store, enum query_id query, struct arena *arena,
                       struct value **values, size_t *count, struct err *err);

#endif

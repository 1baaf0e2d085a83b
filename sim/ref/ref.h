/* The reference model: what the tables must hold, by the rules alone (MS, core/CONTRACT.md).
 *
 * It is a second, naive implementation: linear lists, one point at a time, nothing folded or
 * cached. It shares no code and no algorithm with core; only the shapes of bytes, rules and
 * settings are the same. It has no scheduler, no store, no locks. It is told what was committed, in
 * the order of the commits, and says what every table must then hold. Where it and the tables
 * differ one of the two is wrong.
 *
 * Legal order: ref_new, { ref_tenant, ref_partition, ref_begin ref_apply... ref_commit, ref_rollup,
 * ref_drift, ref_prune, ref_purge }*, any accessor at any time outside ref_begin..ref_commit,
 * ref_free.
 *
 * What it does not model: who waits for whom, retries, faults. With overlapping writers the outcome
 * may depend on what one saw of the other (caps, R-TX-8): ref_begin is told how far each table had
 * come when it was read. Days are always 24 h, an orphaned mark is always dropped.
 * Running out of memory aborts.
 */
#ifndef SIM_REF_REF_H
#define SIM_REF_REF_H

#include "core/base/bytes.h"
#include "core/base/rules.h"
#include "core/base/settings.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ref;

struct ref *ref_new(const struct settings *settings, struct rules rules);
void ref_free(struct ref *ref);

/* ---- messages ---- */

enum ref_format { REF_PROTOBUF, REF_JSON };

struct ref_message {
    struct uuid tenant;  /* of the subject */
    struct bytes msg_id; /* size 0: absent */
    struct bytes payload;
    enum ref_format format;
};

enum ref_fate {
    REF_APPLIED,
    REF_DEAD_VALIDATION,  /* R-DEC-3: never written, alone to API_DLQ */
    REF_DEAD_TENANT,      /* a removed tenant (S-11) */
    REF_DEAD_ID_CONFLICT, /* another tenant's dedup row (S-7) */
    REF_ALREADY_APPLIED,
    REF_NO_PARTITION, /* a minute row outside every partition: 23514 */
    REF_OVERFLOW,     /* a stored bigint would overflow: 22003 */
};
/* "applied", "dead_validation", "dead_tenant", "dead_id_conflict", "already_applied",
 * "no_partition", "overflow". */
const char *ref_fate_name(enum ref_fate fate);

/* Whether a delivered message is good as a whole (REF_APPLIED) or REF_DEAD_VALIDATION. Changes
 * nothing. ref_reason tells why not. (The bound on decoding memory of R-DEC-1 is not modelled.) */
enum ref_fate ref_validate(struct ref *ref, const struct ref_message *message);
/* Why the last ref_validate, ref_apply or ref_partition answered no; for people. */
const char *ref_reason(const struct ref *ref);

/* Transactions are numbered 1, 2, ... in the order of their commits. What a writer read is what
 * those up to a number had left behind, and what its own had written. */
struct ref_view {
    uint64_t transaction; /* its own number */
    uint64_t processes;   /* resource_seen (R-FIRST-2) */
    uint64_t states;      /* series_state (R-PT-1 to R-PT-4) */
    uint64_t streams;     /* how many of them a tenant has (R-CAP-1) */
    uint64_t routes;      /* route_registry (R-CAP-1) */
    uint64_t overflows;   /* ingest_warnings (R-FIRST-6) */
};
/* One committed transaction of a writer. now_ns: its clock at BEGIN (R-FIRST-4). view NULL: nobody
 * else was open, it read all that had been committed; such transactions have no numbers, and a
 * model is told of numbers always or never. */
void ref_begin(struct ref *ref, int64_t now_ns, const struct ref_view *view);
/* A message that this transaction newly applied, in queue order. Anything but REF_APPLIED means
 * that the writer should not have applied it; the model is then of no further use for this run. */
enum ref_fate ref_apply(struct ref *ref, const struct ref_message *message);
void ref_commit(struct ref *ref);

/* ---- the control plane, partitions, jobs ---- */

/* cp.tenants. A tenant never named is active. */
void ref_tenant(struct ref *ref, const struct uuid *tenant, bool removed);

enum ref_partition_table { REF_MINUTE, REF_HOURLY };
/* first_day: days since 1970 of the day, or of the first day of the month. */
void ref_partition_created(struct ref *ref, enum ref_partition_table table, int64_t first_day);
/* Retention dropped it at now_ns: its rows are gone. False when that was wrong: it is not expired,
 * has pending hours (R-RET-1), or does not exist; the rows are gone all the same. */
bool ref_partition_dropped(struct ref *ref, enum ref_partition_table table, int64_t first_day,
                           int64_t now_ns);
/* The operator took it away (a scenario "without partition"): its rows are gone, no rule is asked.
 */
void ref_partition_removed(struct ref *ref, enum ref_partition_table table, int64_t first_day);

struct ref_hour {
    struct uuid tenant;
    int64_t hour_us;
};
/* One committed rollup transaction: the marks it claimed and did not put back. Hours are recomputed
 * from their minutes, then the days that contain them; an hour without partition keeps its rows. */
void ref_rollup(struct ref *ref, const struct ref_hour *claimed, size_t count);
/* One committed drift check over [from_us, until_us) at now_ns (R-ROLL-2). Returns the hours that
 * the model marks; with the locks on it should be 0. */
size_t ref_drift(struct ref *ref, int64_t from_us, int64_t until_us, int64_t now_ns);

enum ref_prune_table { REF_INGEST_DEDUP, REF_SERIES_STATE, REF_RESOURCE_SEEN, REF_ROUTE_REGISTRY };
/* Retention pruned that table at now_ns, in that transaction (0: no writer was open). A state that
 * a writer had read before is what it judged from, and is written anew (R-TX-8). */
void ref_prune(struct ref *ref, enum ref_prune_table table, int64_t now_ns, uint64_t transaction);

/* api.purge_tenant. False when the tenant is not removed (then nothing is done). */
bool ref_purge(struct ref *ref, const struct uuid *tenant, bool keep_aggregates);

/* ---- the tables: rows in the order of their keys; valid until the model is told anything ---- */

struct ref_metric_row { /* metrics_minute, metrics_hourly, metrics_daily */
    struct uuid tenant;
    int64_t bucket_start_us;
    struct bytes service;
    struct bytes method;
    struct bytes route;
    int16_t status_code;
    const char *source; /* "metric" or "span" */
    int64_t counts[15];
    double sum;
    int64_t count;
    bool lossy;
};
size_t ref_metrics_minute(struct ref *ref, const struct ref_metric_row **rows);
size_t ref_metrics_hourly(struct ref *ref, const struct ref_metric_row **rows);
size_t ref_metrics_daily(struct ref *ref, const struct ref_metric_row **rows);

struct ref_series_row {
    struct uuid tenant;
    uint8_t series_hash[32];
    int64_t start_unix_nano;
    int64_t last_unix_nano;
    int64_t last_count;
    double last_sum;
    int64_t last_counts[15];
    int64_t last_seen_at_us;
    bool baseline;
    uint64_t since; /* the transaction that inserted it */
};
size_t ref_series_state(struct ref *ref, const struct ref_series_row **rows);

struct ref_resource_row {
    struct uuid tenant;
    uint8_t resource_hash[32];
    int64_t start_unix_nano;
    int64_t first_seen_at_us;
    int64_t last_seen_at_us;
    int64_t first_point_unix_nano;
};
size_t ref_resource_seen(struct ref *ref, const struct ref_resource_row **rows);

struct ref_dedup_row {
    struct bytes msg_id;
    struct uuid tenant;
    int64_t applied_at_us;
};
size_t ref_ingest_dedup(struct ref *ref, const struct ref_dedup_row **rows);

struct ref_route_row {
    struct uuid tenant;
    int64_t day;
    struct bytes service;
    struct bytes route;
    int64_t created_at_us;
    uint64_t since; /* the transaction that inserted it */
};
size_t ref_route_registry(struct ref *ref, const struct ref_route_row **rows);

struct ref_warning_row {
    struct uuid tenant;
    int64_t day;
    const char *kind; /* "cardinality_overflow", ... */
    int64_t count;
};
size_t ref_ingest_warnings(struct ref *ref, const struct ref_warning_row **rows);

struct ref_mark_row {
    struct uuid tenant;
    int64_t hour_us;
    int64_t marked_at_us;
};
size_t ref_rollup_pending(struct ref *ref, const struct ref_mark_row **rows);

/* Point outcomes of the applied messages (R-OUT-1); only those above 0. A writer whose Commit lost
 * its reply, or that crashed behind it, never counts these: the meter may then hold less. */
struct ref_outcome_row {
    struct uuid tenant;
    const char *outcome; /* "first_full", ... in the order of R-OUT-1 */
    uint64_t count;
};
size_t ref_outcomes(struct ref *ref, const struct ref_outcome_row **rows);

/* The same for the message that ref_apply was told last: its points in the order in which they were
 * judged, refused ones behind them. */
size_t ref_last_points(struct ref *ref, const char *const **outcomes);

#endif

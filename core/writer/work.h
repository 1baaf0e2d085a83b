/* The working set of one transaction: what was read, what was judged, what will be written.
 *
 * The phases of transaction.c run in this order, and each fills the fields that the next ones use:
 *
 *   dedup.c   record ids, id conflicts, tenants          entries' outcomes
 *   gather.c  points of the new messages                 points processes streams days
 *   read.c    resources, states, stream count, caps      what is stored of them
 *   judge.c   point rule, stream cap                     outcomes and counts of points
 *   caps.c    routes and services                        labels services
 *   fold.c    one row per key, sorted                    minutes marks locks
 *   report.c  what became of each point, for whoever explains a cell
 *   write.c   the writes
 *
 * No hash tables: every set is a sorted array, made by sorting pointers to points and numbering the
 * runs of equals; a point keeps the number. So the order that the store needs is there for free.
 */
#ifndef CORE_WRITER_WORK_H
#define CORE_WRITER_WORK_H

#include "core/writer/batch.h"

struct work_tenant {
    struct uuid id;
    size_t process_begin, process_end; /* its range in work.processes */
    size_t stream_begin, stream_end;
    size_t new_stream_count;
    int64_t stream_count; /* stored and admitted streams; read only when there is a new one */
    bool overflowed;      /* S-5: cardinality_overflow today or yesterday */
    uint64_t skipped_metrics;
    uint64_t outcomes[POINT_OUTCOME_COUNT];
};

/* A process: (tenant, resource_hash, start). */
struct work_process {
    size_t tenant;
    struct process_key key;
    bool stored;
    int64_t first_seen_at_us;
    int64_t stored_first_point; /* when stored */
    bool accepted;              /* a point of it was accepted in this transaction, earliest at */
    int64_t accepted_first_point;
    const struct entry
        *message; /* the message being judged, when it has points of it, earliest at */
    int64_t message_first_point;
};

/* A stream: (tenant, series_hash, start). */
struct work_stream {
    size_t tenant;
    struct series_key key;
    bool stored;
    int64_t stored_last_unix_nano; /* when stored (S-13) */
    struct stream_state state;     /* as judged so far */
    bool changed;
};

/* A tenant's UTC day. */
struct work_day {
    size_t tenant;
    int64_t day;
    bool adds; /* some point of it adds counts: its routes were listed */
    struct route_row *routes;
    size_t route_count;
    int64_t service_count;
    int64_t warnings[WARNING_KIND_COUNT];
};

/* A service of a day, among points that add counts. */
struct work_service {
    size_t day;
    struct bytes name;
    bool admitted;
    bool registered; /* some row of it is, or will be, in the registry */
    int64_t route_count;
};

enum label_fate { LABEL_KEPT, LABEL_OTHER_ROUTE, LABEL_OTHER_SERVICE };

/* A (day, service, route), among points that add counts. */
struct work_label {
    size_t service;
    struct bytes route;
    size_t order;       /* of itself in work.labels */
    size_t first_entry; /* the first message that has it */
    bool known;         /* in the registry */
    bool admit;         /* to be registered */
    enum label_fate fate;
};

struct work_point {
    const struct point *point;
    const struct entry *entry;
    size_t entry_order; /* of the message in the queue */
    size_t order;       /* of itself in work.points */
    size_t tenant;
    size_t process; /* cumulative points only, as stream */
    size_t stream;
    size_t day;
    size_t label; /* when count > 0 */
    enum point_outcome outcome;
    const struct histogram *counts;
    int64_t count; /* what it adds; 0: no row, no mark */
    double sum;
};

struct work {
    struct writer *writer;
    struct arena *arena;
    int64_t now_ns; /* the clock, read once at Begin (R-FIRST-4) */
    int64_t now_us;
    bool tenant_removed; /* end here: roll back, go on without those messages */

    struct entry **entries; /* the undecided ones, in queue order */
    size_t entry_count;
    bool *is_new; /* per entry: its dedup row is ours */

    struct work_tenant *tenants;
    size_t tenant_count;
    struct work_point *points;
    size_t point_count;
    struct work_point **sorted; /* room for pointers to all points */
    struct work_process *processes;
    size_t process_count;
    struct work_stream *streams;
    size_t stream_count;
    struct work_day *days;
    size_t day_count;
    struct work_service *services;
    size_t service_count;
    struct work_label *labels;
    size_t label_count;

    struct minute_row *minutes;
    size_t minute_count;
    struct mark_row *marks;
    struct hour_lock *locks;
    size_t mark_count;
    size_t lock_count;
};

/* The phases. Each returns the store's status, STATUS_DATA/22003, or STATUS_NO_MEMORY. */
enum status dedup_record(struct work *work, struct err *err);
enum status dedup_lock_tenants(struct work *work, struct err *err);
enum status gather_points(struct work *work, struct err *err);
enum status read_resources(struct work *work, struct err *err);
enum status read_states(struct work *work, struct err *err);
enum status read_stream_counts(struct work *work, struct err *err);
enum status read_cap_warnings(struct work *work, struct err *err);
enum status judge_points(struct work *work, struct err *err);
enum status caps_label(struct work *work, struct err *err);
enum status caps_list_routes(struct work *work, struct err *err);
enum status caps_admit(struct work *work, struct err *err);
enum status caps_register_routes(struct work *work, struct err *err);
enum status fold_minutes(struct work *work, struct err *err);
enum status fold_hours(struct work *work, struct err *err);
enum status report_judgements(struct work *work, struct err *err);
enum status write_hour_locks(struct work *work, struct err *err);
enum status write_minutes(struct work *work, struct err *err);
enum status write_marks(struct work *work, struct err *err);
enum status write_states(struct work *work, struct err *err);
enum status write_resources(struct work *work, struct err *err);
enum status write_warnings(struct work *work, struct err *err);

/* After the commit: counters of points, and the log of refused streams. */
void report_committed(const struct work *work);

/* A point's labels as they are stored. Only for points that add counts. */
struct bytes fold_service(const struct work *work, const struct work_point *point);
struct bytes fold_route(const struct work *work, const struct work_point *point);

/* Adds to a warning of a day; STATUS_DATA/22003 above int64. */
enum status work_warn(struct work_day *day, enum warning_kind kind, int64_t count, struct err *err);

/* An array of count (0 is fine) zeroed elements in *out; STATUS_NO_MEMORY. */
enum status work_array(struct work *work, size_t count, size_t size, void *out, struct err *err);

#endif

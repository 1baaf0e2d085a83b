/* A scenario as the parser hands it on: what the world is made of, what happens when, and what must
 * come out. The language: scenarios/README.md.
 *
 *   text ─► scenario_parse ─► struct scenario ─► scenario_print ─► text     print(parse(x)) = x
 *
 * Everything lives in the arena given to scenario_parse; nothing is freed alone. Every item carries
 * the place it was written at. Names are NUL-terminated and already resolved: an index next to a
 * name is valid when it is >= 0. Times are unix nanoseconds (struct moment keeps how it was
 * written).
 *
 * Order: declarations are in file order within their kind; events are in file order, and events of
 * one instant happen in that order (DESIGN 5).
 *
 * Text that goes onto the wire is struct bytes: it may hold NUL or bytes that are not UTF-8
 * (written \x00); data NULL is an absent value, size 0 with data an empty one. Names are C strings.
 */
#ifndef SIM_SCENARIO_SCENARIO_H
#define SIM_SCENARIO_SCENARIO_H

#include "core/base/arena.h"
#include "core/base/rules.h"
#include "core/base/settings.h"
#include "core/model/outcome.h"
#include "core/model/point.h"
#include "core/port/ports.h"
#include "sim/fault/fault.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where an item was written, both from 1. */
struct place {
    int line;
    int column; /* in bytes */
};

/* A moment: "1h30m" after the scenario's start, "-3h+123ns" before it, or "2026-03-01T00:00:00Z".
 */
struct moment {
    int64_t ns; /* unix nanoseconds, whichever way it was written */
    bool absolute;
};

/* ---- what the world is made of ---- */

/* A resource or point attribute. type: STRING, INT, DOUBLE or BOOL of identity.h, by how it is
 * written: "x", 7, 0.5, true. */
enum scenario_value_type { SCENARIO_STRING, SCENARIO_INT, SCENARIO_DOUBLE, SCENARIO_BOOL };

struct scenario_attribute {
    struct place place;
    struct bytes key;
    enum scenario_value_type type;
    struct bytes text; /* STRING */
    int64_t integer;   /* INT; BOOL as 0 or 1 */
    double number;     /* DOUBLE */
};

struct scenario_tenant {
    struct place place;
    const char *name;
    bool has_id; /* else the world derives the uuid from the name */
    struct uuid id;
    bool removed; /* cp.tenants.status is removed from the start (R-TX-7) */
};

/* Bounds of an explicit-bucket histogram, in the order written (a series may send wrong ones). */
enum scenario_bounds_kind {
    SCENARIO_BOUNDS_CANONICAL,    /* the 14 of MS; the default */
    SCENARIO_BOUNDS_MILLISECONDS, /* 0 5 10 25 50 75 100 250 500 750 1000 2500 5000 7500 10000 */
    SCENARIO_BOUNDS_NONE,         /* R-DEC-6 */
    SCENARIO_BOUNDS_LIST,
};

struct scenario_bounds {
    enum scenario_bounds_kind kind;
    const double *bounds; /* resolved for every kind; NULL for NONE */
    size_t count;
};

/* Method, route and status of a request. data NULL: the attribute is absent, written "-". */
struct scenario_request {
    struct bytes method;
    struct bytes route;
    enum { SCENARIO_STATUS_ABSENT, SCENARIO_STATUS_INT, SCENARIO_STATUS_TEXT } status_kind;
    int64_t status;           /* INT; any number, also one the writer refuses */
    struct bytes status_text; /* TEXT: sent as a string attribute, "200" */
};

/* What processes and series have in common: the resource, the scope, the metric. */
struct scenario_resource {
    int tenant;                                  /* index into tenants */
    struct bytes service;                        /* data NULL: no service.name attribute */
    const struct scenario_attribute *attributes; /* of the resource */
    size_t attribute_count;
    bool has_scope;
    struct bytes scope_name;
    struct bytes scope_version; /* empty when not given */
    struct bytes metric;        /* data NULL: the name that belongs to source (R-DEC-2) */
    enum source source;         /* SPAN: the collector derives the points from spans */
    struct bytes unit;          /* data NULL: "s" */
    bool redacted;              /* the collector redacted a secret (R-WARN-1) */
    struct scenario_bounds bounds;
};

/* An SDK in a process. It runs from its `starts` event, or is running since started (has_started).
 * An export is due every export_every_ns after its start. With replicas > 1 it stands for processes
 * "NAME/1" to "NAME/n" with equal attributes, started apart_ns after each other; an event on NAME
 * is done by each of them, in order. */
struct scenario_process {
    struct place place;
    const char *name;
    struct scenario_resource resource;
    int64_t export_every_ns; /* > 0 */
    enum temporality temporality;
    bool has_started;
    struct moment started;
    int64_t skew_ns; /* its clock minus the true one */
    int replicas;    /* 1 by default */
    int64_t apart_ns;
    int collector; /* index into collectors, or -1: the default one, named "collector" */
    bool raw_sums; /* durations are not floored to 2^-20 s (DESIGN 5) */
};

/* Between processes and the queue. Its message ids are "NAME-1", "NAME-2", ... */
struct scenario_collector {
    struct place place;
    const char *name;
    int64_t split_points;  /* at most so many points a message; 0: never splits */
    int64_t batch_exports; /* waits for so many exports, one message for all; 1 by default */
    int64_t delay_ns;      /* publishes so much later; 0 by default */
};

struct scenario_writer {
    struct place place;
    const char *name;
    bool stopped; /* does not run until its `starts` event */
};

enum scenario_job_kind { SCENARIO_ROLLUP, SCENARIO_PARTITION, SCENARIO_RETENTION };
#define SCENARIO_JOB_KINDS 3

struct scenario_job {
    struct place place;
    enum scenario_job_kind kind;
    const char *name; /* "rollup", or what follows `as` */
    int64_t every_ns; /* 0: by hand */
    bool has_first;   /* else its first run is start + every */
    struct moment first;
};

/* A stream sent point by point, without an SDK. Series with the same tenant, service, attributes
 * and start are of one process. */
struct scenario_series {
    struct place place;
    const char *name;
    struct scenario_resource resource;
    struct scenario_request request;
    const struct scenario_attribute *attributes; /* of its points, besides those of request */
    size_t attribute_count;
    enum {
        SCENARIO_START_UNKNOWN,
        SCENARIO_START_AT
    } start_kind; /* UNKNOWN: start_unix_nano = 0 */
    struct moment start;
    int temporality; /* enum temporality; 0: unspecified */
    enum {
        SCENARIO_HISTOGRAM,
        SCENARIO_GAUGE,
        SCENARIO_SUM,
        SCENARIO_EXPONENTIAL,
        SCENARIO_SUMMARY
    } type;
};

/* ---- points ---- */

/* One point as it is sent: everything resolved ("+5" added up). counts has bounds.count + 1
 * elements (1 without bounds). */
struct scenario_point {
    struct place place;
    int series;
    int64_t start_unix_nano; /* 0: unknown */
    int64_t time_unix_nano;
    const uint64_t *counts;
    size_t counts_size;
    uint64_t count; /* the sum of counts unless `count` says otherwise */
    bool has_sum;   /* false: `no sum` */
    double sum;     /* default: count / 64; may be NaN, infinite or negative */
    uint32_t flags;
};

/* The same as written, for the printer. */
enum scenario_step_kind {
    SCENARIO_STEP_COUNT,    /* 10: so many in the default bucket, nothing elsewhere */
    SCENARIO_STEP_INCREASE, /* +5: the point before, 5 more in the default bucket */
    SCENARIO_STEP_DECREASE, /* -5 */
    SCENARIO_STEP_BUCKETS,  /* b1:3 b4:2, in a shorthand {b1:3 b4:2} */
    SCENARIO_STEP_GAP,      /* _: no point */
};

struct scenario_bucket {
    int bucket; /* 1-based index into the source buckets */
    uint64_t count;
};

struct scenario_step {
    struct place place;
    int series;
    enum scenario_step_kind kind;
    uint64_t count; /* COUNT, INCREASE, DECREASE */
    int64_t repeat; /* x3; 1 by default */
    const struct scenario_bucket *buckets;
    size_t bucket_count;
    bool has_time;
    struct moment time; /* else the moment of the event */
    bool has_start, start_unknown;
    struct moment start; /* else the start of the series */
    bool has_count;
    uint64_t total;
    bool has_sum, no_sum;
    double sum;
    bool has_flags;
    uint32_t flags;
};

/* ---- what happens ---- */

/* Who acts, or is acted upon. */
enum scenario_subject_kind {
    SCENARIO_NOBODY,
    SCENARIO_OF_PROCESS,
    SCENARIO_OF_COLLECTOR,
    SCENARIO_OF_WRITER,
    SCENARIO_OF_JOB,
    SCENARIO_OF_SERIES,
    SCENARIO_OF_TENANT,
};

struct scenario_subject {
    struct place place;
    enum scenario_subject_kind kind;
    const char
        *name;   /* as written, for example "shop-1/2"; the actor's name for writers and jobs */
    int index;   /* into the array of its kind */
    int replica; /* of a process: 1-based; 0: all of them */
};

/* Which rows an expectation is about. */
enum scenario_level { SCENARIO_MINUTE, SCENARIO_HOURLY, SCENARIO_DAILY };

struct scenario_selector {
    enum scenario_level level;
    int tenant;
    bool has_service;
    struct bytes service;
    bool has_request;
    struct scenario_request request; /* a stored '' or 0 is written "-" */
    bool has_source;
    enum source source;
    bool has_range; /* half-open [from, until), by bucket_start */
    struct moment from;
    struct moment until;
};

enum scenario_expect_kind {
    SCENARIO_EXPECT_OUTCOME,  /* points with `outcome` [of tenant] */
    SCENARIO_EXPECT_MESSAGE,  /* messages with `message` [of tenant] */
    SCENARIO_EXPECT_DLQ,      /* dead letters [with reason `message`] [of tenant] */
    SCENARIO_EXPECT_ROWS,     /* rows of `table` [of tenant] */
    SCENARIO_EXPECT_REQUESTS, /* sum of count over selector */
    SCENARIO_EXPECT_SUM,      /* sum of sum over selector: number */
    SCENARIO_EXPECT_QUANTILE, /* of the summed buckets of selector, as the console answers
                                 (R-READ-1) */
    SCENARIO_EXPECT_WARNING,  /* requests counted under `name` [of tenant], all days */
    SCENARIO_EXPECT_LOG,      /* events `name` of `level` */
    SCENARIO_EXPECT_COUNTER,  /* `counter` */
    SCENARIO_EXPECT_PENDING,  /* rows of rollup_pending [of tenant] */
    SCENARIO_EXPECT_QUEUE,    /* messages in the queue: neither acknowledged nor dead */
};

struct scenario_expect {
    enum scenario_expect_kind kind;
    int tenant; /* -1: all; of REQUESTS, SUM, QUANTILE: in selector */
    enum point_outcome outcome;
    enum message_outcome message;
    bool has_reason;  /* DLQ */
    const char *name; /* ROWS: the table; WARNING: the kind; LOG: the event */
    enum log_level log_level;
    enum counter counter;
    struct scenario_selector selector;
    double q;           /* QUANTILE: 0..1 */
    const char *q_text; /* "95", "99.9" */
    enum { SCENARIO_QUANTILE_NUMBER, SCENARIO_QUANTILE_OPEN, SCENARIO_QUANTILE_NONE } answer;
    int64_t count; /* what is expected */
    double number; /* SUM; QUANTILE with NUMBER: equal to so many digits as number_text has */
    const char *number_text;
};

struct scenario_partition {
    bool hourly;       /* else minute */
    int64_t first_day; /* days since 1970: the day, or the first of the month */
};

enum scenario_event_kind {
    SCENARIO_SERVE,    /* subject serves request; repeated from..until when every_ns > 0 */
    SCENARIO_STARTS,   /* process, collector, writer, job */
    SCENARIO_STOPS,    /* process: flushes first unless without_flush */
    SCENARIO_CRASHES,  /* process (the last interval is lost), collector, writer, job */
    SCENARIO_RESTARTS, /* crashes and starts in the same instant; a process has a new start */
    SCENARIO_EXPORTS,  /* process: an export out of turn */
    SCENARIO_RESENDS,  /* process: its last export once more, under new message ids (R-OUT-2) */
    SCENARIO_RUNS,     /* job */
    SCENARIO_SEND,     /* points of one message: msg_id, points */
    SCENARIO_POINTS,   /* shorthand: one message for each point; see points */
    SCENARIO_DELIVER_BYTES, /* bytes as they are onto the queue */
    SCENARIO_DELIVER_FILE,  /* path below tests/data (sim/run/paths.h) */
    SCENARIO_REDELIVER,     /* msg_id once more from the queue, acknowledged or not */
    SCENARIO_PUBLISH_AGAIN, /* msg_id: the publisher retries, the same id and bytes */
    SCENARIO_RELEASE,       /* subject was held */
    SCENARIO_RAISE_FENCE,   /* fence */
    SCENARIO_REMOVE_TENANT, /* subject */
    SCENARIO_PURGE,         /* subject, keep_aggregates */
    SCENARIO_CREATE_PARTITION,
    SCENARIO_DROP_PARTITION,
    SCENARIO_EXPECT, /* now; those without a time are in `expects` */
    SCENARIO_GOLDEN, /* a golden of this moment */
};

enum scenario_fence {
    SCENARIO_FENCE_WRITERS,
    SCENARIO_FENCE_ROLLUP,
    SCENARIO_FENCE_PARTITION,
    SCENARIO_FENCE_RETENTION
};

/* Who stamps a message's resource with a tenant. */
enum scenario_stamp { SCENARIO_STAMP_OWN, SCENARIO_STAMP_OTHER, SCENARIO_STAMP_NONE };

struct scenario_event {
    struct place place;
    enum scenario_event_kind kind;
    struct moment at; /* or the first time, when every_ns > 0 */
    int64_t every_ns; /* SERVE, EXPORTS, RUNS, POINTS; 0: once */
    /* exclusive; SERVE, EXPORTS, RUNS with every_ns > 0. POINTS: one period behind the last point
     */
    struct moment until;
    struct scenario_subject subject;

    /* SERVE */
    struct scenario_request request;
    int64_t duration_ns;
    int64_t times;           /* requests each time, 1 by default */
    struct bytes error_type; /* data NULL: no error.type */

    bool without_flush;   /* STOPS */
    bool keep_aggregates; /* PURGE */

    /* SEND: one message. POINTS: points[i] is sent in a message of its own at points[i]'s time,
     * with id msg_ids[i]. */
    const struct scenario_point *points;
    size_t point_count;
    const char *const *msg_ids;        /* POINTS */
    const struct scenario_step *steps; /* as written */
    size_t step_count;
    bool in_block; /* SEND: written as `message` with indented points */

    /* SEND, DELIVER, REDELIVER, PUBLISH_AGAIN. NULL: `without id`. Where none is written it is
     * "<series>-<n>", or "message-<n>" of `message` and `deliver`, n counting in file order from 1.
     */
    const char *msg_id;
    bool msg_id_written;
    int tenant; /* of the subject; SEND of one series: the series' tenant */
    enum scenario_stamp stamp;
    int stamp_tenant; /* OTHER */
    struct bytes bytes;
    const char *path;

    enum scenario_fence fence;
    struct scenario_partition partition;
    struct scenario_expect expect;
};

/* ---- faults: what they mean is told in sim/fault/fault.h ---- */

struct scenario_fault {
    struct place place;
    enum fault_kind kind;
    struct scenario_subject actor; /* a writer or job; NOBODY: any */
    const char *step;              /* a query of sql/, or Pull Ack Retry Dead Fence */
    bool after;                    /* CRASH, HOLD */
    char sqlstate[6];              /* ERROR */
    const char *where;             /* NULL, or: calls with a text parameter equal to this */
    bool has_from, has_until;
    struct moment from; /* armed in [from, until); without: always */
    struct moment until;
    int64_t nth;   /* the first match that counts, 1 by default */
    int64_t times; /* INT64_MAX: always */
};

/* ---- goldens ---- */

struct scenario_golden_rule {
    struct place place;
    const char *table; /* a table, or "outcomes", "dlq", "queue" */
    const char
        *column; /* NULL: the whole table is left out; else the column that order may change */
    const char *because;
};

/* ---- header ---- */

struct scenario_setting {
    struct place place;
    const char *name;
    const char *value;
};

struct scenario_offset {
    struct place place;
    bool has_from;
    struct moment from; /* without: from ever */
    int64_t offset_ns;  /* east of UTC is positive */
};

/* One item of the file in its order, for the printer and the shrinker. */
enum scenario_item_kind {
    SCENARIO_ITEM_COMMENT,
    SCENARIO_ITEM_TITLE,
    SCENARIO_ITEM_CITES,
    SCENARIO_ITEM_START,
    SCENARIO_ITEM_SET,
    SCENARIO_ITEM_RULES,
    SCENARIO_ITEM_SESSION,
    SCENARIO_ITEM_QUEUE,
    SCENARIO_ITEM_WITHOUT_PARTITION,
    SCENARIO_ITEM_TENANT,
    SCENARIO_ITEM_PROCESS,
    SCENARIO_ITEM_COLLECTOR,
    SCENARIO_ITEM_WRITER,
    SCENARIO_ITEM_JOB,
    SCENARIO_ITEM_SERIES,
    SCENARIO_ITEM_EVENT,
    SCENARIO_ITEM_FAULT,
    SCENARIO_ITEM_RUN,
    SCENARIO_ITEM_EXPECT,
    SCENARIO_ITEM_GOLDEN,
    SCENARIO_ITEM_DERIVE,
};

struct scenario_item {
    struct place place;
    enum scenario_item_kind kind;
    size_t index;        /* into the array of its kind */
    const char *comment; /* behind it, or the comment itself, without '#'; NULL: none */
    bool blank_before;
};

enum scenario_queue_setting { SCENARIO_ACK_WAIT, SCENARIO_AGE_LIMIT, SCENARIO_DEDUP_WINDOW };

struct scenario_queue {
    struct place place;
    enum scenario_queue_setting setting;
    int64_t value_ns;
};

struct scenario_missing {
    struct place place;
    bool all; /* `without partitions` */
    struct scenario_partition partition;
};

struct scenario_timed_expect {
    struct place place;
    struct scenario_expect expect;
};

struct scenario {
    const char *file;
    const char *title;
    const char *const *cites; /* rule ids, "A-5" */
    size_t cite_count;
    int64_t start_ns; /* 2026-03-01T00:00:00Z when not said */

    struct rules rules;                                 /* the defaults with rules_text applied */
    const char *rules_text;                             /* "" when not said */
    struct settings settings;                           /* the defaults with `set` applied */
    int64_t ack_wait_ns, age_limit_ns, dedup_window_ns; /* R-Q-1 with `queue` applied */
    bool without_partitions;                            /* no initial window at all */

    const struct scenario_setting *sets;
    size_t set_count;
    const struct scenario_offset *offsets; /* of the session time zone, in file order */
    size_t offset_count;
    const struct scenario_queue *queues;
    size_t queue_count;
    const struct scenario_missing *missing; /* partitions left out of the initial window */
    size_t missing_count;

    const struct scenario_tenant *tenants;
    size_t tenant_count;
    const struct scenario_process *processes;
    size_t process_count;
    const struct scenario_collector *collectors;
    size_t collector_count;
    const struct scenario_writer *writers;
    size_t writer_count;
    const struct scenario_job *jobs;
    size_t job_count;
    const struct scenario_series *series;
    size_t series_count;

    const struct scenario_event *events; /* file order */
    size_t event_count;
    const struct scenario_fault *faults;
    size_t fault_count;

    struct moment run_until;
    bool without_draining; /* else the run goes on, without faults, until the queue is empty */

    const struct scenario_timed_expect *expects; /* at the end of the run */
    size_t expect_count;
    const struct scenario_golden_rule *golden_rules;
    size_t golden_rule_count;
    const char *derive; /* its lines without their common indentation, each ending in \n */

    const struct scenario_item *items; /* everything, in file order */
    size_t item_count;
};

/* ---- errors ---- */

struct scenario_error {
    struct place place;
    char message[200]; /* "expected a duration, found \"soon\"" */
    char hint[120];    /* "did you mean \"shop-1\"?"; "" for none */
};

#define SCENARIO_ERRORS_MAX 40

struct scenario_errors {
    struct scenario_error errors[SCENARIO_ERRORS_MAX]; /* by line and column */
    size_t count;
    size_t more; /* found but not kept */
};

/* "file:line:column: message" and, where there is one, " (hint)", without a newline. Always ends in
 * NUL; returns its length. */
size_t scenario_error_format(const char *file, const struct scenario_error *error, char *out,
                             size_t size);

/* ---- parse and print ---- */

/* Reads size bytes of text (any bytes: it may be hostile). file is used in messages and kept.
 * STATUS_OK with *out set; STATUS_INVALID with all errors of the file; STATUS_NO_MEMORY when the
 * arena is exhausted (LIMIT_SCENARIO_ARENA is enough for any accepted file). */
enum status scenario_parse(const char *file, const char *text, size_t size, struct arena *arena,
                           struct scenario **out, struct scenario_errors *errors);

/* The canonical text of a scenario, in the arena, NUL-terminated; *size without the NUL.
 * NULL: the arena is exhausted. Parsing it gives the same scenario, and the same text again. */
const char *scenario_print(const struct scenario *scenario, struct arena *arena, size_t *size);

/* What an expectation is about, without its answer: "requests hourly of acme GET /cart 200"; and a
 * fault as it is written: "hold w1 before Commit". On one line; NULL: the arena is exhausted. */
const char *scenario_print_expected(const struct scenario *scenario,
                                    const struct scenario_expect *expect, struct arena *arena);
const char *scenario_print_fault(const struct scenario *scenario,
                                 const struct scenario_fault *fault, struct arena *arena);

#endif

/* The ports core is handed. Core reads no clock, environment, file or random source itself: in
 * production these are real, in the simulator they are the world (sim/world, sim/fault).
 * A port's struct is embedded as the first member of its implementation.
 */
#ifndef CORE_PORT_PORTS_H
#define CORE_PORT_PORTS_H

#include "core/base/arena.h"
#include "core/base/bytes.h"
#include "core/base/err.h"
#include "core/model/point.h"
#include <stdint.h>

struct clock {
    int64_t (*now_ns)(struct clock *clock); /* unix nanoseconds */
};

/* R-FENCE-1: an epoch. STATUS_STALE when a newer one was raised after the holder started. */
struct fence {
    enum status (*check)(struct fence *fence, struct err *err);
};

/* One delivery of a queued message. Memory belongs to the consumer until ack, retry or dead. */
struct delivery {
    uint64_t sequence;    /* of the stream: queue order */
    struct bytes msg_id;  /* Nats-Msg-Id; size 0 when absent */
    struct bytes subject; /* the whole subject, for the dead letter */
    struct uuid tenant;   /* from the subject */
    struct bytes payload;
    int deliveries;       /* the queue's count, 1 for the first */
    void *token;          /* the consumer's own */
};

/* R-Q-2: what a dead letter adds to payload and headers. */
struct dead_letter {
    enum message_outcome reason; /* one of MESSAGE_DEAD_* */
    const char *sqlstate;        /* "" when no database was asked */
    const char *message;
    int64_t time_ns;
};

struct consumer {
    /* Up to max deliveries, in queue order; what is there after 1 s (R-Q-1). *count may be 0.
     * The array lives in arena. */
    enum status (*pull)(struct consumer *consumer, size_t max, struct arena *arena,
                        struct delivery **deliveries, size_t *count, struct err *err);
    enum status (*ack)(struct consumer *consumer, const struct delivery *delivery, struct err *err);
    /* Redeliver after delay_ns. */
    enum status (*retry)(struct consumer *consumer, const struct delivery *delivery, int64_t delay_ns,
                         struct err *err);
    /* Puts the message into API_DLQ. On success the caller acks it; on failure it must not. */
    enum status (*dead)(struct consumer *consumer, const struct delivery *delivery,
                        const struct dead_letter *letter, struct err *err);
};

/* Counters. Named, monotonic; reported when the commit is known (R-OUT-1). */
enum counter {
    COUNTER_ROLLUP_HOURS,          /* hours recomputed */
    COUNTER_ROLLUP_DAYS,
    COUNTER_ROLLUP_RESTORED,       /* marks put back because a writer held the hour */
    COUNTER_ROLLUP_DRIFTED_HOURS,  /* jobs_api_rollup_drifted_hours_total */
    COUNTER_ROLLUP_ORPHANED_MARKS, /* jobs_api_rollup_orphaned_marks_total */
    COUNTER_PARTITIONS_CREATED,
    COUNTER_PARTITIONS_DROPPED,
    COUNTER_PARTITIONS_BUSY,       /* 55P03, left to a later run (R-PART-2) */
    COUNTER_PARTITIONS_WAITING,    /* an expired day with pending hours (R-RET-1) */
    COUNTER_PRUNED_ROWS,
    COUNTER_SKIPPED_METRICS,       /* R-DEC-2 */
    COUNTER_COUNT
};
const char *counter_name(enum counter counter); /* "rollup_hours", ... */

/* What became of one point, and where its requests went. */
struct judgement {
    const struct delivery *delivery; /* the message it came with */
    const struct point *point;       /* of a refused one only `refusal` is set */
    enum point_outcome outcome;
    int64_t counted; /* requests added to the minute row below; 0: none, the rest is not set */
    int64_t bucket_start_us;
    struct bytes service; /* after the caps (R-CAP-1) */
    struct bytes route;
};

struct meter {
    /* Told for every point inside its transaction, before the commit: a rollback undoes it. This is what
     * explains a cell; NULL when nobody asks. Memory is the caller's. */
    void (*judged)(struct meter *meter, const struct judgement *judgement);
    void (*points)(struct meter *meter, const struct uuid *tenant, enum point_outcome outcome,
                   uint64_t count);
    void (*messages)(struct meter *meter, const struct uuid *tenant, enum message_outcome outcome,
                     uint64_t count);
    void (*add)(struct meter *meter, enum counter counter, uint64_t count);
};

enum log_level { LOG_INFO, LOG_WARNING, LOG_ERROR };

struct log {
    /* event: a fixed word ("rollup_orphaned_mark"); text: the rest, for people. */
    void (*write)(struct log *log, enum log_level level, const char *event, const char *text);
};

#endif

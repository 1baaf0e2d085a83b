/* The books behind truth.h, shared by truth.c (served, sent), truth_judge.c (judged) and
 * truth_check.c. Nobody else includes this.
 */
#ifndef SIM_WORLD_TRUTH_STATE_H
#define SIM_WORLD_TRUTH_STATE_H

#include "core/base/time.h"
#include "sim/base/array.h"
#include "sim/world/index.h"
#include "sim/world/truth.h"

/* A stream: (tenant, series, start), and its temporality: what counts and what adds up are two
 * books, though their attributes are the same. */
struct truth_stream {
    struct uuid tenant;
    struct sha256 series_hash;
    uint64_t start_unix_nano;
    const char *name;
    int temporality;
    size_t number; /* in order of first use */

    bool live;          /* a process counts what it serves; else the newest point says it */
    uint64_t served;    /* cumulative: the SDK's value now. delta: all that was served */
    uint64_t newest_at; /* time of the newest point sent, when not live */
    uint64_t sent;      /* delta: requests sent, without repetitions */
    uint64_t lost;      /* delta: died with the process */

    /* cumulative, as judged by committed transactions */
    bool accepted; /* there is a last accepted point */
    int64_t last_unix_nano;
    int64_t last_value;
    int64_t counted;
    int64_t absorbed_baseline; /* baselines that were not caught up */
    int64_t absorbed_reset;    /* signed: a reset moves the value without counting */
    int64_t forgotten;         /* value of a state that retention pruned before its stream went on:
                                  what the stream begins with anew has been booked once before */
    int64_t baseline_value;    /* of a baseline that may still be caught up, else 0 */
    int64_t applied_ns;        /* true time of the last accepted point's commit */
};

/* A point as it was sent. */
struct truth_point {
    uint32_t stream;
    uint64_t time_unix_nano;
    uint64_t count;
};

/* A message of the queue, by sequence. */
struct truth_message {
    struct truth_point *points; /* sorted by (stream, time, count) */
    size_t point_count;
    uint64_t first; /* the same bytes were sent before as this sequence; 0: they were not */
    /* requests of its delta points, held at UINT64_MAX; a refused point may carry that many alone
     */
    uint64_t delta_sent;
    uint64_t delta_judged; /* of good points */
    uint64_t delta_counted;
    uint64_t judgements; /* committed, over all its points */
    uint64_t refusals;   /* of those, refused ones */
    bool known;          /* truth_message was called for it */
};

/* Rows of one day that share everything else: what was judged into them. */
struct truth_cell {
    struct uuid tenant;
    int64_t day;
    struct bytes service;
    struct bytes method;
    struct bytes route;
    int16_t status_code;
    enum source source;
    int64_t counted;
    int64_t in_table; /* filled by the check */
};

struct truth {
    struct names *names;
    struct arena arena;
    bool exhausted;

    struct truth_stream **streams;
    size_t stream_count;
    size_t stream_capacity;
    struct index by_key;

    struct truth_message *messages; /* by sequence - 1 */
    size_t message_count;
    size_t message_capacity;

    struct truth_cell *cells;
    size_t cell_count;
    size_t cell_capacity;
    struct index by_row;

    int64_t pruned_before_us; /* the highest cutoff that retention used on series_state */
    uint64_t deduplicated;    /* requests dropped by the queue's dedup window */

    /* what was wrong at the moment it was judged; one line each */
    char **breaches;
    size_t breach_count;
    size_t breach_more; /* not kept: beyond LIMIT_TRUTH_BREACHES */
};

#define LIMIT_TRUTH_BREACHES 100

/* NULL when there is none. */
struct truth_stream *truth_find_stream(const struct truth *truth, const struct uuid *tenant,
                                       const struct sha256 *series_hash, uint64_t start_unix_nano,
                                       int temporality);
/* Found or made; only the key fields of `key` count. NULL: out of memory. */
struct truth_cell *truth_cell_of(struct truth *truth, const struct truth_cell *key);

__attribute__((format(printf, 2, 3))) void truth_breach(struct truth *truth, const char *format,
                                                        ...);

/* The books are compared modulo 2^64: a day may hold more requests than an int64. */
static inline int64_t truth_add(int64_t sum, int64_t more)
{
    return (int64_t)((uint64_t)sum + (uint64_t)more);
}

/* A sum that must not come out small by wrapping: it stays at the top. */
static inline uint64_t truth_add_up(uint64_t sum, uint64_t more)
{
    return more > UINT64_MAX - sum ? UINT64_MAX : sum + more;
}

/* Retention may have pruned the stream's state. It goes by the writer's clock, which may be skewed;
 * a day is more than any skew in use. */
static inline bool truth_may_be_pruned(const struct truth *truth, const struct truth_stream *stream)
{
    return truth->pruned_before_us > INT64_MIN &&
           stream->applied_ns / NS_PER_US < truth->pruned_before_us + US_PER_DAY;
}

#endif

/* Cumulative points to deltas: the rule of one point (R-PT-1..6, R-FIRST-1..7; MS "First-point rule
 * and long export intervals"). Pure: no clock, no store, no memory.
 */
#ifndef CORE_MODEL_POINT_RULE_H
#define CORE_MODEL_POINT_RULE_H

#include "core/base/rules.h"
#include "core/model/point.h"

/* The row of api.series_state without its key. */
struct stream_state {
    bool exists; /* false: a stream never seen; the other fields are then ignored */
    int64_t last_unix_nano;
    int64_t last_count;
    double last_sum;
    struct histogram last_counts;
    bool baseline;
};

/* What is known of the point's process (tenant, resource_hash, start). */
struct process_view {
    bool seen;                     /* a resource_seen row, or an accepted point before this one */
    int64_t first_point_unix_nano; /* the earliest point met, when seen (S-1) */
    bool first_seen_long_ago;      /* first_seen_at is 7 days before now or more (S-6, R-FIRST-7) */
    bool tenant_overflowed;        /* cardinality_overflow today or yesterday (S-5, R-FIRST-6) */
};

struct point_verdict {
    enum point_outcome outcome;
    struct histogram counts; /* what the point adds; all 0 when it adds nothing */
    int64_t count;
    double sum;
    bool state_changed; /* next must be stored, and the process is touched */
    struct stream_state next;
};

/* Judges one good cumulative point. The stream cap (R-CAP-1) is the caller's, before this call.
 * threshold_ns: METRICSWRITER_FIRST_POINT_THRESHOLD. */
void point_rule(const struct point *point, const struct stream_state *state,
                const struct process_view *process, int64_t threshold_ns, struct rules rules,
                struct point_verdict *verdict);

#endif

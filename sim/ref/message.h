/* One message, checked: the points of a tree as the rules of points see them. Private to sim/ref.
 */
#ifndef SIM_REF_MESSAGE_H
#define SIM_REF_MESSAGE_H

#include "sim/ref/tree.h"

#define REF_BUCKETS 15

/* In the order of R-OUT-1. */
enum outcome {
    FIRST_FULL,
    BASELINE,
    CATCH_UP,
    DELTA,
    UNCHANGED,
    RESET,
    DUPLICATE,
    OUT_OF_ORDER,
    REFUSED_CAP,
    NO_VALUE,
    REJECTED_ATTRIBUTES,
    REJECTED_TYPE,
    REJECTED_TEMPORALITY,
    REJECTED_UNIT,
    REJECTED_INTERVAL,
    REJECTED_TOO_OLD,
    REJECTED_FUTURE,
    REJECTED_SHAPE,
    REJECTED_OVERFLOW,
    REJECTED_SUM,
    REJECTED_STATUS,
    OUTCOME_COUNT,
    GOOD = OUTCOME_COUNT /* not judged yet */
};
extern const char *const outcome_names[OUTCOME_COUNT];

struct point {
    enum outcome outcome; /* GOOD, or why it was refused; then the rest is not set */
    bool cumulative;
    bool from_span;
    uint8_t resource_hash[32];
    uint8_t series_hash[32];
    int64_t start;
    int64_t time;
    struct bytes service; /* memory of the tree */
    struct bytes method;
    struct bytes route;
    int16_t status;
    int64_t counts[REF_BUCKETS];
    int64_t count;
    bool has_sum;
    double sum;
    bool lossy;
    bool coarse;
    bool redacted;
};

struct message_rules {
    struct rules rules;
    int64_t future_tolerance_ns;
    int64_t now_ns;
};

/* R-DEC-3: the whole message. False with the reason. */
bool message_check(const struct ref_message *message, struct tree *tree, char *reason,
                   size_t reason_size);
/* R-DEC-4: every point of a checked message (struct point), in the order of the payload. */
void message_points(const struct tree *tree, const struct uuid *tenant,
                    const struct message_rules *rules, struct list *points);

/* sim/ref/histogram.c. bounds and buckets as in OTLP: buckets one more than bounds, or both empty
 * and total the whole count. */
struct rebucketed {
    int64_t counts[REF_BUCKETS];
    bool exact;
    bool coarse;
};
struct rebucketed rebucket(const struct list *bounds, const struct list *buckets, uint64_t total);

/* sim/ref/identity.c (R-ID-1, R-ID-2) */
void identify_resource(const struct list *attributes, uint8_t hash[32]);
void identify_series(const struct uuid *tenant, const uint8_t resource_hash[32],
                     const struct tree_scope *scope, bool with_scope, struct bytes metric,
                     const struct list *attributes, uint8_t hash[32]);

#endif

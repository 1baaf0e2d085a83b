/* The rule of one cumulative point, tests in the order of CONTRACT section 5. Each switch is asked
 * once.
 *
 *   a stream never seen   start = time (S-12)      -> baseline, never catches up
 *                         a known process          -> first_full   (S-5, S-6: baseline, never)
 *                         age < threshold          -> first_full
 *                         else                     -> baseline, may catch up
 *   a stream seen before  time < last, time = last -> out_of_order, duplicate
 *                         a bucket fell            -> reset
 *                         a baseline, young enough -> catch_up
 *                         else                     -> delta, unchanged
 */
#include "core/model/point_rule.h"
#include "core/base/assert.h"
#include "core/base/time.h"

/* R-FIRST-2: a process is known when it was first met this much earlier. */
#define KNOWN_AFTER_NS NS_PER_S
/* R-FIRST-5 (S-2) */
#define CATCH_UP_AGE_MAX_NS NS_PER_HOUR

/* later - earlier, also where the difference exceeds int64; later >= earlier. */
static uint64_t elapsed(int64_t earlier, int64_t later)
{
    return (uint64_t)later - (uint64_t)earlier;
}

static void count_in_full(const struct point *point, struct point_verdict *verdict)
{
    verdict->counts = point->histogram;
    verdict->count = point->count;
    verdict->sum = point->sum;
}

/* The point becomes the previous point. R-PT-6: an absent sum leaves last_sum as it was. */
static void store(const struct point *point, double last_sum, bool baseline,
                  struct point_verdict *verdict)
{
    verdict->state_changed = true;
    verdict->next = (struct stream_state){
        .exists = true,
        .last_unix_nano = point->time_unix_nano,
        .last_count = point->count,
        .last_sum = point->has_sum ? point->sum : last_sum,
        .last_counts = point->histogram,
        .baseline = baseline,
    };
}

/* Whether a first point of that age can catch up at all; the gap to the second decides the rest. */
static bool may_catch_up(uint64_t age, struct rules rules)
{
    if (!rules_on(rules, RULE_A5))
        return false;
    return !rules_on(rules, RULE_S2) || age <= (uint64_t)CATCH_UP_AGE_MAX_NS;
}

static bool process_known(const struct point *point, const struct process_view *process,
                          struct rules rules)
{
    if (!process->seen || !rules_on(rules, RULE_S1))
        return process->seen;
    return process->first_point_unix_nano < point->time_unix_nano &&
           elapsed(process->first_point_unix_nano, point->time_unix_nano) >=
               (uint64_t)KNOWN_AFTER_NS;
}

/* A new stream of a known process that may have been followed, and lost, before. */
static bool history_doubtful(const struct process_view *process, struct rules rules)
{
    return (process->tenant_overflowed && rules_on(rules, RULE_S5)) ||
           (process->first_seen_long_ago && rules_on(rules, RULE_S6));
}

static void judge_first(const struct point *point, const struct process_view *process,
                        int64_t threshold_ns, struct rules rules, struct point_verdict *verdict)
{
    uint64_t age = elapsed(point->start_unix_nano, point->time_unix_nano);
    bool full;
    bool catches_up = false;
    if (age == 0 && rules_on(rules, RULE_S12)) {
        full = false;
    } else if (process_known(point, process, rules)) {
        full = !history_doubtful(process, rules);
    } else {
        full = age < (uint64_t)threshold_ns;
        catches_up = !full && may_catch_up(age, rules);
    }
    verdict->outcome = full ? POINT_FIRST_FULL : POINT_BASELINE;
    if (full)
        count_in_full(point, verdict);
    store(point, 0, catches_up, verdict);
}

static bool fell(const struct point *point, const struct stream_state *state)
{
    for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++)
        if (point->histogram.counts[i] < state->last_counts.counts[i])
            return true;
    return point->count < state->last_count;
}

/* MS "First-point rule": the first point's age was at most twice the gap to the second. */
static bool catches_up(const struct point *point, const struct stream_state *state,
                       struct rules rules)
{
    if (!state->baseline)
        return false;
    uint64_t age = elapsed(point->start_unix_nano, state->last_unix_nano);
    uint64_t gap = elapsed(state->last_unix_nano, point->time_unix_nano);
    return may_catch_up(age, rules) && age / 2 + age % 2 <= gap; /* age <= 2 * gap */
}

static void count_difference(const struct point *point, const struct stream_state *state,
                             struct point_verdict *verdict)
{
    for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
        int64_t added = point->histogram.counts[i] - state->last_counts.counts[i];
        verdict->counts.counts[i] = added;
        verdict->count += added; /* at most the point's own total */
    }
    if (point->has_sum && point->sum > state->last_sum)
        verdict->sum = point->sum - state->last_sum;
}

static void judge_next(const struct point *point, const struct stream_state *state,
                       struct rules rules, struct point_verdict *verdict)
{
    if (point->time_unix_nano <= state->last_unix_nano) {
        verdict->outcome =
            point->time_unix_nano == state->last_unix_nano ? POINT_DUPLICATE : POINT_OUT_OF_ORDER;
        return;
    }
    if (fell(point, state)) {
        verdict->outcome = POINT_RESET;
    } else if (catches_up(point, state, rules)) {
        verdict->outcome = POINT_CATCH_UP;
        count_in_full(point, verdict);
    } else {
        count_difference(point, state, verdict);
        verdict->outcome = verdict->count > 0 ? POINT_DELTA : POINT_UNCHANGED;
    }
    store(point, state->last_sum, false, verdict);
}

void point_rule(const struct point *point, const struct stream_state *state,
                const struct process_view *process, int64_t threshold_ns, struct rules rules,
                struct point_verdict *verdict)
{
    ASSERT(point && state && process && verdict);
    ASSERT(point->refusal == POINT_OUTCOME_COUNT);
    ASSERT(point->temporality == TEMPORALITY_CUMULATIVE);
    ASSERT(point->start_unix_nano <= point->time_unix_nano);
    ASSERT(threshold_ns > 0);
    *verdict = (struct point_verdict){0};
    if (state->exists)
        judge_next(point, state, rules, verdict);
    else
        judge_first(point, process, threshold_ns, rules, verdict);
    ASSERT(verdict->count >= 0 && verdict->sum >= 0);
}

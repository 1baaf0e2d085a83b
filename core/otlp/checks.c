#include "core/otlp/checks.h"
#include "core/base/assert.h"
#include "core/base/limits.h"
#include "core/base/time.h"
#include <math.h>

#define FLAG_NO_RECORDED_VALUE 1u /* OTLP DataPointFlags */

struct otlp_window otlp_window_at(int64_t now_ns, const struct settings *settings,
                                  struct rules rules)
{
    struct otlp_window window = {.oldest_unix_nano = 0, .newest_unix_nano = INT64_MAX};
    int64_t oldest = 0;
    int64_t newest = 0;
    ASSERT(settings->future_tolerance_ns >= 0);
    if (!__builtin_sub_overflow(now_ns, LIMIT_POINT_AGE_DAYS * NS_PER_DAY, &oldest) && oldest > 0)
        window.oldest_unix_nano = (uint64_t)oldest;
    if (rules_on(rules, RULE_S4) &&
        !__builtin_add_overflow(now_ns, settings->future_tolerance_ns, &newest))
        window.newest_unix_nano = newest > 0 ? (uint64_t)newest : 0;
    return window;
}

static bool unit_is_seconds(struct bytes unit)
{
    return unit.size == 0 || bytes_equal(unit, bytes_of("s"));
}

static bool bounds_are_increasing(const double *bounds, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!isfinite(bounds[i]) || (i > 0 && bounds[i] <= bounds[i - 1]))
            return false;
    return true;
}

/* Lengths, bounds and totals. Both arrays empty is a histogram without buckets, one bucket over
 * everything that holds `count` (R-DEC-6, OTLP "explicit_bounds"). */
static enum point_outcome shape_check(const struct otlp_point *point)
{
    bool no_buckets = point->bucket_count == 0 && point->bound_count == 0;
    if (!no_buckets && point->bucket_count != point->bound_count + 1)
        return POINT_REJECTED_SHAPE;
    if (point->bound_count > LIMIT_SOURCE_BOUNDS ||
        !bounds_are_increasing(point->bounds, point->bound_count))
        return POINT_REJECTED_SHAPE;
    uint64_t total = no_buckets ? point->count : 0;
    for (size_t i = 0; i < point->bucket_count; i++)
        if (__builtin_add_overflow(total, point->bucket_counts[i], &total))
            return POINT_REJECTED_SHAPE; /* above uint64: it cannot equal count */
    if (total != point->count)
        return POINT_REJECTED_SHAPE;
    /* no bucket is larger than the total */
    return total > INT64_MAX ? POINT_REJECTED_OVERFLOW : POINT_OUTCOME_COUNT;
}

static enum point_outcome time_check(const struct otlp_point *point,
                                     const struct otlp_window *window)
{
    if (point->time_unix_nano == 0 || point->start_unix_nano > point->time_unix_nano)
        return POINT_REJECTED_INTERVAL;
    if (point->time_unix_nano < window->oldest_unix_nano)
        return POINT_REJECTED_TOO_OLD;
    if (point->time_unix_nano > window->newest_unix_nano)
        return POINT_REJECTED_FUTURE;
    return POINT_OUTCOME_COUNT;
}

enum point_outcome otlp_point_check(const struct otlp_metric *metric,
                                    const struct otlp_point *point, const struct point_facts *facts,
                                    const struct otlp_window *window)
{
    ASSERT(window->newest_unix_nano <= INT64_MAX);
    if (facts->repeated)
        return POINT_REJECTED_ATTRIBUTES;
    if (!metric->is_histogram)
        return POINT_REJECTED_TYPE;
    if (metric->temporality != TEMPORALITY_DELTA && metric->temporality != TEMPORALITY_CUMULATIVE)
        return POINT_REJECTED_TEMPORALITY;
    if (!unit_is_seconds(metric->unit))
        return POINT_REJECTED_UNIT;
    if (point->flags & FLAG_NO_RECORDED_VALUE)
        return POINT_NO_VALUE;
    enum point_outcome outcome = time_check(point, window);
    if (outcome == POINT_OUTCOME_COUNT)
        outcome = shape_check(point);
    if (outcome != POINT_OUTCOME_COUNT)
        return outcome;
    if (point->has_sum && (!isfinite(point->sum) || point->sum < 0))
        return POINT_REJECTED_SUM;
    if (facts->status_wrong)
        return POINT_REJECTED_STATUS;
    return POINT_OUTCOME_COUNT;
}

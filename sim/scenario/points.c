/* Adds up points: "10 +5 +5 _ 3" becomes what each point carries. */
#include "core/base/assert.h"
#include "sim/limits.h"
#include "sim/scenario/parser.h"
#include <string.h>

/* The shorthand has no durations: a request takes 1/64 s, exact in a double, and lies in the source
 * bucket that holds 15.625 ms (bucket 3 of the canonical layout). */
#define DEFAULT_SECONDS 0.015625

const struct scenario_series *series_of(const struct parser *parser, int index)
{
    if (index < 0)
        return NULL;
    ASSERT((size_t)index < parser->series.count);
    return (const struct scenario_series *)parser->series.items + index;
}

static size_t default_bucket(const struct scenario_bounds *bounds)
{
    size_t bucket = 0;
    while (bucket < bounds->count && !(DEFAULT_SECONDS <= bounds->bounds[bucket]))
        bucket++;
    return bucket;
}

static bool add_bucket(uint64_t *counts, size_t bucket, uint64_t count, bool minus)
{
    return minus ? !__builtin_sub_overflow(counts[bucket], count, &counts[bucket])
                 : !__builtin_add_overflow(counts[bucket], count, &counts[bucket]);
}

/* Fills counts from the step and the point before it (NULL: none). False: below 0 or above 2^64. */
static bool fill_counts(const struct scenario_series *series, const struct scenario_step *step,
                        const uint64_t *before, uint64_t *counts, size_t size)
{
    bool minus = step->kind == SCENARIO_STEP_DECREASE;
    if ((minus || step->kind == SCENARIO_STEP_INCREASE) && before)
        memcpy(counts, before, size * sizeof *counts);
    if (step->bucket_count == 0)
        return add_bucket(counts, default_bucket(&series->resource.bounds), step->count, minus);
    for (size_t i = 0; i < step->bucket_count; i++) {
        size_t bucket = (size_t)step->buckets[i].bucket - 1;
        ASSERT(bucket < size);
        if (!add_bucket(counts, bucket, step->buckets[i].count, minus))
            return false;
    }
    return true;
}

static int64_t start_of(const struct scenario_series *series, const struct scenario_step *step)
{
    if (step->has_start)
        return step->start_unknown ? 0 : step->start.ns;
    return series->start_kind == SCENARIO_START_AT ? series->start.ns : 0;
}

static uint64_t total_of(const uint64_t *counts, size_t size)
{
    uint64_t total = 0;
    for (size_t i = 0; i < size; i++)
        total += counts[i]; /* may wrap: an overflow is the point of such a scenario */
    return total;
}

/* One point; the tail of its series then stands at it. */
static bool make_point(struct parser *parser, const struct scenario_step *step, int64_t time_ns,
                       struct scenario_point *point)
{
    const struct scenario_series *series = series_of(parser, step->series);
    ASSERT(series != NULL);
    struct series_tail *tail = (struct series_tail *)parser->tails.items + step->series;
    size_t size = series->resource.bounds.count + 1;
    parser->buckets += size;
    if (parser->buckets > LIMIT_SCENARIO_BUCKETS)
        return parser_fail(parser, step->place, "", "the scenario's points have too many buckets");
    uint64_t *counts = parser_alloc(parser, size, sizeof *counts);
    if (!counts)
        return false;
    int64_t start = start_of(series, step);
    const uint64_t *before = start == tail->start_unix_nano ? tail->counts : NULL;
    if (!fill_counts(series, step, before, counts, size))
        return parser_fail(parser, step->place, "", "a bucket would be below 0 or above 2^64 - 1");
    tail->counts = counts;
    tail->start_unix_nano = start;
    uint64_t total = step->has_count ? step->total : total_of(counts, size);
    *point = (struct scenario_point){
        .place = step->place,
        .series = step->series,
        .start_unix_nano = start,
        .time_unix_nano = step->has_time ? step->time.ns : time_ns,
        .counts = counts,
        .counts_size = size,
        .count = total,
        .has_sum = !step->no_sum,
        .sum = step->no_sum    ? 0
               : step->has_sum ? step->sum
                               : (double)total * DEFAULT_SECONDS,
        .flags = step->flags,
    };
    return true;
}

bool expand_points(struct parser *parser, struct scenario_event *event)
{
    ASSERT(event->kind == SCENARIO_SEND || event->kind == SCENARIO_POINTS);
    struct list points = {.item_size = sizeof(struct scenario_point)};
    int64_t time_ns = event->at.ns;
    for (size_t i = 0; i < event->step_count; i++) {
        const struct scenario_step *step = &event->steps[i];
        for (int64_t n = 0; n < step->repeat; n++) {
            struct scenario_point point;
            if (++parser->points > LIMIT_SCENARIO_POINTS)
                return parser_fail(parser, step->place, "", "the scenario has too many points");
            if (step->kind != SCENARIO_STEP_GAP && step->series >= 0) {
                struct scenario_point *slot = make_point(parser, step, time_ns, &point)
                                                  ? parser_list_add(parser, &points)
                                                  : NULL;
                if (!slot)
                    return false;
                *slot = point;
            }
            /* every_ns is 0 for SEND: all points of a message at once */
            if (__builtin_add_overflow(time_ns, event->every_ns, &time_ns))
                return parser_fail(parser, step->place, "", "the point is too far in the future");
        }
    }
    event->points = points.items;
    event->point_count = points.count;
    event->until.ns = time_ns;
    return true;
}

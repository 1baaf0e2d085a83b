/* Re-bucketing, sums and quantiles of the canonical histogram. */
#include "core/model/histogram.h"
#include "core/base/assert.h"
#include <math.h>

const double histogram_bounds[HISTOGRAM_BOUNDS] = {
    0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10,
};

/* Canonical bounds a source bucket must hold strictly inside to be coarse (MS: histo.CoarseSpan).
 */
#define COARSE_SPAN 3

/* What callers have checked on the wire (R-DEC-4). */
static void assert_shape(const double *bounds, size_t bound_count, const uint64_t *counts)
{
    ASSERT(counts);
    ASSERT(bounds || bound_count == 0);
    for (size_t i = 0; i < bound_count; i++) {
        ASSERT(isfinite(bounds[i]));
        ASSERT(i == 0 || bounds[i - 1] < bounds[i]);
    }
}

enum status histogram_rebucket(const double *bounds, size_t bound_count, const uint64_t *counts,
                               struct histogram *out, bool *exact, struct err *err)
{
    assert_shape(bounds, bound_count, counts);
    ASSERT(out && exact && err);
    *out = (struct histogram){0};
    size_t target = 0; /* canonical bucket of the current upper bound; never moves back */
    size_t matched = 0;
    int64_t total = 0;
    for (size_t i = 0; i <= bound_count; i++) {
        bool open = i == bound_count;
        while (target < HISTOGRAM_BOUNDS && (open || bounds[i] > histogram_bounds[target]))
            target++;
        if (target < HISTOGRAM_BOUNDS && bounds[i] == histogram_bounds[target])
            matched++;
        if (counts[i] > INT64_MAX || __builtin_add_overflow(total, (int64_t)counts[i], &total))
            return err_set(err, STATUS_INVALID, "22003", "histogram total is above int64");
        out->counts[target] += (int64_t)counts[i];
    }
    *exact = matched == HISTOGRAM_BOUNDS;
    return STATUS_OK;
}

/* Canonical bounds strictly inside source bucket i. */
static size_t bounds_inside(const double *bounds, size_t bound_count, size_t i)
{
    size_t inside = 0;
    for (size_t c = 0; c < HISTOGRAM_BOUNDS; c++) {
        bool above = i == 0 || histogram_bounds[c] > bounds[i - 1];
        bool below = i == bound_count || histogram_bounds[c] < bounds[i];
        inside += above && below;
    }
    return inside;
}

bool histogram_coarse(const double *bounds, size_t bound_count, const uint64_t *counts)
{
    assert_shape(bounds, bound_count, counts);
    uint64_t coarse = 0;
    uint64_t fine = 0;
    for (size_t i = 0; i <= bound_count; i++) {
        if (counts[i] == 0)
            continue;
        bool wide = bounds_inside(bounds, bound_count, i) >= COARSE_SPAN;
        uint64_t *sum = wide ? &coarse : &fine;
        bool overflow = __builtin_add_overflow(*sum, counts[i], sum);
        ASSERT(!overflow); /* histogram_rebucket has checked the total */
    }
    return coarse > 0 && coarse >= fine;
}

enum status histogram_total(const struct histogram *histogram, int64_t *total, struct err *err)
{
    ASSERT(histogram && total && err);
    int64_t sum = 0;
    for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
        ASSERT(histogram->counts[i] >= 0);
        if (__builtin_add_overflow(sum, histogram->counts[i], &sum))
            return err_sql(err, "22003", "histogram total is above int64");
    }
    *total = sum;
    return STATUS_OK;
}

enum status histogram_add(struct histogram *a, const struct histogram *b, struct err *err)
{
    ASSERT(a && b && err);
    struct histogram sum;
    for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++)
        if (__builtin_add_overflow(a->counts[i], b->counts[i], &sum.counts[i]))
            return err_sql(err, "22003", "histogram bucket %zu is above int64", i + 1);
    *a = sum;
    return STATUS_OK;
}

/* The value at rank inside bucket i, which holds the requests before..before + counts[i]. */
static double interpolate(const struct histogram *histogram, size_t i, int64_t before, double rank)
{
    if (i == HISTOGRAM_BUCKETS - 1)
        return INFINITY;
    double lower = i == 0 ? 0 : histogram_bounds[i - 1];
    double upper = histogram_bounds[i];
    double share = (rank - (double)before) / (double)histogram->counts[i];
    return lower + (upper - lower) * share;
}

enum status histogram_quantile(double q, const struct histogram *histogram, double *out,
                               bool *empty, struct err *err)
{
    ASSERT(histogram && out);
    ASSERT(empty && err);
    if (!(q >= 0 && q <= 1))
        return err_sql(err, "22023", "quantile is not between 0 and 1");
    for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++)
        if (histogram->counts[i] < 0)
            return err_sql(err, "22023", "histogram bucket %zu is negative", i + 1);
    int64_t total;
    enum status status = histogram_total(histogram, &total, err);
    if (status != STATUS_OK)
        return status;
    *empty = total == 0;
    *out = NAN;
    double rank = q * (double)total;
    int64_t before = 0;
    for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
        int64_t reached = before + histogram->counts[i];
        if (histogram->counts[i] > 0 && (double)reached >= rank) {
            *out = interpolate(histogram, i, before, rank);
            break;
        }
        before = reached;
    }
    ASSERT(*empty || !isnan(*out));
    return STATUS_OK;
}

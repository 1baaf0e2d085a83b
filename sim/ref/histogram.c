/* MS "Histogram contract": Rebucket, Coarse; R-DEC-6. */
#include "sim/ref/message.h"

#include "core/base/assert.h"
#include <math.h>

static const double canonical[REF_BUCKETS - 1] = {0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25,
                                                  0.5,   0.75, 1,     2.5,  5,     7.5, 10};

/* The edges of source bucket n; the first begins at -Inf, the last ends at +Inf. */
static void edges(const struct list *bounds, size_t n, double *lower, double *upper)
{
    const double *bound = bounds->items;
    *lower = n > 0 ? bound[n - 1] : -(double)INFINITY;
    *upper = n < bounds->count ? bound[n] : (double)INFINITY;
}

static int bucket_of(double upper)
{
    for (int i = 0; i < REF_BUCKETS - 1; i++)
        if (upper <= canonical[i])
            return i;
    return REF_BUCKETS - 1;
}

static int canonical_bounds_inside(double lower, double upper)
{
    int inside = 0;
    for (int i = 0; i < REF_BUCKETS - 1; i++)
        inside += lower < canonical[i] && canonical[i] < upper;
    return inside;
}

static bool is_exact(const struct list *bounds)
{
    for (int i = 0; i < REF_BUCKETS - 1; i++) {
        bool found = false;
        const double *bound;
        for (LIST_EACH(bound, bounds))
            found = found || *bound == canonical[i];
        if (!found)
            return false;
    }
    return true;
}

struct rebucketed rebucket(const struct list *bounds, const struct list *buckets, uint64_t total)
{
    struct list whole = {0};
    if (buckets->count == 0) {
        list_add(&whole, &total, sizeof total);
        buckets = &whole;
    }
    ASSERT(buckets->count == bounds->count + 1);
    struct rebucketed result = {.exact = is_exact(bounds)};
    const uint64_t *count = buckets->items;
    int64_t wide = 0; /* requests in buckets that could lie in four or more of ours */
    for (size_t i = 0; i < buckets->count; i++) {
        double lower, upper;
        edges(bounds, i, &lower, &upper);
        result.counts[bucket_of(upper)] += (int64_t)count[i];
        if (canonical_bounds_inside(lower, upper) >= 3)
            wide += (int64_t)count[i];
    }
    result.coarse = total > 0 && wide >= (int64_t)total - wide;
    list_free(&whole);
    return result;
}

/* The canonical histogram: 15 buckets over fixed bounds (MS "Histogram contract").
 *
 *   bucket (1-based)  1            2                 ...  14           15
 *   range             [0, 0.005]   (0.005, 0.01]          (7.5, 10]    (10, +Inf)
 *
 * Arrays are 0-based: counts[0] is bucket 1.
 */
#ifndef CORE_MODEL_HISTOGRAM_H
#define CORE_MODEL_HISTOGRAM_H

#include "core/base/err.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HISTOGRAM_BUCKETS 15
#define HISTOGRAM_BOUNDS  14

extern const double histogram_bounds[HISTOGRAM_BOUNDS]; /* seconds */

struct histogram {
    int64_t counts[HISTOGRAM_BUCKETS];
};

/* Moves an explicit-bucket histogram onto the canonical layout: each source bucket goes whole to
 * the canonical bucket that contains its upper bound; the last (open) one to bucket 15.
 * bounds: bound_count finite, strictly increasing seconds; counts: bound_count + 1 of them.
 * No bounds: everything in bucket 15, not exact (R-DEC-6).
 * *exact: every canonical bound is also a source bound.
 * Errors: STATUS_INVALID/22003 when a count or the total exceeds int64 (out is then undefined). */
enum status histogram_rebucket(const double *bounds, size_t bound_count, const uint64_t *counts,
                               struct histogram *out, bool *exact, struct err *err);

/* True when at least half of the requests sit in source buckets with 3 or more canonical bounds
 * strictly inside them (MS "Coarse", A-12, R-DEC-6: no bounds is coarse). An empty histogram is not
 * coarse. Same arguments as histogram_rebucket. */
bool histogram_coarse(const double *bounds, size_t bound_count, const uint64_t *counts);

/* Sum of the buckets. STATUS_DATA/22003 above int64. Buckets must not be negative (asserted). */
enum status histogram_total(const struct histogram *histogram, int64_t *total, struct err *err);

/* a += b, element by element. STATUS_DATA/22003 on overflow, a is then unchanged. */
enum status histogram_add(struct histogram *a, const struct histogram *b, struct err *err);

/* Interpolated quantile (MS "histogram_quantile"): linear inside the bucket that holds rank
 * q * total; the first non-empty bucket that reaches the rank wins. The open bucket gives +Inf.
 * Errors (STATUS_DATA): q outside [0, 1] or NaN 22023; a negative bucket 22023; total 22003.
 * *empty is set (and *out is NaN) for a histogram without requests; that is not an error here.
 * Bit for bit the same as the SQL function: rank = q * (double)total; inside bucket i
 * lower + (upper - lower) * ((rank - (double)before) / (double)count_i). */
enum status histogram_quantile(double q, const struct histogram *histogram, double *out,
                               bool *empty, struct err *err);

#endif

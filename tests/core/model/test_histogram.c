/* The histogram contract of MS: re-bucketing, exact, coarse, sums, quantiles. */
#include "core/model/histogram.h"
#include <check.h>
#include <math.h>
#include <string.h>

static struct err err;

/* Zeroes but for bucket k (1-based, as in MS). */
#define B(k, n) .counts[(k)-1] = (n)

static void assert_buckets(const struct histogram *got, const struct histogram *wanted)
{
    for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++)
        ck_assert_msg(got->counts[i] == wanted->counts[i], "bucket %zu: %lld, not %lld", i + 1,
                      (long long)got->counts[i], (long long)wanted->counts[i]);
}

/* Milliseconds an SDK uses by default, taken for seconds (A40). */
static const double sdk_bounds[] = {0,   5,   10,   25,   50,   75,   100,  250,
                                    500, 750, 1000, 2500, 5000, 7500, 10000};
static const double ten[] = {1, 10};
static const double off_by_one_ulp[] = {0.005000000000000001, 10.000000000000002};
static const double negative[] = {-1, 0, 0.005};

static const struct {
    const char *name;
    const double *bounds;
    size_t bound_count;
    uint64_t counts[16];
    struct histogram wanted;
    bool exact;
    bool coarse;
} rebuckets[] = {
    {"canonical",
     histogram_bounds,
     14,
     {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
     {{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}},
     true,
     false},
    /* A40: 100 requests in (0, 5] hold 11 canonical bounds strictly inside */
    {"A40 seconds under 5", sdk_bounds, 15, {0, 100}, {B(12, 100)}, false, true},
    {"A40 (-inf, 0]", sdk_bounds, 15, {7}, {B(1, 7)}, false, false},
    {"A40 (5, 10]", sdk_bounds, 15, {0, 0, 7}, {B(14, 7)}, false, false},
    {"A40 (10, 25]", sdk_bounds, 15, {0, 0, 0, 7}, {B(15, 7)}, false, false},
    {"A40 above 10000", sdk_bounds, 15, {[15] = 7}, {B(15, 7)}, false, false},
    /* A26: bounds [1, 10] counts [5, 5, 0] */
    {"A26 (-inf, 1] and (1, 10]", ten, 2, {5, 5, 0}, {B(10, 5), B(14, 5)}, false, true},
    /* A28, R-DEC-6: no bounds, everything in bucket 15, lossy and coarse */
    {"A28 no bounds", NULL, 0, {12}, {B(15, 12)}, false, true},
    {"A28 no bounds, empty", NULL, 0, {0}, {{0}}, false, false},
    /* an upper bound just above 0.005 belongs to (0.005, 0.01], just above 10 to the open bucket */
    {"one ulp above", off_by_one_ulp, 2, {3, 0, 1}, {B(2, 3), B(15, 1)}, false, false},
    {"negative bounds", negative, 3, {1, 2, 3, 4}, {B(1, 6), B(15, 4)}, false, false},
};
#define REBUCKET_COUNT ((int)(sizeof rebuckets / sizeof rebuckets[0]))

START_TEST(histogram_rebucket__whole_to_the_bucket_of_the_upper_bound)
{
    struct histogram out;
    bool exact;
    ck_assert_int_eq(histogram_rebucket(rebuckets[_i].bounds, rebuckets[_i].bound_count,
                                        rebuckets[_i].counts, &out, &exact, &err),
                     STATUS_OK);
    assert_buckets(&out, &rebuckets[_i].wanted);
    ck_assert_int_eq(exact, rebuckets[_i].exact);
}
END_TEST

/* A-12, MS "Coarse" */
START_TEST(histogram_coarse__of_the_rebucket_cases)
{
    ck_assert_int_eq(
        histogram_coarse(rebuckets[_i].bounds, rebuckets[_i].bound_count, rebuckets[_i].counts),
        rebuckets[_i].coarse);
}
END_TEST

/* (0.005, 0.05] holds 0.01 and 0.025, (0.05, 0.5] holds 0.075, 0.1 and 0.25: the span is 3. */
START_TEST(histogram_coarse__half_of_the_requests_over_three_bounds)
{
    static const double bounds[] = {0.005, 0.05, 0.5};
    static const struct {
        uint64_t counts[4];
        bool coarse;
    } cases[] = {
        {{0, 9, 0, 0}, false}, /* two bounds inside are fine */
        {{0, 0, 9, 0}, true},
        {{0, 5, 5, 0}, true}, /* exactly half */
        {{0, 6, 5, 0}, false},
        {{0, 5, 4, 1}, true}, /* the open bucket holds 6: 5 of 10 */
        {{0, 0, 0, 0}, false},
        {{0, INT64_MAX / 2, INT64_MAX / 2 + 1, 0}, true}, /* no doubling that overflows */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        ck_assert_int_eq(histogram_coarse(bounds, 3, cases[i].counts), cases[i].coarse);
}
END_TEST

/* MS: exact when every canonical bound is a source bound, in a finer layout as well. */
START_TEST(histogram_rebucket__finer_layout_is_exact)
{
    double bounds[2 * HISTOGRAM_BOUNDS];
    uint64_t counts[2 * HISTOGRAM_BOUNDS + 1];
    struct histogram out, wanted = {{0}};
    bool exact;
    for (size_t i = 0; i < HISTOGRAM_BOUNDS; i++) {
        double lower = i == 0 ? 0 : histogram_bounds[i - 1];
        bounds[2 * i] = (lower + histogram_bounds[i]) / 2;
        bounds[2 * i + 1] = histogram_bounds[i];
    }
    for (size_t i = 0; i <= 2 * HISTOGRAM_BOUNDS; i++) {
        counts[i] = 1;
        wanted.counts[i / 2]++; /* two halves a bucket, one open */
    }
    ck_assert_int_eq(histogram_rebucket(bounds, 2 * HISTOGRAM_BOUNDS, counts, &out, &exact, &err),
                     STATUS_OK);
    ck_assert(exact);
    assert_buckets(&out, &wanted);
    for (size_t left_out = 0; left_out < HISTOGRAM_BOUNDS; left_out++) {
        double fewer[HISTOGRAM_BOUNDS];
        size_t count = 0;
        for (size_t i = 0; i < HISTOGRAM_BOUNDS; i++)
            if (i != left_out)
                fewer[count++] = histogram_bounds[i];
        ck_assert_int_eq(histogram_rebucket(fewer, count, counts, &out, &exact, &err), STATUS_OK);
        ck_assert(!exact);
    }
}
END_TEST

START_TEST(histogram_rebucket__above_int64_is_22003)
{
    static const struct {
        uint64_t counts[3];
        enum status status;
    } cases[] = {
        {{INT64_MAX, 0, 0}, STATUS_OK},       {{(uint64_t)INT64_MAX + 1, 0, 0}, STATUS_INVALID},
        {{UINT64_MAX, 0, 0}, STATUS_INVALID}, {{INT64_MAX, 0, 1}, STATUS_INVALID},
        {{INT64_MAX - 1, 0, 1}, STATUS_OK},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct histogram out;
        bool exact;
        enum status status = histogram_rebucket(ten, 2, cases[i].counts, &out, &exact, &err);
        ck_assert_int_eq(status, cases[i].status);
        if (status != STATUS_OK)
            ck_assert_str_eq(err.sqlstate, "22003");
    }
}
END_TEST

START_TEST(histogram_total__sums_and_refuses_overflow)
{
    int64_t total;
    struct histogram full = {B(1, INT64_MAX - 1), B(15, 1)};
    ck_assert_int_eq(histogram_total(&full, &total, &err), STATUS_OK);
    ck_assert_int_eq(total, INT64_MAX);
    full.counts[7] = 1;
    ck_assert_int_eq(histogram_total(&full, &total, &err), STATUS_DATA);
    ck_assert_str_eq(err.sqlstate, "22003");
}
END_TEST

/* R-TX-4: an overflow leaves the row as it was. */
START_TEST(histogram_add__all_or_nothing)
{
    struct histogram a = {B(1, 5), B(15, INT64_MAX - 1)};
    struct histogram one = {B(1, 2), B(15, 1)};
    struct histogram sum = {B(1, 7), B(15, INT64_MAX)};
    ck_assert_int_eq(histogram_add(&a, &one, &err), STATUS_OK);
    assert_buckets(&a, &sum);
    ck_assert_int_eq(histogram_add(&a, &one, &err), STATUS_DATA);
    ck_assert_str_eq(err.sqlstate, "22003");
    assert_buckets(&a, &sum);
}
END_TEST

/* C20 and A40. Inside bucket i: lower + (upper - lower) * (rank - before) / count. */
static const struct {
    const char *name;
    struct histogram histogram;
    double q;
    double wanted;
} quantiles[] = {
    {"all open", {B(15, 10)}, 0.5, INFINITY},
    {"all open, q = 0", {B(15, 10)}, 0, INFINITY},
    {"90 and 10, rank 90", {B(1, 90), B(15, 10)}, 0.9, 0.005},
    {"90 and 10, rank 91", {B(1, 90), B(15, 10)}, 0.91, INFINITY},
    {"90 and 10, q = 0", {B(1, 90), B(15, 10)}, 0, 0},
    {"90 and 10, q = 1", {B(1, 90), B(15, 10)}, 1, INFINITY},
    {"b3 of 4, q = 0: its lower bound", {B(3, 4)}, 0, 0.01},
    {"b3 of 4, rank 2: 0.01 + 0.015 / 2", {B(3, 4)}, 0.5, 0.0175},
    {"b3 of 4, q = 1", {B(3, 4)}, 1, 0.025},
    {"first bucket that reaches rank 2", {B(3, 2), B(6, 2)}, 0.5, 0.025},
    {"A40 p50: 2.5 + 2.5 * 0.5", {B(12, 100)}, 0.5, 3.75},
    {"A40 p95: 2.5 + 2.5 * 0.95", {B(12, 100)}, 0.95, 4.875},
    {"A40 p99: 2.5 + 2.5 * 0.99", {B(12, 100)}, 0.99, 4.975},
    {"int64 total, q = 1", {B(1, INT64_MAX - 1), B(2, 1)}, 1, 0.005},
};
#define QUANTILE_COUNT ((int)(sizeof quantiles / sizeof quantiles[0]))

START_TEST(histogram_quantile__values)
{
    double got;
    bool empty;
    ck_assert_int_eq(
        histogram_quantile(quantiles[_i].q, &quantiles[_i].histogram, &got, &empty, &err),
        STATUS_OK);
    ck_assert(!empty);
    if (isinf(quantiles[_i].wanted))
        ck_assert_msg(isinf(got) && got > 0, "%s: %.17g", quantiles[_i].name, got);
    else
        ck_assert_msg(fabs(got - quantiles[_i].wanted) <= 1e-15, "%s: %.17g, not %.17g",
                      quantiles[_i].name, got, quantiles[_i].wanted);
}
END_TEST

START_TEST(histogram_quantile__no_requests_is_no_error)
{
    struct histogram none = {{0}};
    double got = 1;
    bool empty = false;
    ck_assert_int_eq(histogram_quantile(0.5, &none, &got, &empty, &err), STATUS_OK);
    ck_assert(empty);
    ck_assert(isnan(got));
}
END_TEST

START_TEST(histogram_quantile__refusals)
{
    static const struct {
        double q;
        struct histogram histogram;
        const char *sqlstate;
    } cases[] = {
        {-0.000001, {B(1, 1)}, "22023"},     {1.000001, {B(1, 1)}, "22023"},
        {NAN, {B(1, 1)}, "22023"},           {INFINITY, {B(1, 1)}, "22023"},
        {0.5, {B(1, 1), B(9, -1)}, "22023"}, {0.5, {B(1, INT64_MAX), B(2, 1)}, "22003"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        double got;
        bool empty;
        ck_assert_int_eq(histogram_quantile(cases[i].q, &cases[i].histogram, &got, &empty, &err),
                         STATUS_DATA);
        ck_assert_str_eq(err.sqlstate, cases[i].sqlstate);
    }
}
END_TEST

/* MS: "Re-bucketing is linear, so the delta of two re-bucketed cumulative points equals the
 * re-bucketed delta", while the bounds stay. */
START_TEST(histogram_rebucket__is_linear)
{
    uint64_t earlier[16], later[16], delta[16];
    for (uint64_t i = 0; i < 16; i++) {
        earlier[i] = i * i % 7;
        delta[i] = i * 5 % 11;
        later[i] = earlier[i] + delta[i];
    }
    struct histogram from, to, difference;
    bool exact;
    ck_assert_int_eq(histogram_rebucket(sdk_bounds, 15, earlier, &from, &exact, &err), STATUS_OK);
    ck_assert_int_eq(histogram_rebucket(sdk_bounds, 15, later, &to, &exact, &err), STATUS_OK);
    ck_assert_int_eq(histogram_rebucket(sdk_bounds, 15, delta, &difference, &exact, &err),
                     STATUS_OK);
    ck_assert_int_eq(histogram_add(&from, &difference, &err), STATUS_OK);
    assert_buckets(&from, &to);
}
END_TEST

Suite *histogram_suite(void);
Suite *histogram_suite(void)
{
    Suite *suite = suite_create("histogram");
    TCase *tcase = tcase_create("histogram");
    tcase_add_loop_test(tcase, histogram_rebucket__whole_to_the_bucket_of_the_upper_bound, 0,
                        REBUCKET_COUNT);
    tcase_add_loop_test(tcase, histogram_coarse__of_the_rebucket_cases, 0, REBUCKET_COUNT);
    tcase_add_test(tcase, histogram_coarse__half_of_the_requests_over_three_bounds);
    tcase_add_test(tcase, histogram_rebucket__finer_layout_is_exact);
    tcase_add_test(tcase, histogram_rebucket__above_int64_is_22003);
    tcase_add_test(tcase, histogram_rebucket__is_linear);
    tcase_add_test(tcase, histogram_total__sums_and_refuses_overflow);
    tcase_add_test(tcase, histogram_add__all_or_nothing);
    tcase_add_loop_test(tcase, histogram_quantile__values, 0, QUANTILE_COUNT);
    tcase_add_test(tcase, histogram_quantile__no_requests_is_no_error);
    tcase_add_test(tcase, histogram_quantile__refusals);
    suite_add_tcase(suite, tcase);
    return suite;
}

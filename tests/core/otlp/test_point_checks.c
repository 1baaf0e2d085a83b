/* R-DEC-4, R-DEC-5, R-DEC-6: a bad point is refused alone, and the first check that it fails names
 * the refusal. */
#include "tests/core/otlp/otlp_build.h"
#include <math.h>

static struct bytes request_temporality(const struct point_spec *spec, int32_t temporality,
                                        const char *unit)
{
    struct bytes point = point_encode(spec);
    return request(attributes_good(),
                   field_bytes(2, metric(METRIC_NAME, unit, 9, histogram(temporality, &point, 1))));
}

START_TEST(point_checks__good_point)
{
    struct point_spec spec = point_good();
    struct message message = decoded_payload(request_of_spec(&spec));
    ck_assert_uint_eq(message.good_count, 1);
    const struct point *point = &message.points[0];
    ck_assert_int_eq(point->refusal, POINT_OUTCOME_COUNT);
    ck_assert_int_eq(point->temporality, TEMPORALITY_CUMULATIVE);
    ck_assert_int_eq(point->source, SOURCE_METRIC);
    ck_assert_int_eq(point->start_unix_nano, T0_NS - NS_PER_MIN);
    ck_assert_int_eq(point->time_unix_nano, T0_NS);
    /* bounds [0.25]: 3 in (-inf, 0.25] go to bucket 7 (0.1, 0.25], 4 above it to bucket 15 */
    for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++)
        ck_assert_int_eq(point->histogram.counts[i], i == 6 ? 3 : i == 14 ? 4 : 0);
    ck_assert_int_eq(point->count, 7);
    ck_assert(point->has_sum);
    ck_assert(point->sum == 1.5);
    ck_assert(point->lossy);
    /* the first bucket has 6 canonical bounds inside it, the last one 7: all of 7 requests */
    ck_assert(point->coarse);
    ck_assert(!point->redacted);
    ck_assert_int_eq(point->status_code, 0);
    ck_assert_uint_eq(point->method.size, 0);
    ck_assert_uint_eq(point->route.size, 0);
    ck_assert(bytes_equal(point->service, text("shop")));
}
END_TEST

/* Every fault at once; those before `from` are mended. The outcome must be that of the first left.
 */
enum fault {
    FAULT_TEMPORALITY,
    FAULT_UNIT,
    FAULT_NO_VALUE,
    FAULT_START_AFTER_TIME,
    FAULT_TOO_OLD,
    FAULT_SHAPE,
    FAULT_OVERFLOW,
    FAULT_SUM,
    FAULT_STATUS,
    FAULT_COUNT
};

static struct bytes request_with_faults(enum fault from)
{
    static const uint64_t counts_overflow[] = {UINT64_C(1) << 63, 1};
    struct point_spec spec = point_good();
    if (from <= FAULT_STATUS)
        spec.attributes[0] = pair_text("http.response.status_code", text("200"));
    if (from <= FAULT_SUM)
        spec.sum = NAN;
    if (from <= FAULT_OVERFLOW) {
        spec.counts = counts_overflow;
        spec.count = (UINT64_C(1) << 63) + 1;
    }
    if (from <= FAULT_SHAPE)
        spec.count--;
    if (from <= FAULT_TOO_OLD)
        spec.time = (uint64_t)(T0_NS - 8 * NS_PER_DAY);
    spec.start = spec.time - 1;
    if (from <= FAULT_START_AFTER_TIME)
        spec.start = spec.time + 1;
    if (from <= FAULT_NO_VALUE)
        spec.flags = 1;
    return request_temporality(&spec, from <= FAULT_TEMPORALITY ? 0 : TEMPORALITY_DELTA,
                               from <= FAULT_UNIT ? "ms" : "s");
}

START_TEST(point_checks__first_hit_wins)
{
    static const enum point_outcome expected[FAULT_COUNT + 1] = {
        [FAULT_TEMPORALITY] = POINT_REJECTED_TEMPORALITY,
        [FAULT_UNIT] = POINT_REJECTED_UNIT,
        [FAULT_NO_VALUE] = POINT_NO_VALUE,
        [FAULT_START_AFTER_TIME] = POINT_REJECTED_INTERVAL,
        [FAULT_TOO_OLD] = POINT_REJECTED_TOO_OLD,
        [FAULT_SHAPE] = POINT_REJECTED_SHAPE,
        [FAULT_OVERFLOW] = POINT_REJECTED_OVERFLOW,
        [FAULT_SUM] = POINT_REJECTED_SUM,
        [FAULT_STATUS] = POINT_REJECTED_STATUS,
        [FAULT_COUNT] = POINT_OUTCOME_COUNT,
    };
    assert_outcome(request_with_faults((enum fault)_i), expected[_i]);
}
END_TEST

START_TEST(point_checks__repeated_key_comes_first_then_type)
{
    /* gauge 5, sum 7, summary 11: attributes are field 7; exponential histogram 10: field 1 */
    static const uint32_t data_fields[] = {5, 7, 10, 11};
    uint32_t field = data_fields[_i];
    uint32_t attributes = field == 10 ? 1 : 7;
    struct bytes once = field_bytes(attributes, pair_int("a", 1));
    struct bytes twice = JOIN(once, field_bytes(attributes, pair_int("a", 2)));
    struct bytes points =
        JOIN(field_bytes(1, twice), field_bytes(1, once), field_bytes(1, text("")));
    struct message message = decoded_payload(
        request(attributes_good(), field_bytes(2, metric(METRIC_NAME, "ms", field, points))));
    ck_assert_uint_eq(message.point_count, 3);
    ck_assert_uint_eq(message.good_count, 0);
    ck_assert_int_eq(message.points[0].refusal, POINT_REJECTED_ATTRIBUTES);
    ck_assert_int_eq(message.points[1].refusal, POINT_REJECTED_TYPE);
    ck_assert_int_eq(message.points[2].refusal, POINT_REJECTED_TYPE);
}
END_TEST

START_TEST(point_checks__repeated_key_of_a_histogram_point)
{
    struct point_spec spec = point_good();
    spec.flags = 1;
    spec.attributes[0] = pair_int("b", 1);
    spec.attributes[1] = pair_int("a", 1);
    spec.attributes[2] = pair_text("b", text("1"));
    assert_outcome(request_of_spec(&spec), POINT_REJECTED_ATTRIBUTES);
}
END_TEST

START_TEST(point_checks__temporality_is_delta_or_cumulative)
{
    static const struct {
        int32_t temporality;
        enum point_outcome outcome;
    } rows[] = {{0, POINT_REJECTED_TEMPORALITY},  {1, POINT_OUTCOME_COUNT},
                {2, POINT_OUTCOME_COUNT},         {3, POINT_REJECTED_TEMPORALITY},
                {-1, POINT_REJECTED_TEMPORALITY}, {INT32_MAX, POINT_REJECTED_TEMPORALITY}};
    struct point_spec spec = point_good();
    assert_outcome(request_temporality(&spec, rows[_i].temporality, "s"), rows[_i].outcome);
}
END_TEST

START_TEST(point_checks__absent_temporality_is_refused)
{
    struct point_spec spec = point_good();
    struct bytes data = field_bytes(1, point_encode(&spec));
    assert_outcome(request(attributes_good(), field_bytes(2, metric(METRIC_NAME, "s", 9, data))),
                   POINT_REJECTED_TEMPORALITY);
}
END_TEST

START_TEST(point_checks__unit_is_seconds_or_empty)
{
    static const struct {
        const char *unit;
        enum point_outcome outcome;
    } rows[] = {{"s", POINT_OUTCOME_COUNT},  {"", POINT_OUTCOME_COUNT},
                {"ms", POINT_REJECTED_UNIT}, {"S", POINT_REJECTED_UNIT},
                {"s ", POINT_REJECTED_UNIT}, {"seconds", POINT_REJECTED_UNIT}};
    struct point_spec spec = point_good();
    assert_outcome(request_temporality(&spec, 2, rows[_i].unit), rows[_i].outcome);
}
END_TEST

START_TEST(point_checks__only_bit_0_of_flags_is_no_value)
{
    struct point_spec spec = point_good();
    spec.flags = 2;
    assert_outcome(request_of_spec(&spec), POINT_OUTCOME_COUNT);
    spec.flags = 3;
    assert_outcome(request_of_spec(&spec), POINT_NO_VALUE);
}
END_TEST

START_TEST(point_checks__interval)
{
    struct point_spec spec = point_good();
    spec.time = 0;
    assert_outcome(request_of_spec(&spec), POINT_REJECTED_INTERVAL);
    spec.start = 0; /* time 0 even when start is not after it */
    assert_outcome(request_of_spec(&spec), POINT_REJECTED_INTERVAL);
    spec = point_good();
    spec.start = spec.time + 1;
    assert_outcome(request_of_spec(&spec), POINT_REJECTED_INTERVAL);
    spec.start = spec.time; /* start = time is judged by R-FIRST-3, not refused */
    assert_outcome(request_of_spec(&spec), POINT_OUTCOME_COUNT);
    spec.start = 0; /* span-derived points have no start (MS) */
    assert_outcome(request_of_spec(&spec), POINT_OUTCOME_COUNT);
}
END_TEST

START_TEST(point_checks__window_edges)
{
    /* now = T0: seven days back and 600 s ahead, both ends included */
    static const struct {
        int64_t time;
        enum point_outcome outcome;
    } rows[] = {{T0_NS - 7 * NS_PER_DAY, POINT_OUTCOME_COUNT},
                {T0_NS - 7 * NS_PER_DAY - 1, POINT_REJECTED_TOO_OLD},
                {1, POINT_REJECTED_TOO_OLD},
                {T0_NS + 600 * NS_PER_S, POINT_OUTCOME_COUNT},
                {T0_NS + 600 * NS_PER_S + 1, POINT_REJECTED_FUTURE},
                {INT64_MAX, POINT_REJECTED_FUTURE}};
    struct point_spec spec = point_good();
    spec.time = (uint64_t)rows[_i].time;
    spec.start = 0;
    assert_outcome(request_of_spec(&spec), rows[_i].outcome);
}
END_TEST

START_TEST(point_checks__times_above_int64)
{
    struct point_spec spec = point_good();
    spec.time = (uint64_t)INT64_MAX + 1;
    assert_outcome(request_of_spec(&spec), POINT_REJECTED_FUTURE);
    spec.start = UINT64_MAX; /* then start is after time */
    assert_outcome(request_of_spec(&spec), POINT_REJECTED_INTERVAL);
    spec.time = UINT64_MAX;
    assert_outcome(request_of_spec(&spec), POINT_REJECTED_FUTURE);
    spec.time = (uint64_t)T0_NS;
    assert_outcome(request_of_spec(&spec), POINT_REJECTED_INTERVAL);
}
END_TEST

START_TEST(point_checks__without_s4_only_the_column_bounds_the_future)
{
    struct settings settings = settings_default();
    struct rules rules = rules_default();
    struct err err = {0};
    ck_assert_int_eq(rules_parse("-S-4", 4, &rules, &err), STATUS_OK);
    decoder_free(build_decoder);
    build_decoder = decoder_new(&settings, rules);
    struct point_spec spec = point_good();
    spec.time = (uint64_t)INT64_MAX;
    assert_outcome(request_of_spec(&spec), POINT_OUTCOME_COUNT);
    spec.time++;
    assert_outcome(request_of_spec(&spec), POINT_REJECTED_FUTURE);
    spec.time = (uint64_t)(T0_NS - 7 * NS_PER_DAY - 1);
    spec.start = 0;
    assert_outcome(request_of_spec(&spec), POINT_REJECTED_TOO_OLD);
}
END_TEST

START_TEST(point_checks__clock_near_its_ends)
{
    struct point_spec spec = point_good();
    spec.start = 0;
    spec.time = 1;
    struct message_input input = input_of(request_of_spec(&spec));
    input.now_ns = 0; /* nothing is older than seven days before 1970 */
    ck_assert_uint_eq(decoded(&input).good_count, 1);
    spec.time = INT64_MAX;
    input = input_of(request_of_spec(&spec));
    input.now_ns = INT64_MAX; /* now + tolerance does not wrap */
    ck_assert_uint_eq(decoded(&input).good_count, 1);
}
END_TEST

static struct bytes request_shape(uint64_t count, const uint64_t *counts, size_t count_count,
                                  const double *bounds, size_t bound_count)
{
    struct point_spec spec = point_good();
    spec.count = count;
    spec.counts = counts;
    spec.count_count = count_count;
    spec.bounds = bounds;
    spec.bound_count = bound_count;
    return request_of_spec(&spec);
}

#define SHAPE(count, counts, bounds)                                                               \
    request_shape(count, counts, sizeof(counts) / sizeof *(counts), bounds,                        \
                  sizeof(bounds) / sizeof *(bounds))

START_TEST(point_checks__lengths_of_counts_and_bounds)
{
    static const uint64_t one[] = {7};
    static const uint64_t two[] = {3, 4};
    static const uint64_t three[] = {3, 4, 0};
    static const double bound[] = {0.25};
    assert_outcome(SHAPE(7, one, bound), POINT_REJECTED_SHAPE);
    assert_outcome(SHAPE(7, two, bound), POINT_OUTCOME_COUNT);
    assert_outcome(SHAPE(7, three, bound), POINT_REJECTED_SHAPE);
    assert_outcome(request_shape(7, NULL, 0, bound, 1), POINT_REJECTED_SHAPE);
    assert_outcome(request_shape(7, two, 2, NULL, 0), POINT_REJECTED_SHAPE);
    assert_outcome(request_shape(7, one, 1, NULL, 0), POINT_OUTCOME_COUNT);
}
END_TEST

START_TEST(point_checks__bounds_are_finite_and_strictly_increasing)
{
    static const uint64_t counts[] = {3, 4, 0};
    const double rows[][2] = {{0.5, 0.25}, {0.5, 0.5}, {0.5, INFINITY}, {-INFINITY, 0.5},
                              {NAN, 0.5},  {0.5, NAN}, {0.0, -0.0}};
    assert_outcome(SHAPE(7, counts, rows[_i]), POINT_REJECTED_SHAPE);
}
END_TEST

START_TEST(point_checks__more_bounds_than_the_limit_is_a_shape)
{
    size_t bound_count = 4097; /* LIMIT_SOURCE_BOUNDS + 1 */
    double *bounds = arena_array(&build_arena, bound_count, sizeof *bounds);
    uint64_t *counts = arena_array(&build_arena, bound_count + 1, sizeof *counts);
    for (size_t i = 0; i < bound_count; i++)
        bounds[i] = (double)i;
    counts[0] = 7;
    struct bytes all_bounds = {.data = (const uint8_t *)bounds, .size = 8 * bound_count};
    struct bytes all_counts = {.data = (const uint8_t *)counts, .size = 8 * (bound_count + 1)};
    struct point_spec spec = point_good();
    spec.count_count = 0;
    spec.bound_count = 0;
    struct bytes point =
        JOIN(point_encode(&spec), field_bytes(6, all_counts), field_bytes(7, all_bounds));
    assert_outcome(request_of(&point, 1), POINT_REJECTED_SHAPE);
    all_bounds.size -= 8; /* 4096 are accepted */
    all_counts.size -= 8;
    point = JOIN(point_encode(&spec), field_bytes(6, all_counts), field_bytes(7, all_bounds));
    assert_outcome(request_of(&point, 1), POINT_OUTCOME_COUNT);
}
END_TEST

START_TEST(point_checks__count_is_the_sum_of_the_buckets)
{
    static const uint64_t counts[] = {3, 4};
    static const double bounds[] = {0.25};
    assert_outcome(SHAPE(8, counts, bounds), POINT_REJECTED_SHAPE);
    assert_outcome(SHAPE(6, counts, bounds), POINT_REJECTED_SHAPE);
    assert_outcome(SHAPE(0, counts, bounds), POINT_REJECTED_SHAPE); /* absent is 0 */
}
END_TEST

START_TEST(point_checks__sum_of_buckets_does_not_wrap)
{
    /* 2^63 + 2^63 = 0 modulo 2^64: not equal to count 0 */
    static const uint64_t counts[] = {UINT64_C(1) << 63, UINT64_C(1) << 63};
    static const double bounds[] = {0.25};
    assert_outcome(SHAPE(0, counts, bounds), POINT_REJECTED_SHAPE);
}
END_TEST

START_TEST(point_checks__counts_above_int64)
{
    static const uint64_t at_limit[] = {INT64_MAX, 0};
    static const uint64_t bucket_above[] = {(uint64_t)INT64_MAX + 1, 0};
    static const uint64_t total_above[] = {INT64_MAX, 1};
    static const double bounds[] = {0.25};
    assert_outcome(SHAPE(INT64_MAX, at_limit, bounds), POINT_OUTCOME_COUNT);
    assert_outcome(SHAPE((uint64_t)INT64_MAX + 1, bucket_above, bounds), POINT_REJECTED_OVERFLOW);
    assert_outcome(SHAPE((uint64_t)INT64_MAX + 1, total_above, bounds), POINT_REJECTED_OVERFLOW);
    assert_outcome(request_shape((uint64_t)INT64_MAX + 1, NULL, 0, NULL, 0),
                   POINT_REJECTED_OVERFLOW);
}
END_TEST

/* R-DEC-6, case A28: no bounds is one bucket over everything. */
START_TEST(point_checks__no_bounds_is_bucket_15_lossy_coarse)
{
    static const uint64_t one[] = {12};
    struct bytes payload =
        _i == 0 ? request_shape(12, NULL, 0, NULL, 0) : request_shape(12, one, 1, NULL, 0);
    struct message message = decoded_payload(payload);
    ck_assert_uint_eq(message.good_count, 1);
    const struct point *point = &message.points[0];
    for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++)
        ck_assert_int_eq(point->histogram.counts[i], i == 14 ? 12 : 0);
    ck_assert_int_eq(point->count, 12);
    ck_assert(point->lossy);
    ck_assert(point->coarse);
}
END_TEST

/* R-PT-7: lossy is judged on the point's own bounds, coarse on its own counts. A finer layout that
 * contains every canonical bound is exact. */
START_TEST(point_checks__lossy_and_coarse_of_its_own_layout)
{
    double finer[HISTOGRAM_BOUNDS + 1] = {0.001};
    uint64_t counts[HISTOGRAM_BOUNDS + 2] = {[0] = 1, [1] = 2, [15] = 4};
    static const double wide[] = {0.005, 0.01, 10};
    static const uint64_t half_wide[] = {4, 0, 5, 1};  /* 5 of 10 in (0.01, 10], 11 bounds inside */
    static const uint64_t under_half[] = {5, 0, 5, 1}; /* 5 of 11 */
    memcpy(finer + 1, histogram_bounds, sizeof histogram_bounds);
    struct message message = decoded_payload(request_shape(7, counts, 16, finer, 15));
    ck_assert_uint_eq(message.good_count, 1);
    ck_assert(!message.points[0].lossy);
    ck_assert(!message.points[0].coarse);
    ck_assert_int_eq(message.points[0].histogram.counts[0], 3);
    ck_assert_int_eq(message.points[0].histogram.counts[14], 4);
    message = decoded_payload(request_shape(10, half_wide, 4, wide, 3));
    ck_assert(message.points[0].lossy);
    ck_assert(message.points[0].coarse);
    message = decoded_payload(request_shape(11, under_half, 4, wide, 3));
    ck_assert(message.points[0].lossy);
    ck_assert(!message.points[0].coarse);
}
END_TEST

START_TEST(point_checks__empty_histogram_is_good)
{
    /* count and buckets absent: zero requests in one bucket; without requests nothing is coarse */
    struct message message = decoded_payload(request_shape(0, NULL, 0, NULL, 0));
    ck_assert_uint_eq(message.good_count, 1);
    ck_assert_int_eq(message.points[0].count, 0);
    ck_assert(message.points[0].lossy);
    ck_assert(!message.points[0].coarse);
}
END_TEST

START_TEST(point_checks__sum)
{
    const struct {
        double sum;
        enum point_outcome outcome;
    } rows[] = {{0, POINT_OUTCOME_COUNT},       {-0.0, POINT_OUTCOME_COUNT},
                {1e308, POINT_OUTCOME_COUNT},   {NAN, POINT_REJECTED_SUM},
                {INFINITY, POINT_REJECTED_SUM}, {-INFINITY, POINT_REJECTED_SUM},
                {-1e-300, POINT_REJECTED_SUM}};
    struct point_spec spec = point_good();
    spec.sum = rows[_i].sum;
    struct message message = decoded_payload(request_of_spec(&spec));
    ck_assert_int_eq(message.points[0].refusal, rows[_i].outcome);
    if (message.good_count == 1) /* no minus zero reaches a table */
        ck_assert(!signbit(message.points[0].sum));
}
END_TEST

/* R-PT-6 */
START_TEST(point_checks__absent_sum_is_told_from_zero)
{
    struct point_spec spec = point_good();
    spec.has_sum = false;
    struct message message = decoded_payload(request_of_spec(&spec));
    ck_assert_uint_eq(message.good_count, 1);
    ck_assert(!message.points[0].has_sum);
    ck_assert(message.points[0].sum == 0);
    spec.has_sum = true;
    spec.sum = 0;
    ck_assert(decoded_payload(request_of_spec(&spec)).points[0].has_sum);
}
END_TEST

START_TEST(point_checks__status_code)
{
    static const char key[] = "http.response.status_code";
    const struct {
        struct bytes attribute;
        enum point_outcome outcome;
        int status_code;
    } rows[] = {{pair_int(key, 100), POINT_OUTCOME_COUNT, 100},
                {pair_int(key, 599), POINT_OUTCOME_COUNT, 599},
                {pair_int(key, 99), POINT_REJECTED_STATUS, 0},
                {pair_int(key, 600), POINT_REJECTED_STATUS, 0},
                {pair_int(key, 0), POINT_REJECTED_STATUS, 0},
                {pair_int(key, -200), POINT_REJECTED_STATUS, 0},
                /* 2^32 + 200 must not be cut to 200 */
                {pair_int(key, (INT64_C(1) << 32) + 200), POINT_REJECTED_STATUS, 0},
                {pair_text(key, text("200")), POINT_REJECTED_STATUS, 0},
                {pair(text(key), field_double(4, 200)), POINT_REJECTED_STATUS, 0},
                {pair_bool(key, true), POINT_REJECTED_STATUS, 0},
                {pair(text(key), text("")), POINT_REJECTED_STATUS, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct point_spec spec = point_good();
        spec.attributes[0] = rows[i].attribute;
        struct bytes payload = request_of_spec(&spec);
        assert_outcome(payload, rows[i].outcome);
        ck_assert_int_eq(decoded_payload(payload).points[0].status_code, rows[i].status_code);
    }
}
END_TEST

/* R-DEC-4: siblings go on; R-DEC-7: a message of refused points alone is no error */
START_TEST(point_checks__siblings_of_a_bad_point_go_on)
{
    struct point_spec good = point_good();
    struct point_spec old = point_good();
    struct point_spec flagged = point_good();
    old.time = 5;
    old.start = 0;
    flagged.flags = 1;
    struct bytes points[] = {point_encode(&old), point_encode(&good), point_encode(&flagged)};
    struct message message = decoded_payload(request_of(points, 3));
    ck_assert_uint_eq(message.point_count, 3);
    ck_assert_uint_eq(message.good_count, 1);
    ck_assert_int_eq(message.points[0].refusal, POINT_OUTCOME_COUNT);
    ck_assert_int_eq(message.points[1].refusal, POINT_REJECTED_TOO_OLD);
    ck_assert_int_eq(message.points[2].refusal, POINT_NO_VALUE);
    message = decoded_payload(request_of(points, 1));
    ck_assert_uint_eq(message.point_count, 1);
    ck_assert_uint_eq(message.good_count, 0);
}
END_TEST

Suite *otlp_point_checks_suite(void);
Suite *otlp_point_checks_suite(void)
{
    Suite *suite = suite_create("otlp_point_checks");
    TCase *tests = tcase_create("point_checks");
    tcase_add_checked_fixture(tests, build_open, build_close);
    tcase_add_test(tests, point_checks__good_point);
    tcase_add_loop_test(tests, point_checks__first_hit_wins, 0, FAULT_COUNT + 1);
    tcase_add_loop_test(tests, point_checks__repeated_key_comes_first_then_type, 0, 4);
    tcase_add_test(tests, point_checks__repeated_key_of_a_histogram_point);
    tcase_add_loop_test(tests, point_checks__temporality_is_delta_or_cumulative, 0, 6);
    tcase_add_test(tests, point_checks__absent_temporality_is_refused);
    tcase_add_loop_test(tests, point_checks__unit_is_seconds_or_empty, 0, 6);
    tcase_add_test(tests, point_checks__only_bit_0_of_flags_is_no_value);
    tcase_add_test(tests, point_checks__interval);
    tcase_add_loop_test(tests, point_checks__window_edges, 0, 6);
    tcase_add_test(tests, point_checks__times_above_int64);
    tcase_add_test(tests, point_checks__without_s4_only_the_column_bounds_the_future);
    tcase_add_test(tests, point_checks__clock_near_its_ends);
    tcase_add_test(tests, point_checks__lengths_of_counts_and_bounds);
    tcase_add_loop_test(tests, point_checks__bounds_are_finite_and_strictly_increasing, 0, 7);
    tcase_add_test(tests, point_checks__more_bounds_than_the_limit_is_a_shape);
    tcase_add_test(tests, point_checks__count_is_the_sum_of_the_buckets);
    tcase_add_test(tests, point_checks__sum_of_buckets_does_not_wrap);
    tcase_add_test(tests, point_checks__counts_above_int64);
    tcase_add_loop_test(tests, point_checks__no_bounds_is_bucket_15_lossy_coarse, 0, 2);
    tcase_add_test(tests, point_checks__lossy_and_coarse_of_its_own_layout);
    tcase_add_test(tests, point_checks__empty_histogram_is_good);
    tcase_add_loop_test(tests, point_checks__sum, 0, 7);
    tcase_add_test(tests, point_checks__absent_sum_is_told_from_zero);
    tcase_add_test(tests, point_checks__status_code);
    tcase_add_test(tests, point_checks__siblings_of_a_bad_point_go_on);
    suite_add_tcase(suite, tests);
    return suite;
}

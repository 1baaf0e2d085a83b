/* Points to minutes, from the bytes of a message to the rows: the cases of real pipelines. */
#include "tests/core/writer/harness.h"
#include <stdio.h>

Suite *writer_points_suite(void);

/* One point a message, each in a batch of its own, the clock at the point. */
struct case_point {
    int64_t start, time;
    uint64_t n;
};

#define CASE_POINTS_MAX 6

struct stream_case {
    const char *name;
    struct case_point points[CASE_POINTS_MAX];
    size_t point_count;
    struct {
        int64_t minute, count;
    } minutes[CASE_POINTS_MAX];
    size_t minute_count;
    int64_t total;
};

/* A point whose start is its time makes a stream known without adding anything (R-FIRST-3): the
 * "known" of the cases with start 0. */
static const struct stream_case stream_cases[] = {
    /* first contact at age 7200 s: baseline. 10, then the fall to 5 is a reset of 0, then 10 */
    {"R-PT-2 count falls, same start",
     {{-7200, 0, 10}, {-7200, 60, 20}, {-7200, 120, 5}, {-7200, 180, 15}},
     4,
     {{0, 0}, {1, 10}, {2, 0}, {3, 10}},
     4,
     20},
    /* start = time adds nothing and never catches up (age 0 <= 2 x 60 would): 1276 - 1256 */
    {"R-FIRST-3 unknown start", {{0, 0, 1256}, {0, 60, 1276}}, 2, {{0, 0}, {1, 20}}, 2, 20},
    /* replicas with equal attributes: two streams by start. 5 + 2 in M+1 */
    {"R-ID-3 replicas with equal attributes",
     {{-100000, 0, 1855},
      {-99000, 6, 1834},
      {-100000, 30, 1855},
      {-99000, 36, 1834},
      {-100000, 90, 1860},
      {-99000, 96, 1836}},
     6,
     {{0, 0}, {1, 7}},
     2,
     7},
    /* five runs of one request each, a start each: all counted */
    {"R-FIRST-1 short job, same value each run",
     {{0, 10, 1}, {600, 610, 1}, {1200, 1210, 1}, {1800, 1810, 1}, {2400, 2410, 1}},
     5,
     {{0, 1}, {10, 1}, {20, 1}, {30, 1}, {40, 1}},
     5,
     5},
    /* 86400 s old: baseline; 86400 <= 120 is false, so the second adds its difference */
    {"R-FIRST-1 writer starts after the process",
     {{-86400, 0, 9000}, {-86400, 60, 9012}},
     2,
     {{0, 0}, {1, 12}},
     2,
     12},
    {"R-FIRST-1 young process", {{0, 60, 50}}, 1, {{1, 50}}, 1, 50},
    /* strictly younger than 120 s: 120 is not; its second point, 119 s later, catches up */
    {"R-FIRST-1 at the threshold", {{0, 120, 7}}, 1, {{2, 0}}, 1, 0},
    {"R-FIRST-1 just under the threshold", {{0, 119, 7}}, 1, {{1, 7}}, 1, 7},
    /* 300 <= 2 x 300: 70 in full, then 5 */
    {"A-5 five-minute exporter",
     {{0, 300, 40}, {0, 600, 70}, {0, 900, 75}},
     3,
     {{5, 0}, {10, 70}, {15, 5}},
     3,
     75},
    /* the duplicate changes nothing, also not the baseline flag */
    {"R-PT-1 duplicate keeps the baseline",
     {{0, 300, 40}, {0, 300, 40}, {0, 600, 70}},
     3,
     {{5, 0}, {10, 70}},
     2,
     70},
    /* 30 - 10; late; 40 - 30 */
    {"R-PT-1 older point",
     {{0, 0, 10}, {0, 120, 30}, {0, 60, 20}, {0, 180, 40}},
     4,
     {{1, 0}, {2, 20}, {3, 10}},
     3,
     30},
};

START_TEST(writer_points__cases)
{
    const struct stream_case *c = &stream_cases[_i];
    struct harness *h = harness_new(NULL);
    for (size_t i = 0; i < c->point_count; i++) {
        char id[32];
        snprintf(id, sizeof id, "m%zu", i);
        const struct case_point *p = &c->points[i];
        h->now_s = p->time > h->now_s ? p->time : h->now_s;
        SEND(h, id, {.start = p->start, .time = p->time, .n = p->n});
        run(h);
    }
    for (size_t i = 0; i < c->minute_count; i++) {
        int64_t got = minute(h, c->minutes[i].minute);
        ck_assert_msg(got == c->minutes[i].count, "%s: minute %lld has %lld, expected %lld",
                      c->name, (long long)c->minutes[i].minute, (long long)got,
                      (long long)c->minutes[i].count);
    }
    ck_assert_msg(total(h) == c->total, "%s: total %lld", c->name, (long long)total(h));
    ck_assert_uint_eq(h->outcomes[MESSAGE_APPLIED], c->point_count);
    harness_free(h);
}
END_TEST

/* The same points in one batch of one queue give the same minutes (R-TX-2). */
START_TEST(writer_points__one_batch_gives_the_same)
{
    const struct stream_case *c = &stream_cases[_i];
    struct harness *h = harness_new(NULL);
    for (size_t i = 0; i < c->point_count; i++) {
        char id[32];
        snprintf(id, sizeof id, "m%zu", i);
        const struct case_point *p = &c->points[i];
        h->now_s = p->time > h->now_s ? p->time : h->now_s;
        SEND(h, id, {.start = p->start, .time = p->time, .n = p->n});
    }
    run(h);
    for (size_t i = 0; i < c->minute_count; i++)
        ck_assert_msg(minute(h, c->minutes[i].minute) == c->minutes[i].count, "%s", c->name);
    ck_assert_msg(total(h) == c->total, "%s: total %lld", c->name, (long long)total(h));
    harness_free(h);
}
END_TEST

/* R-PT order: sorted by time, 10 + 10 + 10; the first met as sent would be a baseline at age 180.
 */
START_TEST(writer_points__newest_first_in_one_message)
{
    struct harness *h = harness_new(NULL);
    h->now_s = 180;
    SEND(h, "m1", {.time = 180, .n = 30}, {.time = 120, .n = 20}, {.time = 60, .n = 10});
    run(h);
    ck_assert_int_eq(minute(h, 1), 10);
    ck_assert_int_eq(minute(h, 2), 10);
    ck_assert_int_eq(minute(h, 3), 10);
    ck_assert_uint_eq(h->points[POINT_FIRST_FULL], 1);
    ck_assert_uint_eq(h->points[POINT_DELTA], 2);
    harness_free(h);
}
END_TEST

/* R-PT-5: delta points of one message id add once, of two ids twice. */
START_TEST(writer_points__delta_points_add_directly)
{
    struct harness *h = harness_new(NULL);
    SEND(h, "m1", {.start = -60, .time = 0, .n = 4, .sum = 0.5, .delta = true});
    SEND(h, "m2", {.start = -60, .time = 0, .n = 4, .sum = 0.25, .delta = true});
    run(h);
    ck_assert_int_eq(minute(h, 0), 8);
    ck_assert_double_eq(sql_double(h, "select sum from metrics_minute"), 0.75);
    ck_assert_uint_eq(h->points[POINT_DELTA], 2);
    harness_free(h);
}
END_TEST

/* R-PT-4: an outcome without counts writes no minute row and no mark. */
START_TEST(writer_points__no_counts_no_row_no_mark)
{
    struct harness *h = harness_new(NULL);
    SEND(h, "m1", {.start = -10800, .time = 0, .n = 9});
    SEND(h, "m2", {.start = -10800, .time = 30, .n = 9});
    SEND(h, "m3", {.start = -60, .time = 30, .n = 0, .delta = true, .process = "p2"});
    run(h);
    ck_assert_int_eq(sql_int(h, "select count(*) from metrics_minute"), 0);
    ck_assert_int_eq(sql_int(h, "select count(*) from rollup_pending"), 0);
    ck_assert_int_eq(sql_int(h, "select last_unix_nano from series_state"), T0_NS + 30 * NS_PER_S);
    ck_assert_uint_eq(h->points[POINT_BASELINE], 1);
    ck_assert_uint_eq(h->points[POINT_UNCHANGED], 2);
    ck_assert_uint_eq(calls_of(h, QUERY_ADD_MINUTE), 0);
    harness_free(h);
}
END_TEST

/* R-PT-2: the same total in another bucket, so b1 fell: reset, then 3. */
START_TEST(writer_points__bucket_falls_and_total_does_not)
{
    struct harness *h = harness_new(NULL);
    h->now_s = 120;
    SEND(h, "m1", {.time = 0, .n = 5, .bucket = 1});
    SEND(h, "m2", {.time = 60, .n = 5, .bucket = 2});
    SEND(h, "m3", {.time = 120, .n = 8, .bucket = 2});
    run(h);
    ck_assert_int_eq(total(h), 3);
    ck_assert_int_eq(minute(h, 2), 3);
    ck_assert_uint_eq(h->points[POINT_RESET], 1);
    harness_free(h);
}
END_TEST

/* R-PT-2: bounds changed inside a stream, {b10:5, b14:5} to {b7:6, b12:6}: b10 fell, so reset and
 * 0; rebased, the next point adds {b7:1}. */
START_TEST(writer_points__bounds_change_is_a_reset)
{
    struct harness *h = harness_new(NULL);
    const uint64_t before[15] = {[9] = 5, [13] = 5};
    const uint64_t after[15] = {[6] = 6, [11] = 6};
    const uint64_t next[15] = {[6] = 7, [11] = 6};
    h->now_s = 180;
    SEND(h, "m1", {.time = 0, .counts = before});
    SEND(h, "m2", {.time = 60, .counts = after});
    SEND(h, "m3", {.time = 120, .counts = next});
    run(h);
    ck_assert_int_eq(total(h), 1);
    ck_assert_int_eq(bucket(h, 7), 1);
    ck_assert_uint_eq(h->points[POINT_RESET], 1);
    harness_free(h);
}
END_TEST

/* R-PT-7: a row that took one lossy point stays lossy, whatever the batch before or after it
 * brings.
 */
START_TEST(writer_points__row_once_lossy_stays_lossy)
{
    struct harness *h = harness_new(NULL);
    h->now_s = 60;
    for (int i = 0; i < 2; i++) {
        bool lossy = i == _i;
        SEND(h, i == 0 ? "m1" : "m2", {.time = 30, .n = 5, .delta = true, .no_buckets = lossy});
        run(h);
    }
    ck_assert_int_eq(total(h), 10);
    ck_assert_int_eq(sql_int(h, "select lossy from metrics_minute"), 1);
    harness_free(h);
}
END_TEST

/* R-DEC-6: one bucket over everything is bucket 15, lossy and coarse; sum 3.6. */
START_TEST(writer_points__histogram_without_buckets)
{
    struct harness *h = harness_new(NULL);
    h->now_s = 60;
    SEND(h, "m1", {.time = 60, .n = 12, .sum = 3.6, .no_buckets = true});
    run(h);
    ck_assert_int_eq(bucket(h, 15), 12);
    ck_assert_int_eq(sql_int(h, "select lossy from metrics_minute"), 1);
    ck_assert_double_eq(sql_double(h, "select sum from metrics_minute"), 3.6);
    ck_assert_int_eq(warning(h, "lossy_histogram"), 12);
    ck_assert_int_eq(warning(h, "coarse_buckets"), 12);
    harness_free(h);
}
END_TEST

/* R-DEC-4, R-DEC-7: a bad point is refused alone and counted, its sibling is stored. */
START_TEST(writer_points__count_differs_from_buckets)
{
    struct harness *h = harness_new(NULL);
    h->now_s = 60;
    SEND(h, "m1", {.time = 60, .n = 8, .count = 10}, {.time = 60, .n = 3, .route = "/pay"});
    SEND(h, "m2", {.time = 60, .n = 8, .count = 10});
    run(h);
    ck_assert_int_eq(total(h), 3);
    ck_assert_uint_eq(h->points[POINT_REJECTED_SHAPE], 2);
    ck_assert_uint_eq(h->outcomes[MESSAGE_APPLIED], 2);
    ck_assert_uint_eq(h->letter_count, 0);
    harness_free(h);
}
END_TEST

/* R-DEC-4: the marker is ignored; 60 - 50 in M+3. */
START_TEST(writer_points__no_recorded_value)
{
    struct harness *h = harness_new(NULL);
    h->now_s = 180;
    SEND(h, "m1", {.time = 60, .n = 50});
    SEND(h, "m2", {.time = 120, .n = 0, .flags = 1});
    SEND(h, "m3", {.time = 180, .n = 60});
    run(h);
    ck_assert_int_eq(minute(h, 1), 50);
    ck_assert_int_eq(minute(h, 3), 10);
    ck_assert_uint_eq(h->points[POINT_NO_VALUE], 1);
    harness_free(h);
}
END_TEST

/* R-PT-6: counts 10 then 5, sums 0 then 4.0 - 0. */
START_TEST(writer_points__absent_sum)
{
    struct harness *h = harness_new(NULL);
    h->now_s = 120;
    SEND(h, "m1", {.time = 60, .n = 10, .no_sum = true});
    SEND(h, "m2", {.time = 120, .n = 15, .sum = 4.0});
    run(h);
    ck_assert_int_eq(minute(h, 1), 10);
    ck_assert_int_eq(minute(h, 2), 5);
    ck_assert_double_eq(sql_double(h, "select sum from metrics_minute where count = 10"), 0.0);
    ck_assert_double_eq(sql_double(h, "select sum from metrics_minute where count = 5"), 4.0);
    harness_free(h);
}
END_TEST

/* 100 requests of a seconds metric in (0, 5] with millisecond bounds: bucket 12, not
 * reliable. */
START_TEST(writer_points__seconds_with_millisecond_bounds)
{
    static const double bounds[] = {0,   5,   10,   25,   50,   75,   100,  250,
                                    500, 750, 1000, 2500, 5000, 7500, 10000};
    static const uint64_t counts[16] = {[1] = 100};
    struct harness *h = harness_new(_i == 0 ? NULL : "-A-12");
    h->now_s = 60;
    SEND(h, "m1",
         {.time = 60, .bounds = bounds, .bound_count = 15, .counts = counts, .count_count = 16});
    run(h);
    ck_assert_int_eq(bucket(h, 12), 100);
    ck_assert_int_eq(warning(h, "lossy_histogram"), 100);
    ck_assert_int_eq(warning(h, "coarse_buckets"), _i == 0 ? 100 : 0);
    harness_free(h);
}
END_TEST

/* S-4: a point 6 days ahead does not poison the stream: refused, then 10 and 10. */
START_TEST(writer_points__future_point_is_refused)
{
    struct harness *h = harness_new(NULL);
    h->now_s = 60;
    SEND(h, "m1", {.time = 60, .n = 10});
    SEND(h, "m2", {.time = 6 * DAY_S, .n = 100});
    run(h);
    h->now_s = 180;
    SEND(h, "m3", {.time = 120, .n = 20});
    SEND(h, "m4", {.time = 180, .n = 30});
    run(h);
    ck_assert_int_eq(minute(h, 2), 10);
    ck_assert_int_eq(minute(h, 3), 10);
    ck_assert_uint_eq(h->points[POINT_REJECTED_FUTURE], 1);
    harness_free(h);
}
END_TEST

/* R-ID-3: starts 333 ns apart are two streams. */
START_TEST(writer_points__starts_within_a_microsecond)
{
    struct harness *h = harness_new(NULL);
    h->now_s = 60;
    SEND(h, "m1", {.start_ns = 123, .time = 60, .n = 4}, {.start_ns = 456, .time = 60, .n = 3});
    run(h);
    ck_assert_int_eq(minute(h, 1), 7);
    ck_assert_int_eq(sql_int(h, "select count(*) from series_state"), 2);
    harness_free(h);
}
END_TEST

/* R-DEC-8: 23:59:59.999999600 belongs to minute 23:59 of that day, 719 minutes after noon. A point
 * exactly on a minute belongs to the minute that starts there. */
START_TEST(writer_points__floor_division_at_midnight)
{
    struct harness *h = harness_new(NULL);
    h->now_s = DAY_S / 2;
    SEND(h, "m1", {.time = DAY_S / 2 - 1, .time_ns = 999999600, .n = 5, .delta = true});
    SEND(h, "m2", {.time = DAY_S / 2, .n = 2, .delta = true});
    run(h);
    ck_assert_int_eq(minute(h, 719), 5);
    ck_assert_int_eq(minute(h, 720), 2);
    ck_assert_int_eq(sql_int(h, "select count(*) from rollup_pending"), 2);
    ck_assert_int_eq(sql_int(h, "select count(distinct day) from route_registry"), 2);
    harness_free(h);
}
END_TEST

/* MS "Metric tables": every part of the key keeps rows apart; the same key folds, in a batch and
 * over batches. */
START_TEST(writer_points__one_row_per_key)
{
    struct harness *h = harness_new(NULL);
    const struct test_point points[] = {
        {.start = -60, .n = 1, .delta = true},
        {.start = -60, .n = 1, .delta = true, .method = "POST"},
        {.start = -60, .n = 1, .delta = true, .route = "/pay"},
        {.start = -60, .n = 1, .delta = true, .status = 404},
        {.start = -60, .n = 1, .delta = true, .span = true},
        {.start = -60, .n = 1, .delta = true, .service = "till"},
        {.start = -60, .n = 1, .delta = true, .time = -1},
    };
    size_t count = sizeof points / sizeof *points;
    for (int i = 0; i < 4; i++) {
        char id[32];
        snprintf(id, sizeof id, "m%d", i);
        send_points(h, id, points, count);
        if (i == 1)
            run(h);
    }
    h->tenant = ZETA;
    send_points(h, "z", points, 1);
    run(h);
    ck_assert_int_eq(sql_int(h, "select count(*) from metrics_minute"), (int64_t)count + 1);
    ck_assert_int_eq(
        sql_int(h, "select min(count) from metrics_minute where tenant_id = '%s'", ACME), 4);
    ck_assert_int_eq(total(h), 4 * (int64_t)count + 1);
    harness_free(h);
}
END_TEST

/* R-TX-2: doubles are added in queue order. 1e16 + 1 is 1e16, so (1e16 + 1) + 1 is 1e16, and
 * (1 + 1) + 1e16 is 1e16 + 2. */
START_TEST(writer_points__sums_add_in_queue_order)
{
    static const double sums[2][3] = {{1e16, 1, 1}, {1, 1, 1e16}};
    struct harness *h = harness_new(NULL);
    for (int i = 0; i < 3; i++) {
        char id[32];
        snprintf(id, sizeof id, "m%d", i);
        SEND(h, id, {.start = -60, .n = 1, .sum = sums[_i][i], .delta = true});
    }
    run(h);
    ck_assert_double_eq(sql_double(h, "select sum from metrics_minute"), _i == 0 ? 1e16 : 1e16 + 2);
    harness_free(h);
}
END_TEST

/* R-FIRST-4: stored times are the clock at Begin, floored to microseconds, not now() and not the
 * point's. 77 s and 1999 ns are 77 s and 1 us. */
START_TEST(writer_points__stored_times_are_the_clock)
{
    struct harness *h = harness_new(NULL);
    int64_t now_us = T0_NS / NS_PER_US + 77 * US_PER_S + 1;
    h->now_s = 77;
    h->now_ns = 1999;
    SEND(h, "m1", {.time = 60, .n = 10});
    run(h);
    ck_assert_int_eq(sql_int(h, "select applied_at from ingest_dedup"), now_us);
    ck_assert_int_eq(sql_int(h, "select first_seen_at from resource_seen"), now_us);
    ck_assert_int_eq(sql_int(h, "select last_seen_at from resource_seen"), now_us);
    ck_assert_int_eq(sql_int(h, "select last_seen_at from series_state"), now_us);
    ck_assert_int_eq(sql_int(h, "select created_at from route_registry"), now_us);
    ck_assert_int_eq(sql_int(h, "select marked_at from rollup_pending"), now_us);
    harness_free(h);
}
END_TEST

/* R-OUT-1: what is told inside the transaction agrees with what is counted after it. */
START_TEST(writer_points__judgements_agree_with_the_counters)
{
    struct harness *h = harness_new(NULL);
    h->now_s = 180;
    SEND(h, "m1", {.time = 60, .n = 10}, {.time = 60, .n = 8, .count = 9, .route = "/x"});
    SEND(h, "m2", {.time = 120, .n = 10}, {.time = 120, .n = 3, .delta = true});
    run(h);
    for (int outcome = 0; outcome < POINT_OUTCOME_COUNT; outcome++)
        ck_assert_uint_eq(h->judged[outcome], h->points[outcome]);
    ck_assert_uint_eq(h->judged_count, 13);
    ck_assert_int_eq(total(h), 13);
    harness_free(h);
}
END_TEST

Suite *writer_points_suite(void)
{
    Suite *suite = suite_create("writer_points");
    TCase *tests = tcase_create("points");
    int cases = (int)(sizeof stream_cases / sizeof *stream_cases);
    tcase_add_loop_test(tests, writer_points__cases, 0, cases);
    tcase_add_loop_test(tests, writer_points__one_batch_gives_the_same, 0, cases);
    tcase_add_loop_test(tests, writer_points__row_once_lossy_stays_lossy, 0, 2);
    tcase_add_test(tests, writer_points__newest_first_in_one_message);
    tcase_add_test(tests, writer_points__delta_points_add_directly);
    tcase_add_test(tests, writer_points__no_counts_no_row_no_mark);
    tcase_add_test(tests, writer_points__bucket_falls_and_total_does_not);
    tcase_add_test(tests, writer_points__bounds_change_is_a_reset);
    tcase_add_test(tests, writer_points__histogram_without_buckets);
    tcase_add_test(tests, writer_points__count_differs_from_buckets);
    tcase_add_test(tests, writer_points__no_recorded_value);
    tcase_add_test(tests, writer_points__absent_sum);
    tcase_add_loop_test(tests, writer_points__seconds_with_millisecond_bounds, 0, 2);
    tcase_add_test(tests, writer_points__future_point_is_refused);
    tcase_add_test(tests, writer_points__starts_within_a_microsecond);
    tcase_add_test(tests, writer_points__floor_division_at_midnight);
    tcase_add_test(tests, writer_points__one_row_per_key);
    tcase_add_loop_test(tests, writer_points__sums_add_in_queue_order, 0, 2);
    tcase_add_test(tests, writer_points__stored_times_are_the_clock);
    tcase_add_test(tests, writer_points__judgements_agree_with_the_counters);
    suite_add_tcase(suite, tests);
    return suite;
}

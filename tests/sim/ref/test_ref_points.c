/* sim/ref: points of the public record, with the values that the rules give. Each test's name ends
 * with the rule; the arithmetic stands in the comment. */
#include "tests/sim/ref/model.h"

static struct model m;

static void setup(void)
{
    m = (struct model){0};
    model_open(&m, "");
}

static void teardown(void)
{
    model_close(&m);
}

static const uint64_t buckets_3_2[15] = {3, 2};
static const uint64_t buckets_2_3[15] = {2, 3};

/* Age 7200 s: baseline; 20 - 10 = 10; 5 < 20: reset, 0; 15 - 5 = 10. In all 20. */
START_TEST(ref__a_fallen_count_is_a_reset__R_PT_2)
{
    APPLY(&m, {.start = -7200, .time = 0, .n = 10});
    APPLY(&m, {.start = -7200, .time = 60, .n = 20});
    APPLY(&m, {.start = -7200, .time = 120, .n = 5});
    APPLY(&m, {.start = -7200, .time = 180, .n = 15});
    ck_assert_int_eq(model_minute(&m, 1), 10);
    ck_assert_int_eq(model_minute(&m, 2), 0);
    ck_assert_int_eq(model_minute(&m, 3), 10);
    ck_assert_int_eq(model_total(&m), 20);
    ck_assert_uint_eq(model_outcome(&m, "reset"), 1);
}
END_TEST

/* Known with 3 + 2; then 2 + 3: the total is equal, bucket 1 fell. */
START_TEST(ref__one_fallen_bucket_is_a_reset__R_PT_2)
{
    APPLY(&m, {.start = 0, .time = 10, .counts = buckets_3_2});
    APPLY(&m, {.start = 0, .time = 60, .counts = buckets_2_3});
    ck_assert_int_eq(model_total(&m), 5);
    ck_assert_uint_eq(model_outcome(&m, "reset"), 1);
}
END_TEST

/* Known from bounds [1, 10], 5 + 5 + 0: buckets 10 and 14. Then canonical bounds, 6 in bucket 7 and
 * 6 in bucket 12: bucket 10 fell from 5 to 0, so reset, 0. Then 2 more in bucket 7. */
START_TEST(ref__changed_bounds_are_a_reset__R_PT_2)
{
    static const double bounds[] = {1, 10};
    static const uint64_t coarse[] = {5, 5, 0};
    static const uint64_t fine[15] = {[6] = 6, [11] = 6};
    static const uint64_t more[15] = {[6] = 8, [11] = 6};
    APPLY(&m, {.start = 0,
               .time = 10,
               .bounds = bounds,
               .bound_count = 2,
               .counts = coarse,
               .count_count = 3});
    ck_assert_int_eq(model_bucket(&m, 10), 5);
    ck_assert_int_eq(model_bucket(&m, 14), 5);
    APPLY(&m, {.start = 0, .time = 60, .counts = fine});
    APPLY(&m, {.start = 0, .time = 120, .counts = more});
    ck_assert_int_eq(model_bucket(&m, 7), 2);
    ck_assert_int_eq(model_total(&m), 12);
}
END_TEST

/* OTLP's unknown start: the first contributes nothing and never catches up; 1276 - 1256 = 20. */
START_TEST(ref__start_equal_to_time_is_a_baseline__R_FIRST_3)
{
    APPLY(&m, {.start = 0, .time = 0, .n = 1256});
    APPLY(&m, {.start = 0, .time = 60, .n = 1276});
    ck_assert_int_eq(model_total(&m), 20);
    ck_assert_uint_eq(model_outcome(&m, "delta"), 1);
}
END_TEST

/* Replicas: 1860 - 1855 = 5 and 1836 - 1834 = 2. */
START_TEST(ref__equal_attributes_and_other_starts_are_other_streams__R_ID_3)
{
    APPLY(&m, {.start = -100000, .time = 0, .n = 1855}, {.start = -99000, .time = 0, .n = 1834});
    APPLY(&m, {.start = -100000, .time = 30, .n = 1855});
    APPLY(&m, {.start = -99000, .time = 36, .n = 1834});
    APPLY(&m, {.start = -100000, .time = 90, .n = 1860});
    APPLY(&m, {.start = -99000, .time = 96, .n = 1836});
    ck_assert_int_eq(model_minute(&m, 0), 0);
    ck_assert_int_eq(model_minute(&m, 1), 7);
}
END_TEST

/* Two starts within one microsecond: two streams, 3 + 4. */
START_TEST(ref__starts_in_one_microsecond_are_two_streams__R_ID_3)
{
    APPLY(&m, {.start_ns = 123, .time = 60, .n = 3}, {.start_ns = 456, .time = 60, .n = 4});
    ck_assert_int_eq(model_minute(&m, 1), 7);
    const struct ref_series_row *rows;
    ck_assert_uint_eq(ref_series_state(m.ref, &rows), 2);
}
END_TEST

/* Five runs with one request each, every 10 minutes. */
START_TEST(ref__a_short_job_counts_each_run__R_FIRST_1)
{
    for (int64_t i = 0; i < 5; i++)
        APPLY(&m, {.start = 600 * i, .time = 600 * i + 10, .n = 1});
    for (int64_t i = 0; i < 5; i++)
        ck_assert_int_eq(model_minute(&m, 10 * i), 1);
    ck_assert_int_eq(model_total(&m), 5);
}
END_TEST

/* The process is followed since 60; status 404 is born at 1800: 310 - 300 + 1 = 11. */
START_TEST(ref__a_new_series_of_a_known_process_counts__R_FIRST_2)
{
    APPLY(&m, {.start = 0, .time = 60, .n = 10});
    APPLY(&m, {.start = 0, .time = 1740, .n = 300});
    APPLY(&m, {.start = 0, .time = 1800, .n = 310},
          {.start = 0, .time = 1800, .n = 1, .status = 404});
    ck_assert_int_eq(model_minute(&m, 30), 11);
}
END_TEST

/* One export of a process that is 3 h old, over two messages, and in one: history in both. */
START_TEST(ref__one_export_does_not_make_itself_known__R_FIRST_2)
{
    APPLY(&m, {.start = -10800, .time = 0, .n = 5000});
    APPLY(&m, {.start = -10800, .time = 0, .n = 3000, .status = 404});
    APPLY(&m, {.start = -10800, .time = 0, .n = 5000, .process = "p2"},
          {.start = -10800, .time = 0, .n = 3000, .process = "p2", .status = 404});
    ck_assert_int_eq(model_total(&m), 0);
    ck_assert_uint_eq(model_outcome(&m, "baseline"), 4);
}
END_TEST

/* Instruments stamped some microseconds apart are one export; a second apart they are not. */
START_TEST(ref__known_needs_a_point_one_second_earlier__R_FIRST_2)
{
    APPLY(&m, {.start = -10800, .time = 0, .n = 5000},
          {.start = -10800, .time = 0, .time_ns = 999999999, .n = 3000, .status = 404});
    ck_assert_int_eq(model_total(&m), 0);
    APPLY(&m, {.start = -10800, .time = 1, .n = 7, .status = 500});
    ck_assert_int_eq(model_total(&m), 7);
}
END_TEST

/* In one message the streams are judged by hash, but every checked point counts as met: the stream
 * that begins at 60 is of a known process, whichever is judged first. 0 + 10 from the second point
 * + 5. */
START_TEST(ref__points_of_one_message_are_met_together__R_FIRST_2)
{
    for (int64_t status = 400; status < 420; status++) {
        struct model fresh = {0};
        model_open(&fresh, "");
        APPLY(&fresh, {.start = -10800, .time = 60, .n = 5, .status = status},
              {.start = -10800, .time = 0, .n = 100}, {.start = -10800, .time = 60, .n = 110});
        ck_assert_int_eq(model_total(&fresh), 15);
        model_close(&fresh);
    }
}
END_TEST

/* 86400 s old at the first point: 0; then 9012 - 9000 = 12, for 86400 > 2 * 60. */
START_TEST(ref__an_old_process_is_a_baseline__R_FIRST_1)
{
    APPLY(&m, {.start = -86400, .time = 0, .n = 9000});
    APPLY(&m, {.start = -86400, .time = 60, .n = 9012});
    ck_assert_int_eq(model_total(&m), 12);
}
END_TEST

/* Strictly younger than 120 s. */
START_TEST(ref__young_means_below_the_threshold__R_FIRST_1)
{
    APPLY(&m, {.start = 0, .time = 119, .time_ns = 999999999, .n = 50});
    APPLY(&m, {.start = 0, .time = 120, .n = 70, .process = "p2"});
    ck_assert_int_eq(model_total(&m), 50);
}
END_TEST

/* 300 >= 120: baseline; 300 <= 2 * 300: 70 in full; 75 - 70 = 5. */
START_TEST(ref__a_five_minute_exporter_catches_up__R_PT_3)
{
    APPLY(&m, {.start = 0, .time = 300, .n = 40});
    APPLY(&m, {.start = 0, .time = 600, .n = 70});
    APPLY(&m, {.start = 0, .time = 900, .n = 75});
    ck_assert_int_eq(model_minute(&m, 5), 0);
    ck_assert_int_eq(model_minute(&m, 10), 70);
    ck_assert_int_eq(model_minute(&m, 15), 5);
    ck_assert_uint_eq(model_outcome(&m, "catch_up"), 1);
}
END_TEST

/* The duplicate leaves the flag: 0, 0, 70. */
START_TEST(ref__a_duplicate_keeps_the_baseline__R_PT_1)
{
    APPLY(&m, {.start = 0, .time = 300, .n = 40});
    APPLY(&m, {.start = 0, .time = 300, .n = 40});
    APPLY(&m, {.start = 0, .time = 600, .n = 70});
    ck_assert_int_eq(model_total(&m), 70);
    ck_assert_uint_eq(model_outcome(&m, "duplicate"), 1);
}
END_TEST

/* Known (0 s: start = time, so baseline) with 10; 30 - 10 = 20; late; 40 - 30 = 10. */
START_TEST(ref__a_late_point_changes_nothing__R_PT_1)
{
    APPLY(&m, {.start = 0, .time = 0, .n = 10});
    APPLY(&m, {.start = 0, .time = 120, .n = 30});
    APPLY(&m, {.start = 0, .time = 60, .n = 20});
    APPLY(&m, {.start = 0, .time = 180, .n = 40});
    ck_assert_int_eq(model_minute(&m, 2), 20);
    ck_assert_int_eq(model_minute(&m, 1), 0);
    ck_assert_int_eq(model_minute(&m, 3), 10);
    ck_assert_uint_eq(model_outcome(&m, "out_of_order"), 1);
}
END_TEST

/* Newest first in one message: sorted by time, 10 in each minute. */
START_TEST(ref__points_of_a_message_are_sorted_by_time)
{
    APPLY(&m, {.start = 0, .time = 180, .n = 30}, {.start = 0, .time = 120, .n = 20},
          {.start = 0, .time = 60, .n = 10});
    for (int minute = 1; minute <= 3; minute++)
        ck_assert_int_eq(model_minute(&m, minute), 10);
}
END_TEST

/* No bounds: all in bucket 15, lossy and coarse; 12 requests each. */
START_TEST(ref__a_histogram_without_buckets_is_one_open_bucket__R_DEC_6)
{
    APPLY(&m, {.start = 0, .time = 60, .n = 12, .sum = 3.5, .no_buckets = true});
    ck_assert_int_eq(model_bucket(&m, 15), 12);
    ck_assert_int_eq(model_warning(&m, "lossy_histogram"), 12);
    ck_assert_int_eq(model_warning(&m, "coarse_buckets"), 12);
}
END_TEST

/* Count 10, buckets 8: the point is refused, its sibling is kept. */
START_TEST(ref__count_other_than_the_buckets_is_refused__R_DEC_4)
{
    APPLY(&m, {.start = 0, .time = 60, .n = 8, .count = 10},
          {.start = 0, .time = 60, .n = 3, .status = 404});
    ck_assert_int_eq(model_total(&m), 3);
    ck_assert_uint_eq(model_outcome(&m, "rejected_shape"), 1);
}
END_TEST

/* 50 in full; the flagged one is ignored; 60 - 50 = 10. */
START_TEST(ref__no_recorded_value_is_ignored__R_DEC_4)
{
    APPLY(&m, {.start = 0, .time = 60, .n = 50});
    APPLY(&m, {.start = 0, .time = 120, .flags = 1});
    APPLY(&m, {.start = 0, .time = 180, .n = 60});
    ck_assert_int_eq(model_minute(&m, 3), 10);
    ck_assert_uint_eq(model_outcome(&m, "no_value"), 1);
}
END_TEST

/* An absent sum adds 0 and leaves the stored sum at 0; then 4.0 - 0. */
START_TEST(ref__an_absent_sum_adds_nothing__R_PT_6)
{
    APPLY(&m, {.start = 0, .time = 60, .n = 10, .no_sum = true});
    ck_assert_double_eq(model_sum(&m), 0);
    APPLY(&m, {.start = 0, .time = 120, .n = 15, .sum = 4});
    ck_assert_int_eq(model_total(&m), 15);
    ck_assert_double_eq(model_sum(&m), 4);
}
END_TEST

/* Millisecond bounds on seconds: (0, 5] goes whole to bucket 12, which 12 canonical bounds lie in.
 */
START_TEST(ref__millisecond_bounds_are_lossy_and_coarse__A_12)
{
    static const double bounds[] = {0,   5,   10,   25,   50,   75,   100,  250,
                                    500, 750, 1000, 2500, 5000, 7500, 10000};
    static const uint64_t counts[16] = {1, 100, 0, 7};
    APPLY(&m, {.start = 0,
               .time = 60,
               .bounds = bounds,
               .bound_count = 15,
               .counts = counts,
               .count_count = 16});
    ck_assert_int_eq(model_bucket(&m, 1), 1);    /* (-Inf, 0] */
    ck_assert_int_eq(model_bucket(&m, 12), 100); /* (0, 5] */
    ck_assert_int_eq(model_bucket(&m, 15), 7);   /* (10, 25] */
    ck_assert_int_eq(model_warning(&m, "lossy_histogram"), 108);
    ck_assert_int_eq(model_warning(&m, "coarse_buckets"), 108);
}
END_TEST

/* The clock stands at 3600 s, the tolerance is 600 s. 6 days ahead is refused, the rest goes on. */
START_TEST(ref__a_point_from_the_future_is_refused__R_DEC_5)
{
    APPLY(&m, {.start = 0, .time = 60, .n = 10});
    APPLY(&m, {.start = 0, .time = 6 * DAY_S, .n = 100});
    APPLY(&m, {.start = 0, .time = 120, .n = 20});
    APPLY(&m, {.start = 0, .time = 4200, .n = 30});
    APPLY(&m, {.start = 0, .time = 4200, .time_ns = 1, .n = 31});
    ck_assert_int_eq(model_total(&m), 30);
    ck_assert_uint_eq(model_outcome(&m, "rejected_future"), 2);
}
END_TEST

/* Exactly 7 days old is in, a nanosecond more is not. */
START_TEST(ref__a_point_older_than_seven_days_is_refused__R_DEC_5)
{
    int64_t edge = 3600 - 7 * DAY_S;
    APPLY(&m, {.start = edge - 10, .time = edge, .n = 5});
    APPLY(&m, {.start = edge - 10, .time = edge - 1, .time_ns = 999999999, .n = 5});
    ck_assert_int_eq(model_total(&m), 5);
    ck_assert_uint_eq(model_outcome(&m, "rejected_too_old"), 1);
}
END_TEST

/* 23:59:59.999999600 is of minute 23:59 of its own day: 12 h after T0, minus one minute. */
START_TEST(ref__nanoseconds_are_not_rounded_into_the_next_minute__R_DEC_8)
{
    m.now_s = 43200;
    APPLY(&m, {.start = 43190, .time = 43199, .time_ns = 999999600, .n = 5});
    APPLY(&m, {.start = 43190, .time = 43200, .n = 7});
    ck_assert_int_eq(model_minute(&m, 719), 5);
    ck_assert_int_eq(model_minute(&m, 720), 2);
}
END_TEST

/* Delta points: no state, each counts. */
START_TEST(ref__delta_points_have_no_state__R_PT_5)
{
    APPLY(&m, {.start = 0, .time = 60, .n = 5, .delta = true});
    APPLY(&m, {.start = 0, .time = 60, .n = 5, .delta = true});
    ck_assert_int_eq(model_total(&m), 10);
    const struct ref_series_row *states;
    const struct ref_resource_row *resources;
    ck_assert_uint_eq(ref_series_state(m.ref, &states), 0);
    ck_assert_uint_eq(ref_resource_seen(m.ref, &resources), 0);
}
END_TEST

/* ---- switches ---- */

static void switched(const char *rules)
{
    model_close(&m);
    m = (struct model){0};
    model_open(&m, rules);
}

/* A-5 off: 0, then 70 - 40. */
START_TEST(ref__without_A_5_nothing_catches_up)
{
    switched("-A-5");
    APPLY(&m, {.start = 0, .time = 300, .n = 40});
    APPLY(&m, {.start = 0, .time = 600, .n = 70});
    ck_assert_int_eq(model_total(&m), 30);
}
END_TEST

/* S-1 off: the first message makes the process known, 3000 of the past land in one minute. */
START_TEST(ref__without_S_1_one_export_makes_itself_known)
{
    switched("-S-1");
    APPLY(&m, {.start = -10800, .time = 0, .n = 5000});
    APPLY(&m, {.start = -10800, .time = 0, .n = 3000, .status = 404});
    ck_assert_int_eq(model_total(&m), 3000);
}
END_TEST

/* S-2 on: the first point was 3 h old, so no catch-up: 120 - 100 instead of 120. The other is 1 h
 * old to the nanosecond, and catches up: 120. */
START_TEST(ref__with_S_2_catch_up_ends_at_one_hour__R_FIRST_5)
{
    switched("+S-2");
    m.now_s = 20000;
    APPLY(&m, {.start = -10800, .time = 0, .n = 100});
    APPLY(&m, {.start = -10800, .time = 7200, .n = 120});
    ck_assert_int_eq(model_total(&m), 20);
    APPLY(&m, {.start = -3600, .time = 0, .n = 100, .process = "p2"});
    APPLY(&m, {.start = -3600, .time = 7200, .n = 120, .process = "p2"});
    ck_assert_int_eq(model_total(&m), 140);
}
END_TEST

/* S-12 off: age 0 is young, 1256 count in full. */
START_TEST(ref__without_S_12_an_unknown_start_counts)
{
    switched("-S-12");
    APPLY(&m, {.start = 0, .time = 0, .n = 1256});
    ck_assert_int_eq(model_total(&m), 1256);
}
END_TEST

/* S-6 on: the process was first seen 7 days before its new stream, which may have been pruned. */
START_TEST(ref__with_S_6_a_stream_of_a_process_seen_long_ago_is_a_baseline__R_FIRST_7)
{
    switched("+S-6");
    m.now_s = 0;
    APPLY(&m, {.start = -10, .time = 0, .n = 1});
    m.now_s = 7 * DAY_S - 1;
    APPLY(&m, {.start = -10, .time = 7 * DAY_S - 1, .n = 5, .status = 404});
    ck_assert_int_eq(model_total(&m), 6);
    m.now_s = 7 * DAY_S;
    APPLY(&m, {.start = -10, .time = 7 * DAY_S, .n = 5, .status = 500});
    ck_assert_int_eq(model_total(&m), 6);
}
END_TEST

Suite *ref_points_suite(void);
Suite *ref_points_suite(void)
{
    Suite *suite = suite_create("ref_points");
    TCase *tcase = tcase_create("ref_points");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, ref__a_fallen_count_is_a_reset__R_PT_2);
    tcase_add_test(tcase, ref__one_fallen_bucket_is_a_reset__R_PT_2);
    tcase_add_test(tcase, ref__changed_bounds_are_a_reset__R_PT_2);
    tcase_add_test(tcase, ref__start_equal_to_time_is_a_baseline__R_FIRST_3);
    tcase_add_test(tcase, ref__equal_attributes_and_other_starts_are_other_streams__R_ID_3);
    tcase_add_test(tcase, ref__starts_in_one_microsecond_are_two_streams__R_ID_3);
    tcase_add_test(tcase, ref__a_short_job_counts_each_run__R_FIRST_1);
    tcase_add_test(tcase, ref__a_new_series_of_a_known_process_counts__R_FIRST_2);
    tcase_add_test(tcase, ref__one_export_does_not_make_itself_known__R_FIRST_2);
    tcase_add_test(tcase, ref__known_needs_a_point_one_second_earlier__R_FIRST_2);
    tcase_add_test(tcase, ref__points_of_one_message_are_met_together__R_FIRST_2);
    tcase_add_test(tcase, ref__an_old_process_is_a_baseline__R_FIRST_1);
    tcase_add_test(tcase, ref__young_means_below_the_threshold__R_FIRST_1);
    tcase_add_test(tcase, ref__a_five_minute_exporter_catches_up__R_PT_3);
    tcase_add_test(tcase, ref__a_duplicate_keeps_the_baseline__R_PT_1);
    tcase_add_test(tcase, ref__a_late_point_changes_nothing__R_PT_1);
    tcase_add_test(tcase, ref__points_of_a_message_are_sorted_by_time);
    tcase_add_test(tcase, ref__a_histogram_without_buckets_is_one_open_bucket__R_DEC_6);
    tcase_add_test(tcase, ref__count_other_than_the_buckets_is_refused__R_DEC_4);
    tcase_add_test(tcase, ref__no_recorded_value_is_ignored__R_DEC_4);
    tcase_add_test(tcase, ref__an_absent_sum_adds_nothing__R_PT_6);
    tcase_add_test(tcase, ref__millisecond_bounds_are_lossy_and_coarse__A_12);
    tcase_add_test(tcase, ref__a_point_from_the_future_is_refused__R_DEC_5);
    tcase_add_test(tcase, ref__a_point_older_than_seven_days_is_refused__R_DEC_5);
    tcase_add_test(tcase, ref__nanoseconds_are_not_rounded_into_the_next_minute__R_DEC_8);
    tcase_add_test(tcase, ref__delta_points_have_no_state__R_PT_5);
    tcase_add_test(tcase, ref__without_A_5_nothing_catches_up);
    tcase_add_test(tcase, ref__without_S_1_one_export_makes_itself_known);
    tcase_add_test(tcase, ref__with_S_2_catch_up_ends_at_one_hour__R_FIRST_5);
    tcase_add_test(tcase, ref__without_S_12_an_unknown_start_counts);
    tcase_add_test(tcase,
                   ref__with_S_6_a_stream_of_a_process_seen_long_ago_is_a_baseline__R_FIRST_7);
    suite_add_tcase(suite, tcase);
    return suite;
}

/* The drift check of the rollup (R-ROLL-2, R-ROLL-3; A-2, S-14). The clock is T0, 12:00. */
#include "tests/core/jobs/jobs_fixture.h"

/* Minutes without a mark: what a rollup without hour locks would have missed. */
static struct jobs_fixture *with_drift(const char *rules)
{
    struct jobs_fixture *f = jobs_fixture_new(rules);
    jobs_partitions(f, -2, 0);
    jobs_minute(f, ACME, at(10, 0), 10, 0.5);
    jobs_ok(f, job_rollup);
    ck_assert_uint_eq(f->counters[COUNTER_ROLLUP_DRIFTED_HOURS], 0);
    jobs_forget(f);
    return f;
}

START_TEST(drift__found_told_and_recomputed_in_the_same_run)
{
    struct jobs_fixture *f = with_drift("");
    jobs_minute_unmarked(f, ACME, at(10, 1), 3, 5, 0.25);
    jobs_ok(f, job_rollup);
    ck_assert_int_eq(jobs_count_at(f, READ_HOURLY, ACME, at(10, 0)), 15);
    ck_assert_int_eq(jobs_count_at(f, READ_DAILY, ACME, at(0, 0)), 15);
    ck_assert_uint_eq(f->counters[COUNTER_ROLLUP_DRIFTED_HOURS], 1);
    ck_assert_uint_eq(f->counters[COUNTER_ROLLUP_HOURS], 1);
    ck_assert_str_eq(f->logged, "rollup_drifted_hour tenant 0a000000-0000-4000-8000-000000000001 "
                                "hour 2026-03-10T10:00:00Z\n");
    ck_assert_uint_eq(jobs_table(f, QUERY_DUMP_ROLLUP_PENDING, NULL), 0);
    jobs_forget(f);
    jobs_ok(f, job_rollup);
    ck_assert_uint_eq(f->counters[COUNTER_ROLLUP_DRIFTED_HOURS], 0);
    jobs_fixture_free(f);
}
END_TEST

START_TEST(drift__hour_without_hourly_rows_is_found)
{
    struct jobs_fixture *f = jobs_fixture_new("");
    jobs_partitions(f, 0, 0);
    jobs_minute_unmarked(f, ACME, at(10, 0), 3, 5, 0.25);
    jobs_ok(f, job_rollup);
    ck_assert_int_eq(jobs_count_at(f, READ_HOURLY, ACME, at(10, 0)), 5);
    jobs_fixture_free(f);
}
END_TEST

START_TEST(drift__without_a2_there_is_no_check)
{
    struct jobs_fixture *f = with_drift("-A-2");
    jobs_minute_unmarked(f, ACME, at(10, 1), 3, 5, 0.25);
    jobs_ok(f, job_rollup);
    ck_assert_int_eq(jobs_count_at(f, READ_HOURLY, ACME, at(10, 0)), 10);
    jobs_fixture_free(f);
}
END_TEST

/* S-14: the hour says bucket 3, the minutes bucket 9, and both count 5. The hour is rolled from
 * bucket 3; then its minutes are replaced, as by a partition restored from a bad copy. */
static struct jobs_fixture *with_swapped_buckets(const char *rules)
{
    struct jobs_fixture *f = jobs_fixture_new(rules);
    jobs_partitions(f, 0, 0);
    jobs_minute(f, ACME, at(10, 0), 5, 0.25);
    jobs_ok(f, job_rollup);
    jobs_drop_minutes(f, 0);
    jobs_partitions(f, 0, 0);
    jobs_minute_unmarked(f, ACME, at(10, 0), 9, 5, 0.25);
    jobs_forget(f);
    jobs_ok(f, job_rollup);
    return f;
}

START_TEST(drift__equal_counts_in_other_buckets_are_found_by_s14_alone)
{
    size_t count;
    struct jobs_fixture *f = with_swapped_buckets("+S-14");
    ck_assert_uint_eq(f->counters[COUNTER_ROLLUP_DRIFTED_HOURS], 1);
    ck_assert_int_eq(jobs_rows(f, READ_HOURLY, ACME, &count)->counts.counts[8], 5);
    jobs_fixture_free(f);
    f = with_swapped_buckets("-S-14");
    ck_assert_uint_eq(f->counters[COUNTER_ROLLUP_DRIFTED_HOURS], 0);
    ck_assert_int_eq(jobs_rows(f, READ_HOURLY, ACME, &count)->counts.counts[2], 5);
    jobs_fixture_free(f);
}
END_TEST

/* The last 24 hours, half-open: an hour that starts 24 h before the clock is the first. */
START_TEST(drift__window_is_the_last_24_hours)
{
    struct jobs_fixture *f = jobs_fixture_new("");
    jobs_partitions(f, -2, 0);
    jobs_minute_unmarked(f, ACME, at(-13, 0), 3, 1, 0.5); /* 11:00 of the day before */
    jobs_minute_unmarked(f, ACME, at(-12, 0), 3, 2, 0.5);
    jobs_minute_unmarked(f, ACME, at(11, 0), 3, 4, 0.5);
    jobs_ok(f, job_rollup);
    ck_assert_int_eq(jobs_count_at(f, READ_HOURLY, ACME, at(-13, 0)), -1);
    ck_assert_int_eq(jobs_count_at(f, READ_HOURLY, ACME, at(-12, 0)), 2);
    ck_assert_int_eq(jobs_count_at(f, READ_HOURLY, ACME, at(11, 0)), 4);
    ck_assert_uint_eq(f->counters[COUNTER_ROLLUP_DRIFTED_HOURS], 2);
    jobs_fixture_free(f);
}
END_TEST

/* MS: a purge that keeps aggregates deletes minutes on purpose. */
START_TEST(drift__hour_without_minutes_is_never_marked)
{
    struct jobs_fixture *f = with_drift("");
    jobs_drop_minutes(f, 0);
    jobs_partitions(f, 0, 0);
    jobs_ok(f, job_rollup);
    ck_assert_int_eq(jobs_count_at(f, READ_HOURLY, ACME, at(10, 0)), 10);
    ck_assert_uint_eq(f->counters[COUNTER_ROLLUP_DRIFTED_HOURS], 0);
    jobs_fixture_free(f);
}
END_TEST

/* A mark that covers the hour is enough: a held hour is no drift. */
START_TEST(drift__covered_hour_is_not_marked_again)
{
    struct jobs_fixture *f = with_drift("");
    jobs_minute(f, ACME, at(10, 1), 5, 0.25);
    f->held_hour_us = at(10, 0);
    jobs_ok(f, job_rollup);
    ck_assert_uint_eq(f->counters[COUNTER_ROLLUP_DRIFTED_HOURS], 0);
    ck_assert_uint_eq(jobs_calls(f, QUERY_CLAIM_MARKED_HOUR), 0);
    ck_assert_str_eq(f->logged, "");
    jobs_fixture_free(f);
}
END_TEST

/* R-FIRST-4: the mark carries the clock read at Begin, floored to microseconds. It survives when
 * the transaction that would claim it fails, and the next run takes it. */
START_TEST(drift__mark_carries_the_clock_and_outlives_a_failure)
{
    struct jobs_fixture *f = with_drift("");
    jobs_minute_unmarked(f, ACME, at(10, 1), 3, 5, 0.25);
    f->now_ns = T0_NS + 123456789;
    f->fault = (struct jobs_fault){QUERY_CLAIM_MARKED_HOUR, "08006", 0, 1};
    ck_assert_int_eq(jobs_run(f, job_rollup), STATUS_TRANSIENT);
    ck_assert_uint_eq(f->counters[COUNTER_ROLLUP_DRIFTED_HOURS], 1);
    struct value *mark;
    ck_assert_uint_eq(jobs_table(f, QUERY_DUMP_ROLLUP_PENDING, &mark), 1);
    ck_assert_int_eq(mark[2].integer, T0_US + 123456);
    jobs_ok(f, job_rollup);
    ck_assert_int_eq(jobs_count_at(f, READ_HOURLY, ACME, at(10, 0)), 15);
    ck_assert_uint_eq(f->counters[COUNTER_ROLLUP_DRIFTED_HOURS], 1); /* found once */
    jobs_fixture_free(f);
}
END_TEST

/* R-ROLL-3: the drifted hours are claimed once more, and only those. */
START_TEST(drift__marks_of_others_wait_for_the_next_run)
{
    struct jobs_fixture *f = with_drift("");
    jobs_minute_unmarked(f, ZETA, at(9, 0), 3, 5, 0.25);
    jobs_minute(f, ACME, at(11, 0), 7, 0.25);
    f->held_hour_us = at(11, 0); /* its mark is put back */
    jobs_ok(f, job_rollup);
    ck_assert_int_eq(jobs_count_at(f, READ_HOURLY, ZETA, at(9, 0)), 5);
    ck_assert_uint_eq(jobs_calls(f, QUERY_CLAIM_MARKED_HOUR), 1);
    ck_assert_uint_eq(f->counters[COUNTER_ROLLUP_RESTORED], 1);
    jobs_fixture_free(f);
}
END_TEST

/* acme's hour of 18 x 10^18 requests fits no bigint (22003), zeta's is fine. Nobody has marked
 * either. */
static struct jobs_fixture *with_drift_above_int64(const char *rules)
{
    const int64_t huge = INT64_C(9000000000000000000);
    struct jobs_fixture *f = jobs_fixture_new(rules);
    jobs_partitions(f, 0, 0);
    jobs_minute_unmarked(f, ACME, at(9, 0), 3, huge, 0.5);
    jobs_minute_unmarked(f, ACME, at(9, 1), 3, huge, 0.5);
    jobs_minute_unmarked(f, ZETA, at(10, 0), 3, 5, 0.25);
    return f;
}

/* R-ROLL-1: a drifted hour that the database refuses keeps its mark and stops nobody else's. */
START_TEST(drift__refused_hour_keeps_its_mark_and_the_others_carry_on)
{
    struct jobs_fixture *f = with_drift_above_int64("");
    for (int run = 0; run < 2; run++) {
        jobs_ok(f, job_rollup);
        ck_assert_int_eq(jobs_count_at(f, READ_HOURLY, ACME, at(9, 0)), -1);
        ck_assert_int_eq(jobs_count_at(f, READ_HOURLY, ZETA, at(10, 0)), 5);
        ck_assert_int_eq(jobs_count_at(f, READ_DAILY, ZETA, at(0, 0)), 5);
        ck_assert_uint_eq(jobs_table(f, QUERY_DUMP_ROLLUP_PENDING, NULL), 1);
    }
    /* found once; the second run meets its mark in the walk */
    ck_assert_uint_eq(f->counters[COUNTER_ROLLUP_DRIFTED_HOURS], 2);
    ck_assert_str_eq(f->logged, "rollup_drifted_hour tenant 0a000000-0000-4000-8000-000000000001 "
                                "hour 2026-03-10T09:00:00Z\n"
                                "rollup_drifted_hour tenant 0a000000-0000-4000-8000-000000000002 "
                                "hour 2026-03-10T10:00:00Z\n"
                                "rollup_refused_hour tenant 0a000000-0000-4000-8000-000000000001 "
                                "hour 2026-03-10T09:00:00Z\n"
                                "rollup_refused_hour tenant 0a000000-0000-4000-8000-000000000001 "
                                "hour 2026-03-10T09:00:00Z\n");
    jobs_fixture_free(f);
}
END_TEST

START_TEST(drift__without_a9_a_refused_hour_ends_the_run)
{
    struct jobs_fixture *f = with_drift_above_int64("-A-9");
    ck_assert_int_eq(jobs_run(f, job_rollup), STATUS_DATA);
    ck_assert_str_eq(f->err.sqlstate, "22003");
    ck_assert_int_eq(jobs_count_at(f, READ_HOURLY, ZETA, at(10, 0)), -1);
    jobs_fixture_free(f);
}
END_TEST

Suite *drift_suite(void);
Suite *drift_suite(void)
{
    Suite *suite = suite_create("drift");
    TCase *tcase = tcase_create("drift");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, drift__found_told_and_recomputed_in_the_same_run);
    tcase_add_test(tcase, drift__hour_without_hourly_rows_is_found);
    tcase_add_test(tcase, drift__without_a2_there_is_no_check);
    tcase_add_test(tcase, drift__equal_counts_in_other_buckets_are_found_by_s14_alone);
    tcase_add_test(tcase, drift__window_is_the_last_24_hours);
    tcase_add_test(tcase, drift__hour_without_minutes_is_never_marked);
    tcase_add_test(tcase, drift__covered_hour_is_not_marked_again);
    tcase_add_test(tcase, drift__mark_carries_the_clock_and_outlives_a_failure);
    tcase_add_test(tcase, drift__marks_of_others_wait_for_the_next_run);
    tcase_add_test(tcase, drift__refused_hour_keeps_its_mark_and_the_others_carry_on);
    tcase_add_test(tcase, drift__without_a9_a_refused_hour_ends_the_run);
    suite_add_tcase(suite, tcase);
    return suite;
}

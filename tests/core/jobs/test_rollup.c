/* The rollup: hours, days, marks (R-ROLL-1, R-ROLL-3, S-10; cases C08..C13, C19).
 * The drift check has a file of its own. */
#include "tests/core/jobs/jobs_fixture.h"

static size_t marks(struct jobs_fixture *f)
{
    return jobs_table(f, QUERY_DUMP_ROLLUP_PENDING, NULL);
}

/* Two minutes of 10:00, one of 11:00, one of the next day: three hours, two days. */
START_TEST(rollup__hours_from_minutes_and_days_from_hours)
{
    struct jobs_fixture *f = jobs_fixture_new("");
    jobs_partitions(f, 0, 1);
    jobs_minute(f, ACME, at(10, 0), 3, 0.5);
    jobs_minute(f, ACME, at(10, 59), 4, 0.25);
    jobs_minute(f, ACME, at(11, 0), 5, 1);
    jobs_minute(f, ACME, at(24, 0), 7, 2);
    jobs_minute(f, ZETA, at(10, 30), 11, 3);
    jobs_ok(f, job_rollup);
    ck_assert_int_eq(jobs_count_at(f, READ_HOURLY, ACME, at(10, 0)), 7);
    ck_assert_int_eq(jobs_count_at(f, READ_HOURLY, ACME, at(11, 0)), 5);
    ck_assert_int_eq(jobs_count_at(f, READ_HOURLY, ACME, at(24, 0)), 7);
    ck_assert_int_eq(jobs_count_at(f, READ_HOURLY, ZETA, at(10, 0)), 11);
    ck_assert_int_eq(jobs_count_at(f, READ_DAILY, ACME, at(0, 0)), 12);
    ck_assert_int_eq(jobs_count_at(f, READ_DAILY, ACME, at(24, 0)), 7);
    ck_assert_int_eq(jobs_count_at(f, READ_DAILY, ZETA, at(0, 0)), 11);
    size_t count;
    struct minute_row *hours = jobs_rows(f, READ_HOURLY, ACME, &count);
    ck_assert_uint_eq(count, 3);
    ck_assert_int_eq(hours[0].counts.counts[2], 7);
    ck_assert_double_eq(hours[0].sum, 0.75);
    ck_assert_uint_eq(marks(f), 0);
    ck_assert_uint_eq(f->counters[COUNTER_ROLLUP_HOURS], 4);
    ck_assert_uint_eq(f->counters[COUNTER_ROLLUP_DAYS], 3);
    ck_assert_str_eq(f->logged, "");
    jobs_fixture_free(f);
}
END_TEST

START_TEST(rollup__nothing_pending_writes_nothing)
{
    struct jobs_fixture *f = jobs_fixture_new("");
    jobs_partitions(f, 0, 0);
    jobs_ok(f, job_rollup);
    ck_assert_uint_eq(jobs_calls(f, QUERY_CLAIM_ROLLUP_HOURS), 1);
    ck_assert_uint_eq(jobs_calls(f, QUERY_DELETE_HOURLY_ROWS), 0);
    ck_assert_uint_eq(f->counters[COUNTER_ROLLUP_HOURS], 0);
    jobs_fixture_free(f);
}
END_TEST

/* C09: hour 10 is rolled with 100; at 15:00 a point of 10:30 adds 5. */
START_TEST(rollup__late_point_recomputes_its_hour_and_day)
{
    struct jobs_fixture *f = jobs_fixture_new("");
    jobs_partitions(f, 0, 0);
    jobs_minute(f, ACME, at(10, 0), 100, 10);
    jobs_minute(f, ACME, at(11, 0), 20, 2);
    jobs_ok(f, job_rollup);
    ck_assert_int_eq(jobs_count_at(f, READ_DAILY, ACME, at(0, 0)), 120);
    f->now_ns += 3 * NS_PER_HOUR;
    jobs_minute(f, ACME, at(10, 30), 5, 0.5);
    jobs_forget(f);
    jobs_ok(f, job_rollup);
    ck_assert_int_eq(jobs_count_at(f, READ_HOURLY, ACME, at(10, 0)), 105);
    ck_assert_int_eq(jobs_count_at(f, READ_HOURLY, ACME, at(11, 0)), 20);
    ck_assert_int_eq(jobs_count_at(f, READ_DAILY, ACME, at(0, 0)), 125);
    ck_assert_uint_eq(f->counters[COUNTER_ROLLUP_HOURS], 1);
    jobs_fixture_free(f);
}
END_TEST

/* C19: in time order (1e16 + 1) + 1 is 1e16 in doubles; smallest first it would be 1e16 + 2. The
 * rows are written in another order than their times. C08: twice gives the same bits. */
START_TEST(rollup__sums_in_time_order_twice_the_same_bits)
{
    struct jobs_fixture *f = jobs_fixture_new("");
    jobs_partitions(f, 0, 0);
    jobs_minute(f, ACME, at(10, 2), 1, 1);
    jobs_minute(f, ACME, at(10, 1), 1, 1);
    jobs_minute(f, ACME, at(10, 0), 1, 1e16);
    jobs_minute(f, ZETA, at(2, 0), 1, 0.1);
    jobs_minute(f, ZETA, at(1, 0), 1, 0.2);
    jobs_minute(f, ZETA, at(0, 0), 1, 0.3);
    jobs_ok(f, job_rollup);
    size_t count;
    double hour = jobs_rows(f, READ_HOURLY, ACME, &count)->sum;
    double day = jobs_rows(f, READ_DAILY, ZETA, &count)->sum;
    ck_assert(hour == 1e16);
    ck_assert(day == (0.3 + 0.2) + 0.1);
    jobs_mark(f, ACME, at(10, 0), T0_US);
    jobs_mark(f, ZETA, at(1, 0), T0_US);
    jobs_ok(f, job_rollup);
    double hour_again = jobs_rows(f, READ_HOURLY, ACME, &count)->sum;
    double day_again = jobs_rows(f, READ_DAILY, ZETA, &count)->sum;
    ck_assert_mem_eq(&hour, &hour_again, sizeof hour);
    ck_assert_mem_eq(&day, &day_again, sizeof day);
    jobs_fixture_free(f);
}
END_TEST

/* an hour that a writer has open keeps its mark, with its marked_at; the others carry on. */
START_TEST(rollup__held_hour_is_left_to_a_later_run)
{
    struct jobs_fixture *f = jobs_fixture_new("");
    jobs_partitions(f, 0, 0);
    f->now_ns -= NS_PER_HOUR;
    jobs_minute(f, ACME, at(10, 0), 3, 0.5);
    jobs_minute(f, ACME, at(11, 0), 4, 0.5);
    f->now_ns += NS_PER_HOUR;
    f->held_hour_us = at(10, 0);
    jobs_ok(f, job_rollup);
    ck_assert_int_eq(jobs_count_at(f, READ_HOURLY, ACME, at(10, 0)), -1);
    ck_assert_int_eq(jobs_count_at(f, READ_HOURLY, ACME, at(11, 0)), 4);
    ck_assert_uint_eq(f->counters[COUNTER_ROLLUP_HOURS], 1);
    ck_assert_uint_eq(f->counters[COUNTER_ROLLUP_RESTORED], 1);
    ck_assert_uint_eq(jobs_calls(f, QUERY_TRY_LOCK_ROLLUP_HOUR), 2); /* once a mark and run */
    struct value *mark;
    ck_assert_uint_eq(jobs_table(f, QUERY_DUMP_ROLLUP_PENDING, &mark), 1);
    ck_assert_int_eq(mark[1].integer, at(10, 0));
    ck_assert_int_eq(mark[2].integer, T0_US - US_PER_HOUR); /* R-ROLL-3 */
    f->held_hour_us = 0;
    jobs_ok(f, job_rollup);
    ck_assert_int_eq(jobs_count_at(f, READ_HOURLY, ACME, at(10, 0)), 3);
    ck_assert_int_eq(jobs_count_at(f, READ_DAILY, ACME, at(0, 0)), 7);
    ck_assert_uint_eq(marks(f), 0);
    jobs_fixture_free(f);
}
END_TEST

/* A-2 off: before the fix nobody asked whether a writer had the hour open. */
START_TEST(rollup__without_a2_nobody_asks_for_the_hour)
{
    struct jobs_fixture *f = jobs_fixture_new("-A-2");
    jobs_partitions(f, 0, 0);
    jobs_minute(f, ACME, at(10, 0), 3, 0.5);
    f->held_hour_us = at(10, 0);
    jobs_ok(f, job_rollup);
    ck_assert_int_eq(jobs_count_at(f, READ_HOURLY, ACME, at(10, 0)), 3);
    ck_assert_uint_eq(jobs_calls(f, QUERY_TRY_LOCK_ROLLUP_HOUR), 0);
    ck_assert_uint_eq(jobs_calls(f, QUERY_MARK_DRIFTED_HOURS), 0);
    jobs_fixture_free(f);
}
END_TEST

/* R-ROLL-3: 1,100 marks are three transactions (500, 500, 100). All but two are restored, and none
 * is claimed again, though most of them share their hour with the cursor. */
START_TEST(rollup__walks_the_marks_once_in_portions_of_500)
{
    struct jobs_fixture *f = jobs_fixture_new("");
    jobs_partitions(f, 0, 0);
    for (int tenant = 1; tenant <= 1100; tenant++)
        jobs_minute(f, tenant, at(tenant <= 2 ? 9 : 10, 0), 1, 0.5);
    f->held_hour_us = at(10, 0);
    jobs_ok(f, job_rollup);
    ck_assert_uint_eq(jobs_calls(f, QUERY_CLAIM_ROLLUP_HOURS), 3);
    ck_assert_uint_eq(jobs_calls(f, QUERY_TRY_LOCK_ROLLUP_HOUR), 1100);
    ck_assert_uint_eq(f->counters[COUNTER_ROLLUP_HOURS], 2);
    ck_assert_uint_eq(f->counters[COUNTER_ROLLUP_RESTORED], 1098);
    ck_assert_uint_eq(marks(f), 1098);
    jobs_fixture_free(f);
}
END_TEST

/* A-9, C10: rolled, marked again, and its minutes dropped by hand. */
static struct jobs_fixture *with_orphan(const char *rules)
{
    struct jobs_fixture *f = jobs_fixture_new(rules);
    jobs_partitions(f, -1, 0);
    jobs_minute(f, ACME, at(-14, 0), 9, 0.5);
    jobs_ok(f, job_rollup);
    jobs_mark(f, ACME, at(-14, 0), T0_US);
    jobs_drop_minutes(f, -1);
    jobs_minute(f, ZETA, at(10, 0), 3, 0.5);
    jobs_forget(f);
    return f;
}

START_TEST(rollup__orphaned_mark_is_dropped_and_the_others_carry_on)
{
    struct jobs_fixture *f = with_orphan("");
    jobs_ok(f, job_rollup);
    ck_assert_int_eq(jobs_count_at(f, READ_HOURLY, ACME, at(-14, 0)), 9);
    ck_assert_int_eq(jobs_count_at(f, READ_DAILY, ACME, at(-24, 0)), 9);
    ck_assert_int_eq(jobs_count_at(f, READ_HOURLY, ZETA, at(10, 0)), 3);
    ck_assert_uint_eq(marks(f), 0);
    ck_assert_uint_eq(f->counters[COUNTER_ROLLUP_ORPHANED_MARKS], 1);
    ck_assert_uint_eq(f->counters[COUNTER_ROLLUP_HOURS], 1);
    ck_assert_str_eq(f->logged, "rollup_orphaned_mark tenant 0a000000-0000-4000-8000-000000000001 "
                                "hour 2026-03-09T10:00:00Z\n");
    jobs_fixture_free(f);
}
END_TEST

START_TEST(rollup__without_a9_one_orphaned_mark_stops_every_tenant)
{
    struct jobs_fixture *f = with_orphan("-A-9");
    for (int run = 0; run < 2; run++) {
        ck_assert_int_eq(jobs_run(f, job_rollup), STATUS_REFUSED);
        ck_assert_int_eq(jobs_count_at(f, READ_HOURLY, ZETA, at(10, 0)), -1);
        ck_assert_uint_eq(marks(f), 2);
    }
    ck_assert_uint_eq(f->counters[COUNTER_ROLLUP_ORPHANED_MARKS], 0);
    ck_assert_str_eq(f->err.message,
                     "cannot roll up tenant 0a000000-0000-4000-8000-000000000001 hour "
                     "2026-03-09T10:00:00Z: its minute partition is gone");
    jobs_fixture_free(f);
}
END_TEST

/* A-10, C13: a session in New York on a day of 23 hours, 05:00Z to 04:00Z of the next day. */
static struct jobs_fixture *in_new_york(const char *rules)
{
    struct jobs_fixture *f = jobs_fixture_new(rules);
    jobs_partitions(f, -2, -1);
    jobs_minute(f, ACME, at(-48 + 4, 0), 1, 0.5); /* the evening before, in New York */
    jobs_minute(f, ACME, at(-48 + 5, 0), 2, 0.5);
    jobs_minute(f, ACME, at(-24 + 3, 0), 4, 0.5); /* the next UTC day, the same in New York */
    f->session_from_us = at(-48 + 5, 0);
    f->session_until_us = at(-24 + 4, 0);
    return f;
}

START_TEST(rollup__days_are_24_hours_of_utc)
{
    struct jobs_fixture *f = in_new_york("");
    jobs_ok(f, job_rollup);
    ck_assert_int_eq(jobs_count_at(f, READ_DAILY, ACME, at(-48, 0)), 3);
    ck_assert_int_eq(jobs_count_at(f, READ_DAILY, ACME, at(-24, 0)), 4);
    ck_assert_uint_eq(jobs_calls(f, QUERY_SESSION_DAY), 0);
    jobs_fixture_free(f);
}
END_TEST

START_TEST(rollup__without_a10_days_are_the_sessions)
{
    struct jobs_fixture *f = in_new_york("-A-10");
    jobs_ok(f, job_rollup);
    ck_assert_int_eq(jobs_count_at(f, READ_DAILY, ACME, at(-48, 0)), 6); /* 05:00Z to 04:00Z */
    ck_assert_int_eq(jobs_count_at(f, READ_DAILY, ACME, at(-24, 0)), -1);
    jobs_fixture_free(f);
}
END_TEST

/* S-10: every day is locked before its rows go; two runners lock in one order (R-ROLL-1). */
START_TEST(rollup__day_locks_ascend_and_come_before_the_day)
{
    struct jobs_fixture *f = jobs_fixture_new("");
    jobs_partitions(f, 0, 0);
    for (int tenant = 1; tenant <= 20; tenant++)
        jobs_minute(f, tenant, at(10, 0), 1, 0.5);
    jobs_ok(f, job_rollup);
    size_t days = 0;
    int64_t last = INT64_MIN;
    for (size_t i = 0; i < f->call_count; i++) {
        if (f->calls[i] != QUERY_LOCK_ROLLUP_DAY)
            continue;
        ck_assert_int_gt(f->first_param[i], last);
        last = f->first_param[i];
        ck_assert_int_eq(f->calls[i + 1], QUERY_DELETE_DAILY_ROWS);
        ck_assert_int_eq(f->calls[i + 2], QUERY_ROLLUP_DAY);
        days++;
    }
    ck_assert_uint_eq(days, 20);
    jobs_fixture_free(f);
}
END_TEST

START_TEST(rollup__without_s10_days_are_not_locked)
{
    struct jobs_fixture *f = jobs_fixture_new("-S-10");
    jobs_partitions(f, 0, 0);
    jobs_minute(f, ACME, at(10, 0), 3, 0.5);
    jobs_ok(f, job_rollup);
    ck_assert_int_eq(jobs_count_at(f, READ_DAILY, ACME, at(0, 0)), 3);
    ck_assert_uint_eq(jobs_calls(f, QUERY_LOCK_ROLLUP_DAY), 0);
    jobs_fixture_free(f);
}
END_TEST

/* A failed transaction leaves marks and rows as they were and counts nothing; the next run works.
 */
START_TEST(rollup__failure_anywhere_leaves_the_marks)
{
    static const enum query_id steps[] = {
        QUERY_BEGIN,           QUERY_CLAIM_ROLLUP_HOURS,   QUERY_LIST_MINUTE_PARTITIONS,
        QUERY_ROLLUP_HOUR,     QUERY_TRY_LOCK_ROLLUP_HOUR, QUERY_DELETE_HOURLY_ROWS,
        QUERY_LOCK_ROLLUP_DAY, QUERY_DELETE_DAILY_ROWS,    QUERY_ROLLUP_DAY,
        QUERY_COMMIT,
    };
    struct jobs_fixture *f = jobs_fixture_new("");
    jobs_partitions(f, 0, 0);
    jobs_minute(f, ACME, at(10, 0), 3, 0.5);
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        f->fault = (struct jobs_fault){steps[i], "40001", 0, 1};
        ck_assert_int_eq(jobs_run(f, job_rollup), STATUS_TRANSIENT);
        ck_assert_str_eq(f->err.sqlstate, "40001");
        ck_assert_uint_eq(marks(f), 1);
        ck_assert_int_eq(jobs_count_at(f, READ_HOURLY, ACME, at(10, 0)), -1);
        ck_assert_uint_eq(f->counters[COUNTER_ROLLUP_HOURS], 0);
    }
    jobs_ok(f, job_rollup);
    ck_assert_int_eq(jobs_count_at(f, READ_DAILY, ACME, at(0, 0)), 3);
    jobs_fixture_free(f);
}
END_TEST

/* R-ROLL-1, A-9: a data error of one hour (here 23514, no partition) is asked for again alone; refused
 * alone as well, the hour keeps its mark and the run goes on. */
START_TEST(rollup__refused_hour_keeps_its_mark)
{
    struct jobs_fixture *f = jobs_fixture_new("");
    jobs_partitions(f, 0, 0);
    jobs_minute(f, ACME, at(10, 0), 3, 0.5);
    f->fault = (struct jobs_fault){QUERY_ROLLUP_HOUR, "23514", 0, 2};
    jobs_ok(f, job_rollup);
    ck_assert_uint_eq(marks(f), 1);
    ck_assert_int_eq(jobs_count_at(f, READ_HOURLY, ACME, at(10, 0)), -1);
    ck_assert_uint_eq(f->counters[COUNTER_ROLLUP_HOURS], 0);
    jobs_ok(f, job_rollup);
    ck_assert_uint_eq(marks(f), 0);
    ck_assert_int_eq(jobs_count_at(f, READ_HOURLY, ACME, at(10, 0)), 3);
    jobs_fixture_free(f);
}
END_TEST

/* S-10: a key that is there already is another runner's doing, not the hour's: the run ends. */
START_TEST(rollup__unique_violation_ends_the_run)
{
    struct jobs_fixture *f = jobs_fixture_new("");
    jobs_partitions(f, 0, 0);
    jobs_minute(f, ACME, at(10, 0), 3, 0.5);
    f->fault = (struct jobs_fault){QUERY_ROLLUP_HOUR, "23505", 0, 1};
    ck_assert_int_eq(jobs_run(f, job_rollup), STATUS_DATA);
    ck_assert_str_eq(f->err.sqlstate, "23505");
    ck_assert_uint_eq(marks(f), 1);
    jobs_fixture_free(f);
}
END_TEST

/* R-FENCE-1: the fence is asked before each transaction; what was committed stays. */
START_TEST(rollup__lost_fence_ends_the_run_at_the_next_transaction)
{
    struct jobs_fixture *f = jobs_fixture_new("");
    jobs_partitions(f, 0, 0);
    jobs_minute(f, ACME, at(10, 0), 3, 0.5);
    f->stale_after = 1;
    ck_assert_int_eq(jobs_run(f, job_rollup), STATUS_STALE);
    ck_assert_uint_eq(f->call_count, 0);
    ck_assert_uint_eq(marks(f), 1);
    jobs_forget(f);
    f->stale_after = 2;
    ck_assert_int_eq(jobs_run(f, job_rollup), STATUS_STALE);
    ck_assert_uint_eq(marks(f), 0);
    ck_assert_int_eq(jobs_count_at(f, READ_HOURLY, ACME, at(10, 0)), 3);
    ck_assert_uint_eq(jobs_calls(f, QUERY_MARK_DRIFTED_HOURS), 0);
    jobs_fixture_free(f);
}
END_TEST

Suite *rollup_suite(void);
Suite *rollup_suite(void)
{
    Suite *suite = suite_create("rollup");
    TCase *tcase = tcase_create("rollup");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, rollup__hours_from_minutes_and_days_from_hours);
    tcase_add_test(tcase, rollup__nothing_pending_writes_nothing);
    tcase_add_test(tcase, rollup__late_point_recomputes_its_hour_and_day);
    tcase_add_test(tcase, rollup__sums_in_time_order_twice_the_same_bits);
    tcase_add_test(tcase, rollup__held_hour_is_left_to_a_later_run);
    tcase_add_test(tcase, rollup__without_a2_nobody_asks_for_the_hour);
    tcase_add_test(tcase, rollup__walks_the_marks_once_in_portions_of_500);
    tcase_add_test(tcase, rollup__orphaned_mark_is_dropped_and_the_others_carry_on);
    tcase_add_test(tcase, rollup__without_a9_one_orphaned_mark_stops_every_tenant);
    tcase_add_test(tcase, rollup__days_are_24_hours_of_utc);
    tcase_add_test(tcase, rollup__without_a10_days_are_the_sessions);
    tcase_add_test(tcase, rollup__day_locks_ascend_and_come_before_the_day);
    tcase_add_test(tcase, rollup__without_s10_days_are_not_locked);
    tcase_add_test(tcase, rollup__failure_anywhere_leaves_the_marks);
    tcase_add_test(tcase, rollup__refused_hour_keeps_its_mark);
    tcase_add_test(tcase, rollup__unique_violation_ends_the_run);
    tcase_add_test(tcase, rollup__lost_fence_ends_the_run_at_the_next_transaction);
    suite_add_tcase(suite, tcase);
    return suite;
}

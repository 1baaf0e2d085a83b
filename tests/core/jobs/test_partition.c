/* The partition job and the initial window (MS "Partitions", "Jobs tasks"; R-PART-1..2). */
#include "tests/core/jobs/jobs_fixture.h"
#include <stdio.h>

/* A table's partitions as "first..last (count)". */
static const char *listed(struct jobs_fixture *f, enum query_id list)
{
    static char text[128];
    struct value *days;
    size_t count = jobs_table(f, list, &days);
    if (count == 0)
        return "none";
    char first[TIME_TEXT_SIZE], last[TIME_TEXT_SIZE];
    day_format(days[0].integer, first);
    day_format(days[count - 1].integer, last);
    snprintf(text, sizeof text, "%s..%s (%zu)", first, last, count);
    return text;
}

static void set_clock(struct jobs_fixture *f, const char *text)
{
    ck_assert(time_parse_ns(text, strlen(text), &f->now_ns));
}

/* Today and 7 ahead are 8 days; this month and 3 ahead are 4 months, by the calendar (R-RET-2). */
static const struct {
    const char *clock, *minutes, *hours;
} windows[] = {
    {"2026-03-10T12:00:00Z", "2026-03-10..2026-03-17 (8)", "2026-03-01..2026-06-01 (4)"},
    {"2024-02-29T00:00:00Z", "2024-02-29..2024-03-07 (8)", "2024-02-01..2024-05-01 (4)"},
    {"2025-12-31T23:59:59.999999999Z", "2025-12-31..2026-01-07 (8)", "2025-12-01..2026-03-01 (4)"},
    {"2026-01-31T00:00:00Z", "2026-01-31..2026-02-07 (8)", "2026-01-01..2026-04-01 (4)"},
    {"2100-02-28T23:00:00Z", "2100-02-28..2100-03-07 (8)", "2100-02-01..2100-05-01 (4)"},
};

START_TEST(partition__today_and_ahead)
{
    struct jobs_fixture *f = jobs_fixture_new("");
    set_clock(f, windows[_i].clock);
    jobs_ok(f, job_partition);
    ck_assert_str_eq(listed(f, QUERY_LIST_MINUTE_PARTITIONS), windows[_i].minutes);
    ck_assert_str_eq(listed(f, QUERY_LIST_HOURLY_PARTITIONS), windows[_i].hours);
    ck_assert_uint_eq(f->counters[COUNTER_PARTITIONS_CREATED], 12);
    jobs_fixture_free(f);
}
END_TEST

/* MS: minute partitions from 7 days back to 7 ahead are 15; hourly ones from the month 31 days back
 * (2026-03-31 - 31 = 02-28, 03-03 - 31 = 01-31) to 3 months ahead. */
static const struct {
    const char *clock, *minutes, *hours;
} initials[] = {
    {"2026-03-10T12:00:00Z", "2026-03-03..2026-03-17 (15)", "2026-02-01..2026-06-01 (5)"},
    {"2026-03-31T12:00:00Z", "2026-03-24..2026-04-07 (15)", "2026-02-01..2026-06-01 (5)"},
    {"2026-03-03T12:00:00Z", "2026-02-24..2026-03-10 (15)", "2026-01-01..2026-06-01 (6)"},
    {"2025-12-31T12:00:00Z", "2025-12-24..2026-01-07 (15)", "2025-11-01..2026-03-01 (5)"},
};

START_TEST(partition__initial_window)
{
    struct jobs_fixture *f = jobs_fixture_new("");
    set_clock(f, initials[_i].clock);
    jobs_ok(f, job_initial_partitions);
    ck_assert_str_eq(listed(f, QUERY_LIST_MINUTE_PARTITIONS), initials[_i].minutes);
    ck_assert_str_eq(listed(f, QUERY_LIST_HOURLY_PARTITIONS), initials[_i].hours);
    jobs_fixture_free(f);
}
END_TEST

/* R-PART-2: a run with nothing to do takes no lock, because it lists first (R-PART-1). */
START_TEST(partition__existing_ones_are_skipped_without_a_lock)
{
    struct jobs_fixture *f = jobs_fixture_new("");
    jobs_ok(f, job_partition);
    jobs_forget(f);
    jobs_ok(f, job_partition);
    ck_assert_uint_eq(f->counters[COUNTER_PARTITIONS_CREATED], 0);
    ck_assert_uint_eq(jobs_calls(f, QUERY_LOCK_MINUTE_PARTITIONS), 0);
    ck_assert_uint_eq(jobs_calls(f, QUERY_LOCK_HOURLY_PARTITIONS), 0);
    jobs_forget(f);
    f->now_ns += NS_PER_DAY;
    jobs_ok(f, job_partition);
    ck_assert_uint_eq(f->counters[COUNTER_PARTITIONS_CREATED], 1);
    ck_assert_str_eq(listed(f, QUERY_LIST_MINUTE_PARTITIONS), "2026-03-10..2026-03-18 (9)");
    jobs_fixture_free(f);
}
END_TEST

/* R-PART-2: each creation locks first, in a transaction of its own. */
START_TEST(partition__lock_comes_before_the_creation)
{
    struct jobs_fixture *f = jobs_fixture_new("");
    jobs_ok(f, job_partition);
    size_t created = 0;
    for (size_t i = 2; i + 1 < f->call_count; i++) {
        bool minute = f->calls[i] == QUERY_CREATE_MINUTE_PARTITION;
        if (!minute && f->calls[i] != QUERY_CREATE_HOURLY_PARTITION)
            continue;
        ck_assert_int_eq(f->calls[i - 2], QUERY_BEGIN);
        ck_assert_int_eq(f->calls[i - 1],
                         minute ? QUERY_LOCK_MINUTE_PARTITIONS : QUERY_LOCK_HOURLY_PARTITIONS);
        ck_assert_int_eq(f->calls[i + 1], QUERY_COMMIT);
        created++;
    }
    ck_assert_uint_eq(created, 12);
    jobs_fixture_free(f);
}
END_TEST

START_TEST(partition__table_in_use_is_left_to_a_later_run)
{
    struct jobs_fixture *f = jobs_fixture_new("");
    f->fault = (struct jobs_fault){QUERY_LOCK_MINUTE_PARTITIONS, "55P03", 2, 1};
    jobs_ok(f, job_partition);
    ck_assert_uint_eq(f->counters[COUNTER_PARTITIONS_BUSY], 1);
    ck_assert_uint_eq(f->counters[COUNTER_PARTITIONS_CREATED], 11);
    ck_assert_str_eq(listed(f, QUERY_LIST_MINUTE_PARTITIONS), "2026-03-10..2026-03-17 (7)");
    jobs_ok(f, job_partition);
    ck_assert_str_eq(listed(f, QUERY_LIST_MINUTE_PARTITIONS), "2026-03-10..2026-03-17 (8)");
    jobs_fixture_free(f);
}
END_TEST

START_TEST(partition__other_errors_end_the_run)
{
    struct jobs_fixture *f = jobs_fixture_new("");
    f->fault = (struct jobs_fault){QUERY_CREATE_MINUTE_PARTITION, "53100", 2, 1};
    ck_assert_int_eq(jobs_run(f, job_partition), STATUS_TRANSIENT);
    ck_assert_str_eq(f->err.sqlstate, "53100");
    ck_assert_uint_eq(f->counters[COUNTER_PARTITIONS_CREATED], 2);
    ck_assert_str_eq(listed(f, QUERY_LIST_MINUTE_PARTITIONS), "2026-03-10..2026-03-11 (2)");
    jobs_fixture_free(f);
}
END_TEST

/* Nobody comes again to make the initial ones, so a table in use is an error there. */
START_TEST(partition__initial_window_is_all_or_an_error)
{
    struct jobs_fixture *f = jobs_fixture_new("");
    f->fault = (struct jobs_fault){QUERY_LOCK_HOURLY_PARTITIONS, "55P03", 0, 1};
    ck_assert_int_eq(jobs_run(f, job_initial_partitions), STATUS_TRANSIENT);
    ck_assert_str_eq(f->err.sqlstate, "55P03");
    jobs_ok(f, job_initial_partitions);
    ck_assert_str_eq(listed(f, QUERY_LIST_HOURLY_PARTITIONS), "2026-02-01..2026-06-01 (5)");
    jobs_fixture_free(f);
}
END_TEST

/* R-FENCE-1 */
START_TEST(partition__lost_fence_ends_the_run)
{
    struct jobs_fixture *f = jobs_fixture_new("");
    f->stale_after = 4; /* the list and two creations pass */
    ck_assert_int_eq(jobs_run(f, job_partition), STATUS_STALE);
    ck_assert_str_eq(listed(f, QUERY_LIST_MINUTE_PARTITIONS), "2026-03-10..2026-03-11 (2)");
    jobs_fixture_free(f);
}
END_TEST

Suite *partition_suite(void);
Suite *partition_suite(void)
{
    Suite *suite = suite_create("partition");
    TCase *tcase = tcase_create("partition");
    tcase_add_loop_test(tcase, partition__today_and_ahead, 0,
                        (int)(sizeof windows / sizeof windows[0]));
    tcase_add_loop_test(tcase, partition__initial_window, 0,
                        (int)(sizeof initials / sizeof initials[0]));
    tcase_add_test(tcase, partition__existing_ones_are_skipped_without_a_lock);
    tcase_add_test(tcase, partition__lock_comes_before_the_creation);
    tcase_add_test(tcase, partition__table_in_use_is_left_to_a_later_run);
    tcase_add_test(tcase, partition__other_errors_end_the_run);
    tcase_add_test(tcase, partition__initial_window_is_all_or_an_error);
    tcase_add_test(tcase, partition__lost_fence_ends_the_run);
    suite_add_tcase(suite, tcase);
    return suite;
}

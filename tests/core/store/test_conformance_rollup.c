/* The rollup's queries: marks, hours and days, the drift check, the session's day. */
#include "tests/core/store/conformance.h"
#include <string.h>

static struct mark_row mark(uint8_t tenant, int64_t hour, int64_t marked_at)
{
    return (struct mark_row){
        .tenant = tenant_of(tenant), .hour_us = T0_US + hour * HOUR, .marked_at_us = marked_at};
}

static void add_mark(struct mark_row row)
{
    ck_ok(store_mark_rollup_pending(store, &row, 1, &err));
}

static void rollup_hour(int64_t hour, int64_t rows)
{
    struct uuid tenant = tenant_of(1);
    int64_t changed;
    ck_ok(store_delete_hourly_rows(store, &tenant, T0_US + hour * HOUR, &changed, &err));
    ck_ok(store_rollup_hour(store, &tenant, T0_US + hour * HOUR, &changed, &err));
    ck_assert_int_eq(changed, rows);
}

/* ---- marks ---- */

static size_t claim(int64_t after_hour, uint8_t after_tenant, size_t limit, struct mark_row **rows)
{
    struct uuid tenant = tenant_of(after_tenant);
    size_t count;
    ck_ok(store_claim_rollup_hours(store, after_hour, &tenant, limit, &arena, rows, &count, &err));
    return count;
}

START_TEST(claim__walks_the_marks_once_in_order) /* R-ROLL-3 */
{
    begin(ROLE_JOBS);
    /* in (hour, tenant) order: 0/2 1/1 1/2 1/3 3/1 */
    add_mark(mark(1, 3, 31));
    add_mark(mark(3, 1, 13));
    add_mark(mark(1, 1, 11));
    add_mark(mark(2, 0, 2));
    add_mark(mark(2, 1, 12));
    struct mark_row *rows;
    ck_assert_uint_eq(claim(INT64_MIN, 0, 2, &rows), 2);
    ck_assert_int_eq(rows[0].marked_at_us, 2);
    ck_assert_int_eq(rows[1].marked_at_us, 11);
    /* a restored mark lies before the cursor and is not claimed again */
    ck_ok(store_restore_rollup_mark(store, &rows[1], &err));
    ck_assert_uint_eq(claim(rows[1].hour_us, 1, 10, &rows), 3);
    ck_assert_int_eq(rows[0].marked_at_us, 12);
    ck_assert_int_eq(rows[1].marked_at_us, 13);
    ck_assert_int_eq(rows[2].marked_at_us, 31);
    ck_assert_int_eq(rows[2].hour_us, T0_US + 3 * HOUR);
    ck_assert_uint_eq(claim(rows[2].hour_us, 1, 10, &rows), 0);
    ck_assert_uint_eq(claim(INT64_MIN, 0, 10, &rows), 1); /* what was restored, with its time */
    ck_assert_int_eq(rows[0].marked_at_us, 11);
    ck_assert_uint_eq(claim(INT64_MIN, 0, 10, &rows), 0);
    commit();
}
END_TEST

START_TEST(claim__takes_no_more_than_the_limit)
{
    begin(ROLE_JOBS);
    for (int hour = 0; hour < 20; hour++)
        add_mark(mark(1, hour, hour));
    struct mark_row *rows;
    ck_assert_uint_eq(claim(INT64_MIN, 0, 7, &rows), 7);
    for (int hour = 0; hour < 7; hour++)
        ck_assert_int_eq(rows[hour].marked_at_us, hour);
    ck_assert_uint_eq(claim(INT64_MIN, 0, 100, &rows), 13);
    ck_assert_int_eq(rows[0].marked_at_us, 7);
    commit();
}
END_TEST

START_TEST(claim_marked_hours__takes_only_those_named)
{
    begin(ROLE_JOBS);
    add_mark(mark(1, 0, 10));
    add_mark(mark(1, 1, 11));
    add_mark(mark(2, 0, 20));
    struct mark_row keys[] = {mark(1, 1, 0), mark(2, 0, 0), mark(2, 5, 0)};
    struct mark_row *rows;
    size_t count;
    ck_ok(store_claim_marked_hours(store, keys, 3, &arena, &rows, &count, &err));
    ck_assert_uint_eq(count, 2); /* (hour, tenant) order */
    ck_assert_int_eq(rows[0].marked_at_us, 20);
    ck_assert_int_eq(rows[1].marked_at_us, 11);
    ck_assert_uint_eq(claim(INT64_MIN, 0, 10, &rows), 1);
    ck_assert_int_eq(rows[0].marked_at_us, 10);
    commit();
}
END_TEST

START_TEST(restore_rollup_mark__leaves_a_newer_mark_alone)
{
    begin(ROLE_JOBS);
    add_mark(mark(1, 0, 20));
    struct mark_row older = mark(1, 0, 10);
    ck_ok(store_restore_rollup_mark(store, &older, &err));
    struct mark_row *rows;
    ck_assert_uint_eq(claim(INT64_MIN, 0, 10, &rows), 1);
    ck_assert_int_eq(rows[0].marked_at_us, 20);
    commit();
}
END_TEST

START_TEST(locks__are_free_for_a_session_alone) /* A-2, S-10 */
{
    struct hour_lock locks[] = {{-5, tenant_of(1), T0_US}, {7, tenant_of(1), T0_US + HOUR}};
    bool granted;
    begin(ROLE_JOBS);
    ck_ok(store_lock_rollup_hours(store, locks, 2, &err));
    ck_ok(store_try_lock_rollup_hour(store, &locks[0], &arena, &granted, &err));
    ck_assert(granted); /* its own shared lock does not stand in the way */
    ck_ok(store_lock_rollup_day(store, 9, &err));
    commit();
}
END_TEST

/* ---- hours and days ---- */

START_TEST(rollup_hour__takes_the_minutes_of_the_hour) /* half-open, R-ROLL-1 */
{
    make_partitions(DAY0 - 1, DAY0);
    begin(ROLE_JOBS);
    add_minute(minute_row(T0_US - MINUTE, 1, 1000, 1000));
    add_minute(minute_row(T0_US, 1, 1, 0.5));
    struct minute_row last = minute_row(T0_US + HOUR - MINUTE, 2, 2, 0.25);
    last.lossy = true;
    add_minute(last);
    add_minute(minute_row(T0_US + HOUR, 1, 1000, 1000));
    struct minute_row span = minute_row(T0_US + MINUTE, 15, 8, 100);
    span.source = SOURCE_SPAN;
    add_minute(span);
    rollup_hour(0, 2);
    size_t count;
    struct minute_row *rows = rows_of(READ_HOURLY, &count);
    ck_assert_uint_eq(count, 2);
    /* metric: 1 in bucket 1, 2 in bucket 2; span apart (never merged, MS "Metric tables") */
    ck_assert_int_eq(rows[0].bucket_start_us, T0_US);
    ck_assert_int_eq(rows[0].source, SOURCE_METRIC);
    ck_assert_int_eq(rows[0].counts.counts[0], 1);
    ck_assert_int_eq(rows[0].counts.counts[1], 2);
    ck_assert_int_eq(rows[0].count, 3);
    ck_assert_double_eq(rows[0].sum, 0.75);
    ck_assert(rows[0].lossy);
    ck_assert_int_eq(rows[1].source, SOURCE_SPAN);
    ck_assert_int_eq(rows[1].count, 8);
    ck_assert(!rows[1].lossy);
    rollup_hour(5, 0); /* no minutes: no row, and no error */
    commit();
}
END_TEST

/* Sums are added in time order whatever the order of arrival. In doubles, 1e16 + 1 = 1e16, so
 * 1e16, 1, 1 gives 1e16 and 1, 1, 1e16 gives 1e16 + 2. The order is that of minutes, not of size.
 */
START_TEST(rollup_hour__adds_sums_in_time_order)
{
    static const int arrivals[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                       {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    static const double falling[] = {1e16, 1, 1};
    static const double rising[] = {1, 1, 1e16};
    make_partitions(DAY0, DAY0);
    begin(ROLE_JOBS);
    for (int i = 0; i < 3; i++) {
        int at = arrivals[_i][i];
        struct minute_row row = minute_row(T0_US + at * MINUTE, 1, 1, falling[at]);
        row.route = bytes_of("/falling");
        add_minute(row);
        row.route = bytes_of("/rising");
        row.sum = rising[at];
        add_minute(row);
    }
    rollup_hour(0, 2);
    size_t count;
    struct minute_row *rows = rows_of(READ_HOURLY, &count);
    ck_assert_double_eq(rows[0].sum, 1e16);
    ck_assert_double_eq(rows[1].sum, 1e16 + 2);
    commit();
}
END_TEST

START_TEST(rollup_hour__twice_gives_the_same_bits) /* MS, cases C08 */
{
    make_partitions(DAY0, DAY0);
    begin(ROLE_JOBS);
    uint64_t random = 88172645463325252u;
    for (int minute = 0; minute < 60; minute++)
        for (int route = 0; route < 5; route++) {
            random ^= random << 13, random ^= random >> 7, random ^= random << 17;
            static const char *const routes[] = {"/a", "/b", "/c", "/d", "/e"};
            struct minute_row row =
                minute_row(T0_US + (59 - minute) * MINUTE, 1 + route, 1 + (int64_t)(random % 9),
                           (double)(random >> 11) / 3e9);
            row.route = bytes_of(routes[route]);
            add_minute(row);
        }
    rollup_hour(0, 5);
    size_t count[2];
    struct minute_row *first = rows_of(READ_HOURLY, &count[0]);
    rollup_hour(0, 5);
    struct minute_row *second = rows_of(READ_HOURLY, &count[1]);
    ck_assert_uint_eq(count[0], count[1]);
    for (size_t i = 0; i < count[0]; i++) {
        ck_assert_mem_eq(&first[i].sum, &second[i].sum, sizeof(double));
        ck_assert_mem_eq(&first[i].counts, &second[i].counts, sizeof(struct histogram));
        ck_assert_int_eq(first[i].count, second[i].count);
    }
    commit();
}
END_TEST

START_TEST(rollup_day__takes_the_hours_it_is_given) /* */
{
    make_partitions(DAY0 - 1, DAY0 + 1);
    struct uuid tenant = tenant_of(1);
    int64_t changed;
    begin(ROLE_JOBS);
    for (int64_t hour = -1; hour <= 24; hour++) {
        add_minute(minute_row(T0_US + hour * HOUR, 1, 1, 0.5));
        rollup_hour(hour, 1);
    }
    ck_ok(store_rollup_day(store, &tenant, T0_US, T0_US, T0_US + US_PER_DAY, &changed, &err));
    ck_assert_int_eq(changed, 1);
    size_t count;
    struct minute_row *rows = rows_of(READ_DAILY, &count);
    ck_assert_int_eq(rows[0].count, 24);
    ck_assert_double_eq(rows[0].sum, 12);
    ck_assert_int_eq(rows[0].bucket_start_us, T0_US);
    ck_ok(store_delete_daily_rows(store, &tenant, T0_US, &changed, &err));
    ck_assert_int_eq(changed, 1);
    /* a calendar day of another zone: 05:00 to 04:00 of the next day, 23 hours */
    ck_ok(store_rollup_day(store, &tenant, T0_US, T0_US + 2 * HOUR, T0_US + 25 * HOUR, &changed,
                           &err));
    rows = rows_of(READ_DAILY, &count);
    ck_assert_uint_eq(count, 1);
    ck_assert_int_eq(rows[0].count, 23);
    commit();
}
END_TEST

/* ---- drift ---- */

/* Hours that MarkDriftedHours marks, as bits. */
static unsigned drifted(int64_t from_us, int64_t until_us, bool by_buckets)
{
    struct mark_row *rows;
    size_t count;
    ck_ok(store_mark_drifted_hours(store, from_us, until_us, 77, by_buckets, &arena, &rows, &count,
                                   &err));
    unsigned hours = 0;
    for (size_t i = 0; i < count; i++) {
        ck_assert_int_eq(rows[i].marked_at_us, 77);
        hours |= 1u << ((rows[i].hour_us - T0_US) / HOUR);
    }
    return hours;
}

static unsigned drifted_day(bool by_buckets)
{
    return drifted(T0_US, T0_US + US_PER_DAY, by_buckets);
}

START_TEST(drift__none_when_hours_agree)
{
    make_partitions(DAY0, DAY0);
    begin(ROLE_JOBS);
    for (int64_t hour = 0; hour < 5; hour++) {
        add_minute(minute_row(T0_US + hour * HOUR, 1, 3, 0.5));
        add_minute(minute_row(T0_US + hour * HOUR + MINUTE, 9, 4, 0.5));
        rollup_hour(hour, 1);
    }
    ck_assert_uint_eq(drifted_day(true), 0);
    ck_assert_uint_eq(drifted_day(false), 0);
    commit();
}
END_TEST

START_TEST(drift__by_count_and_by_a_missing_hour)
{
    make_partitions(DAY0, DAY0);
    begin(ROLE_JOBS);
    for (int64_t hour = 0; hour < 4; hour++) {
        add_minute(minute_row(T0_US + hour * HOUR, 1, 3, 0.5));
        if (hour != 3)
            rollup_hour(hour, 1);
    }
    add_minute(minute_row(T0_US + HOUR + MINUTE, 1, 1, 0.5)); /* hour 1: 4 against 3 */
    ck_assert_uint_eq(drifted_day(_i != 0), 1u << 1 | 1u << 3);
    ck_assert_uint_eq(drifted_day(_i != 0), 0); /* they are marked now */
    commit();
}
END_TEST

/* S-14: a swap of buckets keeps the count; only the 15 totals show it. */
START_TEST(drift__a_swap_that_keeps_the_count_shows_only_by_buckets)
{
    make_partitions(DAY0, DAY0);
    begin(ROLE_JOBS);
    add_minute(minute_row(T0_US, 1, 3, 0.5));
    rollup_hour(0, 1);
    struct uuid tenant = tenant_of(1);
    int64_t deleted;
    /* the hourly row now is of other minutes with as many requests: 3 in bucket 2 */
    bool done;
    ck_ok(store_drop_partition(store, PARTITION_MINUTE, DAY0, &arena, &done, &err));
    ck_ok(store_create_partition(store, PARTITION_MINUTE, DAY0, &arena, &done, &err));
    add_minute(minute_row(T0_US, 2, 3, 0.5));
    ck_assert_uint_eq(drifted_day(false), 0);
    ck_assert_uint_eq(drifted_day(true), 1);
    ck_ok(store_delete_hourly_rows(store, &tenant, T0_US, &deleted, &err));
    ck_assert_int_eq(deleted, 1);
    commit();
}
END_TEST

/* MS: hours without minute rows are never marked; a purge that keeps aggregates leaves such hours.
 */
START_TEST(drift__never_an_hour_without_minutes)
{
    make_partitions(DAY0, DAY0 + 1);
    begin(ROLE_JOBS);
    add_minute(minute_row(T0_US, 1, 3, 0.5));
    add_minute(minute_row(T0_US + US_PER_DAY, 1, 3, 0.5)); /* the tenant has others */
    rollup_hour(0, 1);
    rollup_hour(24, 1);
    bool done;
    ck_ok(store_drop_partition(store, PARTITION_MINUTE, DAY0, &arena, &done, &err));
    ck_assert_uint_eq(drifted(T0_US, T0_US + 2 * US_PER_DAY, true), 0);
    commit();
}
END_TEST

START_TEST(drift__looks_only_at_hours_that_begin_in_the_window_and_are_not_marked)
{
    make_partitions(DAY0, DAY0);
    begin(ROLE_JOBS);
    for (int64_t hour = 0; hour < 6; hour++)
        add_minute(minute_row(T0_US + hour * HOUR + 30 * MINUTE, 1, 3, 0.5));
    add_mark(mark(1, 3, 5));
    /* hours 2 and 4: hour 3 is marked, 1 begins before the window, 5 at its end */
    ck_assert_uint_eq(drifted(T0_US + HOUR + 1, T0_US + 5 * HOUR, true), 1u << 2 | 1u << 4);
    ck_assert_uint_eq(drifted(T0_US + HOUR, T0_US + HOUR, true), 0);
    ck_assert_uint_eq(drifted(T0_US + 5 * HOUR, T0_US + 5 * HOUR + 1, true), 1u << 5);
    struct mark_row *rows;
    ck_assert_uint_eq(claim(T0_US + 2 * HOUR, 1, 1, &rows), 1);
    ck_assert_int_eq(rows[0].marked_at_us, 5); /* the mark that was there is as it was */
    commit();
}
END_TEST

START_TEST(drift__is_found_for_every_tenant)
{
    make_partitions(DAY0, DAY0);
    begin(ROLE_JOBS);
    for (uint8_t tenant = 1; tenant <= 3; tenant++) {
        struct minute_row row = minute_row(T0_US + tenant * HOUR, 1, 3, 0.5);
        row.tenant = tenant_of(tenant);
        add_minute(row);
    }
    rollup_hour(1, 1); /* tenant 1 agrees */
    struct mark_row *rows;
    size_t count;
    ck_ok(store_mark_drifted_hours(store, T0_US, T0_US + US_PER_DAY, 1, true, &arena, &rows, &count,
                                   &err));
    ck_assert_uint_eq(count, 2);
    struct uuid second = tenant_of(2);
    struct uuid third = tenant_of(3);
    ck_assert_mem_eq(&rows[0].tenant, &second, sizeof second);
    ck_assert_mem_eq(&rows[1].tenant, &third, sizeof third);
    ck_assert_int_eq(rows[0].hour_us, T0_US + 2 * HOUR);
    commit();
}
END_TEST

/* Each row fits a bigint, the hour's total does not: that is no error, and no drift (R-ROLL-2). */
START_TEST(drift__totals_above_int64_are_compared)
{
    make_partitions(DAY0, DAY0);
    begin(ROLE_JOBS);
    struct minute_row row = minute_row(T0_US + HOUR, 1, INT64_MAX, 0.5);
    add_minute(row);
    row.source = SOURCE_SPAN;
    add_minute(row);
    rollup_hour(1, 2);
    struct mark_row *rows;
    size_t count;
    ck_ok(store_mark_drifted_hours(store, T0_US, T0_US + US_PER_DAY, 1, _i == 1, &arena, &rows,
                                   &count, &err));
    ck_assert_uint_eq(count, 0);
    /* two more make the total 2^64, which is 0 in 64 bits */
    add_minute(minute_row(T0_US + HOUR + MINUTE, 1, 2, 0.5));
    ck_ok(store_mark_drifted_hours(store, T0_US, T0_US + US_PER_DAY, 1, _i == 1, &arena, &rows,
                                   &count, &err));
    ck_assert_uint_eq(count, 1);
    ck_assert_int_eq(rows[0].hour_us, T0_US + HOUR);
    commit();
}
END_TEST

/* ---- the session's day (A-10 off) ---- */

static void session_day(int64_t at_us, int64_t from_us, int64_t until_us)
{
    int64_t from;
    int64_t until;
    begin(ROLE_JOBS);
    ck_ok(store_session_day(store, at_us, &arena, &from, &until, &err));
    ck_assert_int_eq(from, from_us);
    ck_assert_int_eq(until, until_us);
    commit();
}

START_TEST(session_day__is_utc_unless_told)
{
    session_day(T0_US, T0_US, T0_US + US_PER_DAY);
    session_day(T0_US + US_PER_DAY - 1, T0_US, T0_US + US_PER_DAY);
    session_day(-1, -US_PER_DAY, 0);
}
END_TEST

/* America/New_York 2026: UTC-5, from 8 March 07:00Z UTC-4, from 1 November 06:00Z UTC-5. */
START_TEST(session_day__is_shorter_and_longer_when_clocks_change)
{
    int64_t march8 = day_of_civil(2026, 3, 8) * US_PER_DAY;
    int64_t november1 = day_of_civil(2026, 11, 1) * US_PER_DAY;
    conformance_backend->session_offset(INT64_MIN / 2, -5 * HOUR);
    conformance_backend->session_offset(march8 + 7 * HOUR, -4 * HOUR);
    conformance_backend->session_offset(november1 + 6 * HOUR, -5 * HOUR);
    /* 23 hours: 05:00Z to 04:00Z */
    session_day(march8 + 5 * HOUR, march8 + 5 * HOUR, march8 + 28 * HOUR);
    session_day(march8 + 28 * HOUR - 1, march8 + 5 * HOUR, march8 + 28 * HOUR);
    session_day(march8 + 28 * HOUR, march8 + 28 * HOUR, march8 + 52 * HOUR);
    session_day(march8 + 5 * HOUR - 1, march8 - 19 * HOUR, march8 + 5 * HOUR);
    /* 25 hours: 04:00Z to 05:00Z */
    session_day(november1 + 10 * HOUR, november1 + 4 * HOUR, november1 + 29 * HOUR);
}
END_TEST

/* America/Sao_Paulo, 4 November 2018: 00:00 at UTC-3 becomes 01:00 at UTC-2, so there is no
 * midnight. PostgreSQL reads it with the offset before: 03:00Z. */
START_TEST(session_day__begins_at_a_midnight_that_is_skipped)
{
    int64_t day = day_of_civil(2018, 11, 4) * US_PER_DAY;
    conformance_backend->session_offset(INT64_MIN / 2, -3 * HOUR);
    conformance_backend->session_offset(day + 3 * HOUR, -2 * HOUR);
    session_day(day + 12 * HOUR, day + 3 * HOUR, day + 26 * HOUR);
    session_day(day, day - 21 * HOUR, day + 3 * HOUR);
}
END_TEST

/* America/Havana, 4 November 2018: 01:00 at UTC-4 becomes 00:00 at UTC-5, so midnight comes twice.
 * PostgreSQL takes the later one: 05:00Z. */
START_TEST(session_day__begins_at_the_later_of_two_midnights)
{
    int64_t day = day_of_civil(2018, 11, 4) * US_PER_DAY;
    conformance_backend->session_offset(INT64_MIN / 2, -4 * HOUR);
    conformance_backend->session_offset(day + 5 * HOUR, -5 * HOUR);
    session_day(day + 12 * HOUR, day + 5 * HOUR, day + 29 * HOUR);
    session_day(day, day - 20 * HOUR, day + 5 * HOUR);
}
END_TEST

/* Asia/Kolkata, UTC+5:30: the day of 00:00Z began at 18:30Z. */
START_TEST(session_day__east_of_greenwich_began_yesterday)
{
    conformance_backend->session_offset(INT64_MIN / 2, 330 * MINUTE);
    session_day(T0_US, T0_US - 330 * MINUTE, T0_US + US_PER_DAY - 330 * MINUTE);
    session_day(T0_US - 330 * MINUTE - 1, T0_US - US_PER_DAY - 330 * MINUTE, T0_US - 330 * MINUTE);
}
END_TEST

void conformance_rollup(TCase *test)
{
    tcase_add_test(test, claim__walks_the_marks_once_in_order);
    tcase_add_test(test, claim__takes_no_more_than_the_limit);
    tcase_add_test(test, claim_marked_hours__takes_only_those_named);
    tcase_add_test(test, restore_rollup_mark__leaves_a_newer_mark_alone);
    tcase_add_test(test, locks__are_free_for_a_session_alone);
    tcase_add_test(test, rollup_hour__takes_the_minutes_of_the_hour);
    tcase_add_loop_test(test, rollup_hour__adds_sums_in_time_order, 0, 6);
    tcase_add_test(test, rollup_hour__twice_gives_the_same_bits);
    tcase_add_test(test, rollup_day__takes_the_hours_it_is_given);
    tcase_add_test(test, drift__none_when_hours_agree);
    tcase_add_loop_test(test, drift__by_count_and_by_a_missing_hour, 0, 2);
    tcase_add_test(test, drift__a_swap_that_keeps_the_count_shows_only_by_buckets);
    tcase_add_test(test, drift__never_an_hour_without_minutes);
    tcase_add_test(test, drift__looks_only_at_hours_that_begin_in_the_window_and_are_not_marked);
    tcase_add_test(test, drift__is_found_for_every_tenant);
    tcase_add_loop_test(test, drift__totals_above_int64_are_compared, 0, 2);
    tcase_add_test(test, session_day__is_utc_unless_told);
    tcase_add_test(test, session_day__is_shorter_and_longer_when_clocks_change);
    tcase_add_test(test, session_day__begins_at_a_midnight_that_is_skipped);
    tcase_add_test(test, session_day__begins_at_the_later_of_two_midnights);
    tcase_add_test(test, session_day__east_of_greenwich_began_yesterday);
}

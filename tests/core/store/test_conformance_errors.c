/* Errors: their SQLSTATE, and what they leave behind. */
#include "tests/core/store/conformance.h"
#include <float.h>
#include <math.h>
#include <string.h>

static size_t minutes(void)
{
    size_t count;
    rows_of(READ_MINUTE, &count);
    return count;
}

/* ---- transactions ---- */

START_TEST(transaction__rollback_undoes_everything)
{
    make_partitions(DAY0, DAY0);
    begin(ROLE_METRICS_WRITER);
    add_minute(minute_row(T0_US, 1, 1, 1));
    commit();
    begin(ROLE_METRICS_WRITER);
    add_minute(minute_row(T0_US, 1, 5, 5));
    add_minute(minute_row(T0_US + MINUTE, 1, 1, 1));
    struct mark_row mark = {.tenant = tenant_of(1), .hour_us = T0_US};
    ck_ok(store_mark_rollup_pending(store, &mark, 1, &err));
    store_rollback(store);
    begin(ROLE_READER);
    size_t count;
    struct minute_row *rows = rows_of(READ_MINUTE, &count);
    ck_assert_uint_eq(count, 1);
    ck_assert_int_eq(rows[0].count, 1);
    struct value *values;
    ck_ok(store_dump(store, QUERY_DUMP_ROLLUP_PENDING, &arena, &values, &count, &err));
    ck_assert_uint_eq(count, 0);
    commit();
}
END_TEST

/* PostgreSQL: after an error only Rollback is heard, and all of the transaction is undone. */
START_TEST(transaction__after_an_error_everything_but_rollback_is_25P02)
{
    make_partitions(DAY0, DAY0);
    begin(ROLE_METRICS_WRITER);
    add_minute(minute_row(T0_US, 1, 1, 1));
    struct minute_row outside = minute_row(T0_US + 9 * US_PER_DAY, 1, 1, 1);
    ck_sqlstate(store_add_minutes(store, &outside, 1, &err), "23514");
    struct minute_row good = minute_row(T0_US, 1, 1, 1);
    ck_sqlstate(store_add_minutes(store, &good, 1, &err), "25P02");
    int64_t *days;
    size_t count;
    ck_sqlstate(store_list_partitions(store, PARTITION_MINUTE, &arena, &days, &count, &err),
                "25P02");
    bool granted;
    struct hour_lock lock = {1, tenant_of(1), T0_US};
    ck_sqlstate(store_try_lock_rollup_hour(store, &lock, &arena, &granted, &err), "25P02");
    ck_sqlstate(store_commit(store, &err), "25P02");
    ck_sqlstate(store_begin(store, ROLE_JOBS, &err), "25P02");
    store_rollback(store);
    begin(ROLE_READER);
    ck_assert_uint_eq(minutes(), 0);
    commit();
    store_rollback(store); /* without a transaction: nothing happens */
}
END_TEST

START_TEST(transaction__is_needed_and_comes_once)
{
    int64_t *days;
    size_t count;
    ck_sqlstate(store_list_partitions(store, PARTITION_MINUTE, &arena, &days, &count, &err),
                "25P01");
    ck_sqlstate(store_commit(store, &err), "25P01");
    begin(ROLE_JOBS);
    ck_sqlstate(store_begin(store, ROLE_JOBS, &err), "25001");
    store_rollback(store);
    begin(ROLE_JOBS);
    commit();
}
END_TEST

/* A row that fails in the middle of an array takes the ones before it along. */
START_TEST(transaction__a_failing_row_undoes_the_rows_before_it)
{
    make_partitions(DAY0, DAY0);
    struct minute_row rows[3 * LIMIT_CALL_ROWS];
    size_t n = sizeof rows / sizeof rows[0];
    for (size_t i = 0; i < n; i++)
        rows[i] = minute_row(T0_US + (int64_t)i * MINUTE, 1, 1, 1);
    rows[n - 2].count = 2; /* not the sum of the buckets */
    begin(ROLE_METRICS_WRITER);
    ck_sqlstate(store_add_minutes(store, rows, n, &err), "23514");
    store_rollback(store);
    begin(ROLE_READER);
    ck_assert_uint_eq(minutes(), 0);
    commit();
}
END_TEST

/* ---- overflow, R-TX-4 ---- */

/* What is stored, what is added; each must give 22003 and leave the row as it was. */
static const struct {
    int bucket[2];
    int64_t n[2];
    double sum[2];
} overflows[] = {
    {{1, 1}, {INT64_MAX, 1}, {1, 1}}, /* a bucket */
    {{1, 2}, {INT64_MAX, 1}, {1, 1}}, /* the count, no bucket */
    {{1, 2}, {INT64_MAX - 1, 2}, {1, 1}},       {{1, 1}, {1, 1}, {DBL_MAX, DBL_MAX}}, /* the sum */
    {{15, 15}, {INT64_MAX, INT64_MAX}, {0, 0}},
};

START_TEST(add_minute__overflow_leaves_the_row_as_it_was)
{
    make_partitions(DAY0, DAY0);
    begin(ROLE_METRICS_WRITER);
    add_minute(
        minute_row(T0_US, overflows[_i].bucket[0], overflows[_i].n[0], overflows[_i].sum[0]));
    commit();
    begin(ROLE_METRICS_WRITER);
    struct minute_row more =
        minute_row(T0_US, overflows[_i].bucket[1], overflows[_i].n[1], overflows[_i].sum[1]);
    ck_sqlstate(store_add_minutes(store, &more, 1, &err), "22003");
    store_rollback(store);
    begin(ROLE_READER);
    size_t count;
    struct minute_row *rows = rows_of(READ_MINUTE, &count);
    ck_assert_uint_eq(count, 1);
    ck_assert_int_eq(rows[0].count, overflows[_i].n[0]);
    ck_assert_int_eq(rows[0].counts.counts[overflows[_i].bucket[0] - 1], overflows[_i].n[0]);
    ck_assert_double_eq(rows[0].sum, overflows[_i].sum[0]);
    commit();
}
END_TEST

START_TEST(add_minute__adds_up_to_the_limit)
{
    make_partitions(DAY0, DAY0);
    begin(ROLE_METRICS_WRITER);
    add_minute(minute_row(T0_US, 1, INT64_MAX - 1, 1));
    add_minute(minute_row(T0_US, 2, 1, 1));
    size_t count;
    ck_assert_int_eq(rows_of(READ_MINUTE, &count)[0].count, INT64_MAX);
    commit();
}
END_TEST

START_TEST(rollup_hour__overflow_is_22003) /* _i: in a bucket, in the count, in the sum */
{
    struct uuid tenant = tenant_of(1);
    int64_t changed;
    make_partitions(DAY0, DAY0);
    begin(ROLE_JOBS);
    add_minute(minute_row(T0_US, 1, _i == 2 ? 1 : INT64_MAX, _i == 2 ? DBL_MAX : 1));
    add_minute(minute_row(T0_US + MINUTE, _i == 1 ? 2 : 1, 1, _i == 2 ? DBL_MAX : 1));
    commit();
    begin(ROLE_JOBS);
    ck_sqlstate(store_rollup_hour(store, &tenant, T0_US, &changed, &err), "22003");
    store_rollback(store);
}
END_TEST

START_TEST(warnings__overflow_is_22003)
{
    struct uuid tenant = tenant_of(1);
    struct warning_row rows[] = {
        {tenant, DAY0, WARNING_CARDINALITY_OVERFLOW, INT64_MAX},
        {tenant, DAY0 + 1, WARNING_CARDINALITY_OVERFLOW, 1},
    };
    int64_t count;
    begin(ROLE_METRICS_WRITER);
    ck_ok(store_add_ingest_warnings(store, rows, 2, &err));
    commit();
    begin(ROLE_METRICS_WRITER);
    ck_sqlstate(store_get_cap_warnings(store, &tenant, DAY0, DAY0 + 1, &arena, &count, &err),
                "22003");
    store_rollback(store);
    begin(ROLE_METRICS_WRITER);
    rows[0].count = 1;
    ck_sqlstate(store_add_ingest_warnings(store, rows, 1, &err), "22003");
    store_rollback(store);
}
END_TEST

/* ---- values that PostgreSQL refuses ---- */

static const struct {
    const char *bytes;
    size_t size;
} bad_texts[] = {
    {"/a\0b", 4}, /* NUL */
    {"\x80", 1},  /* no lead byte */
    {"\xC3", 1},  /* cut off */
    {"/abcdefg\xE2\x82", 10},
    {"\xC0\xAF", 2}, /* overlong */
    {"\xE0\x80\x80", 3},
    {"\xED\xA0\x80", 3},     /* a surrogate */
    {"\xF4\x90\x80\x80", 4}, /* above U+10FFFF */
    {"\xFF\xFE", 2},
    {"abcdefgh\0abcdefg", 16},
};

START_TEST(text__that_is_not_utf8_is_22021) /* cases B11 */
{
    make_partitions(DAY0, DAY0);
    struct minute_row row = minute_row(T0_US, 1, 1, 1);
    row.route = (struct bytes){(const uint8_t *)bad_texts[_i].bytes, bad_texts[_i].size};
    begin(ROLE_METRICS_WRITER);
    ck_sqlstate(store_add_minutes(store, &row, 1, &err), "22021");
    ck_sqlstate(store_commit(store, &err), "25P02");
    store_rollback(store);
    begin(ROLE_READER);
    ck_assert_uint_eq(minutes(), 0);
    commit();
}
END_TEST

START_TEST(double__that_is_not_finite_is_22003)
{
    static const double bad[] = {NAN, INFINITY, -INFINITY};
    make_partitions(DAY0, DAY0);
    struct minute_row row = minute_row(T0_US, 1, 1, bad[_i]);
    begin(ROLE_METRICS_WRITER);
    ck_sqlstate(store_add_minutes(store, &row, 1, &err), "22003");
    store_rollback(store);
    struct series_state_write state = {.tenant = tenant_of(1), .state = {.last_sum = bad[_i]}};
    size_t written;
    begin(ROLE_METRICS_WRITER);
    ck_sqlstate(store_upsert_series_states(store, &state, 1, &written, &err), "22003");
    store_rollback(store);
}
END_TEST

/* MS "Metric tables": the checked columns. 43 x 3 bytes = 129 bytes of 43 characters: bytes count.
 */
#define EURO10                                                                                     \
    "\xE2\x82\xAC\xE2\x82\xAC\xE2\x82\xAC\xE2\x82\xAC\xE2\x82\xAC\xE2\x82\xAC\xE2\x82\xAC\xE2\x82" \
    "\xAC\xE2\x82\xAC\xE2\x82\xAC"
#define EURO3 "\xE2\x82\xAC\xE2\x82\xAC\xE2\x82\xAC"

static struct minute_row broken_row(int which)
{
    static char text[1100];
    memset(text, 'x', sizeof text);
    struct minute_row row = minute_row(T0_US, 1, 1, 1);
    switch (which) {
    case 0:
        row.bucket_start_us += 1;
        break;
    case 1:
        row.bucket_start_us += US_PER_S * 59;
        break;
    case 2:
        row.service = (struct bytes){(const uint8_t *)text, 129};
        break;
    case 3:
        row.service = bytes_of(EURO10 EURO10 EURO10 EURO10 EURO3);
        break;
    case 4:
        row.method = (struct bytes){(const uint8_t *)text, 17};
        break;
    case 5:
        row.route = (struct bytes){(const uint8_t *)text, 1025};
        break;
    case 6:
        row.status_code = 99;
        break;
    case 7:
        row.status_code = 600;
        break;
    case 8:
        row.status_code = -1;
        break;
    case 9:
        row.count = 2; /* not the sum of the buckets */
        break;
    case 10:
        row.counts.counts[4] = -1;
        row.count = 0;
        break;
    default:
        row.count = row.counts.counts[0] = -1;
        break;
    }
    return row;
}

START_TEST(add_minute__breaks_a_check)
{
    make_partitions(DAY0, DAY0);
    struct minute_row row = broken_row(_i);
    begin(ROLE_METRICS_WRITER);
    ck_sqlstate(store_add_minutes(store, &row, 1, &err), "23514");
    store_rollback(store);
}
END_TEST

START_TEST(add_minute__takes_values_at_their_limits)
{
    static char text[1024];
    memset(text, 'x', sizeof text);
    make_partitions(DAY0, DAY0);
    struct minute_row row = minute_row(T0_US, 1, 0, 0); /* an empty histogram is a histogram */
    row.service = (struct bytes){(const uint8_t *)text, 128};
    row.method = (struct bytes){(const uint8_t *)text, 16};
    row.route = (struct bytes){(const uint8_t *)text, 1024};
    begin(ROLE_METRICS_WRITER);
    static const int16_t codes[] = {0, 100, 599};
    for (int i = 0; i < 3; i++) {
        row.status_code = codes[i];
        add_minute(row);
    }
    ck_assert_uint_eq(minutes(), 3);
    commit();
}
END_TEST

START_TEST(message_id__of_no_or_too_many_bytes_is_refused)
{
    static char text[257];
    memset(text, 'x', sizeof text);
    static const size_t sizes[] = {0, 257};
    struct ingest_message_row row = {{(const uint8_t *)text, sizes[_i]}, tenant_of(1), T0_US};
    uint8_t inserted;
    begin(ROLE_METRICS_WRITER);
    ck_sqlstate(store_record_ingest_messages(store, &row, 1, &inserted, &err), "23514");
    store_rollback(store);
    row.msg_id.size = sizes[_i] ? 256 : 1;
    begin(ROLE_METRICS_WRITER);
    ck_ok(store_record_ingest_messages(store, &row, 1, &inserted, &err));
    ck_assert_int_eq(inserted, 1);
    commit();
}
END_TEST

/* S-10: what two runners without the day lock would run into. */
START_TEST(rollup__inserting_over_a_row_is_23505)
{
    struct uuid tenant = tenant_of(1);
    int64_t changed;
    make_partitions(DAY0, DAY0);
    begin(ROLE_JOBS);
    add_minute(minute_row(T0_US, 1, 1, 1));
    ck_ok(store_rollup_hour(store, &tenant, T0_US, &changed, &err));
    ck_ok(store_rollup_day(store, &tenant, T0_US, T0_US, T0_US + US_PER_DAY, &changed, &err));
    commit();
    begin(ROLE_JOBS);
    ck_sqlstate(store_rollup_hour(store, &tenant, T0_US, &changed, &err), "23505");
    store_rollback(store);
    begin(ROLE_JOBS);
    ck_sqlstate(store_rollup_day(store, &tenant, T0_US, T0_US, T0_US + US_PER_DAY, &changed, &err),
                "23505");
    store_rollback(store);
}
END_TEST

START_TEST(call__says_what_it_changed)
{
    make_partitions(DAY0, DAY0);
    struct uuid tenant = tenant_of(1);
    struct value params[] = {
        {.bytes = bytes_of("c1-1")}, {.bytes = {tenant.bytes, 16}}, {.integer = T0_US},
        {.bytes = bytes_of("c1-2")}, {.bytes = {tenant.bytes, 16}}, {.integer = T0_US},
        {.bytes = bytes_of("c1-1")}, {.bytes = {tenant.bytes, 16}}, {.integer = T0_US},
    };
    uint8_t changed[3];
    struct store_call call = {.query = QUERY_RECORD_INGEST_MESSAGE,
                              .params = params,
                              .row_count = 3,
                              .row_affected = changed};
    begin(ROLE_METRICS_WRITER);
    ck_ok(store->call(store, &call, &err));
    ck_assert_int_eq(call.affected, 2);
    ck_assert_int_eq(changed[0], 1);
    ck_assert_int_eq(changed[1], 1);
    ck_assert_int_eq(changed[2], 0);
    /* reads, locks and DDL change nothing that is counted */
    struct value day = {.integer = DAY0 + 1};
    call = (struct store_call){.query = QUERY_CREATE_MINUTE_PARTITION,
                               .params = &day,
                               .row_count = 1,
                               .arena = &arena,
                               .affected = 99};
    ck_ok(store->call(store, &call, &err));
    ck_assert_int_eq(call.affected, 0);
    ck_assert_uint_eq(call.result_rows, 1);
    commit();
}
END_TEST

void conformance_errors(TCase *test)
{
    tcase_add_test(test, transaction__rollback_undoes_everything);
    tcase_add_test(test, transaction__after_an_error_everything_but_rollback_is_25P02);
    tcase_add_test(test, transaction__is_needed_and_comes_once);
    tcase_add_test(test, transaction__a_failing_row_undoes_the_rows_before_it);
    tcase_add_loop_test(test, add_minute__overflow_leaves_the_row_as_it_was, 0,
                        sizeof overflows / sizeof overflows[0]);
    tcase_add_test(test, add_minute__adds_up_to_the_limit);
    tcase_add_loop_test(test, rollup_hour__overflow_is_22003, 0, 3);
    tcase_add_test(test, warnings__overflow_is_22003);
    tcase_add_loop_test(test, text__that_is_not_utf8_is_22021, 0,
                        sizeof bad_texts / sizeof bad_texts[0]);
    tcase_add_loop_test(test, double__that_is_not_finite_is_22003, 0, 3);
    tcase_add_loop_test(test, add_minute__breaks_a_check, 0, 12);
    tcase_add_test(test, add_minute__takes_values_at_their_limits);
    tcase_add_loop_test(test, message_id__of_no_or_too_many_bytes_is_refused, 0, 2);
    tcase_add_test(test, rollup__inserting_over_a_row_is_23505);
    tcase_add_test(test, call__says_what_it_changed);
}

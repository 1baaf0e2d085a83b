/* The writer's queries: dedup, tenants, minutes, marks, warnings, routes. */
#include "tests/core/store/conformance.h"
#include <string.h>

START_TEST(record_ingest_message__second_time_is_not_inserted)
{
    struct ingest_message_row rows[] = {
        {bytes_of("c1-1"), tenant_of(1), T0_US},
        {bytes_of("c1-2"), tenant_of(1), T0_US},
    };
    uint8_t inserted[3] = {9, 9, 9};
    begin(ROLE_METRICS_WRITER);
    ck_ok(store_record_ingest_messages(store, rows, 1, inserted, &err));
    ck_assert_int_eq(inserted[0], 1);
    ck_ok(store_record_ingest_messages(store, rows, 2, inserted, &err));
    ck_assert_int_eq(inserted[0], 0);
    ck_assert_int_eq(inserted[1], 1);
    ck_assert_int_eq(inserted[2], 9); /* nothing is written behind the last row */
    commit();
    begin(ROLE_METRICS_WRITER);
    ck_ok(store_record_ingest_messages(store, rows, 2, inserted, &err));
    ck_assert_int_eq(inserted[0] + inserted[1], 0);
    commit();
}
END_TEST

START_TEST(add_minute__adds_counts_sum_count_and_lossy)
{
    make_partitions(DAY0, DAY0);
    begin(ROLE_METRICS_WRITER);
    add_minute(minute_row(T0_US, 3, 4, 0.25));
    struct minute_row more = minute_row(T0_US, 15, 2, 24.5);
    more.lossy = true;
    add_minute(more);
    commit();
    begin(ROLE_READER);
    size_t count;
    struct minute_row *rows = rows_of(READ_MINUTE, &count);
    ck_assert_uint_eq(count, 1);
    /* 4 in bucket 3 and 2 in bucket 15, 0.25 + 24.5 s */
    ck_assert_int_eq(rows[0].counts.counts[2], 4);
    ck_assert_int_eq(rows[0].counts.counts[14], 2);
    ck_assert_int_eq(rows[0].count, 6);
    ck_assert_double_eq(rows[0].sum, 24.75);
    ck_assert(rows[0].lossy);
    ck_assert(bytes_equal(rows[0].service, bytes_of("shop")));
    ck_assert_int_eq(rows[0].status_code, 200);
    ck_assert_int_eq(rows[0].source, SOURCE_METRIC);
    commit();
}
END_TEST

void conformance_writer(TCase *test)
{
    tcase_add_test(test, record_ingest_message__second_time_is_not_inserted);
    tcase_add_test(test, add_minute__adds_counts_sum_count_and_lossy);
}
void conformance_state(TCase *test)
{
    (void)test;
}
void conformance_rollup(TCase *test)
{
    (void)test;
}
void conformance_partitions(TCase *test)
{
    (void)test;
}
void conformance_errors(TCase *test)
{
    (void)test;
}

/* The writer's queries: dedup, tenants, minutes, marks, warnings, routes. */
#include "tests/core/store/conformance.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- messages and tenants ---- */

START_TEST(record_ingest_message__second_time_is_not_inserted) /* MS RecordIngestMessage */
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

/* More rows than one call takes: every row has its own answer, in order. */
START_TEST(record_ingest_message__many_rows_answer_each)
{
    enum { N = 3 * LIMIT_CALL_ROWS + 5 };
    static char ids[N][16];
    static struct ingest_message_row rows[N];
    uint8_t inserted[N];
    for (int i = 0; i < N; i++) {
        snprintf(ids[i], sizeof ids[i], "c1-%06d", i);
        rows[i] = (struct ingest_message_row){bytes_of(ids[i]), tenant_of(1), T0_US};
    }
    begin(ROLE_METRICS_WRITER);
    for (int i = 0; i < N; i += 3)
        ck_ok(store_record_ingest_messages(store, &rows[i], 1, &inserted[i], &err));
    ck_ok(store_record_ingest_messages(store, rows, N, inserted, &err));
    for (int i = 0; i < N; i++)
        ck_assert_int_eq(inserted[i], i % 3 != 0);
    commit();
}
END_TEST

START_TEST(get_ingest_message_tenant__finds_whose_it_was) /* S-7 */
{
    struct ingest_message_row row = {bytes_of("c1-1"), tenant_of(7), T0_US};
    uint8_t inserted;
    bool found;
    struct uuid tenant;
    begin(ROLE_METRICS_WRITER);
    ck_ok(store_record_ingest_messages(store, &row, 1, &inserted, &err));
    ck_ok(store_get_ingest_message_tenant(store, bytes_of("c1-1"), &arena, &found, &tenant, &err));
    struct uuid wanted = tenant_of(7);
    ck_assert(found);
    ck_assert_mem_eq(&tenant, &wanted, sizeof tenant);
    ck_ok(store_get_ingest_message_tenant(store, bytes_of("c1-2"), &arena, &found, &tenant, &err));
    ck_assert(!found);
    commit();
}
END_TEST

START_TEST(lock_tenant__tells_whether_it_is_removed) /* R-TX-7 */
{
    struct uuid tenant = tenant_of(1);
    bool removed;
    begin(ROLE_CP_SYSTEM);
    ck_ok(store_lock_tenant(store, &tenant, 42, &arena, &removed, &err));
    ck_assert(!removed); /* not known is not removed */
    ck_ok(store_set_tenant(store, &tenant, "active", &err));
    ck_ok(store_lock_tenant(store, &tenant, 42, &arena, &removed, &err));
    ck_assert(!removed);
    ck_ok(store_set_tenant(store, &tenant, "removed", &err));
    ck_ok(store_lock_tenant(store, &tenant, 42, &arena, &removed, &err));
    ck_assert(removed);
    ck_ok(store_set_tenant(store, &tenant, "active", &err));
    ck_ok(store_lock_tenant(store, &tenant, 42, &arena, &removed, &err));
    ck_assert(!removed);
    commit();
}
END_TEST

/* ---- minutes ---- */

START_TEST(add_minute__adds_counts_sum_count_and_lossy) /* MS AddMinute */
{
    make_partitions(DAY0, DAY0);
    begin(ROLE_METRICS_WRITER);
    add_minute(minute_row(T0_US, 3, 4, 0.25));
    struct minute_row more = minute_row(T0_US, 15, 2, 24.5);
    more.lossy = true;
    add_minute(more);
    add_minute(minute_row(T0_US, 3, 1, 0)); /* an exact one leaves lossy set */
    commit();
    begin(ROLE_READER);
    size_t count;
    struct minute_row *rows = rows_of(READ_MINUTE, &count);
    ck_assert_uint_eq(count, 1);
    /* 4 + 1 in bucket 3, 2 in bucket 15; 0.25 + 24.5 + 0 s */
    ck_assert_int_eq(rows[0].counts.counts[2], 5);
    ck_assert_int_eq(rows[0].counts.counts[14], 2);
    ck_assert_int_eq(rows[0].counts.counts[0], 0);
    ck_assert_int_eq(rows[0].count, 7);
    ck_assert_double_eq(rows[0].sum, 24.75);
    ck_assert(rows[0].lossy);
    commit();
}
END_TEST

/* MS: the primary key has seven columns; a change in any of them is another row. */
START_TEST(add_minute__each_key_column_tells_rows_apart)
{
    make_partitions(DAY0, DAY0);
    struct minute_row rows[8];
    for (int i = 0; i < 8; i++)
        rows[i] = minute_row(T0_US, 1, 1, 0.5);
    rows[1].source = SOURCE_SPAN;
    rows[2].status_code = 404;
    rows[3].route = bytes_of("/cart");
    rows[4].method = bytes_of("POST");
    rows[5].service = bytes_of("shoq");
    rows[6].bucket_start_us += MINUTE;
    rows[7].tenant = tenant_of(2);
    begin(ROLE_METRICS_WRITER);
    ck_ok(store_add_minutes(store, rows, 8, &err));
    size_t count;
    struct minute_row *found = rows_of(READ_MINUTE, &count);
    ck_assert_uint_eq(count, 7); /* the eighth is tenant 2's */
    for (size_t i = 0; i < count; i++) {
        ck_assert_int_eq(found[i].count, 1);
        ck_assert_int_eq(found[i].source, rows[i].source);
        ck_assert_int_eq(found[i].status_code, rows[i].status_code);
        ck_assert(bytes_equal(found[i].route, rows[i].route));
        ck_assert(bytes_equal(found[i].method, rows[i].method));
        ck_assert(bytes_equal(found[i].service, rows[i].service));
        ck_assert_int_eq(found[i].bucket_start_us, rows[i].bucket_start_us);
        ck_assert_mem_eq(&found[i].tenant, &rows[i].tenant, sizeof rows[i].tenant);
    }
    commit();
}
END_TEST

/* Absent attributes are '' and 0; text keeps every byte that PostgreSQL stores. */
START_TEST(add_minute__text_comes_back_byte_for_byte)
{
    static const char *const routes[] = {
        "", "\x01", "/\xC3\xA9", "/\xE2\x82\xAC", "/\xF0\x9F\x9A\x80", "\xF4\x8F\xBF\xBF"};
    make_partitions(DAY0, DAY0);
    begin(ROLE_METRICS_WRITER);
    for (size_t i = 0; i < sizeof routes / sizeof routes[0]; i++) {
        struct minute_row row = minute_row(T0_US, 1, 1, 0);
        row.service = row.method = bytes_of("");
        row.status_code = 0;
        row.route = bytes_of(routes[i]);
        add_minute(row);
    }
    size_t count;
    struct minute_row *found = rows_of(READ_MINUTE, &count);
    ck_assert_uint_eq(count, sizeof routes / sizeof routes[0]);
    for (size_t i = 0; i < count; i++) { /* the list above is in bytewise order */
        ck_assert(bytes_equal(found[i].route, bytes_of(routes[i])));
        ck_assert_uint_eq(found[i].service.size, 0);
    }
    commit();
}
END_TEST

/* Doubles keep their bits; minus zero is zero on every backend. */
START_TEST(add_minute__sum_keeps_its_bits)
{
    static const double sums[] = {0.1, 5e-324,   1.7976931348623157e308, 9007199254740993.0,
                                  3.0, 1.0 / 3.0};
    make_partitions(DAY0, DAY0);
    begin(ROLE_METRICS_WRITER);
    for (int i = 0; i < 6; i++)
        add_minute(minute_row(T0_US + i * MINUTE, 1, 1, sums[i]));
    add_minute(minute_row(T0_US + 6 * MINUTE, 1, 1, -0.0));
    size_t count;
    struct minute_row *found = rows_of(READ_MINUTE, &count);
    ck_assert_uint_eq(count, 7);
    for (int i = 0; i < 6; i++)
        ck_assert_mem_eq(&found[i].sum, &sums[i], sizeof sums[i]);
    ck_assert(!signbit(found[6].sum));
    commit();
}
END_TEST

START_TEST(mark_rollup_pending__keeps_the_first_mark) /* MS MarkRollupPending */
{
    struct mark_row marks[] = {
        {.tenant = tenant_of(1), .hour_us = T0_US, .marked_at_us = 1},
        {.tenant = tenant_of(1), .hour_us = T0_US + HOUR, .marked_at_us = 2},
    };
    begin(ROLE_METRICS_WRITER);
    ck_ok(store_mark_rollup_pending(store, marks, 1, &err));
    marks[0].marked_at_us = 3;
    ck_ok(store_mark_rollup_pending(store, marks, 2, &err));
    struct value *values;
    size_t count;
    ck_ok(store_dump(store, QUERY_DUMP_ROLLUP_PENDING, &arena, &values, &count, &err));
    ck_assert_uint_eq(count, 2);
    ck_assert_int_eq(values[2].integer, 1);
    ck_assert_int_eq(values[3 + 1].integer, T0_US + HOUR);
    ck_assert_int_eq(values[3 + 2].integer, 2);
    commit();
}
END_TEST

/* ---- caps ---- */

START_TEST(cap_warnings__sum_the_overflow_of_the_days_given) /* S-5 */
{
    struct uuid tenant = tenant_of(1);
    struct warning_row rows[] = {
        {tenant, DAY0 - 2, WARNING_CARDINALITY_OVERFLOW, 1000},
        {tenant, DAY0 - 1, WARNING_CARDINALITY_OVERFLOW, 5},
        {tenant, DAY0, WARNING_CARDINALITY_OVERFLOW, 7},
        {tenant, DAY0, WARNING_COARSE_BUCKETS, 100},
        {tenant, DAY0 + 1, WARNING_CARDINALITY_OVERFLOW, 10000},
        {tenant_of(2), DAY0, WARNING_CARDINALITY_OVERFLOW, 50},
    };
    int64_t count;
    begin(ROLE_METRICS_WRITER);
    ck_ok(store_get_cap_warnings(store, &tenant, DAY0 - 1, DAY0, &arena, &count, &err));
    ck_assert_int_eq(count, 0);
    ck_ok(store_add_ingest_warnings(store, rows, 6, &err));
    ck_ok(store_add_ingest_warnings(store, &rows[2], 1, &err));
    ck_ok(store_get_cap_warnings(store, &tenant, DAY0 - 1, DAY0, &arena, &count, &err));
    ck_assert_int_eq(count, 5 + 7 + 7);
    commit();
}
END_TEST

START_TEST(routes__are_listed_once_in_order_per_tenant_and_day) /* MS ListRoutes, RegisterRoute */
{
    struct uuid tenant = tenant_of(1);
    struct route_registry_row rows[] = {
        {tenant, DAY0, bytes_of("a"), bytes_of("/x"), 1},
        {tenant, DAY0, bytes_of("a"), bytes_of("/\xC3\xA9"), 1},
        {tenant, DAY0, bytes_of("ab"), bytes_of(""), 1},
        {tenant, DAY0 + 1, bytes_of("a"), bytes_of("/other-day"), 1},
        {tenant_of(2), DAY0, bytes_of("a"), bytes_of("/other-tenant"), 1},
    };
    struct route_row *found;
    size_t count;
    begin(ROLE_METRICS_WRITER);
    ck_ok(store_list_routes(store, &tenant, DAY0, &arena, &found, &count, &err));
    ck_assert_uint_eq(count, 0);
    ck_ok(store_register_routes(store, &rows[2], 1, &err));
    ck_ok(store_register_routes(store, rows, 5, &err));
    ck_ok(store_list_routes(store, &tenant, DAY0, &arena, &found, &count, &err));
    ck_assert_uint_eq(count, 3);
    for (size_t i = 0; i < count; i++) {
        ck_assert(bytes_equal(found[i].service, rows[i].service));
        ck_assert(bytes_equal(found[i].route, rows[i].route));
    }
    commit();
}
END_TEST

void conformance_writer(TCase *test)
{
    tcase_add_test(test, record_ingest_message__second_time_is_not_inserted);
    tcase_add_test(test, record_ingest_message__many_rows_answer_each);
    tcase_add_test(test, get_ingest_message_tenant__finds_whose_it_was);
    tcase_add_test(test, lock_tenant__tells_whether_it_is_removed);
    tcase_add_test(test, add_minute__adds_counts_sum_count_and_lossy);
    tcase_add_test(test, add_minute__each_key_column_tells_rows_apart);
    tcase_add_test(test, add_minute__text_comes_back_byte_for_byte);
    tcase_add_test(test, add_minute__sum_keeps_its_bits);
    tcase_add_test(test, mark_rollup_pending__keeps_the_first_mark);
    tcase_add_test(test, cap_warnings__sum_the_overflow_of_the_days_given);
    tcase_add_test(test, routes__are_listed_once_in_order_per_tenant_and_day);
}

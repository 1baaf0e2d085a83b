/* Partitions, retention, purge. */
#include "tests/core/store/conformance.h"
#include <stdio.h>

static bool create(enum partition_table table, int64_t day)
{
    bool done;
    ck_ok(store_create_partition(store, table, day, &arena, &done, &err));
    return done;
}

static bool drop(enum partition_table table, int64_t day)
{
    bool done;
    ck_ok(store_drop_partition(store, table, day, &arena, &done, &err));
    return done;
}

static size_t rows_in(enum query_id dump)
{
    struct value *values;
    size_t count;
    ck_ok(store_dump(store, dump, &arena, &values, &count, &err));
    return count;
}

START_TEST(partitions__say_whether_there_was_something_to_do) /* MS: false when present or absent */
{
    begin(ROLE_JOBS);
    ck_ok(store_lock_partitioned(store, PARTITION_MINUTE, &err));
    ck_ok(store_lock_partitioned(store, PARTITION_HOURLY, &err));
    ck_assert(create(PARTITION_MINUTE, DAY0 + 1));
    ck_assert(create(PARTITION_MINUTE, DAY0));
    ck_assert(!create(PARTITION_MINUTE, DAY0));
    ck_assert(create(PARTITION_HOURLY, DAY0));
    ck_assert(!create(PARTITION_HOURLY, DAY0));
    int64_t *days;
    size_t count;
    ck_ok(store_list_partitions(store, PARTITION_MINUTE, &arena, &days, &count, &err));
    ck_assert_uint_eq(count, 2);
    ck_assert_int_eq(days[0], DAY0);
    ck_assert_int_eq(days[1], DAY0 + 1);
    ck_assert(drop(PARTITION_MINUTE, DAY0));
    ck_assert(!drop(PARTITION_MINUTE, DAY0));
    ck_ok(store_list_partitions(store, PARTITION_HOURLY, &arena, &days, &count, &err));
    ck_assert_uint_eq(count, 1);
    ck_assert_int_eq(days[0], DAY0);
    ck_assert(drop(PARTITION_HOURLY, DAY0));
    ck_ok(store_list_partitions(store, PARTITION_HOURLY, &arena, &days, &count, &err));
    ck_assert_uint_eq(count, 0);
    commit();
}
END_TEST

START_TEST(drop_minute_partition__takes_the_rows_of_that_day_of_every_tenant)
{
    make_partitions(DAY0 - 1, DAY0 + 1);
    begin(ROLE_JOBS);
    static const int64_t offsets[] = {-MINUTE, 0, US_PER_DAY - MINUTE, US_PER_DAY};
    for (uint8_t tenant = 1; tenant <= 3; tenant++)
        for (int i = 0; i < 4; i++) {
            struct minute_row row = minute_row(T0_US + offsets[i], 1, 1, 1);
            row.tenant = tenant_of(tenant);
            add_minute(row);
        }
    ck_assert(drop(PARTITION_MINUTE, DAY0));
    ck_assert_uint_eq(rows_in(QUERY_DUMP_METRICS_MINUTE), 6);
    size_t count;
    struct minute_row *rows = rows_of(READ_MINUTE, &count);
    ck_assert_uint_eq(count, 2);
    ck_assert_int_eq(rows[0].bucket_start_us, T0_US - MINUTE);
    ck_assert_int_eq(rows[1].bucket_start_us, T0_US + US_PER_DAY);
    commit();
}
END_TEST

/* R-RET-2: months by the calendar. The hour before a month, its first and last, the one after it.
 */
static const struct {
    int year, month, days;
} months[] = {{2026, 1, 31}, {2024, 2, 29},  {2026, 2, 28},
              {2026, 4, 30}, {2025, 12, 31}, {2100, 2, 28}};

START_TEST(drop_hourly_partition__takes_the_rows_of_that_month)
{
    int64_t first = day_of_civil(months[_i].year, months[_i].month, 1);
    int64_t hours[] = {first * US_PER_DAY - HOUR, first * US_PER_DAY,
                       (first + months[_i].days) * US_PER_DAY - HOUR,
                       (first + months[_i].days) * US_PER_DAY};
    struct uuid tenant = tenant_of(1);
    for (int i = 0; i < 4; i++) {
        int64_t day = time_div(hours[i], US_PER_DAY);
        make_partitions(day, day);
        begin(ROLE_JOBS);
        add_minute(minute_row(hours[i], 1, 1, 1));
        int64_t inserted;
        ck_ok(store_rollup_hour(store, &tenant, hours[i], &inserted, &err));
        ck_assert_int_eq(inserted, 1);
        commit();
    }
    begin(ROLE_JOBS);
    ck_assert(drop(PARTITION_HOURLY, first));
    size_t count;
    struct minute_row *rows = rows_of(READ_HOURLY, &count);
    ck_assert_uint_eq(count, 2);
    ck_assert_int_eq(rows[0].bucket_start_us, hours[0]);
    ck_assert_int_eq(rows[1].bucket_start_us, hours[3]);
    commit();
}
END_TEST

/* No default partition: 23514, and the caller cannot go on (MS "Partitions"). */
START_TEST(add_minute__outside_of_every_partition_is_refused)
{
    static const int64_t offsets[] = {-MINUTE, US_PER_DAY, 400 * US_PER_DAY};
    make_partitions(DAY0, DAY0);
    begin(ROLE_METRICS_WRITER);
    add_minute(minute_row(T0_US, 1, 1, 1));
    add_minute(minute_row(T0_US + US_PER_DAY - MINUTE, 1, 1, 1));
    commit();
    begin(ROLE_METRICS_WRITER);
    struct minute_row row = minute_row(T0_US + offsets[_i], 1, 1, 1);
    ck_sqlstate(store_add_minutes(store, &row, 1, &err), "23514");
    store_rollback(store);
    begin(ROLE_READER);
    ck_assert_uint_eq(rows_in(QUERY_DUMP_METRICS_MINUTE), 2);
    commit();
}
END_TEST

START_TEST(add_minute__finds_the_partition_of_a_time_before_1970) /* floor, not truncation */
{
    begin(ROLE_JOBS);
    ck_assert(create(PARTITION_MINUTE, -1));
    add_minute(minute_row(-MINUTE, 1, 1, 1));
    add_minute(minute_row(-US_PER_DAY, 1, 1, 1));
    struct minute_row row = minute_row(0, 1, 1, 1);
    ck_sqlstate(store_add_minutes(store, &row, 1, &err), "23514");
    store_rollback(store);
}
END_TEST

START_TEST(rollup_hour__outside_of_every_partition_is_refused)
{
    struct uuid tenant = tenant_of(1);
    int64_t inserted;
    begin(ROLE_JOBS);
    ck_assert(create(PARTITION_MINUTE, DAY0));
    add_minute(minute_row(T0_US, 1, 1, 1));
    commit();
    begin(ROLE_JOBS);
    ck_sqlstate(store_rollup_hour(store, &tenant, T0_US, &inserted, &err), "23514");
    store_rollback(store);
}
END_TEST

START_TEST(rollup_pending_in_day__sees_the_hours_of_that_day) /* R-RET-1 */
{
    bool pending;
    struct mark_row marks[] = {
        {.tenant = tenant_of(1), .hour_us = T0_US - HOUR},
        {.tenant = tenant_of(1), .hour_us = T0_US + US_PER_DAY},
    };
    begin(ROLE_JOBS);
    ck_ok(store_mark_rollup_pending(store, marks, 2, &err));
    ck_ok(store_rollup_pending_in_day(store, DAY0, &arena, &pending, &err));
    ck_assert(!pending);
    ck_ok(store_rollup_pending_in_day(store, DAY0 - 1, &arena, &pending, &err));
    ck_assert(pending);
    ck_ok(store_rollup_pending_in_day(store, DAY0 + 1, &arena, &pending, &err));
    ck_assert(pending);
    commit();
}
END_TEST

/* Rows of tenant, in every table that a tenant has rows in. */
static void fill_tables(uint8_t last, int64_t seen_at_us)
{
    struct uuid tenant = tenant_of(last);
    char id[16];
    snprintf(id, sizeof id, "c%d-1", last);
    struct ingest_message_row message = {bytes_of(id), tenant, seen_at_us};
    struct series_state_write state = {
        .tenant = tenant, .key = {hash_of(1), 1}, .last_seen_at_us = seen_at_us};
    struct resource_write resource = {tenant, {hash_of(1), 1}, seen_at_us, 1};
    struct route_registry_row route = {tenant, DAY0, bytes_of("shop"), bytes_of("/"), seen_at_us};
    struct warning_row warning = {tenant, DAY0, WARNING_SPAN_DERIVED, 1};
    struct mark_row marks = {.tenant = tenant, .hour_us = T0_US, .marked_at_us = seen_at_us};
    struct minute_row minute = minute_row(T0_US, 1, 1, 1);
    minute.tenant = tenant;
    uint8_t inserted;
    size_t written;
    int64_t rows;
    ck_ok(store_record_ingest_messages(store, &message, 1, &inserted, &err));
    ck_ok(store_upsert_series_states(store, &state, 1, &written, &err));
    ck_ok(store_touch_resources(store, &resource, 1, &err));
    ck_ok(store_register_routes(store, &route, 1, &err));
    ck_ok(store_add_ingest_warnings(store, &warning, 1, &err));
    ck_ok(store_mark_rollup_pending(store, &marks, 1, &err));
    add_minute(minute);
    ck_ok(store_rollup_hour(store, &tenant, T0_US, &rows, &err));
    ck_ok(store_rollup_day(store, &tenant, T0_US, T0_US, T0_US + US_PER_DAY, &rows, &err));
}

START_TEST(prune__takes_rows_before_the_cutoff_only)
{
    make_partitions(DAY0, DAY0);
    begin(ROLE_JOBS);
    fill_tables(1, T0_US - 1);
    fill_tables(2, T0_US);
    for (int table = PRUNE_INGEST_DEDUP; table <= PRUNE_RESOURCE_SEEN; table++) {
        int64_t deleted;
        ck_ok(store_prune(store, (enum prune_table)table, T0_US - 1, &deleted, &err));
        ck_assert_int_eq(deleted, 0);
        ck_ok(store_prune(store, (enum prune_table)table, T0_US, &deleted, &err));
        ck_assert_int_eq(deleted, 1);
    }
    ck_assert_uint_eq(rows_in(QUERY_DUMP_INGEST_DEDUP), 1);
    ck_assert_uint_eq(rows_in(QUERY_DUMP_SERIES_STATE), 1);
    ck_assert_uint_eq(rows_in(QUERY_DUMP_RESOURCE_SEEN), 1);
    int64_t deleted;
    ck_ok(store_prune_route_registry(store, DAY0, &deleted, &err));
    ck_assert_int_eq(deleted, 0);
    ck_ok(store_prune_route_registry(store, DAY0 + 1, &deleted, &err));
    ck_assert_int_eq(deleted, 2);
    commit();
}
END_TEST

START_TEST(purge__refuses_a_tenant_that_is_not_removed) /* MS "Tenant purge" */
{
    struct uuid tenant = tenant_of(1);
    begin(ROLE_CP_SYSTEM);
    if (_i == 1)
        ck_ok(store_set_tenant(store, &tenant, "active", &err));
    commit();
    begin(ROLE_CP_SYSTEM);
    ck_sqlstate(store_purge_tenant(store, &tenant, 5, false, &err), "55000");
    store_rollback(store);
}
END_TEST

START_TEST(purge__takes_the_tenant_and_keeps_its_messages) /* _i: keep aggregates */
{
    static const struct {
        enum query_id dump;
        bool aggregate;
        bool stays;
    } tables[] = {
        {QUERY_DUMP_METRICS_MINUTE, false, false}, {QUERY_DUMP_SERIES_STATE, false, false},
        {QUERY_DUMP_RESOURCE_SEEN, false, false},  {QUERY_DUMP_ROUTE_REGISTRY, false, false},
        {QUERY_DUMP_ROLLUP_PENDING, false, false}, {QUERY_DUMP_METRICS_HOURLY, true, false},
        {QUERY_DUMP_METRICS_DAILY, true, false},   {QUERY_DUMP_INGEST_WARNINGS, true, false},
        {QUERY_DUMP_INGEST_DEDUP, false, true},
    };
    bool keep = _i != 0;
    struct uuid tenant = tenant_of(1);
    make_partitions(DAY0, DAY0);
    begin(ROLE_CP_SYSTEM);
    fill_tables(1, T0_US);
    fill_tables(2, T0_US);
    ck_ok(store_set_tenant(store, &tenant, "removed", &err));
    ck_ok(store_purge_tenant(store, &tenant, 5, keep, &err));
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        size_t left = tables[i].stays || (tables[i].aggregate && keep) ? 2 : 1;
        ck_assert_msg(rows_in(tables[i].dump) == left, "%s", queries[tables[i].dump].name);
    }
    commit();
}
END_TEST

START_TEST(read_pending__lists_the_hours_of_one_tenant) /* R-READ-1, 00021 */
{
    struct mark_row marks[] = {
        {.tenant = tenant_of(1), .hour_us = T0_US},
        {.tenant = tenant_of(1), .hour_us = T0_US + HOUR},
        {.tenant = tenant_of(1), .hour_us = T0_US + 2 * HOUR},
        {.tenant = tenant_of(2), .hour_us = T0_US},
    };
    struct uuid tenant = tenant_of(1);
    int64_t *hours;
    size_t count;
    begin(ROLE_METRICS_WRITER);
    ck_ok(store_mark_rollup_pending(store, marks, 4, &err));
    ck_ok(
        store_read_pending(store, &tenant, T0_US, T0_US + 2 * HOUR, &arena, &hours, &count, &err));
    ck_assert_uint_eq(count, 2);
    ck_assert_int_eq(hours[0], T0_US);
    ck_assert_int_eq(hours[1], T0_US + HOUR);
    commit();
}
END_TEST

void conformance_partitions(TCase *test)
{
    tcase_add_test(test, partitions__say_whether_there_was_something_to_do);
    tcase_add_test(test, drop_minute_partition__takes_the_rows_of_that_day_of_every_tenant);
    tcase_add_loop_test(test, drop_hourly_partition__takes_the_rows_of_that_month, 0,
                        sizeof months / sizeof months[0]);
    tcase_add_loop_test(test, add_minute__outside_of_every_partition_is_refused, 0, 3);
    tcase_add_test(test, add_minute__finds_the_partition_of_a_time_before_1970);
    tcase_add_test(test, rollup_hour__outside_of_every_partition_is_refused);
    tcase_add_test(test, rollup_pending_in_day__sees_the_hours_of_that_day);
    tcase_add_test(test, prune__takes_rows_before_the_cutoff_only);
    tcase_add_loop_test(test, purge__refuses_a_tenant_that_is_not_removed, 0, 2);
    tcase_add_loop_test(test, purge__takes_the_tenant_and_keeps_its_messages, 0, 2);
    tcase_add_test(test, read_pending__lists_the_hours_of_one_tenant);
}

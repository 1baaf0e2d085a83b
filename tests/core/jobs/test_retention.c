/* Retention and purge (MS "Jobs tasks", "State and bookkeeping tables", "Tenant purge"; R-RET-1..2,
 * R-PART-2). The clock is T0, 2026-03-10T12:00Z; minutes are kept 8 days, hours 24 months. */
#include "tests/core/jobs/jobs_fixture.h"

#define OK(call)                                                                                   \
    do {                                                                                           \
        enum status status_ = (call);                                                              \
        ck_assert_msg(status_ == STATUS_OK, "%s: %s %s", #call, f->err.sqlstate, f->err.message);  \
    } while (0)

static bool has_partition(struct jobs_fixture *f, enum query_id list, int64_t first_day)
{
    struct value *days;
    size_t count = jobs_table(f, list, &days);
    for (size_t i = 0; i < count; i++)
        if (days[i].integer == first_day)
            return true;
    return false;
}

static bool has_day(struct jobs_fixture *f, int64_t day)
{
    return has_partition(f, QUERY_LIST_MINUTE_PARTITIONS, T0_DAY + day);
}

/* Today minus 8 is the oldest day that stays; its rows stay, those of the days before go. */
START_TEST(retention__minute_days_before_the_cutoff_go_with_their_rows)
{
    struct jobs_fixture *f = jobs_fixture_new("");
    jobs_partitions(f, -10, 0);
    jobs_minute_unmarked(f, ACME, at(-9 * 24 + 23, 59), 3, 9, 0.5);
    jobs_minute_unmarked(f, ACME, at(-8 * 24, 0), 3, 8, 0.5);
    jobs_ok(f, job_retention);
    ck_assert(!has_day(f, -10));
    ck_assert(!has_day(f, -9));
    ck_assert(has_day(f, -8));
    ck_assert_int_eq(jobs_count_at(f, READ_MINUTE, ACME, at(-9 * 24 + 23, 59)), -1);
    ck_assert_int_eq(jobs_count_at(f, READ_MINUTE, ACME, at(-8 * 24, 0)), 8);
    ck_assert_uint_eq(f->counters[COUNTER_PARTITIONS_DROPPED], 2);
    jobs_fixture_free(f);
}
END_TEST

static void create_month(struct jobs_fixture *f, int year, int month)
{
    bool done;
    OK(store_begin(f->inner, ROLE_JOBS, &f->err));
    OK(store_create_partition(f->inner, PARTITION_HOURLY, day_of_civil(year, month, 1), &f->arena,
                              &done, &f->err));
    OK(store_commit(f->inner, &f->err));
}

/* R-RET-2: by calendar index, so that the length of a month never matters. */
static const struct {
    const char *clock;
    int year, month; /* the oldest month that stays, 24 back */
} months[] = {
    {"2026-03-10T12:00:00Z", 2024, 3}, {"2026-03-31T23:59:59Z", 2024, 3},
    {"2026-01-01T00:00:00Z", 2024, 1}, {"2025-12-31T23:59:59.999999999Z", 2023, 12},
    {"2024-02-29T12:00:00Z", 2022, 2}, {"2100-02-28T12:00:00Z", 2098, 2},
};

START_TEST(retention__months_by_calendar_index)
{
    struct jobs_fixture *f = jobs_fixture_new("");
    ck_assert(time_parse_ns(months[_i].clock, strlen(months[_i].clock), &f->now_ns));
    int64_t kept = day_of_civil(months[_i].year, months[_i].month, 1);
    int before_year = months[_i].month == 1 ? months[_i].year - 1 : months[_i].year;
    int before_month = months[_i].month == 1 ? 12 : months[_i].month - 1;
    create_month(f, months[_i].year, months[_i].month);
    create_month(f, before_year, before_month);
    jobs_ok(f, job_retention);
    ck_assert(has_partition(f, QUERY_LIST_HOURLY_PARTITIONS, kept));
    ck_assert(!has_partition(f, QUERY_LIST_HOURLY_PARTITIONS,
                             day_of_civil(before_year, before_month, 1)));
    jobs_fixture_free(f);
}
END_TEST

/* R-RET-1: an expired day with pending hours waits for the rollup. */
START_TEST(retention__pending_day_waits_for_the_rollup)
{
    struct jobs_fixture *f = jobs_fixture_new("");
    jobs_partitions(f, -10, 0);
    jobs_minute(f, ACME, at(-9 * 24 + 5, 0), 9, 0.5);
    jobs_ok(f, job_retention);
    ck_assert(has_day(f, -9));
    ck_assert(!has_day(f, -10)); /* the others carry on */
    ck_assert_uint_eq(f->counters[COUNTER_PARTITIONS_WAITING], 1);
    ck_assert_uint_eq(f->counters[COUNTER_PARTITIONS_DROPPED], 1);
    jobs_ok(f, job_rollup);
    jobs_ok(f, job_retention);
    ck_assert(!has_day(f, -9));
    ck_assert_int_eq(jobs_count_at(f, READ_HOURLY, ACME, at(-9 * 24 + 5, 0)), 9);
    jobs_fixture_free(f);
}
END_TEST

/* A mark at midnight belongs to the day that starts there. */
START_TEST(retention__pending_hour_of_the_next_day_does_not_wait)
{
    struct jobs_fixture *f = jobs_fixture_new("");
    jobs_partitions(f, -9, 0);
    jobs_minute(f, ACME, at(-8 * 24, 0), 9, 0.5);
    jobs_ok(f, job_retention);
    ck_assert(!has_day(f, -9));
    ck_assert_uint_eq(f->counters[COUNTER_PARTITIONS_WAITING], 0);
    jobs_fixture_free(f);
}
END_TEST

/* R-RET-1: lock, pending check, drop: one transaction, in that order. */
START_TEST(retention__lock_then_check_then_drop)
{
    struct jobs_fixture *f = jobs_fixture_new("");
    jobs_partitions(f, -10, 0);
    jobs_ok(f, job_retention);
    size_t drops = 0;
    for (size_t i = 3; i < f->call_count; i++) {
        if (f->calls[i] != QUERY_DROP_MINUTE_PARTITION)
            continue;
        ck_assert_int_eq(f->calls[i - 3], QUERY_BEGIN);
        ck_assert_int_eq(f->calls[i - 2], QUERY_LOCK_MINUTE_PARTITIONS);
        ck_assert_int_eq(f->calls[i - 1], QUERY_ROLLUP_PENDING_IN_DAY);
        ck_assert_int_eq(f->calls[i + 1], QUERY_COMMIT);
        drops++;
    }
    ck_assert_uint_eq(drops, 2);
    jobs_fixture_free(f);
}
END_TEST

/* R-PART-2: 55P03 leaves one to a later run, counted; the others and the prunes carry on. */
START_TEST(retention__table_in_use_is_left_to_a_later_run)
{
    struct jobs_fixture *f = jobs_fixture_new("");
    jobs_partitions(f, -10, 0);
    f->fault = (struct jobs_fault){QUERY_LOCK_MINUTE_PARTITIONS, "55P03", 0, 1};
    jobs_ok(f, job_retention);
    ck_assert(has_day(f, -10));
    ck_assert(!has_day(f, -9));
    ck_assert_uint_eq(f->counters[COUNTER_PARTITIONS_BUSY], 1);
    ck_assert_uint_eq(jobs_calls(f, QUERY_PRUNE_ROUTE_REGISTRY), 1);
    jobs_ok(f, job_retention);
    ck_assert(!has_day(f, -10));
    jobs_fixture_free(f);
}
END_TEST

/* Each drop is its own transaction: what was dropped before an error stays dropped. */
START_TEST(retention__other_errors_end_the_run)
{
    struct jobs_fixture *f = jobs_fixture_new("");
    jobs_partitions(f, -11, 0);
    f->fault = (struct jobs_fault){QUERY_DROP_MINUTE_PARTITION, "57014", 1, 1};
    ck_assert_int_eq(jobs_run(f, job_retention), STATUS_TRANSIENT);
    ck_assert(!has_day(f, -11));
    ck_assert(has_day(f, -10));
    ck_assert(has_day(f, -9));
    ck_assert_uint_eq(f->counters[COUNTER_PARTITIONS_DROPPED], 1);
    ck_assert_uint_eq(jobs_calls(f, QUERY_PRUNE_INGEST_DEDUP), 0);
    jobs_fixture_free(f);
}
END_TEST

/* MS "Jobs tasks": both keys are required. */
START_TEST(retention__does_not_start_without_its_settings)
{
    struct jobs_fixture *f = jobs_fixture_new("");
    jobs_partitions(f, -10, 0);
    f->settings = settings_default();
    ck_assert_int_eq(jobs_run(f, job_retention), STATUS_INVALID);
    ck_assert_uint_eq(f->call_count, 0);
    jobs_fixture_free(f);
}
END_TEST

/* R-FENCE-1 */
START_TEST(retention__lost_fence_ends_the_run)
{
    struct jobs_fixture *f = jobs_fixture_new("");
    jobs_partitions(f, -10, 0);
    f->stale_after = 3;
    ck_assert_int_eq(jobs_run(f, job_retention), STATUS_STALE);
    ck_assert(!has_day(f, -10));
    ck_assert(has_day(f, -9));
    jobs_fixture_free(f);
}
END_TEST

/* ---- pruning ---- */

static void put_bookkeeping(struct jobs_fixture *f, int tenant, const char *msg_id, int64_t seen_us,
                            int64_t day)
{
    struct uuid id = jobs_tenant(tenant);
    struct sha256 hash = {{1}};
    int64_t start = seen_us; /* keeps the rows of one tenant apart */
    struct ingest_message_row message = {bytes_of(msg_id), id, seen_us};
    struct series_state_write state = {
        .tenant = id, .key = {hash, start}, .state = {.exists = true}, .last_seen_at_us = seen_us};
    struct resource_write resource = {id, {hash, start}, seen_us, 1};
    struct route_registry_row route = {id, day, bytes_of("shop"), bytes_of("/cart"), seen_us};
    struct warning_row warning = {id, day, WARNING_LOSSY_HISTOGRAM, 3};
    uint8_t inserted;
    size_t written;
    OK(store_begin(f->inner, ROLE_METRICS_WRITER, &f->err));
    OK(store_record_ingest_messages(f->inner, &message, 1, &inserted, &f->err));
    OK(store_upsert_series_states(f->inner, &state, 1, &written, &f->err));
    OK(store_touch_resources(f->inner, &resource, 1, &f->err));
    OK(store_register_routes(f->inner, &route, 1, &f->err));
    OK(store_add_ingest_warnings(f->inner, &warning, 1, &f->err));
    OK(store_commit(f->inner, &f->err));
}

/* MS: ingest_dedup after 8 days, states and resources after 7 idle days, routes of days older than
 * 8 days, ingest_warnings kept. Exactly at the age is not yet older. */
START_TEST(retention__prunes_at_the_ages)
{
    struct jobs_fixture *f = jobs_fixture_new("");
    put_bookkeeping(f, ACME, "older than 8 days", T0_US - 8 * US_PER_DAY - 1, T0_DAY - 9);
    put_bookkeeping(f, ACME, "8 days", T0_US - 8 * US_PER_DAY, T0_DAY - 8);
    put_bookkeeping(f, ACME, "older than 7 days", T0_US - 7 * US_PER_DAY - 1, T0_DAY - 7);
    put_bookkeeping(f, ACME, "7 days", T0_US - 7 * US_PER_DAY, T0_DAY - 6);
    jobs_ok(f, job_retention);
    struct value *values;
    ck_assert_uint_eq(jobs_table(f, QUERY_DUMP_INGEST_DEDUP, &values), 3);
    ck_assert(bytes_equal(values[0].bytes, bytes_of("7 days")));
    ck_assert_uint_eq(jobs_table(f, QUERY_DUMP_SERIES_STATE, NULL), 1);
    ck_assert_uint_eq(jobs_table(f, QUERY_DUMP_RESOURCE_SEEN, NULL), 1);
    ck_assert_uint_eq(jobs_table(f, QUERY_DUMP_ROUTE_REGISTRY, NULL), 3);
    ck_assert_uint_eq(jobs_table(f, QUERY_DUMP_INGEST_WARNINGS, NULL), 4);
    ck_assert_uint_eq(f->counters[COUNTER_PRUNED_ROWS], 1 + 3 + 3 + 1);
    jobs_fixture_free(f);
}
END_TEST

/* ---- purge ---- */

static enum status purge(struct jobs_fixture *f, bool keep_aggregates)
{
    struct job_ports ports = {&f->clock, &f->seam, &f->fence, &f->meter, &f->log};
    struct job *job = job_new(&f->settings, f->rules, &ports);
    struct uuid tenant = jobs_tenant(ACME);
    enum status status = job_purge(job, &tenant, keep_aggregates, &f->err);
    job_free(job);
    return status;
}

static struct jobs_fixture *with_two_tenants(const char *status)
{
    struct jobs_fixture *f = jobs_fixture_new("");
    struct uuid acme = jobs_tenant(ACME);
    jobs_partitions(f, 0, 0);
    for (int tenant = ACME; tenant <= ZETA; tenant++) {
        jobs_minute(f, tenant, at(9, 0), 5, 0.5);
        put_bookkeeping(f, tenant, tenant == ACME ? "a" : "z", T0_US, T0_DAY);
    }
    jobs_ok(f, job_rollup);
    jobs_mark(f, ACME, at(9, 0), T0_US);
    OK(store_begin(f->inner, ROLE_CP_SYSTEM, &f->err));
    OK(store_set_tenant(f->inner, &acme, status, &f->err));
    OK(store_commit(f->inner, &f->err));
    jobs_forget(f);
    return f;
}

START_TEST(purge__refuses_a_tenant_that_is_not_removed)
{
    struct jobs_fixture *f = with_two_tenants("active");
    ck_assert_int_eq(purge(f, false), STATUS_TRANSIENT);
    ck_assert_str_eq(f->err.sqlstate, "55000");
    ck_assert_int_eq(jobs_count_at(f, READ_MINUTE, ACME, at(9, 0)), 5);
    ck_assert_uint_eq(jobs_table(f, QUERY_DUMP_ROLLUP_PENDING, NULL), 1);
    jobs_fixture_free(f);
}
END_TEST

/* Rows left of each table: always gone are minutes, states, resources, routes and marks. */
static void check_purged(struct jobs_fixture *f, int64_t aggregate, size_t warnings)
{
    ck_assert_int_eq(jobs_count_at(f, READ_MINUTE, ACME, at(9, 0)), -1);
    ck_assert_int_eq(jobs_count_at(f, READ_HOURLY, ACME, at(9, 0)), aggregate);
    ck_assert_int_eq(jobs_count_at(f, READ_DAILY, ACME, at(0, 0)), aggregate);
    ck_assert_int_eq(jobs_count_at(f, READ_MINUTE, ZETA, at(9, 0)), 5);
    ck_assert_int_eq(jobs_count_at(f, READ_DAILY, ZETA, at(0, 0)), 5);
    ck_assert_uint_eq(jobs_table(f, QUERY_DUMP_SERIES_STATE, NULL), 1);
    ck_assert_uint_eq(jobs_table(f, QUERY_DUMP_RESOURCE_SEEN, NULL), 1);
    ck_assert_uint_eq(jobs_table(f, QUERY_DUMP_ROUTE_REGISTRY, NULL), 1);
    ck_assert_uint_eq(jobs_table(f, QUERY_DUMP_ROLLUP_PENDING, NULL), 0);
    ck_assert_uint_eq(jobs_table(f, QUERY_DUMP_INGEST_WARNINGS, NULL), warnings);
    ck_assert_uint_eq(jobs_table(f, QUERY_DUMP_INGEST_DEDUP, NULL), 2); /* stays */
}

START_TEST(purge__deletes_all_but_the_message_ids)
{
    struct jobs_fixture *f = with_two_tenants("removed");
    OK(purge(f, false));
    check_purged(f, -1, 1);
    jobs_fixture_free(f);
}
END_TEST

/* The kept hours and days survive the next rollup: no mark and no minute is left. */
START_TEST(purge__keeps_aggregates_when_asked)
{
    struct jobs_fixture *f = with_two_tenants("removed");
    OK(purge(f, true));
    check_purged(f, 5, 2);
    jobs_ok(f, job_rollup);
    check_purged(f, 5, 2);
    jobs_fixture_free(f);
}
END_TEST

START_TEST(purge__asks_the_fence)
{
    struct jobs_fixture *f = with_two_tenants("removed");
    f->stale_after = 1;
    ck_assert_int_eq(purge(f, false), STATUS_STALE);
    ck_assert_int_eq(jobs_count_at(f, READ_MINUTE, ACME, at(9, 0)), 5);
    jobs_fixture_free(f);
}
END_TEST

Suite *retention_suite(void);
Suite *retention_suite(void)
{
    Suite *suite = suite_create("retention");
    TCase *drops = tcase_create("retention");
    tcase_add_test(drops, retention__minute_days_before_the_cutoff_go_with_their_rows);
    tcase_add_loop_test(drops, retention__months_by_calendar_index, 0,
                        (int)(sizeof months / sizeof months[0]));
    tcase_add_test(drops, retention__pending_day_waits_for_the_rollup);
    tcase_add_test(drops, retention__pending_hour_of_the_next_day_does_not_wait);
    tcase_add_test(drops, retention__lock_then_check_then_drop);
    tcase_add_test(drops, retention__table_in_use_is_left_to_a_later_run);
    tcase_add_test(drops, retention__other_errors_end_the_run);
    tcase_add_test(drops, retention__does_not_start_without_its_settings);
    tcase_add_test(drops, retention__lost_fence_ends_the_run);
    tcase_add_test(drops, retention__prunes_at_the_ages);
    suite_add_tcase(suite, drops);
    TCase *purges = tcase_create("purge");
    tcase_add_test(purges, purge__refuses_a_tenant_that_is_not_removed);
    tcase_add_test(purges, purge__deletes_all_but_the_message_ids);
    tcase_add_test(purges, purge__keeps_aggregates_when_asked);
    tcase_add_test(purges, purge__asks_the_fence);
    suite_add_tcase(suite, purges);
    return suite;
}

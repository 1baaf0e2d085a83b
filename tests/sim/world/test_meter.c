/* sim/world/meter: what is counted when core says so, and what is booked when a commit really
 * happens. */
#include "sim/world/meter.h"
#include "world_bench.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

/* A database that does what it is told, or fails. */
struct fake_store {
    struct store store;
    enum status answer;
};

static enum status fake_call(struct store *store, struct store_call *call, struct err *err)
{
    (void)call;
    const struct fake_store *fake = (struct fake_store *)store;
    return fake->answer == STATUS_OK ? STATUS_OK : err_set(err, fake->answer, "08006", "gone");
}

static struct world_bench bench;
static struct fake_store fake;
static struct meters *meters;
static struct meter *meter;
static struct store *store;

static void set_up(void)
{
    world_bench_set_up(&bench, NULL);
    fake = (struct fake_store){.store = {fake_call}, .answer = STATUS_OK};
    meters = meters_new(bench.truth, bench.sched);
    meter = meter_new(meters);
    store = meter_store_new(meter, &fake.store);
    world_serve(&bench, 10, "/cart", 3);
    world_export(&bench, 60);
}

static void tear_down(void)
{
    meters_free(meters);
    world_bench_tear_down(&bench);
}

static void call_query(enum query_id query, const struct value *params)
{
    struct err err;
    struct store_call call = {.query = query, .params = params, .row_count = 1};
    (void)store->call(store, &call, &err);
}

static void judge(void)
{
    struct message message = world_decode(&bench, 1);
    struct delivery delivery = {.sequence = 1, .tenant = bench.tenant};
    struct judgement judgement = {
        .delivery = &delivery,
        .point = &message.points[0],
        .outcome = POINT_FIRST_FULL,
        .counted = 3,
        .bucket_start_us = WORLD_START / NS_PER_US,
        .service = bytes_of("shop"),
        .route = bytes_of("/cart"),
    };
    meter->judged(meter, &judgement);
    memset(&message, 0, sizeof(message)); /* what is kept must not point here */
}

/* Whether the books hold 3 requests: an empty table is then short of them. */
static bool booked(void)
{
    struct truth_tables empty = {0};
    char text[2048] = "";
    FILE *out = fmemopen(text, sizeof(text) - 1, "w");
    ck_assert_ptr_nonnull(out);
    (void)truth_check(bench.truth, &empty, NULL, out);
    (void)fclose(out);
    return strstr(text, "counted 3, but the table has 0") != NULL;
}

START_TEST(meter__books_a_judgement_when_the_commit_happens)
{
    call_query(QUERY_BEGIN, NULL);
    judge();
    ck_assert(!booked());
    call_query(QUERY_COMMIT, NULL);
    ck_assert(booked());
}
END_TEST

START_TEST(meter__a_rollback_undoes_what_was_judged)
{
    call_query(QUERY_BEGIN, NULL);
    judge();
    call_query(QUERY_ROLLBACK, NULL);
    call_query(QUERY_COMMIT, NULL);
    ck_assert(!booked());
}
END_TEST

/* A commit that failed below is none; the next Begin forgets what was open. */
START_TEST(meter__a_failed_commit_books_nothing)
{
    call_query(QUERY_BEGIN, NULL);
    judge();
    fake.answer = STATUS_TRANSIENT;
    call_query(QUERY_COMMIT, NULL);
    fake.answer = STATUS_OK;
    call_query(QUERY_BEGIN, NULL);
    call_query(QUERY_COMMIT, NULL);
    ck_assert(!booked());
}
END_TEST

START_TEST(meter__a_purge_and_a_drop_take_effect_with_their_commit)
{
    struct value purge[] = {{.bytes = {bench.tenant.bytes, 16}}, {.integer = 0}, {.integer = 0}};
    struct value day[] = {{.integer = WORLD_START / NS_PER_DAY}};
    call_query(QUERY_BEGIN, NULL);
    judge();
    call_query(QUERY_COMMIT, NULL);
    call_query(QUERY_BEGIN, NULL);
    call_query(QUERY_DROP_MINUTE_PARTITION, day);
    call_query(QUERY_ROLLBACK, NULL);
    ck_assert(booked());
    call_query(QUERY_BEGIN, NULL);
    call_query(QUERY_DROP_MINUTE_PARTITION, day);
    call_query(QUERY_COMMIT, NULL);
    ck_assert(!booked());
    call_query(QUERY_BEGIN, NULL);
    judge();
    call_query(QUERY_PURGE_TENANT, purge);
    call_query(QUERY_COMMIT, NULL);
    ck_assert(!booked());
}
END_TEST

static size_t misreported(char text[512])
{
    memset(text, 0, 512);
    FILE *out = fmemopen(text, 511, "w");
    ck_assert_ptr_nonnull(out);
    size_t failures = meters_check(meters, bench.names, out);
    (void)fclose(out);
    return failures;
}

/* R-OUT-1: counted when the commit is known. A commit whose reply was lost is counted by nobody. */
START_TEST(meters_check__finds_outcomes_that_were_not_committed_or_not_told)
{
    char text[512];
    call_query(QUERY_BEGIN, NULL);
    judge();
    call_query(QUERY_COMMIT, NULL);
    meter->points(meter, &bench.tenant, POINT_FIRST_FULL, 1);
    ck_assert_uint_eq(misreported(text), 0);
    meter->points(meter, &bench.tenant, POINT_FIRST_FULL, 1);
    meter->points(meter, &bench.tenant, POINT_DELTA, 1);
    ck_assert_uint_eq(misreported(text), 2);
    ck_assert_ptr_nonnull(
        strstr(text, "tenant \"acme\": 2 point(s) reported as first_full, but 1 committed"));
}
END_TEST

START_TEST(meters_check__a_lost_commit_explains_fewer_and_a_told_one_does_not)
{
    char text[512];
    call_query(QUERY_BEGIN, NULL);
    judge();
    judge();
    call_query(QUERY_COMMIT, NULL);
    ck_assert_uint_eq(misreported(text), 0); /* the reply may still be lost */
    meter->points(meter, &bench.tenant, POINT_FIRST_FULL, 1);
    ck_assert_uint_eq(misreported(text), 1);
    ck_assert_ptr_nonnull(strstr(text, "1 point(s) reported as first_full, but 2 committed"));
}
END_TEST

/* R-OUT-1: per tenant and in total. */
START_TEST(meters__count_outcomes_per_tenant_and_in_total)
{
    struct uuid other = {{1}};
    struct meter *second = meter_new(meters);
    meter->points(meter, &bench.tenant, POINT_DELTA, 2);
    second->points(second, &bench.tenant, POINT_DELTA, 3);
    second->points(second, &other, POINT_DELTA, 10);
    second->messages(second, &other, MESSAGE_APPLIED, 1);
    meter->add(meter, COUNTER_ROLLUP_HOURS, 4);
    ck_assert_uint_eq(meters_points(meters, &bench.tenant, POINT_DELTA), 5);
    ck_assert_uint_eq(meters_points(meters, NULL, POINT_DELTA), 15);
    ck_assert_uint_eq(meters_points(meters, NULL, POINT_RESET), 0);
    ck_assert_uint_eq(meters_messages(meters, &other, MESSAGE_APPLIED), 1);
    ck_assert_uint_eq(meters_counter(meters, COUNTER_ROLLUP_HOURS), 4);
    size_t count;
    const struct uuid *tenants = meters_tenants(meters, &count);
    ck_assert_uint_eq(count, 2);
    ck_assert_int_lt(uuid_compare(&tenants[0], &tenants[1]), 0);
}
END_TEST

Suite *meter_suite(void);
Suite *meter_suite(void)
{
    Suite *suite = suite_create("meter");
    TCase *tcase = tcase_create("meter");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, meter__books_a_judgement_when_the_commit_happens);
    tcase_add_test(tcase, meter__a_rollback_undoes_what_was_judged);
    tcase_add_test(tcase, meter__a_failed_commit_books_nothing);
    tcase_add_test(tcase, meter__a_purge_and_a_drop_take_effect_with_their_commit);
    tcase_add_test(tcase, meters_check__finds_outcomes_that_were_not_committed_or_not_told);
    tcase_add_test(tcase, meters_check__a_lost_commit_explains_fewer_and_a_told_one_does_not);
    tcase_add_test(tcase, meters__count_outcomes_per_tenant_and_in_total);
    suite_add_tcase(suite, tcase);
    return suite;
}

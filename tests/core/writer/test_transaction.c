/* One batch, one transaction: the order of its statements, what it dedups, and what survives a lost
 * reply, a fence, another writer. */
#include "tests/core/writer/harness.h"
#include <stdio.h>

Suite *writer_transaction_suite(void);

static void assert_calls(const struct harness *h, const enum query_id *expected, size_t count)
{
    for (size_t i = 0; i < count && i < h->call_count; i++)
        ck_assert_msg(h->calls[i] == expected[i], "call %zu is %s, expected %s", i,
                      queries[h->calls[i]].name, queries[expected[i]].name);
    ck_assert_uint_eq(h->call_count, count);
}

/* R-TX-1: the statements in MS's order; the second batch knows its stream and route. */
START_TEST(writer_transaction__statements_in_order)
{
    static const enum query_id new_stream[] = {QUERY_BEGIN,
                                               QUERY_RECORD_INGEST_MESSAGE,
                                               QUERY_LOCK_TENANT,
                                               QUERY_GET_RESOURCES_SEEN,
                                               QUERY_GET_SERIES_STATES,
                                               QUERY_COUNT_SERIES_STATES,
                                               QUERY_LIST_ROUTES,
                                               QUERY_REGISTER_ROUTE,
                                               QUERY_LOCK_ROLLUP_HOUR,
                                               QUERY_ADD_MINUTE,
                                               QUERY_MARK_ROLLUP_PENDING,
                                               QUERY_UPSERT_SERIES_STATE,
                                               QUERY_TOUCH_RESOURCE,
                                               QUERY_ADD_INGEST_WARNING,
                                               QUERY_COMMIT};
    static const enum query_id known_stream[] = {QUERY_BEGIN,
                                                 QUERY_RECORD_INGEST_MESSAGE,
                                                 QUERY_LOCK_TENANT,
                                                 QUERY_GET_RESOURCES_SEEN,
                                                 QUERY_GET_SERIES_STATES,
                                                 QUERY_LIST_ROUTES,
                                                 QUERY_LOCK_ROLLUP_HOUR,
                                                 QUERY_ADD_MINUTE,
                                                 QUERY_MARK_ROLLUP_PENDING,
                                                 QUERY_UPSERT_SERIES_STATE,
                                                 QUERY_TOUCH_RESOURCE,
                                                 QUERY_COMMIT};
    struct harness *h = harness_new(NULL);
    h->now_s = 60;
    SEND(h, "m1", {.time = 30, .n = 10, .span = true});
    run(h);
    assert_calls(h, new_stream, sizeof new_stream / sizeof *new_stream);
    SEND(h, "m2", {.time = 60, .n = 10, .span = true}, {.time = 60, .n = 1, .delta = true});
    run(h);
    assert_calls(h, known_stream, sizeof known_stream / sizeof *known_stream);
    harness_free(h);
}
END_TEST

/* Each switch takes its own statement away, or adds it. */
START_TEST(writer_transaction__switches_and_their_statements)
{
    static const struct {
        const char *rules;
        enum query_id query;
        size_t expected;
    } cases[] = {
        {"-A-2", QUERY_LOCK_ROLLUP_HOUR, 0},    {"-S-11", QUERY_LOCK_TENANT, 0},
        {"-A-6", QUERY_COUNT_SERIES_STATES, 0}, {"+S-5", QUERY_GET_CAP_WARNINGS, 1},
        {"default", QUERY_GET_CAP_WARNINGS, 0},
    };
    struct harness *h = harness_new(cases[_i].rules);
    SEND(h, "m1", {.start = -60, .n = 10});
    run(h);
    ck_assert_uint_eq(calls_of(h, cases[_i].query), cases[_i].expected);
    ck_assert_int_eq(total(h), 10);
    harness_free(h);
}
END_TEST

/* Dedup across redelivery, a restart, and the publisher's retry outside the queue's window. */
START_TEST(writer_transaction__message_id_applies_once)
{
    struct harness *h = harness_new(NULL);
    struct test_message *m1 = SEND(h, "m1", {.start = -60, .n = 10, .delta = true});
    run(h);
    redeliver(m1);
    restart(h);
    run(h);
    SEND(h, "m1", {.start = -60, .n = 10, .delta = true});
    run(h);
    ck_assert_int_eq(total(h), 10);
    ck_assert_uint_eq(h->outcomes[MESSAGE_APPLIED], 1);
    ck_assert_uint_eq(h->outcomes[MESSAGE_ALREADY_APPLIED], 2);
    ck_assert_uint_eq(h->points[POINT_DELTA], 1);
    harness_free(h);
}
END_TEST

/* The same id twice in one batch: the first in the queue is applied. */
START_TEST(writer_transaction__message_id_twice_in_a_batch)
{
    struct harness *h = harness_new(NULL);
    SEND(h, "m1", {.start = -60, .n = 10, .delta = true});
    SEND(h, "m0", {.start = -60, .n = 100, .delta = true});
    SEND(h, "m1", {.start = -60, .n = 7, .delta = true});
    run(h);
    ck_assert_int_eq(total(h), 110);
    ck_assert_uint_eq(h->outcomes[MESSAGE_APPLIED], 2);
    ck_assert_uint_eq(h->outcomes[MESSAGE_ALREADY_APPLIED], 1);
    harness_free(h);
}
END_TEST

/* R-TX-6 (S-7): another tenant's id, taken in an earlier batch or in the same one. */
START_TEST(writer_transaction__id_of_another_tenant)
{
    bool same_batch = _i & 1;
    bool guarded = _i & 2;
    struct harness *h = harness_new(guarded ? NULL : "-S-7");
    SEND(h, "m1", {.start = -60, .n = 10, .delta = true});
    if (!same_batch)
        run(h);
    h->tenant = ZETA;
    SEND(h, "m1", {.start = -60, .n = 7, .delta = true});
    SEND(h, "m2", {.start = -60, .n = 100, .delta = true});
    run(h);
    ck_assert_int_eq(total(h), 110);
    ck_assert_uint_eq(h->outcomes[MESSAGE_APPLIED], 2);
    ck_assert_uint_eq(h->outcomes[MESSAGE_DEAD_ID_CONFLICT], guarded ? 1 : 0);
    ck_assert_uint_eq(h->outcomes[MESSAGE_ALREADY_APPLIED], guarded ? 0 : 1);
    ck_assert_uint_eq(h->letter_count, guarded ? 1 : 0);
    ck_assert_int_eq(sql_int(h, "select count(*) from ingest_dedup"), 2);
    ck_assert_int_eq(
        sql_int(h, "select tenant_id = '%s' from ingest_dedup where msg_id = 'm1'", ACME), 1);
    harness_free(h);
}
END_TEST

/* R-TX-7 (S-11): nothing of a removed tenant's messages is written, not even their ids; the others
 * of the batch are applied as if it had not been there. */
START_TEST(writer_transaction__removed_tenant)
{
    struct harness *h = harness_new(NULL);
    set_tenant(h, ZETA, "removed");
    set_tenant(h, ACME, "active");
    SEND(h, "m1", {.start = -60, .n = 1, .delta = true});
    h->tenant = ZETA;
    SEND(h, "m2", {.start = -60, .n = 10}, {.start = -60, .n = 5, .count = 9});
    h->tenant = ACME;
    SEND(h, "m2", {.start = -60, .n = 100, .delta = true});
    h->tenant = ZETA;
    SEND(h, "m3", {.start = -60, .n = 1000, .delta = true});
    run(h);
    /* m2 of ACME is not the message of ZETA that left no id */
    ck_assert_int_eq(total(h), 101);
    ck_assert_uint_eq(h->outcomes[MESSAGE_APPLIED], 2);
    ck_assert_uint_eq(h->outcomes[MESSAGE_DEAD_TENANT], 2);
    ck_assert_uint_eq(h->letter_count, 2);
    ck_assert_str_eq(h->letters[0].id, "m2");
    ck_assert_str_eq(h->letters[1].id, "m3");
    ck_assert_int_eq(sql_int(h, "select count(*) from ingest_dedup"), 2);
    ck_assert_int_eq(sql_int(h, "select count(*) from series_state"), 0);
    ck_assert_uint_eq(h->points[POINT_REJECTED_SHAPE], 0);
    harness_free(h);
}
END_TEST

/* R-TX-7: a batch of nothing but a removed tenant's. Off: it is applied. */
START_TEST(writer_transaction__only_a_removed_tenant)
{
    struct harness *h = harness_new(_i == 0 ? NULL : "-S-11");
    set_tenant(h, ACME, "removed");
    SEND(h, "m1", {.start = -60, .n = 10, .delta = true});
    run(h);
    ck_assert_int_eq(total(h), _i == 0 ? 0 : 10);
    ck_assert_uint_eq(h->outcomes[MESSAGE_DEAD_TENANT], _i == 0 ? 1 : 0);
    ck_assert_int_eq(h->messages[0].state, MESSAGE_ACKED);
    harness_free(h);
}
END_TEST

/* A message that was applied before its tenant was removed is only acknowledged. */
START_TEST(writer_transaction__applied_before_the_tenant_was_removed)
{
    struct harness *h = harness_new(NULL);
    struct test_message *m1 = SEND(h, "m1", {.start = -60, .n = 10, .delta = true});
    run(h);
    set_tenant(h, ACME, "removed");
    redeliver(m1);
    run(h);
    ck_assert_uint_eq(h->outcomes[MESSAGE_ALREADY_APPLIED], 1);
    ck_assert_uint_eq(h->letter_count, 0);
    harness_free(h);
}
END_TEST

/* R-TX-8 (S-13): one state fewer than sent: nothing is kept, all comes again like 40001. Off: the
 * update is lost and nobody notices. */
START_TEST(writer_transaction__another_writer_judged_the_stream)
{
    struct harness *h = harness_new(_i == 0 ? NULL : "-S-13");
    SEND(h, "m1", {.start = -60, .n = 10}, {.start = -60, .n = 5, .route = "/pay"});
    fault(h, (struct test_fault){.query = QUERY_UPSERT_SERIES_STATE, .times = 1});
    run(h);
    ck_assert_int_eq(total(h), _i == 0 ? 0 : 15);
    ck_assert_uint_eq(h->outcomes[MESSAGE_RETRY], _i == 0 ? 1 : 0);
    drain(h, 3);
    ck_assert_int_eq(total(h), 15);
    ck_assert_uint_eq(h->outcomes[MESSAGE_APPLIED], 1);
    ck_assert_uint_eq(h->points[POINT_FIRST_FULL], 2);
    harness_free(h);
}
END_TEST

/* R-TX-5: the commit happened, its reply was lost. The meter knows nothing of it. */
START_TEST(writer_transaction__lost_reply_of_commit)
{
    struct harness *h = harness_new(NULL);
    SEND(h, "m1", {.start = -60, .n = 10});
    fault(h, (struct test_fault){
                 .query = QUERY_COMMIT, .sqlstate = "08006", .times = 1, .after = true});
    run(h);
    ck_assert_int_eq(total(h), 10);
    ck_assert_uint_eq(h->outcomes[MESSAGE_RETRY], 1);
    drain(h, 3);
    ck_assert_int_eq(total(h), 10);
    ck_assert_uint_eq(h->outcomes[MESSAGE_ALREADY_APPLIED], 1);
    ck_assert_uint_eq(h->outcomes[MESSAGE_APPLIED], 0);
    ck_assert_uint_eq(h->points[POINT_FIRST_FULL], 0);
    harness_free(h);
}
END_TEST

/* The statements at which a transaction can fail. */
static const enum query_id failing[] = {QUERY_BEGIN,
                                        QUERY_RECORD_INGEST_MESSAGE,
                                        QUERY_LOCK_TENANT,
                                        QUERY_GET_RESOURCES_SEEN,
                                        QUERY_GET_SERIES_STATES,
                                        QUERY_COUNT_SERIES_STATES,
                                        QUERY_LIST_ROUTES,
                                        QUERY_REGISTER_ROUTE,
                                        QUERY_LOCK_ROLLUP_HOUR,
                                        QUERY_ADD_MINUTE,
                                        QUERY_MARK_ROLLUP_PENDING,
                                        QUERY_UPSERT_SERIES_STATE,
                                        QUERY_TOUCH_RESOURCE,
                                        QUERY_ADD_INGEST_WARNING,
                                        QUERY_COMMIT};
#define FAILING_COUNT (int)(sizeof failing / sizeof *failing)

/* R-TX-1: whatever statement fails, nothing of the batch is stored, acknowledged or counted, and it
 * is applied once when it comes again. */
START_TEST(writer_transaction__transient_failure_puts_the_batch_back)
{
    struct harness *h = harness_new(NULL);
    SEND(h, "m1", {.start = -60, .n = 10, .span = true});
    SEND(h, "m2", {.start = -60, .n = 5, .route = "/pay"});
    fault(h, (struct test_fault){.query = failing[_i], .sqlstate = "40001", .times = 1});
    run(h);
    ck_assert_int_eq(total(h), 0);
    ck_assert_int_eq(sql_int(h, "select count(*) from ingest_dedup"), 0);
    ck_assert_int_eq(h->messages[0].delay_ns, 10 * NS_PER_S);
    ck_assert_int_eq(h->messages[1].delay_ns, 10 * NS_PER_S);
    ck_assert_uint_eq(h->outcomes[MESSAGE_RETRY], 2);
    ck_assert_uint_eq(h->points[POINT_FIRST_FULL], 0);
    drain(h, 3);
    ck_assert_int_eq(total(h), 15);
    ck_assert_uint_eq(h->outcomes[MESSAGE_APPLIED], 2);
    ck_assert_uint_eq(h->points[POINT_FIRST_FULL], 2);
    harness_free(h);
}
END_TEST

/* R-Q-1: 10 20 40 80 80 s, by the queue's delivery count. */
START_TEST(writer_transaction__backoff)
{
    static const int64_t delays_s[] = {10, 20, 40, 80, 80, 80};
    struct harness *h = harness_new(NULL);
    struct test_message *m1 = SEND(h, "m1", {.start = -60, .n = 10});
    fault(h, (struct test_fault){.query = QUERY_BEGIN, .sqlstate = "08006", .times = 6});
    for (size_t i = 0; i < 6; i++) {
        drain(h, 1);
        ck_assert_int_eq(m1->delay_ns, delays_s[i] * NS_PER_S);
    }
    drain(h, 1);
    ck_assert_uint_eq(h->outcomes[MESSAGE_APPLIED], 1);
    harness_free(h);
}
END_TEST

/* R-FENCE-1: refused before any statement, before any dead letter, and put back. */
START_TEST(writer_transaction__stale_fence)
{
    struct harness *h = harness_new(NULL);
    SEND(h, "m1", {.start = -60, .n = 10});
    send_bytes(h, "m2", "\x0a\xff", 2);
    h->stale = true;
    ck_assert_int_eq(run_status(h), STATUS_STALE);
    ck_assert_uint_eq(h->call_count, 0);
    ck_assert_uint_eq(h->letter_count, 0);
    ck_assert_uint_eq(h->outcomes[MESSAGE_RETRY], 2);
    h->stale = false;
    restart(h);
    drain(h, 2);
    ck_assert_int_eq(total(h), 10);
    ck_assert_uint_eq(h->outcomes[MESSAGE_DEAD_VALIDATION], 1);
    harness_free(h);
}
END_TEST

/* R-TX-1: the acknowledgement fails after the commit: the redelivery is already_applied. */
START_TEST(writer_transaction__failed_acknowledgement)
{
    struct harness *h = harness_new(NULL);
    struct test_message *m1 = SEND(h, "m1", {.start = -60, .n = 10});
    h->ack_fails = true;
    ck_assert_int_eq(run_status(h), STATUS_IO);
    ck_assert_uint_eq(h->outcomes[MESSAGE_APPLIED], 1);
    h->ack_fails = false;
    redeliver(m1);
    run(h);
    ck_assert_int_eq(total(h), 10);
    ck_assert_uint_eq(h->outcomes[MESSAGE_ALREADY_APPLIED], 1);
    ck_assert_uint_eq(h->points[POINT_FIRST_FULL], 1);
    harness_free(h);
}
END_TEST

/* A message with a delta point in each of the last `hours` hours. */
static void send_hours(struct harness *h, const char *id, int hours)
{
    struct test_point points[168];
    for (int i = 0; i < hours; i++)
        points[i] =
            (struct test_point){.start = -3600 * i - 60, .time = -3600 * i, .n = 1, .delta = true};
    send_points(h, id, points, (size_t)hours);
}

/* R-TX-2 (S-9): 7 tenants x 167 hours = 1169 hour locks: 5 x 167 = 835 in the first transaction,
 * the rest in a second. One tenant's 167 hours, seven times, are 167. */
START_TEST(writer_transaction__a_thousand_hours)
{
    static const struct {
        const char *rules;
        bool one_tenant;
        size_t transactions;
    } cases[] = {{"default", false, 2}, {"-S-9", false, 1}, {"default", true, 1}};
    struct harness *h = harness_new(cases[_i].rules);
    char tenant[] = "00000000-0000-4000-8000-000000000000";
    for (int i = 0; i < 7; i++) {
        char id[32];
        snprintf(id, sizeof id, "m%d", i);
        if (!cases[_i].one_tenant)
            tenant[35] = (char)('0' + i);
        h->tenant = tenant;
        send_hours(h, id, 167);
    }
    run(h);
    ck_assert_uint_eq(calls_of(h, QUERY_BEGIN), cases[_i].transactions);
    ck_assert_int_eq(total(h), 7 * 167);
    ck_assert_int_eq(sql_int(h, "select count(*) from rollup_pending"),
                     cases[_i].one_tenant ? 167 : 7 * 167);
    ck_assert_uint_eq(h->outcomes[MESSAGE_APPLIED], 7);
    harness_free(h);
}
END_TEST

/* A batch takes at most METRICSWRITER_BATCH_MAX messages; an empty queue is no error. */
START_TEST(writer_transaction__batch_max)
{
    struct harness *h = harness_new(NULL);
    h->settings.batch_max = 2;
    for (int i = 0; i < 3; i++) {
        char id[32];
        snprintf(id, sizeof id, "m%d", i);
        SEND(h, id, {.start = -60, .n = 1, .delta = true});
    }
    run(h);
    ck_assert_int_eq(total(h), 2);
    run(h);
    ck_assert_int_eq(total(h), 3);
    run(h);
    ck_assert_uint_eq(h->call_count, 0);
    harness_free(h);
}
END_TEST

Suite *writer_transaction_suite(void)
{
    Suite *suite = suite_create("writer_transaction");
    TCase *tests = tcase_create("transaction");
    tcase_add_test(tests, writer_transaction__statements_in_order);
    tcase_add_loop_test(tests, writer_transaction__switches_and_their_statements, 0, 5);
    tcase_add_test(tests, writer_transaction__message_id_applies_once);
    tcase_add_test(tests, writer_transaction__message_id_twice_in_a_batch);
    tcase_add_loop_test(tests, writer_transaction__id_of_another_tenant, 0, 4);
    tcase_add_test(tests, writer_transaction__removed_tenant);
    tcase_add_loop_test(tests, writer_transaction__only_a_removed_tenant, 0, 2);
    tcase_add_test(tests, writer_transaction__applied_before_the_tenant_was_removed);
    tcase_add_loop_test(tests, writer_transaction__another_writer_judged_the_stream, 0, 2);
    tcase_add_test(tests, writer_transaction__lost_reply_of_commit);
    tcase_add_loop_test(tests, writer_transaction__transient_failure_puts_the_batch_back, 0,
                        FAILING_COUNT);
    tcase_add_test(tests, writer_transaction__backoff);
    tcase_add_test(tests, writer_transaction__stale_fence);
    tcase_add_test(tests, writer_transaction__failed_acknowledgement);
    tcase_add_loop_test(tests, writer_transaction__a_thousand_hours, 0, 3);
    tcase_add_test(tests, writer_transaction__batch_max);
    suite_add_tcase(suite, tests);
    return suite;
}

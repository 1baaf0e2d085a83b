/* MS "Poison messages": one bad message never stalls or loses the others. */
#include "tests/core/writer/harness.h"
#include <stdio.h>

Suite *writer_poison_suite(void);

/* Layer 2: NUL in a route. PostgreSQL would say 22021, SQLite would store it: the check is in C. It
 * is dead before anything of the batch is written; the others are applied. */
START_TEST(writer_poison__invalid_message_goes_alone)
{
    struct harness *h = harness_new(NULL);
    SEND(h, "m1", {.start = -60, .n = 1, .delta = true});
    SEND(h, "m2", {.start = -60, .n = 10, .route = "/a\0b", .route_size = 4, .delta = true});
    SEND(h, "m3", {.start = -60, .n = 100, .delta = true});
    run(h);
    ck_assert_int_eq(total(h), 101);
    ck_assert_uint_eq(h->outcomes[MESSAGE_APPLIED], 2);
    ck_assert_uint_eq(h->outcomes[MESSAGE_DEAD_VALIDATION], 1);
    ck_assert_uint_eq(h->letter_count, 1);
    ck_assert_str_eq(h->letters[0].id, "m2");
    ck_assert_str_eq(h->letters[0].sqlstate, "");
    ck_assert(strstr(h->letters[0].message, "http.route") != NULL);
    ck_assert_int_eq(sql_int(h, "select count(*) from ingest_dedup"), 2);
    harness_free(h);
}
END_TEST

/* R-DEC-3: what makes a message invalid as a whole, each alone in its batch. */
START_TEST(writer_poison__message_checks)
{
    struct harness *h = harness_new(NULL);
    const struct test_point good = {.start = -60, .n = 1, .delta = true};
    char long_id[LIMIT_MSG_ID_BYTES + 2];
    memset(long_id, 'x', sizeof long_id - 1);
    long_id[sizeof long_id - 1] = '\0';
    send_points(h, "", &good, 1);      /* no id */
    send_points(h, long_id, &good, 1); /* 257 bytes */
    send_bytes(h, "cut", "\x0a\x05", 2);
    size_t size;
    uint8_t *payload = test_request(NULL, &good, 1, &size);
    send_bytes(h, "no tenant", payload, size);
    free(payload);
    payload = test_request(ZETA, &good, 1, &size);
    send_bytes(h, "other tenant", payload, size);
    free(payload);
    run(h);
    ck_assert_uint_eq(h->outcomes[MESSAGE_DEAD_VALIDATION], 5);
    ck_assert_uint_eq(h->call_count, 0);
    long_id[LIMIT_MSG_ID_BYTES] = '\0';
    send_points(h, long_id, &good, 1); /* 256 bytes are good */
    send_bytes(h, "empty", "", 0);     /* a request without resources */
    run(h);
    ck_assert_uint_eq(h->outcomes[MESSAGE_APPLIED], 2);
    harness_free(h);
}
END_TEST

/* A-1 off: one invalid message holds up its batch for ever. */
START_TEST(writer_poison__without_A1_an_invalid_message_stalls_its_batch)
{
    struct harness *h = harness_new("-A-1");
    SEND(h, "m1", {.start = -60, .n = 1, .delta = true});
    SEND(h, "m2", {.start = -60, .n = 10, .route = "/a\nb", .delta = true});
    drain(h, 8);
    ck_assert_int_eq(total(h), 0);
    ck_assert_uint_eq(h->letter_count, 0);
    ck_assert_uint_eq(h->outcomes[MESSAGE_RETRY], 16);
    harness_free(h);
}
END_TEST

static void fault_at_route(struct harness *h, const char *sqlstate, int times)
{
    fault(h, (struct test_fault){
                 .query = QUERY_ADD_MINUTE, .sqlstate = sqlstate, .text = "/bad", .times = times});
}

/* Layer 3: a data error is dead at once; m1 and m3 are committed, each alone. */
START_TEST(writer_poison__data_error_is_dead_at_once)
{
    struct harness *h = harness_new(NULL);
    SEND(h, "m1", {.start = -60, .n = 1, .delta = true});
    SEND(h, "m2", {.start = -60, .n = 10, .route = "/bad", .delta = true});
    SEND(h, "m3", {.start = -60, .n = 100, .delta = true});
    fault_at_route(h, _i == 0 ? "22021" : "23514", 99);
    run(h);
    ck_assert_int_eq(total(h), 101);
    ck_assert_uint_eq(calls_of(h, QUERY_BEGIN), 4); /* the batch, then three */
    ck_assert_uint_eq(h->outcomes[MESSAGE_APPLIED], 2);
    ck_assert_uint_eq(h->outcomes[MESSAGE_DEAD_DATA_ERROR], 1);
    ck_assert_str_eq(h->letters[0].id, "m2");
    ck_assert_str_eq(h->letters[0].sqlstate, _i == 0 ? "22021" : "23514");
    ck_assert_int_eq(h->letters[0].deliveries, 1);
    ck_assert_int_eq(sql_int(h, "select count(*) from ingest_dedup where msg_id = 'm2'"), 0);
    ck_assert_uint_eq(h->points[POINT_DELTA], 2);
    harness_free(h);
}
END_TEST

/* A repaired copy of a dead letter can be applied under the same id (R-Q-2). */
START_TEST(writer_poison__dead_letter_leaves_no_dedup_row)
{
    struct harness *h = harness_new(NULL);
    SEND(h, "m1", {.start = -60, .n = 10, .route = "/bad", .delta = true});
    fault_at_route(h, "22003", 2);
    run(h);
    ck_assert_uint_eq(h->outcomes[MESSAGE_DEAD_DATA_ERROR], 1);
    SEND(h, "m1", {.start = -60, .n = 10, .delta = true});
    run(h);
    ck_assert_int_eq(total(h), 10);
    harness_free(h);
}
END_TEST

/* A-1 off: the batch is refused whole, for ever. */
START_TEST(writer_poison__without_A1_a_data_error_stalls_its_batch)
{
    struct harness *h = harness_new("-A-1");
    SEND(h, "m1", {.start = -60, .n = 1, .delta = true});
    SEND(h, "m2", {.start = -60, .n = 10, .route = "/bad", .delta = true});
    fault_at_route(h, "22021", 99);
    drain(h, 8);
    ck_assert_int_eq(total(h), 0);
    ck_assert_uint_eq(h->letter_count, 0);
    ck_assert_int_eq(h->messages[0].delivery.deliveries, 8);
    harness_free(h);
}
END_TEST

/* Any other refusal: alone, 10 20 40 80 s; at the 5th delivery, 150 s later, dead, because m1 was
 * applied by this writer less than 10 minutes ago. */
START_TEST(writer_poison__other_refusal_is_dead_after_five_deliveries)
{
    struct harness *h = harness_new(NULL);
    SEND(h, "m1", {.start = -60, .n = 1, .delta = true});
    SEND(h, "m2", {.start = -60, .n = 10, .route = "/bad", .delta = true});
    fault_at_route(h, "42501", 99);
    drain(h, 4);
    ck_assert_uint_eq(h->outcomes[MESSAGE_RETRY], 4);
    ck_assert_uint_eq(h->letter_count, 0);
    drain(h, 1);
    ck_assert_int_eq(h->now_s, 150);
    ck_assert_uint_eq(h->outcomes[MESSAGE_DEAD_RETRIES], 1);
    ck_assert_int_eq(h->letters[0].deliveries, 5);
    ck_assert_str_eq(h->letters[0].sqlstate, "42501");
    harness_free(h);
}
END_TEST

/* The guard: nothing else was applied, so a fault of the database is not mistaken for poison. Every
 * 80 s until something else is applied; a restart forgets; 601 s are too long ago. */
START_TEST(writer_poison__guard_against_a_database_fault)
{
    struct harness *h = harness_new(NULL);
    struct test_message *m1 =
        SEND(h, "m1", {.start = -60, .n = 10, .route = "/bad", .delta = true});
    fault_at_route(h, "42501", 999);
    drain(h, 7);
    ck_assert_uint_eq(h->outcomes[MESSAGE_RETRY], 7);
    ck_assert_int_eq(m1->delay_ns, 80 * NS_PER_S);
    struct test_message *m2 = SEND(h, "m2", {.start = -60, .n = 1, .delta = true});
    run(h); /* m2 alone: applied */
    restart(h);
    redeliver(m2); /* already applied is not newly applied */
    drain(h, 2);
    ck_assert_uint_eq(h->outcomes[MESSAGE_ALREADY_APPLIED], 1);
    drain(h, 1);
    ck_assert_uint_eq(h->outcomes[MESSAGE_RETRY], 9);
    SEND(h, "m3", {.start = -60, .n = 1, .delta = true});
    run(h);
    h->now_s += LIMIT_GUARD_SECONDS + 1;
    run(h);
    ck_assert_uint_eq(h->outcomes[MESSAGE_RETRY], 10);
    SEND(h, "m4", {.start = -60, .n = 1, .delta = true});
    run(h);
    h->now_s += LIMIT_GUARD_SECONDS;
    run(h);
    ck_assert_uint_eq(h->outcomes[MESSAGE_DEAD_RETRIES], 1);
    harness_free(h);
}
END_TEST

/* "Another" message: its own id, applied before, does not count. Here the first delivery was
 * applied and only its acknowledgement failed. */
START_TEST(writer_poison__guard_wants_another_message)
{
    struct harness *h = harness_new(NULL);
    struct test_message *m1 = SEND(h, "m1", {.start = -60, .n = 10, .delta = true});
    h->ack_fails = true;
    run_status(h);
    h->ack_fails = false;
    redeliver(m1);
    fault(h, (struct test_fault){
                 .query = QUERY_RECORD_INGEST_MESSAGE, .sqlstate = "42501", .times = 99});
    drain(h, 6);
    ck_assert_uint_eq(h->outcomes[MESSAGE_RETRY], 6);
    ck_assert_uint_eq(h->outcomes[MESSAGE_DEAD_RETRIES], 0);
    harness_free(h);
}
END_TEST

/* Alone, a transient error is a retry, never dead, however often it comes. */
START_TEST(writer_poison__transient_error_in_isolation_is_a_retry)
{
    struct harness *h = harness_new(NULL);
    SEND(h, "m1", {.start = -60, .n = 1, .delta = true});
    struct test_message *m2 =
        SEND(h, "m2", {.start = -60, .n = 10, .route = "/bad", .delta = true});
    fault_at_route(h, "42501", 1); /* the batch */
    fault_at_route(h, "40P01", 1); /* then alone */
    run(h);
    ck_assert_int_eq(total(h), 1);
    ck_assert_int_eq(m2->delay_ns, 10 * NS_PER_S);
    m2->delivery.deliveries = 20; /* and m1 was applied: another refusal would be dead now */
    fault_at_route(h, "42501", 1);
    fault_at_route(h, "55P03", 1);
    drain(h, 1);
    ck_assert_uint_eq(h->letter_count, 0);
    ck_assert_int_eq(m2->delay_ns, 80 * NS_PER_S);
    drain(h, 1);
    ck_assert_int_eq(total(h), 11);
    harness_free(h);
}
END_TEST

/* R-TX-4: a minute over int64, inside the batch or in the table: the one message that causes it is
 * dead with 22003, the row stays as it was. */
START_TEST(writer_poison__overflow_finds_its_message)
{
    struct harness *h = harness_new(NULL);
    SEND(h, "m1", {.start = -60, .n = (uint64_t)INT64_MAX - 5, .delta = true});
    if (_i == 1)
        run(h);
    SEND(h, "m2", {.start = -60, .n = 10, .delta = true});
    SEND(h, "m3", {.start = -60, .n = 5, .delta = true});
    run(h);
    ck_assert_int_eq(total(h), INT64_MAX);
    ck_assert_uint_eq(h->outcomes[MESSAGE_DEAD_DATA_ERROR], 1);
    ck_assert_str_eq(h->letters[0].id, "m2");
    ck_assert_str_eq(h->letters[0].sqlstate, "22003");
    harness_free(h);
}
END_TEST

/* The same for a sum of doubles: 1.7e308 + 1.7e308 is no double. */
START_TEST(writer_poison__sum_out_of_range_finds_its_message)
{
    struct harness *h = harness_new(NULL);
    SEND(h, "m1", {.start = -60, .n = 1, .sum = 1.7e308, .delta = true});
    if (_i == 1)
        run(h);
    SEND(h, "m2", {.start = -60, .n = 2, .sum = 1.7e308, .delta = true});
    run(h);
    ck_assert_int_eq(total(h), 1);
    ck_assert_str_eq(h->letters[0].id, "m2");
    ck_assert_str_eq(h->letters[0].sqlstate, "22003");
    harness_free(h);
}
END_TEST

/* B12: a dead partition job. By the letter every message is dead at once; S-8 stalls the queue, and
 * all is applied when the partitions are back. */
START_TEST(writer_poison__missing_partition_inside_the_window)
{
    bool stalls = _i == 1;
    struct harness *h = harness_new(stalls ? "+S-8" : "-S-8");
    drop_minute_partitions(h);
    SEND(h, "m1", {.start = -60, .n = 1, .delta = true});
    SEND(h, "m2", {.start = -60, .n = 10, .delta = true});
    drain(h, 6);
    ck_assert_uint_eq(h->outcomes[MESSAGE_DEAD_DATA_ERROR], stalls ? 0 : 2);
    if (!stalls)
        ck_assert_str_eq(h->letters[0].sqlstate, "23514");
    make_minute_partitions(h);
    drain(h, 1);
    ck_assert_int_eq(total(h), stalls ? 11 : 0);
    harness_free(h);
}
END_TEST

/* S-8 is for days that the partition job must keep: 8 days ahead, let in by a wide tolerance, is
 * the point's own fault. Another 23514 is a broken check. */
START_TEST(writer_poison__missing_partition_outside_the_window)
{
    struct harness *h = harness_new("+S-8");
    h->settings.future_tolerance_ns = 30 * NS_PER_DAY;
    SEND(h, "m1", {.time = 9 * DAY_S, .n = 1, .delta = true});
    SEND(h, "m2", {.start = -60, .n = 10, .route = "/bad", .delta = true});
    fault_at_route(h, "23514", 99);
    run(h);
    ck_assert_uint_eq(h->outcomes[MESSAGE_DEAD_DATA_ERROR], 2);
    harness_free(h);
}
END_TEST

/* R-Q-2: what API_DLQ cannot take is not acknowledged. */
START_TEST(writer_poison__dead_letter_queue_is_away)
{
    struct harness *h = harness_new(NULL);
    SEND(h, "m1", {.start = -60, .n = 10, .route = "/a\nb", .delta = true});
    SEND(h, "m2", {.start = -60, .n = 1, .delta = true});
    h->dlq_fails = true;
    run(h);
    ck_assert_int_eq(h->messages[0].state, MESSAGE_READY);
    ck_assert_int_eq(h->messages[1].state, MESSAGE_ACKED);
    ck_assert_uint_eq(h->outcomes[MESSAGE_DEAD_VALIDATION], 0);
    ck_assert_uint_eq(h->outcomes[MESSAGE_RETRY], 1);
    h->dlq_fails = false;
    drain(h, 1);
    ck_assert_uint_eq(h->outcomes[MESSAGE_DEAD_VALIDATION], 1);
    ck_assert_int_eq(h->messages[0].state, MESSAGE_ACKED);
    harness_free(h);
}
END_TEST

/* A removed tenant in a batch that is refused: its message is dead once, the rest goes on alone. */
START_TEST(writer_poison__removed_tenant_in_a_refused_batch)
{
    struct harness *h = harness_new(NULL);
    set_tenant(h, ZETA, "removed");
    h->tenant = ZETA;
    SEND(h, "m1", {.start = -60, .n = 1000, .delta = true});
    h->tenant = ACME;
    SEND(h, "m2", {.start = -60, .n = 1, .delta = true});
    SEND(h, "m3", {.start = -60, .n = 10, .route = "/bad", .delta = true});
    fault_at_route(h, "22021", 99);
    run(h);
    ck_assert_int_eq(total(h), 1);
    ck_assert_uint_eq(h->outcomes[MESSAGE_DEAD_TENANT], 1);
    ck_assert_uint_eq(h->outcomes[MESSAGE_DEAD_DATA_ERROR], 1);
    ck_assert_uint_eq(h->outcomes[MESSAGE_APPLIED], 1);
    harness_free(h);
}
END_TEST

Suite *writer_poison_suite(void)
{
    Suite *suite = suite_create("writer_poison");
    TCase *tests = tcase_create("poison");
    tcase_add_test(tests, writer_poison__invalid_message_goes_alone);
    tcase_add_test(tests, writer_poison__message_checks);
    tcase_add_test(tests, writer_poison__without_A1_an_invalid_message_stalls_its_batch);
    tcase_add_loop_test(tests, writer_poison__data_error_is_dead_at_once, 0, 2);
    tcase_add_test(tests, writer_poison__dead_letter_leaves_no_dedup_row);
    tcase_add_test(tests, writer_poison__without_A1_a_data_error_stalls_its_batch);
    tcase_add_test(tests, writer_poison__other_refusal_is_dead_after_five_deliveries);
    tcase_add_test(tests, writer_poison__guard_against_a_database_fault);
    tcase_add_test(tests, writer_poison__guard_wants_another_message);
    tcase_add_test(tests, writer_poison__transient_error_in_isolation_is_a_retry);
    tcase_add_loop_test(tests, writer_poison__overflow_finds_its_message, 0, 2);
    tcase_add_loop_test(tests, writer_poison__sum_out_of_range_finds_its_message, 0, 2);
    tcase_add_loop_test(tests, writer_poison__missing_partition_inside_the_window, 0, 2);
    tcase_add_test(tests, writer_poison__missing_partition_outside_the_window);
    tcase_add_test(tests, writer_poison__dead_letter_queue_is_away);
    tcase_add_test(tests, writer_poison__removed_tenant_in_a_refused_batch);
    suite_add_tcase(suite, tests);
    return suite;
}

/* sim/world/queue and consumer: the JetStream model of R-Q-1 and the dead letters of R-Q-2. */
#include "core/base/time.h"
#include "sim/world/consumer.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#define START INT64_C(1772323200000000000) /* 2026-03-01T00:00:00Z */

struct bench {
    struct sched *sched;
    struct queue *queue;
    struct consumer *consumers[2];
    struct arena arena;
    /* what an actor saw, one line a delivery: "sequence/deliveries@seconds " */
    char seen[512];
    /* what the actor does with its batch */
    size_t max;
    int64_t retry_ns; /* >= 0: retry; -1: ack; -2: nothing */
};

static struct bench bench;

static void set_up(void)
{
    memset(&bench, 0, sizeof(bench));
    struct queue_config config = queue_config_default();
    config.keep_acknowledged = true;
    bench.sched = sched_new(1, START);
    bench.queue = queue_new(&config, bench.sched, NULL);
    bench.max = 10;
    bench.retry_ns = -1;
    arena_init(&bench.arena, 1 << 20);
    for (int i = 0; i < 2; i++)
        bench.consumers[i] = consumer_new(bench.queue, NULL, NULL);
}

static void tear_down(void)
{
    sched_free(bench.sched);
    for (int i = 0; i < 2; i++)
        consumer_free(bench.consumers[i]);
    queue_free(bench.queue);
    arena_free(&bench.arena);
}

static bool publish(const char *id)
{
    struct err err;
    struct publication publication = {
        .msg_id = id ? bytes_of(id) : (struct bytes){0},
        .tenant = {{7}},
        .payload = bytes_of(id ? id : "nameless"),
    };
    uint64_t sequence;
    bool duplicate;
    ck_assert_int_eq(queue_publish(bench.queue, &publication, &sequence, &duplicate, &err),
                     STATUS_OK);
    return !duplicate;
}

/* "id" at so many milliseconds, as a world event */
struct timed {
    const char *id;
    int64_t at_ms;
};
static void publish_event(void *argument)
{
    const struct timed *timed = argument;
    publish(timed->id);
}
static void publish_at(struct timed *timed)
{
    sched_at(bench.sched, START + timed->at_ms * NS_PER_MS, publish_event, timed);
}

static void saw(const struct delivery *delivery)
{
    char line[64];
    (void)snprintf(line, sizeof(line), "%llu/%d@%.1f ", (unsigned long long)delivery->sequence,
                   delivery->deliveries,
                   (double)(sched_now_ns(bench.sched) - START) / (double)NS_PER_S);
    strncat(bench.seen, line, sizeof(bench.seen) - strlen(bench.seen) - 1);
}

/* Pulls until it is told to stop. */
static void puller(void *argument)
{
    struct consumer *consumer = argument;
    struct err err;
    struct delivery *deliveries;
    size_t count;
    while (consumer->pull(consumer, bench.max, &bench.arena, &deliveries, &count, &err) ==
           STATUS_OK) {
        for (size_t i = 0; i < count; i++) {
            saw(&deliveries[i]);
            if (bench.retry_ns >= 0)
                consumer->retry(consumer, &deliveries[i], bench.retry_ns, &err);
            else if (bench.retry_ns == -1)
                consumer->ack(consumer, &deliveries[i], &err);
        }
    }
}

static struct actor *start(int index)
{
    return sched_spawn(bench.sched, index ? "w2" : "w1", puller, bench.consumers[index]);
}

static void run(int64_t seconds)
{
    ck_assert_int_eq(sched_run(bench.sched, START + seconds * NS_PER_S), SCHED_REACHED);
}

/* R-Q-1: stored at 0 and 120 s; at 60 s it is within the window of the first. B03: the window is
 * not renewed by the duplicate, or 120 s would be 60 s after it. */
START_TEST(queue_publish__drops_an_id_within_120_s_and_does_not_renew_the_window)
{
    ck_assert(publish("a"));
    run(60);
    ck_assert(!publish("a"));
    run(119);
    ck_assert(!publish("a"));
    run(120);
    ck_assert(publish("a"));
    ck_assert_uint_eq(queue_last_sequence(bench.queue), 2);
    ck_assert_uint_eq(queue_find(bench.queue, bytes_of("a")), 2);
    ck_assert_uint_eq(queue_message_at(bench.queue, 2)->previous, 1);
    ck_assert_uint_eq(queue_message_at(bench.queue, 1)->previous, 0);
}
END_TEST

START_TEST(queue_publish__without_an_id_is_never_a_duplicate)
{
    ck_assert(publish(NULL));
    ck_assert(publish(NULL));
    ck_assert_uint_eq(queue_depth(bench.queue), 2);
}
END_TEST

/* R-Q-1: "a pull takes up to max, or what is there after 1 s". The actor pulls at 0. With nothing
 * there it waits window after window; 5.2 s lies in [5, 6), so what came by 6.0 is taken then. */
START_TEST(queue_take__gives_what_is_there_at_the_end_of_its_second)
{
    struct timed a = {"a", 5200}, b = {"b", 5900}, c = {"c", 6100};
    start(0);
    publish_at(&a);
    publish_at(&b);
    publish_at(&c);
    run(60);
    /* the second pull begins at 6.0; 6.1 lies in [6, 7) */
    ck_assert_str_eq(bench.seen, "1/1@6.0 2/1@6.0 3/1@7.0 ");
}
END_TEST

START_TEST(queue_take__returns_at_once_when_max_are_there)
{
    struct timed a = {"a", 500}, b = {"b", 700}, c = {"c", 900};
    bench.max = 2;
    start(0);
    publish_at(&a);
    publish_at(&b);
    publish_at(&c);
    run(60);
    /* two at 0.7; the pull that begins then ends at 1.7 with the third */
    ck_assert_str_eq(bench.seen, "1/1@0.7 2/1@0.7 3/1@1.7 ");
}
END_TEST

/* A pull with nothing there leaves the scheduler nothing to do: a year passes in a few steps. */
START_TEST(queue_take__with_nothing_there_takes_no_steps)
{
    start(0);
    run(1);
    uint64_t steps = sched_steps(bench.sched);
    run(365 * 86400);
    ck_assert_uint_eq(sched_steps(bench.sched), steps);
}
END_TEST

/* R-Q-1: ack wait 30 s. Taken at 1.0, due at 31.0, and the pull that waits since 1.0 has a window
 * end at 32.0; again at 62.0 -> 63.0. */
START_TEST(queue__redelivers_after_the_ack_wait_and_counts_deliveries)
{
    bench.retry_ns = -2;
    publish("a");
    start(0);
    run(70);
    ck_assert_str_eq(bench.seen, "1/1@1.0 1/2@32.0 1/3@63.0 ");
    ck_assert_uint_eq(queue_in_flight(bench.queue), 1);
    ck_assert_uint_eq(queue_depth(bench.queue), 1);
}
END_TEST

/* Taken at 1.0, put back for 10 s: due at 11.0, in the window [11, 12). */
START_TEST(queue_retry__comes_again_after_its_delay)
{
    bench.retry_ns = 10 * NS_PER_S;
    publish("a");
    start(0);
    run(12);
    ck_assert_str_eq(bench.seen, "1/1@1.0 1/2@12.0 ");
    ck_assert_uint_eq(queue_in_flight(bench.queue), 0);
}
END_TEST

/* b comes at 10.9, so its pull ends at 11.0. At that instant a is due again, and as the older one
 * it comes first (JetStream serves redeliveries before new messages). */
START_TEST(queue_take__is_in_order_of_sequence_among_what_waits)
{
    bench.retry_ns = 10 * NS_PER_S;
    struct timed b = {"b", 10900};
    publish("a");
    start(0);
    publish_at(&b);
    run(12);
    ck_assert_str_eq(bench.seen, "1/1@1.0 1/2@11.0 2/1@11.0 ");
}
END_TEST

/* A batch held longer than the ack wait is delivered to another writer as well (B01); whoever
 * answers first settles it, and the overtaken delivery can no longer ask for a retry. */
START_TEST(queue__an_overtaken_delivery_cannot_ask_for_a_retry_but_can_acknowledge)
{
    struct queue_message *message;
    publish("a");
    bench.retry_ns = -2;
    start(0);
    run(32);
    ck_assert_str_eq(bench.seen, "1/1@1.0 1/2@32.0 ");
    message = (struct queue_message *)(uintptr_t)queue_message_at(bench.queue, 1);
    ck_assert(queue_retry(bench.queue, message, 1, 0));
    ck_assert_int_eq(message->state, QUEUE_IN_FLIGHT); /* nothing happened */
    queue_ack(bench.queue, message);
    ck_assert_uint_eq(queue_depth(bench.queue), 0);
    run(120);
    ck_assert_str_eq(bench.seen, "1/1@1.0 1/2@32.0 ");
}
END_TEST

/* R-Q-1: age limit 7 days. */
START_TEST(queue__forgets_a_message_after_seven_days)
{
    publish("a");
    run(7 * 86400 - 1);
    ck_assert_uint_eq(queue_depth(bench.queue), 1);
    run(7 * 86400);
    ck_assert_uint_eq(queue_depth(bench.queue), 0);
    ck_assert_int_eq(queue_message_at(bench.queue, 1)->state, QUEUE_EXPIRED);
    struct err err;
    ck_assert_int_eq(queue_redeliver(bench.queue, bytes_of("a"), &err), STATUS_INVALID);
    ck_assert_str_eq(err.message, "cannot redeliver message \"a\": the age limit removed it");
}
END_TEST

START_TEST(queue_redeliver__brings_an_acknowledged_message_back)
{
    struct err err;
    publish("a");
    start(0);
    run(5);
    ck_assert_uint_eq(queue_depth(bench.queue), 0);
    ck_assert_int_eq(queue_redeliver(bench.queue, bytes_of("a"), &err), STATUS_OK);
    run(10);
    ck_assert_str_eq(bench.seen, "1/1@1.0 1/2@6.0 ");
    ck_assert_int_eq(queue_redeliver(bench.queue, bytes_of("b"), &err), STATUS_INVALID);
    ck_assert_str_eq(err.message, "there is no message \"b\" in the queue");
}
END_TEST

/* One durable consumer: two writers share the messages, none is taken twice. */
START_TEST(queue__two_takers_share_what_is_there)
{
    bench.max = 1;
    start(0);
    start(1);
    publish("a");
    publish("b");
    run(5);
    ck_assert_uint_eq(queue_depth(bench.queue), 0);
    ck_assert_uint_eq(strlen(bench.seen), strlen("1/1@0.0 2/1@0.0 "));
}
END_TEST

START_TEST(consumer_stop__ends_a_pull_that_waits)
{
    struct actor *actor = start(0);
    run(5);
    ck_assert(actor_alive(actor));
    consumer_stop(bench.consumers[0]);
    run(6);
    ck_assert(!actor_alive(actor));
}
END_TEST

/* What a dead writer held comes again after its ack wait, and its successor may use the consumer.
 */
START_TEST(consumer_crashed__leaves_its_batch_to_the_ack_wait)
{
    bench.retry_ns = -2;
    publish("a");
    struct actor *actor = start(0);
    run(2);
    sched_kill(bench.sched, actor);
    consumer_crashed(bench.consumers[0]);
    ck_assert_uint_eq(queue_in_flight(bench.queue), 1);
    start(0);
    run(40);
    /* the successor pulls at 2.0; due at 31.0, window [31, 32) */
    ck_assert_str_eq(bench.seen, "1/1@1.0 1/2@32.0 ");
}
END_TEST

static void dead_letterer(void *argument)
{
    struct consumer *consumer = argument;
    struct err err;
    struct delivery *deliveries;
    size_t count;
    struct dead_letter letter = {MESSAGE_DEAD_DATA_ERROR, "22021", "invalid byte", 77};
    for (int i = 0; i < 3; i++) { /* not acknowledged, as when each reply is lost */
        ck_assert_int_eq(consumer->pull(consumer, 10, &bench.arena, &deliveries, &count, &err),
                         STATUS_OK);
        ck_assert_int_eq(consumer->dead(consumer, &deliveries[0], &letter, &err), STATUS_OK);
    }
}

/* R-Q-2: payload and headers are kept; reason, SQLSTATE, message, subject, id, deliveries and time
 * are added. The deliveries at 1, 32 and 63 s are within the DLQ's own dedup window. */
START_TEST(queue_dead__keeps_the_message_and_adds_why_once)
{
    struct err err;
    struct header header = {bytes_of("Content-Type"), bytes_of("application/x-protobuf")};
    struct publication publication = {.msg_id = bytes_of("m1"),
                                      .payload = bytes_of("\x01\x02"),
                                      .headers = &header,
                                      .header_count = 1};
    uint64_t sequence;
    bool duplicate;
    ck_assert_int_eq(queue_publish(bench.queue, &publication, &sequence, &duplicate, &err),
                     STATUS_OK);
    sched_spawn(bench.sched, "w1", dead_letterer, bench.consumers[0]);
    run(100);
    ck_assert_uint_eq(queue_dead_count(bench.queue), 1);
    const struct queue_dead_letter *letter = queue_dead_letter_at(bench.queue, 0);
    ck_assert_uint_eq(letter->sequence, sequence);
    ck_assert(bytes_equal(letter->payload, publication.payload));
    ck_assert(bytes_equal(letter->msg_id, publication.msg_id));
    ck_assert(
        bytes_equal(letter->subject, bytes_of("api.metrics.00000000-0000-0000-0000-000000000000")));
    ck_assert_uint_eq(letter->header_count, 1);
    ck_assert(bytes_equal(letter->headers[0].value, header.value));
    ck_assert_int_eq(letter->reason, MESSAGE_DEAD_DATA_ERROR);
    ck_assert_str_eq(letter->sqlstate, "22021");
    ck_assert_str_eq(letter->message, "invalid byte");
    ck_assert_int_eq(letter->deliveries, 1);
    ck_assert_int_eq(letter->time_ns, 77);
    ck_assert(queue_message_at(bench.queue, 1)->dead);
    ck_assert(queue_came_back(queue_message_at(bench.queue, 1))); /* at 32 and 63 s */
}
END_TEST

/* The payload of an acknowledged message stays while a delivery of it can still be read. */
START_TEST(queue_ack__keeps_the_payload_while_another_delivery_reads_it)
{
    struct queue_config config = queue_config_default(); /* acknowledged payloads are released */
    struct queue *queue = queue_new(&config, bench.sched, NULL);
    struct err err;
    struct publication publication = {.msg_id = bytes_of("a"), .payload = bytes_of("x")};
    uint64_t sequence;
    bool duplicate;
    ck_assert_int_eq(queue_publish(queue, &publication, &sequence, &duplicate, &err), STATUS_OK);
    struct queue_message *message = (struct queue_message *)(uintptr_t)queue_message_at(queue, 1);
    message->holders = 1;
    queue_ack(queue, message);
    ck_assert_ptr_nonnull(message->payload.data);
    queue_let_go(queue, message);
    ck_assert_ptr_null(message->payload.data);
    queue_free(queue);
}
END_TEST

Suite *queue_suite(void);
Suite *queue_suite(void)
{
    Suite *suite = suite_create("queue");
    TCase *tcase = tcase_create("queue");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, queue_publish__drops_an_id_within_120_s_and_does_not_renew_the_window);
    tcase_add_test(tcase, queue_publish__without_an_id_is_never_a_duplicate);
    tcase_add_test(tcase, queue_take__gives_what_is_there_at_the_end_of_its_second);
    tcase_add_test(tcase, queue_take__returns_at_once_when_max_are_there);
    tcase_add_test(tcase, queue_take__with_nothing_there_takes_no_steps);
    tcase_add_test(tcase, queue__redelivers_after_the_ack_wait_and_counts_deliveries);
    tcase_add_test(tcase, queue_retry__comes_again_after_its_delay);
    tcase_add_test(tcase, queue_take__is_in_order_of_sequence_among_what_waits);
    tcase_add_test(tcase, queue__an_overtaken_delivery_cannot_ask_for_a_retry_but_can_acknowledge);
    tcase_add_test(tcase, queue__forgets_a_message_after_seven_days);
    tcase_add_test(tcase, queue_redeliver__brings_an_acknowledged_message_back);
    tcase_add_test(tcase, queue__two_takers_share_what_is_there);
    tcase_add_test(tcase, consumer_stop__ends_a_pull_that_waits);
    tcase_add_test(tcase, consumer_crashed__leaves_its_batch_to_the_ack_wait);
    tcase_add_test(tcase, queue_dead__keeps_the_message_and_adds_why_once);
    tcase_add_test(tcase, queue_ack__keeps_the_payload_while_another_delivery_reads_it);
    suite_add_tcase(suite, tcase);
    return suite;
}

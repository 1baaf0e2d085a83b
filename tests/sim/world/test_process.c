/* sim/world/process, collector, encode: what an SDK and a collector put onto the queue, read back
 * by the decoder that the writer uses. */
#include "world_bench.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

static struct world_bench bench;

static void tear_down(void)
{
    world_bench_tear_down(&bench);
}

static void delta(struct process_config *process, struct collector_config *collector)
{
    (void)collector;
    process->temporality = TEMPORALITY_DELTA;
}

/* 3 + 2 requests of 20 ms in bucket 3, (0.01, 0.025]. 20 ms is 20971.52 units of 2^-20 s, so each
 * adds 20971 / 2^20 s. */
START_TEST(process__cumulative_points_grow_and_unchanged_series_go_on)
{
    world_bench_set_up(&bench, NULL);
    world_serve(&bench, 10, "/cart", 3);
    world_serve(&bench, 20, "/pay", 1);
    world_export(&bench, 60);
    world_serve(&bench, 70, "/cart", 2);
    world_export(&bench, 120);
    ck_assert_uint_eq(queue_last_sequence(bench.queue), 2);
    struct message message = world_decode(&bench, 2);
    ck_assert_uint_eq(message.point_count, 2);
    ck_assert_uint_eq(message.good_count, 2);
    for (size_t i = 0; i < 2; i++) {
        const struct point *point = &message.points[i];
        bool cart = bytes_equal(point->route, bytes_of("/cart"));
        ck_assert_int_eq(point->count, cart ? 5 : 1);
        ck_assert_int_eq(point->histogram.counts[2], point->count);
        ck_assert_int_eq(point->start_unix_nano, WORLD_START);
        ck_assert_int_eq(point->time_unix_nano, world_at(120));
        ck_assert(point->sum == (double)point->count * 20971.0 / 1048576.0);
        ck_assert(bytes_equal(point->service, bytes_of("shop")));
        ck_assert_int_eq(point->status_code, 200);
        ck_assert(!point->lossy);
    }
}
END_TEST

/* The series hash that names and truth go by is the one that the writer computes. */
START_TEST(process__its_hashes_are_those_of_the_decoder)
{
    world_bench_set_up(&bench, NULL);
    world_serve(&bench, 10, "/cart", 1);
    world_export(&bench, 60);
    struct message message = world_decode(&bench, 1);
    ck_assert_str_eq(names_of(bench.names, &message.points[0].series_hash), "shop-1 GET /cart 200");
    ck_assert_str_eq(names_of(bench.names, &message.points[0].resource_hash), "shop-1");
}
END_TEST

START_TEST(process__delta_points_hold_what_came_since_the_last_export_only)
{
    world_bench_set_up(&bench, delta);
    world_serve(&bench, 10, "/cart", 3);
    world_serve(&bench, 20, "/pay", 1);
    world_export(&bench, 60);
    world_serve(&bench, 70, "/cart", 2);
    world_export(&bench, 120);
    world_export(&bench, 180); /* nothing changed: nothing is sent */
    ck_assert_uint_eq(queue_last_sequence(bench.queue), 2);
    struct message message = world_decode(&bench, 2);
    ck_assert_uint_eq(message.point_count, 1);
    ck_assert_int_eq(message.points[0].temporality, TEMPORALITY_DELTA);
    ck_assert_int_eq(message.points[0].count, 2);
    ck_assert_int_eq(message.points[0].start_unix_nano, world_at(60));
}
END_TEST

static void spans(struct process_config *process, struct collector_config *collector)
{
    (void)collector;
    process->telemetry.source = SOURCE_SPAN;
}

/* MS "Metric tables": span points carry the start of the UTC minute their spans ended in, no start.
 */
START_TEST(process__span_points_are_one_a_minute_without_a_start)
{
    world_bench_set_up(&bench, spans);
    world_serve(&bench, 10, "/cart", 3);
    world_serve(&bench, 59, "/cart", 1);
    world_serve(&bench, 60, "/cart", 2);
    world_export(&bench, 65);
    struct message message = world_decode(&bench, 1);
    ck_assert_uint_eq(message.good_count, 2);
    for (size_t i = 0; i < 2; i++) {
        const struct point *point = &message.points[i];
        ck_assert_int_eq(point->source, SOURCE_SPAN);
        ck_assert_int_eq(point->start_unix_nano, 0);
        ck_assert_int_eq(point->temporality, TEMPORALITY_DELTA);
        ck_assert_int_eq(point->time_unix_nano, world_at(point->count == 4 ? 0 : 60));
    }
}
END_TEST

static void skewed(struct process_config *process, struct collector_config *collector)
{
    (void)collector;
    process->skew_ns = -7 * NS_PER_S;
}

START_TEST(process__writes_the_times_of_its_own_clock)
{
    world_bench_set_up(&bench, skewed);
    world_serve(&bench, 10, "/cart", 1);
    world_export(&bench, 60);
    struct message message = world_decode(&bench, 1);
    ck_assert_int_eq(message.points[0].start_unix_nano, world_at(-7));
    ck_assert_int_eq(message.points[0].time_unix_nano, world_at(53));
}
END_TEST

/* A crash loses the last interval; the restart has a new start time and counts from nothing. */
START_TEST(process_crash__loses_the_interval_and_restarts_from_nothing)
{
    world_bench_set_up(&bench, NULL);
    world_serve(&bench, 10, "/cart", 3);
    world_export(&bench, 60);
    world_serve(&bench, 70, "/cart", 5);
    process_crash(bench.process);
    process_start(bench.process, world_at(90), world_at(90));
    world_serve(&bench, 100, "/cart", 2);
    world_export(&bench, 150);
    struct message message = world_decode(&bench, 2);
    ck_assert_uint_eq(message.point_count, 1);
    ck_assert_int_eq(message.points[0].count, 2);
    ck_assert_int_eq(message.points[0].start_unix_nano, world_at(90));
    ck_assert_uint_eq(truth_total_served(bench.truth, NULL), 10);
}
END_TEST

START_TEST(process_stop__flushes_when_it_is_asked_to)
{
    struct err err;
    world_bench_set_up(&bench, NULL);
    world_serve(&bench, 10, "/cart", 3);
    ck_assert_int_eq(process_stop(bench.process, world_at(31), true, &err), STATUS_OK);
    ck_assert_int_eq(world_decode(&bench, 1).points[0].time_unix_nano, world_at(31));
    ck_assert(process_next_export_ns(bench.process) == INT64_MAX);
    struct request request = {.method = bytes_of("GET")};
    ck_assert_int_eq(process_serve(bench.process, world_at(32), &request, 0, 1, &err),
                     STATUS_STOPPED);
}
END_TEST

/* Due at 60, 120, ...; an export out of turn at 70 changes nothing of that. One that has been
 * running since -150 s exports at -90, -30, 30: the first at or after 0 is 30. */
START_TEST(process__exports_are_due_every_interval_after_the_start)
{
    world_bench_set_up(&bench, NULL);
    ck_assert_int_eq(process_next_export_ns(bench.process), world_at(60));
    world_export(&bench, 60);
    ck_assert_int_eq(process_next_export_ns(bench.process), world_at(120));
    world_export(&bench, 70);
    ck_assert_int_eq(process_next_export_ns(bench.process), world_at(120));
    process_crash(bench.process);
    process_start(bench.process, world_at(-150), world_at(0));
    ck_assert_int_eq(process_next_export_ns(bench.process), world_at(30));
}
END_TEST

/* R-Q-1: the publisher's retry keeps the id, an SDK's re-send gets a new one. */
START_TEST(process_resend__sends_the_same_points_under_a_new_id)
{
    struct err err;
    bool duplicate;
    world_bench_set_up(&bench, delta);
    world_serve(&bench, 10, "/cart", 3);
    world_export(&bench, 60);
    ck_assert_int_eq(process_resend(bench.process, &err), STATUS_OK);
    const struct queue_message *first = queue_message_at(bench.queue, 1);
    const struct queue_message *second = queue_message_at(bench.queue, 2);
    ck_assert(bytes_equal(first->msg_id, bytes_of("c1-1")));
    ck_assert(bytes_equal(second->msg_id, bytes_of("c1-2")));
    ck_assert(bytes_equal(first->payload, second->payload));
    ck_assert_int_eq(publisher_send_again(bench.publisher, bytes_of("c1-1"), &duplicate, &err),
                     STATUS_OK);
    ck_assert(duplicate);
}
END_TEST

static void batching(struct process_config *process, struct collector_config *collector)
{
    (void)process;
    collector->batch_exports = 2;
    collector->split_points = 2;
}

/* Two exports of 1 and 2 series are 3 points: messages of 2 and 1. */
START_TEST(collector__batches_exports_and_splits_messages)
{
    world_bench_set_up(&bench, batching);
    world_serve(&bench, 10, "/cart", 3);
    world_export(&bench, 60);
    ck_assert_uint_eq(queue_last_sequence(bench.queue), 0);
    world_serve(&bench, 70, "/pay", 1);
    world_export(&bench, 120);
    ck_assert_uint_eq(queue_last_sequence(bench.queue), 2);
    ck_assert_uint_eq(world_decode(&bench, 1).good_count, 2);
    ck_assert_uint_eq(world_decode(&bench, 2).good_count, 1);
}
END_TEST

static void delaying(struct process_config *process, struct collector_config *collector)
{
    (void)process;
    collector->delay_ns = 5 * NS_PER_S;
}

START_TEST(collector__publishes_after_its_delay_and_loses_it_in_a_crash)
{
    world_bench_set_up(&bench, delaying);
    world_serve(&bench, 0, "/cart", 3);
    world_export(&bench, 0);
    sched_run(bench.sched, world_at(4));
    ck_assert_uint_eq(queue_last_sequence(bench.queue), 0);
    sched_run(bench.sched, world_at(5));
    ck_assert_uint_eq(queue_last_sequence(bench.queue), 1);
    world_export(&bench, 5);
    collector_crash(bench.collector);
    sched_run(bench.sched, world_at(20));
    ck_assert_uint_eq(queue_last_sequence(bench.queue), 1);
}
END_TEST

/* A delta process whose collector is down keeps its interval. */
START_TEST(collector__down_means_that_a_delta_process_keeps_its_interval)
{
    world_bench_set_up(&bench, delta);
    collector_crash(bench.collector);
    world_serve(&bench, 10, "/cart", 3);
    world_export(&bench, 60);
    collector_start(bench.collector);
    world_serve(&bench, 70, "/cart", 2);
    world_export(&bench, 120);
    struct message message = world_decode(&bench, 1);
    ck_assert_int_eq(message.points[0].count, 5);
    ck_assert_int_eq(message.points[0].start_unix_nano, WORLD_START);
}
END_TEST

/* Cleaning makes two series equal; as two points of one stream the second would be a duplicate and
 * its requests lost. */
START_TEST(collector__adds_up_series_that_cleaning_made_equal)
{
    world_bench_set_up(&bench, NULL);
    world_serve(&bench, 10, "/\xff", 3);
    world_serve(&bench, 11, "/\xfe", 2);
    world_serve(&bench, 12, "/cart", 1);
    world_export(&bench, 60);
    struct message message = world_decode(&bench, 1);
    ck_assert_uint_eq(message.good_count, 2);
    for (size_t i = 0; i < 2; i++) {
        bool cart = bytes_equal(message.points[i].route, bytes_of("/cart"));
        ck_assert_int_eq(message.points[i].count, cart ? 1 : 5);
        if (!cart)
            ck_assert(bytes_equal(message.points[i].route, bytes_of("/{invalid}")));
    }
}
END_TEST

static const double ms_bounds[] = {0, 5, 10, 25, 50};

static void everything(struct process_config *process, struct collector_config *collector)
{
    (void)collector;
    process->telemetry.bounds = ms_bounds;
    process->telemetry.bound_count = 5;
    process->telemetry.has_scope = true;
    process->telemetry.scope_name = bytes_of("http");
    process->telemetry.scope_version = bytes_of("1.2");
    process->telemetry.redacted = true;
}

/* 20 ms lies in (0, 5] of bounds that were meant as milliseconds: the bucket of 5 s is canonical
 * bucket 12, (2.5, 5] (A40). */
START_TEST(process__sends_bounds_scope_and_the_redaction_stamp)
{
    world_bench_set_up(&bench, everything);
    world_serve(&bench, 10, "/cart", 3);
    world_export(&bench, 60);
    const struct point *point = &world_decode(&bench, 1).points[0];
    ck_assert_int_eq(point->histogram.counts[11], 3);
    ck_assert(point->lossy);
    ck_assert(point->coarse);
    ck_assert(point->redacted);
    ck_assert_str_eq(names_of(bench.names, &point->series_hash), "shop-1 GET /cart 200");
}
END_TEST

static void raw_sums(struct process_config *process, struct collector_config *collector)
{
    (void)collector;
    process->raw_sums = true;
}

START_TEST(process__raw_sums_are_added_one_by_one)
{
    world_bench_set_up(&bench, raw_sums);
    world_serve(&bench, 10, "/cart", 3);
    world_export(&bench, 60);
    double sum = 0.02;
    sum += 0.02;
    sum += 0.02;
    ck_assert(world_decode(&bench, 1).points[0].sum == sum);
}
END_TEST

/* A captured export goes out with the subject's tenant, its series are named after its service. */
START_TEST(publisher_send_captured__stamps_and_books_a_foreign_request)
{
    struct err err;
    struct publisher_receipt receipt;
    world_bench_set_up(&bench, NULL);
    world_serve(&bench, 10, "/cart", 3);
    world_export(&bench, 60);
    struct uuid other;
    ck_assert(names_tenant_uuid("other", &other));
    struct bytes payload = queue_message_at(bench.queue, 1)->payload;
    struct posting posting = {
        .msg_id = bytes_of("f1"), .tenant = other, .stamp = STAMP_TENANT, .stamp_tenant = other};
    ck_assert_int_eq(publisher_send_captured(bench.publisher, &posting, payload, PAYLOAD_PROTOBUF,
                                             &receipt, &err),
                     STATUS_OK);
    struct message message = world_decode(&bench, receipt.sequence);
    ck_assert_uint_eq(message.good_count, 1);
    ck_assert_str_eq(names_of(bench.names, &message.points[0].series_hash), "shop GET /cart 200");
    ck_assert_uint_eq(truth_total_served(bench.truth, &other), 3);
    ck_assert_int_eq(publisher_send_captured(bench.publisher, &posting, bytes_of("?"),
                                             PAYLOAD_PROTOBUF, &receipt, &err),
                     STATUS_INVALID);
}
END_TEST

Suite *process_suite(void);
Suite *process_suite(void)
{
    Suite *suite = suite_create("process");
    TCase *tcase = tcase_create("process");
    tcase_add_checked_fixture(tcase, NULL, tear_down);
    tcase_add_test(tcase, process__cumulative_points_grow_and_unchanged_series_go_on);
    tcase_add_test(tcase, process__its_hashes_are_those_of_the_decoder);
    tcase_add_test(tcase, process__delta_points_hold_what_came_since_the_last_export_only);
    tcase_add_test(tcase, process__span_points_are_one_a_minute_without_a_start);
    tcase_add_test(tcase, process__writes_the_times_of_its_own_clock);
    tcase_add_test(tcase, process_crash__loses_the_interval_and_restarts_from_nothing);
    tcase_add_test(tcase, process_stop__flushes_when_it_is_asked_to);
    tcase_add_test(tcase, process__exports_are_due_every_interval_after_the_start);
    tcase_add_test(tcase, process_resend__sends_the_same_points_under_a_new_id);
    tcase_add_test(tcase, collector__batches_exports_and_splits_messages);
    tcase_add_test(tcase, collector__publishes_after_its_delay_and_loses_it_in_a_crash);
    tcase_add_test(tcase, collector__down_means_that_a_delta_process_keeps_its_interval);
    tcase_add_test(tcase, collector__adds_up_series_that_cleaning_made_equal);
    tcase_add_test(tcase, process__sends_bounds_scope_and_the_redaction_stamp);
    tcase_add_test(tcase, process__raw_sums_are_added_one_by_one);
    tcase_add_test(tcase, publisher_send_captured__stamps_and_books_a_foreign_request);
    suite_add_tcase(suite, tcase);
    return suite;
}

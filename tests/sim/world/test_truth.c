/* sim/world/truth: the accounting identity R-OUT-2. Each test makes the books that a right core
 * would leave, or one with a single fault, and says what the check must answer. */
#include "world_bench.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct world_bench bench;

/* The tables, as the judgements below would leave them. */
static struct minute_row minutes[8];
static struct truth_state states[8];
static struct truth_tables tables;
static char report[4096];

static void set_up(void)
{
    world_bench_set_up(&bench, NULL);
    tables = (struct truth_tables){.minutes = minutes, .states = states};
}

static void delta_process(struct process_config *process, struct collector_config *collector)
{
    (void)collector;
    process->temporality = TEMPORALITY_DELTA;
}

static void set_up_delta(void)
{
    world_bench_set_up(&bench, delta_process);
    tables = (struct truth_tables){.minutes = minutes, .states = states};
}

static void tear_down(void)
{
    world_bench_tear_down(&bench);
}

static size_t check(void)
{
    memset(report, 0, sizeof(report));
    FILE *out = fmemopen(report, sizeof(report) - 1, "w");
    ck_assert_ptr_nonnull(out);
    size_t failures = truth_check(bench.truth, &tables, bench.queue, out);
    (void)fclose(out);
    return failures;
}

/* Judges point `index` of a message as committed. */
static void judge(uint64_t sequence, size_t index, enum point_outcome outcome, int64_t counted)
{
    struct message message = world_decode(&bench, sequence);
    const struct queue_message *stored = queue_message_at(bench.queue, sequence);
    struct delivery delivery = {
        .sequence = sequence, .msg_id = stored->msg_id, .tenant = stored->tenant};
    const struct point *point = &message.points[index];
    struct judgement judgement = {
        .delivery = &delivery,
        .point = point,
        .outcome = outcome,
        .counted = counted,
        .bucket_start_us = time_floor(point->time_unix_nano, NS_PER_MIN) / NS_PER_US,
        .service = point->service,
        .route = point->route,
    };
    truth_judged(bench.truth, &judgement, sched_now_ns(bench.sched));
}

/* A message is settled: pretends that its writer acknowledged it. */
static void acknowledge(uint64_t sequence)
{
    queue_ack(bench.queue,
              (struct queue_message *)(uintptr_t)queue_message_at(bench.queue, sequence));
}

/* The one row of the tables: /cart of the first day. */
static void table_has(int64_t count)
{
    minutes[0] = (struct minute_row){
        .tenant = bench.tenant,
        .bucket_start_us = WORLD_START / NS_PER_US,
        .service = bytes_of("shop"),
        .method = bytes_of("GET"),
        .route = bytes_of("/cart"),
        .status_code = 200,
        .source = SOURCE_METRIC,
        .count = count,
    };
    tables.minute_count = 1;
}

static void state_is(int64_t seconds, int64_t last_count)
{
    struct message message = world_decode(&bench, 1);
    states[0] = (struct truth_state){
        .tenant = bench.tenant,
        .key = {message.points[0].series_hash, message.points[0].start_unix_nano},
        .last_unix_nano = world_at(seconds),
        .last_count = last_count,
    };
    tables.state_count = 1;
}

/* Two exports of /cart: 3 requests by 60 s, 5 by 120 s. */
static void two_exports(void)
{
    world_serve(&bench, 10, "/cart", 3);
    world_export(&bench, 60);
    world_serve(&bench, 70, "/cart", 2);
    world_export(&bench, 120);
}

/* served 5 = counted 3 + 2 */
START_TEST(truth__closes_when_every_point_counted_its_growth)
{
    two_exports();
    judge(1, 0, POINT_FIRST_FULL, 3);
    judge(2, 0, POINT_DELTA, 2);
    acknowledge(1);
    acknowledge(2);
    table_has(5);
    state_is(120, 5);
    ck_assert_msg(check() == 0, "%s", report);
}
END_TEST

/* served 9 = counted 5 + (9 - 5): what was not exported, or died with the process */
START_TEST(truth__the_open_interval_is_explained)
{
    two_exports();
    world_serve(&bench, 130, "/cart", 4);
    process_crash(bench.process);
    judge(1, 0, POINT_FIRST_FULL, 3);
    judge(2, 0, POINT_DELTA, 2);
    acknowledge(1);
    acknowledge(2);
    table_has(5);
    state_is(120, 5);
    ck_assert_msg(check() == 0, "%s", report);
}
END_TEST

/* served 5 = counted 2 + absorbed by the baseline 3 */
START_TEST(truth__a_baseline_absorbs_by_name)
{
    two_exports();
    judge(1, 0, POINT_BASELINE, 0);
    judge(2, 0, POINT_DELTA, 2);
    acknowledge(1);
    acknowledge(2);
    table_has(2);
    state_is(120, 5);
    ck_assert_msg(check() == 0, "%s", report);
}
END_TEST

/* the catch-up counts 5 in full and so releases what the baseline had absorbed. */
START_TEST(truth__a_catch_up_releases_its_baseline)
{
    two_exports();
    judge(1, 0, POINT_BASELINE, 0);
    judge(2, 0, POINT_CATCH_UP, 5);
    acknowledge(1);
    acknowledge(2);
    table_has(5);
    state_is(120, 5);
    ck_assert_msg(check() == 0, "%s", report);
}
END_TEST

/* A catch-up without a baseline counts 3 requests twice. */
START_TEST(truth__a_surplus_fails_and_names_the_series)
{
    two_exports();
    judge(1, 0, POINT_FIRST_FULL, 3);
    judge(2, 0, POINT_CATCH_UP, 5);
    acknowledge(1);
    acknowledge(2);
    table_has(8);
    state_is(120, 5);
    ck_assert_uint_eq(check(), 2); /* when it was judged, and in the sum */
    ck_assert_ptr_nonnull(strstr(
        report,
        "tenant \"acme\" series \"shop-1 GET /cart 200\" message 2: outcome catch_up counted 5, "
        "but the SDK's value went from 3 to 5: 3 request(s) are counted twice"));
    ck_assert_ptr_nonnull(strstr(report,
                                 "served 5, but counted 8 + open 0 (SDK value 5 - last accepted "
                                 "5) + baseline 0 + reset 0 - forgotten by retention 0 = 8"));
}
END_TEST

START_TEST(truth__a_deficit_fails_like_a_surplus)
{
    two_exports();
    judge(1, 0, POINT_FIRST_FULL, 3);
    judge(2, 0, POINT_DELTA, 1);
    acknowledge(1);
    acknowledge(2);
    table_has(4);
    state_is(120, 5);
    ck_assert_uint_eq(check(), 2);
    ck_assert_ptr_nonnull(strstr(report, "1 request(s) are lost"));
}
END_TEST

/* S-13: both writers judged from the first point; the second commit repeats what the first had
 * counted. */
START_TEST(truth__two_writers_that_judged_from_the_same_state_are_found)
{
    two_exports();
    world_serve(&bench, 130, "/cart", 10);
    world_export(&bench, 180);
    judge(1, 0, POINT_FIRST_FULL, 3);
    judge(2, 0, POINT_DELTA, 2);
    judge(3, 0, POINT_DELTA, 12); /* 15 - 3, but 5 had been accepted: 10 */
    ck_assert_uint_gt(check(), 0);
    ck_assert_ptr_nonnull(strstr(report, "went from 5 to 15: 2 request(s) are counted twice"));
}
END_TEST

START_TEST(truth__tables_that_disagree_with_the_judgements_fail)
{
    two_exports();
    judge(1, 0, POINT_FIRST_FULL, 3);
    judge(2, 0, POINT_DELTA, 2);
    acknowledge(1);
    acknowledge(2);
    table_has(3);
    state_is(60, 3);
    ck_assert_uint_eq(check(), 2);
    ck_assert_ptr_nonnull(strstr(report,
                                 "rows of 2026-03-01 \"shop\" \"GET\" \"/cart\" 200 metric: "
                                 "counted 5, but the table has 3"));
    ck_assert_ptr_nonnull(strstr(report, "but series_state has 3 at"));
    tables.state_count = 0;
    table_has(5);
    ck_assert_uint_eq(check(), 1);
    ck_assert_ptr_nonnull(strstr(report, "but it has no series_state row"));
}
END_TEST

/* A row that nobody was judged into. */
START_TEST(truth__a_row_from_nowhere_fails)
{
    table_has(1);
    ck_assert_uint_eq(check(), 1);
    ck_assert_ptr_nonnull(strstr(report, "counted 0, but the table has 1"));
}
END_TEST

/* {other} moves requests between rows, not out (R-CAP-1): the judgement names the row. */
START_TEST(truth__the_other_row_takes_what_was_relabelled)
{
    two_exports();
    struct message message = world_decode(&bench, 1);
    struct delivery delivery = {.sequence = 1, .tenant = bench.tenant};
    struct judgement judgement = {
        .delivery = &delivery,
        .point = &message.points[0],
        .outcome = POINT_FIRST_FULL,
        .counted = 3,
        .bucket_start_us = WORLD_START / NS_PER_US,
        .service = bytes_of("shop"),
        .route = bytes_of("{other}"),
    };
    truth_judged(bench.truth, &judgement, WORLD_START);
    acknowledge(1);
    table_has(3);
    minutes[0].route = bytes_of("{other}");
    state_is(60, 3);
    ck_assert_msg(check() == 0, "%s", report);
    minutes[0].route = bytes_of("/cart");
    ck_assert_uint_eq(check(), 2); /* missing here, too much there */
}
END_TEST

START_TEST(truth__an_acknowledged_message_that_nobody_applied_is_lost)
{
    two_exports();
    judge(1, 0, POINT_FIRST_FULL, 3);
    acknowledge(1);
    acknowledge(2);
    table_has(3);
    state_is(60, 3);
    ck_assert_uint_eq(check(), 1);
    ck_assert_ptr_nonnull(strstr(report,
                                 "message 2 \"c1-2\" (acknowledged): acknowledged, but neither "
                                 "applied nor dead-lettered"));
}
END_TEST

/* Applied and given up at once is a surplus; delivered again after a lost reply it may have been
 * applied after all. */
START_TEST(truth__applied_and_dead_lettered_fails_unless_it_came_back)
{
    struct err err;
    struct dead_letter letter = {MESSAGE_DEAD_DATA_ERROR, "22003", "out of range", 0};
    world_serve(&bench, 10, "/cart", 3);
    world_export(&bench, 60);
    struct queue_message *message =
        (struct queue_message *)(uintptr_t)queue_message_at(bench.queue, 1);
    message->holders = 1; /* as if it had been pulled */
    message->deliveries = 1;
    ck_assert_int_eq(queue_dead(bench.queue, message, 1, &letter, &err), STATUS_OK);
    acknowledge(1);
    ck_assert_msg(check() == 0, "%s", report); /* dead-lettered and not applied */
    judge(1, 0, POINT_FIRST_FULL, 3);
    table_has(3);
    state_is(60, 3);
    ck_assert_uint_eq(check(), 1);
    ck_assert_ptr_nonnull(strstr(report, "(acknowledged, in the DLQ): applied and dead-lettered"));
    message->deliveries = 2;
    ck_assert_msg(check() == 0, "%s", report);
}
END_TEST

/* The same id outside the window is stored again and is already applied (B03). */
START_TEST(truth__a_repetition_of_an_applied_message_is_explained)
{
    struct err err;
    bool duplicate;
    world_serve(&bench, 10, "/cart", 3);
    world_export(&bench, 60);
    sched_run(bench.sched, world_at(200));
    ck_assert_int_eq(publisher_send_again(bench.publisher, bytes_of("c1-1"), &duplicate, &err),
                     STATUS_OK);
    ck_assert(!duplicate);
    judge(1, 0, POINT_FIRST_FULL, 3);
    acknowledge(1);
    acknowledge(2);
    table_has(3);
    state_is(60, 3);
    ck_assert_msg(check() == 0, "%s", report);
}
END_TEST

START_TEST(truth__a_message_judged_twice_fails)
{
    world_serve(&bench, 10, "/cart", 3);
    world_export(&bench, 60);
    judge(1, 0, POINT_FIRST_FULL, 3);
    judge(1, 0, POINT_DUPLICATE, 0);
    acknowledge(1);
    table_has(3);
    state_is(60, 3);
    ck_assert_uint_eq(check(), 1);
    ck_assert_ptr_nonnull(strstr(report, "1 point(s) sent, but 2 judged"));
}
END_TEST

START_TEST(truth__a_point_that_nobody_sent_fails)
{
    two_exports();
    judge(1, 0, POINT_FIRST_FULL, 3);
    struct message message = world_decode(&bench, 2);
    message.points[0].count = 6;
    struct delivery delivery = {.sequence = 2, .tenant = bench.tenant};
    struct judgement judgement = {
        .delivery = &delivery, .point = &message.points[0], .outcome = POINT_UNCHANGED};
    truth_judged(bench.truth, &judgement, WORLD_START);
    ck_assert_uint_gt(check(), 0);
    ck_assert_ptr_nonnull(strstr(report, "for a point of 6 request(s) that nobody sent"));
}
END_TEST

/* ---- delta ---- */

/* Message 1 has 3, message 2 has 2; each counts its own. */
START_TEST(truth__delta_messages_close_one_by_one)
{
    two_exports();
    judge(1, 0, POINT_DELTA, 3);
    acknowledge(1);
    table_has(3); /* message 2 is still in the queue */
    ck_assert_msg(check() == 0, "%s", report);
    judge(2, 0, POINT_DELTA, 1);
    acknowledge(2);
    table_has(4);
    ck_assert_uint_eq(check(), 1);
    ck_assert_ptr_nonnull(
        strstr(report, "sent 2 delta request(s), but counted 1 + refused 0 (0 refused point(s))"));
}
END_TEST

/* R-OUT-2: what is re-sent under a new id is counted again, and the truth knows. */
START_TEST(truth__a_resend_counts_twice_and_is_known)
{
    struct err err;
    world_serve(&bench, 10, "/cart", 3);
    world_export(&bench, 60);
    ck_assert_int_eq(process_resend(bench.process, &err), STATUS_OK);
    judge(1, 0, POINT_DELTA, 3);
    judge(2, 0, POINT_DELTA, 3);
    acknowledge(1);
    acknowledge(2);
    table_has(6);
    ck_assert_msg(check() == 0, "%s", report);
    ck_assert_uint_eq(truth_total_served(bench.truth, NULL), 3);
}
END_TEST

START_TEST(truth__a_refused_point_is_named)
{
    world_serve(&bench, 10, "/cart", 3);
    world_export(&bench, 60);
    struct delivery delivery = {.sequence = 1, .tenant = bench.tenant};
    struct point refused = {.refusal = POINT_REJECTED_TOO_OLD};
    struct judgement judgement = {
        .delivery = &delivery, .point = &refused, .outcome = POINT_REJECTED_TOO_OLD};
    truth_judged(bench.truth, &judgement, WORLD_START);
    acknowledge(1);
    ck_assert_msg(check() == 0, "%s", report);
}
END_TEST

/* R-DEC-4: what was refused may lie above int64. */
START_TEST(truth__a_refused_point_above_int64_is_no_surplus)
{
    world_serve(&bench, 10, "/cart", INT64_MAX);
    world_serve(&bench, 11, "/cart", 3);
    world_export(&bench, 60);
    ck_assert_uint_eq(truth_total_served(bench.truth, NULL), UINT64_C(0x8000000000000002));
    struct delivery delivery = {.sequence = 1, .tenant = bench.tenant};
    struct point refused = {.refusal = POINT_REJECTED_OVERFLOW};
    struct judgement judgement = {
        .delivery = &delivery, .point = &refused, .outcome = POINT_REJECTED_OVERFLOW};
    truth_judged(bench.truth, &judgement, WORLD_START);
    acknowledge(1);
    ck_assert_msg(check() == 0, "%s", report);
}
END_TEST

/* ---- rows that go ---- */

START_TEST(truth__a_purge_and_a_dropped_day_take_their_rows_out)
{
    two_exports();
    judge(1, 0, POINT_FIRST_FULL, 3);
    acknowledge(1);
    state_is(60, 3);
    truth_dropped_day(bench.truth, WORLD_START / NS_PER_DAY);
    ck_assert_msg(check() == 0, "%s", report);
    tables.state_count = 0;
    truth_purged(bench.truth, &bench.tenant);
    ck_assert_msg(check() == 0, "%s", report);
}
END_TEST

/* States idle for 7 days are pruned; before that they must be there. */
START_TEST(truth__a_pruned_state_may_be_missing)
{
    two_exports();
    judge(1, 0, POINT_FIRST_FULL, 3);
    acknowledge(1);
    table_has(3);
    ck_assert_uint_eq(check(), 1);
    truth_pruned(bench.truth, world_at(86400) / NS_PER_US);
    ck_assert_msg(check() == 0, "%s", report);
}
END_TEST

/* R-FIRST-7: without S-6 a stream whose state retention pruned counts its history again. The state
 * held 3: 5 are counted where 2 were new, and the books say so. */
START_TEST(truth__a_pruned_stream_that_begins_anew_is_explained)
{
    two_exports();
    judge(1, 0, POINT_FIRST_FULL, 3);
    truth_pruned(bench.truth, world_at(86400) / NS_PER_US);
    judge(2, 0, POINT_FIRST_FULL, 5);
    acknowledge(1);
    acknowledge(2);
    table_has(8);
    state_is(120, 5);
    ck_assert_msg(check() == 0, "%s", report);
}
END_TEST

/* With S-6, or when its process is forgotten too: a baseline, which a catch-up may release. */
START_TEST(truth__a_pruned_stream_may_be_a_baseline_again)
{
    two_exports();
    world_serve(&bench, 130, "/cart", 10);
    world_export(&bench, 180);
    judge(1, 0, POINT_FIRST_FULL, 3);
    truth_pruned(bench.truth, world_at(86400) / NS_PER_US);
    judge(2, 0, POINT_BASELINE, 0);
    judge(3, 0, POINT_CATCH_UP, 15);
    for (uint64_t sequence = 1; sequence <= 3; sequence++)
        acknowledge(sequence);
    table_has(18);
    state_is(180, 15);
    ck_assert_msg(check() == 0, "%s", report);
}
END_TEST

/* A state that retention cannot have pruned: 3 requests are counted twice. */
START_TEST(truth__a_stream_that_begins_anew_without_retention_fails)
{
    two_exports();
    judge(1, 0, POINT_FIRST_FULL, 3);
    truth_pruned(bench.truth, world_at(-2 * 86400) / NS_PER_US);
    judge(2, 0, POINT_FIRST_FULL, 5);
    acknowledge(1);
    acknowledge(2);
    table_has(8);
    state_is(120, 5);
    ck_assert_uint_eq(check(), 2);
    ck_assert_ptr_nonnull(strstr(report, "3 request(s) are counted twice"));
}
END_TEST

Suite *truth_suite(void);
Suite *truth_suite(void)
{
    Suite *suite = suite_create("truth");
    TCase *cumulative = tcase_create("cumulative");
    tcase_add_checked_fixture(cumulative, set_up, tear_down);
    tcase_add_test(cumulative, truth__closes_when_every_point_counted_its_growth);
    tcase_add_test(cumulative, truth__the_open_interval_is_explained);
    tcase_add_test(cumulative, truth__a_baseline_absorbs_by_name);
    tcase_add_test(cumulative, truth__a_catch_up_releases_its_baseline);
    tcase_add_test(cumulative, truth__a_surplus_fails_and_names_the_series);
    tcase_add_test(cumulative, truth__a_deficit_fails_like_a_surplus);
    tcase_add_test(cumulative, truth__two_writers_that_judged_from_the_same_state_are_found);
    tcase_add_test(cumulative, truth__tables_that_disagree_with_the_judgements_fail);
    tcase_add_test(cumulative, truth__a_row_from_nowhere_fails);
    tcase_add_test(cumulative, truth__the_other_row_takes_what_was_relabelled);
    tcase_add_test(cumulative, truth__an_acknowledged_message_that_nobody_applied_is_lost);
    tcase_add_test(cumulative, truth__applied_and_dead_lettered_fails_unless_it_came_back);
    tcase_add_test(cumulative, truth__a_repetition_of_an_applied_message_is_explained);
    tcase_add_test(cumulative, truth__a_message_judged_twice_fails);
    tcase_add_test(cumulative, truth__a_point_that_nobody_sent_fails);
    tcase_add_test(cumulative, truth__a_purge_and_a_dropped_day_take_their_rows_out);
    tcase_add_test(cumulative, truth__a_pruned_state_may_be_missing);
    tcase_add_test(cumulative, truth__a_pruned_stream_that_begins_anew_is_explained);
    tcase_add_test(cumulative, truth__a_pruned_stream_may_be_a_baseline_again);
    tcase_add_test(cumulative, truth__a_stream_that_begins_anew_without_retention_fails);
    suite_add_tcase(suite, cumulative);
    TCase *delta = tcase_create("delta");
    tcase_add_checked_fixture(delta, set_up_delta, tear_down);
    tcase_add_test(delta, truth__delta_messages_close_one_by_one);
    tcase_add_test(delta, truth__a_resend_counts_twice_and_is_known);
    tcase_add_test(delta, truth__a_refused_point_is_named);
    tcase_add_test(delta, truth__a_refused_point_above_int64_is_no_surplus);
    suite_add_tcase(suite, delta);
    return suite;
}

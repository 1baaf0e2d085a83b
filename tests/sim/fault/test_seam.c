/* sim/fault: each kind of fault on each side, its filters, and what the inner store is told. */
#include "sim/fault/fault.h"

#include "sim/sched/coroutine.h"
#include <check.h>
#include <stdio.h>
#include <string.h>

#define AT  INT64_C(1772323200000000000)
#define SEC INT64_C(1000000000)

/* A store that notes what it is asked and knows whether a transaction is open. */
struct fake {
    struct store base;
    bool open;
    int commits;
    int cuts;
    int crashes;
    char calls[512];
};

static struct sched *sched;
static struct trace *trace;
static struct seam *seam;
static struct fake fake;
static struct store *store; /* the decorated one of actor w1 */
static char journal[1024];  /* what the actor was told: "Begin:ok Commit:08006" */

static void append(char *text, size_t capacity, const char *word)
{
    size_t used = strlen(text);
    ck_assert_uint_lt(used + strlen(word) + 2, capacity);
    snprintf(text + used, capacity - used, "%s%s", used ? " " : "", word);
}

static enum status fake_call(struct store *base, struct store_call *call, struct err *err)
{
    struct fake *self = (struct fake *)base;
    append(self->calls, sizeof self->calls, queries[call->query].name);
    if (call->query == QUERY_BEGIN)
        self->open = true;
    else if (!self->open)
        return err_sql(err, "25P01", "no transaction");
    if (call->query == QUERY_COMMIT || call->query == QUERY_ROLLBACK)
        self->open = false;
    self->commits += call->query == QUERY_COMMIT;
    return STATUS_OK;
}

static void fake_cut(void *context)
{
    struct fake *self = context;
    self->cuts++;
    self->open = false;
}

static void fake_crashed(void *context)
{
    struct fake *self = context;
    self->crashes++;
    self->open = false;
    seam_store_free(store); /* allowed: the seam touches it no more */
    store = NULL;
}

static const struct seam_actor_ops fake_ops = {fake_cut, fake_crashed};

static void setup(void)
{
    journal[0] = '\0';
    sched = sched_new(1, AT);
    trace = trace_new(NULL);
    trace_keep(trace);
    seam = seam_new(sched, trace);
    fake = (struct fake){.base.call = fake_call};
    store = seam_store_new(seam, "w1", &fake.base, &fake_ops, &fake);
    ck_assert(sched && trace && seam && store);
}

static void teardown(void)
{
    sched_free(sched);
    seam_store_free(store);
    seam_free(seam);
    trace_free(trace);
    coroutine_pool_free();
}

static void arm(struct fault fault)
{
    if (fault.until_ns == 0)
        fault.until_ns = INT64_MAX;
    if (fault.times == 0)
        fault.times = 1;
    ck_assert(seam_add(seam, &fault));
}

/* ---- the actor ---- */

static void tell(const char *step, enum status status, const struct err *err)
{
    char word[64];
    snprintf(word, sizeof word, "%s:%s", step, status == STATUS_OK ? "ok" : err->sqlstate);
    append(journal, sizeof journal, word);
}

static void call_with(enum query_id query, const char *text)
{
    static const uint8_t tenant[16] = {0xab};
    struct value params[QUERY_COLUMNS_MAX] = {0};
    for (int i = 0; i < queries[query].param_count; i++) {
        if (queries[query].params[i].type == VALUE_UUID)
            params[i].bytes = (struct bytes){tenant, 16};
        else if (queries[query].params[i].type == VALUE_TEXT)
            params[i].bytes = bytes_of(text);
    }
    struct store_call call = {.query = query, .params = params};
    call.row_count = queries[query].param_count > 0;
    struct err err = {0};
    enum status status = store->call(store, &call, &err);
    tell(queries[query].name, status, &err);
}

/* The shape of a writer's batch: on any error it still asks on, so that the aborted state is seen.
 */
static void transaction(void *argument)
{
    int rounds = argument ? *(int *)argument : 1;
    for (int i = 0; i < rounds; i++) {
        call_with(QUERY_BEGIN, "");
        call_with(QUERY_RECORD_INGEST_MESSAGE, i == 1 ? "second" : "first");
        call_with(QUERY_COMMIT, "");
    }
}

static void transaction_and_rollback(void *argument)
{
    transaction(argument);
    call_with(QUERY_ROLLBACK, "");
    transaction(argument);
}

static void run(actor_main *main, int rounds)
{
    sched_spawn(sched, "w1", main, &rounds);
    ck_assert_int_eq(sched_run(sched, AT), SCHED_REACHED);
}

static bool trace_has(const char *text)
{
    for (uint64_t i = 0; i < trace_events(trace); i++)
        if (strstr(trace_kept_line(trace, i), text))
            return true;
    return false;
}

/* ---- no fault ---- */

START_TEST(seam__without_faults_calls_pass_and_are_traced)
{
    run(transaction, 1);
    ck_assert_str_eq(journal, "Begin:ok RecordIngestMessage:ok Commit:ok");
    ck_assert_str_eq(fake.calls, "Begin RecordIngestMessage Commit");
    ck_assert_uint_eq(trace_events(trace), 3);
    ck_assert(trace_has("\"actor\":\"w1\",\"step\":\"RecordIngestMessage\",\"params\":[{"));
}
END_TEST

/* ---- error ---- */

/* As PostgreSQL: the error undoes the transaction at once (locks are free), 25P02 until Rollback.
 */
START_TEST(seam__error_undoes_the_transaction_and_gives_25P02_until_rollback)
{
    arm((struct fault){.kind = FAULT_ERROR, .step = "RecordIngestMessage", .sqlstate = "53200"});
    run(transaction_and_rollback, 1);
    ck_assert_str_eq(journal, "Begin:ok RecordIngestMessage:53200 Commit:25P02 Rollback:ok "
                              "Begin:ok RecordIngestMessage:ok Commit:ok");
    ck_assert_str_eq(fake.calls, "Begin Rollback Begin RecordIngestMessage Commit");
    ck_assert_int_eq(fake.commits, 1);
    ck_assert(trace_has("\"fault\":\"error\",\"sqlstate\":\"53200\""));
}
END_TEST

/* A failed COMMIT ends the transaction: the next Begin is good without a Rollback. */
START_TEST(seam__error_at_commit_rolls_back_and_ends_the_transaction)
{
    arm((struct fault){.kind = FAULT_ERROR, .step = "Commit", .sqlstate = "40001"});
    run(transaction, 2);
    ck_assert_str_eq(journal, "Begin:ok RecordIngestMessage:ok Commit:40001 "
                              "Begin:ok RecordIngestMessage:ok Commit:ok");
    ck_assert_str_eq(fake.calls,
                     "Begin RecordIngestMessage Rollback Begin RecordIngestMessage Commit");
}
END_TEST

/* Class 08 is a lost connection, whichever fault gives it: Begin alone connects again. */
START_TEST(seam__error_of_class_08_loses_the_connection)
{
    arm((struct fault){.kind = FAULT_ERROR, .step = "RecordIngestMessage", .sqlstate = "08006"});
    run(transaction, 2);
    ck_assert_str_eq(journal, "Begin:ok RecordIngestMessage:08006 Commit:08006 "
                              "Begin:ok RecordIngestMessage:ok Commit:ok");
    ck_assert_int_eq(fake.cuts, 1);
}
END_TEST

/* ---- lost reply, cut ---- */

/* R-TX-5: the commit happened, the actor does not know it. */
START_TEST(seam__lost_reply_of_commit_really_commits)
{
    arm((struct fault){.kind = FAULT_LOST_REPLY, .step = "Commit"});
    run(transaction_and_rollback, 1);
    ck_assert_str_eq(journal, "Begin:ok RecordIngestMessage:ok Commit:08006 Rollback:ok "
                              "Begin:ok RecordIngestMessage:ok Commit:ok");
    ck_assert_int_eq(fake.commits, 2);
    ck_assert_int_eq(fake.cuts, 1);
    ck_assert_str_eq(fake.calls,
                     "Begin RecordIngestMessage Commit Begin RecordIngestMessage Commit");
}
END_TEST

START_TEST(seam__lost_reply_inside_a_transaction_rolls_it_back)
{
    arm((struct fault){.kind = FAULT_LOST_REPLY, .step = "RecordIngestMessage"});
    run(transaction, 1);
    ck_assert_str_eq(journal, "Begin:ok RecordIngestMessage:08006 Commit:08006");
    ck_assert_str_eq(fake.calls, "Begin RecordIngestMessage");
    ck_assert_int_eq(fake.commits, 0);
    ck_assert(!fake.open);
}
END_TEST

START_TEST(seam__cut_before_commit_does_not_commit)
{
    arm((struct fault){.kind = FAULT_CUT, .step = "Commit", .actor = "w1"});
    run(transaction, 2);
    ck_assert_str_eq(journal, "Begin:ok RecordIngestMessage:ok Commit:08006 "
                              "Begin:ok RecordIngestMessage:ok Commit:ok");
    ck_assert_int_eq(fake.commits, 1);
    ck_assert_int_eq(fake.cuts, 1);
    ck_assert(trace_has("\"fault\":\"cut\",\"sqlstate\":\"08006\""));
}
END_TEST

/* ---- crash ---- */

START_TEST(seam__crash_before_commit_frees_through_ops_and_does_not_commit)
{
    arm((struct fault){.kind = FAULT_CRASH, .step = "Commit", .actor = "w1"});
    run(transaction, 1);
    ck_assert_str_eq(journal, "Begin:ok RecordIngestMessage:ok");
    ck_assert_int_eq(fake.commits, 0);
    ck_assert_int_eq(fake.crashes, 1);
    ck_assert_ptr_null(store);
    ck_assert(trace_has("\"step\":\"Commit\",\"fault\":\"crash\",\"side\":\"before\"}"));
}
END_TEST

START_TEST(seam__crash_after_commit_has_committed)
{
    arm((struct fault){.kind = FAULT_CRASH, .step = "Commit", .after = true});
    run(transaction, 1);
    ck_assert_str_eq(journal, "Begin:ok RecordIngestMessage:ok");
    ck_assert_int_eq(fake.commits, 1);
    ck_assert_int_eq(fake.crashes, 1);
}
END_TEST

/* ---- hold ---- */

START_TEST(seam__hold_before_stops_there_until_released)
{
    size_t by = 0;
    arm((struct fault){.kind = FAULT_HOLD, .step = "Commit", .actor = "w2"});
    arm((struct fault){.kind = FAULT_HOLD, .step = "Commit", .actor = "w1"});
    ck_assert(!seam_is_held(seam, "w1"));
    ck_assert(!seam_held_by(seam, "w1", &by));
    ck_assert(!seam_release(seam, "w1"));
    run(transaction, 1);
    ck_assert_str_eq(journal, "Begin:ok RecordIngestMessage:ok");
    ck_assert(seam_is_held(seam, "w1"));
    ck_assert(seam_held_by(seam, "w1", &by));
    ck_assert_uint_eq(by, 1);
    ck_assert(!seam_is_held(seam, "w2"));
    ck_assert(!seam_release(seam, "w2"));
    ck_assert(seam_release(seam, "w1"));
    ck_assert(!seam_is_held(seam, "w1"));
    sched_run(sched, AT + 1);
    ck_assert_str_eq(journal, "Begin:ok RecordIngestMessage:ok Commit:ok");
    ck_assert(trace_has("\"fault\":\"hold\",\"side\":\"before\""));
    ck_assert(trace_has("\"fault\":\"released\",\"side\":\"before\""));
}
END_TEST

START_TEST(seam__hold_after_has_made_the_call_but_not_told_it)
{
    arm((struct fault){.kind = FAULT_HOLD, .step = "Commit", .after = true});
    run(transaction, 1);
    ck_assert_str_eq(journal, "Begin:ok RecordIngestMessage:ok");
    ck_assert_int_eq(fake.commits, 1);
    ck_assert(seam_release(seam, "w1"));
    sched_run(sched, AT);
    ck_assert_str_eq(journal, "Begin:ok RecordIngestMessage:ok Commit:ok");
}
END_TEST

START_TEST(seam__hold_ignores_a_wake_that_is_no_release)
{
    arm((struct fault){.kind = FAULT_HOLD, .step = "Commit"});
    int rounds = 1;
    struct actor *actor = sched_spawn(sched, "w1", transaction, &rounds);
    sched_run(sched, AT);
    sched_wake(sched, actor);
    sched_run(sched, AT);
    ck_assert(seam_is_held(seam, "w1"));
    sched_kill(sched, actor); /* a crash from outside: nobody is held any more */
    ck_assert(!seam_is_held(seam, "w1"));
    ck_assert(!seam_release(seam, "w1"));
}
END_TEST

START_TEST(seam__hold_then_crash_at_one_step)
{
    arm((struct fault){.kind = FAULT_CRASH, .step = "Commit"});
    arm((struct fault){.kind = FAULT_HOLD, .step = "Commit"});
    run(transaction, 1);
    ck_assert(seam_is_held(seam, "w1"));
    ck_assert_int_eq(fake.crashes, 0);
    seam_release(seam, "w1");
    sched_run(sched, AT);
    ck_assert_int_eq(fake.crashes, 1);
    ck_assert_int_eq(fake.commits, 0);
}
END_TEST

/* ---- filters ---- */

/* Five rounds; the third and fourth Commit fail. */
START_TEST(seam__skip_and_times_choose_which_calls)
{
    arm((struct fault){
        .kind = FAULT_ERROR, .step = "Commit", .sqlstate = "40001", .skip = 2, .times = 2});
    run(transaction, 5);
    ck_assert_int_eq(fake.commits, 3);
    ck_assert_int_eq(seam_fired(seam, 0), 2);
    ck_assert_str_eq(journal, "Begin:ok RecordIngestMessage:ok Commit:ok "
                              "Begin:ok RecordIngestMessage:ok Commit:ok "
                              "Begin:ok RecordIngestMessage:ok Commit:40001 "
                              "Begin:ok RecordIngestMessage:ok Commit:40001 "
                              "Begin:ok RecordIngestMessage:ok Commit:ok");
}
END_TEST

static void commits_each_second(void *argument)
{
    for (int i = 0; i < 4; i++) {
        sched_sleep_until(sched, AT + i * SEC);
        transaction(argument);
    }
}

/* Commits at 0, 1, 2 and 3 s; armed in [1 s, 3 s): half-open, so that of 3 s is good. */
START_TEST(seam__armed_in_a_half_open_span)
{
    arm((struct fault){.kind = FAULT_ERROR,
                       .step = "Commit",
                       .sqlstate = "40001",
                       .from_ns = AT + SEC,
                       .until_ns = AT + 3 * SEC,
                       .times = INT64_MAX});
    sched_spawn(sched, "w1", commits_each_second, NULL);
    sched_run(sched, AT + 10 * SEC);
    ck_assert_int_eq(seam_fired(seam, 0), 2);
    ck_assert_int_eq(fake.commits, 2);
}
END_TEST

/* Three rounds; only the second carries the text "second". */
START_TEST(seam__where_matches_a_text_parameter)
{
    arm((struct fault){.kind = FAULT_ERROR,
                       .step = "RecordIngestMessage",
                       .sqlstate = "23514",
                       .where = "second",
                       .times = INT64_MAX});
    arm((struct fault){
        .kind = FAULT_ERROR, .step = "Commit", .sqlstate = "40001", .where = "second"});
    run(transaction, 3);
    ck_assert_int_eq(seam_fired(seam, 0), 1);
    ck_assert_int_eq(seam_fired(seam, 1), 0); /* Commit has no parameter */
}
END_TEST

START_TEST(seam__where_matches_a_uuid_parameter)
{
    arm((struct fault){.kind = FAULT_ERROR,
                       .step = "RecordIngestMessage",
                       .sqlstate = "23514",
                       .where = "ab000000-0000-0000-0000-000000000000"});
    arm((struct fault){.kind = FAULT_ERROR,
                       .step = "RecordIngestMessage",
                       .sqlstate = "23514",
                       .where = "cd000000-0000-0000-0000-000000000000"});
    run(transaction, 1);
    ck_assert_int_eq(seam_fired(seam, 0), 1);
    ck_assert_int_eq(seam_fired(seam, 1), 0);
}
END_TEST

START_TEST(seam__another_actor_is_left_alone_and_its_fault_never_fires)
{
    arm((struct fault){.kind = FAULT_ERROR, .step = "Begin", .sqlstate = "40001"});
    arm((struct fault){.kind = FAULT_CRASH, .step = "Commit", .actor = "w2"});
    run(transaction, 2);
    ck_assert_int_eq(fake.commits, 1);
    ck_assert_int_eq(seam_fired(seam, 0), 1);
    ck_assert_int_eq(seam_fired(seam, 1), 0);
}
END_TEST

/* ---- other ports ---- */

static int acks;

static void acknowledge(void *argument)
{
    (void)argument;
    for (int i = 0; i < 2; i++) {
        struct err err = {0};
        enum status status = seam_enter(seam, store, "Ack", &err);
        if (status == STATUS_OK) {
            acks++;
            status = seam_leave(seam, store, "Ack", STATUS_OK, &err);
        }
        tell("Ack", status, &err);
    }
}

START_TEST(seam_enter__error_and_cut_come_before_the_call)
{
    enum fault_kind kinds[] = {FAULT_ERROR, FAULT_CUT};
    for (int i = 0; i < 2; i++) {
        acks = 0;
        arm((struct fault){.kind = kinds[i], .step = "Ack", .sqlstate = "08006"});
        run(acknowledge, 1);
        ck_assert_int_eq(acks, 1);
        ck_assert_int_eq(fake.cuts, 0); /* not the database's connection */
    }
    ck_assert_str_eq(journal, "Ack:08006 Ack:ok Ack:08006 Ack:ok");
}
END_TEST

START_TEST(seam_leave__lost_reply_comes_after_the_call)
{
    acks = 0;
    arm((struct fault){.kind = FAULT_LOST_REPLY, .step = "Ack"});
    run(acknowledge, 1);
    ck_assert_int_eq(acks, 2);
    ck_assert_str_eq(journal, "Ack:08006 Ack:ok");
    ck_assert(trace_has("\"step\":\"Ack\",\"fault\":\"lost_reply\",\"status\":\"transient\","
                        "\"sqlstate\":\"08006\"}"));
}
END_TEST

START_TEST(seam_leave__crash_and_hold_after_the_call)
{
    acks = 0;
    arm((struct fault){.kind = FAULT_HOLD, .step = "Ack", .after = true});
    arm((struct fault){.kind = FAULT_CRASH, .step = "Ack", .after = true, .skip = 1});
    run(acknowledge, 1);
    ck_assert_int_eq(acks, 1);
    ck_assert(seam_release(seam, "w1"));
    sched_run(sched, AT);
    ck_assert_int_eq(acks, 2);
    ck_assert_int_eq(fake.crashes, 1);
    ck_assert_str_eq(journal, "Ack:ok");
}
END_TEST

/* ---- the table ---- */

START_TEST(fault_infos__every_kind_has_words_that_begin_its_syntax)
{
    for (int kind = 0; kind < FAULT_KIND_COUNT; kind++) {
        const struct fault_info *info = &fault_infos[kind];
        ck_assert_ptr_nonnull(info->name);
        ck_assert_int_eq(strncmp(info->syntax, info->words, strlen(info->words)), 0);
        ck_assert_ptr_nonnull(strstr(info->syntax, "STEP"));
        ck_assert_int_eq(strstr(info->syntax, "SIDE") != NULL, info->has_side);
        ck_assert_int_eq(strstr(info->syntax, "STATE") != NULL, info->has_sqlstate);
        ck_assert_uint_gt(strlen(info->help), 0);
        for (int other = 0; other < kind; other++) {
            ck_assert_str_ne(info->name, fault_infos[other].name);
            ck_assert_str_ne(info->words, fault_infos[other].words);
        }
    }
}
END_TEST

START_TEST(fault_step__sorted_whole_and_known)
{
    size_t count = 0;
    const char *last = "";
    for (const char *step; (step = fault_step(count)); count++) {
        ck_assert_int_gt(strcmp(step, last), 0);
        ck_assert(fault_step_is_known(step));
        last = step;
    }
    ck_assert_uint_eq(count, QUERY_COUNT + 5);
    ck_assert(fault_step_is_known("Commit"));
    ck_assert(fault_step_is_known("Ack"));
    ck_assert(!fault_step_is_known("commit"));
}
END_TEST

Suite *seam_suite(void);
Suite *seam_suite(void)
{
    Suite *suite = suite_create("seam");
    TCase *tcase = tcase_create("seam");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, seam__without_faults_calls_pass_and_are_traced);
    tcase_add_test(tcase, seam__error_undoes_the_transaction_and_gives_25P02_until_rollback);
    tcase_add_test(tcase, seam__error_at_commit_rolls_back_and_ends_the_transaction);
    tcase_add_test(tcase, seam__error_of_class_08_loses_the_connection);
    tcase_add_test(tcase, seam__lost_reply_of_commit_really_commits);
    tcase_add_test(tcase, seam__lost_reply_inside_a_transaction_rolls_it_back);
    tcase_add_test(tcase, seam__cut_before_commit_does_not_commit);
    tcase_add_test(tcase, seam__crash_before_commit_frees_through_ops_and_does_not_commit);
    tcase_add_test(tcase, seam__crash_after_commit_has_committed);
    tcase_add_test(tcase, seam__hold_before_stops_there_until_released);
    tcase_add_test(tcase, seam__hold_after_has_made_the_call_but_not_told_it);
    tcase_add_test(tcase, seam__hold_ignores_a_wake_that_is_no_release);
    tcase_add_test(tcase, seam__hold_then_crash_at_one_step);
    tcase_add_test(tcase, seam__skip_and_times_choose_which_calls);
    tcase_add_test(tcase, seam__armed_in_a_half_open_span);
    tcase_add_test(tcase, seam__where_matches_a_text_parameter);
    tcase_add_test(tcase, seam__where_matches_a_uuid_parameter);
    tcase_add_test(tcase, seam__another_actor_is_left_alone_and_its_fault_never_fires);
    tcase_add_test(tcase, seam_enter__error_and_cut_come_before_the_call);
    tcase_add_test(tcase, seam_leave__lost_reply_comes_after_the_call);
    tcase_add_test(tcase, seam_leave__crash_and_hold_after_the_call);
    tcase_add_test(tcase, fault_infos__every_kind_has_words_that_begin_its_syntax);
    tcase_add_test(tcase, fault_step__sorted_whole_and_known);
    suite_add_tcase(suite, tcase);
    return suite;
}

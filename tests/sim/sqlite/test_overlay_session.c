/* Sessions that end early, wait where nobody may, and tell of their waits. */
#include "tests/sim/sqlite/stage.h"
#include <check.h>
#include <stdio.h>
#include <string.h>

static struct stage *stage;

static void set_up(void)
{
    stage = stage_new(1);
}

static void tear_down(void)
{
    stage_free(stage);
}

START_TEST(session__cut_undoes_and_lets_the_waiting_go_on)
{
    stage_play(stage, "cut holder",
               "a begin: ok\n"
               "a exclusive 7: ok\n"
               "a warn 1 10: 1\n"
               "b begin: ok\n"
               "b warn 1 5: waits\n"
               "c begin: ok\n"
               "c shared 7: waits\n"
               "a is cut:\n"
               "b: 1\n"
               "c: ok\n"
               "b dumpwarn: 0:coarse_buckets:5\n"
               "a warn 1 1: 08006\n"
               "a rollback: ok\n"
               "a begin: ok\n"
               "a commit: ok\n"
               "b commit: ok\n"
               "c commit: ok\n");
}
END_TEST

START_TEST(session__cut_while_waiting_is_a_lost_connection)
{
    stage_play(stage, "cut waiter",
               "a begin: ok\n"
               "b begin: ok\n"
               "c begin: ok\n"
               "a shared 7: ok\n"
               "b warn 1 1: 1\n"
               "b exclusive 7: waits\n"
               "c shared 7: waits\n"
               "b is cut:\n"
               "b: 08006\n"
               "c: ok\n"
               "c warn 1 2: 1\n"
               "b commit: 25P02\n"
               "b rollback: ok\n"
               "c commit: ok\n"
               "a commit: ok\n");
}
END_TEST

START_TEST(session__cut_between_statements_shows_at_the_next_one)
{
    stage_play(stage, "cut idle",
               "a begin: ok\n"
               "a warn 1 1: 1\n"
               "a is cut:\n"
               "a commit: 08006\n"
               "a rollback: ok\n"
               "a begin: ok\n"
               "a dumpwarn: none\n"
               "a commit: ok\n");
}
END_TEST

START_TEST(session__actor_that_dies_while_it_waits_leaves_the_queue)
{
    stage_play(stage, "dies",
               "a begin: ok\n"
               "b begin: ok\n"
               "c begin: ok\n"
               "a shared 7: ok\n"
               "b warn 1 1: 1\n"
               "b exclusive 7: waits\n"
               "c shared 7: waits\n"
               "b dies:\n"
               "c: ok\n"
               "c warn 1 2: 1\n"
               "c dumpwarn: 0:coarse_buckets:2\n"
               "c commit: ok\n"
               "a commit: ok\n");
}
END_TEST

/* Set-up code runs outside of the scheduler: it must never hang. */
START_TEST(session__without_a_scheduler_a_wait_is_refused)
{
    struct overlay *overlay;
    struct err err = {0};
    ck_assert_int_eq(overlay_new(&overlay, &err), STATUS_OK);
    struct overlay_session *a = overlay_session_new(overlay, "a");
    struct overlay_session *b = overlay_session_new(overlay, "b");
    const struct uuid tenant = {{1}};
    ck_assert_int_eq(store_begin(overlay_session_store(a), ROLE_CP_SYSTEM, &err), STATUS_OK);
    ck_assert_int_eq(store_begin(overlay_session_store(b), ROLE_CP_SYSTEM, &err), STATUS_OK);
    ck_assert_int_eq(store_set_tenant(overlay_session_store(a), &tenant, "active", &err),
                     STATUS_OK);
    ck_assert(!overlay_idle(overlay));
    ck_assert_int_eq(store_set_tenant(overlay_session_store(b), &tenant, "removed", &err),
                     STATUS_TRANSIENT);
    ck_assert_str_eq(err.sqlstate, "55P03");
    store_rollback(overlay_session_store(b));
    ck_assert_int_eq(store_commit(overlay_session_store(a), &err), STATUS_OK);
    ck_assert(overlay_idle(overlay));
    overlay_session_free(a);
    overlay_session_free(b);
    overlay_free(overlay);
}
END_TEST

/* ---- events ---- */

static char told[256];

static void tell_waits(void *context, const char *actor)
{
    (void)context;
    strcat(strcat(strcat(told, "waits "), actor), "; ");
}

static void tell_granted(void *context, const char *actor)
{
    (void)context;
    strcat(strcat(strcat(told, "granted "), actor), "; ");
}

static void do_line(struct overlay_session *session, const char *line)
{
    struct op op = op_parse(line);
    struct op_call call;
    struct arena arena;
    struct err err = {0};
    arena_init(&arena, 1 << 20);
    op_build(&op, &arena, &call);
    struct store *store = overlay_session_store(session);
    ck_assert_msg(store->call(store, &call.call, &err) == STATUS_OK, "%s: %s", line, err.message);
    arena_free(&arena);
}

static struct overlay_session *holder, *first, *second;
static struct sched *sched;

static void hold(void *argument)
{
    (void)argument;
    do_line(holder, "begin");
    do_line(holder, "warn 1 1");
    sched_sleep_until(sched, 10);
    strcat(told, "commit; ");
    do_line(holder, "commit");
    strcat(told, "committed; ");
}

static void wait_for_row(void *argument)
{
    struct overlay_session *session = argument;
    sched_sleep_until(sched, session == first ? 2 : 1);
    do_line(session, "begin");
    do_line(session, "warn 1 1");
    do_line(session, "commit");
}

/* One release grants both; it tells so in the order in which the sessions were made. */
START_TEST(session__waits_and_grants_are_told_when_they_happen)
{
    struct overlay *overlay;
    struct err err = {0};
    told[0] = '\0';
    ck_assert_int_eq(overlay_new(&overlay, &err), STATUS_OK);
    sched = sched_new(1, 0);
    const struct overlay_events events = {.waits = tell_waits, .granted = tell_granted};
    overlay_attach(overlay, sched, &events);
    holder = overlay_session_new(overlay, "h");
    first = overlay_session_new(overlay, "1");
    second = overlay_session_new(overlay, "2");
    sched_spawn(sched, "h", hold, NULL);
    sched_spawn(sched, "1", wait_for_row, first);
    sched_spawn(sched, "2", wait_for_row, second);
    ck_assert_int_eq(sched_run(sched, 20), SCHED_REACHED);
    ck_assert_msg(
        strncmp(told, "waits 2; waits 1; commit; granted 1; granted 2; committed; ", 58) == 0, "%s",
        told);
    overlay_session_free(holder);
    overlay_session_free(first);
    overlay_session_free(second);
    overlay_free(overlay);
    sched_free(sched);
}
END_TEST

Suite *overlay_session_suite(void);
Suite *overlay_session_suite(void)
{
    Suite *suite = suite_create("overlay_session");
    TCase *test = tcase_create("session");
    tcase_add_checked_fixture(test, set_up, tear_down);
    tcase_add_test(test, session__cut_undoes_and_lets_the_waiting_go_on);
    tcase_add_test(test, session__cut_while_waiting_is_a_lost_connection);
    tcase_add_test(test, session__cut_between_statements_shows_at_the_next_one);
    tcase_add_test(test, session__actor_that_dies_while_it_waits_leaves_the_queue);
    suite_add_tcase(suite, test);
    TCase *alone = tcase_create("alone");
    tcase_add_test(alone, session__without_a_scheduler_a_wait_is_refused);
    tcase_add_test(alone, session__waits_and_grants_are_told_when_they_happen);
    suite_add_tcase(suite, alone);
    return suite;
}

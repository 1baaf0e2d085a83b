/* Sessions that end early, wait where nobody may, and tell of their waits. */
#include "sim/sqlite/internal.h"
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
               "a is cut: gone; b c may go on\n"
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
               "b is cut: gone; c may go on\n"
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
               "a is cut: gone\n"
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
               "b dies: gone; c may go on\n"
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

/* b may go on, but has not: the line for the old version is still its own. c looks at the new
 * version, which d has changed, and is the first in a line of its own. This seed runs c before b. */
START_TEST(session__new_version_of_a_row_has_a_line_of_its_own)
{
    stage_free(stage);
    stage = stage_new(4);
    stage_play(stage, "b stands in line",
               "a begin: ok\n"
               "a seen 1 1: 1\n"
               "a commit: ok\n"
               "a begin: ok\n"
               "a seen 1 2: 1\n"
               "b begin: ok\n"
               "b pruneseen 2: waits\n"
               "c begin: ok\n");
    stage_outside(stage, 'a', "commit", "ok; b may go on");
    stage_outside(stage, 'd', "begin", "ok");
    stage_outside(stage, 'd', "seen 1 3", "1");
    struct op op = op_parse("pruneseen 9");
    stage_line(stage, 'c', &op);
    ck_assert_str_eq(stage_take_transcript(stage), ": waits\nb: waits\n");
    stage_play(stage, "both wait for d alone",
               "d commit: ok; b c may go on\n"
               "c: 1\n"
               "b: waits\n"
               "c commit: ok; b may go on\n"
               "b: 0\n");
}
END_TEST

/* A rollback frees the row at once: who stands in line for it has no right to it yet. */
START_TEST(session__free_row_goes_to_who_runs_first)
{
    stage_play(stage, "b stands in line",
               "a begin: ok\n"
               "a record 1 1: 1\n"
               "a commit: ok\n"
               "a begin: ok\n"
               "a prunededup 9: 1\n"
               "b begin: ok\n"
               "b prunededup 9: waits\n");
    stage_outside(stage, 'a', "rollback", "ok; b may go on");
    stage_outside(stage, 'c', "begin", "ok");
    stage_outside(stage, 'c', "prunededup 9", "1");
    stage_play(stage, "b waits again",
               "b: waits\n"
               "c commit: ok; b may go on\n"
               "b: 0\n");
}
END_TEST

/* No query leaves a mere lock on a row that insert do nothing writes; the rule is tried by hand. */
START_TEST(session__insert_do_nothing_does_not_wait_for_a_mere_lock)
{
    struct overlay *overlay = stage_overlay(stage);
    stage_play(stage, "a mark",
               "a begin: ok\n"
               "a mark 1 5: 1\n"
               "a commit: ok\n"
               "a begin: ok\n"
               "a mark 1 6: 0\n");
    struct overlay_session *session = overlay->sessions;
    ck_assert_str_eq(session->actor, "a");
    uint64_t bit;
    struct err err;
    ck_assert_int_eq(catalog_bit(&overlay->catalog, "rollup_pending", &bit, &err), STATUS_OK);
    struct image_buffer key = {0};
    image_put_bytes(&key, SQLITE_TEXT, "00000000-0000-0000-0000-000000000001", UUID_TEXT_SIZE);
    image_put_integer(&key, OPS_BASE_US + INT64_C(3600000000));
    struct row_key row = row_key_make((uint32_t)__builtin_ctzll(bit), key.data, key.size);
    ck_assert_ptr_nonnull(row_lock(session, &row));
    image_free(&key);
    stage_play(stage, "b finds it locked",
               "b begin: ok\n"
               "b claim 9: none\n"
               "b mark 1 7: 0\n"
               "b commit: ok\n"
               "a commit: ok\n");
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
    tcase_add_test(test, session__new_version_of_a_row_has_a_line_of_its_own);
    tcase_add_test(test, session__free_row_goes_to_who_runs_first);
    tcase_add_test(test, session__insert_do_nothing_does_not_wait_for_a_mere_lock);
    suite_add_tcase(suite, test);
    TCase *alone = tcase_create("alone");
    tcase_add_test(alone, session__without_a_scheduler_a_wait_is_refused);
    tcase_add_test(alone, session__waits_and_grants_are_told_when_they_happen);
    suite_add_tcase(suite, alone);
    return suite;
}

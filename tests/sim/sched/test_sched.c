/* sim/sched: virtual time, order within an instant, kill, exit, bounds, determinism (DESIGN 5). */
#include "sim/sched/sched.h"

#include "sim/limits.h"
#include "sim/sched/coroutine.h"
#include <check.h>
#include <stdio.h>
#include <string.h>

#define START_NS INT64_C(1772323200000000000) /* 2026-03-01T00:00:00Z */

/* What happened, in order, as words. */
static char journal[4096];
static struct sched *sched;

static void note(const char *word)
{
    size_t used = strlen(journal);
    ck_assert_uint_lt(used + strlen(word) + 2, sizeof journal);
    snprintf(journal + used, sizeof journal - used, "%s%s", used ? " " : "", word);
}

static void start(uint64_t seed)
{
    journal[0] = '\0';
    sched = sched_new(seed, START_NS);
    ck_assert_ptr_nonnull(sched);
}

static void finish(void)
{
    sched_free(sched);
    coroutine_pool_free();
}

static void note_event(void *argument)
{
    note(argument);
}

static void note_actor(void *argument)
{
    note(argument);
}

static void three_points(void *argument)
{
    for (int i = 0; i < 3; i++) {
        note(argument);
        sched_point(sched);
    }
}

static void sleeper(void *argument)
{
    for (int i = 1; i <= 2; i++) {
        sched_sleep_until(sched, START_NS + i * INT64_C(1000000000));
        note(argument);
    }
}

static void waiter(void *argument)
{
    sched_wait(sched);
    note(argument);
}

START_TEST(sched_run__clock_jumps_to_the_next_sleeper_and_stands_at_the_end)
{
    start(1);
    sched_spawn(sched, "a", sleeper, "a");
    ck_assert_int_eq(sched_run(sched, START_NS + 1999999999), SCHED_REACHED);
    ck_assert_str_eq(journal, "a");
    ck_assert_int_eq(sched_now_ns(sched), START_NS + 1999999999);
    ck_assert_int_eq(sched_run(sched, START_NS + 2000000000), SCHED_REACHED);
    ck_assert_str_eq(journal, "a a");
    /* 3 resumes: to the first sleep, to the second, to the end */
    ck_assert_uint_eq(sched_steps(sched), 3);
    finish();
}
END_TEST

/* DESIGN 5: world events of one instant run in file order, and before the actors. */
START_TEST(sched_run__events_of_an_instant_in_order_of_insertion_before_actors)
{
    start(1);
    sched_spawn(sched, "actor", note_actor, "actor");
    sched_at(sched, START_NS + 5, note_event, "later");
    sched_at(sched, START_NS, note_event, "one");
    sched_at(sched, START_NS, note_event, "two");
    sched_at(sched, START_NS, note_event, "three");
    sched_run(sched, START_NS + 10);
    ck_assert_str_eq(journal, "one two three actor later");
    finish();
}
END_TEST

START_TEST(sched_run__event_at_a_sleepers_instant_comes_first)
{
    start(1);
    sched_spawn(sched, "a", sleeper, "a");
    sched_run(sched, START_NS);
    sched_at(sched, START_NS + 1000000000, note_event, "event");
    sched_run(sched, START_NS + 1000000000);
    ck_assert_str_eq(journal, "event a");
    finish();
}
END_TEST

static void event_of_now(void *argument)
{
    note("asks");
    sched_at(sched, sched_now_ns(sched), note_event, argument);
    sched_point(sched);
    note("goes-on");
}

START_TEST(sched_at__now_runs_before_any_actor_goes_on)
{
    start(1);
    sched_spawn(sched, "a", event_of_now, "event");
    sched_run(sched, START_NS);
    ck_assert_str_eq(journal, "asks event goes-on");
    finish();
}
END_TEST

/* ---- wait, wake, kill, exit ---- */

static struct actor *victim;

static void wake_victim(void *argument)
{
    (void)argument;
    sched_wake(sched, victim);
    sched_wake(sched, victim); /* of a runnable one: nothing */
}

START_TEST(sched_wake__makes_a_waiting_actor_run_at_that_instant)
{
    start(1);
    victim = sched_spawn(sched, "a", waiter, "woken");
    sched_at(sched, START_NS + 7, wake_victim, NULL);
    ck_assert_int_eq(sched_run(sched, START_NS + 6), SCHED_REACHED);
    ck_assert_str_eq(journal, "");
    sched_run(sched, START_NS + 100);
    ck_assert_str_eq(journal, "woken");
    ck_assert(!actor_alive(victim));
    finish();
}
END_TEST

START_TEST(sched_wake__cuts_a_sleep_short)
{
    start(1);
    victim = sched_spawn(sched, "a", sleeper, "a");
    sched_at(sched, START_NS + 7, wake_victim, NULL);
    sched_run(sched, START_NS + 999999999);
    ck_assert_str_eq(journal, "a"); /* the first sleep ended at 7 ns, the second is until 2 s */
    sched_run(sched, START_NS + 2000000000);
    ck_assert_str_eq(journal, "a a");
    finish();
}
END_TEST

static void kill_victim(void *argument)
{
    (void)argument;
    sched_kill(sched, victim);
    sched_kill(sched, victim); /* of a dead one: nothing */
}

START_TEST(sched_kill__a_waiting_sleeping_or_runnable_actor_never_runs_again)
{
    actor_main *const mains[] = {waiter, sleeper, three_points};
    for (int i = 0; i < 3; i++) {
        start(1);
        victim = sched_spawn(sched, "victim", mains[i], "victim");
        if (mains[i] != three_points)
            sched_run(sched, START_NS); /* now it waits, or sleeps; the third is still runnable */
        sched_at(sched, START_NS, kill_victim, NULL);
        ck_assert(actor_alive(victim));
        sched_run(sched, START_NS + 5000000000);
        ck_assert_str_eq(journal, "");
        ck_assert(!actor_alive(victim));
        ck_assert_str_eq(actor_name(victim), "victim");
        finish();
    }
}
END_TEST

static void killer(void *argument)
{
    (void)argument;
    sched_kill(sched, victim);
    note("killed");
}

START_TEST(sched_kill__from_another_actor)
{
    start(1);
    victim = sched_spawn(sched, "victim", waiter, "victim");
    sched_run(sched, START_NS);
    sched_spawn(sched, "killer", killer, NULL);
    sched_run(sched, START_NS + 1);
    ck_assert_str_eq(journal, "killed");
    ck_assert(!actor_alive(victim));
    finish();
}
END_TEST

static void exits(void *argument)
{
    note(argument);
    sched_exit(sched);
}

START_TEST(sched_exit__ends_the_actor_and_the_others_go_on)
{
    start(1);
    struct actor *a = sched_spawn(sched, "a", exits, "a");
    sched_run(sched, START_NS);
    ck_assert(!actor_alive(a));
    sched_spawn(sched, "b", note_actor, "b");
    ck_assert_int_eq(sched_run(sched, START_NS + 1), SCHED_REACHED);
    ck_assert_str_eq(journal, "a b");
    finish();
}
END_TEST

START_TEST(sched_spawn__index_is_the_order_of_creation_and_room_comes_back)
{
    start(1);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < LIMIT_ACTORS; i++) {
            struct actor *actor = sched_spawn(sched, "a", exits, "a");
            ck_assert_ptr_nonnull(actor);
            ck_assert_int_eq(actor_index(actor), round * LIMIT_ACTORS + i);
        }
        ck_assert_ptr_null(sched_spawn(sched, "one too many", exits, "a"));
        sched_run(sched, START_NS + round);
    }
    finish();
}
END_TEST

/* ---- bounds, stop, idle ---- */

static void nap(void *argument)
{
    (void)argument;
    for (;;)
        sched_sleep_until(sched, sched_now_ns(sched) + 1);
}

static void nap_event(void *argument)
{
    sched_at(sched, sched_now_ns(sched) + 1, nap_event, argument);
}

/* Time goes on, but it never ends: of 100 steps and events the last is made, the next is not. */
START_TEST(sched_run__ends_behind_the_last_step_it_may_make)
{
    for (int events = 0; events <= 1; events++) {
        start(1);
        sched_limit(sched, 100);
        if (events)
            sched_at(sched, START_NS, nap_event, NULL);
        else
            sched_spawn(sched, "sleeper", nap, NULL);
        ck_assert_int_eq(sched_run(sched, START_NS + 98), SCHED_REACHED); /* 0 to 98: 99 of them */
        ck_assert_int_eq(sched_run(sched, START_NS + 99), SCHED_REACHED);
        ck_assert_int_eq(sched_run(sched, START_NS + 1000), SCHED_ENDLESS);
        ck_assert_int_eq(sched_run(sched, START_NS + 1000), SCHED_ENDLESS);
        ck_assert_int_eq(sched_now_ns(sched), START_NS + 100);
        sched_free(sched);
        sched = NULL;
    }
}
END_TEST

static void spin(void *argument)
{
    (void)argument;
    for (;;)
        sched_point(sched);
}

static void spin_event(void *argument)
{
    sched_at(sched, sched_now_ns(sched), spin_event, argument);
}

START_TEST(sched_run__a_spinning_actor_or_event_is_a_livelock)
{
    for (int actors = 0; actors <= 2; actors++) {
        start(1);
        if (actors == 0)
            sched_at(sched, START_NS, spin_event, NULL);
        for (int i = 0; i < actors; i++)
            sched_spawn(sched, "spinner", spin, NULL);
        ck_assert_int_eq(sched_run(sched, START_NS + 1000), SCHED_LIVELOCK);
        ck_assert_int_eq(sched_now_ns(sched), START_NS);
        finish();
    }
}
END_TEST

static void many_steps(void *argument)
{
    for (int instant = 0; instant < 3; instant++) {
        sched_sleep_until(sched, START_NS + instant);
        for (int i = 0; i < LIMIT_STEPS_PER_INSTANT / 2; i++)
            sched_point(sched);
    }
    note(argument);
}

/* Half a million steps in each of three instants: more than the bound in all, less in each. */
START_TEST(sched_run__steps_are_bounded_by_the_instant_not_by_the_run)
{
    start(1);
    sched_spawn(sched, "a", many_steps, "done");
    ck_assert_int_eq(sched_run(sched, START_NS + 5), SCHED_REACHED);
    ck_assert_str_eq(journal, "done");
    ck_assert_uint_gt(sched_steps(sched), 3 * (LIMIT_STEPS_PER_INSTANT / 2));
    finish();
}
END_TEST

static void stops(void *argument)
{
    note(argument);
    sched_stop(sched);
    sched_point(sched);
    note("after");
}

START_TEST(sched_stop__the_run_ends_at_the_next_point_and_can_go_on)
{
    start(1);
    sched_spawn(sched, "a", stops, "stop");
    ck_assert_int_eq(sched_run(sched, START_NS + 5), SCHED_STOPPED);
    ck_assert_str_eq(journal, "stop");
    ck_assert_int_eq(sched_now_ns(sched), START_NS);
    ck_assert_int_eq(sched_run(sched, START_NS + 5), SCHED_REACHED);
    ck_assert_str_eq(journal, "stop after");
    finish();
}
END_TEST

static bool rescue(void *argument)
{
    (void)argument;
    note("idle");
    if (!actor_alive(victim))
        return false;
    sched_wake(sched, victim);
    return true;
}

START_TEST(sched_set_idle_hook__asked_before_the_clock_moves)
{
    start(1);
    victim = sched_spawn(sched, "a", waiter, "rescued");
    sched_set_idle_hook(sched, rescue, NULL);
    sched_at(sched, START_NS + 3, note_event, "event");
    sched_run(sched, START_NS + 10);
    ck_assert_str_eq(journal, "idle rescued idle event idle");
    finish();
}
END_TEST

/* ---- determinism ---- */

static void race(uint64_t seed)
{
    start(seed);
    sched_spawn(sched, "a", three_points, "a");
    sched_spawn(sched, "b", three_points, "b");
    sched_spawn(sched, "c", three_points, "c");
    ck_assert_int_eq(sched_run(sched, START_NS), SCHED_REACHED);
    ck_assert_uint_eq(strlen(journal), 9 * 2 - 1);
    finish();
}

START_TEST(sched__same_seed_same_order)
{
    for (uint64_t seed = 0; seed < 20; seed++) {
        char first[sizeof journal];
        race(seed);
        memcpy(first, journal, sizeof first);
        race(seed);
        ck_assert_str_eq(journal, first);
    }
}
END_TEST

/* Two actors of three steps: 6! / (3! 3!) = 20 orders, all of which the seeds must reach. */
START_TEST(sched__seeds_reach_every_order)
{
    char orders[20][16];
    int count = 0;
    for (uint64_t seed = 0; seed < 2000 && count < 20; seed++) {
        start(seed);
        sched_spawn(sched, "a", three_points, "a");
        sched_spawn(sched, "b", three_points, "b");
        sched_run(sched, START_NS);
        ck_assert_uint_eq(strlen(journal), 6 * 2 - 1);
        int i = 0;
        while (i < count && strcmp(orders[i], journal))
            i++;
        if (i == count)
            memcpy(orders[count++], journal, sizeof orders[0]);
        sched_free(sched);
    }
    coroutine_pool_free();
    ck_assert_int_eq(count, 20);
}
END_TEST

Suite *sched_suite(void);
Suite *sched_suite(void)
{
    Suite *suite = suite_create("sched");
    TCase *tcase = tcase_create("sched");
    tcase_add_test(tcase, sched_run__clock_jumps_to_the_next_sleeper_and_stands_at_the_end);
    tcase_add_test(tcase, sched_run__events_of_an_instant_in_order_of_insertion_before_actors);
    tcase_add_test(tcase, sched_run__event_at_a_sleepers_instant_comes_first);
    tcase_add_test(tcase, sched_at__now_runs_before_any_actor_goes_on);
    tcase_add_test(tcase, sched_wake__makes_a_waiting_actor_run_at_that_instant);
    tcase_add_test(tcase, sched_wake__cuts_a_sleep_short);
    tcase_add_test(tcase, sched_kill__a_waiting_sleeping_or_runnable_actor_never_runs_again);
    tcase_add_test(tcase, sched_kill__from_another_actor);
    tcase_add_test(tcase, sched_exit__ends_the_actor_and_the_others_go_on);
    tcase_add_test(tcase, sched_spawn__index_is_the_order_of_creation_and_room_comes_back);
    tcase_add_test(tcase, sched_run__a_spinning_actor_or_event_is_a_livelock);
    tcase_add_test(tcase, sched_run__ends_behind_the_last_step_it_may_make);
    tcase_add_test(tcase, sched_run__steps_are_bounded_by_the_instant_not_by_the_run);
    tcase_add_test(tcase, sched_stop__the_run_ends_at_the_next_point_and_can_go_on);
    tcase_add_test(tcase, sched_set_idle_hook__asked_before_the_clock_moves);
    tcase_add_test(tcase, sched__same_seed_same_order);
    tcase_add_test(tcase, sched__seeds_reach_every_order);
    suite_add_tcase(suite, tcase);
    return suite;
}

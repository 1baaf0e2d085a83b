/* The lock table: queue, turns, deadlock (PostgreSQL: ProcSleep, ProcLockWakeup). */
#include "sim/limits.h"
#include "sim/sqlite/lock.h"
#include <check.h>

static struct lock_table *table;
static struct locker a, b, c, d;
static const struct lock_tag seven = {.space = LOCK_ADVISORY, .id = 7};
static const struct lock_tag eight = {.space = LOCK_ADVISORY, .id = 8};

static void set_up(void)
{
    table = lock_table_new();
    ck_assert_ptr_nonnull(table);
}

static void tear_down(void)
{
    lock_table_free(table);
}

static enum lock_answer ask(struct locker *locker, const struct lock_tag *tag, enum lock_mode mode)
{
    return lock_acquire(table, locker, tag, mode, true);
}

START_TEST(lock__shared_goes_with_shared_only)
{
    static const struct {
        enum lock_mode held, asked;
        enum lock_answer answer;
    } cases[] = {
        {LOCK_SHARED, LOCK_SHARED, LOCK_GRANTED},
        {LOCK_SHARED, LOCK_EXCLUSIVE, LOCK_UNAVAILABLE},
        {LOCK_EXCLUSIVE, LOCK_SHARED, LOCK_UNAVAILABLE},
        {LOCK_EXCLUSIVE, LOCK_EXCLUSIVE, LOCK_UNAVAILABLE},
    };
    ck_assert_int_eq(ask(&a, &seven, cases[_i].held), LOCK_GRANTED);
    ck_assert_int_eq(lock_acquire(table, &b, &seven, cases[_i].asked, false), cases[_i].answer);
    ck_assert_int_eq(lock_acquire(table, &b, &eight, cases[_i].asked, false), LOCK_GRANTED);
}
END_TEST

START_TEST(lock__queue_is_first_come_first_served)
{
    ask(&a, &seven, LOCK_SHARED);
    ck_assert_int_eq(ask(&b, &seven, LOCK_EXCLUSIVE), LOCK_BLOCKED);
    ck_assert_int_eq(ask(&c, &seven, LOCK_SHARED), LOCK_BLOCKED); /* behind b, though a shares */
    ck_assert_int_eq(lock_acquire(table, &d, &seven, LOCK_SHARED, false), LOCK_UNAVAILABLE);
    ck_assert(!lock_take_granted(table));
    lock_release_all(table, &a);
    ck_assert(lock_take_granted(table));
    ck_assert(b.granted && !b.waits_for);
    ck_assert(!c.granted && c.waits_for);
    b.granted = false;
    lock_release_all(table, &b);
    ck_assert(c.granted);
}
END_TEST

START_TEST(lock__one_release_grants_all_that_go_together)
{
    ask(&a, &seven, LOCK_EXCLUSIVE);
    ask(&b, &seven, LOCK_SHARED);
    ask(&c, &seven, LOCK_SHARED);
    ask(&d, &seven, LOCK_EXCLUSIVE);
    lock_release_all(table, &a);
    ck_assert(b.granted && c.granted && !d.granted);
}
END_TEST

START_TEST(lock__holder_asks_again_past_the_queue)
{
    ask(&a, &seven, LOCK_SHARED);
    ask(&b, &seven, LOCK_EXCLUSIVE);
    ck_assert_int_eq(ask(&a, &seven, LOCK_SHARED), LOCK_GRANTED);
    /* a stronger mode goes before the one that must wait for a anyway, and nobody is in the way */
    ck_assert_int_eq(ask(&a, &seven, LOCK_EXCLUSIVE), LOCK_GRANTED);
    ck_assert(b.waits_for && !b.granted);
}
END_TEST

START_TEST(lock__holder_that_wants_more_goes_before_those_that_wait_for_it)
{
    ask(&a, &seven, LOCK_SHARED);
    ask(&b, &seven, LOCK_SHARED);
    ask(&c, &seven, LOCK_EXCLUSIVE);
    ck_assert_int_eq(ask(&a, &seven, LOCK_EXCLUSIVE), LOCK_BLOCKED);
    lock_release_all(table, &b);
    ck_assert(a.granted && !c.granted);
}
END_TEST

START_TEST(lock__who_leaves_the_queue_lets_others_through)
{
    ask(&a, &seven, LOCK_SHARED);
    ask(&b, &seven, LOCK_EXCLUSIVE);
    ask(&c, &seven, LOCK_SHARED);
    lock_abandon(table, &b);
    ck_assert(!b.waits_for && !b.granted);
    ck_assert(c.granted);
}
END_TEST

START_TEST(lock__cycle_is_found_when_it_closes_and_not_before)
{
    ask(&a, &seven, LOCK_EXCLUSIVE);
    ask(&b, &eight, LOCK_EXCLUSIVE);
    ask(&a, &eight, LOCK_SHARED);
    ck_assert(!lock_deadlocked(table, &a));
    ask(&b, &seven, LOCK_SHARED);
    ck_assert(lock_deadlocked(table, &b));
    lock_abandon(table, &b);
    ck_assert(!lock_deadlocked(table, &a));
}
END_TEST

START_TEST(lock__request_ahead_in_the_queue_closes_a_cycle_too)
{
    /* c waits behind b, b waits for a, a waits for c */
    ask(&a, &seven, LOCK_SHARED);
    ask(&c, &eight, LOCK_EXCLUSIVE);
    ask(&b, &seven, LOCK_EXCLUSIVE);
    ask(&c, &seven, LOCK_SHARED);
    ck_assert(!lock_deadlocked(table, &c));
    ask(&a, &eight, LOCK_SHARED);
    ck_assert(lock_deadlocked(table, &a));
}
END_TEST

START_TEST(lock__turn_belongs_to_a_version_of_a_row)
{
    const uint8_t one[] = {1, 2}, other[] = {1, 3};
    struct lock_tag turn = {
        .space = LOCK_TURN, .table = 3, .id = 99, .key = one, .key_size = sizeof one};
    struct lock_tag same_hash = turn;
    same_hash.key = other;
    ck_assert(!lock_turns_held(table));
    ask(&a, &turn, LOCK_EXCLUSIVE);
    ck_assert_int_eq(ask(&b, &same_hash, LOCK_EXCLUSIVE), LOCK_GRANTED);
    ck_assert_int_eq(ask(&c, &turn, LOCK_EXCLUSIVE), LOCK_BLOCKED);
    lock_turn_retire(table, &turn);
    /* a new version: its line is empty, the old line goes on */
    ck_assert_int_eq(ask(&d, &turn, LOCK_EXCLUSIVE), LOCK_GRANTED);
    lock_release_turns(table, &a);
    ck_assert(c.granted);
    c.granted = false;
    lock_release_turns(table, &c);
    lock_release_turns(table, &b);
    lock_release_turns(table, &d);
    ck_assert(!lock_turns_held(table));
}
END_TEST

START_TEST(lock__turns_go_back_alone)
{
    const uint8_t key[] = {1};
    const struct lock_tag turn = {.space = LOCK_TURN, .id = 5, .key = key, .key_size = 1};
    ask(&a, &seven, LOCK_EXCLUSIVE);
    ask(&a, &turn, LOCK_EXCLUSIVE);
    lock_release_turns(table, &a);
    ck_assert_int_eq(lock_acquire(table, &b, &seven, LOCK_SHARED, false), LOCK_UNAVAILABLE);
    ck_assert_int_eq(lock_acquire(table, &b, &turn, LOCK_EXCLUSIVE, false), LOCK_GRANTED);
}
END_TEST

/* S-9: a transaction that takes too many is refused with 53200. */
START_TEST(lock__table_is_bounded)
{
    for (uint64_t i = 0; i < LIMIT_LOCKS; i++) {
        struct lock_tag tag = {.space = LOCK_ADVISORY, .id = i};
        ck_assert_int_eq(ask(&a, &tag, LOCK_SHARED), LOCK_GRANTED);
    }
    const struct lock_tag more = {.space = LOCK_ADVISORY, .id = LIMIT_LOCKS};
    ck_assert_int_eq(ask(&a, &more, LOCK_SHARED), LOCK_FULL);
    ck_assert_int_eq(ask(&b, &seven, LOCK_SHARED), LOCK_GRANTED); /* one that is there already */
    lock_release_all(table, &a);
    ck_assert_int_eq(ask(&a, &more, LOCK_SHARED), LOCK_GRANTED);
}
END_TEST

Suite *lock_suite(void);
Suite *lock_suite(void)
{
    Suite *suite = suite_create("lock");
    TCase *test = tcase_create("lock");
    tcase_add_checked_fixture(test, set_up, tear_down);
    tcase_add_loop_test(test, lock__shared_goes_with_shared_only, 0, 4);
    tcase_add_test(test, lock__queue_is_first_come_first_served);
    tcase_add_test(test, lock__one_release_grants_all_that_go_together);
    tcase_add_test(test, lock__holder_asks_again_past_the_queue);
    tcase_add_test(test, lock__holder_that_wants_more_goes_before_those_that_wait_for_it);
    tcase_add_test(test, lock__who_leaves_the_queue_lets_others_through);
    tcase_add_test(test, lock__cycle_is_found_when_it_closes_and_not_before);
    tcase_add_test(test, lock__request_ahead_in_the_queue_closes_a_cycle_too);
    tcase_add_test(test, lock__turn_belongs_to_a_version_of_a_row);
    tcase_add_test(test, lock__turns_go_back_alone);
    tcase_add_test(test, lock__table_is_bounded);
    suite_add_tcase(suite, test);
    return suite;
}

/* The image log: a hash table with removal, against an array that is searched. */
#include "sim/base/prng.h"
#include "sim/sqlite/row_log.h"
#include <check.h>
#include <string.h>

#define KEYS  300
#define LISTS 3

static struct row_log row_log;
static struct row_list lists[LISTS];

static struct row_key key_of(int number, uint8_t bytes[8])
{
    memset(bytes, 0, 8);
    bytes[0] = (uint8_t)number;
    bytes[1] = (uint8_t)(number >> 8);
    return row_key_make((uint32_t)number % 3, bytes, 8);
}

START_TEST(row_log__finds_what_an_array_finds)
{
    struct prng prng = prng_make((uint64_t)_i + 1, PRNG_WORKLOAD);
    int owner[KEYS];
    memset(owner, -1, sizeof owner);
    for (int i = 0; i < LISTS; i++)
        row_list_init(&lists[i]);
    for (int step = 0; step < 5000; step++) {
        int list = (int)prng_below(&prng, LISTS);
        int number = (int)prng_below(&prng, KEYS);
        uint8_t bytes[8];
        struct row_key key = key_of(number, bytes);
        struct row_entry *entry = row_log_find(&row_log, &key);
        ck_assert_msg(!entry == (owner[number] < 0), "key %d in step %d", number, step);
        if (entry)
            ck_assert_ptr_eq(entry->owner, &lists[owner[number]]);
        if (prng_chance(&prng, 1, 100)) {
            row_list_clear(&row_log, &lists[list]);
            for (int i = 0; i < KEYS; i++)
                owner[i] = owner[i] == list ? -1 : owner[i];
        } else if (!entry) {
            ck_assert_ptr_nonnull(row_log_add(&row_log, &lists[list], &lists[list], &key));
            owner[number] = list;
        }
    }
    for (int i = 0; i < LISTS; i++) {
        row_list_clear(&row_log, &lists[i]);
        row_list_free(&lists[i]);
    }
    ck_assert_uint_eq(row_log.count, 0);
    row_log_free(&row_log);
}
END_TEST

START_TEST(row_log__keeps_the_first_old_image)
{
    uint8_t bytes[8];
    struct row_key key = key_of(4, bytes);
    row_list_init(&lists[0]);
    struct row_entry *entry = row_log_add(&row_log, &lists[0], &lists[0], &key);
    ck_assert(!entry->changed); /* locked only, until it is changed */
    ck_assert_uint_eq(lists[0].changed, 0);
    ck_assert(row_log_change(&lists[0], entry, (const uint8_t *)"first", 5));
    ck_assert(row_log_change(&lists[0], entry, (const uint8_t *)"second", 6));
    ck_assert(entry->changed);
    ck_assert_int_eq(memcmp(entry->old, "first", 5), 0);
    ck_assert_uint_eq(lists[0].changed, 1u << (4 % 3));
    row_list_clear(&row_log, &lists[0]);
    ck_assert_uint_eq(lists[0].changed | lists[0].tables, 0);
    row_list_free(&lists[0]);
    row_log_free(&row_log);
}
END_TEST

/* Both ways to clear a list: alone the whole table is wiped, beside another row by row. */
START_TEST(row_log__a_cleared_list_is_gone_the_others_stay)
{
    uint8_t bytes[8];
    for (int i = 0; i < 2; i++)
        row_list_init(&lists[i]);
    for (int round = 0; round < 2; round++) {
        for (int number = 0; number < KEYS; number++) {
            struct row_key key = key_of(number, bytes);
            ck_assert_ptr_null(row_log_find(&row_log, &key));
            struct row_entry *entry = row_log_add_changed(&row_log, &lists[0], &lists[0], &key,
                                                          (const uint8_t *)&number, sizeof number);
            ck_assert(entry->changed);
            ck_assert_int_eq(memcmp(entry->old, &number, sizeof number), 0);
            ck_assert_int_eq(memcmp(entry->key.data, bytes, sizeof bytes), 0);
        }
        ck_assert_uint_eq(lists[0].count, KEYS);
        ck_assert_uint_eq(lists[0].changed, 7);
        struct row_key own = key_of(KEYS, bytes);
        if (round == 1)
            ck_assert_ptr_null(
                row_log_add_changed(&row_log, &lists[1], &lists[1], &own, NULL, 0)->old);
        row_list_clear(&row_log, &lists[0]);
        ck_assert_uint_eq(row_log.count, (size_t)round);
        ck_assert_int_eq(row_log_find(&row_log, &own) != NULL, round == 1);
    }
    row_list_clear(&row_log, &lists[1]);
    for (int i = 0; i < 2; i++)
        row_list_free(&lists[i]);
    row_log_free(&row_log);
}
END_TEST

Suite *row_log_suite(void);
Suite *row_log_suite(void)
{
    Suite *suite = suite_create("row_log");
    TCase *test = tcase_create("row_log");
    tcase_add_loop_test(test, row_log__finds_what_an_array_finds, 0, 5);
    tcase_add_test(test, row_log__keeps_the_first_old_image);
    tcase_add_test(test, row_log__a_cleared_list_is_gone_the_others_stay);
    suite_add_tcase(suite, test);
    return suite;
}

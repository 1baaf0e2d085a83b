/* sim/world: fence (R-FENCE-1), clock, log, names, index. */
#include "core/base/time.h"
#include "sim/world/fence.h"
#include "sim/world/index.h"
#include "sim/world/log.h"
#include "sim/world/names.h"
#include "sim/world/vclock.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

/* All writers started under the current epoch may go on; raising it makes older ones stale. */
START_TEST(fence__raising_makes_older_holders_stale_and_no_newer_ones)
{
    struct err err;
    struct fences fences = {0};
    struct fence_holder w1, w2, rollup, late;
    fence_holder_init(&w1, &fences, FENCE_WRITERS, NULL, NULL);
    fence_holder_init(&w2, &fences, FENCE_WRITERS, NULL, NULL);
    fence_holder_init(&rollup, &fences, FENCE_ROLLUP, NULL, NULL);
    ck_assert_int_eq(w1.port.check(&w1.port, &err), STATUS_OK);
    ck_assert_int_eq(w2.port.check(&w2.port, &err), STATUS_OK);
    fences_raise(&fences, FENCE_WRITERS);
    fence_holder_init(&late, &fences, FENCE_WRITERS, NULL, NULL);
    ck_assert_int_eq(w1.port.check(&w1.port, &err), STATUS_STALE);
    ck_assert_int_eq(w2.port.check(&w2.port, &err), STATUS_STALE);
    ck_assert_str_eq(err.message, "cannot go on: epoch 0 of the writers fence is over, it is 1");
    ck_assert_int_eq(late.port.check(&late.port, &err), STATUS_OK);
    ck_assert_int_eq(rollup.port.check(&rollup.port, &err), STATUS_OK);
}
END_TEST

START_TEST(vclock__is_virtual_time_plus_the_skew_of_its_machine)
{
    struct sched *sched = sched_new(1, 1000);
    struct vclock clock;
    vclock_init(&clock, sched, -30);
    ck_assert_int_eq(clock.port.now_ns(&clock.port), 970);
    sched_run(sched, 2000);
    ck_assert_int_eq(clock.port.now_ns(&clock.port), 1970);
    sched_free(sched);
}
END_TEST

START_TEST(log_book__keeps_copies_in_order_and_counts_by_level_and_event)
{
    struct log_book book;
    char text[] = "hour 3";
    log_book_init(&book, NULL);
    book.port.write(&book.port, LOG_ERROR, "rollup_orphaned_mark", text);
    memset(text, 'x', 3);
    book.port.write(&book.port, LOG_ERROR, "rollup_drift", "hour 4");
    book.port.write(&book.port, LOG_INFO, "rollup_drift", "hour 5");
    ck_assert_str_eq(book.entries[0].text, "hour 3");
    ck_assert_uint_eq(log_book_count(&book, LOG_ERROR, "rollup_drift"), 1);
    ck_assert_uint_eq(log_book_count(&book, LOG_ERROR, NULL), 2);
    ck_assert(!book.overflowed);
    log_book_free(&book);
}
END_TEST

START_TEST(names__are_unique_stable_and_printable)
{
    struct names *names = names_new();
    struct sha256 a = {{1}}, b = {{2}}, c = {{0xde, 0xad, 0xbe, 0xef, 5}}, d = {{4}};
    ck_assert_str_eq(names_add(names, &a, bytes_of("shop GET /")), "shop GET /");
    ck_assert_str_eq(names_add(names, &b, bytes_of("shop GET /")), "shop GET / #2");
    ck_assert_str_eq(names_add(names, &a, bytes_of("other")), "shop GET /");
    ck_assert_str_eq(names_of(names, &b), "shop GET / #2");
    ck_assert_str_eq(names_of(names, &c), "deadbeef");
    ck_assert_str_eq(names_add(names, &d, (struct bytes){(const uint8_t *)"/a\0\xff", 4}),
                     "/a\\x00\\xff");
    names_free(names);
}
END_TEST

/* Growing the tables loses nothing. */
START_TEST(names__hold_thousands)
{
    struct names *names = names_new();
    struct sha256 hash = {{0}};
    char expected[32];
    for (int i = 0; i < 5000; i++) {
        memcpy(hash.bytes, &i, sizeof(i));
        (void)snprintf(expected, sizeof(expected), "s%d", i);
        names_add(names, &hash, bytes_of(expected));
    }
    for (int i = 0; i < 5000; i++) {
        memcpy(hash.bytes, &i, sizeof(i));
        (void)snprintf(expected, sizeof(expected), "s%d", i);
        ck_assert_str_eq(names_of(names, &hash), expected);
    }
    names_free(names);
}
END_TEST

/* The uuid of a name is the same for ever: the first 16 bytes of
 * printf 'metersim.tenant.name.1\0acme' | sha256sum, with version 8 and the variant of RFC 9562. */
START_TEST(names__tenants_have_fixed_uuids_and_names)
{
    struct names *names = names_new();
    struct uuid acme, other;
    char text[UUID_TEXT_SIZE + 1];
    ck_assert(names_tenant_uuid("acme", &acme));
    ck_assert(names_tenant_uuid("other", &other));
    uuid_format(&acme, text);
    ck_assert_str_eq(text, "4e0a8c5a-ed1a-8d11-b530-49b845fd0814");
    ck_assert_int_ne(uuid_compare(&acme, &other), 0);
    names_add_tenant(names, &acme, "acme");
    ck_assert_str_eq(names_of_tenant(names, &acme), "acme");
    uuid_format(&other, text);
    ck_assert_str_eq(names_of_tenant(names, &other), text);
    names_free(names);
}
END_TEST

static bool number_equal(const void *context, size_t number, const void *key)
{
    return ((const int *)context)[number] == *(const int *)key;
}

/* All keys have one hash: the worst case still finds each. */
START_TEST(index__finds_every_key_though_all_hashes_collide)
{
    struct index index = {0};
    int items[200];
    for (int i = 0; i < 200; i++) {
        items[i] = i * 3;
        ck_assert_uint_eq(index_find(&index, 7, number_equal, items, &items[i]), INDEX_NONE);
        ck_assert(index_add(&index, 7, (size_t)i));
    }
    for (int i = 0; i < 200; i++)
        ck_assert_uint_eq(index_find(&index, 7, number_equal, items, &items[i]), (size_t)i);
    index_free(&index);
}
END_TEST

Suite *world_ports_suite(void);
Suite *world_ports_suite(void)
{
    Suite *suite = suite_create("world_ports");
    TCase *tcase = tcase_create("world_ports");
    tcase_add_test(tcase, fence__raising_makes_older_holders_stale_and_no_newer_ones);
    tcase_add_test(tcase, vclock__is_virtual_time_plus_the_skew_of_its_machine);
    tcase_add_test(tcase, log_book__keeps_copies_in_order_and_counts_by_level_and_event);
    tcase_add_test(tcase, names__are_unique_stable_and_printable);
    tcase_add_test(tcase, names__hold_thousands);
    tcase_add_test(tcase, names__tenants_have_fixed_uuids_and_names);
    tcase_add_test(tcase, index__finds_every_key_though_all_hashes_collide);
    suite_add_tcase(suite, tcase);
    return suite;
}

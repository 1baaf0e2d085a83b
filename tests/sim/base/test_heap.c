/* sim/base/heap: timers come out by time, and equal times in order of insertion. */
#include "sim/base/heap.h"
#include "sim/base/prng.h"

#include <check.h>

static int items[64];

START_TEST(heap__empty_has_nothing_to_peek)
{
    struct heap heap;
    heap_init(&heap);
    ck_assert_ptr_null(heap_peek(&heap));
    ck_assert(heap_push(&heap, 5, &items[0], NULL));
    ck_assert_int_eq(heap_pop(&heap).time_ns, 5);
    ck_assert_ptr_null(heap_peek(&heap));
    heap_free(&heap);
}
END_TEST

START_TEST(heap__equal_times_come_out_in_order_of_insertion)
{
    struct heap heap;
    heap_init(&heap);
    for (int i = 0; i < 64; i++)
        ck_assert(heap_push(&heap, i % 3, &items[i], &items[0]));
    /* time 0 holds 0 3 6 ..., then time 1 holds 1 4 7 ..., then time 2 */
    for (int time = 0; time < 3; time++) {
        for (int i = time; i < 64; i += 3) {
            ck_assert_ptr_eq(heap_peek(&heap)->payload, &items[i]);
            struct heap_item item = heap_pop(&heap);
            ck_assert_int_eq(item.time_ns, time);
            ck_assert_ptr_eq(item.payload, &items[i]);
            ck_assert_ptr_eq(item.argument, &items[0]);
        }
    }
    heap_free(&heap);
}
END_TEST

START_TEST(heap__pushes_between_pops_keep_the_order)
{
    struct heap heap;
    heap_init(&heap);
    struct prng prng = prng_make(3, PRNG_WORKLOAD);
    for (int i = 0; i < 500; i++)
        ck_assert(heap_push(&heap, (int64_t)prng_below(&prng, 1000) - 500, NULL, NULL));
    int64_t last = INT64_MIN;
    for (int i = 0; i < 5000; i++) {
        struct heap_item item = heap_pop(&heap);
        ck_assert_int_ge(item.time_ns, last);
        last = item.time_ns;
        ck_assert(heap_push(&heap, last + (int64_t)prng_below(&prng, 50), NULL, NULL));
    }
    ck_assert_uint_eq(heap.count, 500);
    heap_free(&heap);
}
END_TEST

Suite *heap_suite(void);
Suite *heap_suite(void)
{
    Suite *suite = suite_create("heap");
    TCase *tcase = tcase_create("heap");
    tcase_add_test(tcase, heap__empty_has_nothing_to_peek);
    tcase_add_test(tcase, heap__equal_times_come_out_in_order_of_insertion);
    tcase_add_test(tcase, heap__pushes_between_pops_keep_the_order);
    suite_add_tcase(suite, tcase);
    return suite;
}

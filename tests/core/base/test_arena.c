/* The arena: alignment, limits, rewinding. */
#include "core/base/arena.h"
#include <check.h>
#include <stdint.h>
#include <string.h>

START_TEST(arena__pieces_are_aligned_and_apart)
{
    struct arena arena;
    arena_init(&arena, 1 << 20);
    unsigned char *pieces[50];
    for (size_t i = 0; i < 50; i++) {
        pieces[i] = arena_alloc(&arena, i * 37);
        ck_assert_ptr_nonnull(pieces[i]);
        ck_assert_uint_eq((uintptr_t)pieces[i] % 16, 0);
        memset(pieces[i], (int)i, i * 37);
    }
    for (size_t i = 0; i < 50; i++)
        for (size_t at = 0; at < i * 37; at++)
            ck_assert_uint_eq(pieces[i][at], i);
    arena_free(&arena);
}
END_TEST

START_TEST(arena__limit_is_an_error_and_not_the_end)
{
    struct arena arena;
    arena_init(&arena, 256);
    ck_assert_ptr_nonnull(arena_alloc(&arena, 240));
    ck_assert_ptr_null(arena_alloc(&arena, 17)); /* 240 + 32 > 256 */
    ck_assert_ptr_nonnull(arena_alloc(&arena, 16));
    ck_assert_ptr_null(arena_alloc(&arena, 1));
    ck_assert_ptr_null(arena_copy(&arena, "", 0)); /* its NUL needs room as well */
    arena_rewind(&arena);
    ck_assert_ptr_nonnull(arena_alloc(&arena, 256));
    arena_free(&arena);
}
END_TEST

START_TEST(arena__hostile_sizes_are_refused)
{
    struct arena arena;
    arena_init(&arena, SIZE_MAX);
    ck_assert_ptr_null(arena_alloc(&arena, SIZE_MAX));
    ck_assert_ptr_null(arena_array(&arena, SIZE_MAX / 2, 3));
    ck_assert_ptr_null(arena_copy(&arena, "x", SIZE_MAX));
    ck_assert_uint_eq(arena.used, 0);
    arena_free(&arena);
}
END_TEST

START_TEST(arena__array_is_zeroed_after_a_rewind)
{
    struct arena arena;
    arena_init(&arena, 1 << 20);
    memset(arena_alloc(&arena, 1000), 0xff, 1000);
    arena_rewind(&arena);
    const unsigned char *array = arena_array(&arena, 100, 10);
    for (size_t i = 0; i < 1000; i++)
        ck_assert_uint_eq(array[i], 0);
    arena_free(&arena);
}
END_TEST

START_TEST(arena__rewind_keeps_the_largest_chunk)
{
    struct arena arena;
    arena_init(&arena, 64 << 20);
    arena_alloc(&arena, 100);
    arena_alloc(&arena, 3 << 20); /* a chunk of its own */
    arena_alloc(&arena, 4 << 20);
    arena_rewind(&arena);
    struct arena_chunk *kept = arena.head;
    ck_assert_ptr_nonnull(kept);
    arena_alloc(&arena, 4 << 20);
    ck_assert_ptr_eq(arena.head, kept); /* no new chunk was needed */
    arena_free(&arena);
}
END_TEST

START_TEST(arena__copy_ends_in_nul)
{
    struct arena arena;
    arena_init(&arena, 1 << 10);
    ck_assert_str_eq(arena_copy(&arena, "route/x", 5), "route");
    ck_assert_str_eq(arena_copy(&arena, NULL, 0), "");
    arena_free(&arena);
}
END_TEST

Suite *arena_suite(void);
Suite *arena_suite(void)
{
    Suite *suite = suite_create("arena");
    TCase *tcase = tcase_create("arena");
    tcase_add_test(tcase, arena__pieces_are_aligned_and_apart);
    tcase_add_test(tcase, arena__limit_is_an_error_and_not_the_end);
    tcase_add_test(tcase, arena__hostile_sizes_are_refused);
    tcase_add_test(tcase, arena__array_is_zeroed_after_a_rewind);
    tcase_add_test(tcase, arena__rewind_keeps_the_largest_chunk);
    tcase_add_test(tcase, arena__copy_ends_in_nul);
    suite_add_tcase(suite, tcase);
    return suite;
}

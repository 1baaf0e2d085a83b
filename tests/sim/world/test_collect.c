/* sim/world/collect: only storable values leave the collector (MS "Poison messages" 1). */
#include "core/base/limits.h"
#include "sim/world/collect.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

static struct arena arena;

static void set_up(void)
{
    arena_init(&arena, 1 << 20);
}

static void tear_down(void)
{
    arena_free(&arena);
}

#define TEXT(literal) ((struct bytes){(const uint8_t *)(literal), sizeof(literal) - 1})

static const struct {
    struct bytes in, out;
} routes[] = {
    {TEXT("/cart"), TEXT("/cart")},
    {TEXT(""), TEXT("")},
    {TEXT("/"), TEXT("/")},
    {TEXT("/a//b/"), TEXT("/a//b/")},
    {TEXT("/caf\xc3\xa9"), TEXT("/caf\xc3\xa9")},
    {TEXT("/a\0b/c"), TEXT("/{invalid}/c")},            /* NUL: PostgreSQL refuses it (B11) */
    {TEXT("/x/\xff"), TEXT("/x/{invalid}")},            /* no UTF-8 */
    {TEXT("/\xc3/\xa9"), TEXT("/{invalid}/{invalid}")}, /* a rune cut by the slash */
    {TEXT("/a%00b"), TEXT("/{invalid}")},               /* decodes to a control character */
    {TEXT("/a%ff"), TEXT("/{invalid}")},                /* decodes to no UTF-8 */
    {TEXT("/a%C2%85"), TEXT("/{invalid}")},             /* decodes to U+0085, a C1 control */
    {TEXT("/a%20b"), TEXT("/a%20b")},                   /* decodes to a space */
    {TEXT("/a%zz%4"), TEXT("/a%zz%4")},                 /* no escapes */
    {TEXT("caf\x1f"), TEXT("{invalid}")},
};

START_TEST(collect_route__replaces_segments_that_cannot_be_stored)
{
    struct bytes out = collect_route(routes[_i].in, &arena);
    ck_assert_msg(bytes_equal(out, routes[_i].out), "route %d gave \"%.*s\"", _i, (int)out.size,
                  out.data);
    ck_assert(text_is_storable(out));
}
END_TEST

/* An absent route stays absent; an unchanged one is the same bytes. */
START_TEST(collect_route__leaves_good_routes_where_they_are)
{
    struct bytes route = TEXT("/cart/{id}");
    ck_assert_ptr_eq(collect_route(route, &arena).data, route.data);
    ck_assert_ptr_null(collect_route((struct bytes){0}, &arena).data);
}
END_TEST

/* 64 segments of "/1234567" are 512 bytes and stay. One byte more is cut: "/{long}" has 7 bytes,
 * which leaves 505; the last slash at or before byte 505 is at 504 = 63 * 8; 504 + 7 = 511. */
START_TEST(collect_route__is_cut_at_512_bytes_after_a_whole_segment)
{
    char route[600];
    for (int i = 0; i < 65; i++)
        memcpy(route + 8 * i, "/1234567", 8);
    struct bytes full = {(const uint8_t *)route, 512}, more = {(const uint8_t *)route, 513};
    ck_assert_uint_eq(collect_route(full, &arena).size, 512);
    struct bytes cut = collect_route(more, &arena);
    ck_assert_uint_eq(cut.size, 511);
    ck_assert_mem_eq(cut.data, route, 504);
    ck_assert_mem_eq(cut.data + 504, "/{long}", 7);
    memset(route + 1, 'x', sizeof(route) - 1); /* one segment of 599 bytes */
    cut = collect_route((struct bytes){(const uint8_t *)route, sizeof(route)}, &arena);
    ck_assert(bytes_equal(cut, TEXT("/{long}")));
}
END_TEST

START_TEST(collect_service__replaces_bytes_and_cuts_on_a_rune)
{
    ck_assert(bytes_equal(collect_service(TEXT("shop\xff\x01"), &arena),
                          TEXT("shop\xef\xbf\xbd\xef\xbf\xbd")));
    /* 127 bytes and a rune of two: 129 > 128, so the rune goes as a whole */
    char name[129];
    memset(name, 'a', 127);
    memcpy(name + 127, "\xc3\xa9", 2);
    struct bytes cut = collect_service((struct bytes){(const uint8_t *)name, 129}, &arena);
    ck_assert_uint_eq(cut.size, 127);
    memset(name, 'a', 126);
    memcpy(name + 126, "\xc3\xa9", 2);
    struct bytes whole = {(const uint8_t *)name, LIMIT_SERVICE_BYTES};
    ck_assert_ptr_eq(collect_service(whole, &arena).data, whole.data);
}
END_TEST

Suite *collect_suite(void);
Suite *collect_suite(void)
{
    Suite *suite = suite_create("collect");
    TCase *tcase = tcase_create("collect");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_loop_test(tcase, collect_route__replaces_segments_that_cannot_be_stored, 0,
                        sizeof(routes) / sizeof(routes[0]));
    tcase_add_test(tcase, collect_route__leaves_good_routes_where_they_are);
    tcase_add_test(tcase, collect_route__is_cut_at_512_bytes_after_a_whole_segment);
    tcase_add_test(tcase, collect_service__replaces_bytes_and_cuts_on_a_rune);
    suite_add_tcase(suite, tcase);
    return suite;
}

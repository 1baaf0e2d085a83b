/* Points of a series: the shorthand adds up, times and ids follow, words mean what the page says.
 */
#include "core/base/time.h"
#include "sim/limits.h"
#include "tests/sim/scenario/scenario_test.h"
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define START (INT64_C(1772323200) * NS_PER_S) /* 2026-03-01T00:00:00Z */
#define S1    "series s1 of acme GET /c 200 start -2h cumulative\n"

static struct arena arena;

static void setup(void)
{
    arena_init(&arena, LIMIT_SCENARIO_ARENA);
}

static void teardown(void)
{
    arena_free(&arena);
}

static const struct scenario *parse(const char *body)
{
    return parse_good(&arena, with_body(&arena, body));
}

/* 15.625 ms lies in (0.01, 0.025], canonical bucket 3. */
START_TEST(row__adds_up_and_leaves_gaps)
{
    const struct scenario *scenario =
        parse(S1 "from 1m every 30s s1 sends 10 +5x2 _ 3 -1 b1:2,b3:4 "
                 "+b1:1");
    const struct scenario_event *event = &scenario->events[0];
    static const uint64_t first[] = {0, 0, 0, 0, 0, 2, 3};
    static const uint64_t third[] = {10, 15, 20, 3, 2, 4, 4};
    static const int64_t seconds[] = {60, 90, 120, 180, 210, 240, 270};
    ck_assert_int_eq(event->kind, SCENARIO_POINTS);
    ck_assert_uint_eq(event->point_count, 7);
    for (size_t i = 0; i < 7; i++) {
        const struct scenario_point *point = &event->points[i];
        ck_assert_uint_eq(point->counts_size, 15);
        ck_assert_uint_eq(point->counts[0], first[i]);
        ck_assert_uint_eq(point->counts[2], third[i]);
        ck_assert_uint_eq(point->count, first[i] + third[i]);
        ck_assert(point->has_sum && point->sum == (double)point->count / 64);
        ck_assert_int_eq(point->time_unix_nano, START + seconds[i] * NS_PER_S);
        ck_assert_int_eq(point->start_unix_nano, START - 2 * NS_PER_HOUR);
    }
    ck_assert_str_eq(event->msg_ids[0], "s1-1");
    ck_assert_str_eq(event->msg_ids[6], "s1-7");
}
END_TEST

START_TEST(row__goes_on_from_the_point_before_of_the_series)
{
    const struct scenario *scenario = parse(S1 "at 1m s1 sends 10\n"
                                               "from 2m every 1m s1 sends +1 +1\n"
                                               "at 5m s1 sends +3 start 4m\n"
                                               "at 6m s1 sends +4 start 4m as \"x\"\n"
                                               "at 7m s1 sends +4 start unknown");
    ck_assert_uint_eq(scenario->events[1].points[1].count, 12);
    /* a new start is a new process: its counter began at 0 */
    ck_assert_uint_eq(scenario->events[2].points[0].count, 3);
    ck_assert_uint_eq(scenario->events[3].points[0].count, 7);
    ck_assert_uint_eq(scenario->events[4].points[0].count, 4);
    ck_assert_int_eq(scenario->events[4].points[0].start_unix_nano, 0);
    /* a written id takes no number */
    ck_assert_str_eq(scenario->events[2].msg_id, "s1-4");
    ck_assert_str_eq(scenario->events[3].msg_id, "x");
    ck_assert_str_eq(scenario->events[4].msg_id, "s1-5");
}
END_TEST

/* The request of the shorthand takes 15.625 ms, whatever the bounds are. */
START_TEST(count__lies_in_the_bucket_of_its_duration)
{
    static const struct {
        const char *bounds;
        size_t size;
        size_t bucket; /* 0-based */
    } cases[] = {
        {"canonical", 15, 2},                          /* (0.01, 0.025] */
        {"milliseconds", 16, 1},                       /* (0, 5] seconds */
        {"none", 1, 0},          {"0.001 0.01", 3, 2}, /* above all */
        {"0.015625 1", 3, 0},                          /* an upper bound belongs to its bucket */
        {"1 0.5", 3, 0},                               /* wrong on purpose */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char body[200];
        snprintf(body, sizeof body, "series s of acme GET /c 200 delta bounds %s\nat 1m s sends 7",
                 cases[i].bounds);
        const struct scenario_point *point = &parse(body)->events[0].points[0];
        ck_assert_uint_eq(point->counts_size, cases[i].size);
        ck_assert_uint_eq(point->counts[cases[i].bucket], 7);
    }
}
END_TEST

START_TEST(point__can_be_wrong_on_purpose)
{
    const struct scenario *scenario =
        parse("series s of acme GET /c 200 start unknown unspecified\n"
              "at 1m s sends 7 count 18446744073709551615 sum nan flags 1 time -8d\n"
              "at 2m s sends b1:18446744073709551615,b2:1 sum -inf\n"
              "at 3m s sends 1 no sum time 2199-01-01T00:00:00Z start 2026-04-01T00:00:00Z");
    const struct scenario_point *first = &scenario->events[0].points[0];
    ck_assert_uint_eq(first->count, UINT64_MAX);
    ck_assert(isnan(first->sum));
    ck_assert_uint_eq(first->flags, 1);
    ck_assert_int_eq(first->time_unix_nano, START - 8 * NS_PER_DAY);
    ck_assert_int_eq(scenario->series[0].temporality, 0);
    const struct scenario_point *second = &scenario->events[1].points[0];
    ck_assert_uint_eq(second->counts[0], UINT64_MAX);
    ck_assert_uint_eq(second->count, 0); /* 2^64, wrapped */
    ck_assert(isinf(second->sum) && second->sum < 0);
    const struct scenario_point *third = &scenario->events[2].points[0];
    ck_assert(!third->has_sum);
    ck_assert_int_gt(third->start_unix_nano, START);
}
END_TEST

START_TEST(message__carries_the_points_of_its_lines)
{
    const struct scenario *scenario = parse("tenant beta\n" S1 "series s2 of beta - - - delta\n"
                                            "at 1m message of acme stamped beta\n"
                                            "  s1 5\n"
                                            "  s2 7\n"
                                            "    sum 2\n"
                                            "  s1 +1 time 30s\n"
                                            "at 2m message \"m\" of beta");
    const struct scenario_event *event = &scenario->events[0];
    ck_assert_int_eq(event->kind, SCENARIO_SEND);
    ck_assert_uint_eq(event->point_count, 3);
    ck_assert_int_eq(event->points[1].series, 1);
    ck_assert(event->points[1].sum == 2);
    ck_assert_uint_eq(event->points[2].count, 6);
    ck_assert_int_eq(event->points[2].time_unix_nano, START + 30 * NS_PER_S);
    ck_assert_int_eq(event->tenant, 0);
    ck_assert_int_eq(event->stamp, SCENARIO_STAMP_OTHER);
    ck_assert_int_eq(event->stamp_tenant, 1);
    ck_assert_str_eq(event->msg_id, "message-1");
    ck_assert_uint_eq(scenario->events[1].point_count, 0);
}
END_TEST

START_TEST(text__keeps_every_byte)
{
    const struct scenario *scenario =
        parse("series s of acme GET \"/a\\x00b\" \"200\" delta\nat 1m s sends 1");
    const struct scenario_request *request = &scenario->series[0].request;
    ck_assert_uint_eq(request->route.size, 4);
    ck_assert_mem_eq(request->route.data, "/a\0b", 4);
    ck_assert_int_eq(request->status_kind, SCENARIO_STATUS_TEXT);
    ck_assert_ptr_null(scenario->series[0].resource.service.data);
}
END_TEST

Suite *scenario_points_suite(void);
Suite *scenario_points_suite(void)
{
    Suite *suite = suite_create("scenario_points");
    TCase *tcase = tcase_create("points");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, row__adds_up_and_leaves_gaps);
    tcase_add_test(tcase, row__goes_on_from_the_point_before_of_the_series);
    tcase_add_test(tcase, count__lies_in_the_bucket_of_its_duration);
    tcase_add_test(tcase, point__can_be_wrong_on_purpose);
    tcase_add_test(tcase, message__carries_the_points_of_its_lines);
    tcase_add_test(tcase, text__keeps_every_byte);
    suite_add_tcase(suite, tcase);
    return suite;
}

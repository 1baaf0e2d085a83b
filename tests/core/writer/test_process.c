/* The process of a stream: when it is known, and which points make it so (R-FIRST-2, R-FIRST-7). */
#include "tests/core/writer/harness.h"

Suite *writer_process_suite(void);

/* R-FIRST-2: the process is followed since t = 60, so a status first seen at 1800 counts in full.
 * 310 - 300 + 1 = 11 in M+30. */
START_TEST(writer_process__new_series_of_a_known_process_counts_in_full)
{
    struct harness *h = harness_new(NULL);
    h->now_s = 1800;
    SEND(h, "m1", {.time = 60, .n = 10});
    SEND(h, "m2", {.time = 1740, .n = 300});
    SEND(h, "m3", {.time = 1800, .n = 310}, {.time = 1800, .n = 1, .status = 404});
    run(h);
    ck_assert_int_eq(minute(h, 1), 10);
    ck_assert_int_eq(minute(h, 29), 290);
    ck_assert_int_eq(minute(h, 30), 11);
    harness_free(h);
}
END_TEST

/* How one export of a process 3 h old reaches the writer. */
enum split_kind { ONE_MESSAGE, ONE_BATCH, TWO_BATCHES, INSTRUMENT_BY_INSTRUMENT, SPLIT_KINDS };

/* R-FIRST-2 (S-1): its streams do not make each other known. 0 from both. */
START_TEST(writer_process__one_export_does_not_make_itself_known)
{
    struct harness *h = harness_new(NULL);
    struct test_point a = {.start = -10800, .n = 5000};
    struct test_point b = {.start = -10800, .n = 3000, .route = "/pay"};
    if (_i == INSTRUMENT_BY_INSTRUMENT)
        b.time_ns = 5000; /* 5 us later, far from 1 s */
    if (_i == ONE_MESSAGE || _i == INSTRUMENT_BY_INSTRUMENT) {
        SEND(h, "m1", a, b);
    } else {
        SEND(h, "m1", a);
        if (_i == TWO_BATCHES)
            run(h);
        SEND(h, "m2", b);
    }
    run(h);
    ck_assert_int_eq(total(h), 0);
    ck_assert_uint_eq(h->points[POINT_BASELINE], 2);
    harness_free(h);
}
END_TEST

/* S-1 off: the first message makes the process known, and 3 h of the other count in one minute. */
START_TEST(writer_process__without_S1_an_earlier_delivery_makes_known)
{
    struct harness *h = harness_new("-S-1");
    SEND(h, "m1", {.start = -10800, .n = 5000});
    SEND(h, "m2", {.start = -10800, .n = 3000, .route = "/pay"});
    run(h);
    ck_assert_int_eq(total(h), 3000);
    harness_free(h);
}
END_TEST

/* R-FIRST-2: met by an earlier point of the same message, whatever the order of the series in it:
 * the process is known to the stream that starts 60 s later. Age 3660 s >= 120 s, so A is a
 * baseline. */
START_TEST(writer_process__earlier_point_of_the_message_makes_known)
{
    const char *routes[] = {"/a", "/b", "/c", "/d"};
    for (size_t first = 0; first < 4; first++) {
        struct harness *h = harness_new(NULL);
        struct test_point points[4];
        for (size_t i = 0; i < 4; i++)
            points[i] = (struct test_point){
                .start = -3600, .time = i == first ? 60 : 120, .n = 100, .route = routes[i]};
        h->now_s = 120;
        send_points(h, "m1", points, 4);
        run(h);
        ck_assert_uint_eq(h->points[POINT_BASELINE], 1);
        ck_assert_uint_eq(h->points[POINT_FIRST_FULL], 3);
        ck_assert_int_eq(minute(h, 2), 300);
        harness_free(h);
    }
}
END_TEST

/* R-FIRST-2: the earliest point met is kept whatever the order of arrival (least). A late message
 * with an earlier point makes the process known from there on. */
START_TEST(writer_process__earliest_point_met_is_the_least)
{
    struct harness *h = harness_new(NULL);
    h->now_s = 600;
    SEND(h, "m1", {.start = -10800, .time = 300, .n = 10});
    run(h);
    SEND(h, "m2", {.start = -10800, .time = 240, .n = 10, .route = "/b"});
    run(h);
    ck_assert_int_eq(sql_int(h, "select first_point_unix_nano from resource_seen"),
                     T0_NS + 240 * NS_PER_S);
    SEND(h, "m3", {.start = -10800, .time = 241, .n = 5, .route = "/c"});
    run(h);
    ck_assert_int_eq(total(h), 5);
    harness_free(h);
}
END_TEST

/* R-PT-5: a duplicate, a late or a refused point, and a delta point, touch no process. */
START_TEST(writer_process__only_accepted_cumulative_points_touch_the_process)
{
    struct harness *h = harness_new(NULL);
    SEND(h, "m1", {.start = -50, .time = 0, .n = 1, .delta = true});
    run(h);
    ck_assert_int_eq(sql_int(h, "select count(*) from resource_seen"), 0);
    ck_assert_int_eq(sql_int(h, "select count(*) from series_state"), 0);
    SEND(h, "m2", {.start = -50, .time = 0, .n = 1});
    run(h);
    int64_t seen = sql_int(h, "select last_seen_at from resource_seen");
    h->now_s = 30;
    SEND(h, "m3", {.start = -50, .time = 0, .n = 1}, {.start = -50, .time = -10, .n = 1});
    run(h);
    ck_assert_int_eq(sql_int(h, "select last_seen_at from resource_seen"), seen);
    ck_assert_uint_eq(h->points[POINT_DUPLICATE], 1);
    ck_assert_uint_eq(h->points[POINT_OUT_OF_ORDER], 1);
    harness_free(h);
}
END_TEST

/* R-FIRST-7 (S-6): first seen 7 days ago or more, so the state of a stream may have been pruned. */
START_TEST(writer_process__process_first_seen_long_ago)
{
    struct harness *h = harness_new(_i == 0 ? "+S-6" : "-S-6");
    h->now_s = -7 * DAY_S;
    SEND(h, "m1", {.start = -7 * DAY_S - 60, .time = -7 * DAY_S, .n = 10});
    run(h);
    h->now_s = 0;
    SEND(h, "m2", {.start = -7 * DAY_S - 60, .time = 0, .n = 900, .route = "/rare"});
    run(h);
    ck_assert_int_eq(minute(h, 0), _i == 0 ? 0 : 900);
    ck_assert_uint_eq(h->points[POINT_BASELINE], _i == 0);
    ck_assert_int_eq(sql_int(h, "select sum(baseline) from series_state"), 0);
    harness_free(h);
}
END_TEST

Suite *writer_process_suite(void)
{
    Suite *suite = suite_create("writer_process");
    TCase *tests = tcase_create("process");
    tcase_add_test(tests, writer_process__new_series_of_a_known_process_counts_in_full);
    tcase_add_loop_test(tests, writer_process__one_export_does_not_make_itself_known, 0,
                        SPLIT_KINDS);
    tcase_add_test(tests, writer_process__without_S1_an_earlier_delivery_makes_known);
    tcase_add_test(tests, writer_process__earlier_point_of_the_message_makes_known);
    tcase_add_test(tests, writer_process__earliest_point_met_is_the_least);
    tcase_add_test(tests, writer_process__only_accepted_cumulative_points_touch_the_process);
    tcase_add_loop_test(tests, writer_process__process_first_seen_long_ago, 0, 2);
    suite_add_tcase(suite, tests);
    return suite;
}

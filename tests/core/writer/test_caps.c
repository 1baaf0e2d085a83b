/* MS "Writer state bounds": streams, routes and services, and what the warnings say of them. */
#include "tests/core/writer/harness.h"
#include <stdio.h>

Suite *writer_caps_suite(void);

/* Requests of a stored label. */
static int64_t labelled(struct harness *h, const char *service, const char *route)
{
    return sql_int(h,
                   "select coalesce(sum(count), 0) from metrics_minute "
                   "where service = '%s' and route = '%s'",
                   service, route);
}

static int64_t registered(struct harness *h)
{
    return sql_int(h, "select count(*) from route_registry");
}

/* the third stream is refused, point by point; known streams and delta points go on. */
START_TEST(writer_caps__stream_cap)
{
    bool capped = _i == 0;
    struct harness *h = harness_new(capped ? NULL : "-A-6");
    h->settings.series_per_tenant_max = 2;
    h->now_s = 60;
    SEND(h, "m1", {.n = 1, .start = -10, .route = "/a"}, {.n = 1, .start = -10, .route = "/b"});
    SEND(h, "m2", {.n = 100, .start = -10, .route = "/c"},
         {.n = 10, .start = -10, .route = "/c", .delta = true});
    run(h);
    SEND(h, "m3", {.n = 3, .start = -10, .time = 60, .route = "/a"},
         {.n = 200, .start = -10, .time = 60, .route = "/c"});
    run(h);
    /* 1 + 1 + 10 + 2, and of /c 100 + 100 when it is not capped */
    ck_assert_int_eq(total(h), capped ? 14 : 214);
    ck_assert_uint_eq(h->points[POINT_REFUSED_CAP], capped ? 2 : 0);
    ck_assert_int_eq(warning(h, "cardinality_overflow"), capped ? 2 : 0);
    ck_assert_int_eq(sql_int(h, "select count(*) from series_state"), capped ? 2 : 3);
    ck_assert_int_eq(strncmp(h->last_log, "stream_cap ", 11) == 0, capped);
    harness_free(h);
}
END_TEST

/* The cap is a tenant's own; a pruned stream makes room. */
START_TEST(writer_caps__stream_cap_is_per_tenant)
{
    struct harness *h = harness_new(NULL);
    h->settings.series_per_tenant_max = 1;
    SEND(h, "m1", {.n = 1, .start = -10});
    h->tenant = ZETA;
    SEND(h, "m2", {.n = 2, .start = -10});
    run(h);
    ck_assert_int_eq(total(h), 3);
    ck_assert_uint_eq(h->points[POINT_REFUSED_CAP], 0);
    harness_free(h);
}
END_TEST

/* R-FIRST-6 (S-5): while the tenant overflows, today or yesterday, a new stream of a known process
 * may have been refused before: a baseline. The day of the overflow is the point's; T0 is noon. */
START_TEST(writer_caps__new_stream_while_overflowing)
{
    static const struct {
        const char *rules;
        int64_t overflow_time;
        bool careful;
    } cases[] = {
        {"+S-5", 0, true},
        {"+S-5", -DAY_S, true},
        {"+S-5", -2 * DAY_S, false},
        {"-S-5", 0, false},
    };
    int64_t time = cases[_i].overflow_time;
    struct harness *h = harness_new(cases[_i].rules);
    h->settings.series_per_tenant_max = 1;
    h->now_s = 60;
    SEND(h, "m0", {.n = 1, .start = time - 10, .time = time, .route = "/a"});
    SEND(h, "m1", {.n = 50, .start = time - 10, .time = time, .route = "/b"});
    run(h);
    ck_assert_int_eq(total(h), 1);
    restart(h); /* with room for more */
    h->settings.series_per_tenant_max = 10;
    SEND(h, "m2", {.n = 90, .start = time - 10, .time = 60, .route = "/b"});
    run(h);
    ck_assert_int_eq(total(h), cases[_i].careful ? 1 : 91);
    ck_assert_uint_eq(h->points[POINT_BASELINE], cases[_i].careful ? 1 : 0);
    harness_free(h);
}
END_TEST

#define DELTA(...)                                                                                 \
    {                                                                                              \
        .start = -60, .delta = true, __VA_ARGS__                                                   \
    }

/* R-CAP-1: with room for two routes the third becomes {other}; its requests are counted, now and in
 * the next batch, and the known ones go on. */
START_TEST(writer_caps__route_cap)
{
    struct harness *h = harness_new(NULL);
    h->settings.routes_max = 2;
    SEND(h, "m1", DELTA(.n = 1, .route = "/a"), DELTA(.n = 2, .route = "/b"),
         DELTA(.n = 4, .route = "/c"));
    run(h);
    ck_assert_int_eq(labelled(h, "shop", "/a"), 1);
    ck_assert_int_eq(labelled(h, "shop", "/b"), 2);
    ck_assert_int_eq(labelled(h, "shop", "{other}"), 4);
    ck_assert_int_eq(warning(h, "cardinality_overflow"), 4);
    SEND(h, "m2", DELTA(.n = 8, .route = "/b"), DELTA(.n = 16, .route = "/d"));
    run(h);
    ck_assert_int_eq(labelled(h, "shop", "/b"), 10);
    ck_assert_int_eq(labelled(h, "shop", "{other}"), 20);
    ck_assert_int_eq(warning(h, "cardinality_overflow"), 20);
    ck_assert_int_eq(registered(h), 2);
    harness_free(h);
}
END_TEST

/* Within a message by (day, service, route), whatever its order; messages in queue order. */
START_TEST(writer_caps__order_of_admission)
{
    struct harness *h = harness_new(NULL);
    h->settings.routes_max = 1;
    SEND(h, "m1", DELTA(.n = 1, .route = "/z"), DELTA(.n = 2, .route = "/y"));
    SEND(h, "m2", DELTA(.n = 4, .route = "/a"));
    run(h);
    ck_assert_int_eq(labelled(h, "shop", "/y"), 2);
    ck_assert_int_eq(labelled(h, "shop", "{other}"), 5);
    harness_free(h);
}
END_TEST

/* Admission is of points that add counts: a baseline takes no slot. */
START_TEST(writer_caps__points_without_counts_take_no_slot)
{
    struct harness *h = harness_new(NULL);
    h->settings.routes_max = 1;
    SEND(h, "m1", {.n = 9, .start = -10800, .route = "/a"}, DELTA(.n = 0, .route = "/b"),
         DELTA(.n = 4, .route = "/c"));
    run(h);
    ck_assert_int_eq(labelled(h, "shop", "/c"), 4);
    ck_assert_int_eq(registered(h), 1);
    harness_free(h);
}
END_TEST

/* '' takes a slot, {other} none: with one slot, '' has it; an honest {other} is kept and not an
 * overflow. */
START_TEST(writer_caps__empty_route_takes_a_slot)
{
    struct harness *h = harness_new(NULL);
    h->settings.routes_max = 1;
    SEND(h, "m1", DELTA(.n = 1, .route = ""), DELTA(.n = 2, .route = "{other}"),
         DELTA(.n = 4, .route = "/a"));
    run(h);
    ck_assert_int_eq(labelled(h, "shop", ""), 1);
    ck_assert_int_eq(labelled(h, "shop", "{other}"), 6);
    ck_assert_int_eq(warning(h, "cardinality_overflow"), 4);
    harness_free(h);
}
END_TEST

/* A service over the cap becomes {other} with route {other}; counted once though both change. */
START_TEST(writer_caps__service_cap)
{
    struct harness *h = harness_new(NULL);
    h->settings.services_max = 2;
    h->settings.routes_max = 1;
    SEND(h, "m1", DELTA(.n = 1, .service = "a", .route = "/x"),
         DELTA(.n = 2, .service = "a", .route = "/y"), DELTA(.n = 4, .service = "", .route = "/x"),
         DELTA(.n = 8, .service = "b", .route = "/x"),
         DELTA(.n = 16, .service = "b", .route = "/y"));
    run(h);
    ck_assert_int_eq(labelled(h, "a", "/x"), 1);
    ck_assert_int_eq(labelled(h, "a", "{other}"), 2);
    ck_assert_int_eq(labelled(h, "", "/x"), 4);
    ck_assert_int_eq(labelled(h, "{other}", "{other}"), 24);
    ck_assert_int_eq(warning(h, "cardinality_overflow"), 26);
    ck_assert_int_eq(registered(h), 2);
    harness_free(h);
}
END_TEST

/* An honest service {other} takes no slot; a service known by route {other} alone keeps its slot.
 */
START_TEST(writer_caps__service_other_takes_no_slot)
{
    struct harness *h = harness_new(NULL);
    h->settings.services_max = 1;
    h->settings.routes_max = 1;
    SEND(h, "m1", DELTA(.n = 1, .service = "{other}", .route = "/x"),
         DELTA(.n = 2, .service = "a", .route = "{other}"));
    run(h);
    ck_assert_int_eq(labelled(h, "{other}", "/x"), 1);
    ck_assert_int_eq(labelled(h, "a", "{other}"), 2);
    ck_assert_int_eq(warning(h, "cardinality_overflow"), 0);
    SEND(h, "m2", DELTA(.n = 4, .service = "b", .route = "/x"), DELTA(.n = 8, .service = "a"));
    run(h);
    ck_assert_int_eq(labelled(h, "a", "/cart"), 8);
    ck_assert_int_eq(labelled(h, "{other}", "{other}"), 4);
    harness_free(h);
}
END_TEST

/* The day is the point's: yesterday's route does not take today's slot. T0 is noon. */
START_TEST(writer_caps__caps_are_per_day_of_the_point)
{
    struct harness *h = harness_new(NULL);
    h->settings.routes_max = 1;
    SEND(h, "m1", DELTA(.n = 1, .route = "/b"),
         {.start = -DAY_S, .time = -DAY_S / 2 - 1, .n = 2, .route = "/a", .delta = true},
         {.start = -DAY_S, .time = -DAY_S / 2, .n = 4, .route = "/c", .delta = true});
    run(h);
    ck_assert_int_eq(labelled(h, "shop", "/a"), 2);
    ck_assert_int_eq(labelled(h, "shop", "/b"), 1);
    ck_assert_int_eq(labelled(h, "shop", "{other}"), 4);
    ck_assert_int_eq(sql_int(h, "select day from ingest_warnings"), T0_NS / NS_PER_DAY);
    harness_free(h);
}
END_TEST

/* Two streams that become one label are one row. */
START_TEST(writer_caps__relabelled_rows_fold)
{
    struct harness *h = harness_new(NULL);
    h->settings.routes_max = 1;
    SEND(h, "m1", DELTA(.n = 1, .route = "/a"), DELTA(.n = 2, .route = "/b", .sum = 0.5),
         DELTA(.n = 4, .route = "/c", .sum = 0.25));
    run(h);
    ck_assert_int_eq(sql_int(h, "select count(*) from metrics_minute"), 2);
    ck_assert_double_eq(sql_double(h, "select sum from metrics_minute where route = '{other}'"),
                        0.75);
    harness_free(h);
}
END_TEST

/* warnings count requests. A cumulative series of 10 span requests, exported three times, the
 * last time without a new one, is 10 requests and 3 exports. */
START_TEST(writer_caps__warnings_count_requests)
{
    bool requests = _i == 0;
    struct harness *h = harness_new(requests ? NULL : "-A-8");
    static const double one_bound[] = {0.3};
    static const uint64_t six[] = {6, 0}, ten[] = {10, 0};
    h->now_s = 120;
    for (int i = 0; i < 3; i++) {
        char id[32];
        snprintf(id, sizeof id, "m%d", i);
        SEND(h, id,
             {.time = 30 + 30 * i,
              .span = true,
              .redacted = true,
              .bounds = one_bound,
              .bound_count = 1,
              .counts = i == 0 ? six : ten,
              .count_count = 2});
    }
    run(h);
    int64_t expected = requests ? 10 : 3;
    ck_assert_int_eq(total(h), 10);
    ck_assert_int_eq(warning(h, "span_derived"), expected);
    ck_assert_int_eq(warning(h, "secret_in_path"), expected);
    ck_assert_int_eq(warning(h, "lossy_histogram"), expected);
    ck_assert_int_eq(warning(h, "coarse_buckets"), expected);
    harness_free(h);
}
END_TEST

/* A duplicate has no requests; A-8 off: it is an exported point. */
START_TEST(writer_caps__warnings_of_duplicates)
{
    struct harness *h = harness_new(_i == 0 ? NULL : "-A-8");
    SEND(h, "m1", {.start = -60, .n = 1, .span = true});
    SEND(h, "m2", {.start = -60, .n = 1, .span = true});
    run(h);
    ck_assert_int_eq(warning(h, "span_derived"), _i == 0 ? 1 : 2);
    harness_free(h);
}
END_TEST

Suite *writer_caps_suite(void)
{
    Suite *suite = suite_create("writer_caps");
    TCase *tests = tcase_create("caps");
    tcase_add_loop_test(tests, writer_caps__stream_cap, 0, 2);
    tcase_add_test(tests, writer_caps__stream_cap_is_per_tenant);
    tcase_add_loop_test(tests, writer_caps__new_stream_while_overflowing, 0, 4);
    tcase_add_test(tests, writer_caps__route_cap);
    tcase_add_test(tests, writer_caps__order_of_admission);
    tcase_add_test(tests, writer_caps__points_without_counts_take_no_slot);
    tcase_add_test(tests, writer_caps__empty_route_takes_a_slot);
    tcase_add_test(tests, writer_caps__service_cap);
    tcase_add_test(tests, writer_caps__service_other_takes_no_slot);
    tcase_add_test(tests, writer_caps__caps_are_per_day_of_the_point);
    tcase_add_test(tests, writer_caps__relabelled_rows_fold);
    tcase_add_loop_test(tests, writer_caps__warnings_count_requests, 0, 2);
    tcase_add_loop_test(tests, writer_caps__warnings_of_duplicates, 0, 2);
    suite_add_tcase(suite, tests);
    return suite;
}

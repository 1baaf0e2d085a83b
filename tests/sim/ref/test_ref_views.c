/* The reference model with writers that overlap: what one had not seen of another's (R-CAP-1,
 * R-TX-8).
 */
#include "tests/sim/ref/model.h"

Suite *ref_views_suite(void);

static struct model m;

static void teardown(void)
{
    model_close(&m);
    m = (struct model){0};
}

/* Transaction 2 read everything before transaction 1 committed; transaction 3 saw both. */
static const struct ref_view first = {1, 0, 0, 0, 0, 0};
static const struct ref_view blind = {2, 0, 0, 0, 0, 0};
static const struct ref_view third = {3, 2, 2, 2, 2, 2};

static size_t route_count(void)
{
    const struct ref_route_row *routes;
    return ref_route_registry(m.ref, &routes);
}

START_TEST(ref_view__two_may_admit_a_route_each_and_a_third_none__R_CAP_1)
{
    m.settings = settings_default();
    m.settings.routes_max = 1;
    model_open(&m, "");
    m.view = &first;
    APPLY(&m, {.time = 60, .n = 1, .delta = true, .route = "/a"});
    m.view = &blind;
    APPLY(&m, {.time = 60, .n = 2, .delta = true, .route = "/b"});
    ck_assert_uint_eq(route_count(), 2);
    ck_assert_int_eq(model_warning(&m, "cardinality_overflow"), 0);
    m.view = &third;
    APPLY(&m, {.time = 60, .n = 4, .delta = true, .route = "/c"},
          {.time = 60, .n = 8, .delta = true, .route = "/a"});
    ck_assert_uint_eq(route_count(), 2);
    ck_assert_int_eq(model_warning(&m, "cardinality_overflow"), 4);
}
END_TEST

/* Both admit the same route: one row, the first one's. */
START_TEST(ref_view__one_route_admitted_by_two_is_one_row__R_CAP_1)
{
    model_open(&m, "");
    m.view = &first;
    APPLY(&m, {.time = 60, .n = 1, .delta = true, .route = "/a"});
    m.now_s += 5;
    m.view = &blind;
    APPLY(&m, {.time = 60, .n = 2, .delta = true, .route = "/a"});
    const struct ref_route_row *routes;
    ck_assert_uint_eq(ref_route_registry(m.ref, &routes), 1);
    ck_assert_int_eq(routes[0].created_at_us, (T0_NS + 3600 * NS_PER_S) / NS_PER_US);
}
END_TEST

START_TEST(ref_view__streams_that_were_not_seen_are_not_counted__A_6)
{
    m.settings = settings_default();
    m.settings.series_per_tenant_max = 1;
    model_open(&m, "");
    m.view = &first;
    APPLY(&m, {.start = 0, .time = 60, .n = 1, .route = "/a"});
    m.view = &blind;
    APPLY(&m, {.start = 0, .time = 60, .n = 2, .route = "/b"});
    ck_assert_uint_eq(model_outcome(&m, "refused_cap"), 0);
    m.view = &third;
    APPLY(&m, {.start = 0, .time = 60, .n = 4, .route = "/c"});
    ck_assert_uint_eq(model_outcome(&m, "refused_cap"), 1);
    ck_assert_int_eq(model_total(&m), 3);
}
END_TEST

/* 3 h old, first met at 60 by a transaction that the second did not see: no known process, so its
 * point of 70 is a baseline. To the third it was met at 60. */
START_TEST(ref_view__process_that_was_not_seen_is_not_known__R_FIRST_2)
{
    model_open(&m, "");
    m.view = &first;
    APPLY(&m, {.start = -10800, .time = 60, .n = 1000, .route = "/a"});
    m.view = &blind;
    APPLY(&m, {.start = -10800, .time = 70, .n = 500, .route = "/b"});
    ck_assert_uint_eq(model_outcome(&m, "baseline"), 2);
    m.view = &third;
    APPLY(&m, {.start = -10800, .time = 80, .n = 7, .route = "/c"});
    ck_assert_uint_eq(model_outcome(&m, "first_full"), 1);
    const struct ref_resource_row *resources;
    ck_assert_uint_eq(ref_resource_seen(m.ref, &resources), 1);
    ck_assert_int_eq(resources[0].first_point_unix_nano, T0_NS + 60 * NS_PER_S);
}
END_TEST

/* S-5 doubts a new stream of a known process while the tenant overflows, as far as that was seen.
 */
START_TEST(ref_view__overflow_that_was_not_seen_raises_no_doubt__R_FIRST_6)
{
    static const struct ref_view zeroth = {1, 0, 0, 0, 0, 0}, over = {2, 1, 1, 1, 1, 1},
                                 unseen = {3, 1, 1, 1, 1, 1}, seen = {4, 3, 3, 3, 3, 3};
    m.settings = settings_default();
    m.settings.routes_max = 1;
    model_open(&m, "+S-5");
    m.view = &zeroth;
    APPLY(&m, {.start = 0, .time = 60, .n = 1, .route = "/a"});
    m.view = &over;
    APPLY(&m, {.time = 60, .n = 5, .delta = true, .route = "/b"});
    ck_assert_int_eq(model_warning(&m, "cardinality_overflow"), 5);
    m.view = &unseen;
    APPLY(&m, {.start = 0, .time = 600, .n = 2, .route = "/c"});
    ck_assert_uint_eq(model_outcome(&m, "first_full"), 2);
    m.view = &seen;
    APPLY(&m, {.start = 0, .time = 700, .n = 4, .route = "/d"});
    ck_assert_uint_eq(model_outcome(&m, "first_full"), 2);
    ck_assert_uint_eq(model_outcome(&m, "baseline"), 1);
}
END_TEST

/* Retention takes the state away between its read and the write: the difference still counts, and
 * the state is written anew. A transaction that reads behind the pruning meets a new stream. */
START_TEST(ref_view__state_pruned_behind_its_reader_is_judged_from__R_TX_8)
{
    static const struct ref_view reader = {3, 1, 1, 1, 1, 1}, later = {5, 4, 4, 4, 4, 4};
    model_open(&m, "");
    m.view = &first;
    APPLY(&m, {.start = 0, .time = 60, .n = 10});
    int64_t pruned_ns = T0_NS + (3600 + 1) * NS_PER_S + 7 * NS_PER_DAY;
    ref_prune(m.ref, REF_SERIES_STATE, pruned_ns, 2);
    m.view = &reader;
    APPLY(&m, {.start = 0, .time = 120, .n = 15});
    ck_assert_uint_eq(model_outcome(&m, "delta"), 1);
    ck_assert_int_eq(model_total(&m), 15);
    ref_prune(m.ref, REF_SERIES_STATE, pruned_ns, 4);
    ref_prune(m.ref, REF_RESOURCE_SEEN, pruned_ns, 4);
    m.view = &later;
    APPLY(&m, {.start = 0, .time = 180, .n = 20});
    ck_assert_uint_eq(model_outcome(&m, "delta"), 1);
    ck_assert_uint_eq(model_outcome(&m, "baseline"), 1);
}
END_TEST

Suite *ref_views_suite(void)
{
    Suite *suite = suite_create("ref_views");
    TCase *tcase = tcase_create("views");
    tcase_add_checked_fixture(tcase, NULL, teardown);
    tcase_add_test(tcase, ref_view__two_may_admit_a_route_each_and_a_third_none__R_CAP_1);
    tcase_add_test(tcase, ref_view__one_route_admitted_by_two_is_one_row__R_CAP_1);
    tcase_add_test(tcase, ref_view__streams_that_were_not_seen_are_not_counted__A_6);
    tcase_add_test(tcase, ref_view__process_that_was_not_seen_is_not_known__R_FIRST_2);
    tcase_add_test(tcase, ref_view__overflow_that_was_not_seen_raises_no_doubt__R_FIRST_6);
    tcase_add_test(tcase, ref_view__state_pruned_behind_its_reader_is_judged_from__R_TX_8);
    suite_add_tcase(suite, tcase);
    return suite;
}

/* sim/ref: caps, warnings, messages as a whole, rollup, retention, purge. */
#include "tests/sim/ref/model.h"

#define T0_US (T0_NS / 1000)

static struct model m;
static struct uuid acme;

static void setup(void)
{
    m = (struct model){0};
    model_open(&m, "");
    acme = test_uuid(ACME);
}

static void teardown(void)
{
    model_close(&m);
}

static void with_settings(int64_t series, int64_t routes, int64_t services)
{
    model_close(&m);
    m = (struct model){.settings = settings_default()};
    m.settings.series_per_tenant_max = series;
    m.settings.routes_max = routes;
    m.settings.services_max = services;
    model_open(&m, "");
}

static int64_t requests_of(const char *service, const char *route)
{
    const struct ref_metric_row *rows;
    size_t count = ref_metrics_minute(m.ref, &rows);
    int64_t requests = 0;
    for (size_t i = 0; i < count; i++)
        if (bytes_equal(rows[i].service, bytes_of(service)) &&
            bytes_equal(rows[i].route, bytes_of(route)))
            requests += rows[i].count;
    return requests;
}

/* ---- R-CAP-1, R-WARN-1 ---- */

/* Room for 2 routes; one message brings /c /a /b: admitted in the order of the route, /a and /b. */
START_TEST(ref__routes_over_the_cap_are_relabelled_in_row_order__R_CAP_1)
{
    with_settings(100000, 2, 100);
    APPLY(&m, {.start = 0, .time = 60, .n = 5, .route = "/c"},
          {.start = 0, .time = 60, .n = 6, .route = "/a"},
          {.start = 0, .time = 60, .n = 7, .route = "/b"});
    ck_assert_int_eq(requests_of("shop", "/a"), 6);
    ck_assert_int_eq(requests_of("shop", "/b"), 7);
    ck_assert_int_eq(requests_of("shop", "{other}"), 5);
    ck_assert_int_eq(model_warning(&m, "cardinality_overflow"), 5);
    const struct ref_route_row *routes;
    ck_assert_uint_eq(ref_route_registry(m.ref, &routes), 2);
}
END_TEST

/* Room for 1 service: the second becomes {other}, route {other}; counted once. */
START_TEST(ref__services_over_the_cap_have_route_other__R_CAP_1)
{
    with_settings(100000, 1, 1);
    APPLY(&m, {.start = 0, .time = 60, .n = 5, .service = "a"});
    APPLY(&m, {.start = 0, .time = 60, .n = 7, .service = "b", .route = "/x"});
    ck_assert_int_eq(requests_of("a", "/cart"), 5);
    ck_assert_int_eq(requests_of("{other}", "{other}"), 7);
    ck_assert_int_eq(model_warning(&m, "cardinality_overflow"), 7);
}
END_TEST

/* The next UTC day (12 h after T0) has room of its own. */
START_TEST(ref__caps_are_per_day_of_the_point__R_CAP_1)
{
    with_settings(100000, 1, 100);
    m.now_s = 50000;
    APPLY(&m, {.start = 43100, .time = 43199, .n = 5, .route = "/a"},
          {.start = 43100, .time = 43200, .n = 6, .route = "/b"});
    ck_assert_int_eq(requests_of("shop", "/a"), 5);
    ck_assert_int_eq(requests_of("shop", "/b"), 6);
}
END_TEST

/* Room for 1 stream: the second is refused and counts one, not its requests; the known one goes on.
 */
START_TEST(ref__streams_over_the_cap_are_refused__A_6)
{
    with_settings(1, 1000, 100);
    APPLY(&m, {.start = 0, .time = 60, .n = 5});
    APPLY(&m, {.start = 0, .time = 60, .n = 50, .status = 404});
    APPLY(&m, {.start = 0, .time = 120, .n = 8});
    APPLY(&m, {.start = 0, .time = 120, .n = 3, .status = 500, .delta = true});
    ck_assert_int_eq(model_total(&m), 5 + 3 + 3);
    ck_assert_uint_eq(model_outcome(&m, "refused_cap"), 1);
    ck_assert_int_eq(model_warning(&m, "cardinality_overflow"), 1);
}
END_TEST

/* 10 in full, then an export without news: still 10. */
START_TEST(ref__warnings_count_requests__R_WARN_1)
{
    APPLY(&m, {.start = 0, .time = 60, .n = 10, .span = true, .redacted = true});
    APPLY(&m, {.start = 0, .time = 120, .n = 10, .span = true, .redacted = true});
    ck_assert_int_eq(model_warning(&m, "span_derived"), 10);
    ck_assert_int_eq(model_warning(&m, "secret_in_path"), 10);
    ck_assert_int_eq(model_warning(&m, "lossy_histogram"), 0);
}
END_TEST

/* ---- messages as a whole ---- */

static enum ref_fate validate(const char *id, const char *tenant, struct test_point point)
{
    size_t size;
    uint8_t *payload = test_request(tenant, &point, 1, &size);
    struct ref_message message = {
        .tenant = acme, .msg_id = bytes_of(id), .payload = {payload, size}};
    enum ref_fate fate = ref_validate(m.ref, &message);
    free(payload);
    return fate;
}

static struct test_point good_point(void)
{
    return (struct test_point){.start = 0, .time = 60, .n = 5};
}

START_TEST(ref_validate__names_each_reason__R_DEC_3)
{
    char long_id[258];
    memset(long_id, 'x', 257);
    long_id[257] = '\0';
    struct test_point nul = good_point(), c1 = good_point(), method = good_point();
    nul.route = "/a\0b";
    nul.route_size = 4;
    c1.route = "/a\xc2\x85";
    method.method = "SEVENTEEN-LETTERS";
    ck_assert_int_eq(validate("m", ACME, good_point()), REF_APPLIED);
    ck_assert_int_eq(validate("", ACME, good_point()), REF_DEAD_VALIDATION);
    ck_assert_int_eq(validate(long_id, ACME, good_point()), REF_DEAD_VALIDATION);
    ck_assert_int_eq(validate(long_id + 1, ACME, good_point()), REF_APPLIED);
    ck_assert_int_eq(validate("m", ZETA, good_point()), REF_DEAD_VALIDATION);
    ck_assert_int_eq(validate("m", NULL, good_point()), REF_DEAD_VALIDATION);
    ck_assert_int_eq(validate("m", ACME, nul), REF_DEAD_VALIDATION);
    ck_assert_int_eq(validate("m", ACME, c1), REF_DEAD_VALIDATION);
    ck_assert_int_eq(validate("m", ACME, method), REF_DEAD_VALIDATION);
    ck_assert_str_eq(ref_reason(m.ref), "http.request.method cannot be stored");
    struct ref_message garbage = {acme, bytes_of("m"), bytes_of("\x0a\x7f"), REF_PROTOBUF};
    ck_assert_int_eq(ref_validate(m.ref, &garbage), REF_DEAD_VALIDATION);
}
END_TEST

START_TEST(ref_apply__says_why_a_message_was_not_to_be_applied)
{
    struct test_point point = good_point();
    ck_assert_int_eq(model_apply_as(&m, "m1", ACME, &point, 1), REF_APPLIED);
    ck_assert_int_eq(model_apply_as(&m, "m1", ACME, &point, 1), REF_ALREADY_APPLIED);
    ck_assert_int_eq(model_apply_as(&m, "m1", ZETA, &point, 1), REF_DEAD_ID_CONFLICT); /* S-7 */
    struct uuid zeta = test_uuid(ZETA);
    ref_tenant(m.ref, &zeta, true);
    ck_assert_int_eq(model_apply_as(&m, "m2", ZETA, &point, 1), REF_DEAD_TENANT); /* S-11 */
    ref_partition_removed(m.ref, REF_MINUTE, T0_DAY);
    point.delta = true;
    ck_assert_int_eq(model_apply_as(&m, "m3", ACME, &point, 1), REF_NO_PARTITION);
}
END_TEST

/* R-TX-4: 2^62 and 2^62 more are above int64. */
START_TEST(ref_apply__overflow_of_a_row__R_TX_4)
{
    struct test_point point = {.time = 60, .n = UINT64_C(1) << 62, .delta = true};
    ck_assert_int_eq(model_apply_as(&m, "m1", ACME, &point, 1), REF_APPLIED);
    ck_assert_int_eq(model_apply_as(&m, "m2", ACME, &point, 1), REF_OVERFLOW);
}
END_TEST

/* ---- rollup ---- */

static void roll_up(int64_t hour)
{
    struct ref_hour claimed = {acme, T0_US + hour * US_PER_HOUR};
    ref_rollup(m.ref, &claimed, 1);
}

static int64_t hourly(int64_t hour)
{
    const struct ref_metric_row *rows;
    size_t count = ref_metrics_hourly(m.ref, &rows);
    for (size_t i = 0; i < count; i++)
        if (rows[i].bucket_start_us == T0_US + hour * US_PER_HOUR)
            return rows[i].count;
    return -1;
}

static int64_t daily(void)
{
    const struct ref_metric_row *rows;
    size_t count = ref_metrics_daily(m.ref, &rows);
    ck_assert_uint_le(count, 1);
    return count ? rows[0].count : -1;
}

/* 100 in the hour; 5 more come late: 105 after the next run, 5 more in the day. */
START_TEST(ref_rollup__late_points_are_in_the_next_run__R_ROLL_1)
{
    const struct ref_mark_row *marks;
    APPLY(&m, {.time = 600, .n = 100, .delta = true});
    ck_assert_uint_eq(ref_rollup_pending(m.ref, &marks), 1);
    ck_assert_int_eq(marks[0].hour_us, T0_US);
    ck_assert_int_eq(marks[0].marked_at_us, T0_US + 3600 * US_PER_S);
    roll_up(0);
    ck_assert_uint_eq(ref_rollup_pending(m.ref, &marks), 0);
    ck_assert_int_eq(hourly(0), 100);
    ck_assert_int_eq(daily(), 100);
    APPLY(&m, {.time = 1800, .n = 5, .delta = true}, {.time = 3600, .n = 7, .delta = true});
    roll_up(0);
    ck_assert_int_eq(hourly(0), 105);
    ck_assert_int_eq(daily(), 105);
    roll_up(1);
    ck_assert_int_eq(hourly(1), 7);
    ck_assert_int_eq(daily(), 112);
}
END_TEST

/* 1e16, 1, -1e16 would be 0 in another order than time's; sums cannot be negative here, so: 1e16
 * and twice 1. In time order 1 + 1 + 1e16 = 1e16 + 2; 1e16 + 1 + 1 rounds to 1e16. */
START_TEST(ref_rollup__sums_doubles_in_time_order__R_ROLL_1)
{
    APPLY(&m, {.time = 180, .n = 1, .sum = 1e16, .delta = true});
    APPLY(&m, {.time = 60, .n = 1, .sum = 1, .delta = true});
    APPLY(&m, {.time = 120, .n = 1, .sum = 1, .delta = true});
    roll_up(0);
    const struct ref_metric_row *rows;
    ck_assert_uint_eq(ref_metrics_hourly(m.ref, &rows), 1);
    ck_assert(rows[0].sum == 1e16 + 2);
}
END_TEST

/* R-TX-2: a batch is folded before it is added. Stored 1e16; a batch adds 1 and 1: 1e16 + 2. */
START_TEST(ref_commit__adds_a_folded_batch__R_TX_2)
{
    APPLY(&m, {.time = 60, .n = 1, .sum = 1e16, .delta = true});
    APPLY(&m, {.time = 60, .n = 1, .sum = 1, .delta = true},
          {.time = 61, .n = 1, .sum = 1, .delta = true});
    ck_assert(model_sum(&m) == 1e16 + 2);
}
END_TEST

/* the minutes are gone, the hour keeps its rows, the mark goes. */
START_TEST(ref_rollup__orphaned_mark_keeps_the_hour__A_9)
{
    const struct ref_mark_row *marks;
    APPLY(&m, {.time = 600, .n = 100, .delta = true});
    roll_up(0);
    APPLY(&m, {.time = 601, .n = 5, .delta = true});
    ref_partition_removed(m.ref, REF_MINUTE, T0_DAY);
    roll_up(0);
    ck_assert_int_eq(hourly(0), 100);
    ck_assert_uint_eq(ref_rollup_pending(m.ref, &marks), 0);
}
END_TEST

/* S-14: the hour was rolled with 10 in bucket 3; 10 of the minutes are then in bucket 4, count
 * alike. */
START_TEST(ref_drift__compares_buckets__R_ROLL_2)
{
    APPLY(&m, {.time = 60, .n = 10, .delta = true});
    roll_up(0);
    ck_assert_uint_eq(ref_drift(m.ref, T0_US, T0_US + US_PER_HOUR, T0_NS), 0);
    APPLY(&m, {.time = 60, .n = 5, .delta = true});
    ck_assert_uint_eq(ref_drift(m.ref, T0_US, T0_US + US_PER_HOUR, T0_NS), 0); /* marked */
    roll_up(5); /* another hour: the mark of hour 0 stays */
    ck_assert_int_eq(hourly(0), 10);
    roll_up(0);
    ck_assert_uint_eq(ref_drift(m.ref, T0_US, T0_US + US_PER_HOUR, T0_NS), 0);
    ref_partition_removed(m.ref, REF_HOURLY,
                          day_of_civil(2026, 3, 1)); /* the hourly rows are lost */
    ck_assert_uint_eq(ref_drift(m.ref, T0_US + US_PER_HOUR, INT64_MAX, T0_NS), 0);
    ck_assert_uint_eq(ref_drift(m.ref, T0_US, T0_US + US_PER_HOUR, T0_NS), 1);
}
END_TEST

/* ---- retention, purge ---- */

/* Today is T0 + 8 days when the clock says so; retention 8 days: T0's day may go one day later. */
START_TEST(ref_partition_dropped__only_expired_days_without_marks__R_RET_1)
{
    APPLY(&m, {.time = 600, .n = 100, .delta = true});
    int64_t eight = T0_NS + 8 * NS_PER_DAY, nine = T0_NS + 9 * NS_PER_DAY;
    ck_assert(!ref_partition_dropped(m.ref, REF_MINUTE, T0_DAY - 20, nine)); /* none */
    ck_assert(!ref_partition_dropped(m.ref, REF_MINUTE, T0_DAY, eight));
    ref_partition_created(m.ref, REF_MINUTE, T0_DAY);
    ck_assert(!ref_partition_dropped(m.ref, REF_MINUTE, T0_DAY, nine)); /* pending */
    ck_assert_str_eq(ref_reason(m.ref), "the dropped partition has pending hours");
    ref_partition_created(m.ref, REF_MINUTE, T0_DAY);
    roll_up(0);
    ck_assert(ref_partition_dropped(m.ref, REF_MINUTE, T0_DAY, nine));
    ck_assert_int_eq(model_total(&m), 0);
}
END_TEST

/* Months by index: with 24 months, March 2024 may go from April 2026 on. Also over a leap day. */
START_TEST(ref_partition_dropped__months_by_calendar_index__R_RET_2)
{
    int64_t march = day_of_civil(2024, 3, 1), february = day_of_civil(2024, 2, 1);
    ref_partition_created(m.ref, REF_HOURLY, march);
    ref_partition_created(m.ref, REF_HOURLY, february);
    ck_assert(ref_partition_dropped(m.ref, REF_HOURLY, february, T0_NS));
    ck_assert(!ref_partition_dropped(m.ref, REF_HOURLY, march,
                                     day_of_civil(2026, 4, 1) * NS_PER_DAY - 1));
    ref_partition_created(m.ref, REF_HOURLY, march);
    ck_assert(
        ref_partition_dropped(m.ref, REF_HOURLY, march, day_of_civil(2026, 4, 1) * NS_PER_DAY));
}
END_TEST

/* Applied at 3600 s; rows older than 8 and 7 days go, a row exactly as old stays. Routes of days
 * before today - 8. */
START_TEST(ref_prune__strictly_older_rows)
{
    const struct ref_dedup_row *dedup;
    const struct ref_series_row *states;
    const struct ref_resource_row *resources;
    const struct ref_route_row *routes;
    APPLY(&m, {.start = 0, .time = 60, .n = 5});
    int64_t seen = T0_NS + 3600 * NS_PER_S;
    ref_prune(m.ref, REF_INGEST_DEDUP, seen + 8 * NS_PER_DAY, 0);
    ref_prune(m.ref, REF_SERIES_STATE, seen + 7 * NS_PER_DAY, 0);
    ref_prune(m.ref, REF_RESOURCE_SEEN, seen + 7 * NS_PER_DAY, 0);
    ref_prune(m.ref, REF_ROUTE_REGISTRY, (T0_DAY + 9) * NS_PER_DAY - 1, 0);
    ck_assert_uint_eq(ref_ingest_dedup(m.ref, &dedup), 1);
    ck_assert_uint_eq(ref_series_state(m.ref, &states), 1);
    ck_assert_uint_eq(ref_resource_seen(m.ref, &resources), 1);
    ck_assert_uint_eq(ref_route_registry(m.ref, &routes), 1);
    ref_prune(m.ref, REF_INGEST_DEDUP, seen + 8 * NS_PER_DAY + 1000, 0);
    ref_prune(m.ref, REF_SERIES_STATE, seen + 7 * NS_PER_DAY + 1000, 0);
    ref_prune(m.ref, REF_RESOURCE_SEEN, seen + 7 * NS_PER_DAY + 1000, 0);
    ref_prune(m.ref, REF_ROUTE_REGISTRY, (T0_DAY + 9) * NS_PER_DAY, 0);
    ck_assert_uint_eq(ref_ingest_dedup(m.ref, &dedup), 0);
    ck_assert_uint_eq(ref_series_state(m.ref, &states), 0);
    ck_assert_uint_eq(ref_resource_seen(m.ref, &resources), 0);
    ck_assert_uint_eq(ref_route_registry(m.ref, &routes), 0);
}
END_TEST

static size_t rows_left(void)
{
    const struct ref_metric_row *metrics;
    const struct ref_series_row *states;
    const struct ref_resource_row *resources;
    const struct ref_route_row *routes;
    const struct ref_mark_row *marks;
    return ref_metrics_minute(m.ref, &metrics) + ref_series_state(m.ref, &states) +
           ref_resource_seen(m.ref, &resources) + ref_route_registry(m.ref, &routes) +
           ref_rollup_pending(m.ref, &marks);
}

START_TEST(ref_purge__keeps_aggregates_when_asked_and_dedup_always)
{
    const struct ref_dedup_row *dedup;
    APPLY(&m, {.start = 0, .time = 60, .n = 5, .span = true});
    roll_up(0);
    APPLY(&m, {.start = 0, .time = 120, .n = 6, .span = true});
    ck_assert(!ref_purge(m.ref, &acme, true)); /* not removed */
    ck_assert_uint_eq(rows_left(), 2 + 1 + 1 + 1 + 1);
    ref_tenant(m.ref, &acme, true);
    ck_assert(ref_purge(m.ref, &acme, true));
    ck_assert_uint_eq(rows_left(), 0);
    ck_assert_int_eq(hourly(0), 5);
    ck_assert_int_eq(daily(), 5);
    ck_assert_int_eq(model_warning(&m, "span_derived"), 6);
    ck_assert(ref_purge(m.ref, &acme, false));
    ck_assert_int_eq(hourly(0), -1);
    ck_assert_int_eq(daily(), -1);
    ck_assert_int_eq(model_warning(&m, "span_derived"), 0);
    ck_assert_uint_eq(ref_ingest_dedup(m.ref, &dedup), 2);
}
END_TEST

Suite *ref_tables_suite(void);
Suite *ref_tables_suite(void)
{
    Suite *suite = suite_create("ref_tables");
    TCase *tcase = tcase_create("ref_tables");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, ref__routes_over_the_cap_are_relabelled_in_row_order__R_CAP_1);
    tcase_add_test(tcase, ref__services_over_the_cap_have_route_other__R_CAP_1);
    tcase_add_test(tcase, ref__caps_are_per_day_of_the_point__R_CAP_1);
    tcase_add_test(tcase, ref__streams_over_the_cap_are_refused__A_6);
    tcase_add_test(tcase, ref__warnings_count_requests__R_WARN_1);
    tcase_add_test(tcase, ref_validate__names_each_reason__R_DEC_3);
    tcase_add_test(tcase, ref_apply__says_why_a_message_was_not_to_be_applied);
    tcase_add_test(tcase, ref_apply__overflow_of_a_row__R_TX_4);
    tcase_add_test(tcase, ref_rollup__late_points_are_in_the_next_run__R_ROLL_1);
    tcase_add_test(tcase, ref_rollup__sums_doubles_in_time_order__R_ROLL_1);
    tcase_add_test(tcase, ref_commit__adds_a_folded_batch__R_TX_2);
    tcase_add_test(tcase, ref_rollup__orphaned_mark_keeps_the_hour__A_9);
    tcase_add_test(tcase, ref_drift__compares_buckets__R_ROLL_2);
    tcase_add_test(tcase, ref_partition_dropped__only_expired_days_without_marks__R_RET_1);
    tcase_add_test(tcase, ref_partition_dropped__months_by_calendar_index__R_RET_2);
    tcase_add_test(tcase, ref_prune__strictly_older_rows);
    tcase_add_test(tcase, ref_purge__keeps_aggregates_when_asked_and_dedup_always);
    suite_add_tcase(suite, tcase);
    return suite;
}

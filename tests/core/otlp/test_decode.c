/* message_decode as a whole: the shape of what comes out, and real exports against what their
 * process really served. */
#include "tests/core/otlp/otlp_build.h"
#include <jansson.h>

static void expect_text(struct bytes actual, const char *expected)
{
    ck_assert_msg(bytes_equal(actual, text(expected)), "\"%.*s\" is not \"%s\"", (int)actual.size,
                  (const char *)actual.data, expected);
}

START_TEST(decode__empty_request_has_no_points)
{
    struct message message = decoded_payload(text(""));
    ck_assert_uint_eq(message.point_count, 0);
    ck_assert_uint_eq(message.good_count, 0);
    ck_assert_uint_eq(message.skipped_metrics, 0);
    struct uuid expected = tenant();
    ck_assert_int_eq(uuid_compare(&message.tenant, &expected), 0);
}
END_TEST

/* R-DEC-2 */
START_TEST(decode__metrics_of_other_names_are_skipped_and_counted)
{
    struct point_spec spec = point_good();
    struct bytes point = point_encode(&spec);
    struct bytes data = histogram(TEMPORALITY_DELTA, &point, 1);
    struct message message = decoded_payload(request(
        attributes_good(),
        JOIN(field_bytes(2, metric("http.client.request.duration", "s", 9, data)),
             field_bytes(2, metric(SPAN_NAME, "s", 9, data)),
             field_bytes(2, metric("", "s", 9, data)),
             field_bytes(2, metric(METRIC_NAME "s", "s", 9, data)), field_bytes(2, text("")),
             /* the data of a metric that is none of ours is never looked at */
             field_bytes(2, metric("other", "s", 9, text("\xff"))))));
    ck_assert_uint_eq(message.point_count, 1);
    ck_assert_uint_eq(message.good_count, 1);
    ck_assert_uint_eq(message.skipped_metrics, 5);
    ck_assert_int_eq(message.points[0].source, SOURCE_SPAN);
    ck_assert_int_eq(message.points[0].temporality, TEMPORALITY_DELTA);
}
END_TEST

START_TEST(decode__columns_come_from_the_attributes)
{
    struct point_spec spec = point_good();
    spec.attributes[0] = pair_text("error.type", text("500"));
    spec.attributes[1] = pair_text("http.route", text("/caf\xc3\xa9/{id}"));
    spec.attributes[2] = pair_int("http.response.status_code", 503);
    spec.attributes[3] = pair_text("http.request.method", text("GET"));
    struct message message = decoded_payload(request_of_spec(&spec));
    ck_assert_uint_eq(message.good_count, 1);
    expect_text(message.points[0].service, "shop");
    expect_text(message.points[0].method, "GET");
    expect_text(message.points[0].route, "/caf\xc3\xa9/{id}");
    ck_assert_int_eq(message.points[0].status_code, 503);
}
END_TEST

/* R-WARN-1: a bool, and true */
START_TEST(decode__redacted_is_the_bool_true)
{
    const struct {
        struct bytes attribute;
        bool redacted;
    } rows[] = {{pair_bool("scf.redacted", true), true},
                {pair_bool("scf.redacted", false), false},
                {pair_text("scf.redacted", text("true")), false},
                {pair_int("scf.redacted", 1), false}};
    struct point_spec spec = point_good();
    struct bytes point = point_encode(&spec);
    struct bytes metrics =
        field_bytes(2, metric(METRIC_NAME, "s", 9, histogram(TEMPORALITY_DELTA, &point, 1)));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct bytes attributes = JOIN(attributes_good(), field_bytes(1, rows[i].attribute));
        struct message message = decoded_payload(request(attributes, metrics));
        ck_assert_uint_eq(message.good_count, 1);
        ck_assert_int_eq(message.points[0].redacted, rows[i].redacted);
    }
}
END_TEST

/* Rules "3": good points by (series, start, time), stable; refused ones behind, in message order.
 */
START_TEST(decode__points_are_ordered)
{
    struct bytes points[10];
    for (size_t i = 0; i < 10; i++) {
        struct point_spec spec = point_good();
        spec.attributes[0] = pair_text("http.route", text(i % 2 == 0 ? "/a" : "/b"));
        spec.start = (uint64_t)T0_NS - (i < 5 ? 200 : 100);
        spec.time = (uint64_t)T0_NS - i / 4;
        spec.sum = (double)i;
        if (i == 2)
            spec.flags = 1; /* no_value */
        if (i == 7)
            spec.time = 0; /* rejected_interval */
        points[i] = point_encode(&spec);
    }
    struct message message = decoded_payload(request_of(points, 10));
    ck_assert_uint_eq(message.point_count, 10);
    ck_assert_uint_eq(message.good_count, 8);
    /* (start, time) by number: 0,1 (200, 0)  3 (200, 0)  4 (200, 1)  5,6 (100, 1)  8,9 (100, 2),
     * where the second is how many ns the time is before T0; a larger number is an earlier time.
     * even = /a: 4 0 8 6; odd = /b: 1 3 9 5 */
    static const double by_route[2][4] = {{4, 0, 8, 6}, {1, 3, 9, 5}};
    bool b_first = bytes_equal(message.points[0].route, text("/b"));
    ck_assert_int_eq(
        sha256_compare(&message.points[0].series_hash, &message.points[4].series_hash) < 0, 1);
    for (size_t i = 0; i < 8; i++)
        ck_assert(message.points[i].sum == by_route[b_first ? i < 4 : i >= 4][i % 4]);
    ck_assert_int_eq(message.points[8].refusal, POINT_NO_VALUE);
    ck_assert_int_eq(message.points[9].refusal, POINT_REJECTED_INTERVAL);
}
END_TEST

/* Requests per "METHOD route status". */
struct tally {
    json_t *counts;
    int64_t total;
};

static void tally_add(struct tally *tally, const struct point *point)
{
    char key[256];
    snprintf(key, sizeof key, "%.*s %.*s %d", (int)point->method.size,
             (const char *)point->method.data, (int)point->route.size,
             (const char *)point->route.data, point->status_code);
    int64_t before = json_integer_value(json_object_get(tally->counts, key));
    json_object_set_new(tally->counts, key, json_integer(before + point->count));
    tally->total += point->count;
}

static const struct capture {
    const char *folder;
    enum payload_format format;
    enum temporality temporality;
    bool lossy;
} captures[] = {
    {"cum-pb", PAYLOAD_PROTOBUF, TEMPORALITY_CUMULATIVE, false},
    {"cum-json", PAYLOAD_JSON, TEMPORALITY_CUMULATIVE, false},
    {"delta-pb", PAYLOAD_PROTOBUF, TEMPORALITY_DELTA, false},
    {"cum-msdefaults-pb", PAYLOAD_PROTOBUF, TEMPORALITY_CUMULATIVE, true},
};
#define CAPTURE_COUNT (int)(sizeof captures / sizeof *captures)
#define CAPTURE_FILES 5

static struct message capture_decode(const struct capture *capture, int number)
{
    char path[128];
    struct err err = {0};
    struct message_facts facts;
    struct message_input input;
    snprintf(path, sizeof path, "tests/data/otlp/%s/%03d.%s", capture->folder, number,
             capture->format == PAYLOAD_JSON ? "json" : "pb");
    input = input_of(file_read(path));
    input.format = capture->format;
    ck_assert_int_eq(message_peek(input.payload, input.format, &build_arena, &facts, &err),
                     STATUS_OK);
    ck_assert_int_gt(facts.newest_ns, 0);
    input.now_ns = facts.newest_ns;
    return decoded(&input);
}

/* Cumulative: the last export holds everything. Delta: the exports add up. */
START_TEST(decode__captures_agree_with_what_was_served)
{
    const struct capture *capture = &captures[_i];
    struct tally tally = {.counts = json_object()};
    bool cumulative = capture->temporality == TEMPORALITY_CUMULATIVE;
    for (int number = cumulative ? CAPTURE_FILES - 1 : 0; number < CAPTURE_FILES; number++) {
        struct message message = capture_decode(capture, number);
        ck_assert_uint_eq(message.good_count, message.point_count);
        ck_assert_uint_eq(message.skipped_metrics, 1); /* orders.placed */
        for (size_t i = 0; i < message.good_count; i++) {
            const struct point *point = &message.points[i];
            int64_t total = 0;
            for (size_t k = 0; k < HISTOGRAM_BUCKETS; k++)
                total += point->histogram.counts[k];
            ck_assert_int_eq(total, point->count);
            ck_assert_int_eq(point->temporality, capture->temporality);
            ck_assert_int_eq(point->lossy, capture->lossy);
            ck_assert_int_eq(point->coarse, capture->lossy); /* case A40: all below 5 s */
            ck_assert(point->has_sum);
            expect_text(point->service, "checkout");
            tally_add(&tally, point);
        }
    }
    char path[128];
    snprintf(path, sizeof path, "tests/data/otlp/%s/truth.json", capture->folder);
    json_t *truth = json_load_file(path, 0, NULL);
    ck_assert_ptr_nonnull(truth);
    ck_assert(json_equal(tally.counts, json_object_get(truth, "requests")));
    ck_assert_int_eq(tally.total, json_integer_value(json_object_get(truth, "total")));
    json_decref(truth);
    json_decref(tally.counts);
}
END_TEST

/* A stream keeps its identity over the exports of a process: every series of the first export is in
 * the last one, with the same start and no smaller count. */
START_TEST(decode__captures_keep_their_streams)
{
    const struct capture *capture = &captures[_i];
    struct message first = capture_decode(capture, 0);
    struct message last = capture_decode(capture, CAPTURE_FILES - 1);
    ck_assert_uint_gt(first.good_count, 0);
    for (size_t i = 0; i < first.good_count; i++) {
        size_t found = 0;
        for (size_t k = 0; k < last.good_count; k++) {
            if (sha256_compare(&first.points[i].series_hash, &last.points[k].series_hash) != 0)
                continue;
            found++;
            ck_assert_int_eq(
                sha256_compare(&first.points[i].resource_hash, &last.points[k].resource_hash), 0);
            if (capture->temporality == TEMPORALITY_CUMULATIVE) {
                ck_assert_int_eq(first.points[i].start_unix_nano, last.points[k].start_unix_nano);
                ck_assert_int_ge(last.points[k].count, first.points[i].count);
            }
        }
        ck_assert_uint_eq(found, 1);
    }
}
END_TEST

START_TEST(decode__same_payload_twice_gives_the_same_message)
{
    struct message a = capture_decode(&captures[_i], 2);
    struct message b = capture_decode(&captures[_i], 2);
    ck_assert_uint_eq(a.point_count, b.point_count);
    for (size_t i = 0; i < a.good_count; i++) {
        ck_assert_int_eq(sha256_compare(&a.points[i].series_hash, &b.points[i].series_hash), 0);
        ck_assert(bytes_equal(a.points[i].route, b.points[i].route));
        ck_assert_int_eq(a.points[i].count, b.points[i].count);
        ck_assert_ptr_ne(a.points[i].route.data, b.points[i].route.data);
    }
}
END_TEST

static struct message_facts peeked(struct bytes payload, enum payload_format format)
{
    struct message_facts facts;
    struct err err = {0};
    ck_assert_msg(message_peek(payload, format, &build_arena, &facts, &err) == STATUS_OK, "%s",
                  err.message);
    return facts;
}

START_TEST(decode__peek_tenant)
{
    struct uuid expected = tenant();
    struct point_spec spec = point_good();
    struct message_facts facts = peeked(request_of_spec(&spec), PAYLOAD_PROTOBUF);
    ck_assert(facts.has_tenant && facts.holds_metrics);
    ck_assert_int_eq(uuid_compare(&facts.tenant, &expected), 0);
    struct bytes none = request(field_bytes(1, pair_text("service.name", text("shop"))), text(""));
    struct bytes wrong = request(field_bytes(1, pair_int("scf.tenant.id", 1)), text(""));
    ck_assert(!peeked(none, PAYLOAD_PROTOBUF).has_tenant);
    ck_assert(!peeked(wrong, PAYLOAD_PROTOBUF).has_tenant);
}
END_TEST

/* An empty message is good for the queue (zero bytes are an empty request), but no file that a
 * person would hand over. */
START_TEST(decode__peek_tells_an_empty_request_from_none)
{
    ck_assert(!peeked(text(""), PAYLOAD_PROTOBUF).holds_metrics);
    ck_assert(!peeked(text("\x48\x01"), PAYLOAD_PROTOBUF).holds_metrics); /* field 9, unknown */
    ck_assert(peeked(request(text(""), text("")), PAYLOAD_PROTOBUF).holds_metrics);
    ck_assert(!peeked(text("{}"), PAYLOAD_JSON).holds_metrics);
    ck_assert(!peeked(text("{\"resourceLogs\":[{}]}"), PAYLOAD_JSON).holds_metrics);
    ck_assert(!peeked(text("{\"resourceMetrics\":null}"), PAYLOAD_JSON).holds_metrics);
    ck_assert(peeked(text("{\"resourceMetrics\":[]}"), PAYLOAD_JSON).holds_metrics);
    struct message_facts facts;
    struct err err = {0};
    ck_assert_int_eq(message_peek(text("\xff"), PAYLOAD_PROTOBUF, &build_arena, &facts, &err),
                     STATUS_INVALID);
}
END_TEST

START_TEST(decode__peek_times)
{
    struct bytes points[3];
    struct point_spec spec = point_good();
    for (size_t i = 0; i < 3; i++) {
        static const uint64_t ahead[] = {5, 9, 4};
        spec.time = (uint64_t)T0_NS + ahead[i];
        points[i] = point_encode(&spec);
    }
    struct message_facts facts = peeked(request_of(points, 3), PAYLOAD_PROTOBUF);
    ck_assert_int_eq(facts.oldest_ns, T0_NS + 4);
    ck_assert_int_eq(facts.newest_ns, T0_NS + 9);
    static const uint64_t no_times[] = {0, UINT64_MAX}; /* absent; what no column could hold */
    for (int i = 0; i < 2; i++) {
        spec.time = no_times[i];
        facts = peeked(request_of_spec(&spec), PAYLOAD_PROTOBUF);
        ck_assert_int_eq(facts.oldest_ns, 0);
        ck_assert_int_eq(facts.newest_ns, 0);
    }
}
END_TEST

Suite *otlp_decode_suite(void);
Suite *otlp_decode_suite(void)
{
    Suite *suite = suite_create("otlp_decode");
    TCase *tests = tcase_create("decode");
    tcase_add_checked_fixture(tests, build_open, build_close);
    tcase_add_test(tests, decode__empty_request_has_no_points);
    tcase_add_test(tests, decode__metrics_of_other_names_are_skipped_and_counted);
    tcase_add_test(tests, decode__columns_come_from_the_attributes);
    tcase_add_test(tests, decode__redacted_is_the_bool_true);
    tcase_add_test(tests, decode__points_are_ordered);
    tcase_add_loop_test(tests, decode__captures_agree_with_what_was_served, 0, CAPTURE_COUNT);
    tcase_add_loop_test(tests, decode__captures_keep_their_streams, 0, CAPTURE_COUNT);
    tcase_add_loop_test(tests, decode__same_payload_twice_gives_the_same_message, 0, CAPTURE_COUNT);
    tcase_add_test(tests, decode__peek_tenant);
    tcase_add_test(tests, decode__peek_tells_an_empty_request_from_none);
    tcase_add_test(tests, decode__peek_times);
    suite_add_tcase(suite, tests);
    return suite;
}

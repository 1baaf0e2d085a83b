/* OTLP/JSON (R-DEC-1): the protobuf JSON mapping, and the same message as protobuf of the same
 * content. */
#include "core/otlp/json_attribute.h"
#include "core/otlp/pb.h"
#include "core/otlp/request.h"
#include "tests/core/otlp/otlp_build.h"
#include <math.h>

#define TENANT_JSON "{\"key\":\"scf.tenant.id\",\"value\":{\"stringValue\":\"" TENANT_TEXT "\"}}"
#define ATTRIBUTES_JSON                                                                            \
    "{\"key\":\"service.name\",\"value\":{\"stringValue\":\"shop\"}}," TENANT_JSON

/* A request of one metric with this text as the body of its only data point. */
static struct bytes json_request(const char *unit_and_temporality, const char *point)
{
    return JOIN(text("{\"resourceMetrics\":[{\"resource\":{\"attributes\":[" ATTRIBUTES_JSON
                     "]},\"scopeMetrics\":[{\"scope\":{\"name\":\"lib\",\"version\":\"1\"},"
                     "\"metrics\":[{\"name\":\"" METRIC_NAME "\","),
                text(unit_and_temporality), text(",\"dataPoints\":[{"), text(point),
                text("}]}}]}]}]}"));
}

#define CUMULATIVE "\"unit\":\"s\",\"histogram\":{\"aggregationTemporality\":2"
#define TIMES                                                                                      \
    "\"startTimeUnixNano\":\"1773143940000000000\",\"timeUnixNano\":\"1773144000000000000\""
#define BUCKETS                                                                                    \
    "\"count\":\"7\",\"sum\":1.5,\"bucketCounts\":[\"3\",\"4\"],\"explicitBounds\":[0.25]"

static struct message json_decoded(struct bytes payload)
{
    struct message_input input = input_of(payload);
    input.format = PAYLOAD_JSON;
    return decoded(&input);
}

static void json_dead(struct bytes payload, const char *reason)
{
    struct message_input input = input_of(payload);
    struct message message;
    struct err err = {0};
    input.format = PAYLOAD_JSON;
    enum status status = message_decode(build_decoder, &input, &build_arena, &message, &err);
    ck_assert_int_eq(status, STATUS_INVALID);
    ck_assert_msg(strstr(err.message, reason) != NULL, "\"%s\" is not in \"%s\"", reason,
                  err.message);
}

static void expect_same(const struct message *a, const struct message *b)
{
    ck_assert_uint_eq(a->point_count, b->point_count);
    ck_assert_uint_eq(a->good_count, b->good_count);
    ck_assert_uint_eq(a->skipped_metrics, b->skipped_metrics);
    for (size_t i = 0; i < a->point_count; i++) {
        const struct point *p = &a->points[i];
        const struct point *q = &b->points[i];
        ck_assert_int_eq(p->refusal, q->refusal);
        ck_assert_int_eq(p->temporality, q->temporality);
        ck_assert_int_eq(p->source, q->source);
        ck_assert_int_eq(sha256_compare(&p->resource_hash, &q->resource_hash), 0);
        ck_assert_int_eq(sha256_compare(&p->series_hash, &q->series_hash), 0);
        ck_assert_int_eq(p->start_unix_nano, q->start_unix_nano);
        ck_assert_int_eq(p->time_unix_nano, q->time_unix_nano);
        ck_assert(bytes_equal(p->service, q->service));
        ck_assert(bytes_equal(p->method, q->method));
        ck_assert(bytes_equal(p->route, q->route));
        ck_assert_int_eq(p->status_code, q->status_code);
        ck_assert_mem_eq(&p->histogram, &q->histogram, sizeof p->histogram);
        ck_assert_int_eq(p->count, q->count);
        ck_assert_int_eq(p->has_sum, q->has_sum);
        ck_assert(p->sum == q->sum);
        ck_assert_int_eq(p->lossy, q->lossy);
        ck_assert_int_eq(p->coarse, q->coarse);
        ck_assert_int_eq(p->redacted, q->redacted);
    }
}

START_TEST(json__same_content_gives_the_same_message)
{
    struct point_spec spec = point_good();
    spec.attributes[0] = pair_text("http.request.method", text("GET"));
    spec.attributes[1] = pair_text("http.route", text("/caf\xc3\xa9"));
    spec.attributes[2] = pair_int("http.response.status_code", 200);
    struct message from_protobuf = decoded_payload(request_of_spec(&spec));
    struct message from_json = json_decoded(json_request(
        CUMULATIVE,
        "\"attributes\":["
        "{\"key\":\"http.request.method\",\"value\":{\"stringValue\":\"GET\"}},"
        "{\"key\":\"http.route\",\"value\":{\"stringValue\":\"/caf\\u00e9\"}},"
        "{\"key\":\"http.response.status_code\",\"value\":{\"intValue\":\"200\"}}]," TIMES
        "," BUCKETS));
    ck_assert_uint_eq(from_json.good_count, 1);
    expect_same(&from_protobuf, &from_json);
}
END_TEST

/* Every kind of attribute value; the same bytes as a protobuf library writes. */
START_TEST(json__attributes_are_encoded_as_protobuf)
{
    const struct {
        const char *json;
        struct bytes wire; /* AnyValue */
    } rows[] = {
        {"{\"stringValue\":\"\"}", field_bytes(1, text(""))},
        {"{\"stringValue\":\"a\\u0000b\"}", field_bytes(1, raw("a\0b", 3))},
        {"{\"boolValue\":true}", field_varint(2, 1)},
        {"{\"boolValue\":false}", field_varint(2, 0)},
        {"{\"intValue\":\"-1\"}", field_varint(3, UINT64_MAX)},
        {"{\"intValue\":7}", field_varint(3, 7)},
        {"{\"intValue\":\"9223372036854775807\"}", field_varint(3, INT64_MAX)},
        {"{\"intValue\":\"-9223372036854775808\"}", field_varint(3, UINT64_C(1) << 63)},
        {"{\"doubleValue\":0.5}", field_double(4, 0.5)},
        {"{\"doubleValue\":2}", field_double(4, 2)},
        {"{\"doubleValue\":\"Infinity\"}", field_double(4, INFINITY)},
        {"{\"doubleValue\":\"-Infinity\"}", field_double(4, -INFINITY)},
        {"{\"doubleValue\":\"1e3\"}", field_double(4, 1000)},
        {"{\"bytesValue\":\"\"}", field_bytes(7, text(""))},
        {"{\"bytesValue\":\"aGVsbG8=\"}", field_bytes(7, text("hello"))},
        {"{\"bytesValue\":\"aGVsbG8\"}", field_bytes(7, text("hello"))},
        {"{\"bytesValue\":\"-_8=\"}", field_bytes(7, text("\xfb\xff"))},
        {"{\"bytesValue\":\"+/8=\"}", field_bytes(7, text("\xfb\xff"))},
        {"{\"arrayValue\":{}}", field_bytes(5, text(""))},
        {"{\"arrayValue\":{\"values\":[{\"intValue\":1},{\"stringValue\":\"x\"},{}]}}",
         field_bytes(5, JOIN(field_bytes(1, field_varint(3, 1)),
                             field_bytes(1, field_bytes(1, text("x"))), field_bytes(1, text(""))))},
        {"{\"arrayValue\":{\"values\":[{\"arrayValue\":{\"values\":[{\"boolValue\":true}]}}]}}",
         field_bytes(5, field_bytes(1, field_bytes(5, field_bytes(1, field_varint(2, 1)))))},
        {"{\"kvlistValue\":{\"values\":[{\"key\":\"k\",\"value\":{\"intValue\":0}},{}]}}",
         field_bytes(6, JOIN(field_bytes(1, pair_int("k", 0)), field_bytes(1, text(""))))},
        {"{}", text("")},
        {"{\"stringValue\":null}", text("")},
        {"{\"futureValue\":1}", text("")},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct bytes json = JOIN(text("{\"attributes\":[{\"key\":\"k\",\"value\":"),
                                 text(rows[i].json), text("}]}"));
        json_t *object = json_loadb((const char *)json.data, json.size, JSON_ALLOW_NUL, NULL);
        ck_assert_ptr_nonnull(object);
        struct otlp_attributes encoded;
        struct err err = {0};
        ck_assert_int_eq(otlp_json_attributes(object, &build_arena, &encoded, &err), STATUS_OK);
        ck_assert_uint_eq(encoded.count, 1);
        ck_assert_msg(bytes_equal(encoded.items[0], pair(text("k"), rows[i].wire)), "%s",
                      rows[i].json);
        json_decref(object);
    }
}
END_TEST

START_TEST(json__wrong_attribute_values)
{
    static const char *const values[] = {"7",
                                         "[]",
                                         "\"x\"",
                                         "{\"stringValue\":1}",
                                         "{\"boolValue\":1}",
                                         "{\"boolValue\":\"true\"}",
                                         "{\"intValue\":1.5}",
                                         "{\"intValue\":\"\"}",
                                         "{\"intValue\":\"-\"}",
                                         "{\"intValue\":\"1 \"}",
                                         "{\"intValue\":\"0x10\"}",
                                         "{\"intValue\":\"9223372036854775808\"}",
                                         "{\"intValue\":\"-9223372036854775809\"}",
                                         "{\"intValue\":\"99999999999999999999\"}",
                                         "{\"intValue\":true}",
                                         "{\"doubleValue\":\"x\"}",
                                         "{\"doubleValue\":\"1 2\"}",
                                         "{\"doubleValue\":\"\"}",
                                         "{\"doubleValue\":\"inf\"}",
                                         "{\"doubleValue\":true}",
                                         "{\"bytesValue\":\"a\"}",
                                         "{\"bytesValue\":\"a b=\"}",
                                         "{\"bytesValue\":\"====\"}",
                                         "{\"bytesValue\":1}",
                                         "{\"arrayValue\":[]}",
                                         "{\"arrayValue\":{\"values\":{}}}",
                                         "{\"arrayValue\":{\"values\":[1]}}",
                                         "{\"kvlistValue\":{\"values\":[{\"key\":1}]}}",
                                         "{\"intValue\":1,\"boolValue\":true}"};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        struct bytes attribute = JOIN(text("\"attributes\":[{\"key\":\"k\",\"value\":"),
                                      text(values[i]), text("}]," TIMES "," BUCKETS));
        uint8_t *point = arena_copy(&build_arena, attribute.data, attribute.size);
        json_dead(json_request(CUMULATIVE, (const char *)point), " is not ");
    }
}
END_TEST

START_TEST(json__integers_as_string_or_number)
{
    static const char *const points[] = {
        TIMES "," BUCKETS,
        "\"startTimeUnixNano\":1773143940000000000,\"timeUnixNano\":1773144000000000000,"
        "\"count\":7,\"sum\":1.5,\"bucketCounts\":[3,4],\"explicitBounds\":[0.25]",
        "\"startTimeUnixNano\":1773143940000000000,\"timeUnixNano\":\"1773144000000000000\","
        "\"count\":7.0,\"sum\":\"1.5\",\"bucketCounts\":[3e0,\"4\"],\"explicitBounds\":[\"0.25\"],"
        "\"flags\":0,\"exemplars\":[{\"traceId\":\"0af7\"}],\"min\":null,\"unknown\":{\"a\":[1]}",
    };
    struct point_spec spec = point_good();
    struct message expected = decoded_payload(request_of_spec(&spec));
    struct message actual = json_decoded(json_request(CUMULATIVE, points[_i]));
    expect_same(&expected, &actual);
}
END_TEST

START_TEST(json__temporality_as_number_or_name)
{
    static const struct {
        const char *json;
        enum point_outcome outcome;
        enum temporality temporality;
    } rows[] = {
        {"1", POINT_OUTCOME_COUNT, TEMPORALITY_DELTA},
        {"2", POINT_OUTCOME_COUNT, TEMPORALITY_CUMULATIVE},
        {"\"AGGREGATION_TEMPORALITY_DELTA\"", POINT_OUTCOME_COUNT, TEMPORALITY_DELTA},
        {"\"AGGREGATION_TEMPORALITY_CUMULATIVE\"", POINT_OUTCOME_COUNT, TEMPORALITY_CUMULATIVE},
        {"\"AGGREGATION_TEMPORALITY_UNSPECIFIED\"", POINT_REJECTED_TEMPORALITY, 0},
        {"0", POINT_REJECTED_TEMPORALITY, 0},
        {"3", POINT_REJECTED_TEMPORALITY, 0},
        {"null", POINT_REJECTED_TEMPORALITY, 0}};
    struct bytes data =
        JOIN(text("\"histogram\":{\"aggregationTemporality\":"), text(rows[_i].json));
    uint8_t *copy = arena_copy(&build_arena, data.data, data.size);
    struct message message = json_decoded(json_request((const char *)copy, TIMES "," BUCKETS));
    ck_assert_uint_eq(message.point_count, 1);
    ck_assert_int_eq(message.points[0].refusal, rows[_i].outcome);
    if (message.good_count == 1)
        ck_assert_int_eq(message.points[0].temporality, rows[_i].temporality);
}
END_TEST

START_TEST(json__other_kinds_of_data_are_the_wrong_type)
{
    static const char *const kinds[] = {"\"gauge\":{\"a\":1", "\"sum\":{\"isMonotonic\":true",
                                        "\"exponentialHistogram\":{\"a\":1",
                                        "\"summary\":{\"a\":1"};
    struct message message = json_decoded(json_request(kinds[_i], "\"asDouble\":1"));
    ck_assert_uint_eq(message.point_count, 1);
    ck_assert_int_eq(message.points[0].refusal, POINT_REJECTED_TYPE);
}
END_TEST

START_TEST(json__absent_and_null_fields_are_defaults)
{
    ck_assert_uint_eq(json_decoded(text("{}")).point_count, 0);
    ck_assert_uint_eq(json_decoded(text(" {\"resourceMetrics\":null}\n")).point_count, 0);
    struct message message =
        json_decoded(json_request("\"unit\":null,\"histogram\":{\"aggregationTemporality\":1",
                                  "\"timeUnixNano\":\"1773144000000000000\",\"sum\":null,\"count\":"
                                  "null,\"attributes\":null"));
    ck_assert_uint_eq(message.good_count, 1);
    ck_assert_int_eq(message.points[0].start_unix_nano, 0);
    ck_assert_int_eq(message.points[0].count, 0);
    ck_assert(!message.points[0].has_sum);
}
END_TEST

START_TEST(json__malformed)
{
    static const struct {
        const char *json;
        const char *reason;
    } rows[] = {
        {"", "malformed JSON"},
        {"[]", "the request is not an object"},
        {"{", "malformed JSON at line 1"},
        {"{}x", "malformed JSON"},
        {"{}{}", "malformed JSON"},
        {"\xef\xbb\xbf{}", "malformed JSON"},               /* byte order mark */
        {"{\"a\":1,\"a\":1}", "malformed JSON"},            /* a repeated member */
        {"{\"a\":\"\xff\"}", "malformed JSON"},             /* no UTF-8 */
        {"{\"a\":\"\xed\xa0\x80\"}", "malformed JSON"},     /* a surrogate */
        {"{\"a\":\"\xc0\xaf\"}", "malformed JSON"},         /* overlong */
        {"{\"a\":\"\\ud800\"}", "malformed JSON"},          /* half a pair */
        {"{\"a\":NaN}", "malformed JSON"},                  /* no JSON number */
        {"{\"a\":1e999}", "malformed JSON"},                /* above double */
        {"{\"a\":18446744073709551616}", "malformed JSON"}, /* above int64, without quotes */
        {"{\"resourceMetrics\":{}}", "\"resourceMetrics\" is not an array"},
        {"{\"resourceMetrics\":[1]}", "\"resourceMetrics\" is not an array of objects"},
        {"{\"resourceMetrics\":[{\"resource\":[]}]}", "\"resource\" is not an object"},
        {"{\"resourceMetrics\":[{\"scopeMetrics\":1}]}", "\"scopeMetrics\" is not an array"},
        {"{\"resourceMetrics\":[{\"scopeMetrics\":[{\"scope\":1}]}]}", "\"scope\" is not"},
        {"{\"resourceMetrics\":[{\"scopeMetrics\":[{\"metrics\":[{\"name\":1}]}]}]}",
         "\"name\" is not a string"},
    };
    json_dead(text(rows[_i].json), rows[_i].reason);
}
END_TEST
#define MALFORMED_COUNT 20

START_TEST(json__wrong_fields_of_a_point)
{
    static const char *const points[] = {"\"timeUnixNano\":\"-1\"",
                                         "\"timeUnixNano\":-1",
                                         "\"timeUnixNano\":\"18446744073709551616\"",
                                         "\"timeUnixNano\":1.5",
                                         "\"timeUnixNano\":{}",
                                         "\"count\":\"1.0\"",
                                         "\"count\":1e17",
                                         "\"bucketCounts\":7",
                                         "\"bucketCounts\":[-1]",
                                         "\"bucketCounts\":[null]",
                                         "\"explicitBounds\":[\"x\"]",
                                         "\"explicitBounds\":[[1]]",
                                         "\"sum\":\"x\"",
                                         "\"flags\":4294967296",
                                         "\"attributes\":{}",
                                         "\"attributes\":[1]"};
    for (size_t i = 0; i < sizeof points / sizeof *points; i++)
        json_dead(json_request(CUMULATIVE, points[i]), " is not ");
    json_dead(json_request("\"gauge\":{},\"histogram\":{\"a\":1", ""),
              "is not the only data of its metric");
    json_dead(json_request("\"histogram\":{\"aggregationTemporality\":\"DELTA\"", ""),
              "is not a known enum");
}
END_TEST

/* Values above int64 reach the point checks when they are written as strings. */
START_TEST(json__numbers_at_the_edge_of_uint64)
{
    struct message message = json_decoded(json_request(
        CUMULATIVE, "\"timeUnixNano\":\"1773144000000000000\",\"count\":\"18446744073709551615\""));
    ck_assert_int_eq(message.points[0].refusal, POINT_REJECTED_OVERFLOW);
    message = json_decoded(json_request(CUMULATIVE, "\"timeUnixNano\":\"18446744073709551615\""));
    ck_assert_int_eq(message.points[0].refusal, POINT_REJECTED_FUTURE);
    message = json_decoded(
        json_request(CUMULATIVE, "\"timeUnixNano\":\"1773144000000000000\",\"sum\":\"NaN\""));
    ck_assert_int_eq(message.points[0].refusal, POINT_REJECTED_SUM);
}
END_TEST

/* B11 in JSON: the escape is legal, the route is not. */
START_TEST(json__nul_in_a_route_condemns_the_message)
{
    json_dead(json_request(CUMULATIVE, "\"attributes\":[{\"key\":\"http.route\",\"value\":"
                                       "{\"stringValue\":\"/a\\u0000b\"}}]," TIMES "," BUCKETS),
              "control character");
}
END_TEST

START_TEST(json__nesting_is_bounded)
{
    /* `count` arrays inside {"a": ...} are count + 1 levels; 64 are accepted */
    static const struct {
        size_t count;
        const char *reason;
    } rows[] = {{63, NULL}, {64, "deeper than 64"}, {100000, "deeper than 64"}};
    struct bytes json =
        JOIN(text("{\"a\":"), filled('[', rows[_i].count), filled(']', rows[_i].count), text("}"));
    if (rows[_i].reason == NULL)
        ck_assert_uint_eq(json_decoded(json).point_count, 0);
    else
        json_dead(json, rows[_i].reason);
    /* never closed, which is malformed at any depth */
    json_dead(filled('[', rows[_i].count + 1), rows[_i].reason ? rows[_i].reason : "malformed");
}
END_TEST

START_TEST(json__brackets_in_strings_do_not_nest)
{
    struct bytes json = JOIN(text("{\"a\":\"\\\""), filled('[', 1000), text("\\\\\"}"));
    ck_assert_uint_eq(json_decoded(json).point_count, 0);
}
END_TEST

Suite *otlp_json_suite(void);
Suite *otlp_json_suite(void)
{
    Suite *suite = suite_create("otlp_json");
    TCase *tests = tcase_create("json");
    tcase_add_checked_fixture(tests, build_open, build_close);
    tcase_add_test(tests, json__same_content_gives_the_same_message);
    tcase_add_test(tests, json__attributes_are_encoded_as_protobuf);
    tcase_add_test(tests, json__wrong_attribute_values);
    tcase_add_loop_test(tests, json__integers_as_string_or_number, 0, 3);
    tcase_add_loop_test(tests, json__temporality_as_number_or_name, 0, 8);
    tcase_add_loop_test(tests, json__other_kinds_of_data_are_the_wrong_type, 0, 4);
    tcase_add_test(tests, json__absent_and_null_fields_are_defaults);
    tcase_add_loop_test(tests, json__malformed, 0, MALFORMED_COUNT);
    tcase_add_test(tests, json__wrong_fields_of_a_point);
    tcase_add_test(tests, json__numbers_at_the_edge_of_uint64);
    tcase_add_test(tests, json__nul_in_a_route_condemns_the_message);
    tcase_add_loop_test(tests, json__nesting_is_bounded, 0, 3);
    tcase_add_test(tests, json__brackets_in_strings_do_not_nest);
    suite_add_tcase(suite, tests);
    return suite;
}

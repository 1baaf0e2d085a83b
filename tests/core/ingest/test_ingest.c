/* The importer over real exports: OTLP bodies that the OpenTelemetry Node SDK sent, and what it
 * truly served (tests/data/otlp). */
#include "core/ingest/ingest.h"
#include "core/ingest/split.h"
#include "tests/core/writer/harness.h"
#include <jansson.h>
#include <stdio.h>

Suite *ingest_suite(void);

#define FILES 5

struct capture {
    const char *folder;
    const char *extension;
    bool lossy; /* millisecond bounds on a seconds metric */
};

static const struct capture captures[] = {
    {"cum-pb", "pb", false},
    {"cum-json", "json", false},
    {"cum-msdefaults-pb", "pb", true},
    {"delta-pb", "pb", false},
};
#define CAPTURES (int)(sizeof captures / sizeof *captures)

static struct bytes read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    ck_assert_msg(file != NULL, "cannot open \"%s\" (tests run from the root of the tree)", path);
    size_t room = 1024 * 1024;
    uint8_t *data = malloc(room);
    ck_assert_ptr_nonnull(data);
    struct bytes bytes = {data, fread(data, 1, room, file)};
    fclose(file);
    return bytes;
}

static struct err why; /* of the last import */

struct capture_files {
    struct ingest_file files[FILES];
    char paths[FILES][64];
};

static void open_capture(const struct capture *capture, struct capture_files *out)
{
    for (int i = 0; i < FILES; i++) {
        snprintf(out->paths[i], sizeof out->paths[i], "tests/data/otlp/%s/%03d.%s", capture->folder,
                 i, capture->extension);
        out->files[i] = (struct ingest_file){out->paths[i], read_file(out->paths[i])};
    }
}

static void close_capture(struct capture_files *capture)
{
    for (int i = 0; i < FILES; i++)
        free((void *)(uintptr_t)capture->files[i].bytes.data);
}

/* *now_ns 0: as of the newest point. */
static enum status import_at(struct harness *h, struct store *store,
                             const struct ingest_file *files, size_t count, int64_t *now_ns,
                             struct ingest_summary *summary)
{
    struct ingest_ports ports = {store, &h->meter, &h->log};
    struct ingest_plan *plan;
    why = (struct err){0};
    enum status status = ingest_plan_new(files, count, &plan, &why);
    if (status == STATUS_OK && *now_ns == 0)
        status = ingest_plan_now(plan, now_ns, &why);
    if (status == STATUS_OK)
        status = ingest(&h->settings, h->rules, &ports, plan, *now_ns, summary, &why);
    ingest_plan_free(plan);
    return status;
}

static enum status import(struct harness *h, const struct ingest_file *files, size_t count,
                          struct ingest_summary *summary)
{
    int64_t now_ns = 0;
    return import_at(h, h->inner, files, count, &now_ns, summary);
}

/* Requests per "METHOD route status" are what the SDK served, no more and no less. */
static void assert_truth(struct harness *h, const struct capture *capture)
{
    char path[64];
    snprintf(path, sizeof path, "tests/data/otlp/%s/truth.json", capture->folder);
    json_t *truth = json_load_file(path, 0, NULL);
    ck_assert_ptr_nonnull(truth);
    const char *key;
    json_t *count;
    json_object_foreach(json_object_get(truth, "requests"), key, count)
    {
        char method[16], route[64];
        int status;
        ck_assert_int_eq(sscanf(key, "%15s %63s %d", method, route, &status), 3);
        int64_t got = sql_int(h,
                              "select coalesce(sum(count), 0) from metrics_minute where method = "
                              "'%s' and route = '%s' and status_code = %d and service = 'checkout'",
                              method, route, status);
        ck_assert_msg(got == json_integer_value(count), "%s: %s: %lld", path, key, (long long)got);
    }
    ck_assert_int_eq(total(h), json_integer_value(json_object_get(truth, "total")));
    json_decref(truth);
}

/* The whole capture, in order; twice, because importing twice is harmless. */
START_TEST(ingest__captures_equal_their_truth)
{
    const struct capture *capture = &captures[_i];
    struct harness *h = harness_new(NULL);
    struct capture_files files;
    struct ingest_summary summary;
    open_capture(capture, &files);
    ck_assert_int_eq(import(h, files.files, FILES, &summary), STATUS_OK);
    ck_assert_uint_eq(summary.messages, FILES);
    ck_assert_uint_eq(summary.refused + summary.abandoned, 0);
    ck_assert_uint_eq(h->outcomes[MESSAGE_APPLIED], FILES);
    assert_truth(h, capture);
    ck_assert_int_eq(sql_int(h, "select max(lossy) from metrics_minute"), capture->lossy);
    ck_assert_int_eq(warning(h, "lossy_histogram"), capture->lossy ? total(h) : 0);
    ck_assert_int_eq(warning(h, "coarse_buckets"), capture->lossy ? total(h) : 0);
    ck_assert_int_eq(import(h, files.files, FILES, &summary), STATUS_OK);
    ck_assert_uint_eq(h->outcomes[MESSAGE_ALREADY_APPLIED], FILES);
    assert_truth(h, capture);
    close_capture(&files);
    harness_free(h);
}
END_TEST

/* One file of JSON lines is one message a line; CR LF and blank lines are no matter. A bad line is
 * refused alone and named. */
START_TEST(ingest__json_lines)
{
    struct harness *h = harness_new(NULL);
    struct capture_files files;
    struct ingest_summary summary;
    open_capture(&captures[1], &files);
    char *lines = NULL;
    size_t size;
    FILE *out = open_memstream(&lines, &size);
    for (int i = 0; i < FILES; i++) {
        fwrite(files.files[i].bytes.data, 1, files.files[i].bytes.size, out);
        fputs(i == 1 ? "\r\n\n{\"resourceMetrics\": [\n" : "\n", out);
    }
    fclose(out);
    struct ingest_file file = {"all.jsonl", {(const uint8_t *)lines, size}};
    ck_assert_int_eq(import(h, &file, 1, &summary), STATUS_OK);
    ck_assert_uint_eq(summary.messages, FILES + 1);
    ck_assert_uint_eq(summary.refused, 1);
    ck_assert_uint_eq(h->outcomes[MESSAGE_DEAD_VALIDATION], 1);
    assert_truth(h, &captures[1]);
    /* the files of the same bytes are the same messages */
    ck_assert_int_eq(import(h, files.files, FILES, &summary), STATUS_OK);
    ck_assert_uint_eq(h->outcomes[MESSAGE_ALREADY_APPLIED], FILES);
    free(lines);
    close_capture(&files);
    harness_free(h);
}
END_TEST

/* A pretty-printed request is one message. */
START_TEST(ingest__pretty_printed_json)
{
    struct harness *h = harness_new(NULL);
    struct capture_files files;
    struct ingest_summary summary;
    char *pretty[FILES];
    open_capture(&captures[1], &files);
    struct ingest_file again[FILES];
    for (int i = 0; i < FILES; i++) {
        json_t *json =
            json_loadb((const char *)files.files[i].bytes.data, files.files[i].bytes.size, 0, NULL);
        pretty[i] = json_dumps(json, JSON_INDENT(2));
        json_decref(json);
        again[i] = (struct ingest_file){"pretty.json", bytes_of(pretty[i])};
    }
    ck_assert_int_eq(import(h, again, FILES, &summary), STATUS_OK);
    ck_assert_uint_eq(summary.messages, FILES);
    assert_truth(h, &captures[1]);
    for (int i = 0; i < FILES; i++)
        free(pretty[i]);
    close_capture(&files);
    harness_free(h);
}
END_TEST

/* Both formats in one import, in the order given; a file of something else is refused by name. */
START_TEST(ingest__mixed_files)
{
    struct harness *h = harness_new(NULL);
    struct capture_files pb;
    struct ingest_summary summary;
    open_capture(&captures[0], &pb);
    static const char json[] = "{\"resourceMetrics\":[]}";
    struct ingest_file files[FILES + 2];
    memcpy(files, pb.files, sizeof pb.files);
    files[FILES] = files[2];
    files[2] = (struct ingest_file){"empty.json", bytes_of(json)};
    files[FILES + 1] = (struct ingest_file){"notes.txt", bytes_of("not a request")};
    ck_assert_int_eq(import(h, files, FILES + 2, &summary), STATUS_OK);
    ck_assert_uint_eq(summary.messages, FILES + 2);
    ck_assert_uint_eq(summary.refused, 1);
    ck_assert_uint_eq(h->outcomes[MESSAGE_APPLIED], FILES + 1);
    close_capture(&pb);
    harness_free(h);
}
END_TEST

/* A shell sorts 10.pb before 2.pb: the order is that of the first points, and nothing is
 * out_of_order (R-PT-1). */
START_TEST(ingest__files_are_taken_in_the_order_of_time)
{
    const struct capture *capture = &captures[_i];
    struct harness *h = harness_new(NULL);
    struct capture_files files;
    struct ingest_file back[FILES];
    struct ingest_summary summary;
    open_capture(capture, &files);
    for (int i = 0; i < FILES; i++)
        back[i] = files.files[FILES - 1 - i];
    ck_assert_int_eq(import(h, back, FILES, &summary), STATUS_OK);
    ck_assert_uint_eq(h->points[POINT_OUT_OF_ORDER], 0);
    assert_truth(h, capture);
    close_capture(&files);
    harness_free(h);
}
END_TEST

/* One delta point of one request at the time. */
static struct ingest_file at_time(char buffer[1024], int64_t time_ns)
{
    snprintf(buffer, 1024,
             "{\"resourceMetrics\":[{\"resource\":{\"attributes\":[{\"key\":\"scf.tenant.id\","
             "\"value\":{\"stringValue\":\"6f1c2c9e-7a51-4d0e-9d55-0a5d0c5b7b11\"}}]},"
             "\"scopeMetrics\":[{\"metrics\":[{\"name\":\"http.server.request.duration\","
             "\"unit\":\"s\",\"histogram\":{\"aggregationTemporality\":1,\"dataPoints\":["
             "{\"startTimeUnixNano\":\"%lld\",\"timeUnixNano\":\"%lld\",\"count\":1,\"sum\":1,"
             "\"bucketCounts\":[1]}]}}]}]}]}",
             (long long)(time_ns - 1), (long long)time_ns);
    return (struct ingest_file){"at.json", bytes_of(buffer)};
}

/* Points just 7 days apart are one import (R-DEC-5: older than 7 days is too old). A nanosecond
 * more, and nothing is written: with one wrong clock all good points would be refused, and their
 * messages be applied without them. A given time takes what is in its window. */
START_TEST(ingest__one_wrong_clock_refuses_nothing_in_silence)
{
    static const int64_t old_ns = INT64_C(1773144000000000000);
    char texts[2][1024];
    struct harness *h = harness_new(NULL);
    struct ingest_summary summary;
    struct ingest_file files[2] = {at_time(texts[0], old_ns + 7 * NS_PER_DAY + 1),
                                   at_time(texts[1], old_ns)};
    ck_assert_int_eq(import(h, files, 2, &summary), STATUS_INVALID);
    ck_assert_ptr_nonnull(strstr(why.message, "more than the 7 days"));
    ck_assert_int_eq(sql_int(h, "select count(*) from ingest_dedup"), 0);
    int64_t now_ns = old_ns;
    ck_assert_int_eq(import_at(h, h->inner, files, 2, &now_ns, &summary), STATUS_OK);
    ck_assert_uint_eq(h->points[POINT_REJECTED_FUTURE], 1);
    ck_assert_int_eq(total(h), 1);
    harness_free(h);
    h = harness_new(NULL);
    files[0] = at_time(texts[0], old_ns + 7 * NS_PER_DAY);
    ck_assert_int_eq(import(h, files, 2, &summary), STATUS_OK);
    ck_assert_int_eq(total(h), 2);
    harness_free(h);
}
END_TEST

/* Files of something else: an error of the file when there is nothing else, and never "applied". */
static const struct {
    const char *text;
    const char *why;
} strangers[] = {
    {"", "it is empty"},
    {"{}", "no \"resourceMetrics\""},
    {"{\"foo\":1}", "no \"resourceMetrics\""},
    {"{\"resourceSpans\":[{}]}", "no \"resourceMetrics\""},
    {"[]", "not an object"},
    {"[{\"resourceMetrics\":[]}]", "not an object"},
    {"\x48\x01", "holds no OTLP metrics"}, /* protobuf: field 9, which a request has not */
    {"key: value\n", "malformed protobuf"},
};

START_TEST(ingest__strangers_are_refused)
{
    static const int64_t time_ns = INT64_C(1773144000000000000);
    char text[1024];
    struct harness *h = harness_new(NULL);
    struct ingest_summary summary;
    struct ingest_file files[2] = {{"stranger", bytes_of(strangers[_i].text)},
                                   at_time(text, time_ns)};
    int64_t now_ns = time_ns;
    ck_assert_int_eq(import_at(h, h->inner, files, 1, &now_ns, &summary), STATUS_INVALID);
    ck_assert_msg(strstr(why.message, strangers[_i].why), "%s", why.message);
    ck_assert_msg(strstr(why.message, "\"stranger\""), "%s", why.message);
    ck_assert_int_eq(import(h, files, 2, &summary), STATUS_OK);
    ck_assert_uint_eq(summary.refused, 1);
    ck_assert_uint_eq(h->outcomes[MESSAGE_DEAD_VALIDATION], 1);
    ck_assert_uint_eq(h->outcomes[MESSAGE_APPLIED], 1);
    ck_assert_int_eq(total(h), 1);
    harness_free(h);
}
END_TEST

/* Without a point and without a given time there is no clock. */
START_TEST(ingest__no_point_no_time)
{
    struct harness *h = harness_new(NULL);
    struct ingest_summary summary;
    struct ingest_file file = {"empty.json", bytes_of("{\"resourceMetrics\":[]}")};
    ck_assert_int_eq(import(h, &file, 1, &summary), STATUS_INVALID);
    harness_free(h);
}
END_TEST

/* A given time decides the window: a month later every point is too old, and that is counted. */
START_TEST(ingest__given_time_decides_the_window)
{
    struct harness *h = harness_new(NULL);
    struct capture_files files;
    struct ingest_summary summary;
    open_capture(&captures[0], &files);
    int64_t now_ns = 0;
    ck_assert_int_eq(import_at(h, h->inner, files.files, FILES, &now_ns, &summary), STATUS_OK);
    now_ns += 30 * NS_PER_DAY;
    struct harness *later = harness_new(NULL);
    ck_assert_int_eq(import_at(later, later->inner, files.files, FILES, &now_ns, &summary),
                     STATUS_OK);
    ck_assert_int_eq(total(later), 0);
    ck_assert_uint_eq(later->outcomes[MESSAGE_APPLIED], FILES);
    ck_assert_uint_gt(later->points[POINT_REJECTED_TOO_OLD], 0);
    harness_free(later);
    close_capture(&files);
    harness_free(h);
}
END_TEST

/* A transient refusal comes again at once, in order; one that stays is abandoned and said so. */
START_TEST(ingest__transient_refusals)
{
    bool stays = _i == 1;
    struct harness *h = harness_new(NULL);
    struct capture_files files;
    struct ingest_summary summary;
    int64_t now_ns = 0;
    open_capture(&captures[0], &files);
    fault(h, (struct test_fault){
                 .query = QUERY_ADD_MINUTE, .sqlstate = "40001", .times = stays ? 999 : 2});
    ck_assert_int_eq(import_at(h, &h->store, files.files, FILES, &now_ns, &summary), STATUS_OK);
    ck_assert_uint_eq(summary.abandoned, stays ? FILES : 0);
    if (!stays)
        assert_truth(h, &captures[0]);
    close_capture(&files);
    harness_free(h);
}
END_TEST

START_TEST(ingest__splits_files)
{
    static const struct {
        const char *text;
        bool lines;
        enum payload_format format;
    } cases[] = {
        {"", false, PAYLOAD_PROTOBUF},           {"{}", false, PAYLOAD_JSON},
        {"{}\n", false, PAYLOAD_JSON},           {"{}\n\n \t\r\n", false, PAYLOAD_JSON},
        {"{}\n{}\n", true, PAYLOAD_JSON},        {"{\"a\":\"}\\\"{\"}\r\n{}", true, PAYLOAD_JSON},
        {"{\n}\n{\n}\n", false, PAYLOAD_JSON},   {"{}}\n{}\n", false, PAYLOAD_JSON},
        {"\n{}\n{}\n", false, PAYLOAD_PROTOBUF}, {"[{}\n]\n", false, PAYLOAD_JSON},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ck_assert_int_eq(ingest_is_lines(bytes_of(cases[i].text)), cases[i].lines);
        ck_assert_int_eq(ingest_format(bytes_of(cases[i].text)), cases[i].format);
    }
}
END_TEST

Suite *ingest_suite(void)
{
    Suite *suite = suite_create("ingest");
    TCase *tests = tcase_create("ingest");
    tcase_add_loop_test(tests, ingest__captures_equal_their_truth, 0, CAPTURES);
    tcase_add_test(tests, ingest__json_lines);
    tcase_add_test(tests, ingest__pretty_printed_json);
    tcase_add_test(tests, ingest__mixed_files);
    tcase_add_loop_test(tests, ingest__files_are_taken_in_the_order_of_time, 0, CAPTURES);
    tcase_add_test(tests, ingest__one_wrong_clock_refuses_nothing_in_silence);
    tcase_add_loop_test(tests, ingest__strangers_are_refused, 0,
                        (int)(sizeof strangers / sizeof *strangers));
    tcase_add_test(tests, ingest__no_point_no_time);
    tcase_add_test(tests, ingest__given_time_decides_the_window);
    tcase_add_loop_test(tests, ingest__transient_refusals, 0, 2);
    tcase_add_test(tests, ingest__splits_files);
    suite_add_tcase(suite, tests);
    return suite;
}

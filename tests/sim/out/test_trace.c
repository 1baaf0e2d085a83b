/* sim/out/trace: equal runs give equal bytes, any change is seen and named (DESIGN 5). */
#include "sim/out/trace.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define AT INT64_C(1772323200000000000) /* 2026-03-01T00:00:00Z */

static const uint8_t tenant[16] = {0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88,
                                   0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff, 0x00};

static struct trace *kept_trace(void)
{
    struct trace *trace = trace_new(NULL);
    ck_assert_ptr_nonnull(trace);
    trace_keep(trace);
    return trace;
}

static void simple_event(struct trace *trace, const char *step, int64_t value)
{
    trace_event(trace, AT, "w1", step);
    trace_int(trace, "n", value);
    trace_end(trace);
}

START_TEST(trace__equal_events_give_equal_hashes)
{
    struct trace *a = kept_trace();
    struct trace *b = trace_new(NULL); /* keeping changes nothing */
    for (int i = 0; i < 1000; i++) {
        simple_event(a, "Commit", i);
        simple_event(b, "Commit", i);
        ck_assert_uint_eq(trace_hash(a), trace_hash(b));
    }
    ck_assert_uint_eq(trace_events(a), 1000);
    trace_free(a);
    trace_free(b);
}
END_TEST

/* One event with each of its parts changed in turn, and one with two fields in the other order. */
static void event_variant(struct trace *trace, int variant)
{
    trace_event(trace, variant == 1 ? AT + 1 : AT, variant == 2 ? "w2" : "w1",
                variant == 3 ? "Rollback" : "Commit");
    if (variant == 4)
        trace_word(trace, "b", "x");
    trace_int(trace, variant == 5 ? "c" : "a", variant == 6 ? 2 : 1);
    if (variant != 4 && variant != 7)
        trace_word(trace, "b", variant == 8 ? "y" : "x");
    if (variant == 9)
        trace_number(trace, "d", 0.0);
    if (variant == 10)
        trace_number(trace, "d", -0.0);
    if (variant == 11)
        trace_hex(trace, "d", (struct bytes){tenant, 1});
    trace_end(trace);
}

START_TEST(trace__every_part_of_an_event_counts)
{
    uint64_t hashes[12];
    for (int variant = 0; variant < 12; variant++) {
        struct trace *trace = trace_new(NULL);
        event_variant(trace, variant);
        hashes[variant] = trace_hash(trace);
        for (int other = 0; other < variant; other++)
            ck_assert_uint_ne(hashes[variant], hashes[other]);
        trace_free(trace);
    }
}
END_TEST

/* "ab" "c" against "a" "bc": the lengths keep them apart. */
START_TEST(trace__boundaries_between_texts_count)
{
    struct trace *a = trace_new(NULL);
    struct trace *b = trace_new(NULL);
    trace_event(a, AT, "ab", "c");
    trace_end(a);
    trace_event(b, AT, "a", "bc");
    trace_end(b);
    ck_assert_uint_ne(trace_hash(a), trace_hash(b));
    trace_free(a);
    trace_free(b);
}
END_TEST

START_TEST(trace_first_difference__names_the_first_event_that_differs)
{
    struct trace *a = kept_trace();
    struct trace *b = kept_trace();
    uint64_t event = 99;
    ck_assert(!trace_first_difference(a, b, &event));
    for (int i = 0; i < 10; i++) {
        simple_event(a, "Commit", i);
        simple_event(b, "Commit", i == 7 ? 70 : i);
    }
    ck_assert(trace_first_difference(a, b, &event));
    ck_assert_uint_eq(event, 7);
    ck_assert_str_eq(
        trace_kept_line(a, 7),
        "{\"at\":\"2026-03-01T00:00:00Z\",\"actor\":\"w1\",\"step\":\"Commit\",\"n\":7}");
    ck_assert_str_eq(
        trace_kept_line(b, 7),
        "{\"at\":\"2026-03-01T00:00:00Z\",\"actor\":\"w1\",\"step\":\"Commit\",\"n\":70}");
    trace_free(a);
    trace_free(b);
}
END_TEST

START_TEST(trace_first_difference__a_trace_that_ends_early_differs_behind_its_end)
{
    struct trace *a = kept_trace();
    struct trace *b = kept_trace();
    uint64_t event = 99;
    simple_event(a, "Begin", 1);
    simple_event(b, "Begin", 1);
    ck_assert(!trace_first_difference(a, b, &event));
    simple_event(b, "Commit", 2);
    ck_assert(trace_first_difference(a, b, &event));
    ck_assert_uint_eq(event, 1);
    ck_assert(trace_first_difference(b, a, &event));
    ck_assert_uint_eq(event, 1);
    trace_free(a);
    trace_free(b);
}
END_TEST

/* ---- JSON ---- */

/* DESIGN 5: doubles as 16 hex digits: 1.5 = 1.1b * 2^0 is sign 0, exponent 0x3ff, fraction 0x8 0...
 */
START_TEST(trace_kept_line__shows_each_kind_of_field)
{
    struct trace *trace = kept_trace();
    trace_event(trace, AT + 1000, "", "Export");
    trace_int(trace, "least", INT64_MIN);
    trace_number(trace, "half", 1.5);
    trace_number(trace, "inf", (double)INFINITY);
    trace_hex(trace, "raw", (struct bytes){tenant, 3});
    trace_text(trace, "text", (struct bytes){(const uint8_t *)"a\"b\\c\0\n\xc3\xa9\xff", 10});
    trace_end(trace);
    ck_assert_str_eq(trace_kept_line(trace, 0),
                     "{\"at\":\"2026-03-01T00:00:00.000001Z\",\"actor\":\"\",\"step\":\"Export\","
                     "\"least\":-9223372036854775808,\"half\":\"3ff8000000000000\","
                     "\"inf\":\"7ff0000000000000\",\"raw\":\"112233\","
                     /* the last run, "\xc3\xa9\xff", is no text as a whole: three signs */
                     "\"text\":\"a\\\"b\\\\c\\u0000\\u000a\\ufffd\\ufffd\\ufffd\"}");
    trace_free(trace);
}
END_TEST

/* An AddMinute call has every type of parameter but bytes and date. */
START_TEST(trace_call_params__row_by_row_with_names)
{
    struct histogram buckets = {{1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2}};
    const struct query *query = &queries[QUERY_ADD_MINUTE];
    struct value params[2 * QUERY_COLUMNS_MAX] = {0};
    size_t count = (size_t)query->param_count;
    for (size_t i = 0; i < 2 * count; i++) {
        switch (query->params[i % count].type) {
        case VALUE_UUID:
            params[i].bytes = (struct bytes){tenant, 16};
            break;
        case VALUE_TEXT:
        case VALUE_BYTES:
            params[i].bytes = bytes_of(i < count ? "one" : "two");
            break;
        case VALUE_BUCKETS:
            params[i].buckets = &buckets;
            break;
        case VALUE_FLOAT:
            params[i].number = 1.5;
            break;
        case VALUE_TIME:
            params[i].integer = AT / 1000;
            break;
        default:
            params[i].integer = i < count ? 1 : 0;
        }
    }
    struct store_call call = {.query = QUERY_ADD_MINUTE, .params = params, .row_count = 2};
    call.affected = 2;
    struct trace *trace = kept_trace();
    trace_event(trace, AT, "w1", query->name);
    trace_call_params(trace, &call);
    trace_call_results(trace, &call);
    trace_end(trace);
    const char *line = trace_kept_line(trace, 0);
    ck_assert_ptr_nonnull(strstr(line, "\"step\":\"AddMinute\",\"params\":[{"));
    ck_assert_ptr_nonnull(strstr(line, "\"11223344-5566-7788-99aa-bbccddeeff00\""));
    ck_assert_ptr_nonnull(strstr(line, "\"one\""));
    ck_assert_ptr_nonnull(strstr(line, "},{"));
    ck_assert_ptr_nonnull(strstr(line, "\"two\""));
    ck_assert_ptr_nonnull(strstr(line, "[1,0,0,0,0,0,0,0,0,0,0,0,0,0,2]"));
    ck_assert_ptr_nonnull(strstr(line, "\"3ff8000000000000\""));
    ck_assert_ptr_nonnull(strstr(line, "\"2026-03-01T00:00:00Z\",\""));
    ck_assert_ptr_nonnull(strstr(line, "}],\"affected\":2}"));
    trace_free(trace);
}
END_TEST

START_TEST(trace_call_results__result_rows_count)
{
    struct value results[2][QUERY_COLUMNS_MAX] = {0};
    uint64_t hashes[2];
    for (int i = 0; i < 2; i++) {
        struct store_call call = {.query = QUERY_COUNT_SERIES_STATES};
        results[i][0].integer = i;
        call.results = results[i];
        call.result_rows = 1;
        ck_assert_int_eq(queries[call.query].result_count, 1);
        struct trace *trace = trace_new(NULL);
        trace_event(trace, AT, "w1", "CountSeriesStates");
        trace_call_results(trace, &call);
        trace_end(trace);
        hashes[i] = trace_hash(trace);
        trace_free(trace);
    }
    ck_assert_uint_ne(hashes[0], hashes[1]);
}
END_TEST

START_TEST(trace__sink_gets_one_line_an_event)
{
    char *text = NULL;
    size_t size = 0;
    FILE *sink = open_memstream(&text, &size);
    ck_assert_ptr_nonnull(sink);
    struct trace *trace = trace_new(sink);
    struct trace *silent = trace_new(NULL);
    simple_event(trace, "Begin", 1);
    simple_event(trace, "Commit", 2);
    simple_event(silent, "Begin", 1);
    simple_event(silent, "Commit", 2);
    ck_assert_uint_eq(trace_hash(trace), trace_hash(silent));
    fclose(sink);
    ck_assert_str_eq(
        text, "{\"at\":\"2026-03-01T00:00:00Z\",\"actor\":\"w1\",\"step\":\"Begin\",\"n\":1}\n"
              "{\"at\":\"2026-03-01T00:00:00Z\",\"actor\":\"w1\",\"step\":\"Commit\",\"n\":2}\n");
    free(text);
    trace_free(trace);
    trace_free(silent);
}
END_TEST

Suite *trace_suite(void);
Suite *trace_suite(void)
{
    Suite *suite = suite_create("trace");
    TCase *tcase = tcase_create("trace");
    tcase_add_test(tcase, trace__equal_events_give_equal_hashes);
    tcase_add_test(tcase, trace__every_part_of_an_event_counts);
    tcase_add_test(tcase, trace__boundaries_between_texts_count);
    tcase_add_test(tcase, trace_first_difference__names_the_first_event_that_differs);
    tcase_add_test(tcase, trace_first_difference__a_trace_that_ends_early_differs_behind_its_end);
    tcase_add_test(tcase, trace_kept_line__shows_each_kind_of_field);
    tcase_add_test(tcase, trace_call_params__row_by_row_with_names);
    tcase_add_test(tcase, trace_call_results__result_rows_count);
    tcase_add_test(tcase, trace__sink_gets_one_line_an_event);
    suite_add_tcase(suite, tcase);
    return suite;
}

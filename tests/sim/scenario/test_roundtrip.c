/* print(parse(x)) = x for canonical x, and print(parse(y)) is canonical for any y that parses. */
#include "sim/limits.h"
#include "tests/sim/scenario/scenario_test.h"
#include <check.h>
#include <string.h>

static struct arena arena;

static void setup(void)
{
    arena_init(&arena, LIMIT_SCENARIO_ARENA);
}

static void teardown(void)
{
    arena_free(&arena);
}

static const char *print(const char *text)
{
    size_t size;
    const char *printed = scenario_print(parse_good(&arena, text), &arena, &size);
    ck_assert_ptr_nonnull(printed);
    ck_assert_uint_eq(strlen(printed), size);
    return printed;
}

START_TEST(every_statement__canonical_text_comes_back)
{
    size_t size;
    const char *text = text_of_file(&arena, "tests/data/scenario/everything.scn", &size);
    ck_assert_str_eq(print(text), text);
}
END_TEST

/* what a person may write, and its canonical form */
static const struct {
    const char *written;
    const char *canonical;
} forms[] = {
    {"writer   w1", "writer w1"},
    {"writer w1 # ours", "writer w1  # ours"},
    {"writer w1\n\n\n\n#note\nwriter w2", "writer w1\n\n# note\nwriter w2"},
    {"#", "#"},
    {"queue ack wait 90s", "queue ack wait 1m30s"},
    {"queue age limit 36h", "queue age limit 1d12h"},
    {"job rollup every 5m\nat 60s expect queue 0\nat 1h fault Commit 40001 once",
     "job rollup every 5m\nat 1m  expect queue 0\nat 1h  fault Commit 40001 once"},
    {"series s of acme GET /c 200 cumulative start -3h+123ns\nat 1m s sends 007",
     "series s of acme GET /c 200 start -3h+123ns cumulative\nat 1m  s sends 7"},
    {"series s of acme \"GET\" \"/c\" 200 delta start unknown\nat 1m s sends 1",
     "series s of acme GET /c 200 delta\nat 1m  s sends 1"},
    {"series s of acme - \"-\" - delta attribute \"a\" 1e3 attribute \"b\" -0.50\nat 1m s sends 1",
     "series s of acme - \"-\" - delta attribute \"a\" 1000.0 attribute \"b\" -0.5\n"
     "at 1m  s sends 1"},
    {"series s of acme GET \"a b\\x7f\\xff\\u\\\"\" 200 delta\nat 1m s sends 1", NULL},
    {"series s of acme GET \"a b\\x7F\\xFF\\\"\\\\\xc3\xa9\" 200 delta\nat 1m s sends 1",
     "series s of acme GET \"a b\\x7f\\xff\\\"\\\\\xc3\xa9\" 200 delta\nat 1m  s sends 1"},
    {"process p of acme exports every 1m delta service \"a\" replicas 2\nat 0s p/2 starts",
     "process p of acme service \"a\" exports every 1m delta replicas 2 apart 1us\n"
     "at 0s  p/2 starts"},
    {"process p of acme\n  exports every 1m delta\n\tservice \"a\"\nat 0s p starts",
     "process p of acme service \"a\" exports every 1m delta\nat 0s  p starts"},
    {"process p of acme exports every 1m delta bounds canonical\nat -0s p starts",
     "process p of acme exports every 1m delta\nat 0s  p starts"},
    {"process p of acme exports every 1m delta\r\nat 0s p starts\r",
     "process p of acme exports every 1m delta\nat 0s  p starts"},
};

START_TEST(form__is_made_canonical)
{
    const char *written = with_body(&arena, forms[_i].written);
    if (!forms[_i].canonical) {
        parse_bad(&arena, written);
        return;
    }
    const char *canonical = with_body(&arena, forms[_i].canonical);
    ck_assert_str_eq(print(written), canonical);
    ck_assert_str_eq(print(canonical), canonical);
}
END_TEST

/* The first line is 91 columns wide; with "attribute ..." it would have more than 96. */
START_TEST(long_statement__goes_on_in_indented_lines)
{
    const char *text =
        with_body(&arena, "writer w1  # a comment stays on the first line\n"
                          "process p of acme service \"a service with a name\" exports every 1m "
                          "cumulative started at -3h\n"
                          "    attribute \"a long key of an attribute\" \"its value\"\n"
                          "at 0s  p stops");
    ck_assert_str_eq(print(text), text);
}
END_TEST

START_TEST(no_newline_at_the_end__is_a_file_like_any_other)
{
    const char *text = with_body(&arena, "writer w1");
    char *cut = arena_copy(&arena, text, strlen(text) - 1);
    ck_assert_str_eq(print(cut), text);
}
END_TEST

Suite *scenario_roundtrip_suite(void);
Suite *scenario_roundtrip_suite(void)
{
    Suite *suite = suite_create("scenario_roundtrip");
    TCase *tcase = tcase_create("print");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, every_statement__canonical_text_comes_back);
    tcase_add_loop_test(tcase, form__is_made_canonical, 0, sizeof forms / sizeof forms[0]);
    tcase_add_test(tcase, long_statement__goes_on_in_indented_lines);
    tcase_add_test(tcase, no_newline_at_the_end__is_a_file_like_any_other);
    suite_add_tcase(suite, tcase);
    return suite;
}

/* Durations and times: what is read, and the one way it is written. */
#include "core/base/time.h"
#include "sim/base/prng.h"
#include "sim/scenario/moment.h"
#include <check.h>
#include <string.h>

#define START (INT64_C(1772323200) * NS_PER_S) /* 2026-03-01T00:00:00Z */

static const struct {
    const char *text;
    int64_t ns;
    const char *canonical;
} durations[] = {
    {"0s", 0, "0s"},
    {"90s", 90 * NS_PER_S, "1m30s"},
    {"1h30m", 90 * NS_PER_MIN, "1h30m"},
    {"30m1h", 90 * NS_PER_MIN, "1h30m"},
    {"500ms", 500 * NS_PER_MS, "500ms"},
    {"1500us", 1500 * NS_PER_US, "1ms500us"},
    {"123ns", 123, "123ns"},
    {"48h1ns", 2 * NS_PER_DAY + 1, "2d1ns"},
    {"73000d", 73000 * NS_PER_DAY, "73000d"},
};

START_TEST(duration__is_read_and_written)
{
    int64_t ns;
    char text[MOMENT_TEXT_SIZE];
    ck_assert(duration_parse(durations[_i].text, strlen(durations[_i].text), &ns));
    ck_assert_int_eq(ns, durations[_i].ns);
    duration_format(ns, text);
    ck_assert_str_eq(text, durations[_i].canonical);
}
END_TEST

static const char *const no_durations[] = {
    "",
    "5",
    "s",
    "5 s",
    "-5s",
    "+5s",
    "5S",
    "5mm",
    "5m+1s",
    "1.5s",
    "5min",
    "73001d",
    "99999999999999999999s",
    "9223372036854775807d",
    "5s ",
};

START_TEST(duration__nothing_else_is_read)
{
    int64_t ns;
    ck_assert(!duration_parse(no_durations[_i], strlen(no_durations[_i]), &ns));
}
END_TEST

static const struct {
    const char *text;
    int64_t ns; /* after START */
    const char *canonical;
} moments[] = {
    {"5m", 5 * NS_PER_MIN, "5m"},
    {"-3h", -3 * NS_PER_HOUR, "-3h"},
    {"-3h+123ns", -3 * NS_PER_HOUR + 123, "-3h+123ns"},
    {"-2h59m59s999ms", -3 * NS_PER_HOUR + NS_PER_MS, "-2h59m59s999ms"},
    {"1h-1ns", NS_PER_HOUR - 1, "59m59s999ms999us999ns"},
    {"-5ns", -5, "-5ns"},
    {"0s+123ns", 123, "123ns"},
    {"-0s", 0, "0s"},
    {"2026-03-01T00:00:00Z", 0, "2026-03-01T00:00:00Z"},
    {"2026-03-01T00:00:00.000000123Z", 123, "2026-03-01T00:00:00.000000123Z"},
    {"2026-03-02", NS_PER_DAY, "2026-03-02T00:00:00Z"},
};

START_TEST(moment__is_read_and_written)
{
    struct moment moment;
    char text[MOMENT_TEXT_SIZE];
    ck_assert(moment_parse(moments[_i].text, strlen(moments[_i].text), START, &moment));
    ck_assert_int_eq(moment.ns - START, moments[_i].ns);
    moment_format(moment, START, text);
    ck_assert_str_eq(text, moments[_i].canonical);
}
END_TEST

static const char *const no_moments[] = {
    "",
    "+5m",
    "5m+",
    "--5m",
    "5m 5s",
    "1969-12-31T00:00:00Z",
    "soon",
    "2026-02-30",
    "-73000d",
    "73000d9d",
    "2200-01-01T00:00:00Z",
    "2026-03-01T00:00:00+01:00",
};

START_TEST(moment__nothing_else_is_read)
{
    struct moment moment;
    ck_assert(!moment_parse(no_moments[_i], strlen(no_moments[_i]), START, &moment));
}
END_TEST

START_TEST(moment__every_text_reads_back)
{
    struct prng prng = prng_make(1, PRNG_WORKLOAD);
    for (int i = 0; i < 20000; i++) {
        int64_t span = INT64_C(1) << prng_below(&prng, 60);
        int64_t ns = START - span + (int64_t)prng_below(&prng, 2 * (uint64_t)span);
        if (ns < 0)
            continue;
        struct moment moment = {ns, prng_chance(&prng, 1, 4)};
        struct moment back;
        char text[MOMENT_TEXT_SIZE];
        moment_format(moment, START, text);
        ck_assert_msg(moment_parse(text, strlen(text), START, &back), "%s", text);
        ck_assert_int_eq(back.ns, ns);
        ck_assert(back.absolute == moment.absolute);
    }
}
END_TEST

Suite *scenario_moment_suite(void);
Suite *scenario_moment_suite(void)
{
    Suite *suite = suite_create("scenario_moment");
    TCase *tcase = tcase_create("moment");
#define COUNT(array) ((int)(sizeof(array) / sizeof(array)[0]))
    tcase_add_loop_test(tcase, duration__is_read_and_written, 0, COUNT(durations));
    tcase_add_loop_test(tcase, duration__nothing_else_is_read, 0, COUNT(no_durations));
    tcase_add_loop_test(tcase, moment__is_read_and_written, 0, COUNT(moments));
    tcase_add_loop_test(tcase, moment__nothing_else_is_read, 0, COUNT(no_moments));
    tcase_add_test(tcase, moment__every_text_reads_back);
    suite_add_tcase(suite, tcase);
    return suite;
}

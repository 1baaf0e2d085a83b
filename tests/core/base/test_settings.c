/* Settings: defaults and bounds of RULES section 6, durations, refusals. */
#include "core/base/settings.h"
#include "core/base/time.h"
#include <check.h>

START_TEST(settings__defaults)
{
    struct settings settings = settings_default();
    ck_assert_int_eq(settings.first_point_threshold_ns, 120 * NS_PER_S);
    ck_assert_int_eq(settings.series_per_tenant_max, 100000);
    ck_assert_int_eq(settings.routes_max, 1000);
    ck_assert_int_eq(settings.services_max, 100);
    ck_assert_int_eq(settings.future_tolerance_ns, 600 * NS_PER_S);
    ck_assert_int_eq(settings.batch_max, 10);
    ck_assert(!settings.minute_retention_set && !settings.hourly_retention_set);
}
END_TEST

START_TEST(settings__durations)
{
    static const struct {
        const char *text;
        int64_t ns;
    } cases[] = {
        {"120", 120 * NS_PER_S}, {"120s", 120 * NS_PER_S}, {"1ns", 1},
        {"5us", 5 * NS_PER_US},  {"7ms", 7 * NS_PER_MS},   {"2m", 2 * NS_PER_MIN},
        {"3h", 3 * NS_PER_HOUR}, {"1d", NS_PER_DAY},       {"9223372036854775807ns", INT64_MAX},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct settings settings = settings_default();
        struct err err;
        ck_assert_int_eq(settings_set(&settings, "METRICSWRITER_FIRST_POINT_THRESHOLD",
                                      cases[i].text, false, &err),
                         STATUS_OK);
        ck_assert_int_eq(settings.first_point_threshold_ns, cases[i].ns);
    }
}
END_TEST

#define MINUTES "API_MINUTE_RETENTION_DAYS"
#define HOURS   "API_HOURLY_RETENTION_MONTHS"

static const struct {
    const char *name, *value;
    bool accepted;
} bounds[] = {
    {"METRICSWRITER_FIRST_POINT_THRESHOLD", "0", false},
    {"METRICSWRITER_FIRST_POINT_THRESHOLD", "1ns", true},
    {"METRICSWRITER_FIRST_POINT_THRESHOLD", "-1s", false},
    {"METRICSWRITER_FIRST_POINT_THRESHOLD", "9223372037s", false}, /* above int64 ns */
    {"METRICSWRITER_FIRST_POINT_THRESHOLD", "2 m", false},
    {"METRICSWRITER_FIRST_POINT_THRESHOLD", "2w", false},
    {"METRICSWRITER_FIRST_POINT_THRESHOLD", "", false},
    {"METRICSWRITER_FIRST_POINT_THRESHOLD", "s", false},
    {"METRICSWRITER_FUTURE_TOLERANCE", "0", true},
    {"METRICSWRITER_FUTURE_TOLERANCE", "-1ns", false},
    {"METRICSWRITER_MAX_SERIES_PER_TENANT", "0", false},
    {"METRICSWRITER_MAX_SERIES_PER_TENANT", "1", true},
    {"METRICSWRITER_MAX_ROUTES", "0", false},
    {"METRICSWRITER_MAX_ROUTES", "1", true},
    {"METRICSWRITER_MAX_ROUTES", "10s", false}, /* a count has no unit */
    {"METRICSWRITER_MAX_SERVICES", "0", false},
    {"METRICSWRITER_MAX_SERVICES", "1", true},
    {"METRICSWRITER_BATCH_MAX", "0", false},
    {"METRICSWRITER_BATCH_MAX", "1", true},
    {"METRICSWRITER_BATCH_MAX", "1000", true},
    {"METRICSWRITER_BATCH_MAX", "1001", false},
    {"METRICSWRITER_BATCH_MAX", "9223372036854775808", false},
    {MINUTES, "7", false}, /* */
    {MINUTES, "8", true},
    {HOURS, "23", false},
    {HOURS, "24", true},
};
#define BOUND_COUNT ((int)(sizeof bounds / sizeof bounds[0]))

START_TEST(settings__bounds)
{
    struct settings settings = settings_default();
    struct err err;
    enum status status = settings_set(&settings, bounds[_i].name, bounds[_i].value, false, &err);
    ck_assert_msg(status == (bounds[_i].accepted ? STATUS_OK : STATUS_INVALID), "%s = %s gave %s",
                  bounds[_i].name, bounds[_i].value, status_name(status));
}
END_TEST

/* MS "Jobs tasks": below 8 days a backlog does not find its partitions. */
START_TEST(settings__short_minutes_only_with_the_fix_off)
{
    struct settings settings = settings_default();
    struct err err;
    ck_assert_int_eq(settings_set(&settings, MINUTES, "7", false, &err), STATUS_INVALID);
    ck_assert_str_eq(err.message, "cannot set \"" MINUTES "\" to \"7\": must be at least 8");
    ck_assert_str_eq(
        err.hint,
        "a backlog delivers points up to 7 days old, and they must find their partitions");
    ck_assert(!settings.minute_retention_set);
    ck_assert_int_eq(settings_set(&settings, MINUTES, "1", true, &err), STATUS_OK);
    ck_assert_int_eq(settings.minute_retention_days, 1);
    ck_assert_int_eq(settings_set(&settings, MINUTES, "0", true, &err), STATUS_INVALID);
    ck_assert_int_eq(settings_set(&settings, HOURS, "23", true, &err), STATUS_INVALID);
}
END_TEST

START_TEST(settings__both_retention_keys_are_required)
{
    struct settings settings = settings_default();
    struct err err;
    ck_assert_int_eq(settings_check_retention(&settings, &err), STATUS_INVALID);
    ck_assert_str_eq(err.message, "setting \"" MINUTES "\" is required");
    settings_set(&settings, MINUTES, "14", false, &err);
    ck_assert_int_eq(settings_check_retention(&settings, &err), STATUS_INVALID);
    ck_assert_str_eq(err.message, "setting \"" HOURS "\" is required");
    settings_set(&settings, HOURS, "24", false, &err);
    ck_assert_int_eq(settings_check_retention(&settings, &err), STATUS_OK);
}
END_TEST

START_TEST(settings__unknown_name_gives_the_nearest)
{
    struct settings settings = settings_default();
    struct err err;
    ck_assert_int_eq(settings_set(&settings, "METRICSWRITER_MAX_ROUTE", "5", false, &err),
                     STATUS_INVALID);
    ck_assert_str_eq(err.message, "unknown setting \"METRICSWRITER_MAX_ROUTE\"");
    ck_assert_str_eq(err.hint, "did you mean \"METRICSWRITER_MAX_ROUTES\"?");
}
END_TEST

Suite *settings_suite(void);
Suite *settings_suite(void)
{
    Suite *suite = suite_create("settings");
    TCase *tcase = tcase_create("settings");
    tcase_add_test(tcase, settings__defaults);
    tcase_add_test(tcase, settings__durations);
    tcase_add_loop_test(tcase, settings__bounds, 0, BOUND_COUNT);
    tcase_add_test(tcase, settings__short_minutes_only_with_the_fix_off);
    tcase_add_test(tcase, settings__both_retention_keys_are_required);
    tcase_add_test(tcase, settings__unknown_name_gives_the_nearest);
    suite_add_tcase(suite, tcase);
    return suite;
}

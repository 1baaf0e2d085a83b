/* Integer time (R-DEC-8), the calendar (R-RET-2, case C16) and the text form. */
#include "core/base/time.h"
#include <check.h>
#include <string.h>

START_TEST(time__floor_goes_down_also_below_zero)
{
    static const struct {
        int64_t time, unit, quotient;
    } cases[] = {
        {0, 60, 0},   {59, 60, 0},   {60, 60, 1},   {61, 60, 1},
        {-1, 60, -1}, {-60, 60, -1}, {-61, 60, -2}, {INT64_MAX, 1, INT64_MAX},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ck_assert_int_eq(time_div(cases[i].time, cases[i].unit), cases[i].quotient);
        ck_assert_int_eq(time_floor(cases[i].time, cases[i].unit),
                         cases[i].quotient * cases[i].unit);
    }
    ck_assert_int_eq(time_div(INT64_MIN, NS_PER_DAY), INT64_C(-106752));
}
END_TEST

/* R-DEC-8: a point exactly on a minute belongs to the minute that starts there. A51: a time
 * 400 ns before midnight stays in 23:59 of its day; rounding to microseconds would move it. */
START_TEST(time__minute_of_a_point_is_an_integer_floor)
{
    int64_t midnight = INT64_C(1773187200) * NS_PER_S; /* 2026-03-11T00:00:00Z */
    ck_assert_int_eq(time_floor(midnight, NS_PER_MIN), midnight);
    ck_assert_int_eq(time_floor(midnight - 1, NS_PER_MIN), midnight - NS_PER_MIN);
    ck_assert_int_eq(time_floor(midnight - 400, NS_PER_MIN), midnight - NS_PER_MIN);
    ck_assert_int_eq(time_div(midnight - 400, NS_PER_DAY), time_div(midnight, NS_PER_DAY) - 1);
    ck_assert_int_eq(time_div(midnight - 400, NS_PER_US) * NS_PER_US, midnight - NS_PER_US);
}
END_TEST

/* Days counted by hand from 1970-01-01: 2000-03-01 = 30 * 365 + 7 leap days (72 .. 96) + 31 + 29.
 */
START_TEST(calendar__known_days)
{
    static const struct {
        int year, month, day_of_month;
        int64_t day;
    } cases[] = {
        {1970, 1, 1, 0},
        {1969, 12, 31, -1},
        {2000, 3, 1, 30 * 365 + 7 + 31 + 29},
        {2024, 2, 29, 54 * 365 + 13 + 31 + 28}, /* 13 leap days: 1972 .. 2020 */
        {2024, 3, 1, 54 * 365 + 13 + 31 + 29},
        {2100, 2, 28, 130 * 365 + 32 + 31 + 27}, /* 32: 1972 .. 2096 */
        {2100, 3, 1, 130 * 365 + 32 + 31 + 28},  /* 2100 is no leap year */
        {1, 1, 1, -719162},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int year, month, day_of_month;
        ck_assert_int_eq(day_of_civil(cases[i].year, cases[i].month, cases[i].day_of_month),
                         cases[i].day);
        day_to_civil(cases[i].day, &year, &month, &day_of_month);
        ck_assert_int_eq(year, cases[i].year);
        ck_assert_int_eq(month, cases[i].month);
        ck_assert_int_eq(day_of_month, cases[i].day_of_month);
    }
}
END_TEST

/* Every day of 800 years follows from the one before by the rule of the calendar. */
START_TEST(calendar__each_day_is_the_next_one)
{
    static const int lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int year = 1600, month = 1, day_of_month = 1;
    for (int64_t day = day_of_civil(1600, 1, 1); day < day_of_civil(2400, 1, 1); day++) {
        int got_year, got_month, got_day;
        day_to_civil(day, &got_year, &got_month, &got_day);
        ck_assert(got_year == year && got_month == month && got_day == day_of_month);
        ck_assert_int_eq(day_of_civil(year, month, day_of_month), day);
        bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
        int length = lengths[month - 1] + (month == 2 && leap);
        day_of_month = day_of_month == length ? 1 : day_of_month + 1;
        if (day_of_month == 1)
            month = month == 12 ? 1 : month + 1;
        year += month == 1 && day_of_month == 1;
    }
}
END_TEST

/* R-RET-2: 12 * year + month - 1, so that a month back from 31 March is February. */
START_TEST(calendar__months_by_index)
{
    int64_t december = month_index_of_day(day_of_civil(2025, 12, 31));
    ck_assert_int_eq(december, 12 * 2025 + 11);
    ck_assert_int_eq(month_first_day(december + 1), day_of_civil(2026, 1, 1));
    ck_assert_int_eq(month_first_day(month_index_of_day(day_of_civil(2026, 3, 31)) - 1),
                     day_of_civil(2026, 2, 1));
    ck_assert_int_eq(month_first_day(month_index_of_day(day_of_civil(2024, 2, 29)) - 12),
                     day_of_civil(2023, 2, 1));
    ck_assert_int_eq(month_first_day(month_index_of_day(day_of_civil(2100, 2, 28)) + 1),
                     day_of_civil(2100, 3, 1));
    ck_assert_int_eq(month_first_day(month_index_of_day(day_of_civil(0, 1, 1)) - 1),
                     day_of_civil(-1, 12, 1));
}
END_TEST

START_TEST(time__text_has_the_fraction_it_needs)
{
    static const struct {
        int64_t ns;
        const char *text;
    } cases[] = {
        {0, "1970-01-01T00:00:00Z"},
        {INT64_C(1772323200) * NS_PER_S, "2026-03-01T00:00:00Z"},
        {INT64_C(1772323200) * NS_PER_S + 5 * NS_PER_US, "2026-03-01T00:00:00.000005Z"},
        {INT64_C(1772323200) * NS_PER_S + 123456789, "2026-03-01T00:00:00.123456789Z"},
        {-1, "1969-12-31T23:59:59.999999999Z"},
        {INT64_MAX, "2262-04-11T23:47:16.854775807Z"},
        {INT64_MIN, "1677-09-21T00:12:43.145224192Z"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[TIME_TEXT_SIZE];
        time_format_ns(cases[i].ns, text);
        ck_assert_str_eq(text, cases[i].text);
        int64_t back;
        ck_assert(time_parse_ns(text, strlen(text), &back) || cases[i].ns == INT64_MIN);
        if (cases[i].ns != INT64_MIN)
            ck_assert_int_eq(back, cases[i].ns);
    }
    char day[TIME_TEXT_SIZE];
    day_format(day_of_civil(2024, 2, 29), day);
    ck_assert_str_eq(day, "2024-02-29");
}
END_TEST

START_TEST(time__parse_takes_dates_and_short_fractions)
{
    int64_t ns;
    ck_assert(time_parse_ns("2026-03-01", 10, &ns));
    ck_assert_int_eq(ns, INT64_C(1772323200) * NS_PER_S);
    ck_assert(time_parse_ns("1970-01-01T00:00:01.5Z", 22, &ns));
    ck_assert_int_eq(ns, 1500 * NS_PER_MS);
    ck_assert(time_parse_ns("1970-01-01T00:00:00.000000001Z", 30, &ns));
    ck_assert_int_eq(ns, 1);
}
END_TEST

START_TEST(time__parse_refuses_what_is_no_utc_time)
{
    static const char *const bad[] = {
        "",
        "2026-3-01",
        "2026-02-29",
        "2100-02-29",
        "2026-13-01",
        "2026-00-10",
        "2026-03-00",
        "2026-04-31",
        "2026-03-01T00:00:00",
        "2026-03-01T00:00:00+00:00",
        "2026-03-01T24:00:00Z",
        "2026-03-01T00:60:00Z",
        "2026-03-01T00:00:60Z",
        "2026-03-01T00:00:00.Z",
        "2026-03-01T00:00:00.1234567890Z",
        "2026-03-01T00:00:00Z ",
        " 2026-03-01",
        "2026-03-01 00:00:00Z",
        "9999-01-01T00:00:00Z", /* beyond int64 nanoseconds */
        "2262-04-11T23:47:16.854775808Z",
    };
    int64_t ns;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        ck_assert_msg(!time_parse_ns(bad[i], strlen(bad[i]), &ns), "accepted \"%s\"", bad[i]);
}
END_TEST

Suite *time_suite(void);
Suite *time_suite(void)
{
    Suite *suite = suite_create("time");
    TCase *tcase = tcase_create("time");
    tcase_add_test(tcase, time__floor_goes_down_also_below_zero);
    tcase_add_test(tcase, time__minute_of_a_point_is_an_integer_floor);
    tcase_add_test(tcase, calendar__known_days);
    tcase_add_test(tcase, calendar__each_day_is_the_next_one);
    tcase_add_test(tcase, calendar__months_by_index);
    tcase_add_test(tcase, time__text_has_the_fraction_it_needs);
    tcase_add_test(tcase, time__parse_takes_dates_and_short_fractions);
    tcase_add_test(tcase, time__parse_refuses_what_is_no_utc_time);
    suite_add_tcase(suite, tcase);
    return suite;
}

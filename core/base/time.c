/* Integer time: floors, the calendar, and the text form. */
#include "core/base/time.h"
#include "core/base/assert.h"
#include <stdio.h>
#include <string.h>

int64_t time_div(int64_t time, int64_t unit)
{
    ASSERT(unit > 0);
    int64_t quotient = time / unit;
    return time % unit < 0 ? quotient - 1 : quotient;
}

int64_t time_floor(int64_t time, int64_t unit)
{
    ASSERT(unit > 0);
    int64_t floored;
    /* within one unit of INT64_MIN there is no floor */
    bool overflow = __builtin_mul_overflow(time_div(time, unit), unit, &floored);
    ASSERT(!overflow);
    return floored;
}

/* The calendar counts in years that begin on 1 March, so that the leap day is the last of its year.
 * An era is 400 such years, always 146,097 days. Day 0 of era 0 is 0000-03-01, which is
 * 719,468 days before 1970-01-01. */
#define DAYS_PER_ERA   146097
#define EPOCH_FROM_ERA 719468
#define DAYS_PER_YEAR  365
/* the years that int and a day count both hold with room to spare */
#define YEAR_MAX 1000000

static int64_t days_before_year(int64_t year_of_era)
{
    return year_of_era * DAYS_PER_YEAR + year_of_era / 4 - year_of_era / 100;
}

/* Days before month n, n = 0 for March: months of 31 30 31 30 31 | 31 30 31 30 31 | 31 .. */
static int64_t days_before_month(int64_t month_from_march)
{
    return (153 * month_from_march + 2) / 5;
}

int64_t day_of_civil(int year, int month, int day_of_month)
{
    ASSERT(year >= -YEAR_MAX && year <= YEAR_MAX);
    ASSERT(month >= 1 && month <= 12);
    ASSERT(day_of_month >= 1 && day_of_month <= 31);
    int64_t march_year = month >= 3 ? year : year - 1;
    int64_t month_from_march = month >= 3 ? month - 3 : month + 9;
    int64_t era = time_div(march_year, 400);
    int64_t year_of_era = march_year - era * 400;
    return era * DAYS_PER_ERA + days_before_year(year_of_era) +
           days_before_month(month_from_march) + day_of_month - 1 - EPOCH_FROM_ERA;
}

void day_to_civil(int64_t day, int *year, int *month, int *day_of_month)
{
    ASSERT(day >= -(int64_t)DAYS_PER_YEAR * YEAR_MAX && day <= (int64_t)DAYS_PER_YEAR * YEAR_MAX);
    ASSERT(year && month && day_of_month);
    int64_t from_era_0 = day + EPOCH_FROM_ERA;
    int64_t era = time_div(from_era_0, DAYS_PER_ERA);
    int64_t day_of_era = from_era_0 - era * DAYS_PER_ERA;
    int64_t year_of_era = day_of_era / DAYS_PER_YEAR; /* at most one too many */
    if (year_of_era > 399 || days_before_year(year_of_era) > day_of_era)
        year_of_era--;
    int64_t day_of_year = day_of_era - days_before_year(year_of_era);
    int64_t month_from_march = (5 * day_of_year + 2) / 153;
    *day_of_month = (int)(day_of_year - days_before_month(month_from_march) + 1);
    *month = (int)(month_from_march < 10 ? month_from_march + 3 : month_from_march - 9);
    *year = (int)(era * 400 + year_of_era + (*month <= 2));
}

int64_t month_index_of_day(int64_t day)
{
    int year, month, day_of_month;
    day_to_civil(day, &year, &month, &day_of_month);
    return 12 * (int64_t)year + month - 1;
}

int64_t month_first_day(int64_t month_index)
{
    ASSERT(month_index >= -12 * (int64_t)YEAR_MAX && month_index < 12 * (int64_t)YEAR_MAX);
    int64_t year = time_div(month_index, 12);
    return day_of_civil((int)year, (int)(month_index - 12 * year) + 1, 1);
}

void day_format(int64_t day, char out[TIME_TEXT_SIZE])
{
    int year, month, day_of_month;
    day_to_civil(day, &year, &month, &day_of_month);
    snprintf(out, TIME_TEXT_SIZE, "%04d-%02d-%02d", year, month, day_of_month);
}

void time_format_ns(int64_t ns, char out[TIME_TEXT_SIZE])
{
    int64_t day = time_div(ns, NS_PER_DAY);
    int64_t second = time_div(ns, NS_PER_S) - day * 86400;
    int64_t fraction = ns % NS_PER_S + (ns % NS_PER_S < 0 ? NS_PER_S : 0);
    ASSERT(second >= 0 && second < 86400);
    ASSERT(fraction >= 0 && fraction < NS_PER_S);
    day_format(day, out);
    size_t at = strlen(out);
    int written = snprintf(out + at, TIME_TEXT_SIZE - at, "T%02d:%02d:%02d", (int)(second / 3600),
                           (int)(second / 60 % 60), (int)(second % 60));
    at += (size_t)written;
    if (fraction == 0)
        snprintf(out + at, TIME_TEXT_SIZE - at, "Z");
    else if (fraction % NS_PER_US == 0)
        snprintf(out + at, TIME_TEXT_SIZE - at, ".%06dZ", (int)(fraction / NS_PER_US));
    else
        snprintf(out + at, TIME_TEXT_SIZE - at, ".%09dZ", (int)fraction);
}

/* Text that is still to be read. */
struct cursor {
    const char *text;
    size_t left;
};

/* Exactly width digits; false otherwise. */
static bool read_digits(struct cursor *cursor, size_t width, int *value)
{
    if (cursor->left < width)
        return false;
    *value = 0;
    for (size_t i = 0; i < width; i++) {
        char character = cursor->text[i];
        if (character < '0' || character > '9')
            return false;
        *value = *value * 10 + (character - '0');
    }
    cursor->text += width;
    cursor->left -= width;
    return true;
}

static bool read_char(struct cursor *cursor, char wanted)
{
    if (cursor->left == 0 || *cursor->text != wanted)
        return false;
    cursor->text++;
    cursor->left--;
    return true;
}

static bool read_date(struct cursor *cursor, int64_t *day)
{
    int year, month, day_of_month;
    if (!read_digits(cursor, 4, &year) || !read_char(cursor, '-') ||
        !read_digits(cursor, 2, &month) || !read_char(cursor, '-') ||
        !read_digits(cursor, 2, &day_of_month))
        return false;
    if (month < 1 || month > 12 || day_of_month < 1 || day_of_month > 31)
        return false;
    *day = day_of_civil(year, month, day_of_month);
    int same_year, same_month, same_day;
    day_to_civil(*day, &same_year, &same_month, &same_day);
    return same_day == day_of_month; /* refuses 30 February */
}

/* ".5" to ".123456789"; absent is 0. */
static bool read_fraction(struct cursor *cursor, int64_t *ns)
{
    *ns = 0;
    if (!read_char(cursor, '.'))
        return true;
    int64_t unit = NS_PER_S;
    int digit;
    while (unit > 1 && read_digits(cursor, 1, &digit)) {
        unit /= 10;
        *ns += digit * unit;
    }
    return unit < NS_PER_S;
}

bool time_parse_ns(const char *text, size_t size, int64_t *ns)
{
    ASSERT(text || size == 0);
    ASSERT(ns);
    struct cursor cursor = {text, size};
    int64_t day;
    int64_t fraction = 0;
    int hour = 0, minute = 0, second = 0;
    if (!read_date(&cursor, &day))
        return false;
    if (cursor.left > 0) {
        if (!read_char(&cursor, 'T') || !read_digits(&cursor, 2, &hour) ||
            !read_char(&cursor, ':') || !read_digits(&cursor, 2, &minute) ||
            !read_char(&cursor, ':') || !read_digits(&cursor, 2, &second) ||
            !read_fraction(&cursor, &fraction) || !read_char(&cursor, 'Z') || cursor.left > 0)
            return false;
        if (hour > 23 || minute > 59 || second > 59)
            return false;
    }
    int64_t seconds = day * 86400 + hour * 3600 + minute * 60 + second;
    int64_t whole;
    return !__builtin_mul_overflow(seconds, NS_PER_S, &whole) &&
           !__builtin_add_overflow(whole, fraction, ns);
}

#include "sim/ref/calendar.h"

#include "core/base/assert.h"
#include <stdbool.h>

static int64_t floor_div(int64_t a, int64_t b)
{
    int64_t quotient = a / b;
    return a % b < 0 ? quotient - 1 : quotient;
}

int64_t start_of(int64_t us, int64_t unit_us)
{
    return floor_div(us, unit_us) * unit_us;
}

int64_t day_of(int64_t us)
{
    return floor_div(us, MICROS_PER_DAY);
}

int64_t micros_of(int64_t ns)
{
    return floor_div(ns, NANOS_PER_MICRO);
}

static bool is_leap(int64_t year)
{
    return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

int64_t month_of_day(int64_t day)
{
    static const int days_in[12] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    ASSERT(day >= 0);
    for (int64_t month = 0;; month++) {
        int64_t days = days_in[month % 12];
        if (month % 12 == 1 && is_leap(1970 + month / 12))
            days = 29;
        if (day < days)
            return month;
        day -= days;
    }
}

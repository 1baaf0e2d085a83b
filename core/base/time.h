/* Time as integers, in UTC, never in a session time zone.
 *
 * Names carry the unit: _ns unix nanoseconds, _us unix microseconds, _day days since 1970-01-01.
 * OTLP times stay nanoseconds to the end (R-DEC-8); stored timestamps are microseconds, floored.
 */
#ifndef CORE_BASE_TIME_H
#define CORE_BASE_TIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NS_PER_US   INT64_C(1000)
#define NS_PER_MS   INT64_C(1000000)
#define NS_PER_S    INT64_C(1000000000)
#define NS_PER_MIN  (60 * NS_PER_S)
#define NS_PER_HOUR (3600 * NS_PER_S)
#define NS_PER_DAY  (86400 * NS_PER_S)
#define US_PER_S    INT64_C(1000000)
#define US_PER_MIN  (60 * US_PER_S)
#define US_PER_HOUR (3600 * US_PER_S)
#define US_PER_DAY  (86400 * US_PER_S)

/* Floor to a multiple of unit (unit > 0), also for negative times. */
int64_t time_floor(int64_t time, int64_t unit);
/* Floor division (unit > 0). */
int64_t time_div(int64_t time, int64_t unit);

/* Proleptic Gregorian calendar. */
int64_t day_of_civil(int year, int month, int day_of_month);
void day_to_civil(int64_t day, int *year, int *month, int *day_of_month);
/* Months by calendar index, 12 * year + month - 1 (R-RET-2). */
int64_t month_index_of_day(int64_t day);
/* The first day of the month with that index. */
int64_t month_first_day(int64_t month_index);

#define TIME_TEXT_SIZE 40
/* "2026-03-01T00:00:00Z", with .ffffff or .fffffffff only when there is a fraction. */
void time_format_ns(int64_t ns, char out[TIME_TEXT_SIZE]);
/* "2026-03-01". */
void day_format(int64_t day, char out[TIME_TEXT_SIZE]);
/* The same form back (fraction of 1 to 9 digits, "Z" required, or a bare date); false otherwise. */
bool time_parse_ns(const char *text, size_t size, int64_t *ns);

#endif

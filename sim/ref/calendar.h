/* The calendar of the model: plain walks over years and months from 1970 on. Private to sim/ref. */
#ifndef SIM_REF_CALENDAR_H
#define SIM_REF_CALENDAR_H

#include <stdint.h>

#define NANOS_PER_MICRO INT64_C(1000)
#define MICROS_PER_MIN  INT64_C(60000000)
#define MICROS_PER_HOUR INT64_C(3600000000)
#define MICROS_PER_DAY  INT64_C(86400000000)

/* The start of the unit that contains a time, both in microseconds; also before 1970. */
int64_t start_of(int64_t us, int64_t unit_us);
/* Days since 1970 of a time in microseconds. */
int64_t day_of(int64_t us);
/* Microseconds of unix nanoseconds, floored. */
int64_t micros_of(int64_t ns);
/* Months since January 1970 of a day (0 or later) since 1970. */
int64_t month_of_day(int64_t day);

#endif

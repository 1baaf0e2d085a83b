/* Settings of CONTRACT section 8, with MS's refusals at start-up. Core reads no environment: the
 * caller hands in names and values. */
#ifndef CORE_BASE_SETTINGS_H
#define CORE_BASE_SETTINGS_H

#include "core/base/err.h"
#include <stdbool.h>
#include <stdint.h>

struct settings {
    int64_t first_point_threshold_ns; /* METRICSWRITER_FIRST_POINT_THRESHOLD, 120 s, > 0 */
    int64_t series_per_tenant_max;    /* METRICSWRITER_MAX_SERIES_PER_TENANT, 100,000, >= 1 */
    int64_t routes_max;               /* METRICSWRITER_MAX_ROUTES, 1,000, >= 1 */
    int64_t services_max;             /* METRICSWRITER_MAX_SERVICES, 100, >= 1 */
    int64_t future_tolerance_ns;      /* METRICSWRITER_FUTURE_TOLERANCE, 600 s, >= 0 */
    int64_t batch_max;                /* METRICSWRITER_BATCH_MAX, 10 messages, 1..1,000 */
    int64_t minute_retention_days;    /* API_MINUTE_RETENTION_DAYS, required, >= 8 */
    int64_t hourly_retention_months;  /* API_HOURLY_RETENTION_MONTHS, required, >= 24 */
    bool minute_retention_set;        /* required keys: set by settings_set */
    bool hourly_retention_set;
};

/* The defaults; the two required keys are not set. */
struct settings settings_default(void);

/* One setting by its name. Durations: an integer with ns us ms s m h d, or bare seconds.
 * STATUS_INVALID: unknown name (nearest one as the hint), not a number, out of bounds. With A-14
 * off (a rule; see rules.h) the caller passes allow_short_minutes, and 1 day is the lower bound. */
enum status settings_set(struct settings *settings, const char *name, const char *value,
                         bool allow_short_minutes, struct err *err);

/* What must hold before the retention job starts: both required keys are set (MS "Jobs tasks"). */
enum status settings_check_retention(const struct settings *settings, struct err *err);

#endif

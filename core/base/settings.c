/* One table of settings: name, field, bounds. Parsing, refusals and hints come from it. */
#include "core/base/settings.h"
#include "core/base/assert.h"
#include "core/base/limits.h"
#include "core/base/nearest.h"
#include "core/base/time.h"
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

enum setting_kind { SETTING_COUNT, SETTING_DURATION };

struct setting {
    const char *name;
    enum setting_kind kind;
    size_t field; /* offset of an int64_t in struct settings */
    int64_t least;
    int64_t most;
    const char *why; /* of the lower bound; "" when it is plain */
};

/* far beyond any use, small enough for day and month arithmetic */
#define RETENTION_MOST 1000000

#define MINUTE_RETENTION "API_MINUTE_RETENTION_DAYS"
#define HOURLY_RETENTION "API_HOURLY_RETENTION_MONTHS"

static const struct setting table[] = {
    {"METRICSWRITER_FIRST_POINT_THRESHOLD", SETTING_DURATION,
     offsetof(struct settings, first_point_threshold_ns), 1, INT64_MAX, ""},
    {"METRICSWRITER_MAX_SERIES_PER_TENANT", SETTING_COUNT,
     offsetof(struct settings, series_per_tenant_max), 1, INT64_MAX, ""},
    {"METRICSWRITER_MAX_ROUTES", SETTING_COUNT, offsetof(struct settings, routes_max), 1, INT64_MAX,
     ""},
    {"METRICSWRITER_MAX_SERVICES", SETTING_COUNT, offsetof(struct settings, services_max), 1,
     INT64_MAX, ""},
    {"METRICSWRITER_FUTURE_TOLERANCE", SETTING_DURATION,
     offsetof(struct settings, future_tolerance_ns), 0, INT64_MAX, ""},
    {"METRICSWRITER_BATCH_MAX", SETTING_COUNT, offsetof(struct settings, batch_max), 1,
     LIMIT_BATCH_MESSAGES, ""},
    {MINUTE_RETENTION, SETTING_COUNT, offsetof(struct settings, minute_retention_days),
     LIMIT_MIN_MINUTE_DAYS, RETENTION_MOST,
     "a backlog delivers points up to 7 days old, and they must find their partitions"},
    {HOURLY_RETENTION, SETTING_COUNT, offsetof(struct settings, hourly_retention_months),
     LIMIT_MIN_HOURLY_MONTHS, RETENTION_MOST, "hourly rows are kept for at least 24 months"},
};
#define TABLE_COUNT (sizeof table / sizeof table[0])

struct settings settings_default(void)
{
    return (struct settings){
        .first_point_threshold_ns = 120 * NS_PER_S,
        .series_per_tenant_max = 100000,
        .routes_max = 1000,
        .services_max = 100,
        .future_tolerance_ns = 600 * NS_PER_S,
        .batch_max = 10,
    };
}

static const struct setting *find(const char *name)
{
    for (size_t i = 0; i < TABLE_COUNT; i++)
        if (!strcmp(table[i].name, name))
            return &table[i];
    return NULL;
}

static enum status unknown_name(const char *name, struct err *err)
{
    struct nearest nearest = nearest_begin(bytes_of(name));
    for (size_t i = 0; i < TABLE_COUNT; i++)
        nearest_offer(&nearest, table[i].name);
    err_set(err, STATUS_INVALID, NULL, "unknown setting \"%s\"", name);
    if (nearest_name(&nearest))
        err_hint(err, "did you mean \"%s\"?", nearest_name(&nearest));
    return STATUS_INVALID;
}

/* Digits with an optional minus, all of them used up to *end; false without digits or on overflow.
 */
static bool read_integer(const char *text, int64_t *value, const char **end)
{
    bool negative = *text == '-';
    const char *at = negative ? text + 1 : text;
    if (*at < '0' || *at > '9')
        return false;
    int64_t sum = 0;
    for (; *at >= '0' && *at <= '9'; at++) {
        int digit = *at - '0';
        if (__builtin_mul_overflow(sum, 10, &sum) ||
            __builtin_add_overflow(sum, negative ? -digit : digit, &sum))
            return false;
    }
    *value = sum;
    *end = at;
    return true;
}

static bool unit_of(const char *text, int64_t *unit)
{
    static const struct {
        const char *name;
        int64_t ns;
    } units[] = {{"", NS_PER_S},  {"ns", 1},         {"us", NS_PER_US},  {"ms", NS_PER_MS},
                 {"s", NS_PER_S}, {"m", NS_PER_MIN}, {"h", NS_PER_HOUR}, {"d", NS_PER_DAY}};
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (!strcmp(units[i].name, text)) {
            *unit = units[i].ns;
            return true;
        }
    }
    return false;
}

static bool read_value(const struct setting *setting, const char *text, int64_t *value)
{
    const char *rest;
    if (!read_integer(text, value, &rest))
        return false;
    if (setting->kind == SETTING_COUNT)
        return *rest == '\0';
    int64_t unit;
    return unit_of(rest, &unit) && !__builtin_mul_overflow(*value, unit, value);
}

static enum status not_readable(const struct setting *setting, const char *text, struct err *err)
{
    err_set(err, STATUS_INVALID, NULL, "cannot set \"%s\" to \"%s\": not %s", setting->name, text,
            setting->kind == SETTING_COUNT ? "an integer" : "a duration");
    if (setting->kind == SETTING_DURATION)
        err_hint(err, "write an integer with ns, us, ms, s, m, h or d, for example 120s");
    return STATUS_INVALID;
}

static enum status out_of_bounds(const struct setting *setting, const char *text, int64_t least,
                                 bool below, struct err *err)
{
    const char *unit = setting->kind == SETTING_DURATION ? " ns" : "";
    err_set(err, STATUS_INVALID, NULL, "cannot set \"%s\" to \"%s\": must be at %s %" PRId64 "%s",
            setting->name, text, below ? "least" : "most", below ? least : setting->most, unit);
    if (below && setting->why[0] && least == setting->least)
        err_hint(err, "%s", setting->why);
    return STATUS_INVALID;
}

enum status settings_set(struct settings *settings, const char *name, const char *value,
                         bool allow_short_minutes, struct err *err)
{
    ASSERT(settings && err);
    ASSERT(name && value);
    const struct setting *setting = find(name);
    if (!setting)
        return unknown_name(name, err);
    int64_t number;
    if (!read_value(setting, value, &number))
        return not_readable(setting, value, err);
    bool minute = !strcmp(name, MINUTE_RETENTION);
    int64_t least = minute && allow_short_minutes ? 1 : setting->least;
    if (number < least || number > setting->most)
        return out_of_bounds(setting, value, least, number < least, err);
    memcpy((char *)settings + setting->field, &number, sizeof number);
    settings->minute_retention_set |= minute;
    settings->hourly_retention_set |= !strcmp(name, HOURLY_RETENTION);
    return STATUS_OK;
}

enum status settings_check_retention(const struct settings *settings, struct err *err)
{
    ASSERT(settings && err);
    const char *missing = !settings->minute_retention_set   ? MINUTE_RETENTION
                          : !settings->hourly_retention_set ? HOURLY_RETENTION
                                                            : NULL;
    if (!missing)
        return STATUS_OK;
    err_set(err, STATUS_INVALID, NULL, "setting \"%s\" is required", missing);
    err_hint(err, "set it to %s or more",
             !strcmp(missing, MINUTE_RETENTION) ? "8 days" : "24 months");
    return STATUS_INVALID;
}

/* The SQL functions of sql/sqlite. They are what PostgreSQL has and SQLite lacks: checked bigint
 * arithmetic, histograms, errors with a SQLSTATE.
 *
 *   in checks and queries (deterministic)
 *     octet_length(text)              bytes, as PostgreSQL's
 *     buckets_total(counts)           null for anything but 15 buckets without a negative one
 *     month_start(day)                first day of the day's month, null outside of the calendar
 *     add_bigint, add_double, add_buckets (a, b)    22003 instead of wrapping; null when one is
 *   aggregates, null over no rows
 *     sum_bigint(x)                   22003 on overflow
 *     sum_wide(counts)                15 sums of 128 bits, only to be compared; their total is
 *                                     wide_total(sums)
 *     fold_rows(...)                  and the table folded_rows: fold.c
 *   in queries only
 *     refuse(sqlstate, message)       fails the statement
 *     hour_agreed(tenant, hour)       0: nothing is remembered here; the simulator's overlay, which
 *                                     sees every change, answers for hours it compared before
 *     hour_agrees(tenant, hour, a, b) are the buckets the same?
 *     row_locked(table, key...)       0: on one connection no other transaction is open; the
 *                                     simulator registers its own
 */
#include "core/store/sqlite/functions.h"
#include "core/base/assert.h"
#include "core/base/time.h"
#include "core/store/sqlite/codec.h"
#include "core/store/sqlite/sqlite_store.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- errors and values ---- */

void function_error(sqlite3_context *context, const char *sqlstate, const char *message)
{
    ASSERT(strlen(sqlstate) == 5);
    char text[6 + sizeof((struct err){0}).message];
    sqlite3_snprintf(sizeof text, text, "%s %s", sqlstate, message);
    sqlite3_result_error(context, text, -1);
    sqlite3_result_error_code(context, SQLITE_ERROR_SQLSTATE);
}

bool function_buckets(sqlite3_context *context, sqlite3_value *value, struct histogram *out)
{
    const void *blob = sqlite3_value_blob(value);
    if (buckets_decode(blob, (size_t)sqlite3_value_bytes(value), out))
        return true;
    function_error(context, "2202E", "a histogram has 15 buckets, none of them negative");
    return false;
}

static void result_buckets(sqlite3_context *context, const struct histogram *histogram)
{
    uint8_t blob[BUCKETS_BLOB_SIZE];
    buckets_encode(histogram, blob);
    sqlite3_result_blob(context, blob, sizeof blob, SQLITE_TRANSIENT);
}

static bool is_null(sqlite3_value *value)
{
    return sqlite3_value_type(value) == SQLITE_NULL;
}

/* ---- scalar functions ---- */

static void octet_length(sqlite3_context *context, int count, sqlite3_value **values)
{
    ASSERT(count == 1);
    /* of the text, whatever the type was; not sqlite3_value_text, which copies it to end with a NUL
     */
    sqlite3_result_int(context, sqlite3_value_bytes(values[0]));
}

static void buckets_total(sqlite3_context *context, int count, sqlite3_value **values)
{
    ASSERT(count == 1);
    struct histogram histogram;
    const void *blob = sqlite3_value_blob(values[0]);
    if (!buckets_decode(blob, (size_t)sqlite3_value_bytes(values[0]), &histogram))
        return; /* null */
    int64_t total;
    struct err err;
    if (histogram_total(&histogram, &total, &err) != STATUS_OK)
        function_error(context, err.sqlstate, err.message);
    else
        sqlite3_result_int64(context, total);
}

static void month_start(sqlite3_context *context, int count, sqlite3_value **values)
{
    ASSERT(count == 1);
    const int64_t calendar_days = 3000 * INT64_C(366); /* either side of 1970 */
    int64_t day = sqlite3_value_int64(values[0]);
    if (is_null(values[0]) || day < -calendar_days || day > calendar_days)
        return;
    sqlite3_result_int64(context, month_first_day(month_index_of_day(day)));
}

static void add_bigint(sqlite3_context *context, int count, sqlite3_value **values)
{
    ASSERT(count == 2);
    if (is_null(values[0]) || is_null(values[1]))
        return;
    int64_t sum;
    if (__builtin_add_overflow((int64_t)sqlite3_value_int64(values[0]),
                               (int64_t)sqlite3_value_int64(values[1]), &sum))
        function_error(context, "22003", "bigint out of range");
    else
        sqlite3_result_int64(context, sum);
}

static void add_double(sqlite3_context *context, int count, sqlite3_value **values)
{
    ASSERT(count == 2);
    if (is_null(values[0]) || is_null(values[1]))
        return;
    double sum = sqlite3_value_double(values[0]) + sqlite3_value_double(values[1]);
    if (!isfinite(sum))
        function_error(context, "22003", "value out of range: overflow");
    else
        sqlite3_result_double(context, sum);
}

static void add_buckets(sqlite3_context *context, int count, sqlite3_value **values)
{
    ASSERT(count == 2);
    if (is_null(values[0]) || is_null(values[1]))
        return;
    struct histogram a;
    struct histogram b;
    if (!function_buckets(context, values[0], &a) || !function_buckets(context, values[1], &b))
        return;
    struct err err;
    if (histogram_add(&a, &b, &err) != STATUS_OK)
        function_error(context, err.sqlstate, err.message);
    else
        result_buckets(context, &a);
}

static void refuse(sqlite3_context *context, int count, sqlite3_value **values)
{
    ASSERT(count == 2);
    const char *sqlstate = (const char *)sqlite3_value_text(values[0]);
    const char *message = (const char *)sqlite3_value_text(values[1]);
    if (!sqlstate || !message || strlen(sqlstate) != 5)
        function_error(context, "XX000", "refuse takes a SQLSTATE and a message");
    else
        function_error(context, sqlstate, message);
}

static void row_locked(sqlite3_context *context, int count, sqlite3_value **values)
{
    ASSERT(count >= 2 && values);
    sqlite3_result_int(context, 0);
}

static void hour_agreed(sqlite3_context *context, int count, sqlite3_value **values)
{
    ASSERT(count == 2 && values);
    sqlite3_result_int(context, 0);
}

static void hour_agrees(sqlite3_context *context, int count, sqlite3_value **values)
{
    ASSERT(count == 4);
    const void *minute = sqlite3_value_blob(values[2]);
    const void *hour = sqlite3_value_blob(values[3]);
    int size = sqlite3_value_bytes(values[2]);
    sqlite3_result_int(context, minute && hour && size == sqlite3_value_bytes(values[3]) &&
                                    memcmp(minute, hour, (size_t)size) == 0);
}

/* ---- aggregates ---- */

struct bigint_sum {
    bool any;
    int64_t sum;
};

static void sum_bigint_step(sqlite3_context *context, int count, sqlite3_value **values)
{
    ASSERT(count == 1);
    struct bigint_sum *state = sqlite3_aggregate_context(context, sizeof *state);
    if (!state)
        return sqlite3_result_error_nomem(context);
    if (is_null(values[0]))
        return;
    state->any = true;
    int64_t value = sqlite3_value_int64(values[0]);
    if (__builtin_add_overflow(state->sum, value, &state->sum))
        function_error(context, "22003", "bigint out of range");
}

static void sum_bigint_final(sqlite3_context *context)
{
    const struct bigint_sum *state = sqlite3_aggregate_context(context, 0);
    if (state && state->any)
        sqlite3_result_int64(context, state->sum);
}

/* 128 bits: a sum of bigints that no number of rows takes out of range. */
struct wide {
    uint64_t low;
    uint64_t high;
};

static void wide_add(struct wide *sum, const struct wide *more)
{
    sum->low += more->low;
    sum->high += more->high + (sum->low < more->low);
}

struct wide_sums {
    struct wide buckets[HISTOGRAM_BUCKETS];
    bool any;
};

static void sum_wide_step(sqlite3_context *context, int count, sqlite3_value **values)
{
    ASSERT(count == 1);
    struct wide_sums *state = sqlite3_aggregate_context(context, sizeof *state);
    struct histogram value;
    if (!state)
        return sqlite3_result_error_nomem(context);
    if (is_null(values[0]) || !function_buckets(context, values[0], &value))
        return;
    state->any = true;
    for (int i = 0; i < HISTOGRAM_BUCKETS; i++)
        wide_add(&state->buckets[i], &(struct wide){.low = (uint64_t)value.counts[i]});
}

static void sum_wide_final(sqlite3_context *context)
{
    const struct wide_sums *state = sqlite3_aggregate_context(context, 0);
    if (state && state->any)
        sqlite3_result_blob(context, state->buckets, sizeof state->buckets, SQLITE_TRANSIENT);
}

static void wide_total(sqlite3_context *context, int count, sqlite3_value **values)
{
    ASSERT(count == 1);
    struct wide buckets[HISTOGRAM_BUCKETS];
    struct wide total = {0};
    if (sqlite3_value_bytes(values[0]) != sizeof buckets)
        return; /* null */
    memcpy(buckets, sqlite3_value_blob(values[0]), sizeof buckets);
    for (int i = 0; i < HISTOGRAM_BUCKETS; i++)
        wide_add(&total, &buckets[i]);
    sqlite3_result_blob(context, &total, sizeof total, SQLITE_TRANSIENT);
}

/* ---- registration ---- */

static const struct function {
    const char *name;
    int arguments; /* -1: any number */
    bool in_schema;
    void (*scalar)(sqlite3_context *, int, sqlite3_value **);
    void (*step)(sqlite3_context *, int, sqlite3_value **);
    void (*final)(sqlite3_context *);
} functions[] = {
    {"octet_length", 1, true, octet_length, NULL, NULL},
    {"buckets_total", 1, true, buckets_total, NULL, NULL},
    {"month_start", 1, true, month_start, NULL, NULL},
    {"add_bigint", 2, true, add_bigint, NULL, NULL},
    {"add_double", 2, true, add_double, NULL, NULL},
    {"add_buckets", 2, true, add_buckets, NULL, NULL},
    {"sum_bigint", 1, true, NULL, sum_bigint_step, sum_bigint_final},
    {"sum_wide", 1, true, NULL, sum_wide_step, sum_wide_final},
    {"wide_total", 1, true, wide_total, NULL, NULL},
    {"refuse", 2, false, refuse, NULL, NULL},
    {"row_locked", -1, false, row_locked, NULL, NULL},
    {"hour_agreed", 2, false, hour_agreed, NULL, NULL},
    {"hour_agrees", 4, false, hour_agrees, NULL, NULL},
};

enum status sqlite_functions_register(sqlite3 *db, struct err *err)
{
    ASSERT(db && err);
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        const struct function *function = &functions[i];
        /* not deterministic: SQLite must not evaluate refuse ahead of its condition */
        int flags =
            function->in_schema ? SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS : SQLITE_DIRECTONLY;
        int rc = sqlite3_create_function_v2(db, function->name, function->arguments,
                                            SQLITE_UTF8 | flags, NULL, function->scalar,
                                            function->step, function->final, NULL);
        if (rc != SQLITE_OK)
            return sqlite_error(db, "register SQL functions", err);
    }
    return fold_register(db, err);
}

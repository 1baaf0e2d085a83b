/* Reading ranges (R-READ-1): gather the rows that make the answer, then sum them.
 *
 *   minutes   the rows as they are
 *   hours     hourly rows; a pending hour from its minutes instead
 *   days      daily rows; a day with a pending hour from its hours instead, and those as above
 *
 * A pending hour without any minute row has lost its partition: the rollup will keep what is
 * there, so the answer does as well.
 */
#include "core/reader/reader.h"
#include "core/base/assert.h"
#include "core/base/time.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Matching rows, ascending by bucket_start. */
struct gathered {
    const struct minute_row **rows;
    size_t count;
    size_t capacity;
};

struct reading {
    struct store *store;
    const struct reader_query *query;
    struct arena *arena;
    struct gathered found;
    size_t offered; /* rows looked at, matching or not */
};

static bool matches(const struct reader_query *query, const struct minute_row *row)
{
    return (!query->service || bytes_equal(*query->service, row->service)) &&
           (!query->method || bytes_equal(*query->method, row->method)) &&
           (!query->route || bytes_equal(*query->route, row->route)) &&
           (!query->status_code || *query->status_code == row->status_code) &&
           (!query->source || *query->source == row->source);
}

static enum status no_memory(struct err *err)
{
    return err_set(err, STATUS_NO_MEMORY, NULL, "could not read the range: out of memory");
}

static enum status grow(struct reading *reading, struct err *err)
{
    struct gathered *found = &reading->found;
    size_t capacity = found->capacity ? 2 * found->capacity : 64;
    const struct minute_row **rows = arena_array(reading->arena, capacity, sizeof *rows);
    if (!rows)
        return no_memory(err);
    for (size_t i = 0; i < found->count; i++)
        rows[i] = found->rows[i];
    found->rows = rows;
    found->capacity = capacity;
    return STATUS_OK;
}

/* Takes what matches of rows[from] to rows[end - 1]. */
static enum status take(struct reading *reading, const struct minute_row *rows, size_t from,
                        size_t end, struct err *err)
{
    reading->offered += end - from;
    for (size_t i = from; i < end; i++) {
        if (!matches(reading->query, &rows[i]))
            continue;
        if (reading->found.count == reading->found.capacity && grow(reading, err) != STATUS_OK)
            return err->status;
        reading->found.rows[reading->found.count++] = &rows[i];
    }
    return STATUS_OK;
}

static int64_t unit_of(enum read_level level)
{
    return level == READ_HOURLY ? US_PER_HOUR : US_PER_DAY;
}

static int64_t ceiling(int64_t time_us, int64_t unit)
{
    return time_floor(time_us + unit - 1, unit);
}

static enum status gather(struct reading *reading, enum read_level level, int64_t from_us,
                          int64_t until_us, struct err *err);

/* One hour or day that is not up to date: from the level below, or, when that has nothing, its own
 * rows[from] to rows[end - 1]. */
static enum status gather_stale(struct reading *reading, enum read_level level, int64_t start_us,
                                const struct minute_row *rows, size_t from, size_t end,
                                struct err *err)
{
    enum read_level below = level == READ_DAILY ? READ_HOURLY : READ_MINUTE;
    size_t before = reading->offered;
    enum status status = gather(reading, below, start_us, start_us + unit_of(level), err);
    if (status == STATUS_OK && reading->offered == before)
        status = take(reading, rows, from, end, err);
    return status;
}

/* Walks rows and pending hours together, in time order. */
static enum status merge(struct reading *reading, enum read_level level,
                         const struct minute_row *rows, size_t count, const int64_t *pending,
                         size_t pending_count, struct err *err)
{
    int64_t unit = unit_of(level);
    enum status status = STATUS_OK;
    size_t row = 0;
    size_t hour = 0;
    while (status == STATUS_OK && (row < count || hour < pending_count)) {
        int64_t stale = hour < pending_count ? time_floor(pending[hour], unit) : INT64_MAX;
        size_t end = row;
        if (row < count && rows[row].bucket_start_us < stale) {
            while (end < count && rows[end].bucket_start_us < stale)
                end++;
            status = take(reading, rows, row, end, err);
        } else {
            while (end < count && rows[end].bucket_start_us == stale)
                end++;
            status = gather_stale(reading, level, stale, rows, row, end, err);
            while (hour < pending_count && time_floor(pending[hour], unit) == stale)
                hour++;
        }
        row = end;
    }
    return status;
}

/* Appends what the level holds of [from, until). */
static enum status gather(struct reading *reading, enum read_level level, int64_t from_us,
                          int64_t until_us, struct err *err)
{
    const struct reader_query *query = reading->query;
    struct minute_row *rows;
    size_t count;
    enum status status = store_read_rows(reading->store, level, &query->tenant, from_us, until_us,
                                         reading->arena, &rows, &count, err);
    if (status != STATUS_OK)
        return status;
    if (level == READ_MINUTE || query->stored)
        return take(reading, rows, 0, count, err);
    int64_t *pending;
    size_t pending_count;
    int64_t unit = unit_of(level);
    status =
        store_read_pending(reading->store, &query->tenant, ceiling(from_us, unit),
                           ceiling(until_us, unit), reading->arena, &pending, &pending_count, err);
    if (status != STATUS_OK)
        return status;
    return merge(reading, level, rows, count, pending, pending_count, err);
}

static enum status read_range(struct reading *reading, struct err *err)
{
    const struct reader_query *query = reading->query;
    ASSERT(query->level == READ_MINUTE || query->level == READ_HOURLY ||
           query->level == READ_DAILY);
    ASSERT(query->from_us <= query->until_us);
    ASSERT(query->from_us >= INT64_MIN / NS_PER_US && query->until_us <= INT64_MAX / NS_PER_US);
    enum status status = store_begin(reading->store, ROLE_READER, err);
    if (status != STATUS_OK)
        return status;
    status = gather(reading, query->level, query->from_us, query->until_us, err);
    if (status == STATUS_OK)
        status = store_commit(reading->store, err);
    if (status != STATUS_OK)
        store_rollback(reading->store);
    return status;
}

static enum status add_row(struct reader_answer *answer, const struct minute_row *row,
                           struct err *err)
{
    enum status status = histogram_add(&answer->counts, &row->counts, err);
    if (status != STATUS_OK)
        return status;
    if (__builtin_add_overflow(answer->count, row->count, &answer->count))
        return err_sql(err, "22003", "count of the range is above int64");
    answer->sum += row->sum;
    answer->lossy |= row->lossy;
    return STATUS_OK;
}

enum status reader_sum(struct store *store, const struct reader_query *query, struct arena *arena,
                       struct reader_answer *answer, struct err *err)
{
    ASSERT(store && query && arena);
    ASSERT(answer && err);
    struct reading reading = {.store = store, .query = query, .arena = arena};
    *answer = (struct reader_answer){0};
    enum status status = read_range(&reading, err);
    for (size_t i = 0; status == STATUS_OK && i < reading.found.count; i++)
        status = add_row(answer, reading.found.rows[i], err);
    return status;
}

static int dimension_compare(const struct minute_row *a, const struct minute_row *b)
{
    int order = bytes_compare(a->service, b->service);
    if (order == 0)
        order = bytes_compare(a->method, b->method);
    if (order == 0)
        order = bytes_compare(a->route, b->route);
    if (order == 0)
        order = (a->status_code > b->status_code) - (a->status_code < b->status_code);
    return order != 0 ? order : (a->source > b->source) - (a->source < b->source);
}

/* By dimensions, then in time order; no row occurs twice. */
static int row_compare(const void *a, const void *b)
{
    const struct minute_row *left = *(const struct minute_row *const *)a;
    const struct minute_row *right = *(const struct minute_row *const *)b;
    int order = dimension_compare(left, right);
    if (order != 0)
        return order;
    return (left->bucket_start_us > right->bucket_start_us) -
           (left->bucket_start_us < right->bucket_start_us);
}

enum status reader_groups(struct store *store, const struct reader_query *query,
                          struct arena *arena, struct reader_group **groups, size_t *count,
                          struct err *err)
{
    ASSERT(store && query && arena);
    ASSERT(groups && count && err);
    struct reading reading = {.store = store, .query = query, .arena = arena};
    *count = 0;
    enum status status = read_range(&reading, err);
    if (status != STATUS_OK)
        return status;
    struct gathered *found = &reading.found;
    *groups = arena_array(arena, found->count, sizeof **groups);
    if (!*groups)
        return no_memory(err);
    if (found->count > 1)
        qsort(found->rows, found->count, sizeof *found->rows, row_compare);
    for (size_t i = 0; status == STATUS_OK && i < found->count; i++) {
        const struct minute_row *row = found->rows[i];
        if (i == 0 || dimension_compare(found->rows[i - 1], row) != 0)
            (*groups)[(*count)++] = (struct reader_group){.service = row->service,
                                                          .method = row->method,
                                                          .route = row->route,
                                                          .status_code = row->status_code,
                                                          .source = row->source};
        status = add_row(&(*groups)[*count - 1].answer, row, err);
    }
    return status;
}

enum status reader_quantile_text(const struct reader_answer *answer, double q,
                                 char out[READER_QUANTILE_TEXT], struct err *err)
{
    ASSERT(answer && out && err);
    double value;
    bool empty;
    enum status status = histogram_quantile(q, &answer->counts, &value, &empty, err);
    if (status != STATUS_OK)
        return status;
    if (empty)
        snprintf(out, READER_QUANTILE_TEXT, "-");
    else if (isinf(value))
        snprintf(out, READER_QUANTILE_TEXT, ">10 s");
    else
        snprintf(out, READER_QUANTILE_TEXT, "%.6g", value);
    return STATUS_OK;
}

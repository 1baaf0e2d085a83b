/* The points of the new messages, and what is stored of their processes and streams.
 *
 * Every set is made the same way: sort pointers to points by the set's key, number the runs of
 * equals, and leave the number in the point. Members of a run are interchangeable here, so the sort
 * need not be stable.
 */
#include "core/base/assert.h"
#include "core/base/time.h"
#include "core/writer/work.h"
#include <stdlib.h>

static int compare_sizes(size_t a, size_t b)
{
    return (a > b) - (a < b);
}

static int compare_times(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int compare_by_process(const void *a, const void *b)
{
    const struct work_point *x = *(struct work_point *const *)a;
    const struct work_point *y = *(struct work_point *const *)b;
    int order = compare_sizes(x->tenant, y->tenant);
    if (order == 0)
        order = sha256_compare(&x->point->resource_hash, &y->point->resource_hash);
    return order ? order : compare_times(x->point->start_unix_nano, y->point->start_unix_nano);
}

static int compare_by_stream(const void *a, const void *b)
{
    const struct work_point *x = *(struct work_point *const *)a;
    const struct work_point *y = *(struct work_point *const *)b;
    int order = compare_sizes(x->tenant, y->tenant);
    if (order == 0)
        order = sha256_compare(&x->point->series_hash, &y->point->series_hash);
    return order ? order : compare_times(x->point->start_unix_nano, y->point->start_unix_nano);
}

static int64_t point_day(const struct work_point *point)
{
    return time_div(point->point->time_unix_nano, NS_PER_DAY);
}

static int compare_by_day(const void *a, const void *b)
{
    const struct work_point *x = *(struct work_point *const *)a;
    const struct work_point *y = *(struct work_point *const *)b;
    int order = compare_sizes(x->tenant, y->tenant);
    return order ? order : compare_times(point_day(x), point_day(y));
}

static size_t tenant_of(const struct work *work, const struct uuid *id)
{
    size_t low = 0;
    size_t high = work->tenant_count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (uuid_compare(&work->tenants[middle].id, id) <= 0)
            low = middle;
        else
            high = middle;
    }
    ASSERT(uuid_compare(&work->tenants[low].id, id) == 0);
    return low;
}

/* All good points of the new messages, in queue order; what was refused is only counted. */
static enum status collect_points(struct work *work, struct err *err)
{
    size_t count = 0;
    for (size_t i = 0; i < work->entry_count; i++)
        count += work->is_new[i] ? work->entries[i]->message.good_count : 0;
    enum status status = work_array(work, count, sizeof *work->points, &work->points, err);
    if (status == STATUS_OK)
        status = work_array(work, count, sizeof *work->sorted, &work->sorted, err);
    if (status != STATUS_OK)
        return status;
    for (size_t i = 0; i < work->entry_count; i++) {
        if (!work->is_new[i])
            continue;
        const struct message *message = &work->entries[i]->message;
        size_t t = tenant_of(work, &message->tenant);
        struct work_tenant *tenant = &work->tenants[t];
        tenant->skipped_metrics += message->skipped_metrics;
        for (size_t p = 0; p < message->good_count; p++) {
            ASSERT(message->points[p].refusal == POINT_OUTCOME_COUNT);
            work->points[work->point_count] = (struct work_point){.point = &message->points[p],
                                                                  .entry = work->entries[i],
                                                                  .entry_order = i,
                                                                  .order = work->point_count,
                                                                  .tenant = t};
            work->point_count++;
        }
        for (size_t p = message->good_count; p < message->point_count; p++)
            tenant->outcomes[message->points[p].refusal]++;
    }
    return STATUS_OK;
}

/* Pointers to the cumulative points, or to all, sorted. Often they already are: one process, one
 * day. */
static size_t sort_points(struct work *work, bool cumulative_only,
                          int (*compare)(const void *a, const void *b))
{
    size_t n = 0;
    bool ordered = true;
    for (size_t i = 0; i < work->point_count; i++) {
        if (cumulative_only && work->points[i].point->temporality != TEMPORALITY_CUMULATIVE)
            continue;
        work->sorted[n] = &work->points[i];
        ordered = ordered && (n == 0 || compare(&work->sorted[n - 1], &work->sorted[n]) <= 0);
        n++;
    }
    if (!ordered)
        qsort(work->sorted, n, sizeof(struct work_point *), compare);
    return n;
}

static enum status number_processes(struct work *work, struct err *err)
{
    size_t n = sort_points(work, true, compare_by_process);
    enum status status = work_array(work, n, sizeof *work->processes, &work->processes, err);
    for (size_t i = 0; i < n && status == STATUS_OK; i++) {
        struct work_point *point = work->sorted[i];
        if (i == 0 || compare_by_process(&work->sorted[i - 1], &work->sorted[i]) != 0)
            work->processes[work->process_count++] = (struct work_process){
                .tenant = point->tenant,
                .key = {point->point->resource_hash, point->point->start_unix_nano}};
        point->process = work->process_count - 1;
    }
    return status;
}

static enum status number_streams(struct work *work, struct err *err)
{
    size_t n = sort_points(work, true, compare_by_stream);
    enum status status = work_array(work, n, sizeof *work->streams, &work->streams, err);
    for (size_t i = 0; i < n && status == STATUS_OK; i++) {
        struct work_point *point = work->sorted[i];
        if (i == 0 || compare_by_stream(&work->sorted[i - 1], &work->sorted[i]) != 0)
            work->streams[work->stream_count++] = (struct work_stream){
                .tenant = point->tenant,
                .key = {point->point->series_hash, point->point->start_unix_nano}};
        point->stream = work->stream_count - 1;
    }
    return status;
}

static enum status number_days(struct work *work, struct err *err)
{
    size_t n = sort_points(work, false, compare_by_day);
    size_t distinct = 0;
    for (size_t i = 0; i < n; i++)
        distinct += i == 0 || compare_by_day(&work->sorted[i - 1], &work->sorted[i]) != 0;
    enum status status = work_array(work, distinct, sizeof *work->days, &work->days, err);
    for (size_t i = 0; i < n && status == STATUS_OK; i++) {
        struct work_point *point = work->sorted[i];
        if (i == 0 || compare_by_day(&work->sorted[i - 1], &work->sorted[i]) != 0)
            work->days[work->day_count++] =
                (struct work_day){.tenant = point->tenant, .day = point_day(point)};
        point->day = work->day_count - 1;
    }
    return status;
}

/* The tenants' ranges: processes and streams are sorted by tenant first. */
static void set_ranges(struct work *work)
{
    size_t p = 0;
    size_t s = 0;
    for (size_t t = 0; t < work->tenant_count; t++) {
        struct work_tenant *tenant = &work->tenants[t];
        tenant->process_begin = p;
        while (p < work->process_count && work->processes[p].tenant == t)
            p++;
        tenant->process_end = p;
        tenant->stream_begin = s;
        while (s < work->stream_count && work->streams[s].tenant == t)
            s++;
        tenant->stream_end = s;
    }
    ASSERT(p == work->process_count && s == work->stream_count);
}

enum status gather_points(struct work *work, struct err *err)
{
    enum status status = collect_points(work, err);
    if (status == STATUS_OK)
        status = number_processes(work, err);
    if (status == STATUS_OK)
        status = number_streams(work, err);
    if (status == STATUS_OK)
        status = number_days(work, err);
    if (status == STATUS_OK)
        set_ranges(work);
    return status;
}

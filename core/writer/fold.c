/* The batch folded to one row per key, sorted, in C (R-TX-2): minutes, and the hours they touch.
 *
 * Doubles are added in queue order, so a minute's sum has the same bits on every backend. What does
 * not fit is refused as the database would refuse it: 22003, for one message to be found alone.
 */
#include "core/base/assert.h"
#include "core/base/time.h"
#include "core/model/identity.h"
#include "core/writer/work.h"
#include <math.h>
#include <stdlib.h>

static const struct bytes other = {(const uint8_t *)"{other}", 7};

struct bytes fold_service(const struct work *work, const struct work_point *point)
{
    bool relabelled = work->labels[point->label].fate == LABEL_OTHER_SERVICE;
    return relabelled ? other : point->point->service;
}

struct bytes fold_route(const struct work *work, const struct work_point *point)
{
    return work->labels[point->label].fate == LABEL_KEPT ? point->point->route : other;
}

/* A point with its row's key, as it will be stored. */
struct contribution {
    const struct work_point *point;
    int64_t minute_us;
    struct bytes service;
    struct bytes route;
};

static int compare_keys(const struct contribution *a, const struct contribution *b)
{
    if (a->point->tenant != b->point->tenant)
        return a->point->tenant < b->point->tenant ? -1 : 1;
    if (a->minute_us != b->minute_us)
        return a->minute_us < b->minute_us ? -1 : 1;
    const struct point *x = a->point->point;
    const struct point *y = b->point->point;
    int order = bytes_compare(a->service, b->service);
    if (order == 0)
        order = bytes_compare(x->method, y->method);
    if (order == 0)
        order = bytes_compare(a->route, b->route);
    if (order == 0)
        order = (x->status_code > y->status_code) - (x->status_code < y->status_code);
    if (order == 0)
        order = (x->source > y->source) - (x->source < y->source);
    return order;
}

static int compare_contributions(const void *a, const void *b)
{
    const struct contribution *x = a;
    const struct contribution *y = b;
    int order = compare_keys(x, y);
    return order ? order
                 : (x->point->order > y->point->order) - (x->point->order < y->point->order);
}

static enum status add(struct minute_row *row, const struct work_point *point, struct err *err)
{
    enum status status = histogram_add(&row->counts, point->counts, err);
    if (status != STATUS_OK)
        return status;
    if (__builtin_add_overflow(row->count, point->count, &row->count))
        return err_sql(err, "22003", "minute count is out of range");
    row->sum += point->sum;
    if (!isfinite(row->sum))
        return err_sql(err, "22003", "minute sum is out of range");
    row->lossy = row->lossy || point->point->lossy;
    return STATUS_OK;
}

enum status fold_minutes(struct work *work, struct err *err)
{
    size_t n = 0;
    for (size_t i = 0; i < work->point_count; i++)
        n += work->points[i].count > 0;
    struct contribution *contributions;
    enum status status = work_array(work, n, sizeof *contributions, &contributions, err);
    if (status == STATUS_OK)
        status = work_array(work, n, sizeof *work->minutes, &work->minutes, err);
    if (status != STATUS_OK)
        return status;
    n = 0;
    for (size_t i = 0; i < work->point_count; i++) {
        const struct work_point *point = &work->points[i];
        if (point->count == 0)
            continue;
        int64_t minute_ns = time_floor(point->point->time_unix_nano, NS_PER_MIN);
        contributions[n++] = (struct contribution){
            point, minute_ns / NS_PER_US, fold_service(work, point), fold_route(work, point)};
    }
    qsort(contributions, n, sizeof *contributions, compare_contributions);
    for (size_t i = 0; i < n && status == STATUS_OK; i++) {
        const struct contribution *from = &contributions[i];
        if (i == 0 || compare_keys(from, &contributions[i - 1]) != 0)
            work->minutes[work->minute_count++] =
                (struct minute_row){.tenant = work->tenants[from->point->tenant].id,
                                    .bucket_start_us = from->minute_us,
                                    .service = from->service,
                                    .method = from->point->point->method,
                                    .route = from->route,
                                    .status_code = from->point->point->status_code,
                                    .source = from->point->point->source};
        status = add(&work->minutes[work->minute_count - 1], from->point, err);
    }
    return status;
}

static int compare_locks(const void *a, const void *b)
{
    const struct hour_lock *x = a;
    const struct hour_lock *y = b;
    if (x->lock != y->lock)
        return x->lock < y->lock ? -1 : 1;
    int order = uuid_compare(&x->tenant, &y->tenant);
    return order ? order : (x->hour_us > y->hour_us) - (x->hour_us < y->hour_us);
}

/* Marks by (tenant, hour), and their locks by lock id, so that no two writers wait for each other.
 * Two hours of one lock id take it once. */
enum status fold_hours(struct work *work, struct err *err)
{
    size_t n = work->minute_count;
    enum status status = work_array(work, n, sizeof *work->marks, &work->marks, err);
    if (status == STATUS_OK)
        status = work_array(work, n, sizeof *work->locks, &work->locks, err);
    if (status != STATUS_OK)
        return status;
    for (size_t i = 0; i < n; i++) {
        const struct minute_row *minute = &work->minutes[i];
        int64_t hour_us = time_floor(minute->bucket_start_us, US_PER_HOUR);
        const struct mark_row *last = i > 0 ? &work->marks[work->mark_count - 1] : NULL;
        if (last && last->hour_us == hour_us && uuid_compare(&last->tenant, &minute->tenant) == 0)
            continue;
        work->locks[work->mark_count] =
            (struct hour_lock){identity_hour_lock(work->writer->hasher, &minute->tenant, hour_us),
                               minute->tenant, hour_us};
        work->marks[work->mark_count++] = (struct mark_row){hour_us, minute->tenant, work->now_us};
    }
    qsort(work->locks, work->mark_count, sizeof *work->locks, compare_locks);
    for (size_t i = 0; i < work->mark_count; i++)
        if (i == 0 || work->locks[i].lock != work->locks[work->lock_count - 1].lock)
            work->locks[work->lock_count++] = work->locks[i];
    ASSERT(work->lock_count <= work->mark_count && work->mark_count <= n);
    return STATUS_OK;
}

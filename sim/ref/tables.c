/* The tables as the outside sees them: rows in the order of their keys. Keys are unique, so the
 * order does not depend on how qsort treats equals. */
#include "sim/ref/model.h"

#include "core/base/assert.h"
#include <stdlib.h>
#include <string.h>

static int compare_int(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int compare_metric_rows(const void *left, const void *right)
{
    const struct ref_metric_row *a = left;
    const struct ref_metric_row *b = right;
    int order = uuid_compare(&a->tenant, &b->tenant);
    if (order == 0)
        order = compare_int(a->bucket_start_us, b->bucket_start_us);
    if (order == 0)
        order = bytes_compare(a->service, b->service);
    if (order == 0)
        order = bytes_compare(a->method, b->method);
    if (order == 0)
        order = bytes_compare(a->route, b->route);
    if (order == 0)
        order = compare_int(a->status_code, b->status_code);
    if (order == 0)
        order = strcmp(a->source, b->source);
    return order;
}

static int compare_series_rows(const void *left, const void *right)
{
    const struct ref_series_row *a = left;
    const struct ref_series_row *b = right;
    int order = uuid_compare(&a->tenant, &b->tenant);
    if (order == 0)
        order = memcmp(a->series_hash, b->series_hash, sizeof a->series_hash);
    return order != 0 ? order : compare_int(a->start_unix_nano, b->start_unix_nano);
}

static int compare_resource_rows(const void *left, const void *right)
{
    const struct ref_resource_row *a = left;
    const struct ref_resource_row *b = right;
    int order = uuid_compare(&a->tenant, &b->tenant);
    if (order == 0)
        order = memcmp(a->resource_hash, b->resource_hash, sizeof a->resource_hash);
    return order != 0 ? order : compare_int(a->start_unix_nano, b->start_unix_nano);
}

static int compare_dedup_rows(const void *left, const void *right)
{
    const struct ref_dedup_row *a = left;
    const struct ref_dedup_row *b = right;
    return bytes_compare(a->msg_id, b->msg_id);
}

static int compare_route_rows(const void *left, const void *right)
{
    const struct ref_route_row *a = left;
    const struct ref_route_row *b = right;
    int order = uuid_compare(&a->tenant, &b->tenant);
    if (order == 0)
        order = compare_int(a->day, b->day);
    if (order == 0)
        order = bytes_compare(a->service, b->service);
    return order != 0 ? order : bytes_compare(a->route, b->route);
}

static int compare_warning_rows(const void *left, const void *right)
{
    const struct ref_warning_row *a = left;
    const struct ref_warning_row *b = right;
    int order = uuid_compare(&a->tenant, &b->tenant);
    if (order == 0)
        order = compare_int(a->day, b->day);
    return order != 0 ? order : strcmp(a->kind, b->kind);
}

static int compare_mark_rows(const void *left, const void *right)
{
    const struct ref_mark_row *a = left;
    const struct ref_mark_row *b = right;
    int order = uuid_compare(&a->tenant, &b->tenant);
    return order != 0 ? order : compare_int(a->hour_us, b->hour_us);
}

static int compare_outcomes(const void *left, const void *right)
{
    const struct outcome_count *a = left;
    const struct outcome_count *b = right;
    int order = uuid_compare(&a->tenant, &b->tenant);
    return order != 0 ? order : compare_int(a->outcome, b->outcome);
}

static size_t sorted(const struct ref *ref, struct list *list, size_t size,
                     int (*compare)(const void *, const void *))
{
    ASSERT(!ref->open);
    if (list->count > 0)
        qsort(list->items, list->count, size, compare);
    return list->count;
}

void sort_metric_rows(struct list *rows)
{
    if (rows->count > 0)
        qsort(rows->items, rows->count, sizeof(struct ref_metric_row), compare_metric_rows);
}

size_t ref_metrics_minute(struct ref *ref, const struct ref_metric_row **rows)
{
    size_t count = sorted(ref, &ref->minutes, sizeof **rows, compare_metric_rows);
    *rows = ref->minutes.items;
    return count;
}

size_t ref_metrics_hourly(struct ref *ref, const struct ref_metric_row **rows)
{
    size_t count = sorted(ref, &ref->hours, sizeof **rows, compare_metric_rows);
    *rows = ref->hours.items;
    return count;
}

size_t ref_metrics_daily(struct ref *ref, const struct ref_metric_row **rows)
{
    size_t count = sorted(ref, &ref->days, sizeof **rows, compare_metric_rows);
    *rows = ref->days.items;
    return count;
}

size_t ref_series_state(struct ref *ref, const struct ref_series_row **rows)
{
    size_t count = sorted(ref, &ref->states, sizeof **rows, compare_series_rows);
    *rows = ref->states.items;
    return count;
}

size_t ref_resource_seen(struct ref *ref, const struct ref_resource_row **rows)
{
    size_t count = sorted(ref, &ref->resources, sizeof **rows, compare_resource_rows);
    *rows = ref->resources.items;
    return count;
}

size_t ref_ingest_dedup(struct ref *ref, const struct ref_dedup_row **rows)
{
    size_t count = sorted(ref, &ref->dedup, sizeof **rows, compare_dedup_rows);
    *rows = ref->dedup.items;
    return count;
}

size_t ref_route_registry(struct ref *ref, const struct ref_route_row **rows)
{
    size_t count = sorted(ref, &ref->routes, sizeof **rows, compare_route_rows);
    *rows = ref->routes.items;
    return count;
}

size_t ref_ingest_warnings(struct ref *ref, const struct ref_warning_row **rows)
{
    size_t count = sorted(ref, &ref->warnings, sizeof **rows, compare_warning_rows);
    *rows = ref->warnings.items;
    return count;
}

size_t ref_rollup_pending(struct ref *ref, const struct ref_mark_row **rows)
{
    size_t count = sorted(ref, &ref->marks, sizeof **rows, compare_mark_rows);
    *rows = ref->marks.items;
    return count;
}

size_t ref_outcomes(struct ref *ref, const struct ref_outcome_row **rows)
{
    sorted(ref, &ref->outcomes, sizeof(struct outcome_count), compare_outcomes);
    ref->outcome_rows.count = 0;
    const struct outcome_count *from;
    for (LIST_EACH(from, &ref->outcomes)) {
        struct ref_outcome_row row = {from->tenant, outcome_names[from->outcome], from->count};
        list_add(&ref->outcome_rows, &row, sizeof row);
    }
    *rows = ref->outcome_rows.items;
    return ref->outcome_rows.count;
}

size_t ref_last_points(struct ref *ref, const char *const **outcomes)
{
    *outcomes = ref->last_points.items;
    return ref->last_points.count;
}

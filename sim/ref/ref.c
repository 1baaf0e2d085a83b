#include "sim/ref/model.h"

#include "core/base/assert.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const warning_names[WARNING_COUNT] = {
    [CARDINALITY_OVERFLOW] = "cardinality_overflow",
    [COARSE_BUCKETS] = "coarse_buckets",
    [LOSSY_HISTOGRAM] = "lossy_histogram",
    [SECRET_IN_PATH] = "secret_in_path",
    [SPAN_DERIVED] = "span_derived",
};

struct ref *ref_new(const struct settings *settings, struct rules rules)
{
    struct ref *ref = must_alloc(sizeof *ref);
    ref->settings = *settings;
    ref->rules = rules;
    return ref;
}

void ref_free(struct ref *ref)
{
    if (!ref)
        return;
    uint8_t **text;
    for (LIST_EACH(text, &ref->texts))
        free(*text);
    struct list *lists[] = {&ref->minutes,
                            &ref->hours,
                            &ref->days,
                            &ref->states,
                            &ref->pruned_states,
                            &ref->resources,
                            &ref->dedup,
                            &ref->routes,
                            &ref->warnings,
                            &ref->marks,
                            &ref->outcomes,
                            &ref->removed,
                            &ref->minute_partitions,
                            &ref->hourly_partitions,
                            &ref->texts,
                            &ref->outcome_rows,
                            &ref->meetings,
                            &ref->overflows,
                            &ref->batch,
                            &ref->last_points};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
        list_free(lists[i]);
    free(ref);
}

const char *ref_fate_name(enum ref_fate fate)
{
    switch (fate) {
    case REF_APPLIED:
        return "applied";
    case REF_DEAD_VALIDATION:
        return "dead_validation";
    case REF_DEAD_TENANT:
        return "dead_tenant";
    case REF_DEAD_ID_CONFLICT:
        return "dead_id_conflict";
    case REF_ALREADY_APPLIED:
        return "already_applied";
    case REF_NO_PARTITION:
        return "no_partition";
    case REF_OVERFLOW:
        return "overflow";
    }
    assert_fail("every fate has a name", __FILE__, __LINE__);
}

const char *ref_reason(const struct ref *ref)
{
    return ref->reason;
}

struct bytes keep_text(struct ref *ref, struct bytes text)
{
    struct bytes kept = must_copy(text);
    uint8_t *owned = (uint8_t *)(uintptr_t)kept.data;
    list_add(&ref->texts, &owned, sizeof owned);
    return kept;
}

bool same_tenant(const struct uuid *a, const struct uuid *b)
{
    return uuid_compare(a, b) == 0;
}

/* ---- rows of minutes, hours and days ---- */

bool same_dimensions(const struct ref_metric_row *a, const struct ref_metric_row *b)
{
    return same_tenant(&a->tenant, &b->tenant) && bytes_equal(a->service, b->service) &&
           bytes_equal(a->method, b->method) && bytes_equal(a->route, b->route) &&
           a->status_code == b->status_code && strcmp(a->source, b->source) == 0;
}

struct ref_metric_row *find_metric_row(const struct list *rows, const struct ref_metric_row *key)
{
    struct ref_metric_row *row;
    for (LIST_EACH(row, rows))
        if (row->bucket_start_us == key->bucket_start_us && same_dimensions(row, key))
            return row;
    return NULL;
}

bool add_to_metric_row(struct ref_metric_row *row, const struct ref_metric_row *more)
{
    bool overflow = __builtin_add_overflow(row->count, more->count, &row->count);
    for (int i = 0; i < REF_BUCKETS; i++)
        overflow |= __builtin_add_overflow(row->counts[i], more->counts[i], &row->counts[i]);
    row->sum += more->sum;
    row->lossy = row->lossy || more->lossy;
    return !overflow && isfinite(row->sum);
}

/* ---- marks, warnings, tenants, partitions ---- */

struct ref_mark_row *find_mark(const struct list *marks, const struct uuid *tenant, int64_t hour_us)
{
    struct ref_mark_row *mark;
    for (LIST_EACH(mark, marks))
        if (same_tenant(&mark->tenant, tenant) && mark->hour_us == hour_us)
            return mark;
    return NULL;
}

void add_mark(struct ref *ref, const struct uuid *tenant, int64_t hour_us, int64_t marked_at_us)
{
    if (find_mark(&ref->marks, tenant, hour_us))
        return;
    struct ref_mark_row mark = {*tenant, hour_us, marked_at_us};
    list_add(&ref->marks, &mark, sizeof mark);
}

bool was_seen(const struct ref *ref, uint64_t since, uint64_t seen)
{
    return since <= seen || since == ref->view.transaction;
}

static struct ref_warning_row *find_warning(const struct list *warnings, const struct uuid *tenant,
                                            int64_t day, enum warning warning)
{
    struct ref_warning_row *row;
    for (LIST_EACH(row, warnings))
        if (same_tenant(&row->tenant, tenant) && row->day == day &&
            row->kind == warning_names[warning])
            return row;
    return NULL;
}

int64_t overflow_at_begin(const struct ref *ref, const struct uuid *tenant, int64_t day)
{
    const struct overflow *overflows = ref->overflows.items;
    int64_t count = 0;
    for (size_t i = 0; i < ref->overflows_at_begin; i++)
        if (same_tenant(&overflows[i].tenant, tenant) && overflows[i].day == day &&
            was_seen(ref, overflows[i].since, ref->view.overflows))
            count += overflows[i].count;
    return count;
}

void add_warning(struct ref *ref, const struct uuid *tenant, int64_t day, enum warning warning,
                 int64_t count)
{
    if (count == 0)
        return;
    struct overflow overflow = {*tenant, day, count, ref->view.transaction};
    if (warning == CARDINALITY_OVERFLOW)
        list_add(&ref->overflows, &overflow, sizeof overflow);
    struct ref_warning_row *row = find_warning(&ref->warnings, tenant, day, warning);
    if (row) {
        row->count += count;
        return;
    }
    struct ref_warning_row new_row = {*tenant, day, warning_names[warning], count};
    list_add(&ref->warnings, &new_row, sizeof new_row);
}

bool tenant_is_removed(const struct ref *ref, const struct uuid *tenant)
{
    const struct uuid *removed;
    for (LIST_EACH(removed, &ref->removed))
        if (same_tenant(removed, tenant))
            return true;
    return false;
}

void ref_tenant(struct ref *ref, const struct uuid *tenant, bool removed)
{
    for (size_t i = ref->removed.count; i > 0; i--)
        if (same_tenant((const struct uuid *)ref->removed.items + i - 1, tenant))
            list_remove(&ref->removed, i - 1, sizeof *tenant);
    if (removed)
        list_add(&ref->removed, tenant, sizeof *tenant);
}

bool partition_exists(const struct list *partitions, int64_t first_day)
{
    const int64_t *day;
    for (LIST_EACH(day, partitions))
        if (*day == first_day)
            return true;
    return false;
}

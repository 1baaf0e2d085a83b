/* What the jobs leave behind: R-ROLL, R-RET, R-PART, MS "Tenant purge". */
#include "sim/ref/model.h"

#include <stdio.h>
#include <string.h>

#define DEDUP_DAYS  8
#define IDLE_DAYS   7
#define ROUTES_DAYS 8

/* Takes out every row for which the condition on `row` holds. */
#define REMOVE_ROWS(list, type, condition)                                                         \
    for (size_t left = (list)->count; left > 0; left--) {                                          \
        const type *row = (const type *)(list)->items + left - 1;                                  \
        if (condition)                                                                             \
            list_remove((list), left - 1, sizeof *row);                                            \
    }

/* ---- rollup ---- */

static int64_t hour_of(int64_t us)
{
    return start_of(us, MICROS_PER_HOUR);
}

/* Replaces the rows of one coarser bucket by the sums of the finer ones in it, in time order. */
static void recompute(struct list *coarse, const struct list *fine, const struct uuid *tenant,
                      int64_t start, int64_t length)
{
    REMOVE_ROWS(coarse, struct ref_metric_row,
                same_tenant(&row->tenant, tenant) && row->bucket_start_us == start);
    struct list inside = {0};
    const struct ref_metric_row *from;
    for (LIST_EACH(from, fine))
        if (same_tenant(&from->tenant, tenant) && from->bucket_start_us >= start &&
            from->bucket_start_us < start + length)
            list_add(&inside, from, sizeof *from);
    sort_metric_rows(&inside); /* of one tenant: the order of time */
    for (LIST_EACH(from, &inside)) {
        struct ref_metric_row row = *from;
        row.bucket_start_us = start;
        struct ref_metric_row *sum = find_metric_row(coarse, &row);
        if (sum)
            (void)add_to_metric_row(sum,
                                    &row); /* 22003: the transaction would not have committed */
        else
            list_add(coarse, &row, sizeof row);
    }
    list_free(&inside);
}

void ref_rollup(struct ref *ref, const struct ref_hour *claimed, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct uuid *tenant = &claimed[i].tenant;
        int64_t hour = claimed[i].hour_us;
        REMOVE_ROWS(&ref->marks, struct ref_mark_row,
                    same_tenant(&row->tenant, tenant) && row->hour_us == hour);
        if (partition_exists(&ref->minute_partitions, day_of(hour))) /* else A-9 */
            recompute(&ref->hours, &ref->minutes, tenant, hour, MICROS_PER_HOUR);
    }
    for (size_t i = 0; i < count; i++) {
        int64_t day = day_of(claimed[i].hour_us);
        if (partition_exists(&ref->minute_partitions, day))
            recompute(&ref->days, &ref->hours, &claimed[i].tenant, day * MICROS_PER_DAY,
                      MICROS_PER_DAY);
    }
}

/* Totals over one tenant's hour: of its minutes or of its hourly rows. */
static struct ref_metric_row total_of_hour(const struct list *rows, const struct uuid *tenant,
                                           int64_t hour)
{
    struct ref_metric_row total = {0};
    const struct ref_metric_row *row;
    for (LIST_EACH(row, rows))
        if (same_tenant(&row->tenant, tenant) && hour_of(row->bucket_start_us) == hour)
            (void)add_to_metric_row(&total, row);
    return total;
}

static bool hour_has_drifted(const struct ref *ref, const struct uuid *tenant, int64_t hour)
{
    struct ref_metric_row minutes = total_of_hour(&ref->minutes, tenant, hour);
    struct ref_metric_row hours = total_of_hour(&ref->hours, tenant, hour);
    bool differs = minutes.count != hours.count;
    if (rules_on(ref->rules, RULE_S14))
        for (int i = 0; i < REF_BUCKETS; i++)
            differs = differs || minutes.counts[i] != hours.counts[i];
    return differs;
}

size_t ref_drift(struct ref *ref, int64_t from_us, int64_t until_us, int64_t now_ns)
{
    size_t marked = 0;
    const struct ref_metric_row *row;
    for (LIST_EACH(row, &ref->minutes)) {
        int64_t hour = hour_of(row->bucket_start_us);
        if (hour < from_us || hour >= until_us || find_mark(&ref->marks, &row->tenant, hour) ||
            !hour_has_drifted(ref, &row->tenant, hour))
            continue;
        add_mark(ref, &row->tenant, hour, micros_of(now_ns));
        marked++;
    }
    return marked;
}

/* ---- partitions and retention ---- */

void ref_partition_created(struct ref *ref, enum ref_partition_table table, int64_t first_day)
{
    struct list *partitions =
        table == REF_MINUTE ? &ref->minute_partitions : &ref->hourly_partitions;
    if (!partition_exists(partitions, first_day))
        list_add(partitions, &first_day, sizeof first_day);
}

void ref_partition_removed(struct ref *ref, enum ref_partition_table table, int64_t first_day)
{
    struct list *partitions =
        table == REF_MINUTE ? &ref->minute_partitions : &ref->hourly_partitions;
    REMOVE_ROWS(partitions, int64_t, *row == first_day);
    if (table == REF_MINUTE) {
        REMOVE_ROWS(&ref->minutes, struct ref_metric_row,
                    day_of(row->bucket_start_us) == first_day);
    } else {
        int64_t month = month_of_day(first_day);
        REMOVE_ROWS(&ref->hours, struct ref_metric_row,
                    month_of_day(day_of(row->bucket_start_us)) == month);
    }
}

static bool is_expired(const struct ref *ref, enum ref_partition_table table, int64_t first_day,
                       int64_t now_ns)
{
    int64_t today = day_of(micros_of(now_ns));
    if (table == REF_MINUTE)
        return first_day < today - ref->settings.minute_retention_days;
    return month_of_day(first_day) < month_of_day(today) - ref->settings.hourly_retention_months;
}

static bool day_has_marks(const struct ref *ref, int64_t day)
{
    const struct ref_mark_row *mark;
    for (LIST_EACH(mark, &ref->marks))
        if (day_of(mark->hour_us) == day)
            return true;
    return false;
}

bool ref_partition_dropped(struct ref *ref, enum ref_partition_table table, int64_t first_day,
                           int64_t now_ns)
{
    const char *wrong = NULL;
    if (!partition_exists(table == REF_MINUTE ? &ref->minute_partitions : &ref->hourly_partitions,
                          first_day))
        wrong = "does not exist";
    else if (!is_expired(ref, table, first_day, now_ns))
        wrong = "is not expired";
    else if (table == REF_MINUTE && day_has_marks(ref, first_day))
        wrong = "has pending hours";
    if (wrong)
        snprintf(ref->reason, sizeof ref->reason, "the dropped partition %s", wrong);
    ref_partition_removed(ref, table, first_day);
    return !wrong;
}

static bool process_is_stored(const struct ref *ref, const struct meeting *meeting)
{
    const struct ref_resource_row *row;
    for (LIST_EACH(row, &ref->resources))
        if (same_tenant(&row->tenant, &meeting->tenant) &&
            row->start_unix_nano == meeting->start_unix_nano &&
            memcmp(row->resource_hash, meeting->resource_hash, sizeof row->resource_hash) == 0)
            return true;
    return false;
}

static void prune_states(struct ref *ref, int64_t before_us, uint64_t transaction)
{
    const struct ref_series_row *state;
    for (LIST_EACH(state, &ref->states)) {
        struct pruned_state pruned = {*state, transaction};
        if (state->last_seen_at_us < before_us)
            list_add(&ref->pruned_states, &pruned, sizeof pruned);
    }
    REMOVE_ROWS(&ref->states, struct ref_series_row, row->last_seen_at_us < before_us);
}

void ref_prune(struct ref *ref, enum ref_prune_table table, int64_t now_ns, uint64_t transaction)
{
    int64_t now = micros_of(now_ns);
    switch (table) {
    case REF_INGEST_DEDUP:
        REMOVE_ROWS(&ref->dedup, struct ref_dedup_row,
                    row->applied_at_us < now - DEDUP_DAYS * MICROS_PER_DAY);
        return;
    case REF_SERIES_STATE:
        prune_states(ref, now - IDLE_DAYS * MICROS_PER_DAY, transaction);
        return;
    case REF_RESOURCE_SEEN:
        REMOVE_ROWS(&ref->resources, struct ref_resource_row,
                    row->last_seen_at_us < now - IDLE_DAYS * MICROS_PER_DAY);
        REMOVE_ROWS(&ref->meetings, struct meeting, !process_is_stored(ref, row));
        return;
    case REF_ROUTE_REGISTRY:
        REMOVE_ROWS(&ref->routes, struct ref_route_row, row->day < day_of(now) - ROUTES_DAYS);
        return;
    }
}

/* ---- purge ---- */

bool ref_purge(struct ref *ref, const struct uuid *tenant, bool keep_aggregates)
{
    if (!tenant_is_removed(ref, tenant)) {
        snprintf(ref->reason, sizeof ref->reason, "the tenant is not removed");
        return false;
    }
    REMOVE_ROWS(&ref->minutes, struct ref_metric_row, same_tenant(&row->tenant, tenant));
    REMOVE_ROWS(&ref->states, struct ref_series_row, same_tenant(&row->tenant, tenant));
    REMOVE_ROWS(&ref->pruned_states, struct pruned_state, same_tenant(&row->row.tenant, tenant));
    REMOVE_ROWS(&ref->resources, struct ref_resource_row, same_tenant(&row->tenant, tenant));
    REMOVE_ROWS(&ref->meetings, struct meeting, same_tenant(&row->tenant, tenant));
    REMOVE_ROWS(&ref->routes, struct ref_route_row, same_tenant(&row->tenant, tenant));
    REMOVE_ROWS(&ref->marks, struct ref_mark_row, same_tenant(&row->tenant, tenant));
    if (keep_aggregates)
        return true;
    REMOVE_ROWS(&ref->hours, struct ref_metric_row, same_tenant(&row->tenant, tenant));
    REMOVE_ROWS(&ref->days, struct ref_metric_row, same_tenant(&row->tenant, tenant));
    REMOVE_ROWS(&ref->warnings, struct ref_warning_row, same_tenant(&row->tenant, tenant));
    REMOVE_ROWS(&ref->overflows, struct overflow, same_tenant(&row->tenant, tenant));
    return true;
}

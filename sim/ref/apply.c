/* One message into the tables: R-PT, R-CAP-1, R-WARN-1, R-TX-2. */
#include "sim/ref/model.h"

#include "core/base/assert.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A judged point and where its requests go. */
struct placed {
    const struct point *point;
    struct contribution adds;
    int64_t day;
    struct bytes service; /* after the caps */
    struct bytes route;
    bool relabelled;
};

/* ---- order ---- */

/* By (series, start, time); the list's order among equals, so by address last. */
static int compare_points(const void *left, const void *right)
{
    const struct point *const *a = left;
    const struct point *const *b = right;
    int order = memcmp((*a)->series_hash, (*b)->series_hash, 32);
    if (order == 0 && (*a)->start != (*b)->start)
        order = (*a)->start < (*b)->start ? -1 : 1;
    if (order == 0 && (*a)->time != (*b)->time)
        order = (*a)->time < (*b)->time ? -1 : 1;
    if (order == 0)
        order = *a < *b ? -1 : *a > *b;
    return order;
}

/* Good points in the order of R "Points to deltas": a list of struct point *. */
static struct list order_points(const struct list *points)
{
    struct list sorted = {0};
    struct point *point;
    for (LIST_EACH(point, points))
        if (point->outcome == GOOD)
            list_add(&sorted, &point, sizeof point);
    if (sorted.count > 0)
        qsort(sorted.items, sorted.count, sizeof(struct point *), compare_points);
    return sorted;
}

/* ---- R-CAP-1: routes and services ---- */

static bool is_other(struct bytes text)
{
    return bytes_equal(text, bytes_of("{other}"));
}

/* Whether the open transaction saw it in the registry. */
static bool is_listed(const struct ref *ref, const struct ref_route_row *row,
                      const struct uuid *tenant, int64_t day)
{
    return same_tenant(&row->tenant, tenant) && row->day == day &&
           was_seen(ref, row->since, ref->view.routes);
}

static bool route_is_admitted(const struct ref *ref, const struct uuid *tenant, int64_t day,
                              struct bytes service, struct bytes route)
{
    const struct ref_route_row *row;
    for (LIST_EACH(row, &ref->routes))
        if (is_listed(ref, row, tenant, day) && bytes_equal(row->service, service) &&
            bytes_equal(row->route, route))
            return true;
    return false;
}

/* Rows of one service, without {other}, which takes no slot. */
static int64_t routes_of_service(const struct ref *ref, const struct uuid *tenant, int64_t day,
                                 struct bytes service)
{
    int64_t count = 0;
    const struct ref_route_row *row;
    for (LIST_EACH(row, &ref->routes))
        count += is_listed(ref, row, tenant, day) && bytes_equal(row->service, service) &&
                 !is_other(row->route);
    return count;
}

static bool service_is_admitted(const struct ref *ref, const struct uuid *tenant, int64_t day,
                                struct bytes service)
{
    const struct ref_route_row *row;
    for (LIST_EACH(row, &ref->routes))
        if (is_listed(ref, row, tenant, day) && bytes_equal(row->service, service))
            return true;
    return false;
}

static int64_t services_of_day(const struct ref *ref, const struct uuid *tenant, int64_t day)
{
    int64_t count = 0;
    const struct ref_route_row *row, *earlier;
    for (LIST_EACH(row, &ref->routes)) {
        if (!is_listed(ref, row, tenant, day) || is_other(row->service))
            continue;
        bool met = false;
        for (earlier = ref->routes.items; earlier < row; earlier++)
            met = met || (is_listed(ref, earlier, tenant, day) &&
                          bytes_equal(earlier->service, row->service));
        count += !met;
    }
    return count;
}

/* Unless a writer that this one did not see has (do nothing on conflict). */
static void register_route(struct ref *ref, const struct uuid *tenant, const struct placed *placed)
{
    const struct ref_route_row *other;
    for (LIST_EACH(other, &ref->routes))
        if (same_tenant(&other->tenant, tenant) && other->day == placed->day &&
            bytes_equal(other->service, placed->service) &&
            bytes_equal(other->route, placed->route))
            return;
    struct ref_route_row row = {.tenant = *tenant,
                                .day = placed->day,
                                .service = keep_text(ref, placed->service),
                                .route = keep_text(ref, placed->route),
                                .created_at_us = ref->now_us,
                                .since = ref->view.transaction};
    list_add(&ref->routes, &row, sizeof row);
}

static void admit(struct ref *ref, const struct uuid *tenant, struct placed *placed)
{
    placed->service = placed->point->service;
    placed->route = placed->point->route;
    bool service_needs_slot = !is_other(placed->service) &&
                              !service_is_admitted(ref, tenant, placed->day, placed->service);
    if (service_needs_slot &&
        services_of_day(ref, tenant, placed->day) >= ref->settings.services_max) {
        placed->service = placed->route = bytes_of("{other}");
        placed->relabelled = true;
    } else if (is_other(placed->route)) {
        if (service_needs_slot) /* no slot of a route, but that of the service must last */
            register_route(ref, tenant, placed);
    } else if (route_is_admitted(ref, tenant, placed->day, placed->service, placed->route)) {
        return;
    } else if (routes_of_service(ref, tenant, placed->day, placed->service) >=
               ref->settings.routes_max) {
        placed->route = bytes_of("{other}");
        placed->relabelled = true;
    } else {
        register_route(ref, tenant, placed);
    }
}

static int compare_admission(const void *left, const void *right)
{
    const struct placed *const *a = left;
    const struct placed *const *b = right;
    int order = ((*a)->day > (*b)->day) - ((*a)->day < (*b)->day);
    if (order == 0)
        order = bytes_compare((*a)->point->service, (*b)->point->service);
    if (order == 0)
        order = bytes_compare((*a)->point->route, (*b)->point->route);
    return order;
}

/* In the order of (day, service, route); equal ones are answered alike. */
static void admit_all(struct ref *ref, const struct uuid *tenant, struct list *placed)
{
    struct list sorted = {0};
    struct placed *item;
    for (LIST_EACH(item, placed))
        list_add(&sorted, &item, sizeof item);
    if (sorted.count > 0)
        qsort(sorted.items, sorted.count, sizeof(struct placed *), compare_admission);
    struct placed **in_order;
    for (LIST_EACH(in_order, &sorted))
        admit(ref, tenant, *in_order);
    list_free(&sorted);
}

/* ---- writing ---- */

static struct ref_metric_row minute_row(const struct uuid *tenant, const struct placed *placed)
{
    const struct point *point = placed->point;
    struct ref_metric_row row = {.tenant = *tenant,
                                 .bucket_start_us =
                                     start_of(micros_of(point->time), MICROS_PER_MIN),
                                 .service = placed->service,
                                 .method = point->method,
                                 .route = placed->route,
                                 .status_code = point->status,
                                 .source = point->from_span ? "span" : "metric",
                                 .sum = placed->adds.sum,
                                 .count = placed->adds.count,
                                 .lossy = point->lossy};
    memcpy(row.counts, placed->adds.counts, sizeof row.counts);
    return row;
}

static enum ref_fate write_minute(struct ref *ref, const struct uuid *tenant,
                                  const struct placed *placed)
{
    struct ref_metric_row row = minute_row(tenant, placed);
    if (!partition_exists(&ref->minute_partitions, day_of(row.bucket_start_us))) {
        snprintf(ref->reason, sizeof ref->reason, "a minute row lies outside every partition");
        return REF_NO_PARTITION;
    }
    struct ref_metric_row *in_batch = find_metric_row(&ref->batch, &row);
    if (!in_batch) {
        row.service = keep_text(ref, row.service);
        row.method = keep_text(ref, row.method);
        row.route = keep_text(ref, row.route);
        in_batch = list_add(&ref->batch, &row, sizeof row);
    } else if (!add_to_metric_row(in_batch, &row)) {
        snprintf(ref->reason, sizeof ref->reason, "what a batch adds to a minute row overflows");
        return REF_OVERFLOW;
    }
    const struct ref_metric_row *stored = find_metric_row(&ref->minutes, &row);
    struct ref_metric_row total = *in_batch;
    if (stored && !add_to_metric_row(&total, stored)) {
        snprintf(ref->reason, sizeof ref->reason, "a minute row overflows");
        return REF_OVERFLOW;
    }
    add_mark(ref, tenant, start_of(row.bucket_start_us, MICROS_PER_HOUR), ref->now_us);
    return REF_APPLIED;
}

/* R-WARN-1, R-PT-7. With A-8 off a warning counts points, whatever they add. */
static void warn(struct ref *ref, const struct uuid *tenant, const struct point *point,
                 const struct placed *placed)
{
    int64_t day = day_of(micros_of(point->time));
    if (point->outcome == REFUSED_CAP) {
        add_warning(ref, tenant, day, CARDINALITY_OVERFLOW, 1);
        return;
    }
    int64_t requests = placed ? placed->adds.count : 0;
    if (!rules_on(ref->rules, RULE_A8))
        requests = 1;
    if (point->lossy)
        add_warning(ref, tenant, day, LOSSY_HISTOGRAM, requests);
    if (point->coarse && rules_on(ref->rules, RULE_A12))
        add_warning(ref, tenant, day, COARSE_BUCKETS, requests);
    if (point->from_span)
        add_warning(ref, tenant, day, SPAN_DERIVED, requests);
    if (point->redacted)
        add_warning(ref, tenant, day, SECRET_IN_PATH, requests);
    if (placed && placed->relabelled)
        add_warning(ref, tenant, day, CARDINALITY_OVERFLOW, requests);
}

static void count_outcome(struct ref *ref, const struct uuid *tenant, enum outcome outcome)
{
    list_add(&ref->last_points, &outcome_names[outcome], sizeof outcome_names[outcome]);
    struct outcome_count *row;
    for (LIST_EACH(row, &ref->outcomes)) {
        if (same_tenant(&row->tenant, tenant) && row->outcome == outcome) {
            row->count++;
            return;
        }
    }
    struct outcome_count new_row = {*tenant, outcome, 1};
    list_add(&ref->outcomes, &new_row, sizeof new_row);
}

/* ---- a message ---- */

static enum ref_fate apply_points(struct ref *ref, const struct uuid *tenant, struct list *points)
{
    struct list order = order_points(points);
    struct list placed = {0}; /* those that add requests */
    struct point **good;
    for (LIST_EACH(good, &order)) {
        struct placed item = {.point = *good, .adds = judge(ref, tenant, *good, points)};
        item.day = day_of(micros_of((*good)->time));
        count_outcome(ref, tenant, (*good)->outcome);
        if (item.adds.count > 0)
            list_add(&placed, &item, sizeof item);
        else
            warn(ref, tenant, *good, NULL);
    }
    const struct point *point;
    for (LIST_EACH(point, points))
        if (point->outcome >= NO_VALUE)
            count_outcome(ref, tenant, point->outcome);

    admit_all(ref, tenant, &placed);
    enum ref_fate fate = REF_APPLIED;
    const struct placed *item;
    for (LIST_EACH(item, &placed)) {
        if (fate == REF_APPLIED)
            fate = write_minute(ref, tenant, item);
        warn(ref, tenant, item->point, item);
    }
    list_free(&placed);
    list_free(&order);
    return fate;
}

static enum ref_fate check_dedup(struct ref *ref, const struct ref_message *message)
{
    const struct ref_dedup_row *row;
    for (LIST_EACH(row, &ref->dedup)) {
        if (!bytes_equal(row->msg_id, message->msg_id))
            continue;
        snprintf(ref->reason, sizeof ref->reason, "the message id was applied before");
        bool conflict =
            rules_on(ref->rules, RULE_S7) && !same_tenant(&row->tenant, &message->tenant);
        return conflict ? REF_DEAD_ID_CONFLICT : REF_ALREADY_APPLIED;
    }
    if (rules_on(ref->rules, RULE_S11) && tenant_is_removed(ref, &message->tenant)) {
        snprintf(ref->reason, sizeof ref->reason, "the tenant is removed");
        return REF_DEAD_TENANT;
    }
    return REF_APPLIED;
}

enum ref_fate ref_validate(struct ref *ref, const struct ref_message *message)
{
    struct tree tree = {0};
    bool good = message_check(message, &tree, ref->reason, sizeof ref->reason);
    tree_free(&tree);
    return good ? REF_APPLIED : REF_DEAD_VALIDATION;
}

enum ref_fate ref_apply(struct ref *ref, const struct ref_message *message)
{
    ASSERT(ref->open);
    struct tree tree = {0};
    struct list points = {0};
    ref->last_points.count = 0;
    enum ref_fate fate = REF_DEAD_VALIDATION;
    if (message_check(message, &tree, ref->reason, sizeof ref->reason))
        fate = check_dedup(ref, message);
    if (fate == REF_APPLIED) {
        struct ref_dedup_row row = {keep_text(ref, message->msg_id), message->tenant, ref->now_us};
        list_add(&ref->dedup, &row, sizeof row);
        struct message_rules rules = {ref->rules, ref->settings.future_tolerance_ns, ref->now_ns};
        message_points(&tree, &message->tenant, &rules, &points);
        fate = apply_points(ref, &message->tenant, &points);
    }
    list_free(&points);
    tree_free(&tree);
    return fate;
}

void ref_begin(struct ref *ref, int64_t now_ns, const struct ref_view *view)
{
    ASSERT(!ref->open);
    ref->open = true;
    ref->now_ns = now_ns;
    ref->now_us = micros_of(now_ns);
    ref->view = view ? *view : (struct ref_view){0};
    ref->overflows_at_begin = ref->overflows.count;
}

/* R-TX-2: the batch is folded first and then added to the table; it matters to sums of doubles. */
void ref_commit(struct ref *ref)
{
    ASSERT(ref->open);
    const struct ref_metric_row *row;
    for (LIST_EACH(row, &ref->batch)) {
        struct ref_metric_row *stored = find_metric_row(&ref->minutes, row);
        if (stored)
            (void)add_to_metric_row(stored, row); /* ref_apply has told of an overflow */
        else
            list_add(&ref->minutes, row, sizeof *row);
    }
    ref->batch.count = 0;
    ref->open = false;
}

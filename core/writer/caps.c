/* Routes and services per tenant and day (R-CAP-1): over the cap, the route or the service becomes
 * {other}.
 *
 * A label is a (day, service, route) among the points that add counts. Labels are admitted in the
 * order in which messages bring them, within a message by (day, service, route); once refused, a
 * label stays refused in this transaction, because counts only grow.
 *
 *   service      slot               route        slot
 *   any, also '' one a day          any, also '' one a service
 *   {other}      none               {other}      none; registered when nothing else makes the
 *                                                service's slot last
 */
#include "core/base/assert.h"
#include "core/writer/work.h"
#include <stdlib.h>
#include <string.h>

static const struct bytes other = {(const uint8_t *)"{other}", 7};

static int compare_sizes(size_t a, size_t b)
{
    return (a > b) - (a < b);
}

static int compare_by_service(const struct work_point *a, const struct work_point *b)
{
    int order = compare_sizes(a->day, b->day);
    return order ? order : bytes_compare(a->point->service, b->point->service);
}

static int compare_by_label(const void *a, const void *b)
{
    const struct work_point *x = *(struct work_point *const *)a;
    const struct work_point *y = *(struct work_point *const *)b;
    int order = compare_by_service(x, y);
    return order ? order : bytes_compare(x->point->route, y->point->route);
}

enum status caps_label(struct work *work, struct err *err)
{
    size_t n = 0;
    for (size_t i = 0; i < work->point_count; i++)
        if (work->points[i].count > 0)
            work->sorted[n++] = &work->points[i];
    qsort(work->sorted, n, sizeof(struct work_point *), compare_by_label);
    enum status status = work_array(work, n, sizeof *work->labels, &work->labels, err);
    if (status == STATUS_OK)
        status = work_array(work, n, sizeof *work->services, &work->services, err);
    for (size_t i = 0; i < n && status == STATUS_OK; i++) {
        struct work_point *point = work->sorted[i];
        work->days[point->day].adds = true;
        if (i == 0 || compare_by_service(work->sorted[i - 1], point) != 0)
            work->services[work->service_count++] =
                (struct work_service){.day = point->day, .name = point->point->service};
        if (i == 0 || compare_by_label(&work->sorted[i - 1], &work->sorted[i]) != 0) {
            work->labels[work->label_count] =
                (struct work_label){.service = work->service_count - 1,
                                    .route = point->point->route,
                                    .order = work->label_count,
                                    .first_entry = point->entry_order};
            work->label_count++;
        }
        struct work_label *label = &work->labels[work->label_count - 1];
        if (point->entry_order < label->first_entry)
            label->first_entry = point->entry_order;
        point->label = label->order;
    }
    return status;
}

enum status caps_list_routes(struct work *work, struct err *err)
{
    enum status status = STATUS_OK;
    for (size_t d = 0; d < work->day_count && status == STATUS_OK; d++) {
        struct work_day *day = &work->days[d];
        if (day->adds)
            status = store_list_routes(work->writer->ports.store, &work->tenants[day->tenant].id,
                                       day->day, work->arena, &day->routes, &day->route_count, err);
    }
    return status;
}

static int compare_routes(const void *a, const void *b)
{
    const struct route_row *x = a;
    const struct route_row *y = b;
    int order = bytes_compare(x->service, y->service);
    return order ? order : bytes_compare(x->route, y->route);
}

/* The services of the registry, as the day's count and as what is known of the batch's own. */
static void count_registered(struct work *work)
{
    size_t s = 0;
    for (size_t d = 0; d < work->day_count; d++) {
        struct work_day *day = &work->days[d];
        for (size_t r = 0; r < day->route_count; r++) {
            const struct route_row *row = &day->routes[r];
            bool first = r == 0 || !bytes_equal(row->service, day->routes[r - 1].service);
            day->service_count += first && !bytes_equal(row->service, other);
            while (s < work->service_count &&
                   (work->services[s].day < d ||
                    (work->services[s].day == d &&
                     bytes_compare(work->services[s].name, row->service) < 0)))
                s++;
            if (s == work->service_count || work->services[s].day != d ||
                !bytes_equal(work->services[s].name, row->service))
                continue;
            work->services[s].admitted = true;
            work->services[s].registered = true;
            work->services[s].route_count += !bytes_equal(row->route, other);
        }
    }
    for (size_t i = 0; i < work->label_count; i++) {
        const struct work_service *service = &work->services[work->labels[i].service];
        const struct work_day *day = &work->days[service->day];
        struct route_row key = {service->name, work->labels[i].route};
        work->labels[i].known = day->route_count > 0 && bsearch(&key, day->routes, day->route_count,
                                                                sizeof key, compare_routes);
    }
}

/* False when the service is over the cap. */
static bool admit_service(struct work *work, struct work_service *service)
{
    struct work_day *day = &work->days[service->day];
    if (service->admitted)
        return true;
    if (!bytes_equal(service->name, other)) {
        if (day->service_count >= work->writer->settings.services_max)
            return false;
        day->service_count++;
    }
    service->admitted = true;
    return true;
}

static void admit(struct work *work, struct work_label *label)
{
    struct work_service *service = &work->services[label->service];
    if (!admit_service(work, service)) {
        label->fate = LABEL_OTHER_SERVICE;
        return;
    }
    if (label->known)
        return;
    if (bytes_equal(label->route, other)) {
        label->admit = !service->registered && !bytes_equal(service->name, other);
    } else if (service->route_count < work->writer->settings.routes_max) {
        service->route_count++;
        label->admit = true;
    } else {
        label->fate = LABEL_OTHER_ROUTE;
    }
    service->registered = service->registered || label->admit;
}

static int compare_admissions(const void *a, const void *b)
{
    const struct work_label *x = *(struct work_label *const *)a;
    const struct work_label *y = *(struct work_label *const *)b;
    int order = compare_sizes(x->first_entry, y->first_entry);
    return order ? order : compare_sizes(x->order, y->order);
}

enum status caps_admit(struct work *work, struct err *err)
{
    count_registered(work);
    struct work_label **sorted;
    enum status status = work_array(work, work->label_count, sizeof *sorted, &sorted, err);
    if (status != STATUS_OK)
        return status;
    for (size_t i = 0; i < work->label_count; i++)
        sorted[i] = &work->labels[i];
    qsort(sorted, work->label_count, sizeof(struct work_label *), compare_admissions);
    for (size_t i = 0; i < work->label_count; i++)
        admit(work, sorted[i]);
    bool requests = rules_on(work->writer->rules, RULE_A8);
    for (size_t i = 0; i < work->point_count && status == STATUS_OK; i++) {
        const struct work_point *point = &work->points[i];
        if (point->count > 0 && work->labels[point->label].fate != LABEL_KEPT)
            status = work_warn(&work->days[point->day], WARNING_CARDINALITY_OVERFLOW,
                               requests ? point->count : 1, err);
    }
    return status;
}

enum status caps_register_routes(struct work *work, struct err *err)
{
    struct route_registry_row *rows;
    size_t n = 0;
    enum status status = work_array(work, work->label_count, sizeof *rows, &rows, err);
    if (status != STATUS_OK)
        return status;
    for (size_t i = 0; i < work->label_count; i++) {
        const struct work_label *label = &work->labels[i];
        if (!label->admit)
            continue;
        const struct work_service *service = &work->services[label->service];
        const struct work_day *day = &work->days[service->day];
        rows[n++] = (struct route_registry_row){work->tenants[day->tenant].id, day->day,
                                                service->name, label->route, work->now_us};
    }
    return n > 0 ? store_register_routes(work->writer->ports.store, rows, n, err) : STATUS_OK;
}

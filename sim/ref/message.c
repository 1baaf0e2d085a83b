/* R-DEC-1 to R-DEC-8. */
#include "sim/ref/message.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define PAYLOAD_BYTES_MAX (1024 * 1024)
#define MSG_ID_BYTES_MAX  256
#define BOUNDS_MAX        4096
#define DAY_NS            (INT64_C(86400) * 1000000000)

const char *const outcome_names[OUTCOME_COUNT] = {
    [FIRST_FULL] = "first_full",
    [BASELINE] = "baseline",
    [CATCH_UP] = "catch_up",
    [DELTA] = "delta",
    [UNCHANGED] = "unchanged",
    [RESET] = "reset",
    [DUPLICATE] = "duplicate",
    [OUT_OF_ORDER] = "out_of_order",
    [REFUSED_CAP] = "refused_cap",
    [NO_VALUE] = "no_value",
    [REJECTED_ATTRIBUTES] = "rejected_attributes",
    [REJECTED_TYPE] = "rejected_type",
    [REJECTED_TEMPORALITY] = "rejected_temporality",
    [REJECTED_UNIT] = "rejected_unit",
    [REJECTED_INTERVAL] = "rejected_interval",
    [REJECTED_TOO_OLD] = "rejected_too_old",
    [REJECTED_FUTURE] = "rejected_future",
    [REJECTED_SHAPE] = "rejected_shape",
    [REJECTED_OVERFLOW] = "rejected_overflow",
    [REJECTED_SUM] = "rejected_sum",
    [REJECTED_STATUS] = "rejected_status",
};

/* ---- the message as a whole (R-DEC-3) ---- */

static bool text_is_good(const struct list *attributes, const char *key, size_t size_max,
                         char *reason, size_t reason_size)
{
    const struct tree_attribute *attribute = tree_find(attributes, key);
    if (!attribute)
        return true;
    if (attribute->type == TREE_STRING && attribute->bytes.size <= size_max &&
        text_is_storable(attribute->bytes))
        return true;
    snprintf(reason, reason_size, "%s cannot be stored", key);
    return false;
}

static bool tenant_is_good(const struct list *attributes, const struct uuid *tenant)
{
    const struct tree_attribute *attribute = tree_find(attributes, "scf.tenant.id");
    struct uuid stamped;
    return attribute && attribute->type == TREE_STRING && uuid_parse(attribute->bytes, &stamped) &&
           uuid_compare(&stamped, tenant) == 0;
}

static bool points_are_good(const struct tree_resource *resource, char *reason, size_t reason_size)
{
    const struct tree_scope *scope;
    const struct tree_metric *metric;
    const struct tree_point *point;
    for (LIST_EACH(scope, &resource->scopes))
        for (LIST_EACH(metric, &scope->metrics))
            for (LIST_EACH(point, &metric->points))
                if (!text_is_good(&point->attributes, "http.request.method", 16, reason,
                                  reason_size) ||
                    !text_is_good(&point->attributes, "http.route", 1024, reason, reason_size))
                    return false;
    return true;
}

bool message_check(const struct ref_message *message, struct tree *tree, char *reason,
                   size_t reason_size)
{
    if (message->msg_id.size == 0 || message->msg_id.size > MSG_ID_BYTES_MAX ||
        !text_is_storable(message->msg_id)) {
        snprintf(reason, reason_size, "the message id is absent or cannot be stored");
        return false;
    }
    bool decoded = message->payload.size <= PAYLOAD_BYTES_MAX &&
                   (message->format == REF_JSON ? tree_read_json(tree, message->payload)
                                                : tree_read_protobuf(tree, message->payload));
    if (!decoded) {
        snprintf(reason, reason_size, "the payload is too large or undecodable");
        return false;
    }
    const struct tree_resource *resource;
    for (LIST_EACH(resource, &tree->resources)) {
        if (!tenant_is_good(&resource->attributes, &message->tenant)) {
            snprintf(reason, reason_size, "scf.tenant.id is not the subject's tenant");
            return false;
        }
        if (!text_is_good(&resource->attributes, "service.name", 128, reason, reason_size) ||
            !points_are_good(resource, reason, reason_size))
            return false;
    }
    return true;
}

/* ---- a point (R-DEC-4) ---- */

static bool keys_repeat(const struct list *attributes)
{
    const struct tree_attribute *a, *b;
    for (LIST_EACH(a, attributes))
        for (LIST_EACH(b, attributes))
            if (a < b && bytes_equal(a->key, b->key))
                return true;
    return false;
}

static enum outcome check_window(uint64_t time, const struct message_rules *rules)
{
    __int128 age = (__int128)rules->now_ns - (__int128)time;
    if (age > 7 * (__int128)DAY_NS)
        return REJECTED_TOO_OLD;
    if (rules_on(rules->rules, RULE_S4) && -age > rules->future_tolerance_ns)
        return REJECTED_FUTURE;
    return GOOD;
}

static bool shape_is_good(const struct tree_point *point)
{
    size_t buckets = point->buckets.count;
    size_t bounds = point->bounds.count;
    if (bounds > BOUNDS_MAX || (buckets != bounds + 1 && !(buckets == 0 && bounds == 0)))
        return false;
    const double *bound = point->bounds.items;
    for (size_t i = 0; i < bounds; i++)
        if (!isfinite(bound[i]) || (i > 0 && bound[i] <= bound[i - 1]))
            return false;
    __int128 sum = 0;
    const uint64_t *count;
    for (LIST_EACH(count, &point->buckets))
        sum += *count;
    return buckets == 0 || sum == point->count;
}

static bool counts_overflow(const struct tree_point *point)
{
    const uint64_t *count;
    for (LIST_EACH(count, &point->buckets))
        if (*count > INT64_MAX)
            return true;
    return point->count > INT64_MAX;
}

static bool read_status(const struct list *attributes, int16_t *status)
{
    const struct tree_attribute *attribute = tree_find(attributes, "http.response.status_code");
    *status = 0;
    if (!attribute)
        return true;
    if (attribute->type != TREE_INT || attribute->integer < 100 || attribute->integer > 599)
        return false;
    *status = (int16_t)attribute->integer;
    return true;
}

static enum outcome check_point(const struct tree_metric *metric, const struct tree_point *point,
                                const struct message_rules *rules, int16_t *status)
{
    if (keys_repeat(&point->attributes))
        return REJECTED_ATTRIBUTES;
    if (!metric->is_histogram)
        return REJECTED_TYPE;
    if (metric->temporality != 1 && metric->temporality != 2)
        return REJECTED_TEMPORALITY;
    if (metric->unit.size > 0 && !bytes_equal(metric->unit, bytes_of("s")))
        return REJECTED_UNIT;
    if (point->no_value)
        return NO_VALUE;
    if (point->time == 0 || point->start > point->time)
        return REJECTED_INTERVAL;
    enum outcome window = check_window(point->time, rules);
    if (window != GOOD)
        return window;
    if (!shape_is_good(point))
        return REJECTED_SHAPE;
    if (counts_overflow(point))
        return REJECTED_OVERFLOW;
    if (point->has_sum && (!isfinite(point->sum) || point->sum < 0))
        return REJECTED_SUM;
    if (!read_status(&point->attributes, status))
        return REJECTED_STATUS;
    return GOOD;
}

static struct bytes text_of(const struct list *attributes, const char *key)
{
    const struct tree_attribute *attribute = tree_find(attributes, key);
    return attribute ? attribute->bytes : bytes_of("");
}

/* What all points of a metric share. */
struct surroundings {
    const struct uuid *tenant;
    const struct tree_resource *resource;
    const struct tree_scope *scope;
    const struct tree_metric *metric;
    uint8_t resource_hash[32];
};

static bool is_redacted(const struct list *resource_attributes)
{
    const struct tree_attribute *redacted = tree_find(resource_attributes, "scf.redacted");
    return redacted && redacted->type == TREE_BOOL && redacted->integer;
}

static void fill(struct point *out, const struct surroundings *around,
                 const struct tree_point *point, bool with_scope)
{
    out->cumulative = around->metric->temporality == 2;
    out->from_span = bytes_equal(around->metric->name, bytes_of(TREE_METRIC_SPANS));
    out->start = (int64_t)point->start;
    out->time = (int64_t)point->time;
    out->service = text_of(&around->resource->attributes, "service.name");
    out->method = text_of(&point->attributes, "http.request.method");
    out->route = text_of(&point->attributes, "http.route");
    out->redacted = is_redacted(&around->resource->attributes);
    struct rebucketed rebucketed = rebucket(&point->bounds, &point->buckets, point->count);
    memcpy(out->counts, rebucketed.counts, sizeof out->counts);
    out->lossy = !rebucketed.exact;
    out->coarse = rebucketed.coarse;
    out->count = (int64_t)point->count;
    out->has_sum = point->has_sum;
    out->sum = point->has_sum ? point->sum : 0;
    memcpy(out->resource_hash, around->resource_hash, sizeof out->resource_hash);
    identify_series(around->tenant, around->resource_hash, around->scope, with_scope,
                    around->metric->name, &point->attributes, out->series_hash);
}

static void metric_points(const struct surroundings *around, const struct message_rules *rules,
                          struct list *points)
{
    const struct tree_point *point;
    for (LIST_EACH(point, &around->metric->points)) {
        struct point out = {0};
        out.outcome = check_point(around->metric, point, rules, &out.status);
        if (out.outcome == GOOD)
            fill(&out, around, point, rules_on(rules->rules, RULE_S3));
        list_add(points, &out, sizeof out);
    }
}

void message_points(const struct tree *tree, const struct uuid *tenant,
                    const struct message_rules *rules, struct list *points)
{
    struct surroundings around = {.tenant = tenant};
    for (LIST_EACH(around.resource, &tree->resources)) {
        identify_resource(&around.resource->attributes, around.resource_hash);
        for (LIST_EACH(around.scope, &around.resource->scopes))
            for (LIST_EACH(around.metric, &around.scope->metrics))
                metric_points(&around, rules, points);
    }
}

/* OTLP protobuf through protobuf-c and malloc, copied into the tree. */
#include "sim/ref/tree.h"

#include "gen/otlp.pb-c.h"
#include <stdlib.h>

static struct bytes copy(struct tree *tree, ProtobufCBinaryData data)
{
    struct bytes bytes = must_copy((struct bytes){data.data, data.len});
    uint8_t *owned = (uint8_t *)(uintptr_t)bytes.data;
    list_add(&tree->texts, &owned, sizeof owned);
    return bytes;
}

static void read_value(struct tree *tree, const Otlp__AnyValue *value,
                       struct tree_attribute *attribute)
{
    attribute->type = (enum tree_type)value->value_case; /* the field numbers of AnyValue */
    switch (value->value_case) {
    case OTLP__ANY_VALUE__VALUE_STRING_VALUE:
        attribute->bytes = copy(tree, value->string_value);
        break;
    case OTLP__ANY_VALUE__VALUE_BOOL_VALUE:
        attribute->integer = value->bool_value != 0;
        break;
    case OTLP__ANY_VALUE__VALUE_INT_VALUE:
        attribute->integer = value->int_value;
        break;
    case OTLP__ANY_VALUE__VALUE_DOUBLE_VALUE:
        attribute->number = value->double_value;
        break;
    case OTLP__ANY_VALUE__VALUE_ARRAY_VALUE:
        attribute->bytes = copy(tree, value->array_value);
        break;
    case OTLP__ANY_VALUE__VALUE_KVLIST_VALUE:
        attribute->bytes = copy(tree, value->kvlist_value);
        break;
    case OTLP__ANY_VALUE__VALUE_BYTES_VALUE:
        attribute->bytes = copy(tree, value->bytes_value);
        break;
    default:
        attribute->type = TREE_ABSENT;
    }
}

static bool read_attributes(struct tree *tree, size_t count, const ProtobufCBinaryData *encoded,
                            struct list *attributes)
{
    for (size_t i = 0; i < count; i++) {
        Otlp__KeyValue *pair = otlp__key_value__unpack(NULL, encoded[i].len, encoded[i].data);
        if (!pair)
            return false;
        struct tree_attribute attribute = {.key = copy(tree, pair->key)};
        if (pair->value)
            read_value(tree, pair->value, &attribute);
        list_add(attributes, &attribute, sizeof attribute);
        otlp__key_value__free_unpacked(pair, NULL);
    }
    return true;
}

static bool read_histogram_point(struct tree *tree, const Otlp__HistogramDataPoint *from,
                                 struct list *points)
{
    struct tree_point point = {
        .start = from->start_time_unix_nano,
        .time = from->time_unix_nano,
        .count = from->count,
        .has_sum = from->has_sum,
        .sum = from->sum,
        .no_value = (from->flags & 1) != 0,
    };
    for (size_t i = 0; i < from->n_bucket_counts; i++)
        list_add(&point.buckets, &from->bucket_counts[i], sizeof(uint64_t));
    for (size_t i = 0; i < from->n_explicit_bounds; i++)
        list_add(&point.bounds, &from->explicit_bounds[i], sizeof(double));
    bool good = read_attributes(tree, from->n_attributes, from->attributes, &point.attributes);
    list_add(points, &point, sizeof point);
    return good;
}

static bool read_histogram(struct tree *tree, ProtobufCBinaryData data, struct tree_metric *metric)
{
    Otlp__Histogram *histogram = otlp__histogram__unpack(NULL, data.len, data.data);
    if (!histogram)
        return false;
    metric->is_histogram = true;
    metric->temporality = histogram->aggregation_temporality;
    bool good = true;
    for (size_t i = 0; good && i < histogram->n_data_points; i++)
        good = read_histogram_point(tree, histogram->data_points[i], &metric->points);
    otlp__histogram__free_unpacked(histogram, NULL);
    return good;
}

/* Gauges, sums and summaries: only their attributes are of interest (R-DEC-4). */
static bool read_numbers(struct tree *tree, ProtobufCBinaryData data, struct tree_metric *metric)
{
    Otlp__NumberPoints *numbers = otlp__number_points__unpack(NULL, data.len, data.data);
    if (!numbers)
        return false;
    bool good = true;
    for (size_t i = 0; good && i < numbers->n_data_points; i++) {
        struct tree_point point = {0};
        good = read_attributes(tree, numbers->data_points[i]->n_attributes,
                               numbers->data_points[i]->attributes, &point.attributes);
        list_add(&metric->points, &point, sizeof point);
    }
    otlp__number_points__free_unpacked(numbers, NULL);
    return good;
}

static bool read_exponential(struct tree *tree, ProtobufCBinaryData data,
                             struct tree_metric *metric)
{
    Otlp__ExponentialPoints *points = otlp__exponential_points__unpack(NULL, data.len, data.data);
    if (!points)
        return false;
    bool good = true;
    for (size_t i = 0; good && i < points->n_data_points; i++) {
        struct tree_point point = {0};
        good = read_attributes(tree, points->data_points[i]->n_attributes,
                               points->data_points[i]->attributes, &point.attributes);
        list_add(&metric->points, &point, sizeof point);
    }
    otlp__exponential_points__free_unpacked(points, NULL);
    return good;
}

static bool read_metric(struct tree *tree, const Otlp__Metric *from, struct list *metrics)
{
    struct tree_metric metric = {.name = copy(tree, from->name), .unit = copy(tree, from->unit)};
    bool good = true;
    if (tree_metric_is_ours(metric.name)) {
        switch (from->data_case) {
        case OTLP__METRIC__DATA_HISTOGRAM:
            good = read_histogram(tree, from->histogram, &metric);
            break;
        case OTLP__METRIC__DATA_EXPONENTIAL_HISTOGRAM:
            good = read_exponential(tree, from->exponential_histogram, &metric);
            break;
        case OTLP__METRIC__DATA_GAUGE:
            good = read_numbers(tree, from->gauge, &metric);
            break;
        case OTLP__METRIC__DATA_SUM:
            good = read_numbers(tree, from->sum, &metric);
            break;
        case OTLP__METRIC__DATA_SUMMARY:
            good = read_numbers(tree, from->summary, &metric);
            break;
        default:
            break;
        }
    }
    list_add(metrics, &metric, sizeof metric);
    return good;
}

static bool read_resource(struct tree *tree, const Otlp__ResourceMetrics *from)
{
    struct tree_resource resource = {0};
    bool good = true;
    if (from->resource)
        good = read_attributes(tree, from->resource->n_attributes, from->resource->attributes,
                               &resource.attributes);
    for (size_t i = 0; good && i < from->n_scope_metrics; i++) {
        const Otlp__ScopeMetrics *group = from->scope_metrics[i];
        struct tree_scope scope = {0};
        if (group->scope) {
            scope.name = copy(tree, group->scope->name);
            scope.version = copy(tree, group->scope->version);
        }
        for (size_t m = 0; good && m < group->n_metrics; m++)
            good = read_metric(tree, group->metrics[m], &scope.metrics);
        list_add(&resource.scopes, &scope, sizeof scope);
    }
    list_add(&tree->resources, &resource, sizeof resource);
    return good;
}

bool tree_read_protobuf(struct tree *tree, struct bytes payload)
{
    Otlp__ExportMetricsServiceRequest *request =
        otlp__export_metrics_service_request__unpack(NULL, payload.size, payload.data);
    if (!request)
        return false;
    bool good = true;
    for (size_t i = 0; good && i < request->n_resource_metrics; i++)
        good = read_resource(tree, request->resource_metrics[i]);
    otlp__export_metrics_service_request__free_unpacked(request, NULL);
    return good;
}

/* OTLP requests for the writer's tests, packed by protobuf-c. See struct test_point in harness.h.
 */
#include "gen/otlp.pb-c.h"
#include "tests/core/writer/harness.h"

static ProtobufCBinaryData binary(const void *data, size_t size)
{
    return (ProtobufCBinaryData){.len = size, .data = (uint8_t *)(uintptr_t)data};
}

static ProtobufCBinaryData text_binary(const char *text)
{
    return binary(text, strlen(text));
}

/* KeyValues, each encoded; freed by free_attributes. */
struct attribute_list {
    ProtobufCBinaryData items[8];
    size_t count;
};

static void add_attribute(struct attribute_list *list, const char *key, Otlp__AnyValue *value)
{
    Otlp__KeyValue pair = OTLP__KEY_VALUE__INIT;
    pair.has_key = true;
    pair.key = text_binary(key);
    pair.value = value;
    size_t size = otlp__key_value__get_packed_size(&pair);
    uint8_t *data = malloc(size);
    ck_assert_ptr_nonnull(data);
    otlp__key_value__pack(&pair, data);
    list->items[list->count++] = binary(data, size);
}

static void add_text(struct attribute_list *list, const char *key, const char *text, size_t size)
{
    Otlp__AnyValue value;
    otlp__any_value__init(&value);
    value.value_case = OTLP__ANY_VALUE__VALUE_STRING_VALUE;
    value.string_value = binary(text, size);
    add_attribute(list, key, &value);
}

static void add_int(struct attribute_list *list, const char *key, int64_t integer)
{
    Otlp__AnyValue value;
    otlp__any_value__init(&value);
    value.value_case = OTLP__ANY_VALUE__VALUE_INT_VALUE;
    value.int_value = integer;
    add_attribute(list, key, &value);
}

static void add_bool(struct attribute_list *list, const char *key, bool truth)
{
    Otlp__AnyValue value;
    otlp__any_value__init(&value);
    value.value_case = OTLP__ANY_VALUE__VALUE_BOOL_VALUE;
    value.bool_value = truth;
    add_attribute(list, key, &value);
}

static void free_attributes(struct attribute_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->items[i].data);
}

static const char *or_default(const char *text, const char *other)
{
    return text ? text : other;
}

/* The Histogram message of one point, encoded; malloc'ed. */
static ProtobufCBinaryData encode_histogram(const struct test_point *from,
                                            struct attribute_list *attributes)
{
    uint64_t buckets[HISTOGRAM_BUCKETS] = {0};
    buckets[(from->bucket ? from->bucket : 3) - 1] = from->n;
    Otlp__HistogramDataPoint point = OTLP__HISTOGRAM_DATA_POINT__INIT;
    point.has_start_time_unix_nano = point.has_time_unix_nano = point.has_count = true;
    point.start_time_unix_nano = (uint64_t)(T0_NS + from->start * NS_PER_S + from->start_ns);
    point.time_unix_nano = (uint64_t)(T0_NS + from->time * NS_PER_S + from->time_ns);
    point.has_sum = !from->no_sum;
    point.sum = from->sum;
    point.has_flags = from->flags != 0;
    point.flags = from->flags;
    const uint64_t *counts = from->counts ? from->counts : buckets;
    size_t count_count = from->count_count ? from->count_count : HISTOGRAM_BUCKETS;
    uint64_t count = from->no_buckets ? from->n : 0;
    if (!from->no_buckets) {
        const double *bounds = from->bounds ? from->bounds : histogram_bounds;
        point.bucket_counts = (uint64_t *)(uintptr_t)counts;
        point.n_bucket_counts = count_count;
        point.explicit_bounds = (double *)(uintptr_t)bounds;
        point.n_explicit_bounds = from->bounds ? from->bound_count : HISTOGRAM_BOUNDS;
        for (size_t i = 0; i < count_count; i++)
            count += counts[i];
    }
    point.count = from->count ? from->count : count;
    point.attributes = attributes->items;
    point.n_attributes = attributes->count;
    Otlp__HistogramDataPoint *points[] = {&point};
    Otlp__Histogram histogram = OTLP__HISTOGRAM__INIT;
    histogram.data_points = points;
    histogram.n_data_points = 1;
    histogram.has_aggregation_temporality = true;
    histogram.aggregation_temporality = from->delta ? TEMPORALITY_DELTA : TEMPORALITY_CUMULATIVE;
    size_t size = otlp__histogram__get_packed_size(&histogram);
    uint8_t *data = malloc(size);
    ck_assert_ptr_nonnull(data);
    otlp__histogram__pack(&histogram, data);
    return binary(data, size);
}

/* One ResourceMetrics with one point, encoded as a request; appended to *all. */
static void append_point(const char *tenant, const struct test_point *from, uint8_t **all,
                         size_t *all_size)
{
    struct attribute_list of_resource = {.count = 0};
    struct attribute_list of_point = {.count = 0};
    const char *service = or_default(from->service, "shop");
    const char *process = or_default(from->process, "p1");
    const char *method = or_default(from->method, "GET");
    const char *route = or_default(from->route, "/cart");
    if (tenant)
        add_text(&of_resource, "scf.tenant.id", tenant, strlen(tenant));
    add_text(&of_resource, "service.name", service, strlen(service));
    add_text(&of_resource, "service.instance.id", process, strlen(process));
    if (from->redacted)
        add_bool(&of_resource, "scf.redacted", true);
    add_text(&of_point, "http.request.method", method, strlen(method));
    add_text(&of_point, "http.route", route, from->route_size ? from->route_size : strlen(route));
    add_int(&of_point, "http.response.status_code", from->status ? from->status : 200);
    Otlp__Metric metric;
    otlp__metric__init(&metric);
    metric.has_name = metric.has_unit = true;
    metric.name = text_binary(from->span ? "scf.http.server.request.duration.from_spans"
                                         : "http.server.request.duration");
    metric.unit = text_binary("s");
    metric.data_case = OTLP__METRIC__DATA_HISTOGRAM;
    metric.histogram = encode_histogram(from, &of_point);
    Otlp__Metric *metrics[] = {&metric};
    Otlp__ScopeMetrics scope = OTLP__SCOPE_METRICS__INIT;
    scope.metrics = metrics;
    scope.n_metrics = 1;
    Otlp__ScopeMetrics *scopes[] = {&scope};
    Otlp__Resource resource = OTLP__RESOURCE__INIT;
    resource.attributes = of_resource.items;
    resource.n_attributes = of_resource.count;
    Otlp__ResourceMetrics resource_metrics = OTLP__RESOURCE_METRICS__INIT;
    resource_metrics.resource = &resource;
    resource_metrics.scope_metrics = scopes;
    resource_metrics.n_scope_metrics = 1;
    Otlp__ResourceMetrics *list[] = {&resource_metrics};
    Otlp__ExportMetricsServiceRequest request = OTLP__EXPORT_METRICS_SERVICE_REQUEST__INIT;
    request.resource_metrics = list;
    request.n_resource_metrics = 1;
    size_t size = otlp__export_metrics_service_request__get_packed_size(&request);
    *all = realloc(*all, *all_size + size);
    ck_assert_ptr_nonnull(*all);
    /* two encoded messages, one behind the other, are one message: repeated fields add up */
    otlp__export_metrics_service_request__pack(&request, *all + *all_size);
    *all_size += size;
    free(metric.histogram.data);
    free_attributes(&of_resource);
    free_attributes(&of_point);
}

uint8_t *test_request(const char *tenant, const struct test_point *points, size_t count,
                      size_t *size)
{
    uint8_t *all = NULL;
    *size = 0;
    for (size_t i = 0; i < count; i++)
        append_point(tenant, &points[i], &all, size);
    return all;
}

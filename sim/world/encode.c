#include "sim/world/encode.h"

#include "core/base/assert.h"
#include "gen/otlp.pb-c.h"
#include <string.h>

struct encoder {
    const struct encode_stamp *stamp;
    struct arena *arena;
};

static ProtobufCBinaryData binary(struct bytes bytes)
{
    return (ProtobufCBinaryData){bytes.size, (uint8_t *)(uintptr_t)bytes.data};
}

/* A message packed into the arena; len 0 and data NULL: out of memory. */
static ProtobufCBinaryData pack(struct arena *arena, const ProtobufCMessage *message)
{
    ProtobufCBinaryData out = {protobuf_c_message_get_packed_size(message), NULL};
    out.data = arena_alloc(arena, out.len + 1);
    if (!out.data)
        return (ProtobufCBinaryData){0, NULL};
    size_t written = protobuf_c_message_pack(message, out.data);
    ASSERT(written == out.len);
    return out;
}

/* count messages of one kind and the pointers to them that protobuf-c wants. */
#define MESSAGES(arena, count, items, pointers)                                                    \
    ((items) = arena_array((arena), (count), sizeof(*(items))),                                    \
     (pointers) = arena_array((arena), (count), sizeof(*(pointers))), (items) && (pointers))

/* ---- points ---- */

static void fill_histogram_point(Otlp__HistogramDataPoint *out, const struct series_point *point)
{
    const struct series *series = point->series;
    otlp__histogram_data_point__init(out);
    out->n_attributes = series->attributes.count;
    out->attributes = series->attributes.items;
    out->has_start_time_unix_nano = point->start_unix_nano != 0;
    out->start_time_unix_nano = point->start_unix_nano;
    out->has_time_unix_nano = 1;
    out->time_unix_nano = point->time_unix_nano;
    out->has_count = 1;
    out->count = point->count;
    out->has_sum = point->has_sum;
    out->sum = point->sum;
    out->n_bucket_counts = point->counts_size;
    out->bucket_counts = (uint64_t *)(uintptr_t)point->counts;
    out->n_explicit_bounds = series->telemetry->bound_count;
    out->explicit_bounds = (double *)(uintptr_t)series->telemetry->bounds;
    out->has_flags = point->flags != 0;
    out->flags = point->flags;
}

static ProtobufCBinaryData histogram(struct encoder *encoder, const struct series_point *points,
                                     size_t count)
{
    Otlp__HistogramDataPoint *items, **pointers;
    if (!MESSAGES(encoder->arena, count, items, pointers))
        return (ProtobufCBinaryData){0, NULL};
    for (size_t i = 0; i < count; i++) {
        fill_histogram_point(&items[i], &points[i]);
        pointers[i] = &items[i];
    }
    Otlp__Histogram message;
    otlp__histogram__init(&message);
    message.n_data_points = count;
    message.data_points = pointers;
    message.has_aggregation_temporality = points[0].series->temporality != 0;
    message.aggregation_temporality = points[0].series->temporality;
    return pack(encoder->arena, &message.base);
}

/* Gauges, sums and summaries: the core refuses them by type, so only attributes matter. */
static ProtobufCBinaryData numbers(struct encoder *encoder, const struct series_point *points,
                                   size_t count)
{
    Otlp__NumberDataPoint *items, **pointers;
    if (!MESSAGES(encoder->arena, count, items, pointers))
        return (ProtobufCBinaryData){0, NULL};
    for (size_t i = 0; i < count; i++) {
        otlp__number_data_point__init(&items[i]);
        items[i].n_attributes = points[i].series->attributes.count;
        items[i].attributes = points[i].series->attributes.items;
        pointers[i] = &items[i];
    }
    Otlp__NumberPoints message;
    otlp__number_points__init(&message);
    message.n_data_points = count;
    message.data_points = pointers;
    return pack(encoder->arena, &message.base);
}

static ProtobufCBinaryData exponentials(struct encoder *encoder, const struct series_point *points,
                                        size_t count)
{
    Otlp__ExponentialDataPoint *items, **pointers;
    if (!MESSAGES(encoder->arena, count, items, pointers))
        return (ProtobufCBinaryData){0, NULL};
    for (size_t i = 0; i < count; i++) {
        otlp__exponential_data_point__init(&items[i]);
        items[i].n_attributes = points[i].series->attributes.count;
        items[i].attributes = points[i].series->attributes.items;
        pointers[i] = &items[i];
    }
    Otlp__ExponentialPoints message;
    otlp__exponential_points__init(&message);
    message.n_data_points = count;
    message.data_points = pointers;
    return pack(encoder->arena, &message.base);
}

/* ---- metrics ---- */

static bool same_metric(const struct series *a, const struct series *b)
{
    return a->telemetry == b->telemetry && a->temporality == b->temporality && a->type == b->type;
}

static bool fill_metric(struct encoder *encoder, Otlp__Metric *metric,
                        const struct series_point *points, size_t count)
{
    const struct series *series = points[0].series;
    const struct telemetry *telemetry = series->telemetry;
    otlp__metric__init(metric);
    metric->has_name = 1;
    metric->name = binary(telemetry_metric(telemetry));
    metric->has_unit = 1;
    metric->unit = binary(telemetry->unit.data ? telemetry->unit : bytes_of("s"));
    switch (series->type) {
    case SERIES_HISTOGRAM:
        metric->data_case = OTLP__METRIC__DATA_HISTOGRAM;
        metric->histogram = histogram(encoder, points, count);
        return metric->histogram.data != NULL;
    case SERIES_EXPONENTIAL:
        metric->data_case = OTLP__METRIC__DATA_EXPONENTIAL_HISTOGRAM;
        metric->exponential_histogram = exponentials(encoder, points, count);
        return metric->exponential_histogram.data != NULL;
    case SERIES_GAUGE:
        metric->data_case = OTLP__METRIC__DATA_GAUGE;
        break;
    case SERIES_SUM:
        metric->data_case = OTLP__METRIC__DATA_SUM;
        break;
    case SERIES_SUMMARY:
        metric->data_case = OTLP__METRIC__DATA_SUMMARY;
        break;
    }
    metric->gauge = numbers(encoder, points, count); /* one union for the three */
    return metric->gauge.data != NULL;
}

/* ---- resources ---- */

static size_t resource_size(const struct series_point *points, size_t count)
{
    size_t size = 1;
    while (size < count && points[size].series->telemetry == points[0].series->telemetry)
        size++;
    return size;
}

static bool fill_scope(struct encoder *encoder, Otlp__ScopeMetrics *scope,
                       const struct series_point *points, size_t count)
{
    const struct telemetry *telemetry = points[0].series->telemetry;
    Otlp__Metric *items, **pointers;
    otlp__scope_metrics__init(scope);
    if (!MESSAGES(encoder->arena, count, items, pointers))
        return false;
    size_t used = 0;
    for (size_t at = 0; at < count;) {
        size_t size = 1;
        while (at + size < count && same_metric(points[at].series, points[at + size].series))
            size++;
        if (!fill_metric(encoder, &items[used], points + at, size))
            return false;
        pointers[used] = &items[used];
        used++;
        at += size;
    }
    scope->n_metrics = used;
    scope->metrics = pointers;
    if (!telemetry->has_scope)
        return true;
    scope->scope = arena_alloc(encoder->arena, sizeof(*scope->scope));
    if (!scope->scope)
        return false;
    otlp__instrumentation_scope__init(scope->scope);
    scope->scope->has_name = 1;
    scope->scope->name = binary(telemetry->scope_name);
    scope->scope->has_version = telemetry->scope_version.size > 0;
    scope->scope->version = binary(telemetry->scope_version);
    return true;
}

static bool add_stamp(struct encoder *encoder, Otlp__Resource *resource,
                      const struct attribute *stamp)
{
    return key_value_encode(stamp, encoder->arena, &resource->attributes[resource->n_attributes++]);
}

static bool fill_resource(struct encoder *encoder, Otlp__Resource *resource,
                          const struct series *series)
{
    otlp__resource__init(resource);
    size_t count = series->resource.count;
    resource->attributes = arena_array(encoder->arena, count + 2, sizeof(ProtobufCBinaryData));
    if (!resource->attributes)
        return false;
    if (count > 0)
        memcpy(resource->attributes, series->resource.items, count * sizeof(ProtobufCBinaryData));
    resource->n_attributes = count;
    char tenant[UUID_TEXT_SIZE + 1];
    struct attribute stamp = {.key = bytes_of("scf.tenant.id"), .type = ATTRIBUTE_STRING};
    if (encoder->stamp->has_tenant) {
        uuid_format(&encoder->stamp->tenant, tenant);
        stamp.bytes = bytes_of(tenant);
        if (!add_stamp(encoder, resource, &stamp))
            return false;
    }
    if (series->telemetry->redacted) {
        stamp = (struct attribute){
            .key = bytes_of("scf.redacted"), .type = ATTRIBUTE_BOOL, .integer = 1};
        if (!add_stamp(encoder, resource, &stamp))
            return false;
    }
    return true;
}

static bool fill_resource_metrics(struct encoder *encoder, Otlp__ResourceMetrics *out,
                                  const struct series_point *points, size_t count)
{
    Otlp__Resource *resource = arena_alloc(encoder->arena, sizeof(*resource));
    Otlp__ScopeMetrics *scope, **pointers;
    otlp__resource_metrics__init(out);
    if (!resource || !MESSAGES(encoder->arena, 1, scope, pointers))
        return false;
    pointers[0] = scope;
    out->resource = resource;
    out->n_scope_metrics = 1;
    out->scope_metrics = pointers;
    return fill_resource(encoder, resource, points[0].series) &&
           fill_scope(encoder, scope, points, count);
}

enum status encode_request(const struct encode_stamp *stamp, const struct series_point *points,
                           size_t count, struct arena *arena, struct bytes *out, struct err *err)
{
    ASSERT(stamp && points && count >= 1 && arena && out);
    struct encoder encoder = {stamp, arena};
    Otlp__ExportMetricsServiceRequest request;
    otlp__export_metrics_service_request__init(&request);
    Otlp__ResourceMetrics *items, **pointers;
    bool good = MESSAGES(arena, count, items, pointers);
    size_t used = 0;
    for (size_t at = 0; good && at < count;) {
        size_t size = resource_size(points + at, count - at);
        good = fill_resource_metrics(&encoder, &items[used], points + at, size);
        pointers[used] = &items[used];
        used++;
        at += size;
    }
    request.n_resource_metrics = used;
    request.resource_metrics = pointers;
    ProtobufCBinaryData packed = {0, NULL};
    if (good)
        packed = pack(arena, &request.base);
    if (!packed.data)
        return err_set(err, STATUS_NO_MEMORY, NULL, "could not encode a message: out of memory");
    *out = (struct bytes){packed.data, packed.len};
    return STATUS_OK;
}

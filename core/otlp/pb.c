/* OTLP protobuf to the neutral tree. The generated code does the wire; this file copies shapes.
 *
 * Bounds: protobuf-c recurses once a level, and otlp.proto has four; each takes less than 1 KB
 * of stack. Its scratch (one record a field read) comes from the same arena, so the arena's limit
 * also bounds hostile repetition. A packed field whose length lies is refused by the scan before
 * anything is allocated for it. */
#include "core/otlp/pb.h"
#include "core/base/assert.h"
#include "core/base/limits.h"
#include "gen/otlp.pb-c.h"

static void *arena_alloc_hook(void *data, size_t size)
{
    struct pb_allocator *allocator = data;
    void *memory = arena_alloc(allocator->arena, size > 0 ? size : 1);
    allocator->exhausted |= memory == NULL;
    return memory;
}

static void arena_free_hook(void *data, void *memory)
{
    (void)data;
    (void)memory;
}

void otlp_pb_init(struct pb_allocator *allocator, struct arena *arena)
{
    ASSERT(arena != NULL);
    *allocator = (struct pb_allocator){.arena = arena};
    allocator->base = (ProtobufCAllocator){
        .alloc = arena_alloc_hook, .free = arena_free_hook, .allocator_data = allocator};
}

enum status otlp_pb_error(const struct pb_allocator *allocator, const char *what, struct err *err)
{
    if (allocator->exhausted)
        return err_set(err, STATUS_NO_MEMORY, NULL,
                       "cannot decode %s: it needs more than %zu bytes of memory", what,
                       allocator->arena->limit);
    return err_set(err, STATUS_INVALID, NULL, "cannot decode %s: malformed protobuf", what);
}

static struct bytes bytes_of_pb(ProtobufCBinaryData data)
{
    return (struct bytes){.data = data.data, .size = data.len};
}

static struct bytes optional_bytes(protobuf_c_boolean has, ProtobufCBinaryData data)
{
    return has ? bytes_of_pb(data) : (struct bytes){0};
}

/* What one walk carries. */
struct walk {
    struct pb_allocator allocator;
    struct otlp_request *request;
    struct err *err;
};

static enum status no_memory(struct walk *walk)
{
    walk->allocator.exhausted = true;
    return otlp_pb_error(&walk->allocator, "the request", walk->err);
}

static enum status attributes_copy(struct walk *walk, size_t count,
                                   const ProtobufCBinaryData *items, struct otlp_attributes *out)
{
    *out = (struct otlp_attributes){.count = count};
    if (count == 0)
        return STATUS_OK;
    out->items = arena_array(walk->allocator.arena, count, sizeof *out->items);
    if (out->items == NULL)
        return no_memory(walk);
    for (size_t i = 0; i < count; i++)
        out->items[i] = bytes_of_pb(items[i]);
    return STATUS_OK;
}

static enum status points_new(struct walk *walk, size_t count, struct otlp_metric *metric)
{
    metric->point_count = count;
    walk->request->point_count += count;
    if (count == 0)
        return STATUS_OK;
    metric->points = arena_array(walk->allocator.arena, count, sizeof *metric->points);
    return metric->points != NULL ? STATUS_OK : no_memory(walk);
}

static void point_copy(const Otlp__HistogramDataPoint *from, struct otlp_point *to)
{
    to->start_unix_nano = from->has_start_time_unix_nano ? from->start_time_unix_nano : 0;
    to->time_unix_nano = from->has_time_unix_nano ? from->time_unix_nano : 0;
    to->count = from->has_count ? from->count : 0;
    to->has_sum = from->has_sum;
    to->sum = from->has_sum ? from->sum : 0;
    to->flags = from->has_flags ? from->flags : 0;
    to->bucket_counts = from->bucket_counts;
    to->bucket_count = from->n_bucket_counts;
    to->bounds = from->explicit_bounds;
    to->bound_count = from->n_explicit_bounds;
}

static enum status histogram_decode(struct walk *walk, ProtobufCBinaryData data,
                                    struct otlp_metric *metric)
{
    Otlp__Histogram *histogram =
        otlp__histogram__unpack(&walk->allocator.base, data.len, data.data);
    if (histogram == NULL)
        return otlp_pb_error(&walk->allocator, "a histogram", walk->err);
    metric->is_histogram = true;
    metric->temporality =
        histogram->has_aggregation_temporality ? histogram->aggregation_temporality : 0;
    enum status status = points_new(walk, histogram->n_data_points, metric);
    for (size_t i = 0; status == STATUS_OK && i < metric->point_count; i++) {
        const Otlp__HistogramDataPoint *point = histogram->data_points[i];
        point_copy(point, &metric->points[i]);
        status = attributes_copy(walk, point->n_attributes, point->attributes,
                                 &metric->points[i].attributes);
    }
    return status;
}

static enum status number_decode(struct walk *walk, ProtobufCBinaryData data,
                                 struct otlp_metric *metric)
{
    Otlp__NumberPoints *number =
        otlp__number_points__unpack(&walk->allocator.base, data.len, data.data);
    if (number == NULL)
        return otlp_pb_error(&walk->allocator, "the points of a metric", walk->err);
    enum status status = points_new(walk, number->n_data_points, metric);
    for (size_t i = 0; status == STATUS_OK && i < metric->point_count; i++)
        status = attributes_copy(walk, number->data_points[i]->n_attributes,
                                 number->data_points[i]->attributes, &metric->points[i].attributes);
    return status;
}

static enum status exponential_decode(struct walk *walk, ProtobufCBinaryData data,
                                      struct otlp_metric *metric)
{
    Otlp__ExponentialPoints *exponential =
        otlp__exponential_points__unpack(&walk->allocator.base, data.len, data.data);
    if (exponential == NULL)
        return otlp_pb_error(&walk->allocator, "an exponential histogram", walk->err);
    enum status status = points_new(walk, exponential->n_data_points, metric);
    for (size_t i = 0; status == STATUS_OK && i < metric->point_count; i++)
        status =
            attributes_copy(walk, exponential->data_points[i]->n_attributes,
                            exponential->data_points[i]->attributes, &metric->points[i].attributes);
    return status;
}

static enum status metric_decode(struct walk *walk, const Otlp__Metric *from,
                                 struct otlp_metric *to)
{
    to->name = bytes_of_pb(from->name);
    to->unit = optional_bytes(from->has_unit, from->unit);
    switch (from->data_case) {
    case OTLP__METRIC__DATA_HISTOGRAM:
        return histogram_decode(walk, from->histogram, to);
    case OTLP__METRIC__DATA_GAUGE:
        return number_decode(walk, from->gauge, to);
    case OTLP__METRIC__DATA_SUM:
        return number_decode(walk, from->sum, to);
    case OTLP__METRIC__DATA_SUMMARY:
        return number_decode(walk, from->summary, to);
    case OTLP__METRIC__DATA_EXPONENTIAL_HISTOGRAM:
        return exponential_decode(walk, from->exponential_histogram, to);
    default:
        return STATUS_OK; /* no data: no points */
    }
}

static enum status scope_decode(struct walk *walk, const Otlp__ScopeMetrics *from,
                                struct otlp_scope *to)
{
    if (from->scope != NULL) {
        to->name = optional_bytes(from->scope->has_name, from->scope->name);
        to->version = optional_bytes(from->scope->has_version, from->scope->version);
    }
    if (from->n_metrics == 0)
        return STATUS_OK;
    to->metrics = arena_array(walk->allocator.arena, from->n_metrics, sizeof *to->metrics);
    if (to->metrics == NULL)
        return no_memory(walk);
    for (size_t i = 0; i < from->n_metrics; i++) {
        const Otlp__Metric *metric = from->metrics[i];
        struct otlp_metric *slot = &to->metrics[to->metric_count];
        if (!otlp_metric_source(optional_bytes(metric->has_name, metric->name), &slot->source)) {
            walk->request->skipped_metrics++;
            continue;
        }
        to->metric_count++;
        enum status status = metric_decode(walk, metric, slot);
        if (status != STATUS_OK)
            return status;
    }
    return STATUS_OK;
}

static enum status resource_decode(struct walk *walk, const Otlp__ResourceMetrics *from,
                                   struct otlp_resource *to)
{
    enum status status = STATUS_OK;
    if (from->resource != NULL)
        status = attributes_copy(walk, from->resource->n_attributes, from->resource->attributes,
                                 &to->attributes);
    if (status != STATUS_OK || from->n_scope_metrics == 0)
        return status;
    to->scopes = arena_array(walk->allocator.arena, from->n_scope_metrics, sizeof *to->scopes);
    if (to->scopes == NULL)
        return no_memory(walk);
    to->scope_count = from->n_scope_metrics;
    for (size_t i = 0; status == STATUS_OK && i < to->scope_count; i++)
        status = scope_decode(walk, from->scope_metrics[i], &to->scopes[i]);
    return status;
}

enum status otlp_request_protobuf(struct bytes payload, struct arena *arena,
                                  struct otlp_request *out, struct err *err)
{
    ASSERT(payload.size <= LIMIT_PAYLOAD_BYTES);
    *out = (struct otlp_request){0};
    struct walk walk = {.request = out, .err = err};
    otlp_pb_init(&walk.allocator, arena);
    Otlp__ExportMetricsServiceRequest *request = otlp__export_metrics_service_request__unpack(
        &walk.allocator.base, payload.size, payload.data);
    if (request == NULL)
        return otlp_pb_error(&walk.allocator, "the request", err);
    if (request->n_resource_metrics == 0)
        return STATUS_OK;
    out->resources = arena_array(arena, request->n_resource_metrics, sizeof *out->resources);
    if (out->resources == NULL)
        return no_memory(&walk);
    out->resource_count = request->n_resource_metrics;
    out->names_resources = out->resource_count > 0;
    enum status status = STATUS_OK;
    for (size_t i = 0; status == STATUS_OK && i < out->resource_count; i++)
        status = resource_decode(&walk, request->resource_metrics[i], &out->resources[i]);
    return status;
}

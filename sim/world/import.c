#include "sim/world/import.h"

#include "core/base/assert.h"
#include "core/otlp/pb.h"
#include "core/otlp/request.h"
#include "sim/world/collect.h"
#include <string.h>

/* What stays the same over the points of one metric. */
struct import_metric {
    struct attributes resource;
    const struct otlp_scope *scope;
    const struct otlp_metric *metric;
    bool redacted;
    bool cleaned; /* the resource's text was */
    const char *owner;
    struct telemetry *telemetry; /* of the point before: shared while the bounds are the same */
};

static enum status no_memory(struct err *err)
{
    return err_set(err, STATUS_NO_MEMORY, NULL, "could not import a request: out of memory");
}

static bool has_key(const struct attribute *attribute, const char *key)
{
    return attribute->type == ATTRIBUTE_STRING && bytes_equal(attribute->key, bytes_of(key));
}

/* Decoded attributes, cleaned and without stamps when the collector is in the way. *cleaned is set
 * when some text changed, and else left. */
static enum status attributes_of(struct import *import, const struct otlp_attributes *encoded,
                                 struct attributes *out, bool *cleaned, struct err *err)
{
    enum status status = otlp_attributes_decode(encoded, import->scratch, out, err);
    if (status != STATUS_OK || !import->collected)
        return status;
    struct attribute *items = arena_array(import->scratch, out->count + 1, sizeof(*items));
    if (!items)
        return no_memory(err);
    size_t used = 0;
    for (size_t i = 0; i < out->count; i++) {
        struct attribute item = out->items[i];
        if (item.key.size >= 4 && memcmp(item.key.data, "scf.", 4) == 0)
            continue;
        if (has_key(&item, "http.route"))
            item.bytes = collect_route(item.bytes, import->scratch);
        else if (has_key(&item, "service.name"))
            item.bytes = collect_service(item.bytes, import->scratch);
        *cleaned = *cleaned || item.bytes.data != out->items[i].bytes.data;
        items[used++] = item;
    }
    *out = (struct attributes){items, used};
    return STATUS_OK;
}

static const char *owner_of(struct import *import, struct attributes resource)
{
    const struct attribute *service = attributes_find(resource, "service.name");
    bool named = service && service->type == ATTRIBUTE_STRING && service->bytes.size > 0;
    struct bytes text = named ? service->bytes : bytes_of("-");
    return arena_copy(import->scratch, text.data, text.size);
}

static bool copy_text(struct arena *arena, struct bytes *text)
{
    text->data = arena_copy(arena, text->size ? text->data : (const uint8_t *)"", text->size);
    return text->data != NULL;
}

static struct telemetry *telemetry_of(struct import *import, struct import_metric *context,
                                      const struct otlp_point *point)
{
    struct telemetry *before = context->telemetry;
    size_t size = point->bound_count * sizeof(double);
    if (before && before->bound_count == point->bound_count &&
        (size == 0 || memcmp(before->bounds, point->bounds, size) == 0))
        return before;
    struct arena *arena = &import->maker->arena;
    struct telemetry *telemetry = arena_array(arena, 1, sizeof(*telemetry));
    if (!telemetry)
        return NULL;
    *telemetry = (struct telemetry){
        .tenant = import->tenant,
        .has_scope = context->scope->name.size + context->scope->version.size > 0,
        .scope_name = context->scope->name,
        .scope_version = context->scope->version,
        .metric = context->metric->name,
        .source = context->metric->source,
        .unit = context->metric->unit,
        .redacted = context->redacted,
        .bound_count = point->bound_count,
        .bounds = size > 0 ? arena_copy(arena, point->bounds, size) : NULL,
    };
    if (!copy_text(arena, &telemetry->scope_name) || !copy_text(arena, &telemetry->scope_version) ||
        !copy_text(arena, &telemetry->metric) || !copy_text(arena, &telemetry->unit) ||
        (size > 0 && !telemetry->bounds))
        return NULL;
    context->telemetry = telemetry;
    return telemetry;
}

static enum status import_point(struct import *import, struct import_metric *context,
                                const struct otlp_point *point, struct err *err)
{
    struct attributes attributes;
    bool cleaned = context->cleaned;
    enum status status = attributes_of(import, &point->attributes, &attributes, &cleaned, err);
    if (status != STATUS_OK)
        return status;
    struct telemetry *telemetry = telemetry_of(import, context, point);
    struct series *series = NULL;
    if (telemetry)
        series = series_import(import->maker, context->owner, telemetry, &context->resource,
                               &attributes, context->metric->temporality,
                               context->metric->is_histogram ? SERIES_HISTOGRAM : SERIES_GAUGE);
    if (!series)
        return no_memory(err);
    series->cleaned = cleaned;
    struct series_point out = {
        .series = series,
        .start_unix_nano = point->start_unix_nano,
        .time_unix_nano = point->time_unix_nano,
        .counts = point->bucket_counts,
        .counts_size = point->bucket_count,
        .count = point->count,
        .has_sum = point->has_sum,
        .sum = point->sum,
        .flags = point->flags,
    };
    import->cleaned = import->cleaned || cleaned;
    for (size_t i = 0; import->cleaned && i < import->count; i++)
        if (series_point_merge(&import->points[i], &out))
            return STATUS_OK;
    import->points[import->count++] = out;
    return STATUS_OK;
}

static enum status import_scope(struct import *import, struct import_metric *context,
                                struct err *err)
{
    for (size_t i = 0; i < context->scope->metric_count; i++) {
        context->metric = &context->scope->metrics[i];
        context->telemetry = NULL;
        for (size_t j = 0; j < context->metric->point_count; j++) {
            enum status status = import_point(import, context, &context->metric->points[j], err);
            if (status != STATUS_OK)
                return status;
        }
    }
    return STATUS_OK;
}

enum status import_request(struct import *import, struct bytes payload, enum payload_format format,
                           struct err *err)
{
    ASSERT(import && import->maker && import->scratch);
    struct otlp_request request;
    enum status status = otlp_request_decode(payload, format, import->scratch, &request, err);
    if (status != STATUS_OK)
        return status;
    arena_rewind(&import->maker->scratch);
    import->points = arena_array(import->scratch, request.point_count + 1, sizeof(*import->points));
    if (!import->points)
        return no_memory(err);
    for (size_t i = 0; i < request.resource_count; i++) {
        const struct otlp_resource *resource = &request.resources[i];
        struct import_metric context = {0};
        struct attributes all;
        status = otlp_attributes_decode(&resource->attributes, import->scratch, &all, err);
        if (status == STATUS_OK)
            status = attributes_of(import, &resource->attributes, &context.resource,
                                   &context.cleaned, err);
        if (status != STATUS_OK)
            return status;
        const struct attribute *redacted = attributes_find(all, "scf.redacted");
        context.redacted = redacted && redacted->type == ATTRIBUTE_BOOL && redacted->integer != 0;
        context.owner = owner_of(import, context.resource);
        for (size_t j = 0; j < resource->scope_count && status == STATUS_OK; j++) {
            context.scope = &resource->scopes[j];
            status = context.owner ? import_scope(import, &context, err) : no_memory(err);
        }
        if (status != STATUS_OK)
            return status;
    }
    ASSERT(import->count <= request.point_count);
    return STATUS_OK;
}

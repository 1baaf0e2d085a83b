/* OTLP/JSON to the neutral tree, for files that a person hands to the importer (R-DEC-1).
 *
 * jansson parses the text. It allocates with malloc, not from the arena, so its memory is bounded
 * by the size of the input: at most about 100 bytes for each byte (an array of empty objects). Its
 * stack is bounded by a scan of the nesting before it starts. Integers without quotes must fit
 * int64; larger ones are written as strings, as the mapping does. */
#include "core/base/assert.h"
#include "core/base/limits.h"
#include "core/otlp/json_attribute.h"
#include "core/otlp/json_field.h"
#include "core/otlp/request.h"
#include <string.h>

struct walk {
    struct arena *arena;
    struct otlp_request *request;
    struct err *err;
};

static void *array_new(struct walk *walk, size_t count, size_t size)
{
    ASSERT(count > 0);
    void *array = arena_array(walk->arena, count, size);
    if (array == NULL)
        err_set(walk->err, STATUS_NO_MEMORY, NULL,
                "cannot decode OTLP/JSON: it needs more than %zu bytes of memory",
                walk->arena->limit);
    return array;
}

/* A string member, copied: json values do not live as long as the tree. */
static enum status text_copy(struct walk *walk, const json_t *object, const char *name,
                             struct bytes *out)
{
    struct bytes text = {0};
    enum status status = otlp_json_text(object, name, &text, walk->err);
    if (status != STATUS_OK || text.size == 0)
        return status;
    uint8_t *copy = array_new(walk, text.size, 1);
    if (copy == NULL)
        return STATUS_NO_MEMORY;
    memcpy(copy, text.data, text.size);
    *out = (struct bytes){.data = copy, .size = text.size};
    return STATUS_OK;
}

static enum status u64_member(struct walk *walk, const json_t *object, const char *name,
                              uint64_t *out)
{
    const json_t *member = otlp_json_member(object, name);
    return member != NULL ? otlp_json_u64(member, name, out, walk->err) : STATUS_OK;
}

static enum status buckets_decode(struct walk *walk, const json_t *from, struct otlp_point *to)
{
    const json_t *counts = NULL;
    enum status status =
        otlp_json_array(from, "bucketCounts", &counts, &to->bucket_count, walk->err);
    if (status != STATUS_OK || to->bucket_count == 0)
        return status;
    uint64_t *array = array_new(walk, to->bucket_count, sizeof *array);
    if (array == NULL)
        return STATUS_NO_MEMORY;
    to->bucket_counts = array;
    for (size_t i = 0; status == STATUS_OK && i < to->bucket_count; i++)
        status = otlp_json_u64(json_array_get(counts, i), "bucketCounts", &array[i], walk->err);
    return status;
}

static enum status bounds_decode(struct walk *walk, const json_t *from, struct otlp_point *to)
{
    const json_t *bounds = NULL;
    enum status status =
        otlp_json_array(from, "explicitBounds", &bounds, &to->bound_count, walk->err);
    if (status != STATUS_OK || to->bound_count == 0)
        return status;
    double *array = array_new(walk, to->bound_count, sizeof *array);
    if (array == NULL)
        return STATUS_NO_MEMORY;
    to->bounds = array;
    for (size_t i = 0; status == STATUS_OK && i < to->bound_count; i++)
        status =
            otlp_json_double(json_array_get(bounds, i), "explicitBounds", &array[i], walk->err);
    return status;
}

static enum status histogram_point_decode(struct walk *walk, const json_t *from,
                                          struct otlp_point *to)
{
    uint64_t flags = 0;
    const json_t *sum = otlp_json_member(from, "sum");
    enum status status = u64_member(walk, from, "startTimeUnixNano", &to->start_unix_nano);
    if (status == STATUS_OK)
        status = u64_member(walk, from, "timeUnixNano", &to->time_unix_nano);
    if (status == STATUS_OK)
        status = u64_member(walk, from, "count", &to->count);
    if (status == STATUS_OK)
        status = u64_member(walk, from, "flags", &flags);
    if (status == STATUS_OK && flags > UINT32_MAX)
        status = otlp_json_error("flags", "an unsigned 32-bit integer", walk->err);
    to->flags = (uint32_t)flags;
    to->has_sum = sum != NULL;
    if (status == STATUS_OK && sum != NULL)
        status = otlp_json_double(sum, "sum", &to->sum, walk->err);
    if (status == STATUS_OK)
        status = buckets_decode(walk, from, to);
    return status == STATUS_OK ? bounds_decode(walk, from, to) : status;
}

static enum status points_decode(struct walk *walk, const json_t *data, struct otlp_metric *metric)
{
    const json_t *points = NULL;
    size_t count = 0;
    enum status status = otlp_json_objects(data, "dataPoints", &points, &count, walk->err);
    if (status != STATUS_OK || count == 0)
        return status;
    metric->points = array_new(walk, count, sizeof *metric->points);
    if (metric->points == NULL)
        return STATUS_NO_MEMORY;
    metric->point_count = count;
    walk->request->point_count += count;
    for (size_t i = 0; status == STATUS_OK && i < count; i++) {
        const json_t *point = json_array_get(points, i);
        status = otlp_json_attributes(point, walk->arena, &metric->points[i].attributes, walk->err);
        if (status == STATUS_OK && metric->is_histogram)
            status = histogram_point_decode(walk, point, &metric->points[i]);
    }
    return status;
}

static enum status metric_decode(struct walk *walk, const json_t *from, struct otlp_metric *to)
{
    static const char *const kinds[] = {"histogram", "gauge", "sum", "exponentialHistogram",
                                        "summary"};
    static const char *const temporalities[] = {"AGGREGATION_TEMPORALITY_UNSPECIFIED",
                                                "AGGREGATION_TEMPORALITY_DELTA",
                                                "AGGREGATION_TEMPORALITY_CUMULATIVE"};
    const json_t *data = NULL;
    enum status status = text_copy(walk, from, "unit", &to->unit);
    for (size_t i = 0; status == STATUS_OK && i < sizeof kinds / sizeof *kinds; i++) {
        const json_t *found = NULL;
        status = otlp_json_object(from, kinds[i], &found, walk->err);
        if (found != NULL && data != NULL)
            return otlp_json_error(kinds[i], "the only data of its metric", walk->err);
        if (found != NULL) {
            data = found;
            to->is_histogram = i == 0;
        }
    }
    if (status != STATUS_OK || data == NULL)
        return status;
    if (to->is_histogram)
        status = otlp_json_enum(data, "aggregationTemporality", temporalities, 3, &to->temporality,
                                walk->err);
    return status == STATUS_OK ? points_decode(walk, data, to) : status;
}

static enum status scope_decode(struct walk *walk, const json_t *from, struct otlp_scope *to)
{
    const json_t *scope = NULL;
    const json_t *metrics = NULL;
    size_t count = 0;
    enum status status = otlp_json_object(from, "scope", &scope, walk->err);
    if (status == STATUS_OK && scope != NULL)
        status = text_copy(walk, scope, "name", &to->name);
    if (status == STATUS_OK && scope != NULL)
        status = text_copy(walk, scope, "version", &to->version);
    if (status == STATUS_OK)
        status = otlp_json_objects(from, "metrics", &metrics, &count, walk->err);
    if (status != STATUS_OK || count == 0)
        return status;
    to->metrics = array_new(walk, count, sizeof *to->metrics);
    if (to->metrics == NULL)
        return STATUS_NO_MEMORY;
    for (size_t i = 0; status == STATUS_OK && i < count; i++) {
        const json_t *metric = json_array_get(metrics, i);
        struct otlp_metric *slot = &to->metrics[to->metric_count];
        struct bytes name = {0};
        status = text_copy(walk, metric, "name", &name);
        if (status != STATUS_OK)
            break;
        if (!otlp_metric_source(name, &slot->source)) {
            walk->request->skipped_metrics++;
            continue;
        }
        slot->name = name;
        to->metric_count++;
        status = metric_decode(walk, metric, slot);
    }
    return status;
}

static enum status resource_decode(struct walk *walk, const json_t *from, struct otlp_resource *to)
{
    const json_t *resource = NULL;
    const json_t *scopes = NULL;
    size_t count = 0;
    enum status status = otlp_json_object(from, "resource", &resource, walk->err);
    if (status == STATUS_OK && resource != NULL)
        status = otlp_json_attributes(resource, walk->arena, &to->attributes, walk->err);
    if (status == STATUS_OK)
        status = otlp_json_objects(from, "scopeMetrics", &scopes, &count, walk->err);
    if (status != STATUS_OK || count == 0)
        return status;
    to->scopes = array_new(walk, count, sizeof *to->scopes);
    if (to->scopes == NULL)
        return STATUS_NO_MEMORY;
    to->scope_count = count;
    for (size_t i = 0; status == STATUS_OK && i < count; i++)
        status = scope_decode(walk, json_array_get(scopes, i), &to->scopes[i]);
    return status;
}

static enum status request_decode(struct walk *walk, const json_t *root)
{
    const json_t *resources = NULL;
    size_t count = 0;
    if (!json_is_object(root))
        return err_set(walk->err, STATUS_INVALID, NULL,
                       "cannot decode OTLP/JSON: the request is not an object");
    enum status status = otlp_json_objects(root, "resourceMetrics", &resources, &count, walk->err);
    walk->request->names_resources = resources != NULL;
    if (status != STATUS_OK || count == 0)
        return status;
    walk->request->resources = array_new(walk, count, sizeof *walk->request->resources);
    if (walk->request->resources == NULL)
        return STATUS_NO_MEMORY;
    walk->request->resource_count = count;
    for (size_t i = 0; status == STATUS_OK && i < count; i++)
        status = resource_decode(walk, json_array_get(resources, i), &walk->request->resources[i]);
    return status;
}

/* How deep arrays and objects nest, brackets inside strings not counted. Exact for valid JSON; for
 * anything else it is never less than what a parser enters. */
static int nesting(struct bytes text)
{
    int depth = 0;
    int deepest = 0;
    bool in_string = false;
    for (size_t i = 0; i < text.size; i++) {
        uint8_t byte = text.data[i];
        if (in_string) {
            i += byte == '\\' ? 1 : 0;
            in_string = byte != '"';
        } else if (byte == '"') {
            in_string = true;
        } else if (byte == '[' || byte == '{') {
            depth++;
        } else if (byte == ']' || byte == '}') {
            depth--;
        }
        deepest = depth > deepest ? depth : deepest;
    }
    return deepest;
}

enum status otlp_request_json(struct bytes payload, struct arena *arena, struct otlp_request *out,
                              struct err *err)
{
    ASSERT(payload.size <= LIMIT_PAYLOAD_BYTES);
    *out = (struct otlp_request){0};
    if (nesting(payload) > LIMIT_JSON_DEPTH)
        return err_set(err, STATUS_INVALID, NULL,
                       "cannot decode OTLP/JSON: it nests deeper than %d levels", LIMIT_JSON_DEPTH);
    json_error_t where;
    json_t *root = json_loadb((const char *)payload.data, payload.size,
                              JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &where);
    if (root == NULL)
        return err_set(err, STATUS_INVALID, NULL,
                       "cannot decode OTLP/JSON: malformed JSON at line %d, column %d", where.line,
                       where.column);
    struct walk walk = {.arena = arena, .request = out, .err = err};
    enum status status = request_decode(&walk, root);
    json_decref(root);
    return status;
}

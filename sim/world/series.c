#include "sim/world/series.h"

#include "core/base/assert.h"
#include "gen/otlp.pb-c.h"
#include "sim/limits.h"
#include "sim/world/collect.h"
#include <stdio.h>
#include <string.h>

enum status series_maker_init(struct series_maker *maker, struct rules rules, struct names *names,
                              struct err *err)
{
    ASSERT(maker);
    *maker = (struct series_maker){.hasher = sha256_hasher_new(), .rules = rules, .names = names};
    arena_init(&maker->arena, LIMIT_WORLD_BYTES);
    arena_init(&maker->scratch, LIMIT_WORLD_BYTES);
    if (!maker->hasher)
        return err_set(err, STATUS_NO_MEMORY, NULL, "could not get SHA-256 from libcrypto");
    return STATUS_OK;
}

void series_maker_free(struct series_maker *maker)
{
    sha256_hasher_free(maker->hasher);
    arena_free(&maker->arena);
    arena_free(&maker->scratch);
}

struct bytes telemetry_metric(const struct telemetry *telemetry)
{
    if (telemetry->metric.data)
        return telemetry->metric;
    return bytes_of(telemetry->source == SOURCE_SPAN ? "scf.http.server.request.duration.from_spans"
                                                     : "http.server.request.duration");
}

/* ---- encoding ---- */

static ProtobufCBinaryData binary(struct bytes bytes)
{
    return (ProtobufCBinaryData){bytes.size, (uint8_t *)(uintptr_t)bytes.data};
}

static void set_value(Otlp__AnyValue *value, const struct attribute *attribute)
{
    switch (attribute->type) {
    case ATTRIBUTE_ABSENT:
        return;
    case ATTRIBUTE_BOOL:
        value->bool_value = attribute->integer != 0;
        break;
    case ATTRIBUTE_INT:
        value->int_value = attribute->integer;
        break;
    case ATTRIBUTE_DOUBLE:
        value->double_value = attribute->number;
        break;
    case ATTRIBUTE_STRING:
    case ATTRIBUTE_ARRAY:
    case ATTRIBUTE_KVLIST:
    case ATTRIBUTE_BYTES:
        value->string_value = binary(attribute->bytes); /* one union */
        break;
    }
    /* the numbers of enum attribute_type but for the order of the scalars */
    static const Otlp__AnyValue__ValueCase cases[] = {
        [ATTRIBUTE_STRING] = OTLP__ANY_VALUE__VALUE_STRING_VALUE,
        [ATTRIBUTE_BOOL] = OTLP__ANY_VALUE__VALUE_BOOL_VALUE,
        [ATTRIBUTE_INT] = OTLP__ANY_VALUE__VALUE_INT_VALUE,
        [ATTRIBUTE_DOUBLE] = OTLP__ANY_VALUE__VALUE_DOUBLE_VALUE,
        [ATTRIBUTE_ARRAY] = OTLP__ANY_VALUE__VALUE_ARRAY_VALUE,
        [ATTRIBUTE_KVLIST] = OTLP__ANY_VALUE__VALUE_KVLIST_VALUE,
        [ATTRIBUTE_BYTES] = OTLP__ANY_VALUE__VALUE_BYTES_VALUE,
    };
    value->value_case = cases[attribute->type];
}

bool key_value_encode(const struct attribute *attribute, struct arena *arena,
                      ProtobufCBinaryData *out)
{
    ASSERT(attribute && out);
    Otlp__AnyValue value;
    Otlp__KeyValue pair;
    otlp__any_value__init(&value);
    otlp__key_value__init(&pair);
    set_value(&value, attribute);
    pair.has_key = 1;
    pair.key = binary(attribute->key);
    pair.value = &value;
    out->len = otlp__key_value__get_packed_size(&pair);
    out->data = arena_alloc(arena, out->len + 1);
    return out->data && otlp__key_value__pack(&pair, out->data) == out->len;
}

static bool encode_all(struct attributes attributes, struct arena *arena, struct key_values *out)
{
    out->count = attributes.count;
    out->items = arena_array(arena, attributes.count + 1, sizeof(*out->items));
    if (!out->items)
        return false;
    for (size_t i = 0; i < attributes.count; i++)
        if (!key_value_encode(&attributes.items[i], arena, &out->items[i]))
            return false;
    return true;
}

/* ---- attributes of a telemetry and a request ---- */

static struct attribute text_attribute(const char *key, struct bytes value)
{
    return (struct attribute){.key = bytes_of(key), .type = ATTRIBUTE_STRING, .bytes = value};
}

static bool resource_attributes(struct arena *arena, const struct telemetry *telemetry,
                                struct bytes service, struct attributes *out)
{
    size_t count = telemetry->attribute_count;
    struct attribute *items = arena_array(arena, count + 1, sizeof(*items));
    if (!items)
        return false;
    size_t used = 0;
    if (service.data)
        items[used++] = text_attribute("service.name", service);
    for (size_t i = 0; i < count; i++)
        items[used++] = telemetry->attributes[i];
    *out = (struct attributes){items, used};
    return true;
}

static bool request_attributes(struct arena *arena, const struct request *request,
                               struct bytes route, struct attributes *out)
{
    struct attribute *items = arena_array(arena, request->attribute_count + 4, sizeof(*items));
    if (!items)
        return false;
    size_t used = 0;
    if (request->method.data)
        items[used++] = text_attribute("http.request.method", request->method);
    if (route.data)
        items[used++] = text_attribute("http.route", route);
    if (request->status_kind == REQUEST_STATUS_TEXT)
        items[used++] = text_attribute("http.response.status_code", request->status_text);
    else if (request->status_kind == REQUEST_STATUS_INT)
        items[used++] = (struct attribute){.key = bytes_of("http.response.status_code"),
                                           .type = ATTRIBUTE_INT,
                                           .integer = request->status};
    if (request->error_type.data)
        items[used++] = text_attribute("error.type", request->error_type);
    for (size_t i = 0; i < request->attribute_count; i++)
        items[used++] = request->attributes[i];
    *out = (struct attributes){items, used};
    return true;
}

/* ---- names ---- */

static void append(char **at, struct bytes text)
{
    memcpy(*at, " ", 1);
    if (text.size > 0)
        memcpy(*at + 1, text.data, text.size);
    *at += 1 + text.size;
}

/* "shop-1 GET /cart 200 timeout span", "-" for what is absent, in scratch. */
static struct bytes readable(struct arena *scratch, const char *owner,
                             const struct attributes *attributes, enum source source)
{
    static const char *const keys[] = {"http.request.method", "http.route",
                                       "http.response.status_code", "error.type"};
    struct bytes parts[4] = {0};
    char numbers[4][24];
    size_t size = strlen(owner) + sizeof(" span");
    for (size_t i = 0; i < 4; i++) {
        const struct attribute *attribute = attributes_find(*attributes, keys[i]);
        parts[i] = i < 3 ? bytes_of("-") : (struct bytes){0};
        if (attribute && attribute->type == ATTRIBUTE_STRING && attribute->bytes.size > 0)
            parts[i] = attribute->bytes;
        if (attribute && attribute->type == ATTRIBUTE_INT) {
            (void)snprintf(numbers[i], sizeof(numbers[i]), "%lld", (long long)attribute->integer);
            parts[i] = bytes_of(numbers[i]);
        }
        size += parts[i].size + 1;
    }
    char *text = arena_alloc(scratch, size);
    if (!text)
        return (struct bytes){0};
    memcpy(text, owner, strlen(owner));
    char *at = text + strlen(owner);
    for (size_t i = 0; i < 4; i++)
        if (parts[i].data)
            append(&at, parts[i]);
    if (source == SOURCE_SPAN)
        append(&at, bytes_of("span"));
    return (struct bytes){(uint8_t *)text, (size_t)(at - text)};
}

/* ---- making ---- */

static bool identify(struct series_maker *maker, struct series *series,
                     const struct attributes *resource, const struct attributes *attributes)
{
    struct err err;
    const struct telemetry *telemetry = series->telemetry;
    struct series_identity identity = {
        .tenant = &telemetry->tenant,
        .resource_hash = &series->resource_hash,
        .scope_name = telemetry->scope_name,
        .scope_version = telemetry->scope_version,
        .metric_name = telemetry_metric(telemetry),
        .attributes = *attributes,
    };
    return identity_resource(maker->hasher, *resource, &maker->scratch, &series->resource_hash,
                             &err) == STATUS_OK &&
           identity_series(maker->hasher, &identity, maker->rules, &maker->scratch,
                           &series->series_hash, &err) == STATUS_OK;
}

struct series *series_import(struct series_maker *maker, const char *owner,
                             const struct telemetry *telemetry, const struct attributes *resource,
                             const struct attributes *attributes, int temporality,
                             enum series_type type)
{
    ASSERT(maker && owner && telemetry && resource && attributes);
    struct series *series = arena_array(&maker->arena, 1, sizeof(*series));
    if (!series)
        return NULL;
    series->telemetry = telemetry;
    series->temporality = temporality;
    series->type = type;
    struct bytes text = readable(&maker->scratch, owner, attributes, telemetry->source);
    if (!text.data || !encode_all(*resource, &maker->arena, &series->resource) ||
        !encode_all(*attributes, &maker->arena, &series->attributes) ||
        !identify(maker, series, resource, attributes))
        return NULL;
    if (!maker->names) {
        series->name = arena_copy(&maker->arena, text.data, text.size);
        return series->name ? series : NULL;
    }
    (void)names_add(maker->names, &series->resource_hash, bytes_of(owner));
    series->name = names_add(maker->names, &series->series_hash, text);
    return series;
}

bool series_point_merge(struct series_point *to, const struct series_point *point)
{
    bool equal = (to->series->cleaned || point->series->cleaned) &&
                 sha256_compare(&to->series->series_hash, &point->series->series_hash) == 0 &&
                 to->start_unix_nano == point->start_unix_nano &&
                 to->time_unix_nano == point->time_unix_nano && to->flags == point->flags &&
                 to->counts_size == point->counts_size;
    if (!equal)
        return false;
    uint64_t *counts = (uint64_t *)(uintptr_t)to->counts;
    for (size_t i = 0; i < point->counts_size; i++)
        counts[i] += point->counts[i];
    to->count += point->count;
    to->sum += point->sum;
    to->has_sum = to->has_sum && point->has_sum;
    return true;
}

struct series *series_make(struct series_maker *maker, const char *owner,
                           const struct telemetry *telemetry, const struct request *request,
                           int temporality, enum series_type type, bool collected)
{
    ASSERT(maker && telemetry && request);
    arena_rewind(&maker->scratch);
    struct bytes service = telemetry->service;
    struct bytes route = request->route;
    if (collected) {
        service = collect_service(service, &maker->scratch);
        route = collect_route(route, &maker->scratch);
        if ((telemetry->service.data && !service.data) || (request->route.data && !route.data))
            return NULL;
    }
    struct attributes resource, attributes;
    if (!resource_attributes(&maker->scratch, telemetry, service, &resource) ||
        !request_attributes(&maker->scratch, request, route, &attributes))
        return NULL;
    struct series *series =
        series_import(maker, owner, telemetry, &resource, &attributes, temporality, type);
    if (series)
        series->cleaned = route.data != request->route.data;
    return series;
}

/* OTLP/JSON (proto3 JSON mapping, keys in lowerCamelCase, enums as numbers) through jansson.
 *
 * Integers may be numbers (5, 5.0) or decimal strings, doubles numbers or "NaN", "Infinity",
 * "-Infinity", bytes are base64, null and absent are the default, unknown keys are skipped. Arrays
 * and lists of a value are encoded as protobuf, because identity hashes that form (R-ID-2).
 */
#include "sim/ref/tree.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct bytes own(struct tree *tree, struct bytes text)
{
    struct bytes copy = must_copy(text);
    uint8_t *owned = (uint8_t *)(uintptr_t)copy.data;
    list_add(&tree->texts, &owned, sizeof owned);
    return copy;
}

/* A member that is there and not null. */
static json_t *member(const json_t *object, const char *key)
{
    json_t *value = json_object_get(object, key);
    return json_is_null(value) ? NULL : value;
}

static struct bytes string_of(const json_t *value)
{
    return (struct bytes){(const uint8_t *)json_string_value(value), json_string_length(value)};
}

static bool read_text(struct tree *tree, const json_t *object, const char *key, struct bytes *out)
{
    const json_t *value = member(object, key);
    *out = value && json_is_string(value) ? own(tree, string_of(value)) : bytes_of("");
    return !value || json_is_string(value);
}

static bool digits_only(const char *text, size_t size)
{
    size_t i = 0;
    while (i < size && text[i] >= '0' && text[i] <= '9')
        i++;
    return size > 0 && i == size;
}

static bool to_unsigned(const json_t *value, uint64_t *out)
{
    if (json_is_integer(value)) {
        *out = (uint64_t)json_integer_value(value);
        return json_integer_value(value) >= 0;
    }
    if (json_is_real(value)) {
        double number = json_real_value(value);
        *out = number >= 0 && number < 0x1p64 ? (uint64_t)number : 0;
        return (double)*out == number;
    }
    const char *text = json_string_value(value);
    if (!text || !digits_only(text, json_string_length(value)))
        return false;
    errno = 0;
    *out = strtoull(text, NULL, 10);
    return errno == 0;
}

static bool to_signed(const json_t *value, int64_t *out)
{
    if (json_is_integer(value)) {
        *out = json_integer_value(value);
        return true;
    }
    if (json_is_real(value)) {
        double number = json_real_value(value);
        *out = number >= -0x1p63 && number < 0x1p63 ? (int64_t)number : 0;
        return (double)*out == number;
    }
    const char *text = json_string_value(value);
    size_t sign = text && text[0] == '-';
    if (!text || !digits_only(text + sign, json_string_length(value) - sign))
        return false;
    errno = 0;
    *out = strtoll(text, NULL, 10);
    return errno == 0;
}

static bool to_double(const json_t *value, double *out)
{
    *out = json_number_value(value);
    if (json_is_number(value))
        return true;
    const char *text = json_string_value(value);
    if (!text)
        return false;
    *out = strcmp(text, "NaN") == 0 ? (double)NAN : (double)INFINITY;
    if (strcmp(text, "-Infinity") == 0)
        *out = -*out;
    return isnan(*out) || strstr(text, "Infinity") == text + (*out < 0);
}

static bool read_unsigned(const json_t *object, const char *key, uint64_t *out)
{
    const json_t *value = member(object, key);
    *out = 0;
    return !value || to_unsigned(value, out);
}

/* The members of an array; an absent one has none. */
static bool read_array(const json_t *object, const char *key, json_t **out)
{
    *out = member(object, key);
    return json_is_object(object) && (!*out || json_is_array(*out));
}

/* ---- values ---- */

static bool base64(const json_t *value, struct list *out)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    struct bytes text = string_of(value);
    while (text.size > 0 && text.data[text.size - 1] == '=')
        text.size--;
    uint32_t bits = 0;
    int bit_count = 0;
    for (size_t i = 0; i < text.size; i++) {
        const char *digit = text.data[i] ? strchr(digits, text.data[i]) : NULL;
        if (!digit)
            return false;
        bits = bits << 6 | (uint32_t)(digit - digits);
        bit_count += 6;
        if (bit_count >= 8) {
            bit_count -= 8;
            uint8_t byte = (uint8_t)(bits >> bit_count);
            list_add(out, &byte, 1);
        }
    }
    return json_is_string(value) && text.size % 4 != 1;
}

/* The one member of an AnyValue that is set: its name's type; TREE_ABSENT for none. False for two.
 */
static bool value_member(const json_t *any, enum tree_type *type, json_t **value)
{
    static const char *const names[] = {
        [TREE_STRING] = "stringValue", [TREE_BOOL] = "boolValue",   [TREE_INT] = "intValue",
        [TREE_DOUBLE] = "doubleValue", [TREE_ARRAY] = "arrayValue", [TREE_KVLIST] = "kvlistValue",
        [TREE_BYTES] = "bytesValue"};
    *type = TREE_ABSENT;
    if (!json_is_object(any))
        return false;
    for (int i = TREE_STRING; i <= TREE_BYTES; i++) {
        json_t *found = member(any, names[i]);
        if (found && *type != TREE_ABSENT)
            return false;
        if (found) {
            *type = (enum tree_type)i;
            *value = found;
        }
    }
    return true;
}

static void put_varint(struct list *out, uint64_t value)
{
    do {
        uint8_t byte = (uint8_t)((value & 0x7f) | (value > 0x7f ? 0x80 : 0));
        list_add(out, &byte, 1);
        value >>= 7;
    } while (value > 0);
}

static void put_field(struct list *out, unsigned field, const void *data, size_t size)
{
    put_varint(out, field << 3 | 2);
    put_varint(out, size);
    for (size_t i = 0; i < size; i++)
        list_add(out, (const uint8_t *)data + i, 1);
}

static bool encode_value(const json_t *any, struct list *out);

/* An ArrayValue (values: 1) or KeyValueList (values: 1, each key: 1, value: 2). */
static bool encode_values(const json_t *object, bool pairs, struct list *out)
{
    json_t *values, *item;
    size_t i;
    if (!read_array(object, "values", &values))
        return false;
    json_array_foreach(values, i, item)
    {
        struct list inner = {0}, value = {0};
        bool good = true;
        if (pairs) {
            const json_t *key = member(item, "key");
            const json_t *any = member(item, "value");
            good = (!key || json_is_string(key)) && (!any || encode_value(any, &value));
            if (key && json_string_length(key) > 0)
                put_field(&inner, 1, json_string_value(key), json_string_length(key));
            if (any)
                put_field(&inner, 2, value.items, value.count);
        } else {
            good = encode_value(item, &inner);
        }
        put_field(out, 1, inner.items, inner.count);
        list_free(&inner);
        list_free(&value);
        if (!good)
            return false;
    }
    return true;
}

static bool encode_value(const json_t *any, struct list *out)
{
    enum tree_type type;
    json_t *value = NULL;
    struct list inner = {0};
    int64_t integer;
    double number;
    bool good = value_member(any, &type, &value);
    if (good && type == TREE_STRING) {
        good = json_is_string(value);
        put_field(out, 1, json_string_value(value), json_string_length(value));
    } else if (good && type == TREE_BOOL) {
        good = json_is_boolean(value);
        put_varint(out, 2 << 3);
        put_varint(out, json_is_true(value));
    } else if (good && type == TREE_INT) {
        good = to_signed(value, &integer);
        put_varint(out, 3 << 3);
        put_varint(out, good ? (uint64_t)integer : 0);
    } else if (good && type == TREE_DOUBLE) {
        good = to_double(value, &number);
        uint64_t bits;
        memcpy(&bits, &number, sizeof bits);
        put_varint(out, 4 << 3 | 1);
        for (int i = 0; i < 8; i++) {
            uint8_t byte = (uint8_t)(bits >> (8 * i));
            list_add(out, &byte, 1);
        }
    } else if (good && type != TREE_ABSENT) {
        good = type == TREE_BYTES ? base64(value, &inner)
                                  : encode_values(value, type == TREE_KVLIST, &inner);
        put_field(out, (unsigned)type, inner.items, inner.count);
    }
    list_free(&inner);
    return good;
}

static bool read_value(struct tree *tree, const json_t *any, struct tree_attribute *attribute)
{
    json_t *value = NULL;
    struct list bytes = {0};
    if (!value_member(any, &attribute->type, &value))
        return false;
    bool good = true;
    switch (attribute->type) {
    case TREE_ABSENT:
        break;
    case TREE_STRING:
        good = json_is_string(value);
        attribute->bytes = own(tree, good ? string_of(value) : bytes_of(""));
        break;
    case TREE_BOOL:
        good = json_is_boolean(value);
        attribute->integer = json_is_true(value);
        break;
    case TREE_INT:
        good = to_signed(value, &attribute->integer);
        break;
    case TREE_DOUBLE:
        good = to_double(value, &attribute->number);
        break;
    case TREE_ARRAY:
    case TREE_KVLIST:
        good = encode_values(value, attribute->type == TREE_KVLIST, &bytes);
        attribute->bytes = own(tree, (struct bytes){bytes.items, bytes.count});
        break;
    case TREE_BYTES:
        good = base64(value, &bytes);
        attribute->bytes = own(tree, (struct bytes){bytes.items, bytes.count});
        break;
    }
    list_free(&bytes);
    return good;
}

static bool read_attributes(struct tree *tree, const json_t *object, struct list *attributes)
{
    json_t *pairs, *pair;
    size_t i;
    if (!read_array(object, "attributes", &pairs))
        return false;
    json_array_foreach(pairs, i, pair)
    {
        struct tree_attribute attribute = {0};
        const json_t *value = member(pair, "value");
        if (!json_is_object(pair) || !read_text(tree, pair, "key", &attribute.key) ||
            (value && !read_value(tree, value, &attribute)))
            return false;
        list_add(attributes, &attribute, sizeof attribute);
    }
    return true;
}

/* ---- points, metrics, resources; a half-read item is in its list, so that it is freed ---- */

static bool read_numbers(const json_t *object, struct tree_point *point)
{
    json_t *buckets, *bounds, *item;
    size_t i;
    const json_t *sum = member(object, "sum");
    uint64_t flags, count;
    double bound;
    if (!read_unsigned(object, "startTimeUnixNano", &point->start) ||
        !read_unsigned(object, "timeUnixNano", &point->time) ||
        !read_unsigned(object, "count", &point->count) || !read_unsigned(object, "flags", &flags) ||
        (sum && !to_double(sum, &point->sum)) || !read_array(object, "bucketCounts", &buckets) ||
        !read_array(object, "explicitBounds", &bounds))
        return false;
    point->has_sum = sum != NULL;
    point->no_value = (flags & 1) != 0;
    json_array_foreach(buckets, i, item)
    {
        if (!to_unsigned(item, &count))
            return false;
        list_add(&point->buckets, &count, sizeof count);
    }
    json_array_foreach(bounds, i, item)
    {
        if (!to_double(item, &bound))
            return false;
        list_add(&point->bounds, &bound, sizeof bound);
    }
    return true;
}

static bool read_points(struct tree *tree, const json_t *data, struct tree_metric *metric)
{
    json_t *points, *item;
    size_t i;
    if (!read_array(data, "dataPoints", &points))
        return false;
    json_array_foreach(points, i, item)
    {
        struct tree_point empty = {0};
        struct tree_point *point = list_add(&metric->points, &empty, sizeof empty);
        if (!read_attributes(tree, item, &point->attributes) ||
            (metric->is_histogram && !read_numbers(item, point)))
            return false;
    }
    return true;
}

static bool read_metric(struct tree *tree, const json_t *object, struct tree_metric *metric)
{
    static const char *const kinds[] = {"histogram", "gauge", "sum", "exponentialHistogram",
                                        "summary"};
    if (!json_is_object(object) || !read_text(tree, object, "name", &metric->name) ||
        !read_text(tree, object, "unit", &metric->unit))
        return false;
    if (!tree_metric_is_ours(metric->name))
        return true;
    for (int i = 0; i < 5; i++) {
        const json_t *data = member(object, kinds[i]);
        if (!data)
            continue;
        const json_t *temporality = member(data, "aggregationTemporality");
        metric->is_histogram = i == 0;
        if (metric->is_histogram && temporality) {
            if (!json_is_integer(temporality))
                return false;
            metric->temporality = (int)json_integer_value(temporality);
        }
        return read_points(tree, data, metric);
    }
    return true;
}

static bool read_scope(struct tree *tree, const json_t *object, struct tree_scope *scope)
{
    json_t *metrics, *item;
    size_t i;
    const json_t *identity = member(object, "scope");
    if (identity &&
        (!json_is_object(identity) || !read_text(tree, identity, "name", &scope->name) ||
         !read_text(tree, identity, "version", &scope->version)))
        return false;
    if (!read_array(object, "metrics", &metrics))
        return false;
    json_array_foreach(metrics, i, item)
    {
        struct tree_metric empty = {0};
        if (!read_metric(tree, item, list_add(&scope->metrics, &empty, sizeof empty)))
            return false;
    }
    return true;
}

static bool read_resource(struct tree *tree, const json_t *object, struct tree_resource *resource)
{
    json_t *scopes, *item;
    size_t i;
    const json_t *attributes = member(object, "resource");
    if (attributes && !read_attributes(tree, attributes, &resource->attributes))
        return false;
    if (!read_array(object, "scopeMetrics", &scopes))
        return false;
    json_array_foreach(scopes, i, item)
    {
        struct tree_scope empty = {0};
        if (!read_scope(tree, item, list_add(&resource->scopes, &empty, sizeof empty)))
            return false;
    }
    return true;
}

bool tree_read_json(struct tree *tree, struct bytes payload)
{
    json_t *resources, *item;
    size_t i;
    json_t *root = json_loadb((const char *)payload.data, payload.size, JSON_ALLOW_NUL, NULL);
    bool good = root && read_array(root, "resourceMetrics", &resources);
    if (good) {
        json_array_foreach(resources, i, item)
        {
            struct tree_resource empty = {0};
            good =
                good && read_resource(tree, item, list_add(&tree->resources, &empty, sizeof empty));
        }
    }
    json_decref(root);
    return good;
}

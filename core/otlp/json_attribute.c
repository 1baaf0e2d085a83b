/* Wire format (protobuf encoding guide): a field is a varint key (number << 3 | wire type), then
 *
 *   type 0  varint                  bool, int64
 *   type 1  8 bytes little endian   double
 *   type 2  varint size, bytes      string, bytes, messages
 *
 *   KeyValue { 1 key, 2 AnyValue }     ArrayValue { 1 AnyValue... }     KeyValueList { 1
 * KeyValue... } AnyValue { one of: 1 string, 2 bool, 3 int, 4 double, 5 ArrayValue, 6 KeyValueList,
 * 7 bytes }
 */
#include "core/otlp/json_attribute.h"
#include "core/base/assert.h"
#include <string.h>

/* A message being written; grows in the arena. */
struct wire {
    struct arena *arena;
    struct err *err;
    uint8_t *data;
    size_t size;
    size_t capacity;
};

enum wire_type { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_SIZED = 2 };

static enum status append(struct wire *wire, const void *data, size_t size)
{
    if (wire->capacity - wire->size < size) {
        size_t capacity = 2 * wire->capacity + size + 32;
        uint8_t *grown = arena_alloc(wire->arena, capacity);
        if (grown == NULL)
            return err_set(wire->err, STATUS_NO_MEMORY, NULL,
                           "cannot decode OTLP/JSON: it needs more than %zu bytes of memory",
                           wire->arena->limit);
        if (wire->size > 0)
            memcpy(grown, wire->data, wire->size);
        wire->data = grown;
        wire->capacity = capacity;
    }
    if (size > 0)
        memcpy(wire->data + wire->size, data, size);
    wire->size += size;
    return STATUS_OK;
}

static enum status append_varint(struct wire *wire, uint64_t value)
{
    uint8_t bytes[10];
    size_t size = 0;
    for (; value >= 0x80; value >>= 7)
        bytes[size++] = (uint8_t)(value | 0x80);
    bytes[size++] = (uint8_t)value;
    ASSERT(size <= sizeof bytes);
    return append(wire, bytes, size);
}

static enum status append_key(struct wire *wire, uint32_t field, enum wire_type type)
{
    return append_varint(wire, (uint64_t)field << 3 | (uint64_t)type);
}

static enum status append_number(struct wire *wire, uint32_t field, uint64_t value)
{
    enum status status = append_key(wire, field, WIRE_VARINT);
    return status == STATUS_OK ? append_varint(wire, value) : status;
}

static enum status append_sized(struct wire *wire, uint32_t field, struct bytes bytes)
{
    enum status status = append_key(wire, field, WIRE_SIZED);
    if (status == STATUS_OK)
        status = append_varint(wire, bytes.size);
    return status == STATUS_OK ? append(wire, bytes.data, bytes.size) : status;
}

static enum status append_double(struct wire *wire, uint32_t field, double value)
{
    uint64_t bits = 0;
    uint8_t bytes[8];
    memcpy(&bits, &value, sizeof bits);
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(bits >> (8 * i));
    enum status status = append_key(wire, field, WIRE_FIXED64);
    return status == STATUS_OK ? append(wire, bytes, sizeof bytes) : status;
}

static enum status append_message(struct wire *wire, uint32_t field, const struct wire *message)
{
    return append_sized(wire, field, (struct bytes){.data = message->data, .size = message->size});
}

static enum status value_encode(const json_t *value, struct wire *wire);

static enum status pair_encode(const json_t *pair, struct wire *wire)
{
    struct bytes key = {0};
    const json_t *value = NULL;
    enum status status = otlp_json_text(pair, "key", &key, wire->err);
    if (status == STATUS_OK && key.size > 0)
        status = append_sized(wire, 1, key);
    if (status == STATUS_OK)
        status = otlp_json_object(pair, "value", &value, wire->err);
    if (status != STATUS_OK || value == NULL)
        return status;
    struct wire inner = {.arena = wire->arena, .err = wire->err};
    status = value_encode(value, &inner);
    return status == STATUS_OK ? append_message(wire, 2, &inner) : status;
}

/* ArrayValue or KeyValueList: both are a repeated field 1, called "values" in JSON. */
static enum status list_encode(const json_t *list, bool of_pairs, struct wire *wire)
{
    const json_t *values = NULL;
    size_t count = 0;
    if (!json_is_object(list))
        return otlp_json_error(of_pairs ? "kvlistValue" : "arrayValue", "an object", wire->err);
    enum status status = otlp_json_objects(list, "values", &values, &count, wire->err);
    for (size_t i = 0; status == STATUS_OK && i < count; i++) {
        struct wire inner = {.arena = wire->arena, .err = wire->err};
        const json_t *item = json_array_get(values, i);
        status = of_pairs ? pair_encode(item, &inner) : value_encode(item, &inner);
        if (status == STATUS_OK)
            status = append_message(wire, 1, &inner);
    }
    return status;
}

static enum status bool_encode(const json_t *value, struct wire *wire)
{
    if (!json_is_boolean(value))
        return otlp_json_error("boolValue", "true or false", wire->err);
    return append_number(wire, 2, json_is_true(value) ? 1 : 0);
}

static enum status int_encode(const json_t *value, struct wire *wire)
{
    int64_t integer = 0;
    enum status status = otlp_json_i64(value, "intValue", &integer, wire->err);
    return status == STATUS_OK ? append_number(wire, 3, (uint64_t)integer) : status;
}

static enum status double_encode(const json_t *value, struct wire *wire)
{
    double number = 0;
    enum status status = otlp_json_double(value, "doubleValue", &number, wire->err);
    return status == STATUS_OK ? append_double(wire, 4, number) : status;
}

static enum status nested_encode(const json_t *value, bool of_pairs, struct wire *wire)
{
    struct wire inner = {.arena = wire->arena, .err = wire->err};
    enum status status = list_encode(value, of_pairs, &inner);
    return status == STATUS_OK ? append_message(wire, of_pairs ? 6 : 5, &inner) : status;
}

static enum status bytes_encode(const json_t *value, struct wire *wire)
{
    struct bytes bytes = {0};
    enum status status = otlp_json_base64(value, "bytesValue", wire->arena, &bytes, wire->err);
    return status == STATUS_OK ? append_sized(wire, 7, bytes) : status;
}

/* AnyValue. It may be empty; two kinds at once are an error, as in every protobuf JSON parser. */
static enum status value_encode(const json_t *value, struct wire *wire)
{
    static const char *const kinds[] = {"stringValue", "boolValue",   "intValue",  "doubleValue",
                                        "arrayValue",  "kvlistValue", "bytesValue"};
    const json_t *found = NULL;
    size_t kind = 0;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const json_t *member = otlp_json_member(value, kinds[i]);
        if (member != NULL && found != NULL)
            return otlp_json_error("value", "one value", wire->err);
        if (member != NULL) {
            found = member;
            kind = i;
        }
    }
    if (found == NULL)
        return STATUS_OK;
    struct bytes text = {0};
    switch (kind) {
    case 0:
        if (otlp_json_text(value, kinds[0], &text, wire->err) != STATUS_OK)
            return STATUS_INVALID;
        return append_sized(wire, 1, text);
    case 1:
        return bool_encode(found, wire);
    case 2:
        return int_encode(found, wire);
    case 3:
        return double_encode(found, wire);
    case 4:
        return nested_encode(found, false, wire);
    case 5:
        return nested_encode(found, true, wire);
    default:
        return bytes_encode(found, wire);
    }
}

enum status otlp_json_attributes(const json_t *object, struct arena *arena,
                                 struct otlp_attributes *out, struct err *err)
{
    const json_t *pairs = NULL;
    *out = (struct otlp_attributes){0};
    enum status status = otlp_json_objects(object, "attributes", &pairs, &out->count, err);
    if (status != STATUS_OK || out->count == 0)
        return status;
    out->items = arena_array(arena, out->count, sizeof *out->items);
    if (out->items == NULL)
        return err_set(err, STATUS_NO_MEMORY, NULL,
                       "cannot decode OTLP/JSON: it needs more than %zu bytes of memory",
                       arena->limit);
    for (size_t i = 0; status == STATUS_OK && i < out->count; i++) {
        struct wire wire = {.arena = arena, .err = err};
        status = pair_encode(json_array_get(pairs, i), &wire);
        out->items[i] = (struct bytes){.data = wire.data, .size = wire.size};
    }
    return status;
}

/* One encoded OTLP KeyValue to the typed attribute of identity.h. */
#include "core/base/assert.h"
#include "core/otlp/pb.h"
#include "gen/otlp.pb-c.h"

static struct bytes bytes_of_pb(ProtobufCBinaryData data)
{
    return (struct bytes){.data = data.data, .size = data.len};
}

static void value_copy(const Otlp__AnyValue *value, struct attribute *out)
{
    switch (value->value_case) {
    case OTLP__ANY_VALUE__VALUE_STRING_VALUE:
        out->type = ATTRIBUTE_STRING;
        out->bytes = bytes_of_pb(value->string_value);
        break;
    case OTLP__ANY_VALUE__VALUE_BOOL_VALUE:
        out->type = ATTRIBUTE_BOOL;
        out->integer = value->bool_value != 0;
        break;
    case OTLP__ANY_VALUE__VALUE_INT_VALUE:
        out->type = ATTRIBUTE_INT;
        out->integer = value->int_value;
        break;
    case OTLP__ANY_VALUE__VALUE_DOUBLE_VALUE:
        out->type = ATTRIBUTE_DOUBLE;
        out->number = value->double_value;
        break;
    case OTLP__ANY_VALUE__VALUE_ARRAY_VALUE:
        out->type = ATTRIBUTE_ARRAY;
        out->bytes = bytes_of_pb(value->array_value);
        break;
    case OTLP__ANY_VALUE__VALUE_KVLIST_VALUE:
        out->type = ATTRIBUTE_KVLIST;
        out->bytes = bytes_of_pb(value->kvlist_value);
        break;
    case OTLP__ANY_VALUE__VALUE_BYTES_VALUE:
        out->type = ATTRIBUTE_BYTES;
        out->bytes = bytes_of_pb(value->bytes_value);
        break;
    default:
        out->type = ATTRIBUTE_ABSENT;
        break;
    }
}

enum status otlp_attributes_decode(const struct otlp_attributes *encoded, struct arena *arena,
                                   struct attributes *out, struct err *err)
{
    ASSERT(encoded->count == 0 || encoded->items != NULL);
    *out = (struct attributes){.count = encoded->count};
    if (encoded->count == 0)
        return STATUS_OK;
    struct pb_allocator allocator;
    otlp_pb_init(&allocator, arena);
    struct attribute *items = arena_array(arena, encoded->count, sizeof *items);
    if (items == NULL) {
        allocator.exhausted = true;
        return otlp_pb_error(&allocator, "attributes", err);
    }
    for (size_t i = 0; i < encoded->count; i++) {
        struct bytes raw = encoded->items[i];
        Otlp__KeyValue *pair = otlp__key_value__unpack(&allocator.base, raw.size, raw.data);
        if (pair == NULL)
            return otlp_pb_error(&allocator, "an attribute", err);
        if (pair->has_key)
            items[i].key = bytes_of_pb(pair->key);
        if (pair->value != NULL)
            value_copy(pair->value, &items[i]);
    }
    out->items = items;
    return STATUS_OK;
}

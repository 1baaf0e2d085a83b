/* R-ID-1 and the encoding of R-ID-2, as core/model/identity.h documents it byte by byte. */
#include "sim/ref/message.h"

#include "core/base/assert.h"
#include <openssl/sha.h>
#include <stdlib.h>
#include <string.h>

static void put(struct list *out, const void *data, size_t size)
{
    const uint8_t *byte = data;
    for (size_t i = 0; i < size; i++)
        list_add(out, &byte[i], 1);
}

static void put_big_endian(struct list *out, uint64_t value, int size)
{
    for (int i = size - 1; i >= 0; i--) {
        uint8_t byte = (uint8_t)(value >> (8 * i));
        put(out, &byte, 1);
    }
}

static void put_str(struct list *out, struct bytes bytes)
{
    put_big_endian(out, bytes.size, 4);
    put(out, bytes.data, bytes.size);
}

static void put_attribute(struct list *out, const struct tree_attribute *attribute)
{
    uint64_t bits;
    put_str(out, attribute->key);
    put_big_endian(out, (uint64_t)attribute->type, 1);
    switch (attribute->type) {
    case TREE_ABSENT:
        break;
    case TREE_BOOL:
        put_big_endian(out, (uint64_t)attribute->integer, 1);
        break;
    case TREE_INT:
        put_big_endian(out, (uint64_t)attribute->integer, 8);
        break;
    case TREE_DOUBLE:
        memcpy(&bits, &attribute->number, sizeof bits);
        put_big_endian(out, bits, 8);
        break;
    case TREE_STRING:
    case TREE_ARRAY:
    case TREE_KVLIST:
    case TREE_BYTES:
        put_str(out, attribute->bytes);
        break;
    }
}

struct encoded {
    struct bytes key;
    struct list bytes;
};

/* By key; equal keys of a resource by their encoded bytes. */
static int compare_encoded(const void *left, const void *right)
{
    const struct encoded *a = left;
    const struct encoded *b = right;
    int order = bytes_compare(a->key, b->key);
    if (order == 0)
        order = bytes_compare((struct bytes){a->bytes.items, a->bytes.count},
                              (struct bytes){b->bytes.items, b->bytes.count});
    return order;
}

/* Equal elements are equal to the last byte, so an unstable sort does no harm. */
static void put_attributes(struct list *out, const struct list *attributes, bool without_stamps)
{
    struct list sorted = {0};
    const struct tree_attribute *attribute;
    for (LIST_EACH(attribute, attributes)) {
        bool stamp = attribute->key.size >= 4 && memcmp(attribute->key.data, "scf.", 4) == 0;
        if (stamp && without_stamps)
            continue;
        struct encoded encoded = {.key = attribute->key};
        put_attribute(&encoded.bytes, attribute);
        list_add(&sorted, &encoded, sizeof encoded);
    }
    if (sorted.count > 0)
        qsort(sorted.items, sorted.count, sizeof(struct encoded), compare_encoded);
    put_big_endian(out, sorted.count, 4);
    struct encoded *encoded;
    for (LIST_EACH(encoded, &sorted)) {
        put(out, encoded->bytes.items, encoded->bytes.count);
        list_free(&encoded->bytes);
    }
    list_free(&sorted);
}

static void finish(struct list *out, uint8_t hash[32])
{
    const unsigned char *done = SHA256(out->items, out->count, hash);
    ASSERT(done == hash);
    list_free(out);
}

void identify_resource(const struct list *attributes, uint8_t hash[32])
{
    struct list out = {0};
    put(&out, "metersim.resource.1", sizeof "metersim.resource.1");
    put_attributes(&out, attributes, true);
    finish(&out, hash);
}

void identify_series(const struct uuid *tenant, const uint8_t resource_hash[32],
                     const struct tree_scope *scope, bool with_scope, struct bytes metric,
                     const struct list *attributes, uint8_t hash[32])
{
    struct list out = {0};
    put(&out, "metersim.series.1", sizeof "metersim.series.1");
    put(&out, tenant->bytes, sizeof tenant->bytes);
    put(&out, resource_hash, 32);
    if (with_scope) {
        put_str(&out, scope->name);
        put_str(&out, scope->version);
    }
    put_str(&out, metric);
    put_attributes(&out, attributes, false);
    finish(&out, hash);
}

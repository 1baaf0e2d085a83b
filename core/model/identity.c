/* The encodings of identity.h, and their hashes. */
#include "core/model/identity.h"
#include "core/base/assert.h"
#include <stdlib.h>
#include <string.h>

/* Big-endian output into a buffer of known size. */
struct encode_buffer {
    uint8_t *data;
    size_t size;
    size_t used;
};

static void put(struct encode_buffer *buffer, const void *data, size_t size)
{
    ASSERT(size <= buffer->size - buffer->used);
    if (size)
        memcpy(buffer->data + buffer->used, data, size);
    buffer->used += size;
}

static void put_integer(struct encode_buffer *buffer, uint64_t value, size_t width)
{
    ASSERT(width <= 8);
    for (size_t i = 0; i < width; i++) {
        uint8_t byte = (uint8_t)(value >> (8 * (width - 1 - i)));
        put(buffer, &byte, 1);
    }
}

#define STR_SIZE(bytes) (4 + (bytes).size)

static void put_str(struct encode_buffer *buffer, struct bytes bytes)
{
    ASSERT(bytes.size <= UINT32_MAX);
    put_integer(buffer, bytes.size, 4);
    put(buffer, bytes.data, bytes.size);
}

/* The word and its NUL. */
static void put_domain(struct encode_buffer *buffer, const char *domain)
{
    put(buffer, domain, strlen(domain) + 1);
}

static size_t value_size(const struct attribute *attribute)
{
    switch (attribute->type) {
    case ATTRIBUTE_ABSENT:
        return 0;
    case ATTRIBUTE_BOOL:
        return 1;
    case ATTRIBUTE_INT:
    case ATTRIBUTE_DOUBLE:
        return 8;
    case ATTRIBUTE_STRING:
    case ATTRIBUTE_BYTES:
    case ATTRIBUTE_ARRAY:
    case ATTRIBUTE_KVLIST:
        return STR_SIZE(attribute->bytes);
    }
    ASSERT(attribute->type <= ATTRIBUTE_BYTES); /* no other type is ever decoded */
    return 0;
}

static void put_attribute(struct encode_buffer *buffer, const struct attribute *attribute)
{
    put_str(buffer, attribute->key);
    put_integer(buffer, (uint64_t)attribute->type, 1);
    switch (attribute->type) {
    case ATTRIBUTE_ABSENT:
        break;
    case ATTRIBUTE_BOOL:
        put_integer(buffer, attribute->integer != 0, 1);
        break;
    case ATTRIBUTE_INT:
        put_integer(buffer, (uint64_t)attribute->integer, 8);
        break;
    case ATTRIBUTE_DOUBLE: {
        uint64_t bits;
        memcpy(&bits, &attribute->number, sizeof bits);
        put_integer(buffer, bits, 8);
        break;
    }
    case ATTRIBUTE_STRING:
    case ATTRIBUTE_BYTES:
    case ATTRIBUTE_ARRAY:
    case ATTRIBUTE_KVLIST:
        put_str(buffer, attribute->bytes);
        break;
    }
}

/* An attribute's key and its encoding, the unit of sorting. */
struct encoded {
    struct bytes key;
    struct bytes encoding;
};

static int encoded_compare(const void *a, const void *b)
{
    const struct encoded *left = a;
    const struct encoded *right = b;
    int order = bytes_compare(left->key, right->key);
    /* equal encodings are interchangeable, so that no further tie-break is needed */
    return order != 0 ? order : bytes_compare(left->encoding, right->encoding);
}

static bool is_stamp(const struct attribute *attribute)
{
    static const char prefix[] = "scf.";
    size_t size = sizeof prefix - 1;
    return attribute->key.size >= size && !memcmp(attribute->key.data, prefix, size);
}

/* Attributes in their order of identity. */
struct encoded_set {
    struct encoded *items;
    size_t count;
    size_t size; /* of all encodings */
};

static enum status encode_attributes(struct attributes attributes, bool leave_stamps_out,
                                     struct arena *scratch, struct encoded_set *set,
                                     struct err *err)
{
    size_t size = 0;
    for (size_t i = 0; i < attributes.count; i++)
        size += STR_SIZE(attributes.items[i].key) + 1 + value_size(&attributes.items[i]);
    struct encode_buffer buffer = {arena_alloc(scratch, size), size, 0};
    *set = (struct encoded_set){arena_array(scratch, attributes.count, sizeof *set->items), 0, 0};
    if (!buffer.data || !set->items)
        return err_set(err, STATUS_NO_MEMORY, NULL, "could not sort %zu attributes: out of memory",
                       attributes.count);
    for (size_t i = 0; i < attributes.count; i++) {
        if (leave_stamps_out && is_stamp(&attributes.items[i]))
            continue;
        size_t from = buffer.used;
        put_attribute(&buffer, &attributes.items[i]);
        set->items[set->count++] =
            (struct encoded){attributes.items[i].key, {buffer.data + from, buffer.used - from}};
    }
    set->size = buffer.used;
    if (set->count > 1)
        qsort(set->items, set->count, sizeof *set->items, encoded_compare);
    return STATUS_OK;
}

static void put_set(struct encode_buffer *buffer, const struct encoded_set *set)
{
    ASSERT(set->count <= UINT32_MAX);
    put_integer(buffer, set->count, 4);
    for (size_t i = 0; i < set->count; i++)
        put(buffer, set->items[i].encoding.data, set->items[i].encoding.size);
}

const struct attribute *attributes_find(struct attributes attributes, const char *key)
{
    struct bytes wanted = bytes_of(key);
    for (size_t i = 0; i < attributes.count; i++)
        if (bytes_equal(attributes.items[i].key, wanted))
            return &attributes.items[i];
    return NULL;
}

static int key_compare(const void *a, const void *b)
{
    return bytes_compare(*(const struct bytes *)a, *(const struct bytes *)b);
}

enum status attributes_repeated(struct attributes attributes, struct arena *scratch, bool *repeated,
                                struct err *err)
{
    ASSERT(scratch && err);
    ASSERT(repeated);
    *repeated = false;
    if (attributes.count < 2)
        return STATUS_OK;
    struct bytes *keys = arena_array(scratch, attributes.count, sizeof *keys);
    if (!keys)
        return err_set(err, STATUS_NO_MEMORY, NULL, "could not sort %zu attributes: out of memory",
                       attributes.count);
    for (size_t i = 0; i < attributes.count; i++)
        keys[i] = attributes.items[i].key;
    qsort(keys, attributes.count, sizeof *keys, key_compare);
    for (size_t i = 1; i < attributes.count && !*repeated; i++)
        *repeated = bytes_equal(keys[i - 1], keys[i]);
    return STATUS_OK;
}

static enum status buffer_new(struct arena *scratch, size_t size, struct encode_buffer *buffer,
                              struct err *err)
{
    *buffer = (struct encode_buffer){arena_alloc(scratch, size), size, 0};
    if (!buffer->data)
        return err_set(err, STATUS_NO_MEMORY, NULL, "could not encode an identity: out of memory");
    return STATUS_OK;
}

enum status identity_resource(struct sha256_hasher *hasher, struct attributes resource,
                              struct arena *scratch, struct sha256 *out, struct err *err)
{
    static const char domain[] = "metersim.resource.1";
    ASSERT(hasher && scratch);
    ASSERT(out && err);
    struct encoded_set set;
    struct encode_buffer buffer;
    enum status status = encode_attributes(resource, true, scratch, &set, err);
    if (status == STATUS_OK)
        status = buffer_new(scratch, sizeof domain + 4 + set.size, &buffer, err);
    if (status != STATUS_OK)
        return status;
    put_domain(&buffer, domain);
    put_set(&buffer, &set);
    ASSERT(buffer.used == buffer.size);
    sha256_of(hasher, buffer.data, buffer.used, out);
    return STATUS_OK;
}

enum status identity_series(struct sha256_hasher *hasher, const struct series_identity *identity,
                            struct rules rules, struct arena *scratch, struct sha256 *out,
                            struct err *err)
{
    static const char domain[] = "metersim.series.1";
    ASSERT(hasher && scratch && out && err);
    ASSERT(identity && identity->tenant && identity->resource_hash);
    bool scoped = rules_on(rules, RULE_S3);
    size_t scope_size =
        scoped ? STR_SIZE(identity->scope_name) + STR_SIZE(identity->scope_version) : 0;
    struct encoded_set set;
    struct encode_buffer buffer;
    enum status status = encode_attributes(identity->attributes, false, scratch, &set, err);
    if (status == STATUS_OK) {
        size_t size = sizeof domain + sizeof identity->tenant->bytes +
                      sizeof identity->resource_hash->bytes + scope_size +
                      STR_SIZE(identity->metric_name) + 4 + set.size;
        status = buffer_new(scratch, size, &buffer, err);
    }
    if (status != STATUS_OK)
        return status;
    put_domain(&buffer, domain);
    put(&buffer, identity->tenant->bytes, sizeof identity->tenant->bytes);
    put(&buffer, identity->resource_hash->bytes, sizeof identity->resource_hash->bytes);
    if (scoped) {
        put_str(&buffer, identity->scope_name);
        put_str(&buffer, identity->scope_version);
    }
    put_str(&buffer, identity->metric_name);
    put_set(&buffer, &set);
    ASSERT(buffer.used == buffer.size);
    sha256_of(hasher, buffer.data, buffer.used, out);
    return STATUS_OK;
}

/* The lock id of: domain NUL tenant:16 [number:8]. */
static int64_t lock_id(struct sha256_hasher *hasher, const char *domain, const struct uuid *tenant,
                       const int64_t *number)
{
    ASSERT(hasher && tenant);
    uint8_t encoding[64];
    struct encode_buffer buffer = {encoding, sizeof encoding, 0};
    put_domain(&buffer, domain);
    put(&buffer, tenant->bytes, sizeof tenant->bytes);
    if (number)
        put_integer(&buffer, (uint64_t)*number, 8);
    struct sha256 hash;
    sha256_of(hasher, encoding, buffer.used, &hash);
    uint64_t id = 0;
    for (size_t i = 0; i < 8; i++)
        id = id << 8 | hash.bytes[i];
    return (int64_t)id;
}

int64_t identity_hour_lock(struct sha256_hasher *hasher, const struct uuid *tenant, int64_t hour_us)
{
    return lock_id(hasher, "metersim.hour.1", tenant, &hour_us);
}

int64_t identity_day_lock(struct sha256_hasher *hasher, const struct uuid *tenant, int64_t day)
{
    return lock_id(hasher, "metersim.day.1", tenant, &day);
}

int64_t identity_tenant_lock(struct sha256_hasher *hasher, const struct uuid *tenant)
{
    return lock_id(hasher, "metersim.tenant.1", tenant, NULL);
}

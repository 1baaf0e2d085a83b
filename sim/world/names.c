#include "sim/world/names.h"

#include "core/base/arena.h"
#include "core/base/assert.h"
#include "sim/limits.h"
#include "sim/world/index.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

struct name {
    struct sha256 hash;
    const char *text;
};

struct tenant_name {
    struct uuid tenant;
    const char *text;
};

struct names {
    struct arena arena;
    struct name *items;
    size_t count;
    size_t capacity;
    struct index by_hash;
    struct index by_text;
    struct tenant_name *tenants;
    size_t tenant_count;
    size_t tenant_capacity;
};

struct names *names_new(void)
{
    struct names *names = calloc(1, sizeof(*names));
    if (names)
        arena_init(&names->arena, LIMIT_WORLD_BYTES);
    return names;
}

void names_free(struct names *names)
{
    if (!names)
        return;
    arena_free(&names->arena);
    free(names->items);
    index_free(&names->by_hash);
    index_free(&names->by_text);
    free(names->tenants);
    free(names);
}

/* ---- the array and its two indexes ---- */

static uint64_t hash_key(const struct sha256 *hash)
{
    return XXH3_64bits(hash->bytes, sizeof(hash->bytes));
}

static uint64_t text_key(const char *text)
{
    return XXH3_64bits(text, strlen(text));
}

static bool hash_equal(const void *context, size_t number, const void *key)
{
    const struct names *names = context;
    return sha256_compare(&names->items[number].hash, key) == 0;
}

static bool text_equal(const void *context, size_t number, const void *key)
{
    const struct names *names = context;
    return strcmp(names->items[number].text, key) == 0;
}

static const struct name *find(const struct names *names, const struct sha256 *hash)
{
    size_t number = index_find(&names->by_hash, hash_key(hash), hash_equal, names, hash);
    return number == INDEX_NONE ? NULL : &names->items[number];
}

static bool text_is_taken(const struct names *names, const char *text)
{
    return index_find(&names->by_text, text_key(text), text_equal, names, text) != INDEX_NONE;
}

static bool reserve(struct names *names)
{
    if (names->count < names->capacity)
        return true;
    size_t capacity = names->capacity ? 2 * names->capacity : 64;
    struct name *grown = realloc(names->items, capacity * sizeof(*grown));
    if (!grown)
        return false;
    names->items = grown;
    names->capacity = capacity;
    return true;
}

/* ---- text ---- */

/* As it is when it is storable; else each byte outside printable ASCII as \xhh. */
static char *printable(struct names *names, struct bytes text)
{
    if (text_is_storable(text))
        return arena_copy(&names->arena, text.data, text.size);
    char *out = arena_alloc(&names->arena, 4 * text.size + 1);
    if (!out)
        return NULL;
    char *at = out;
    for (size_t i = 0; i < text.size; i++) {
        uint8_t byte = text.data[i];
        if (byte >= 0x20 && byte < 0x7f) {
            *at++ = (char)byte;
            continue;
        }
        memcpy(at, "\\x", 2);
        hex_format(&byte, 1, at + 2);
        at += 4;
    }
    *at = '\0';
    return out;
}

static const char *make_unique(struct names *names, const char *text)
{
    if (!text || !text_is_taken(names, text))
        return text;
    size_t size = strlen(text) + 24;
    char *out = arena_alloc(&names->arena, size);
    if (!out)
        return NULL;
    for (unsigned long number = 2;; number++) {
        (void)snprintf(out, size, "%s #%lu", text, number);
        if (!text_is_taken(names, out))
            return out;
    }
}

const char *names_add(struct names *names, const struct sha256 *hash, struct bytes text)
{
    ASSERT(names && hash);
    const struct name *known = find(names, hash);
    if (known)
        return known->text;
    const char *unique = NULL;
    if (reserve(names))
        unique = make_unique(names, printable(names, text));
    if (!unique)
        return "?"; /* out of memory */
    names->items[names->count] = (struct name){*hash, unique};
    if (!index_add(&names->by_hash, hash_key(hash), names->count) ||
        !index_add(&names->by_text, text_key(unique), names->count))
        return "?";
    names->count++;
    return unique;
}

const char *names_of(struct names *names, const struct sha256 *hash)
{
    ASSERT(names && hash);
    const struct name *known = find(names, hash);
    if (known)
        return known->text;
    char hex[9];
    hex_format(hash->bytes, 4, hex);
    return names_add(names, hash, bytes_of(hex));
}

/* ---- tenants ---- */

const char *names_add_tenant(struct names *names, const struct uuid *tenant, const char *text)
{
    ASSERT(names && tenant && text);
    for (size_t i = 0; i < names->tenant_count; i++)
        if (uuid_compare(&names->tenants[i].tenant, tenant) == 0)
            return names->tenants[i].text;
    if (names->tenant_count == names->tenant_capacity) {
        size_t capacity = names->tenant_capacity ? 2 * names->tenant_capacity : 8;
        struct tenant_name *grown = realloc(names->tenants, capacity * sizeof(*grown));
        if (!grown)
            return "?";
        names->tenants = grown;
        names->tenant_capacity = capacity;
    }
    const char *copy = arena_copy(&names->arena, text, strlen(text));
    if (!copy)
        return "?";
    names->tenants[names->tenant_count++] = (struct tenant_name){*tenant, copy};
    return copy;
}

const char *names_of_tenant(struct names *names, const struct uuid *tenant)
{
    char text[UUID_TEXT_SIZE + 1];
    uuid_format(tenant, text);
    return names_add_tenant(names, tenant, text); /* an unknown one is shown as it is */
}

/* SHA-256 of "metersim.tenant.name.1" NUL name, cut to a version 8 uuid (RFC 9562). */
bool names_tenant_uuid(const char *name, struct uuid *out)
{
    ASSERT(name && out);
    static const char prefix[] = "metersim.tenant.name.1";
    size_t size = strlen(name);
    struct sha256 hash;
    struct sha256_hasher *hasher = sha256_hasher_new();
    char *text = malloc(sizeof(prefix) + size);
    bool made = hasher && text;
    if (made) {
        memcpy(text, prefix, sizeof(prefix));
        memcpy(text + sizeof(prefix), name, size);
        sha256_of(hasher, text, sizeof(prefix) + size, &hash);
        memcpy(out->bytes, hash.bytes, sizeof(out->bytes));
        out->bytes[6] = (uint8_t)((out->bytes[6] & 0x0f) | 0x80);
        out->bytes[8] = (uint8_t)((out->bytes[8] & 0x3f) | 0x80);
    }
    free(text);
    sha256_hasher_free(hasher);
    return made;
}

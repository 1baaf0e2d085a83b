#include "core/otlp/cache.h"
#include "core/base/assert.h"
#include "core/base/limits.h"
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define CACHE_PROBES    8
#define CACHE_SLOTS_MIN 64
#define CACHE_SLOTS_MAX ((size_t)2 * LIMIT_CACHE_ENTRIES)

struct cache_entry {
    struct bytes key;
    struct point_facts facts;
};

void otlp_cache_init(struct otlp_cache *cache)
{
    *cache = (struct otlp_cache){0};
    arena_init(&cache->arena, LIMIT_CACHE_BYTES);
}

void otlp_cache_free(struct otlp_cache *cache)
{
    arena_free(&cache->arena);
    free(cache->slots);
    *cache = (struct otlp_cache){0};
}

/* Appends a 4-byte size and the bytes: no two lists of parts give the same key. */
static uint8_t *put_part(uint8_t *at, struct bytes part)
{
    uint32_t size = (uint32_t)part.size;
    ASSERT(part.size <= UINT32_MAX);
    memcpy(at, &size, sizeof size);
    at += sizeof size;
    if (part.size > 0)
        memcpy(at, part.data, part.size);
    return at + part.size;
}

struct bytes otlp_cache_key(const struct uuid *tenant, const struct sha256 *resource_hash,
                            const struct otlp_scope *scope, const struct otlp_metric *metric,
                            const struct otlp_attributes *attributes, struct arena *arena)
{
    const struct bytes fixed[] = {{tenant->bytes, sizeof tenant->bytes},
                                  {resource_hash->bytes, sizeof resource_hash->bytes},
                                  scope->name,
                                  scope->version,
                                  metric->name};
    const size_t fixed_count = sizeof fixed / sizeof *fixed;
    size_t size = 4 * (fixed_count + attributes->count);
    for (size_t i = 0; i < fixed_count; i++)
        size += fixed[i].size;
    for (size_t i = 0; i < attributes->count; i++)
        size += attributes->items[i].size;
    uint8_t *data = arena_alloc(arena, size);
    if (data == NULL)
        return (struct bytes){0};
    uint8_t *at = data;
    for (size_t i = 0; i < fixed_count; i++)
        at = put_part(at, fixed[i]);
    for (size_t i = 0; i < attributes->count; i++)
        at = put_part(at, attributes->items[i]);
    ASSERT((size_t)(at - data) == size);
    return (struct bytes){.data = data, .size = size};
}

static uint64_t key_hash(struct bytes key)
{
    return XXH3_64bits(key.data, key.size);
}

/* The slot that holds the key, or NULL. */
static struct cache_slot *slot_find(const struct otlp_cache *cache, uint64_t hash, struct bytes key)
{
    for (size_t i = 0; cache->slot_count > 0 && i < CACHE_PROBES; i++) {
        struct cache_slot *slot = &cache->slots[(hash + i) & (cache->slot_count - 1)];
        if (slot->entry != NULL && slot->hash == hash && bytes_equal(slot->entry->key, key))
            return slot;
    }
    return NULL;
}

/* A free slot for the hash; when there is none, the first one, whose entry is forgotten. */
static struct cache_slot *slot_take(struct otlp_cache *cache, uint64_t hash)
{
    ASSERT(cache->slot_count > CACHE_PROBES);
    for (size_t i = 0; i < CACHE_PROBES; i++) {
        struct cache_slot *slot = &cache->slots[(hash + i) & (cache->slot_count - 1)];
        if (slot->entry == NULL) {
            cache->entry_count++;
            return slot;
        }
    }
    return &cache->slots[hash & (cache->slot_count - 1)];
}

/* Twice the slots. False when the machine has no memory; the cache is then as it was. */
static bool grow(struct otlp_cache *cache)
{
    struct cache_slot *old = cache->slots;
    size_t old_count = cache->slot_count;
    size_t count = old_count > 0 ? 2 * old_count : CACHE_SLOTS_MIN;
    struct cache_slot *slots = calloc(count, sizeof *slots);
    if (slots == NULL)
        return false;
    cache->slots = slots;
    cache->slot_count = count;
    cache->entry_count = 0;
    for (size_t i = 0; i < old_count; i++)
        if (old[i].entry != NULL)
            *slot_take(cache, old[i].hash) = old[i];
    free(old);
    return true;
}

static void empty(struct otlp_cache *cache)
{
    arena_free(&cache->arena);
    arena_init(&cache->arena, LIMIT_CACHE_BYTES);
    if (cache->slot_count > 0)
        memset(cache->slots, 0, cache->slot_count * sizeof *cache->slots);
    cache->entry_count = 0;
}

static bool copy(struct arena *arena, struct bytes from, struct bytes *to)
{
    *to = (struct bytes){.data = arena_copy(arena, from.data, from.size), .size = from.size};
    return to->data != NULL;
}

static struct cache_entry *entry_new(struct arena *arena, struct bytes key,
                                     const struct point_facts *facts)
{
    struct cache_entry *entry = arena_alloc(arena, sizeof *entry);
    if (entry == NULL)
        return NULL;
    entry->facts = *facts;
    bool copied = copy(arena, key, &entry->key) &&
                  copy(arena, facts->method, &entry->facts.method) &&
                  copy(arena, facts->route, &entry->facts.route);
    return copied ? entry : NULL;
}

const struct point_facts *otlp_cache_find(const struct otlp_cache *cache, struct bytes key)
{
    ASSERT(key.size > 0);
    struct cache_slot *slot = slot_find(cache, key_hash(key), key);
    return slot != NULL ? &slot->entry->facts : NULL;
}

void otlp_cache_put(struct otlp_cache *cache, struct bytes key, const struct point_facts *facts)
{
    uint64_t hash = key_hash(key);
    ASSERT(slot_find(cache, hash, key) == NULL);
    if (cache->entry_count >= LIMIT_CACHE_ENTRIES)
        empty(cache);
    bool half_full = 2 * cache->entry_count >= cache->slot_count;
    if (half_full && cache->slot_count < CACHE_SLOTS_MAX && !grow(cache))
        return;
    struct cache_entry *entry = entry_new(&cache->arena, key, facts);
    if (entry == NULL) {
        empty(cache);
        entry = entry_new(&cache->arena, key, facts);
    }
    if (entry != NULL)
        *slot_take(cache, hash) = (struct cache_slot){.hash = hash, .entry = entry};
}

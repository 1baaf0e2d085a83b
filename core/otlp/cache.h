/* What a decoder remembers of the points it has met: their facts, by the exact bytes they came from
 *
 *   key = str(resource_hash, tenant)  str(scope name, version)  str(metric name)  str(attribute)...
 *
 * An SDK sends the same attributes with every export, so that nearly every point is found here and
 * neither its attributes are decoded nor its identity is hashed, which is most of the work.
 * A hit is decided by comparing the whole key; what is remembered depends on nothing but the key
 * and the decoder's rules. So a decoder says the same with a cold cache, a warm one, or none.
 *
 * Bounded in entries and bytes (limits.h): a full cache is emptied and filled again. Hostile keys
 * whose hashes collide push each other out; a look-up never takes more than CACHE_PROBES steps.
 */
#ifndef CORE_OTLP_CACHE_H
#define CORE_OTLP_CACHE_H

#include "core/otlp/facts.h"

struct cache_entry;

struct cache_slot {
    uint64_t hash;
    struct cache_entry *entry; /* NULL: free */
};

struct otlp_cache {
    struct arena arena; /* entries, their keys and texts */
    struct cache_slot *slots;
    size_t slot_count; /* 0 before the first put, then a power of two */
    size_t entry_count;
};

void otlp_cache_init(struct otlp_cache *cache);
void otlp_cache_free(struct otlp_cache *cache);

/* The key of a point, built in arena; size 0 when the arena is exhausted (then nothing is cached).
 */
struct bytes otlp_cache_key(const struct uuid *tenant, const struct sha256 *resource_hash,
                            const struct otlp_scope *scope, const struct otlp_metric *metric,
                            const struct otlp_attributes *attributes, struct arena *arena);

/* NULL when not known. The facts and their texts are valid until the next put. */
const struct point_facts *otlp_cache_find(const struct otlp_cache *cache, struct bytes key);

/* Remembers facts that passed the message checks, with copies of key and texts. A put that finds no
 * memory is forgotten. */
void otlp_cache_put(struct otlp_cache *cache, struct bytes key, const struct point_facts *facts);

#endif

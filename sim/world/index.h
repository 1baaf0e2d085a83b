/* Finds items of an array by key: an open-addressed table of (hash, item number). It is only ever
 * looked up, never walked, so no order comes from it.
 *
 * The array is the caller's. Numbers are from 0; each item is added once and never removed.
 */
#ifndef SIM_WORLD_INDEX_H
#define SIM_WORLD_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct index_slot {
    uint64_t hash;
    uint32_t number; /* of the item, plus 1; 0: free */
};

struct index {
    struct index_slot *slots;
    size_t slot_count; /* 0, or a power of two */
    size_t count;
};

#define INDEX_NONE SIZE_MAX

/* Zero-initialise to make one. */
void index_free(struct index *index);

/* The item that equal(context, number, key) accepts, or INDEX_NONE. */
typedef bool index_equal(const void *context, size_t number, const void *key);
size_t index_find(const struct index *index, uint64_t hash, index_equal *equal, const void *context,
                  const void *key);
/* Adds item `number`, whose key is not there yet. False: out of memory. */
bool index_add(struct index *index, uint64_t hash, size_t number);
/* Points the key of an item that is there to another one with an equal key. */
void index_replace(struct index *index, uint64_t hash, size_t old_number, size_t number);

#endif

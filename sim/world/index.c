#include "sim/world/index.h"

#include "core/base/assert.h"
#include <stdlib.h>

void index_free(struct index *index)
{
    free(index->slots);
    *index = (struct index){0};
}

size_t index_find(const struct index *index, uint64_t hash, index_equal *equal, const void *context,
                  const void *key)
{
    ASSERT(index && equal);
    if (index->slot_count == 0)
        return INDEX_NONE;
    size_t mask = index->slot_count - 1;
    for (size_t at = (size_t)hash & mask; index->slots[at].number != 0; at = (at + 1) & mask) {
        const struct index_slot *slot = &index->slots[at];
        if (slot->hash == hash && equal(context, slot->number - 1, key))
            return slot->number - 1;
    }
    return INDEX_NONE;
}

static void put(struct index_slot *slots, size_t slot_count, struct index_slot slot)
{
    size_t mask = slot_count - 1;
    size_t at = (size_t)slot.hash & mask;
    while (slots[at].number != 0)
        at = (at + 1) & mask;
    slots[at] = slot;
}

static bool grow(struct index *index)
{
    size_t slot_count = index->slot_count ? 2 * index->slot_count : 64;
    struct index_slot *slots = calloc(slot_count, sizeof(*slots));
    if (!slots)
        return false;
    for (size_t i = 0; i < index->slot_count; i++)
        if (index->slots[i].number != 0)
            put(slots, slot_count, index->slots[i]);
    free(index->slots);
    index->slots = slots;
    index->slot_count = slot_count;
    return true;
}

bool index_add(struct index *index, uint64_t hash, size_t number)
{
    ASSERT(index && number < UINT32_MAX);
    if (2 * (index->count + 1) > index->slot_count && !grow(index))
        return false;
    put(index->slots, index->slot_count, (struct index_slot){hash, (uint32_t)number + 1});
    index->count++;
    return true;
}

void index_replace(struct index *index, uint64_t hash, size_t old_number, size_t number)
{
    ASSERT(index && index->slot_count > 0 && number < UINT32_MAX);
    size_t mask = index->slot_count - 1;
    size_t at = (size_t)hash & mask;
    while (index->slots[at].number != old_number + 1) {
        ASSERT(index->slots[at].number != 0); /* it must be there */
        at = (at + 1) & mask;
    }
    index->slots[at].number = (uint32_t)number + 1;
}

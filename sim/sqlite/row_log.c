#include "sim/sqlite/row_log.h"

#include "core/base/assert.h"
#include "sim/limits.h"
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define SLOTS_MIN   1024
#define SLOTS_A_ROW 32 /* as many slots are wiped in the time that it takes to free one */

struct row_key row_key_make(uint32_t table, const uint8_t *data, size_t size)
{
    ASSERT(table < TABLES_MAX && size <= UINT32_MAX);
    return (struct row_key){.hash = XXH3_64bits_withSeed(data, size, table + 1),
                            .data = data,
                            .size = (uint32_t)size,
                            .table = table};
}

void row_log_free(struct row_log *log)
{
    free(log->slots);
    *log = (struct row_log){0};
}

void row_log_clear(struct row_log *log)
{
    if (log->count > 0)
        memset(log->slots, 0, log->capacity * sizeof *log->slots);
    log->count = 0;
}

/* The slot of the key, or the free slot where it would go. */
static size_t slot_of(const struct row_log *log, const struct row_key *key)
{
    size_t mask = log->capacity - 1;
    size_t i = key->hash & mask;
    for (; log->slots[i].entry; i = (i + 1) & mask) {
        if (log->slots[i].hash != key->hash)
            continue;
        const struct row_key *other = &log->slots[i].entry->key;
        if (other->table == key->table && other->size == key->size &&
            memcmp(other->data, key->data, key->size) == 0)
            break;
    }
    return i;
}

struct row_entry *row_log_find(const struct row_log *log, const struct row_key *key)
{
    return log->count > 0 ? log->slots[slot_of(log, key)].entry : NULL;
}

static bool grow(struct row_log *log)
{
    size_t capacity = log->capacity > 0 ? log->capacity * 2 : SLOTS_MIN;
    struct row_slot *slots = calloc(capacity, sizeof *slots);
    if (!slots)
        return false;
    for (size_t i = 0; i < log->capacity; i++) {
        if (!log->slots[i].entry)
            continue;
        size_t j = log->slots[i].hash & (capacity - 1);
        while (slots[j].entry)
            j = (j + 1) & (capacity - 1);
        slots[j] = log->slots[i];
    }
    free(log->slots);
    log->slots = slots;
    log->capacity = capacity;
    return true;
}

/* A locked entry in a piece of memory that ends with its key and old_size more bytes. */
static struct row_entry *add(struct row_log *log, struct row_list *list, void *owner,
                             const struct row_key *key, size_t old_size)
{
    if ((log->count + 1) * 2 > log->capacity && !grow(log))
        return NULL;
    struct row_entry *entry = arena_alloc(&list->arena, sizeof *entry + key->size + old_size);
    if (!entry)
        return NULL;
    *entry = (struct row_entry){.next = list->first, .owner = owner, .key = *key};
    memcpy(entry + 1, key->data, key->size);
    entry->key.data = (const uint8_t *)(entry + 1);
    size_t slot = slot_of(log, key);
    ASSERT(!log->slots[slot].entry);
    log->slots[slot] = (struct row_slot){key->hash, entry};
    log->count++;
    list->first = entry;
    list->count++;
    list->tables |= UINT64_C(1) << key->table;
    return entry;
}

struct row_entry *row_log_add(struct row_log *log, struct row_list *list, void *owner,
                              const struct row_key *key)
{
    return add(log, list, owner, key, 0);
}

struct row_entry *row_log_add_changed(struct row_log *log, struct row_list *list, void *owner,
                                      const struct row_key *key, const uint8_t *old,
                                      size_t old_size)
{
    struct row_entry *entry = add(log, list, owner, key, old_size);
    if (!entry)
        return NULL;
    if (old) {
        uint8_t *copy = (uint8_t *)(entry + 1) + key->size;
        memcpy(copy, old, old_size);
        entry->old = copy;
    }
    entry->changed = true;
    list->changed |= UINT64_C(1) << key->table;
    return entry;
}

bool row_log_change(struct row_list *list, struct row_entry *entry, const uint8_t *old,
                    size_t old_size)
{
    if (entry->changed)
        return true;
    if (old && !(entry->old = arena_copy(&list->arena, old, old_size)))
        return false;
    entry->changed = true;
    list->changed |= UINT64_C(1) << entry->key.table;
    return true;
}

/* Frees a slot and moves back what had to go past it. */
static void remove_slot(struct row_log *log, size_t hole)
{
    size_t mask = log->capacity - 1;
    for (size_t i = (hole + 1) & mask; log->slots[i].entry; i = (i + 1) & mask) {
        size_t home = log->slots[i].hash & mask;
        if (((i - home) & mask) < ((i - hole) & mask))
            continue;
        log->slots[hole] = log->slots[i];
        hole = i;
    }
    log->slots[hole].entry = NULL;
    ASSERT(log->count > 0);
    log->count--;
}

void row_list_init(struct row_list *list)
{
    *list = (struct row_list){0};
    arena_init(&list->arena, LIMIT_ROW_LOG_BYTES);
}

void row_list_free(struct row_list *list)
{
    arena_free(&list->arena);
    *list = (struct row_list){0};
}

void row_list_clear(struct row_log *log, struct row_list *list)
{
    size_t mask = log->capacity - 1;
    ASSERT(list->count <= log->count);
    bool alone = list->count == log->count && log->capacity <= SLOTS_A_ROW * list->count;
    if (alone) /* no other transaction has a row: no slot to find again */
        row_log_clear(log);
    for (struct row_entry *entry = alone ? NULL : list->first; entry; entry = entry->next) {
        size_t i = entry->key.hash & mask;
        while (log->slots[i].entry != entry)
            i = (i + 1) & mask;
        remove_slot(log, i);
    }
    list->first = NULL;
    list->count = 0;
    list->tables = list->changed = 0;
    arena_rewind(&list->arena);
}

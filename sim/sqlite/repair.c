/* Images on the move: the old ones of other transactions around a statement that reads, and the
 * session's own for good when it rolls back. The hook is off meanwhile. */
#include "core/base/assert.h"
#include "sim/sqlite/internal.h"
#include <stdlib.h>
#include <string.h>

/* The row as it was before the entry's transaction. */
static bool put_old(const struct overlay *overlay, const struct row_entry *entry)
{
    const struct table *table = &overlay->catalog.tables[entry->key.table];
    return entry->old ? table_put(table, &entry->key, entry->old)
                      : table_remove(table, &entry->key);
}

/* Remembers the row as it is now. */
static bool keep_new(struct overlay *overlay, const struct row_entry *entry)
{
    struct repair *repair = &overlay->repair;
    if (repair->count == repair->capacity) {
        size_t capacity = repair->capacity > 0 ? repair->capacity * 2 : 64;
        struct repair_item *items = realloc(repair->items, capacity * sizeof *items);
        if (!items)
            return false;
        repair->items = items;
        repair->capacity = capacity;
    }
    struct repair_item *item = &repair->items[repair->count];
    *item = (struct repair_item){.entry = entry, .offset = repair->bytes.size};
    if (!table_get(&overlay->catalog.tables[entry->key.table], &entry->key, &repair->bytes,
                   &item->found))
        return false;
    repair->count++;
    return true;
}

static bool in_scope(const struct row_key *key, const struct scope *scope)
{
    if ((scope->tables >> key->table & 1) == 0)
        return false;
    return key->table != scope->table || scope->prefix_size == 0 ||
           (key->size >= scope->prefix_size &&
            memcmp(key->data, scope->prefix, scope->prefix_size) == 0);
}

void repair_begin(struct overlay_session *session, const struct scope *scope)
{
    struct overlay *overlay = session->overlay;
    ASSERT(overlay->hook.mode == HOOK_OFF);
    ASSERT(overlay->repair.count == 0);
    for (struct overlay_session *other = overlay->sessions; other; other = other->next) {
        if (other == session || (other->rows.changed & scope->tables) == 0)
            continue;
        for (const struct row_entry *entry = other->rows.first; entry; entry = entry->next)
            if (entry->changed && in_scope(&entry->key, scope) &&
                !(keep_new(overlay, entry) && put_old(overlay, entry)))
                overlay->broken = true;
    }
}

bool foreign_entries(const struct overlay_session *session, const struct scope *scope)
{
    struct scope own = *scope;
    own.tables = UINT64_C(1) << scope->table;
    for (const struct overlay_session *other = session->overlay->sessions; other;
         other = other->next) {
        if (other == session || (other->rows.tables & own.tables) == 0)
            continue;
        for (const struct row_entry *entry = other->rows.first; entry; entry = entry->next)
            if (in_scope(&entry->key, &own))
                return true;
    }
    return false;
}

void repair_end(struct overlay *overlay)
{
    struct repair *repair = &overlay->repair;
    for (size_t i = 0; i < repair->count; i++) {
        const struct repair_item *item = &repair->items[i];
        const struct table *table = &overlay->catalog.tables[item->entry->key.table];
        const uint8_t *rest =
            repair->bytes.size > 0 ? repair->bytes.data + item->offset : (const uint8_t *)"";
        bool done = item->found ? table_put(table, &item->entry->key, rest)
                                : table_remove(table, &item->entry->key);
        overlay->broken |= !done;
    }
    repair->count = 0;
    image_clear(&repair->bytes);
}

void repair_undo(struct overlay_session *session)
{
    struct overlay *overlay = session->overlay;
    ASSERT(overlay->hook.mode == HOOK_OFF);
    for (const struct row_entry *entry = session->rows.first; entry; entry = entry->next)
        if (entry->changed && !put_old(overlay, entry))
            overlay->broken = true;
}

enum status overlay_broken(struct overlay *overlay, struct err *err)
{
    return err_sql(err, "XX000", "could not move a row image: %s", sqlite3_errmsg(overlay->db));
}

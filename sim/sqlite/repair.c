/* Images on the move: the old ones of other transactions around a statement that reads, and the
 * session's own for good when it rolls back. The hook is off meanwhile. */
#include "core/base/assert.h"
#include "sim/sqlite/internal.h"
#include <stdlib.h>

/* The row as it was before the entry's transaction. */
static bool put_old(const struct overlay *overlay, const struct row_entry *entry)
{
    const struct table *table = &overlay->catalog.tables[entry->key.table];
    return entry->old ? table_put(table, entry->old) : table_remove(table, &entry->key);
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

void repair_begin(struct overlay_session *session, uint64_t tables)
{
    struct overlay *overlay = session->overlay;
    ASSERT(overlay->hook.mode == HOOK_OFF);
    ASSERT(overlay->repair.count == 0);
    for (struct overlay_session *other = overlay->sessions; other; other = other->next) {
        if (other == session || (other->rows.changed & tables) == 0)
            continue;
        for (const struct row_entry *entry = other->rows.first; entry; entry = entry->next)
            if (entry->changed && (tables >> entry->key.table & 1) != 0 &&
                !(keep_new(overlay, entry) && put_old(overlay, entry)))
                overlay->broken = true;
    }
}

void repair_end(struct overlay *overlay)
{
    struct repair *repair = &overlay->repair;
    for (size_t i = 0; i < repair->count; i++) {
        const struct repair_item *item = &repair->items[i];
        const struct table *table = &overlay->catalog.tables[item->entry->key.table];
        bool done = item->found ? table_put(table, repair->bytes.data + item->offset)
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

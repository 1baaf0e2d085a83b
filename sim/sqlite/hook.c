/* The preupdate hook: SQLite tells of every row just before it changes. */
#include "core/base/assert.h"
#include "sim/sqlite/internal.h"
#include <stdlib.h>
#include <string.h>

bool targets_add(struct targets *targets, uint32_t table, const uint8_t *key, size_t size)
{
    if (targets->count == targets->capacity) {
        size_t capacity = targets->capacity > 0 ? targets->capacity * 2 : 64;
        struct target *items = realloc(targets->items, capacity * sizeof *items);
        if (!items)
            return false;
        targets->items = items;
        targets->capacity = capacity;
    }
    size_t offset = targets->bytes.size;
    image_put_raw(&targets->bytes, key, size);
    targets->items[targets->count++] =
        (struct target){.key = row_key_make(table, key, size), .offset = offset};
    return !targets->bytes.failed;
}

void targets_settle(struct targets *targets)
{
    for (size_t i = 0; i < targets->count; i++)
        targets->items[i].key.data = targets->bytes.data + targets->items[i].offset;
}

void targets_clear(struct targets *targets)
{
    targets->count = 0;
    image_clear(&targets->bytes);
}

void targets_free(struct targets *targets)
{
    free(targets->items);
    image_free(&targets->bytes);
    *targets = (struct targets){0};
}

typedef int preupdate_get(sqlite3 *db, int column, sqlite3_value **value);

static void put_value(struct image_buffer *out, sqlite3 *db, preupdate_get *get, int column)
{
    sqlite3_value *value = NULL;
    if (get(db, column, &value) == SQLITE_OK)
        image_put_value(out, value);
    else
        out->failed = true;
}

/* The changed row's key, at the start of the scratch buffer. */
static struct row_key key_of(struct hook *hook, sqlite3 *db, preupdate_get *get)
{
    const struct table *table = hook->table;
    image_clear(&hook->scratch);
    for (int i = 0; i < table->key_count; i++)
        put_value(&hook->scratch, db, get, table->key[i]);
    return row_key_make(table->number, hook->scratch.data, hook->scratch.size);
}

/* The row changes: its entry, which is new when none is given, keeps it as it was. The key is the
 * start of the scratch buffer, or lies elsewhere when that is empty. NULL: out of memory. */
static struct row_entry *keep_old(struct hook *hook, struct overlay *overlay,
                                  struct row_entry *entry, struct row_key key, int operation)
{
    struct overlay_session *session = hook->session;
    struct image_buffer *scratch = &hook->scratch;
    const struct table *table = hook->table;
    size_t start = scratch->size;
    const uint8_t *old = NULL;
    if (operation != SQLITE_INSERT) {
        for (int i = 0; i < table->rest_count; i++)
            put_value(scratch, overlay->db, sqlite3_preupdate_old, table->rest[i]);
        if (scratch->failed)
            return NULL;
        old = scratch->size > start ? scratch->data + start : (const uint8_t *)"";
    }
    if (start > 0)
        key.data = scratch->data; /* it may have moved */
    size_t size = scratch->size - start;
    if (!entry)
        return row_log_add_changed(&overlay->log, &session->rows, session, &key, old, size);
    return row_log_change(&session->rows, entry, old, size) ? entry : NULL;
}

/* A minute or an hour changes. The key of both tables begins with tenant and bucket_start. */
static void end_agreement(struct overlay *overlay, const struct row_key *key)
{
    if (overlay->agreed.count == 0 || (key->table != overlay->minute_table->number &&
                                       key->table != overlay->hourly_table->number))
        return;
    const uint8_t *tenant = key->data;
    const uint8_t *start = tenant + image_value_size(tenant);
    ASSERT(tenant[0] == SQLITE_TEXT && start[0] == SQLITE_INTEGER);
    int64_t bucket_start_us;
    memcpy(&bucket_start_us, start + 1, sizeof bucket_start_us);
    if (image_value_size(tenant) == 5 + UUID_TEXT_SIZE)
        agreed_forget(&overlay->agreed, (const char *)tenant + 5, bucket_start_us);
    else
        agreed_clear(&overlay->agreed);
}

/* The one row of an INSERT or UPSERT: its key is known, and once logged there is nothing to do. */
static void log_keyed(struct hook *hook, struct overlay *overlay, int operation)
{
    end_agreement(overlay, &hook->key);
    if (hook->entry && hook->entry->changed)
        return;
    image_clear(&hook->scratch);
    struct row_entry *entry = keep_old(hook, overlay, hook->entry, hook->key, operation);
    if (entry)
        hook->entry = entry;
    hook->failed |= !entry;
}

/* No query updates a primary key: the log would need both keys. */
static bool keeps_key(struct hook *hook, sqlite3 *db)
{
    size_t size = hook->scratch.size;
    for (int i = 0; i < hook->table->key_count; i++)
        put_value(&hook->scratch, db, sqlite3_preupdate_new, hook->table->key[i]);
    bool same = !hook->scratch.failed && hook->scratch.size == 2 * size &&
                memcmp(hook->scratch.data, hook->scratch.data + size, size) == 0;
    hook->scratch.size = size;
    return same || hook->scratch.failed;
}

static void log_row(struct hook *hook, struct overlay *overlay, int operation)
{
    struct overlay_session *session = hook->session;
    preupdate_get *get = operation == SQLITE_INSERT ? sqlite3_preupdate_new : sqlite3_preupdate_old;
    struct row_key key = key_of(hook, overlay->db, get);
    ASSERT(operation != SQLITE_UPDATE || keeps_key(hook, overlay->db));
    if (hook->scratch.failed) {
        hook->failed = true;
        return;
    }
    end_agreement(overlay, &key);
    struct row_entry *entry = row_log_find(&overlay->log, &key);
    if (entry && entry->owner != session) {
        hook->conflict = true;
        return;
    }
    if (!entry || !entry->changed)
        entry = keep_old(hook, overlay, entry, key, operation);
    if (entry)
        entry->deleted |= operation == SQLITE_DELETE;
    hook->failed |= !entry;
}

static void collect(struct hook *hook, sqlite3 *db)
{
    struct row_key key = key_of(hook, db, sqlite3_preupdate_old);
    hook->failed |= hook->scratch.failed ||
                    !targets_add(&hook->session->targets, key.table, key.data, key.size);
}

static void preupdate(void *context, sqlite3 *db, int operation, const char *schema,
                      const char *name, sqlite3_int64 old_rowid, sqlite3_int64 new_rowid)
{
    struct overlay *overlay = context;
    struct hook *hook = &overlay->hook;
    (void)schema;
    (void)old_rowid;
    (void)new_rowid;
    if (hook->mode == HOOK_OFF)
        return;
    if (hook->table_name != name) {
        hook->table_name = name;
        hook->table = catalog_find(&overlay->catalog, name, strlen(name));
        ASSERT(hook->table);
    }
    if (hook->mode == HOOK_KEYED)
        log_keyed(hook, overlay, operation);
    else if (hook->mode == HOOK_COLLECT)
        collect(hook, db);
    else
        log_row(hook, overlay, operation);
}

void hook_install(struct overlay *overlay)
{
    sqlite3_preupdate_hook(overlay->db, preupdate, overlay);
}

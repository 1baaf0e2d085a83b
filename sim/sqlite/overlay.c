/* The connection, its reset, and the list of sessions. */
#include "sim/sqlite/overlay.h"

#include "core/base/assert.h"
#include "sim/sqlite/internal.h"
#include "sim/sqlite/split.h"
#include <stdlib.h>
#include <string.h>

/* row_locked(table, key...): is the row in another open transaction's log? */
static void row_locked(sqlite3_context *context, int count, sqlite3_value **values)
{
    struct overlay *overlay = sqlite3_user_data(context);
    struct image_buffer *key = &overlay->hook.scratch;
    const char *name = (const char *)sqlite3_value_text(values[0]);
    const struct table *table = name ? catalog_find(&overlay->catalog, name, strlen(name)) : NULL;
    if (!table || table->key_count != count - 1) {
        sqlite3_result_error(context, "row_locked: no such table, or not its key", -1);
        return;
    }
    image_clear(key);
    for (int i = 1; i < count; i++)
        image_put_value(key, values[i]);
    if (key->failed) {
        sqlite3_result_error_nomem(context);
        return;
    }
    struct row_key row = row_key_make(table->number, key->data, key->size);
    const struct row_entry *entry = row_log_find(&overlay->log, &row);
    sqlite3_result_int(context, entry && entry->owner != overlay->hook.session);
}

static enum status execute(struct overlay *overlay, const char *sql, struct err *err)
{
    if (sqlite3_exec(overlay->db, sql, NULL, NULL, NULL) == SQLITE_OK)
        return STATUS_OK;
    return sqlite_error(overlay->db, sql, err);
}

static bool prepare(struct overlay *overlay, const char *sql, sqlite3_stmt **out)
{
    return sqlite3_prepare_v3(overlay->db, sql, -1, SQLITE_PREPARE_PERSISTENT, out, NULL) ==
           SQLITE_OK;
}

static enum status open_database(struct overlay *overlay, struct err *err)
{
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    /* counting every allocation costs some percent; refused once SQLite runs, which is fine too */
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    if (sqlite3_open_v2(":memory:", &overlay->db, flags, NULL) != SQLITE_OK)
        return err_set(err, STATUS_NO_MEMORY, NULL, "could not open a database in memory");
    /* rows are added at the end of their hour: larger pages are split less often (a tenth of a
     * week) */
    enum status status = execute(overlay, "pragma page_size = 16384", err);
    if (!status)
        status = sqlite_functions_register(overlay->db, err);
    if (!status && sqlite3_create_function(overlay->db, "row_locked", -1, SQLITE_UTF8, overlay,
                                           row_locked, NULL, NULL) != SQLITE_OK)
        status = sqlite_error(overlay->db, "row_locked", err);
    if (!status && agreed_register(overlay) != SQLITE_OK)
        status = sqlite_error(overlay->db, "hour_agreed", err);
    if (!status)
        status = sqlite_schema_open(overlay->db, err);
    if (!status)
        status = catalog_open(&overlay->catalog, overlay->db, err);
    if (!status && !(prepare(overlay, "savepoint one", &overlay->savepoint) &&
                     prepare(overlay, "rollback to one", &overlay->back) &&
                     prepare(overlay, "release one", &overlay->release)))
        status = sqlite_error(overlay->db, "savepoint", err);
    if (status)
        return status;
    overlay->statements = sqlite_statements_new(overlay->db);
    overlay->locks = lock_table_new();
    overlay->minute_table = catalog_find(&overlay->catalog, "metrics_minute", 14);
    overlay->hourly_table = catalog_find(&overlay->catalog, "metrics_hourly", 14);
    ASSERT(overlay->minute_table && overlay->hourly_table);
    if (!overlay->statements || !overlay->locks || !agreed_init(&overlay->agreed))
        return err_set(err, STATUS_NO_MEMORY, NULL, "out of memory");
    hook_install(overlay);
    return execute(overlay, "begin", err);
}

enum status overlay_new(struct overlay **out, struct err *err)
{
    struct overlay *overlay = calloc(1, sizeof *overlay);
    if (!overlay)
        return err_set(err, STATUS_NO_MEMORY, NULL, "out of memory");
    enum status status = open_database(overlay, err);
    if (status) {
        overlay_free(overlay);
        return status;
    }
    *out = overlay;
    return STATUS_OK;
}

void overlay_free(struct overlay *overlay)
{
    if (!overlay)
        return;
    ASSERT(!overlay->sessions);
    for (size_t i = 0; i < PLAN_SLOTS; i++)
        split_free(overlay->plans[i].split);
    sqlite_statements_free(overlay->statements);
    sqlite3_finalize(overlay->savepoint);
    sqlite3_finalize(overlay->back);
    sqlite3_finalize(overlay->release);
    catalog_close(&overlay->catalog);
    sqlite3_close(overlay->db);
    lock_table_free(overlay->locks);
    agreed_free(&overlay->agreed);
    row_log_free(&overlay->log);
    image_free(&overlay->hook.scratch);
    image_free(&overlay->repair.bytes);
    free(overlay->repair.items);
    free(overlay);
}

void overlay_attach(struct overlay *overlay, struct sched *sched,
                    const struct overlay_events *events)
{
    ASSERT(overlay_idle(overlay));
    overlay->sched = sched;
    overlay->events = events ? *events : (struct overlay_events){0};
}

enum status overlay_reset(struct overlay *overlay, struct err *err)
{
    ASSERT(!overlay->sessions);
    ASSERT(overlay->log.count == 0);
    lock_table_clear(overlay->locks);
    agreed_clear(&overlay->agreed);
    overlay->exclusive = 0;
    overlay->transactions = 0;
    overlay->repair.count = 0;
    image_clear(&overlay->repair.bytes);
    overlay->broken = false;
    if (!sqlite3_get_autocommit(overlay->db)) {
        enum status status = execute(overlay, "rollback", err);
        if (status)
            return status;
    }
    return execute(overlay, "begin", err);
}

struct overlay_session *overlay_session_new(struct overlay *overlay, const char *actor)
{
    struct overlay_session *session = calloc(1, sizeof *session);
    if (!session)
        return NULL;
    session->exec = (struct sqlite_exec){.ops = &session_ops, .db = overlay->db};
    session->overlay = overlay;
    session->actor = strdup(actor);
    session->store = sqlite_session_new(&session->exec, overlay->statements);
    row_list_init(&session->rows);
    struct overlay_session **tail = &overlay->sessions;
    while (*tail)
        tail = &(*tail)->next;
    *tail = session;
    if (!session->actor || !session->store) {
        overlay_session_free(session);
        return NULL;
    }
    return session;
}

struct store *overlay_session_store(struct overlay_session *session)
{
    return session->store;
}

void overlay_session_cut(struct overlay_session *session)
{
    struct overlay *overlay = session->overlay;
    session->cuts++;
    lock_abandon(overlay->locks, &session->locker);
    session_undo(session);
    session_wake_granted(overlay);
    if (session->waiter && actor_alive(session->waiter))
        sched_wake(overlay->sched, session->waiter);
}

void overlay_session_free(struct overlay_session *session)
{
    if (!session)
        return;
    struct overlay *overlay = session->overlay;
    ASSERT(!session->waiter || !actor_alive(session->waiter));
    session->waiter = NULL;
    overlay_session_cut(session);
    struct overlay_session **link = &overlay->sessions;
    while (*link != session)
        link = &(*link)->next;
    *link = session->next;
    if (session->store)
        sqlite_session_free(session->store);
    row_list_free(&session->rows);
    targets_free(&session->targets);
    image_free(&session->key);
    free(session->actor);
    free(session);
}

sqlite3 *overlay_db(struct overlay *overlay)
{
    return overlay->db;
}

bool overlay_idle(const struct overlay *overlay)
{
    for (const struct overlay_session *session = overlay->sessions; session;
         session = session->next)
        if (session->open)
            return false;
    return true;
}

/* The SQLite backend: sessions of the overlay on one in-memory database. */
#include "sim/run/backend.h"

#include "core/base/assert.h"
#include "sim/sqlite/overlay.h"
#include <stdlib.h>

struct sqlite_backend {
    struct backend backend;
    struct overlay *overlay;
};

static struct overlay *overlay_of(struct backend *backend)
{
    return ((struct sqlite_backend *)backend)->overlay;
}

static void sqlite_free(struct backend *backend)
{
    overlay_free(overlay_of(backend));
    free(backend);
}

static void sqlite_attach(struct backend *backend, struct sched *sched,
                          const struct backend_events *events)
{
    struct overlay_events told = {
        .waits = events->waits, .granted = events->granted, .context = events->context};
    overlay_attach(overlay_of(backend), sched, &told);
}

static enum status sqlite_reset(struct backend *backend, struct err *err)
{
    return overlay_reset(overlay_of(backend), err);
}

/* A backend_session is an overlay_session under another name. */
static struct backend_session *sqlite_session(struct backend *backend, const char *actor)
{
    return (struct backend_session *)overlay_session_new(overlay_of(backend), actor);
}

static struct store *sqlite_session_store_of(struct backend_session *session)
{
    return overlay_session_store((struct overlay_session *)session);
}

static void sqlite_session_cut(struct backend_session *session)
{
    struct overlay_session *overlay_session = (struct overlay_session *)session;
    overlay_session_cut(overlay_session);
    sqlite_session_reconnect(overlay_session_store(overlay_session));
}

static void sqlite_session_end(struct backend_session *session)
{
    overlay_session_free((struct overlay_session *)session);
}

static enum status sqlite_set_offset(struct backend *backend, int64_t from_us, int64_t offset_us,
                                     struct err *err)
{
    sqlite3 *db = overlay_db(overlay_of(backend));
    sqlite3_stmt *statement;
    const char *sql = "insert into session_offsets (from_us, offset_us) values (?1, ?2)";
    if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK)
        return sqlite_error(db, "could not set the session time zone", err);
    sqlite3_bind_int64(statement, 1, from_us);
    sqlite3_bind_int64(statement, 2, offset_us);
    int code = sqlite3_step(statement);
    sqlite3_finalize(statement);
    if (code != SQLITE_DONE)
        return sqlite_error(db, "could not set the session time zone", err);
    return STATUS_OK;
}

enum status backend_sqlite_new(struct backend **out, struct err *err)
{
    struct sqlite_backend *backend = calloc(1, sizeof(*backend));
    if (backend == NULL)
        return err_set(err, STATUS_NO_MEMORY, NULL, "no memory for a database");
    backend->backend = (struct backend){
        .name = "sqlite",
        .free = sqlite_free,
        .attach = sqlite_attach,
        .reset = sqlite_reset,
        .session_new = sqlite_session,
        .session_store = sqlite_session_store_of,
        .session_cut = sqlite_session_cut,
        .session_free = sqlite_session_end,
        .set_session_offset = sqlite_set_offset,
    };
    enum status status = overlay_new(&backend->overlay, err);
    if (status != STATUS_OK) {
        free(backend);
        return status;
    }
    *out = &backend->backend;
    return STATUS_OK;
}

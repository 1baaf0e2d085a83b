/* READ COMMITTED for overlapping transactions on one SQLite connection (DESIGN 3).
 *
 * SQLite has one writer; the findings exist only when transactions overlap. All sessions share one
 * connection inside one outer transaction that never commits (a scenario's reset is its ROLLBACK).
 * The preupdate hook keeps, per session, the image log (table, key) -> first old image. A row in an
 * open session's log IS the row lock: others wait for it as on PostgreSQL; reads never wait and see
 * the old images of other sessions' rows. Advisory locks are a FIFO table. Rules:
 * sim/sqlite/README.md.
 *
 * Legal order: overlay_new, then per run { overlay_attach, overlay_session_new..., run,
 * overlay_session_free..., overlay_reset }, overlay_free.
 */
#ifndef SIM_SQLITE_OVERLAY_H
#define SIM_SQLITE_OVERLAY_H

#include "core/store/sqlite/sqlite_store.h"
#include "sim/sched/sched.h"

struct overlay;

/* Opens an in-memory database with functions and schema. */
enum status overlay_new(struct overlay **out, struct err *err);
void overlay_free(struct overlay *overlay);

/* waits(context, actor) is told when a session starts to wait and granted when it may go on, for
 * the trace; may be NULL. sched NULL: sessions never wait (55P03 instead), for set-up code. */
struct overlay_events {
    void (*waits)(void *context, const char *actor);
    void (*granted)(void *context, const char *actor);
    void *context;
};
void overlay_attach(struct overlay *overlay, struct sched *sched,
                    const struct overlay_events *events);

/* Undoes everything back to the empty schema. No session may be left. */
enum status overlay_reset(struct overlay *overlay, struct err *err);

/* A session for an actor; its store is a core/store/sqlite session over this overlay. */
struct overlay_session;
struct overlay_session *overlay_session_new(struct overlay *overlay, const char *actor);
struct store *overlay_session_store(struct overlay_session *session);
/* Connection cut or actor dead: rolls back, releases row and advisory locks, wakes the waiting. */
void overlay_session_cut(struct overlay_session *session);
void overlay_session_free(struct overlay_session *session);

sqlite3 *overlay_db(struct overlay *overlay);
bool overlay_idle(const struct overlay *overlay); /* no transaction is open */

#endif

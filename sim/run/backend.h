/* A backend as the runner sees it: a database that can be reset, and sessions on it. SQLite's is
 * the overlay of sim/sqlite. The runner knows nothing else of a database.
 *
 * Legal order: backend_sqlite_new, then per run { attach, session_new ... session_free, reset },
 * free.
 */
#ifndef SIM_RUN_BACKEND_H
#define SIM_RUN_BACKEND_H

#include "core/store/call.h"
#include "sim/sched/sched.h"

struct backend;
struct backend_session;

/* When a session starts to wait for a lock, and when it may go on; for the trace. */
struct backend_events {
    void (*waits)(void *context, const char *actor);
    void (*granted)(void *context, const char *actor);
    void *context;
};

struct backend {
    const char *name; /* "sqlite" */
    void (*free)(struct backend *backend);
    void (*attach)(struct backend *backend, struct sched *sched,
                   const struct backend_events *events);
    /* Back to the empty schema; no session may be left. */
    enum status (*reset)(struct backend *backend, struct err *err);
    /* A session for an actor; NULL: out of memory. */
    struct backend_session *(*session_new)(struct backend *backend, const char *actor);
    struct store *(*session_store)(struct backend_session *session);
    /* The connection is gone: its transaction is rolled back, its locks are released. */
    void (*session_cut)(struct backend_session *session);
    void (*session_free)(struct backend_session *session);
    /* The offset of the session time zone from from_us on; in order of from_us. */
    enum status (*set_session_offset)(struct backend *backend, int64_t from_us, int64_t offset_us,
                                      struct err *err);
};

enum status backend_sqlite_new(struct backend **out, struct err *err);

#endif

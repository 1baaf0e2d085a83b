/* The store on SQLite. It binds, steps and unpacks; who may run when is the business of an
 * sqlite_exec: in production each session has a connection and BEGIN IMMEDIATE (exec_direct), in
 * the simulator all sessions share one connection and overlap (sim/sqlite). Same store, same SQL.
 */
#ifndef CORE_STORE_SQLITE_SQLITE_STORE_H
#define CORE_STORE_SQLITE_SQLITE_STORE_H

#include "core/store/call.h"
#include <sqlite3.h>

/* One statement run for one row of parameters. */
struct sqlite_step {
    const struct query *query;
    const struct query_part *part;
    const struct value *params;
    sqlite3_stmt *statement; /* bound; the exec steps it to its end and resets it */
    /* Called for every result row, may be NULL. Must not run SQL. */
    enum status (*row)(void *context, sqlite3_stmt *statement, struct err *err);
    /* Call it before every execution that follows a wait, the first one too: statements are shared
     * between sessions, so it binds this row's parameters again, and forgets the rows it was given.
     * The statement must be reset before the wait. Never NULL. */
    void (*restart)(void *context);
    void *context;
    int64_t changes; /* out: rows changed */
};

struct sqlite_exec;
/* After any error inside a transaction, also one that the exec never saw (a value refused while
 * binding), the session calls rollback at once, because PostgreSQL undoes and releases locks then;
 * it answers 25P02 itself until the caller's Rollback, which does not reach the exec again.
 * rollback without a transaction does nothing. */
struct sqlite_exec_ops {
    /* read_only: a transaction of ROLE_READER. */
    enum status (*begin)(struct sqlite_exec *exec, bool read_only, struct err *err);
    enum status (*commit)(struct sqlite_exec *exec, struct err *err);
    enum status (*rollback)(struct sqlite_exec *exec, struct err *err);
    enum status (*step)(struct sqlite_exec *exec, struct sqlite_step *step, struct err *err);
    /* QUERY_KIND_SHARED, _EXCLUSIVE, _TRY; *granted is false only for _TRY. */
    enum status (*advisory)(struct sqlite_exec *exec, enum query_kind kind, int64_t lock,
                            bool *granted, struct err *err);
    /* Access exclusive, nowait: 55P03 when another open transaction has touched the table. */
    enum status (*relation)(struct sqlite_exec *exec, const char *table, struct err *err);
};
struct sqlite_exec {
    const struct sqlite_exec_ops *ops;
    sqlite3 *db;
};

/* Steps a bound statement to its end, hands its rows to step->row, sets changes, resets it: what an
 * exec does when nobody has to wait. */
enum status sqlite_step_run(sqlite3 *db, struct sqlite_step *step, struct err *err);

/* Prepared statements of one connection: one set, shared by the sessions on it. */
struct sqlite_statements;
struct sqlite_statements *sqlite_statements_new(sqlite3 *db);
void sqlite_statements_free(struct sqlite_statements *statements);

/* SQL functions that the schema and the queries use (histograms, checked sums, ordered float sums,
 * refuse(sqlstate, message), row_locked(table, key...) which is 0 here). Call before the schema. */
enum status sqlite_functions_register(sqlite3 *db, struct err *err);

/* Creates the schema when the file is empty; otherwise checks that it is ours (application_id) and
 * of this version (user_version). STATUS_INVALID for a database from elsewhere. */
enum status sqlite_schema_open(sqlite3 *db, struct err *err);
/* The same check for a file that is not to be made: an empty one is STATUS_INVALID too. */
enum status sqlite_schema_check(sqlite3 *db, struct err *err);

/* The error of the connection's last failure as SQLSTATE: constraint 23505/23514/23502, full disk
 * 53100, I/O 58030, busy 55P03, refuse() its own, misuse XX000. */
enum status sqlite_error(sqlite3 *db, const char *what, struct err *err);

/* A session. The caller frees it; exec and statements must outlive it. */
struct store *sqlite_session_new(struct sqlite_exec *exec, struct sqlite_statements *statements);
void sqlite_session_free(struct store *store);
/* A new connection in the place of a lost one, whose transaction the exec has undone already. */
void sqlite_session_reconnect(struct store *store);

/* Production: a database file (or ":memory:"), its own connection, BEGIN IMMEDIATE, waiting at most
 * busy_ms for another writer. */
enum database_use {
    DATABASE_WRITE,  /* a file that is not there, or empty, is refused */
    DATABASE_CREATE, /* and made */
    DATABASE_READ    /* ROLE_READER alone; nothing is made or changed, also not beside the file */
};
struct sqlite_database;
/* Errors say what is wrong with the path: not a file, not a database, from elsewhere, read-only,
 * locked (55P03), no room. */
enum status sqlite_database_open(const char *path, enum database_use use, int busy_ms,
                                 struct sqlite_database **out, struct err *err);
struct store *sqlite_database_store(struct sqlite_database *database);
sqlite3 *sqlite_database_db(struct sqlite_database *database); /* for what has no query */
void sqlite_database_close(struct sqlite_database *database);

#endif

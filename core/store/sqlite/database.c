/* Production: one database file, one connection a store, transactions one after the other.
 *
 * Settings, and why:
 * - journal_mode=wal, synchronous=full: every commit is on the disk before it is reported, because
 * the queue's acknowledgement follows it (R-TX-1); after a crash the file is as of the last commit.
 * One fsync a commit, and readers never block the writer. Where a file system cannot do WAL, SQLite
 * stays with the rollback journal; synchronous=extra then also syncs the folder, without which a
 * journal that a power cut brings back would undo a reported commit.
 * - secure_delete stays as the library has it: purge means gone.
 * - trusted_schema=off, defensive: the file may come from anyone.
 *
 * Advisory and relation locks need nothing here. Whoever takes one is a writer, a writer begins
 * with BEGIN IMMEDIATE, and two such transactions never overlap: each lock is free when it is asked
 * for, and what it guards cannot change until the end of the transaction. Only ROLE_READER begins
 * without the write lock; it takes no locks, and reads one snapshot.
 */
#include "core/base/assert.h"
#include "core/store/sqlite/sqlite_store.h"
#include "core/store/store.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct sqlite_database {
    struct sqlite_exec exec;
    struct sqlite_statements *statements;
    struct store *store;
    sqlite3_stmt *begin;
    sqlite3_stmt *begin_immediate;
    sqlite3_stmt *commit;
    sqlite3_stmt *rollback;
};

/* ---- exec ---- */

static enum status run(struct sqlite_exec *exec, sqlite3_stmt *statement, const char *what,
                       struct err *err)
{
    int rc = sqlite3_step(statement);
    enum status status = rc == SQLITE_DONE ? STATUS_OK : sqlite_error(exec->db, what, err);
    sqlite3_reset(statement);
    return status;
}

static enum status direct_begin(struct sqlite_exec *exec, bool read_only, struct err *err)
{
    struct sqlite_database *database = (struct sqlite_database *)exec;
    ASSERT(sqlite3_get_autocommit(exec->db));
    return run(exec, read_only ? database->begin : database->begin_immediate, "begin a transaction",
               err);
}

static enum status direct_commit(struct sqlite_exec *exec, struct err *err)
{
    return run(exec, ((struct sqlite_database *)exec)->commit, "commit", err);
}

static enum status direct_rollback(struct sqlite_exec *exec, struct err *err)
{
    if (sqlite3_get_autocommit(exec->db)) /* SQLite rolls back by itself on a full disk */
        return STATUS_OK;
    return run(exec, ((struct sqlite_database *)exec)->rollback, "roll back", err);
}

static enum status direct_step(struct sqlite_exec *exec, struct sqlite_step *step, struct err *err)
{
    return sqlite_step_run(exec->db, step, err);
}

static enum status direct_advisory(struct sqlite_exec *exec, enum query_kind kind, int64_t lock,
                                   bool *granted, struct err *err)
{
    (void)kind, (void)lock, (void)err;
    ASSERT(!sqlite3_get_autocommit(exec->db));
    *granted = true;
    return STATUS_OK;
}

static enum status direct_relation(struct sqlite_exec *exec, const char *table, struct err *err)
{
    (void)table, (void)err;
    ASSERT(!sqlite3_get_autocommit(exec->db));
    return STATUS_OK;
}

static const struct sqlite_exec_ops direct_ops = {
    .begin = direct_begin,
    .commit = direct_commit,
    .rollback = direct_rollback,
    .step = direct_step,
    .advisory = direct_advisory,
    .relation = direct_relation,
};

/* ---- opening ---- */

static enum status cannot_open(sqlite3 *db, const char *path, bool create, struct err *err)
{
    int reason = sqlite3_system_errno(db);
    if (reason == EISDIR)
        return err_set(err, STATUS_IO, NULL, "cannot open database \"%s\": it is a directory",
                       path);
    if (reason == ENOENT && create)
        return err_set(err, STATUS_IO, NULL, "cannot create database \"%s\": no such folder", path);
    if (reason == ENOENT)
        return err_set(err, STATUS_IO, NULL, "cannot open database \"%s\": no such file", path);
    if (reason == EACCES || reason == EPERM || reason == EROFS)
        return err_set(err, STATUS_IO, NULL, "cannot open database \"%s\": permission denied",
                       path);
    return err_set(err, STATUS_IO, NULL, "could not open database \"%s\": %s", path,
                   sqlite3_errmsg(db));
}

/* "file:" would make it a URI with options of its own. */
static char *plain_path(const char *path)
{
    const char *prefix = strncmp(path, "file:", 5) == 0 ? "./" : "";
    size_t size = strlen(prefix) + strlen(path) + 1;
    char *plain = malloc(size);
    if (plain)
        sqlite3_snprintf((int)size, plain, "%s%s", prefix, path);
    return plain;
}

static enum status open_connection(const char *path, bool create, sqlite3 **db, struct err *err)
{
    char *plain = plain_path(path);
    if (!plain)
        return err_set(err, STATUS_NO_MEMORY, NULL, "out of memory");
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | (create ? SQLITE_OPEN_CREATE : 0);
    int rc = sqlite3_open_v2(plain, db, flags, NULL);
    free(plain);
    if (!*db)
        return err_set(err, STATUS_NO_MEMORY, NULL, "out of memory");
    if (rc != SQLITE_OK)
        return cannot_open(*db, path, create, err);
    if (sqlite3_db_readonly(*db, "main") == 1)
        return err_set(err, STATUS_IO, "25006", "cannot write database \"%s\": it is read-only",
                       path);
    return STATUS_OK;
}

static enum status pragma(sqlite3 *db, const char *sql, char *answer, int size, struct err *err)
{
    sqlite3_stmt *statement;
    if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK)
        return sqlite_error(db, "set up the database", err);
    int rc = sqlite3_step(statement);
    enum status status = STATUS_OK;
    if (rc == SQLITE_ROW && answer)
        sqlite3_snprintf(size, answer, "%s", sqlite3_column_text(statement, 0));
    else if (rc != SQLITE_DONE && rc != SQLITE_ROW)
        status = sqlite_error(db, "set up the database", err);
    sqlite3_finalize(statement);
    return status;
}

/* A file that is not ours is left as it is: the journal mode is set after the look at it. */
static enum status set_up(sqlite3 *db, int busy_ms, struct err *err)
{
    sqlite3_busy_timeout(db, busy_ms);
    sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    char mode[16] = "";
    enum status status = pragma(db, "pragma trusted_schema = off", NULL, 0, err);
    if (status == STATUS_OK)
        status = pragma(db, "pragma synchronous = extra", NULL, 0, err);
    if (status == STATUS_OK)
        status = sqlite_functions_register(db, err);
    if (status == STATUS_OK)
        status = sqlite_schema_open(db, err);
    if (status == STATUS_OK)
        status = pragma(db, "pragma journal_mode = wal", mode, sizeof mode, err);
    if (status == STATUS_OK && strcmp(mode, "wal") == 0)
        status = pragma(db, "pragma synchronous = full", NULL, 0, err);
    return status;
}

static enum status prepare(struct sqlite_database *database, struct err *err)
{
    const struct {
        sqlite3_stmt **statement;
        const char *sql;
    } fixed[] = {
        {&database->begin, "begin"},
        {&database->begin_immediate, "begin immediate"},
        {&database->commit, "commit"},
        {&database->rollback, "rollback"},
    };
    sqlite3 *db = database->exec.db;
    for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++)
        if (sqlite3_prepare_v3(db, fixed[i].sql, -1, SQLITE_PREPARE_PERSISTENT, fixed[i].statement,
                               NULL) != SQLITE_OK)
            return sqlite_error(db, "prepare", err);
    database->statements = sqlite_statements_new(db);
    if (database->statements)
        database->store = sqlite_session_new(&database->exec, database->statements);
    if (!database->store)
        return err_set(err, STATUS_NO_MEMORY, NULL, "out of memory");
    return STATUS_OK;
}

/* Names the file in an error that came from inside of it. */
static enum status with_path(enum status status, const char *path, struct err *err)
{
    if (status == STATUS_OK)
        return status;
    struct err inner = *err;
    if (strcmp(inner.sqlstate, "XX001") == 0)
        err_set(err, STATUS_INVALID, NULL, "cannot open \"%s\": it is not a database", path);
    else
        err_set(err, inner.status, inner.sqlstate[0] ? inner.sqlstate : NULL, "database \"%s\": %s",
                path, inner.message);
    if (inner.hint[0])
        err_hint(err, "%s", inner.hint);
    return err->status;
}

enum status sqlite_database_open(const char *path, bool create, int busy_ms,
                                 struct sqlite_database **out, struct err *err)
{
    ASSERT(path && out && err);
    ASSERT(busy_ms >= 0);
    *out = NULL;
    if (path[0] == '\0') /* SQLite would make a temporary file */
        return err_set(err, STATUS_INVALID, NULL, "the path of the database is empty");
    struct sqlite_database *database = calloc(1, sizeof *database);
    if (!database)
        return err_set(err, STATUS_NO_MEMORY, NULL, "out of memory");
    database->exec.ops = &direct_ops;
    enum status status = open_connection(path, create, &database->exec.db, err);
    if (status == STATUS_OK) {
        status = set_up(database->exec.db, busy_ms, err);
        if (status == STATUS_OK)
            status = prepare(database, err);
        status = with_path(status, path, err);
    }
    if (status != STATUS_OK) {
        sqlite_database_close(database);
        return status;
    }
    *out = database;
    return STATUS_OK;
}

struct store *sqlite_database_store(struct sqlite_database *database)
{
    ASSERT(database && database->store);
    return database->store;
}

sqlite3 *sqlite_database_db(struct sqlite_database *database)
{
    ASSERT(database && database->exec.db);
    return database->exec.db;
}

void sqlite_database_close(struct sqlite_database *database)
{
    if (!database)
        return;
    sqlite_session_free(database->store);
    sqlite_statements_free(database->statements);
    sqlite3_finalize(database->begin);
    sqlite3_finalize(database->begin_immediate);
    sqlite3_finalize(database->commit);
    sqlite3_finalize(database->rollback);
    sqlite3_close(database->exec.db);
    free(database);
}

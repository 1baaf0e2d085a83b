/* Production: one database file, one connection a store, transactions one after the other.
 *
 * Settings, and why:
 * - journal_mode=wal, synchronous=full: every commit is on the disk before it is reported, because
 * the queue's acknowledgement follows it (R-TX-1); after a crash the file is as of the last commit.
 * One fsync a commit, and readers never block the writer. Where a file system cannot do WAL, SQLite
 * stays with the rollback journal; synchronous=extra then also syncs the folder, without which a
 * journal that a power cut brings back would undo a reported commit.
 * - The last writer to close sets journal_mode=delete: at rest a database is one file, which can be
 * copied, and read by whoever may write neither it nor its folder. Reading a file in WAL mode makes
 * two files beside it; so a reader takes such a file only while these are there anyway.
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
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define STEP_MS     10
#define SHOWN_BYTES 160 /* of a path in a message */

struct sqlite_database {
    struct sqlite_exec exec;
    bool writes; /* it is ours, and open for writing */
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

static bool is_folder_of(const char *path)
{
    struct stat about;
    const char *slash = strrchr(path, '/');
    char *folder = sqlite3_mprintf("%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".");
    bool found = folder && stat(folder, &about) == 0 && S_ISDIR(about.st_mode);
    sqlite3_free(folder);
    return found;
}

static enum status cannot_open(sqlite3 *db, const char *path, bool create, struct err *err)
{
    struct stat about;
    const char *shown = err_tail(path, SHOWN_BYTES);
    int reason = sqlite3_system_errno(db);
    /* SQLite tries again for reading, and then its errno is of a file that is not there */
    if (reason == ENOENT && create && is_folder_of(path))
        reason = EACCES;
    if ((reason == ENOENT || reason == ENOTDIR) && create)
        return err_set(err, STATUS_IO, NULL, "cannot create database \"%s\": no such folder",
                       shown);
    if (reason == ENOENT || reason == ENOTDIR)
        return err_set(err, STATUS_IO, NULL, "cannot open database \"%s\": no such file", shown);
    if (reason == EACCES || reason == EPERM || reason == EROFS) {
        bool there = stat(path, &about) == 0;
        err_set(err, STATUS_IO, NULL, "cannot %s database \"%s\": permission denied%s",
                there ? "open" : "create", shown, there ? "" : " in its folder");
        err_hint(err, there ? "change the rights of the file"
                            : "change the rights of the folder, or give a path elsewhere");
        return STATUS_IO;
    }
    return err_set(err, STATUS_IO, NULL, "could not open database \"%s\": %s", shown,
                   sqlite3_errmsg(db));
}

/* Opening a pipe would wait for its other end. */
static enum status check_kind(const char *path, struct err *err)
{
    struct stat about;
    if (stat(path, &about) != 0 || S_ISREG(about.st_mode))
        return STATUS_OK; /* what cannot be looked at is refused by the opening */
    return err_set(err, STATUS_IO, NULL, "cannot open database \"%s\": it is %s",
                   err_tail(path, SHOWN_BYTES),
                   S_ISDIR(about.st_mode) ? "a directory" : "a device or a pipe, not a file");
}

/* The folder must take SQLite's files beside the database, or the first write fails badly. */
static enum status check_folder(sqlite3 *db, const char *path, struct err *err)
{
    const char *file = sqlite3_db_filename(db, "main");
    const char *slash = file ? strrchr(file, '/') : NULL;
    if (!slash) /* in memory */
        return STATUS_OK;
    char *folder = sqlite3_mprintf("%.*s", slash == file ? 1 : (int)(slash - file), file);
    if (!folder)
        return err_set(err, STATUS_NO_MEMORY, NULL, "out of memory");
    enum status status = STATUS_OK;
    if (faccessat(AT_FDCWD, folder, W_OK | X_OK, AT_EACCESS) != 0) {
        status = err_set(err, STATUS_IO, "25006",
                         "cannot write database \"%s\": its folder is read-only",
                         err_tail(path, SHOWN_BYTES));
        err_hint(err,
                 "SQLite writes files beside the database: make folder \"%s\" writable, or "
                 "copy the database",
                 folder);
    }
    sqlite3_free(folder);
    return status;
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

static enum status open_connection(const char *path, enum database_use use, sqlite3 **db,
                                   struct err *err)
{
    static const int flags_of[] = {
        [DATABASE_READ] = SQLITE_OPEN_READONLY,
        [DATABASE_WRITE] = SQLITE_OPEN_READWRITE,
        [DATABASE_CREATE] = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
    };
    if (check_kind(path, err) != STATUS_OK)
        return err->status;
    char *plain = plain_path(path);
    if (!plain)
        return err_set(err, STATUS_NO_MEMORY, NULL, "out of memory");
    int flags = flags_of[use] | SQLITE_OPEN_NOMUTEX;
    int rc = sqlite3_open_v2(plain, db, flags, NULL);
    free(plain);
    if (!*db)
        return err_set(err, STATUS_NO_MEMORY, NULL, "out of memory");
    if (rc != SQLITE_OK)
        return cannot_open(*db, path, use == DATABASE_CREATE, err);
    if (use == DATABASE_READ)
        return STATUS_OK;
    if (sqlite3_db_readonly(*db, "main") == 1) {
        err_set(err, STATUS_IO, "25006", "cannot write database \"%s\": it is read-only",
                err_tail(path, SHOWN_BYTES));
        err_hint(err, "change the rights of the file, or copy it");
        return STATUS_IO;
    }
    return check_folder(*db, path, err);
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

/* Not by the VFS's xAccess, for which an empty file is none. */
static bool exists_beside(sqlite3 *db, const char *suffix)
{
    struct stat about;
    char *name = sqlite3_mprintf("%s%s", sqlite3_db_filename(db, "main"), suffix);
    bool there = name && stat(name, &about) == 0;
    sqlite3_free(name);
    return there;
}

struct header {
    unsigned char bytes[20]; /* zeroes where the file ends before */
    off_t file_size;         /* 0: empty, or in memory */
};

static struct header read_header(sqlite3 *db)
{
    struct header header = {.file_size = 0};
    struct stat about;
    sqlite3_file *file = NULL;
    sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, &file);
    /* not by xFileSize, for which one byte is none */
    if (!file || !file->pMethods || stat(sqlite3_db_filename(db, "main"), &about) != 0)
        return header; /* what cannot be read says so with the first query */
    header.file_size = about.st_size;
    file->pMethods->xRead(file, header.bytes, sizeof header.bytes, 0);
    return header;
}

/* SQLite takes a file that is shorter than a header for an empty one, and would fill it. */
static enum status check_header(sqlite3 *db, struct err *err)
{
    struct header header = read_header(db);
    if (header.file_size == 0 || memcmp(header.bytes, "SQLite format 3", 16) == 0)
        return STATUS_OK;
    err_set(err, STATUS_INVALID, NULL, "it is not a database");
    err_hint(err, "give another path");
    return STATUS_INVALID;
}

/* False for a file in WAL mode without its two files: it was copied or left while it was written.
 * Bytes 18 and 19 of the header are 2 in WAL mode (SQLite file format, 1.3.3). */
static bool at_rest_or_in_use(sqlite3 *db)
{
    struct header header = read_header(db);
    bool wal = header.bytes[18] == 2 || header.bytes[19] == 2;
    return !wal || (exists_beside(db, "-wal") && exists_beside(db, "-shm"));
}

static enum status not_closed(struct err *err)
{
    err_set(err, STATUS_INVALID, NULL, "it was copied, or left, in the middle of a write");
    err_hint(err, "metersim jobs puts it in order (or copy it again, with its -wal file)");
    return STATUS_INVALID;
}

static enum status set_up_reader(sqlite3 *db, int busy_ms, struct err *err)
{
    /* a writer that is opening or closing it makes it neither, for as long as its disk takes */
    for (int waited_ms = 0; !at_rest_or_in_use(db); waited_ms += STEP_MS) {
        if (waited_ms >= busy_ms)
            return not_closed(err);
        sqlite3_sleep(STEP_MS);
    }
    enum status status = sqlite_schema_check(db, err);
    /* a journal that would have to be rolled back first */
    bool journal = status != STATUS_OK && strcmp(err->sqlstate, "25006") == 0;
    return journal ? not_closed(err) : status;
}

/* A file that is not ours is left as it is: the journal mode is set after the look at it. */
static enum status set_up_writer(sqlite3 *db, bool create, struct err *err)
{
    char mode[16] = "";
    enum status status = pragma(db, "pragma synchronous = extra", NULL, 0, err);
    if (status == STATUS_OK)
        status = create ? sqlite_schema_open(db, err) : sqlite_schema_check(db, err);
    if (status == STATUS_OK)
        status = pragma(db, "pragma journal_mode = wal", mode, sizeof mode, err);
    if (status == STATUS_OK && strcmp(mode, "wal") == 0)
        status = pragma(db, "pragma synchronous = full", NULL, 0, err);
    if (status == STATUS_OK) /* the files of WAL mode are made by the first read */
        status = pragma(db, "pragma user_version", NULL, 0, err);
    return status;
}

static enum status set_up(sqlite3 *db, enum database_use use, int busy_ms, struct err *err)
{
    sqlite3_busy_timeout(db, busy_ms);
    sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    enum status status = check_header(db, err);
    if (status == STATUS_OK)
        status = pragma(db, "pragma trusted_schema = off", NULL, 0, err);
    if (status == STATUS_OK)
        status = sqlite_functions_register(db, err);
    if (status != STATUS_OK)
        return status;
    return use == DATABASE_READ ? set_up_reader(db, busy_ms, err)
                                : set_up_writer(db, use == DATABASE_CREATE, err);
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
static enum status with_path(enum status status, sqlite3 *db, const char *path, struct err *err)
{
    if (status == STATUS_OK)
        return status;
    struct err inner = *err;
    const char *shown = err_tail(path, SHOWN_BYTES);
    if (sqlite3_errcode(db) == SQLITE_NOTADB)
        err_set(err, STATUS_INVALID, NULL, "cannot open \"%s\": it is not a database", shown);
    else if (sqlite3_errcode(db) == SQLITE_CORRUPT)
        err_set(err, STATUS_INVALID, NULL, "database \"%s\" is damaged: %s", shown, inner.message);
    else
        err_set(err, inner.status, inner.sqlstate[0] ? inner.sqlstate : NULL, "database \"%s\": %s",
                shown, inner.message);
    if (err->status == STATUS_INVALID && !inner.hint[0])
        err_hint(err, "give another path, or take a copy of the database");
    if (inner.hint[0])
        err_hint(err, "%s", inner.hint);
    return err->status;
}

enum status sqlite_database_open(const char *path, enum database_use use, int busy_ms,
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
    enum status status = open_connection(path, use, &database->exec.db, err);
    if (status == STATUS_OK) {
        status = set_up(database->exec.db, use, busy_ms, err);
        database->writes = status == STATUS_OK && use != DATABASE_READ;
        if (status == STATUS_OK)
            status = prepare(database, err);
        status = with_path(status, database->exec.db, path, err);
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

/* Others that have it open keep the mode: the last one sets it. */
static void bring_to_rest(sqlite3 *db)
{
    sqlite3_busy_timeout(db, 0);
    if (!sqlite3_get_autocommit(db))
        sqlite3_exec(db, "rollback", NULL, NULL, NULL);
    sqlite3_exec(db, "pragma journal_mode = delete", NULL, NULL, NULL);
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
    if (database->writes)
        bring_to_rest(database->exec.db);
    sqlite3_close(database->exec.db);
    free(database);
}

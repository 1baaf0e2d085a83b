/* SQLite's result codes as PostgreSQL's SQLSTATE. */
#include "core/base/assert.h"
#include "core/store/sqlite/codec.h"
#include "core/store/sqlite/sqlite_store.h"
#include <errno.h>

static const char *constraint_sqlstate(int extended)
{
    switch (extended) {
    case SQLITE_CONSTRAINT_PRIMARYKEY:
    case SQLITE_CONSTRAINT_UNIQUE:
    case SQLITE_CONSTRAINT_ROWID:
        return "23505"; /* unique_violation */
    case SQLITE_CONSTRAINT_CHECK:
        return "23514"; /* check_violation */
    case SQLITE_CONSTRAINT_NOTNULL:
        return "23502"; /* not_null_violation */
    case SQLITE_CONSTRAINT_FOREIGNKEY:
        return "23503"; /* foreign_key_violation */
    case SQLITE_CONSTRAINT_DATATYPE:
        return "42804"; /* datatype_mismatch: a STRICT table refused the type */
    default:
        return "23000"; /* integrity_constraint_violation */
    }
}

static const char *sqlstate_of(int extended)
{
    switch (extended & 0xFF) {
    case SQLITE_CONSTRAINT:
        return constraint_sqlstate(extended);
    case SQLITE_FULL:
        return "53100"; /* disk_full */
    case SQLITE_NOMEM:
        return "53200"; /* out_of_memory */
    case SQLITE_TOOBIG:
        return "54000"; /* program_limit_exceeded */
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return extended == SQLITE_BUSY_SNAPSHOT ? "40001" : "55P03"; /* lock_not_available */
    case SQLITE_IOERR:
        return "58030"; /* io_error */
    case SQLITE_CANTOPEN:
        return "58P01"; /* undefined_file */
    case SQLITE_READONLY:
        return "25006"; /* read_only_sql_transaction */
    case SQLITE_PERM:
    case SQLITE_AUTH:
        return "42501"; /* insufficient_privilege */
    case SQLITE_INTERRUPT:
        return "57014"; /* query_canceled */
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return "XX001"; /* data_corrupted */
    default:
        return "XX000"; /* internal_error: SQL that does not fit the schema, misuse */
    }
}

/* The errno of the last write into the database or its journal. */
static bool write_failed_with(sqlite3 *db, int reason)
{
    int of_database = 0;
    int of_journal = 0;
    sqlite3_file *journal = NULL;
    sqlite3_file_control(db, "main", SQLITE_FCNTL_LAST_ERRNO, &of_database);
    sqlite3_file_control(db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &journal);
    if (journal && journal->pMethods)
        journal->pMethods->xFileControl(journal, SQLITE_FCNTL_LAST_ERRNO, &of_journal);
    return of_database == reason || of_journal == reason;
}

enum status sqlite_error(sqlite3 *db, const char *what, struct err *err)
{
    ASSERT(db && what && err);
    int extended = sqlite3_extended_errcode(db);
    const char *message = sqlite3_errmsg(db);
    ASSERT(extended != SQLITE_OK);
    if (extended == SQLITE_ERROR_SQLSTATE) {
        char sqlstate[6];
        sqlite3_snprintf(sizeof sqlstate, sqlstate, "%s", message);
        return err_sql(err, sqlstate, "%s", message + 6);
    }
    bool full = (extended & 0xFF) == SQLITE_FULL;
    if (extended == SQLITE_IOERR_WRITE) { /* SQLite knows ENOSPC only */
        bool large = write_failed_with(db, EFBIG);
        full = large || write_failed_with(db, EDQUOT);
        message = large ? "a file would be too large" : full ? "the quota is full" : message;
    }
    enum status status =
        err_sql(err, full ? "53100" : sqlstate_of(extended), "could not %s: %s", what, message);
    if ((extended & 0xFF) == SQLITE_BUSY)
        err_hint(err, "another process is using the database; try again when it has ended");
    if (full)
        err_hint(err, "make room: the disk or the quota is full, or a limit on the size of files "
                      "(ulimit -f) is met");
    return status;
}

/* The schema of a database file, and whether a file is ours. */
#include "core/base/assert.h"
#include "core/store/sqlite/sqlite_store.h"

#define APPLICATION_ID 0x6D747273 /* "mtrs"; file(1) and sqlite3 show it */
#define SCHEMA_VERSION 1          /* counts up with every change of sql/sqlite/schema */

extern const char *const sqlite_schema; /* generated from sql/sqlite/schema */

static enum status run(sqlite3 *db, const char *sql, const char *what, struct err *err)
{
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
        return sqlite_error(db, what, err);
    return STATUS_OK;
}

static enum status read_number(sqlite3 *db, const char *sql, int64_t *number, struct err *err)
{
    sqlite3_stmt *statement;
    if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK)
        return sqlite_error(db, "read the database", err);
    enum status status = STATUS_OK;
    if (sqlite3_step(statement) == SQLITE_ROW)
        *number = sqlite3_column_int64(statement, 0);
    else
        status = sqlite_error(db, "read the database", err);
    sqlite3_finalize(statement);
    return status;
}

/* *empty: nothing has been stored yet. Otherwise an error unless it is ours and of this version. */
static enum status examine(sqlite3 *db, bool *empty, struct err *err)
{
    int64_t application = 0;
    int64_t version = 0;
    int64_t objects = 0;
    enum status status = read_number(db, "pragma application_id", &application, err);
    if (status == STATUS_OK)
        status = read_number(db, "pragma user_version", &version, err);
    if (status == STATUS_OK)
        status = read_number(db, "select count(*) from sqlite_master", &objects, err);
    if (status != STATUS_OK)
        return status;
    *empty = application == 0 && version == 0 && objects == 0;
    if (*empty)
        return STATUS_OK;
    if (application != APPLICATION_ID) {
        err_set(err, STATUS_INVALID, NULL, "the database belongs to another program");
        err_hint(err, "give a new file name, or a database that metersim made");
        return STATUS_INVALID;
    }
    if (version != SCHEMA_VERSION) {
        err_set(err, STATUS_INVALID, NULL, "the schema has version %lld, this program needs %d",
                (long long)version, SCHEMA_VERSION);
        err_hint(err, "import into a new file");
        return STATUS_INVALID;
    }
    return STATUS_OK;
}

static enum status create(sqlite3 *db, struct err *err)
{
    char marks[80];
    sqlite3_snprintf(sizeof marks, marks, "pragma application_id = %d; pragma user_version = %d",
                     APPLICATION_ID, SCHEMA_VERSION);
    enum status status = run(db, sqlite_schema, "create the schema", err);
    return status == STATUS_OK ? run(db, marks, "create the schema", err) : status;
}

enum status sqlite_schema_open(sqlite3 *db, struct err *err)
{
    ASSERT(db && err);
    bool empty;
    enum status status = examine(db, &empty, err);
    if (status != STATUS_OK || !empty)
        return status;
    /* another process may be creating it too: look again with the write lock in hand */
    bool own = sqlite3_get_autocommit(db) != 0;
    if (own && (status = run(db, "begin immediate", "create the schema", err)) != STATUS_OK)
        return status;
    status = examine(db, &empty, err);
    if (status == STATUS_OK && empty)
        status = create(db, err);
    if (own && status == STATUS_OK)
        status = run(db, "commit", "create the schema", err);
    if (own && status != STATUS_OK)
        sqlite3_exec(db, "rollback", NULL, NULL, NULL);
    return status;
}

enum status sqlite_schema_check(sqlite3 *db, struct err *err)
{
    ASSERT(db && err);
    bool empty;
    enum status status = examine(db, &empty, err);
    if (status != STATUS_OK || !empty)
        return status;
    err_set(err, STATUS_INVALID, NULL, "it is empty, not a metersim database");
    err_hint(err, "give a database that metersim ingest has made");
    return STATUS_INVALID;
}

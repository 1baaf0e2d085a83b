#include "core/store/sqlite/statements.h"
#include "core/base/assert.h"
#include <stdlib.h>

struct sqlite_statements {
    sqlite3 *db;
    sqlite3_stmt *prepared[QUERY_COUNT][QUERY_PARTS_MAX];
};

struct sqlite_statements *sqlite_statements_new(sqlite3 *db)
{
    ASSERT(db);
    struct sqlite_statements *statements = calloc(1, sizeof *statements);
    if (statements)
        statements->db = db;
    return statements;
}

void sqlite_statements_free(struct sqlite_statements *statements)
{
    if (!statements)
        return;
    for (int query = 0; query < QUERY_COUNT; query++)
        for (int part = 0; part < QUERY_PARTS_MAX; part++)
            sqlite3_finalize(statements->prepared[query][part]);
    free(statements);
}

static sqlite3_stmt *prepare(struct sqlite_statements *statements, enum query_id id, int part,
                             struct err *err)
{
    const struct query *query = &queries[id];
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v3(statements->db, query->parts[part].sqlite, -1, SQLITE_PREPARE_PERSISTENT,
                           &statement, NULL) != SQLITE_OK) {
        char what[64];
        sqlite3_snprintf(sizeof what, what, "prepare query \"%s\"", query->name);
        sqlite_error(statements->db, what, err);
        return NULL;
    }
    /* a part with columns gives the query's rows, where the query has any */
    int columns = sqlite3_column_count(statement);
    ASSERT(columns == 0 || query->result_count == 0 || columns == query->result_count);
    ASSERT(sqlite3_bind_parameter_count(statement) <= query->param_count);
    return statement;
}

sqlite3_stmt *statements_get(struct sqlite_statements *statements, enum query_id query, int part,
                             struct err *err)
{
    ASSERT(statements && query < QUERY_COUNT);
    ASSERT(part >= 0 && part < queries[query].part_count);
    sqlite3_stmt **slot = &statements->prepared[query][part];
    if (!*slot)
        *slot = prepare(statements, query, part, err);
    return *slot;
}

enum status sqlite_step_run(sqlite3 *db, struct sqlite_step *step, struct err *err)
{
    ASSERT(db && step && step->statement);
    enum status status = STATUS_OK;
    int rc = SQLITE_ROW;
    while (status == STATUS_OK && (rc = sqlite3_step(step->statement)) == SQLITE_ROW)
        if (step->row)
            status = step->row(step->context, step->statement, err);
    if (status == STATUS_OK && rc != SQLITE_DONE) {
        char what[64];
        sqlite3_snprintf(sizeof what, what, "run query \"%s\"", step->query->name);
        status = sqlite_error(db, what, err);
    }
    bool writes = status == STATUS_OK && !sqlite3_stmt_readonly(step->statement);
    step->changes = writes ? sqlite3_changes64(db) : 0;
    sqlite3_reset(step->statement);
    return status;
}

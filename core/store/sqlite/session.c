/* A session: runs the calls of one actor, whoever the exec says may run when.
 *
 *   idle --Begin--> open --Commit, Rollback--> idle
 *                   open --any error--> failed --Rollback--> idle       (25P02 until then)
 */
#include "core/base/assert.h"
#include "core/store/sqlite/bind.h"
#include "core/store/sqlite/statements.h"
#include "core/store/store.h"
#include <stdlib.h>
#include <string.h>

struct sqlite_session {
    struct store store;
    struct sqlite_exec *exec;
    struct sqlite_statements *statements;
    enum { SESSION_IDLE, SESSION_OPEN, SESSION_FAILED } state;
    struct bind_slots slots;
};

/* One part run for one row of parameters. */
struct part_run {
    struct sqlite_session *session;
    struct store_call *call;
    const struct query *query;
    const struct value *params;
    sqlite3_stmt *statement;
    size_t *capacity;   /* of call->results, in rows */
    size_t rows_before; /* results of earlier rows of the call */
};

/* ---- results ---- */

static enum status reserve_result(struct store_call *call, size_t *capacity, struct err *err)
{
    if (call->result_rows < *capacity)
        return STATUS_OK;
    size_t columns = (size_t)queries[call->query].result_count;
    size_t grown = *capacity ? 2 * *capacity : 16;
    struct value *results = arena_array(call->arena, grown * columns, sizeof *results);
    if (!results)
        return err_set(err, STATUS_NO_MEMORY, "53200", "out of memory for the rows of \"%s\"",
                       queries[call->query].name);
    if (call->result_rows > 0)
        memcpy(results, call->results, call->result_rows * columns * sizeof *results);
    call->results = results;
    *capacity = grown;
    return STATUS_OK;
}

static enum status take_row(void *context, sqlite3_stmt *statement, struct err *err)
{
    struct part_run *run = context;
    struct store_call *call = run->call;
    enum status status = reserve_result(call, run->capacity, err);
    if (status != STATUS_OK)
        return status;
    size_t columns = (size_t)run->query->result_count;
    struct value *values = &call->results[call->result_rows * columns];
    status = bind_read(run->query, statement, call->arena, values, err);
    if (status == STATUS_OK)
        call->result_rows++;
    return status;
}

static void restart(void *context)
{
    struct part_run *run = context;
    run->call->result_rows = run->rows_before;
    bind_row(run->query, run->params, &run->session->slots, run->statement);
}

/* ---- parts ---- */

static int64_t lock_of(const struct query *query, const struct value *params)
{
    for (int i = 0; i < query->param_count; i++)
        if (strcmp(query->params[i].name, "lock") == 0)
            return params[i].integer;
    ASSERT(false && "a lock query has a parameter \"lock\"; sql/embed.awk checks it");
    return 0;
}

static enum status run_lock(struct part_run *run, enum query_kind kind, struct err *err)
{
    struct sqlite_exec *exec = run->session->exec;
    int64_t lock = lock_of(run->query, run->params);
    bool granted = true;
    enum status status = exec->ops->advisory(exec, kind, lock, &granted, err);
    ASSERT(granted || kind == QUERY_KIND_TRY || status != STATUS_OK);
    if (status != STATUS_OK || kind != QUERY_KIND_TRY)
        return status;
    status = reserve_result(run->call, run->capacity, err);
    if (status == STATUS_OK)
        run->call->results[run->call->result_rows++].integer = granted;
    return status;
}

static enum status run_statement(struct part_run *run, int part, int64_t *changes, struct err *err)
{
    struct sqlite_session *session = run->session;
    run->statement = statements_get(session->statements, run->call->query, part, err);
    if (!run->statement)
        return err->status;
    bind_row(run->query, run->params, &session->slots, run->statement);
    bool gives_rows = run->query->result_count > 0 && sqlite3_column_count(run->statement) > 0;
    struct sqlite_step step = {
        .query = run->query,
        .part = &run->query->parts[part],
        .params = run->params,
        .statement = run->statement,
        .row = gives_rows ? take_row : NULL,
        .restart = restart,
        .context = run,
    };
    enum status status = session->exec->ops->step(session->exec, &step, err);
    *changes += step.changes;
    return status;
}

static enum status run_part(struct part_run *run, int part, int64_t *changes, struct err *err)
{
    struct sqlite_exec *exec = run->session->exec;
    enum query_kind kind = run->query->parts[part].kind;
    switch (kind) {
    case QUERY_KIND_SHARED:
    case QUERY_KIND_EXCLUSIVE:
    case QUERY_KIND_TRY:
        return run_lock(run, kind, err);
    case QUERY_KIND_RELATION:
        return exec->ops->relation(exec, run->query->parts[part].table, err);
    case QUERY_KIND_TX:
        ASSERT(false && "Begin, Commit and Rollback do not come here");
        return STATUS_OK;
    case QUERY_KIND_READ:
    case QUERY_KIND_INSERT:
    case QUERY_KIND_UPSERT:
    case QUERY_KIND_DELETE:
    case QUERY_KIND_CLAIM:
    case QUERY_KIND_SELECT_IN:
    case QUERY_KIND_DDL:
        return run_statement(run, part, changes, err);
    }
    ASSERT(false && "a query kind is missing here");
    return STATUS_OK;
}

/* Locks, reads and DDL answer in rows; how many rows they touched is not the same on PostgreSQL. */
static bool counts_rows(enum query_kind kind)
{
    return kind == QUERY_KIND_INSERT || kind == QUERY_KIND_UPSERT || kind == QUERY_KIND_DELETE ||
           kind == QUERY_KIND_CLAIM || kind == QUERY_KIND_SELECT_IN;
}

static enum status run_rows(struct sqlite_session *session, struct store_call *call,
                            struct err *err)
{
    const struct query *query = &queries[call->query];
    size_t rows = query->param_count == 0 ? 1 : call->row_count;
    size_t capacity = 0;
    for (size_t row = 0; row < rows; row++) {
        struct part_run run = {
            .session = session,
            .call = call,
            .query = query,
            .params = call->params ? call->params + row * (size_t)query->param_count : NULL,
            .capacity = &capacity,
            .rows_before = call->result_rows,
        };
        int64_t changes = 0;
        enum status status = bind_check(query, run.params, err);
        for (int part = 0; part < query->part_count && status == STATUS_OK; part++)
            status = run_part(&run, part, &changes, err);
        if (status != STATUS_OK)
            return status;
        if (counts_rows(query->kind))
            call->affected += changes;
        if (call->row_affected)
            call->row_affected[row] = changes > 0;
    }
    return STATUS_OK;
}

/* ---- transactions ---- */

/* PostgreSQL undoes and releases all locks when a statement fails, before the client's ROLLBACK. */
static void fail(struct sqlite_session *session)
{
    struct err ignored;
    session->exec->ops->rollback(session->exec, &ignored);
    session->state = SESSION_FAILED;
}

static enum status begin(struct sqlite_session *session, const struct store_call *call,
                         struct err *err)
{
    ASSERT(call->row_count == 1);
    if (session->state == SESSION_OPEN) {
        fail(session);
        return err_sql(err, "25001", "there is already a transaction in progress");
    }
    bool read_only = call->params[0].integer == ROLE_READER;
    enum status status = session->exec->ops->begin(session->exec, read_only, err);
    if (status == STATUS_OK)
        session->state = SESSION_OPEN;
    return status;
}

static enum status commit(struct sqlite_session *session, struct err *err)
{
    enum status status = session->exec->ops->commit(session->exec, err);
    if (status == STATUS_OK)
        session->state = SESSION_IDLE;
    else
        fail(session);
    return status;
}

static enum status rollback(struct sqlite_session *session, struct err *err)
{
    bool open = session->state == SESSION_OPEN;
    session->state = SESSION_IDLE;
    return open ? session->exec->ops->rollback(session->exec, err) : STATUS_OK;
}

static void check_call(const struct store_call *call)
{
    ASSERT(call->query < QUERY_COUNT);
    const struct query *query = &queries[call->query];
    ASSERT(query->param_count == 0 || (call->params && call->row_count >= 1));
    ASSERT(call->row_count <= LIMIT_CALL_ROWS);
    ASSERT(query->result_count == 0 || call->arena);
}

static enum status session_call(struct store *store, struct store_call *call, struct err *err)
{
    struct sqlite_session *session = (struct sqlite_session *)store;
    ASSERT(session && call && err);
    check_call(call);
    call->affected = 0;
    call->results = NULL;
    call->result_rows = 0;
    if (call->query == QUERY_ROLLBACK)
        return rollback(session, err);
    if (session->state == SESSION_FAILED)
        return err_sql(err, "25P02",
                       "current transaction is aborted, commands ignored until "
                       "end of transaction block");
    if (call->query == QUERY_BEGIN)
        return begin(session, call, err);
    if (session->state == SESSION_IDLE)
        return err_sql(err, "25P01", "there is no transaction in progress");
    if (call->query == QUERY_COMMIT)
        return commit(session, err);
    enum status status = run_rows(session, call, err);
    if (status != STATUS_OK)
        fail(session);
    return status;
}

struct store *sqlite_session_new(struct sqlite_exec *exec, struct sqlite_statements *statements)
{
    ASSERT(exec && exec->ops && statements);
    struct sqlite_session *session = calloc(1, sizeof *session);
    if (!session)
        return NULL;
    session->store.call = session_call;
    session->exec = exec;
    session->statements = statements;
    session->state = SESSION_IDLE;
    return &session->store;
}

void sqlite_session_free(struct store *store)
{
    free(store);
}

void sqlite_session_reconnect(struct store *store)
{
    ASSERT(store);
    ((struct sqlite_session *)store)->state = SESSION_IDLE;
}

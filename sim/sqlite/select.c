/* insert ... select. PostgreSQL takes the rows from the statement's snapshot and inserts them one
 * after the other, waiting at a key that another transaction holds. So does this, in two halves, as
 * soon as another transaction holds a row of the target table; else the statement runs as it is. */
#include "core/base/assert.h"
#include "sim/sqlite/internal.h"
#include "sim/sqlite/split.h"

/* 15 bigints of 8 bytes, little endian. */
static int bind_buckets(sqlite3_stmt *statement, int index, const struct histogram *histogram)
{
    uint8_t bytes[HISTOGRAM_BUCKETS * 8];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)((uint64_t)histogram->counts[i / 8] >> (i % 8 * 8));
    return sqlite3_bind_blob(statement, index, bytes, sizeof bytes, SQLITE_TRANSIENT);
}

static int bind_param(sqlite3_stmt *statement, int index, enum value_type type,
                      const struct value *value)
{
    char text[UUID_TEXT_SIZE + 1];
    switch (type) {
    case VALUE_FLOAT:
        return sqlite3_bind_double(statement, index, value->number);
    case VALUE_UUID:
        uuid_format((const struct uuid *)value->bytes.data, text);
        return sqlite3_bind_text(statement, index, text, UUID_TEXT_SIZE, SQLITE_TRANSIENT);
    case VALUE_TEXT:
        return sqlite3_bind_text(statement, index, (const char *)value->bytes.data,
                                 (int)value->bytes.size, SQLITE_STATIC);
    case VALUE_BYTES:
        return sqlite3_bind_blob(statement, index, value->bytes.data, (int)value->bytes.size,
                                 SQLITE_STATIC);
    case VALUE_BUCKETS:
        return bind_buckets(statement, index, value->buckets);
    default:
        return sqlite3_bind_int64(statement, index, value->integer);
    }
}

/* A half need not use every parameter; parameter n of the query is ?n in its text. */
static enum status bind_params(sqlite3_stmt *statement, const struct sqlite_step *step,
                               struct err *err)
{
    const struct query *query = step->query;
    int count = sqlite3_bind_parameter_count(statement);
    for (int i = 0; i < count && i < query->param_count; i++)
        if (bind_param(statement, i + 1, query->params[i].type, &step->params[i]) != SQLITE_OK)
            return err_sql(err, "XX000", "could not bind \"%s\" of query \"%s\"",
                           query->params[i].name, query->name);
    return STATUS_OK;
}

/* The rows of the select, one image after the other, and the key of each as a target. */
struct row_taker {
    struct overlay_session *session;
    const struct table *table;
    const struct split *split;
    struct image_buffer rows;
};

static enum status take_row(void *context, sqlite3_stmt *statement, struct err *err)
{
    struct row_taker *taker = context;
    struct image_buffer *key = &taker->session->key;
    for (int i = 0; i < taker->split->columns; i++)
        image_put_column(&taker->rows, statement, i);
    image_clear(key);
    for (int i = 0; i < taker->table->key_count; i++)
        image_put_column(key, statement, taker->split->key[i]);
    if (taker->rows.failed || key->failed ||
        !targets_add(&taker->session->targets, taker->table->number, key->data, key->size))
        return err_sql(err, "53200", "out of memory for the rows of a statement");
    return STATUS_OK;
}

static enum status take_rows(struct row_taker *taker, const struct plan *plan,
                             const struct sqlite_step *step, struct err *err)
{
    struct overlay_session *session = taker->session;
    const struct sqlite_step take = {.query = step->query, .row = take_row, .context = taker};
    sqlite3_stmt *select = taker->split->select;
    targets_clear(&session->targets);
    enum status status = bind_params(select, step, err);
    if (status)
        return status;
    struct scope scope = scope_of(session, plan, step);
    scope.tables |= UINT64_C(1) << plan->table->number;
    repair_begin(session, &scope);
    status = statement_run(session, select, &take, HOOK_OFF, NULL, err);
    repair_end(session->overlay);
    targets_settle(&session->targets);
    return status;
}

static enum status insert_row(struct row_taker *taker, const struct plan *plan,
                              struct sqlite_step *step, struct target *target, const uint8_t *row,
                              struct err *err)
{
    struct overlay_session *session = taker->session;
    const struct split *split = taker->split;
    bool waited = false;
    int64_t inserted = 0;
    enum status status =
        row_claim(session, target, split->updates ? CLAIM_UPSERT : CLAIM_INSERT, &waited, err);
    if (!status)
        status = bind_params(split->insert, step, err);
    if (status)
        return status;
    if (!image_bind(split->insert, split->first, row, split->columns))
        return sqlite_error(session->overlay->db, step->query->name, err);
    status = statement_run(session, split->insert, step, HOOK_LOG, &inserted, err);
    if (!status && split->updates && inserted == 0)
        status = row_lock_untouched(session, plan, &target->key, err);
    step->changes += inserted;
    if (!status)
        row_claimed(session, target);
    return status;
}

static enum status insert_halves(struct overlay_session *session, struct plan *plan,
                                 struct sqlite_step *step, struct err *err)
{
    struct overlay *overlay = session->overlay;
    enum status status = STATUS_OK;
    if (!plan->split)
        status = split_new(overlay->db, plan->table, step->part->sqlite, step->query->param_count,
                           &plan->split, err);
    if (status)
        return status;
    struct row_taker taker = {.session = session, .table = plan->table, .split = plan->split};
    step->changes = 0;
    status = take_rows(&taker, plan, step, err);
    const uint8_t *row = taker.rows.data;
    for (size_t i = 0; !status && i < session->targets.count; i++) {
        status = insert_row(&taker, plan, step, &session->targets.items[i], row, err);
        for (int column = 0; column < plan->split->columns; column++)
            row += image_value_size(row);
    }
    image_free(&taker.rows);
    targets_clear(&session->targets);
    return status;
}

enum status insert_select(struct overlay_session *session, struct plan *plan,
                          struct sqlite_step *step, struct err *err)
{
    ASSERT(plan->table);
    struct scope scope = scope_of(session, plan, step);
    if (foreign_entries(session, &scope))
        return insert_halves(session, plan, step, err);
    repair_begin(session, &scope);
    enum status status =
        statement_run(session, step->statement, step, HOOK_LOG, &step->changes, err);
    repair_end(session->overlay);
    return status;
}

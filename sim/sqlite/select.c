/* insert ... select. PostgreSQL takes the rows from the statement's snapshot and inserts them one
 * after the other, waiting at a key that another transaction holds. So does this, in two halves, as
 * soon as another transaction holds a row of the target table; else the statement runs as it is. */
#include "core/base/assert.h"
#include "sim/sqlite/internal.h"
#include "sim/sqlite/split.h"

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
    case VALUE_BUCKETS: /* no insert ... select takes one */
        return SQLITE_MISUSE;
    default:
        return sqlite3_bind_int64(statement, index, value->integer);
    }
}

/* A part need not use every parameter; parameter n of the query is ?n in its text. */
static enum status bind_params(sqlite3_stmt *statement, const struct sqlite_step *step,
                               struct err *err)
{
    const struct query *query = step->query;
    int count = sqlite3_bind_parameter_count(statement);
    ASSERT(count <= query->param_count);
    for (int i = 0; i < count; i++)
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
    repair_begin(session, foreign_changes(session, plan->reads));
    status = statement_run(session, select, &take, HOOK_OFF, NULL, err);
    repair_end(session->overlay);
    targets_settle(&session->targets);
    return status;
}

static enum status insert_rows(struct row_taker *taker, struct sqlite_step *step, struct err *err)
{
    struct overlay_session *session = taker->session;
    const struct split *split = taker->split;
    const uint8_t *row = taker->rows.data;
    enum status status = STATUS_OK;
    for (size_t i = 0; !status && i < session->targets.count; i++) {
        struct target *target = &session->targets.items[i];
        bool waited = false;
        int64_t inserted = 0;
        status =
            row_claim(session, target, split->updates ? CLAIM_UPSERT : CLAIM_INSERT, &waited, err);
        if (status)
            break;
        if (!image_bind(split->insert, 1, row, split->columns))
            status = sqlite_error(session->overlay->db, step->query->name, err);
        else
            status = statement_run(session, split->insert, step, HOOK_LOG, &inserted, err);
        step->changes += inserted;
        if (!status)
            row_claimed(session, target);
        for (int column = 0; column < split->columns; column++)
            row += image_value_size(row);
    }
    return status;
}

enum status insert_select(struct overlay_session *session, struct plan *plan,
                          struct sqlite_step *step, struct err *err)
{
    struct overlay *overlay = session->overlay;
    enum status status = STATUS_OK;
    ASSERT(plan->table);
    if (!foreign_entries(session, plan->table)) {
        repair_begin(session, foreign_changes(session, plan->reads));
        status = statement_run(session, step->statement, step, HOOK_LOG, &step->changes, err);
        repair_end(overlay);
        return status;
    }
    if (!plan->split)
        status = split_new(overlay->db, plan->table, step->part->sqlite, &plan->split, err);
    if (status)
        return status;
    struct row_taker taker = {.session = session, .table = plan->table, .split = plan->split};
    step->changes = 0;
    status = take_rows(&taker, plan, step, err);
    if (!status)
        status = insert_rows(&taker, step, err);
    image_free(&taker.rows);
    targets_clear(&session->targets);
    return status;
}

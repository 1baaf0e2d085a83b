/* A delete of many rows. While another transaction holds a row of the table, the rows are first
 * found and then deleted one by one, in order, each waiting for its holder: as PostgreSQL, which
 * keeps the rows it already has while it waits for the next. */
#include "core/base/assert.h"
#include "sim/sqlite/internal.h"
#include <string.h>

/* Adds the keys that the delete would take now to the session's targets, and leaves the rows. */
static enum status find_targets(struct overlay_session *session, const struct plan *plan,
                                struct sqlite_step *step, struct err *err)
{
    struct overlay *overlay = session->overlay;
    targets_clear(&session->targets);
    struct scope scope = scope_of(session, plan, step);
    repair_begin(session, &scope);
    sqlite3_step(overlay->savepoint);
    sqlite3_reset(overlay->savepoint);
    enum status status = statement_run(session, step->statement, step, HOOK_COLLECT, NULL, err);
    sqlite3_step(overlay->back);
    sqlite3_reset(overlay->back);
    sqlite3_step(overlay->release);
    sqlite3_reset(overlay->release);
    repair_end(overlay);
    targets_settle(&session->targets);
    if (!status && overlay->broken)
        status = overlay_broken(overlay, err);
    return status;
}

/* The row has a new version since the delete began: does the delete still want it? */
static enum status check_again(struct overlay_session *session, const struct plan *plan,
                               struct sqlite_step *step, const struct row_key *key, bool *wanted,
                               struct err *err)
{
    struct targets all = session->targets;
    session->targets = (struct targets){0};
    step->restart(step->context);
    enum status status = find_targets(session, plan, step, err);
    *wanted = false;
    for (size_t i = 0; !status && i < session->targets.count; i++) {
        const struct row_key *found = &session->targets.items[i].key;
        *wanted |= found->hash == key->hash && found->size == key->size &&
                   memcmp(found->data, key->data, key->size) == 0;
    }
    targets_free(&session->targets);
    session->targets = all;
    return status;
}

static enum status delete_row(struct overlay_session *session, const struct plan *plan,
                              const struct sqlite_step *step, const struct row_key *key,
                              int64_t *deleted, struct err *err)
{
    const struct sqlite_step plain = {.query = step->query};
    sqlite3_stmt *statement = plan->table->remove;
    if (!image_bind(statement, 1, key->data, plan->table->key_count))
        return sqlite_error(session->overlay->db, step->query->name, err);
    return statement_run(session, statement, &plain, HOOK_LOG, deleted, err);
}

static enum status delete_target(struct overlay_session *session, const struct plan *plan,
                                 struct sqlite_step *step, size_t i, struct err *err)
{
    struct target *target = &session->targets.items[i];
    bool waited = false;
    bool wanted = true;
    int64_t deleted = 0;
    enum status status = row_claim(session, target, CLAIM_DELETE, &waited, err);
    if (!status && !target->gone && target->changed) {
        status = check_again(session, plan, step, &target->key, &wanted, err);
        if (!status && !wanted && !row_lock(session, &target->key))
            status = err_sql(err, "53200", "out of memory for the rows of a transaction");
    }
    if (!status && !target->gone && wanted)
        status = delete_row(session, plan, step, &target->key, &deleted, err);
    step->changes += deleted;
    if (!status)
        row_claimed(session, target);
    return status;
}

enum status range_delete(struct overlay_session *session, const struct plan *plan,
                         struct sqlite_step *step, struct err *err)
{
    enum status status;
    ASSERT(plan->table);
    struct scope scope = scope_of(session, plan, step);
    if (!foreign_entries(session, &scope)) {
        repair_begin(session, &scope);
        status = statement_run(session, step->statement, step, HOOK_LOG, &step->changes, err);
        repair_end(session->overlay);
        return status;
    }
    status = find_targets(session, plan, step, err);
    step->changes = 0;
    for (size_t i = 0; !status && i < session->targets.count; i++)
        status = delete_target(session, plan, step, i, err);
    targets_clear(&session->targets);
    return status;
}

/* One statement, by its kind:
 *
 *   read             old images around it, no wait
 *   insert, upsert   the row's key is known from the parameters; waits for its holder, then runs
 *   delete           range.c      insert ... select   select.c
 *   claim, ddl       old images around it; row_locked() is "skip locked", no wait
 */
#include "core/base/assert.h"
#include "sim/sqlite/internal.h"
#include <string.h>

static struct plan *plan_slot(struct overlay *overlay, const struct query_part *part)
{
    size_t i = ((uintptr_t)part >> 4) * 31 & (PLAN_SLOTS - 1);
    while (overlay->plans[i].part && overlay->plans[i].part != part)
        i = (i + 1) & (PLAN_SLOTS - 1);
    return &overlay->plans[i];
}

static void add_table(struct plan *plan, uint64_t bit)
{
    if (bit == 0 || (plan->touches & bit) != 0)
        return;
    ASSERT(plan->table_count < PLAN_TABLES_MAX);
    plan->order[plan->table_count++] = bit;
    plan->touches |= bit;
}

static enum status plan_make(struct overlay *overlay, const struct query_part *part,
                             struct plan *plan, struct err *err)
{
    struct plan made = {.part = part};
    uint64_t own;
    uint64_t further = 0;
    enum status status = catalog_bit(&overlay->catalog, part->table, &own, err);
    add_table(&made, status ? 0 : own);
    for (const char *names = part->reads; !status && *names;) {
        uint64_t bit;
        status = catalog_next(&overlay->catalog, &names, &bit, err);
        add_table(&made, status ? 0 : bit);
        further |= status ? 0 : bit;
    }
    if (status)
        return status;
    bool keyed = part->kind == QUERY_KIND_INSERT || part->kind == QUERY_KIND_UPSERT;
    made.keyed = keyed;
    made.table = own ? &overlay->catalog.tables[__builtin_ctzll(own)] : NULL;
    /* what an upsert's select reads of its own table PostgreSQL judges before it waits, this after;
     * no query has one */
    ASSERT(!keyed || (further & own) == 0);
    made.reads = keyed ? further : further | own;
    *plan = made;
    return STATUS_OK;
}

static enum status plan_of(struct overlay *overlay, const struct query_part *part,
                           struct plan **out, struct err *err)
{
    struct plan *plan = plan_slot(overlay, part);
    *out = plan;
    return plan->part ? STATUS_OK : plan_make(overlay, part, plan, err);
}

/* Access share or more on the tables, until the end of the transaction; waits while another session
 * holds one in access exclusive mode, keeping those before it. */
static enum status touch(struct overlay_session *session, const struct plan *plan, bool *waited,
                         struct err *err)
{
    struct overlay *overlay = session->overlay;
    if ((plan->touches & ~session->touched) == 0)
        return STATUS_OK;
    for (int i = 0; i < plan->table_count; i++) {
        uint64_t bit = plan->order[i];
        struct lock_tag tag = {.space = LOCK_RELATION, .id = bit};
        if ((bit & ~session->touched & overlay->exclusive) != 0) {
            enum status status = session_lock(session, &tag, LOCK_SHARED, waited, err);
            if (status)
                return status;
        }
        session->touched |= bit;
    }
    return STATUS_OK;
}

enum status statement_run(struct overlay_session *session, sqlite3_stmt *statement,
                          const struct sqlite_step *step, enum hook_mode mode, int64_t *changes,
                          struct err *err)
{
    struct overlay *overlay = session->overlay;
    struct hook *hook = &overlay->hook;
    enum status status = STATUS_OK;
    int rc = SQLITE_DONE;
    hook->mode = mode;
    hook->session = session;
    hook->failed = hook->conflict = false;
    while (!status && (rc = sqlite3_step(statement)) == SQLITE_ROW)
        if (step->row)
            status = step->row(step->context, statement, err);
    hook->mode = HOOK_OFF;
    if (changes)
        *changes = sqlite3_stmt_readonly(statement) ? 0 : sqlite3_changes(overlay->db);
    if (rc != SQLITE_DONE && rc != SQLITE_ROW) {
        status = sqlite_error(overlay->db, step->query->name, err);
        overlay->broken |= sqlite3_get_autocommit(overlay->db) != 0; /* SQLite rolled back */
    } else if (!status && hook->failed)
        status = err_sql(err, "53200", "out of memory for the rows of a transaction");
    else if (!status && hook->conflict)
        status = err_sql(err, "XX000", "query \"%s\" changed a row that another transaction holds",
                         step->query->name);
    sqlite3_reset(statement);
    return status;
}

/* Most rows have the tenant of the row before. */
static const char *uuid_text(struct overlay_session *session, const uint8_t *bytes)
{
    if (!session->has_uuid || memcmp(session->uuid.bytes, bytes, sizeof session->uuid) != 0) {
        memcpy(&session->uuid, bytes, sizeof session->uuid);
        uuid_format(&session->uuid, session->uuid_text);
        session->has_uuid = true;
    }
    return session->uuid_text;
}

/* The key's columns that the parameters give, as SQLite stores them. */
static void key_of_params(struct overlay_session *session, const struct sqlite_step *step)
{
    struct image_buffer *out = &session->key;
    image_clear(out);
    for (int i = 0; i < step->part->key_count; i++) {
        int param = step->part->key[i];
        const struct value *value = &step->params[param];
        switch (step->query->params[param].type) {
        case VALUE_UUID:
            image_put_bytes(out, SQLITE_TEXT, uuid_text(session, value->bytes.data),
                            UUID_TEXT_SIZE);
            break;
        case VALUE_TEXT:
            image_put_bytes(out, SQLITE_TEXT, value->bytes.data, value->bytes.size);
            break;
        case VALUE_BYTES:
            image_put_bytes(out, SQLITE_BLOB, value->bytes.data, value->bytes.size);
            break;
        default:
            image_put_integer(out, value->integer);
        }
    }
}

struct scope scope_of(struct overlay_session *session, const struct plan *plan,
                      const struct sqlite_step *step)
{
    struct scope scope = {.tables = plan->reads};
    if (!plan->table)
        return scope;
    scope.table = plan->table->number;
    if (step->part->key_count == 0 || plan->keyed)
        return scope;
    key_of_params(session, step);
    scope.prefix = session->key.data;
    scope.prefix_size = session->key.failed ? 0 : session->key.size;
    return scope;
}

/* Runs the step with the old images of the rows that it may look at. */
static enum status run_repaired(struct overlay_session *session, const struct plan *plan,
                                struct sqlite_step *step, enum hook_mode mode, struct err *err)
{
    struct overlay *overlay = session->overlay;
    uint64_t foreign = 0;
    if (plan->reads != 0 && overlay->log.count > session->rows.count)
        for (const struct overlay_session *other = overlay->sessions; other; other = other->next)
            foreign |= other != session ? other->rows.changed : 0;
    if ((foreign & plan->reads) == 0)
        return statement_run(session, step->statement, step, mode, &step->changes, err);
    struct scope scope = scope_of(session, plan, step);
    repair_begin(session, &scope);
    enum status status = statement_run(session, step->statement, step, mode, &step->changes, err);
    repair_end(overlay);
    return status ? status : overlay->broken ? overlay_broken(overlay, err) : STATUS_OK;
}

struct row_entry *row_lock(struct overlay_session *session, const struct row_key *key)
{
    struct row_log *log = &session->overlay->log;
    struct row_entry *entry = row_log_find(log, key);
    ASSERT(!entry || entry->owner == session);
    return entry ? entry : row_log_add(log, &session->rows, session, key);
}

enum status row_claim(struct overlay_session *session, struct target *target, enum claim_mode mode,
                      bool *waited, struct err *err)
{
    struct overlay *overlay = session->overlay;
    struct lock_tag turn = {.space = LOCK_TURN,
                            .table = target->key.table,
                            .id = target->key.hash,
                            .key = target->key.data,
                            .key_size = target->key.size};
    for (;;) {
        const struct row_entry *entry = row_log_find(&overlay->log, &target->key);
        if (!entry || entry->owner == session || (target->gone && mode == CLAIM_DELETE))
            return STATUS_OK;
        if (mode == CLAIM_INSERT && !entry->changed)
            return STATUS_OK;
        if (target->moved && target->in_turn) {
            lock_release_turns(overlay->locks, &session->locker);
            session_wake_granted(overlay);
            target->in_turn = false;
        }
        target->moved = false;
        /* a row that is only locked is waited for in line; so is a change, but not by an upsert,
         * which looks at the index first, nor once a delete follows the row to a new version */
        bool in_line =
            mode != CLAIM_INSERT && (!entry->changed || (mode == CLAIM_DELETE && !target->changed));
        enum status status;
        if (in_line && !target->in_turn) {
            bool queued = false;
            status = session_lock(session, &turn, LOCK_EXCLUSIVE, &queued, err);
            if (status)
                return status;
            target->in_turn = true;
            *waited |= queued;
            if (queued)
                continue;
        }
        status = session_wait_for(session, (struct overlay_session *)entry->owner, waited, err);
        if (status)
            return status;
    }
}

void row_claimed(struct overlay_session *session, const struct target *target)
{
    if (!target->in_turn)
        return;
    lock_release_turns(session->overlay->locks, &session->locker);
    session_wake_granted(session->overlay);
}

enum status row_lock_untouched(struct overlay_session *session, const struct plan *plan,
                               const struct row_key *key, struct err *err)
{
    struct overlay *overlay = session->overlay;
    struct image_buffer *scratch = &overlay->hook.scratch;
    bool found;
    image_clear(scratch);
    if (!table_get(plan->table, key, scratch, &found))
        return sqlite_error(overlay->db, "row lock", err);
    if (found && !row_lock(session, key))
        return err_sql(err, "53200", "out of memory for the rows of a transaction");
    return STATUS_OK;
}

static enum status step_keyed(struct overlay_session *session, const struct plan *plan,
                              struct sqlite_step *step, bool waited, struct err *err)
{
    struct overlay *overlay = session->overlay;
    enum status status = STATUS_OK;
    bool upsert = step->part->kind == QUERY_KIND_UPSERT;
    ASSERT(plan->table && step->part->key_count == plan->table->key_count);
    key_of_params(session, step);
    if (session->key.failed)
        return err_sql(err, "53200", "out of memory for the rows of a transaction");
    struct row_key key = row_key_make(plan->table->number, session->key.data, session->key.size);
    struct row_entry *entry = row_log_find(&overlay->log, &key);
    struct target *target = NULL;
    if (entry && entry->owner != session) {
        targets_clear(&session->targets);
        if (!targets_add(&session->targets, key.table, key.data, key.size))
            return err_sql(err, "53200", "out of memory for the rows of a transaction");
        targets_settle(&session->targets);
        target = session->targets.items;
        status = row_claim(session, target, upsert ? CLAIM_UPSERT : CLAIM_INSERT, &waited, err);
        entry = row_log_find(&overlay->log, &key);
    }
    if (status)
        return status;
    if (waited)
        step->restart(step->context);
    overlay->hook.key = key;
    overlay->hook.entry = entry && entry->owner == session ? entry : NULL;
    status = run_repaired(session, plan, step, HOOK_KEYED, err);
    if (!status && upsert && step->changes == 0)
        status = row_lock_untouched(session, plan, &key, err);
    if (!status && target) {
        row_claimed(session, target);
        targets_clear(&session->targets);
    }
    return status;
}

enum status session_step(struct sqlite_exec *exec, struct sqlite_step *step, struct err *err)
{
    struct overlay_session *session = (struct overlay_session *)exec;
    struct plan *plan;
    bool waited = false;
    if (!session->open)
        return session_lost(session, err);
    if (session->overlay->broken)
        return overlay_broken(session->overlay, err);
    enum status status = plan_of(session->overlay, step->part, &plan, err);
    if (!status)
        status = touch(session, plan, &waited, err);
    if (status)
        return status;
    switch (step->part->kind) {
    case QUERY_KIND_INSERT:
    case QUERY_KIND_UPSERT:
        return step_keyed(session, plan, step, waited, err);
    default:
        break;
    }
    if (waited)
        step->restart(step->context);
    switch (step->part->kind) {
    case QUERY_KIND_DELETE:
        return range_delete(session, plan, step, err);
    case QUERY_KIND_SELECT_IN:
        return insert_select(session, plan, step, err);
    case QUERY_KIND_READ:
        return run_repaired(session, plan, step, HOOK_OFF, err);
    default:
        return run_repaired(session, plan, step, HOOK_LOG, err);
    }
}

/* Transactions of one session, and its waits. */
#include "core/base/assert.h"
#include "sim/sqlite/internal.h"

static struct overlay_session *session_of(struct sqlite_exec *exec)
{
    return (struct overlay_session *)exec;
}

enum status session_lost(const struct overlay_session *session, struct err *err)
{
    return err_sql(err, "08006", "connection of \"%s\" was cut", session->actor);
}

static struct lock_tag transaction_tag(const struct overlay_session *session)
{
    return (struct lock_tag){.space = LOCK_TRANSACTION, .id = session->transaction};
}

/* Rows that this transaction changed have a new version: whoever waits for one must know. */
static void publish_versions(struct overlay_session *session)
{
    struct overlay *overlay = session->overlay;
    for (struct overlay_session *other = overlay->sessions; other; other = other->next) {
        if (other == session || !other->waiter)
            continue;
        for (size_t i = 0; i < other->targets.count; i++) {
            struct target *target = &other->targets.items[i];
            const struct row_entry *entry = row_log_find(&overlay->log, &target->key);
            if (!entry || entry->owner != session || !entry->changed)
                continue;
            target->changed = target->moved = true;
            target->gone |= entry->deleted;
        }
    }
    if (!lock_turns_held(overlay->locks))
        return;
    for (const struct row_entry *entry = session->rows.first; entry; entry = entry->next) {
        if (!entry->changed)
            continue;
        struct lock_tag turn = {.space = LOCK_TURN,
                                .table = entry->key.table,
                                .id = entry->key.hash,
                                .key = entry->key.data,
                                .key_size = entry->key.size};
        lock_turn_retire(overlay->locks, &turn);
    }
}

/* The transaction is over: rows and locks are free. */
static void finish(struct overlay_session *session)
{
    struct overlay *overlay = session->overlay;
    row_list_clear(&overlay->log, &session->rows);
    targets_clear(&session->targets);
    overlay->exclusive &= ~session->exclusive;
    session->touched = session->exclusive = 0;
    session->open = false;
    lock_release_all(overlay->locks, &session->locker);
    session_wake_granted(overlay);
}

void session_undo(struct overlay_session *session)
{
    if (!session->open)
        return;
    repair_undo(session);
    finish(session);
}

static enum status session_begin(struct sqlite_exec *exec, bool read_only, struct err *err)
{
    struct overlay_session *session = session_of(exec);
    (void)read_only; /* rights are PostgreSQL's (MS "Rights") */
    ASSERT(!session->open);
    if (session->overlay->broken)
        return overlay_broken(session->overlay, err);
    session->open = true;
    session->transaction = ++session->overlay->transactions;
    return STATUS_OK;
}

static enum status session_commit(struct sqlite_exec *exec, struct err *err)
{
    struct overlay_session *session = session_of(exec);
    if (!session->open)
        return session_lost(session, err);
    publish_versions(session);
    finish(session);
    return STATUS_OK;
}

static enum status session_rollback(struct sqlite_exec *exec, struct err *err)
{
    struct overlay_session *session = session_of(exec);
    session_undo(session);
    return session->overlay->broken ? overlay_broken(session->overlay, err) : STATUS_OK;
}

void session_wake_granted(struct overlay *overlay)
{
    if (!lock_take_granted(overlay->locks))
        return;
    for (struct overlay_session *session = overlay->sessions; session; session = session->next) {
        if (!session->locker.granted)
            continue;
        ASSERT(session->waiter);
        session->locker.granted = false;
        session->ready = true;
        if (overlay->events.granted)
            overlay->events.granted(overlay->events.context, session->actor);
        if (actor_alive(session->waiter))
            sched_wake(overlay->sched, session->waiter);
    }
}

/* The session is in a queue: until it is granted, or must not wait. */
static enum status wait_in_queue(struct overlay_session *session, struct err *err)
{
    struct overlay *overlay = session->overlay;
    struct actor *actor = overlay->sched ? sched_current(overlay->sched) : NULL;
    bool deadlock = lock_deadlocked(overlay->locks, &session->locker);
    if (deadlock || !actor) {
        lock_abandon(overlay->locks, &session->locker);
        session_wake_granted(overlay);
        return deadlock ? err_sql(err, "40P01", "deadlock detected")
                        : err_sql(err, "55P03", "could not obtain lock: another session holds it");
    }
    if (overlay->events.waits)
        overlay->events.waits(overlay->events.context, session->actor);
    uint64_t cuts = session->cuts;
    session->waiter = actor;
    session->ready = false;
    while (!session->ready && session->cuts == cuts)
        sched_wait(overlay->sched);
    session->waiter = NULL;
    return session->cuts == cuts ? STATUS_OK : session_lost(session, err);
}

enum status session_lock(struct overlay_session *session, const struct lock_tag *tag,
                         enum lock_mode mode, bool *waited, struct err *err)
{
    switch (lock_acquire(session->overlay->locks, &session->locker, tag, mode, true)) {
    case LOCK_GRANTED:
        return STATUS_OK;
    case LOCK_BLOCKED:
        *waited = true;
        return wait_in_queue(session, err);
    default:
        return err_sql(err, "53200", "out of shared memory: too many locks");
    }
}

enum status session_wait_for(struct overlay_session *session, struct overlay_session *other,
                             bool *waited, struct err *err)
{
    ASSERT(other != session && other->open);
    struct lock_tag tag = transaction_tag(other);
    struct lock_table *locks = session->overlay->locks;
    /* nobody waited for it before: only now does its number become a lock */
    if (lock_acquire(locks, &other->locker, &tag, LOCK_EXCLUSIVE, false) != LOCK_GRANTED)
        return err_sql(err, "53200", "out of shared memory: too many locks");
    enum status status = session_lock(session, &tag, LOCK_SHARED, waited, err);
    if (!status)
        lock_release(locks, &session->locker, &tag);
    return status;
}

static enum status session_advisory(struct sqlite_exec *exec, enum query_kind kind, int64_t lock,
                                    bool *granted, struct err *err)
{
    struct overlay_session *session = session_of(exec);
    struct lock_tag tag = {.space = LOCK_ADVISORY, .id = (uint64_t)lock};
    bool waited = false;
    if (!session->open)
        return session_lost(session, err);
    *granted = true;
    if (kind != QUERY_KIND_TRY)
        return session_lock(session, &tag, kind == QUERY_KIND_SHARED ? LOCK_SHARED : LOCK_EXCLUSIVE,
                            &waited, err);
    enum lock_answer answer =
        lock_acquire(session->overlay->locks, &session->locker, &tag, LOCK_EXCLUSIVE, false);
    *granted = answer == LOCK_GRANTED;
    return answer == LOCK_FULL ? err_sql(err, "53200", "out of shared memory: too many locks")
                               : STATUS_OK;
}

static enum status session_relation(struct sqlite_exec *exec, const char *name, struct err *err)
{
    struct overlay_session *session = session_of(exec);
    struct overlay *overlay = session->overlay;
    uint64_t bit;
    if (!session->open)
        return session_lost(session, err);
    enum status status = catalog_bit(&overlay->catalog, name, &bit, err);
    if (status)
        return status;
    struct lock_tag tag = {.space = LOCK_RELATION, .id = bit};
    bool free = true;
    for (struct overlay_session *other = overlay->sessions; other; other = other->next)
        free &= other == session || (other->touched & bit) == 0;
    if (!free ||
        lock_acquire(overlay->locks, &session->locker, &tag, LOCK_EXCLUSIVE, false) != LOCK_GRANTED)
        return err_sql(err, "55P03", "could not obtain lock on relation \"%s\"", name);
    session->touched |= bit;
    session->exclusive |= bit;
    overlay->exclusive |= bit;
    return STATUS_OK;
}

const struct sqlite_exec_ops session_ops = {
    .begin = session_begin,
    .commit = session_commit,
    .rollback = session_rollback,
    .step = session_step,
    .advisory = session_advisory,
    .relation = session_relation,
};

/* One transaction of the writer: fence, Begin, the phases in the order of MS, Commit.
 *
 *   fence | dedup tenant | resources states counts caps | judge | routes | fold | hour locks
 * minutes marks states resources warnings | commit
 *
 * What it decides about messages and counts of points holds only when Commit has said yes
 * (R-OUT-1).
 */
#include "core/base/assert.h"
#include "core/base/time.h"
#include "core/writer/work.h"

/* In this order; each may end the transaction. */
static enum status (*const phases[])(struct work *work, struct err *err) = {
    dedup_record,         /* RecordIngestMessage; GetIngestMessageTenant of ids that were there */
    dedup_lock_tenants,   /* LockTenant */
    gather_points,        /* - */
    read_resources,       /* GetResourcesSeen */
    read_states,          /* GetSeriesStates */
    read_stream_counts,   /* CountSeriesStates, only with a new stream */
    read_cap_warnings,    /* GetCapWarnings, S-5 only */
    judge_points,         /* - */
    caps_label,           /* - */
    caps_list_routes,     /* ListRoutes */
    caps_admit,           /* - */
    caps_register_routes, /* RegisterRoute */
    fold_minutes,         /* - */
    fold_hours,           /* - */
    report_judgements,    /* - */
    write_hour_locks,     /* LockRollupHour */
    write_minutes,        /* AddMinute */
    write_marks,          /* MarkRollupPending */
    write_states,         /* UpsertSeriesState */
    write_resources,      /* TouchResource */
    write_warnings,       /* AddIngestWarning */
};

enum status work_array(struct work *work, size_t count, size_t size, void *out, struct err *err)
{
    void *memory = arena_array(work->arena, count > 0 ? count : 1, size);
    if (!memory)
        return err_set(err, STATUS_NO_MEMORY, NULL,
                       "could not apply %zu messages in one transaction: out of memory",
                       work->entry_count);
    *(void **)out = memory;
    return STATUS_OK;
}

enum status work_warn(struct work_day *day, enum warning_kind kind, int64_t count, struct err *err)
{
    ASSERT(kind < WARNING_KIND_COUNT && count >= 0);
    if (__builtin_add_overflow(day->warnings[kind], count, &day->warnings[kind]))
        return err_sql(err, "22003", "warning \"%s\" is out of range", warning_kind_name(kind));
    return STATUS_OK;
}

static void committed(struct work *work)
{
    report_committed(work);
    for (size_t i = 0; i < work->entry_count; i++) {
        struct entry *entry = work->entries[i];
        entry->decided = true;
        if (entry->outcome == MESSAGE_APPLIED)
            guard_applied(&work->writer->guard, entry->delivery->msg_id, work->now_ns);
    }
}

/* Begin to Commit over work->entries. With work->tenant_removed set nothing was committed. */
static enum status run(struct work *work, struct err *err)
{
    struct writer_ports *ports = &work->writer->ports;
    enum status status = ports->fence->check(ports->fence, err);
    if (status != STATUS_OK)
        return status;
    status = store_begin(ports->store, ROLE_METRICS_WRITER, err);
    if (status == STATUS_OK) {
        work->now_ns = ports->clock->now_ns(ports->clock);
        work->now_us = time_div(work->now_ns, NS_PER_US);
        for (size_t i = 0; i < sizeof phases / sizeof *phases; i++) {
            status = phases[i](work, err);
            if (status != STATUS_OK || work->tenant_removed)
                break;
        }
        if (status == STATUS_OK && !work->tenant_removed)
            status = store_commit(ports->store, err);
    }
    if (status != STATUS_OK || work->tenant_removed)
        store_rollback(ports->store);
    else
        committed(work);
    return status;
}

enum status transaction_apply(struct writer *writer, struct entry *entries, size_t count,
                              struct err *err)
{
    /* each round but the last decides at least one message */
    for (size_t round = 0; round <= count; round++) {
        arena_rewind(&writer->tx);
        struct work work = {.writer = writer, .arena = &writer->tx};
        enum status status = work_array(&work, count, sizeof *work.entries, &work.entries, err);
        if (status == STATUS_OK)
            status = work_array(&work, count, sizeof *work.is_new, &work.is_new, err);
        if (status != STATUS_OK)
            return status;
        for (size_t i = 0; i < count; i++)
            if (!entries[i].decided)
                work.entries[work.entry_count++] = &entries[i];
        if (work.entry_count == 0)
            return STATUS_OK;
        status = run(&work, err);
        if (status != STATUS_OK || !work.tenant_removed)
            return status;
    }
    ASSERT(false); /* a round that ends with a removed tenant has decided its messages */
    return STATUS_OK;
}

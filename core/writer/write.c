/* The writes of the transaction, each one statement over sorted rows (R-TX-2), none when there is
 * nothing to write. */
#include "core/base/assert.h"
#include "core/writer/work.h"

enum status write_hour_locks(struct work *work, struct err *err)
{
    if (work->lock_count == 0 || !rules_on(work->writer->rules, RULE_A2))
        return STATUS_OK;
    return store_lock_rollup_hours(work->writer->ports.store, work->locks, work->lock_count, err);
}

enum status write_minutes(struct work *work, struct err *err)
{
    if (work->minute_count == 0)
        return STATUS_OK;
    return store_add_minutes(work->writer->ports.store, work->minutes, work->minute_count, err);
}

enum status write_marks(struct work *work, struct err *err)
{
    if (work->mark_count == 0)
        return STATUS_OK;
    return store_mark_rollup_pending(work->writer->ports.store, work->marks, work->mark_count, err);
}

/* S-13: a state is written only where it still is as it was judged. Fewer rows written than sent:
 * another writer judged the same stream, and this batch must be judged again. */
enum status write_states(struct work *work, struct err *err)
{
    struct series_state_write *rows;
    size_t n = 0;
    bool guarded = rules_on(work->writer->rules, RULE_S13);
    enum status status = work_array(work, work->stream_count, sizeof *rows, &rows, err);
    if (status != STATUS_OK)
        return status;
    for (size_t i = 0; i < work->stream_count; i++) {
        const struct work_stream *stream = &work->streams[i];
        if (!stream->changed)
            continue;
        rows[n++] =
            (struct series_state_write){.tenant = work->tenants[stream->tenant].id,
                                        .key = stream->key,
                                        .state = stream->state,
                                        .last_seen_at_us = work->now_us,
                                        .guarded = guarded,
                                        .had_previous = stream->stored,
                                        .previous_unix_nano = stream->stored_last_unix_nano};
    }
    if (n == 0)
        return STATUS_OK;
    size_t written = 0;
    status = store_upsert_series_states(work->writer->ports.store, rows, n, &written, err);
    if (status != STATUS_OK)
        return status;
    ASSERT(written <= n);
    if (guarded && written < n)
        return err_sql(err, "40001",
                       "could not store %zu of %zu stream states: another writer judged them",
                       n - written, n);
    return STATUS_OK;
}

enum status write_resources(struct work *work, struct err *err)
{
    struct resource_write *rows;
    size_t n = 0;
    enum status status = work_array(work, work->process_count, sizeof *rows, &rows, err);
    if (status != STATUS_OK)
        return status;
    for (size_t i = 0; i < work->process_count; i++) {
        const struct work_process *process = &work->processes[i];
        if (process->accepted)
            rows[n++] = (struct resource_write){work->tenants[process->tenant].id, process->key,
                                                work->now_us, process->accepted_first_point};
    }
    return n > 0 ? store_touch_resources(work->writer->ports.store, rows, n, err) : STATUS_OK;
}

enum status write_warnings(struct work *work, struct err *err)
{
    struct warning_row *rows;
    size_t n = 0;
    enum status status =
        work_array(work, work->day_count * WARNING_KIND_COUNT, sizeof *rows, &rows, err);
    if (status != STATUS_OK)
        return status;
    for (size_t d = 0; d < work->day_count; d++) {
        const struct work_day *day = &work->days[d];
        for (int kind = 0; kind < WARNING_KIND_COUNT; kind++)
            if (day->warnings[kind] > 0)
                rows[n++] = (struct warning_row){work->tenants[day->tenant].id, day->day,
                                                 (enum warning_kind)kind, day->warnings[kind]};
    }
    return n > 0 ? store_add_ingest_warnings(work->writer->ports.store, rows, n, err) : STATUS_OK;
}

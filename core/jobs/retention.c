/* api-retention (MS "Jobs tasks", "State and bookkeeping tables"; R-RET-1..2, R-PART-2).
 *
 *   for each expired partition:  [ lock, nowait | pending hours? | drop ] commit
 *   then:                        [ prune ] commit, table by table
 *
 * The order inside a drop is the rule: a writer that marks an hour of the day has touched the
 * table, so once the lock is held, no mark can appear between the check and the drop.
 */
#include "core/base/assert.h"
#include "core/base/limits.h"
#include "core/base/time.h"
#include "core/jobs/transaction.h"

/* A busy or waiting partition is left to a later run. Nothing was written then. */
static enum status leave(struct job *job, enum counter why)
{
    store_rollback(job->ports.store);
    job_count(job, why, 1);
    return STATUS_OK;
}

/* Of a day's minutes only: an hour is pending for 5 minutes, not for two years. */
static enum status is_pending(struct job *job, enum partition_table table, int64_t first_day,
                              bool *pending, struct err *err)
{
    *pending = false;
    if (table != PARTITION_MINUTE)
        return STATUS_OK;
    return store_rollup_pending_in_day(job->ports.store, first_day, &job->tx, pending, err);
}

static enum status drop(struct job *job, enum partition_table table, int64_t first_day,
                        struct err *err)
{
    enum status status = job_begin(job, ROLE_JOBS, err);
    if (status != STATUS_OK)
        return status;
    bool busy = false, pending = false, dropped = false;
    status = job_lock_partitioned(job, table, &busy, err);
    if (status == STATUS_OK && busy)
        return leave(job, COUNTER_PARTITIONS_BUSY);
    if (status == STATUS_OK)
        status = is_pending(job, table, first_day, &pending, err);
    if (status == STATUS_OK && pending)
        return leave(job, COUNTER_PARTITIONS_WAITING);
    if (status == STATUS_OK)
        status = store_drop_partition(job->ports.store, table, first_day, &job->tx, &dropped, err);
    status = job_end(job, status, err);
    if (status == STATUS_OK)
        job_count(job, COUNTER_PARTITIONS_DROPPED, dropped);
    return status;
}

static enum status drop_expired(struct job *job, const struct partition_lists *lists,
                                struct err *err)
{
    enum status status = STATUS_OK;
    int64_t first_kept_day = lists->today - job->settings.minute_retention_days;
    int64_t first_kept_month =
        month_index_of_day(lists->today) - job->settings.hourly_retention_months;
    for (size_t i = 0; status == STATUS_OK && i < lists->minute_count; i++)
        if (lists->minute_days[i] < first_kept_day)
            status = drop(job, PARTITION_MINUTE, lists->minute_days[i], err);
    for (size_t i = 0; status == STATUS_OK && i < lists->hourly_count; i++)
        if (month_index_of_day(lists->hourly_months[i]) < first_kept_month)
            status = drop(job, PARTITION_HOURLY, lists->hourly_months[i], err);
    return status;
}

/* MS "State and bookkeeping tables": who is removed, and when. */
enum prune_step {
    STEP_INGEST_DEDUP,
    STEP_SERIES_STATE,
    STEP_RESOURCE_SEEN,
    STEP_ROUTE_REGISTRY,
    STEP_COUNT
};

static enum status prune_rows(struct job *job, enum prune_step step, int64_t *deleted,
                              struct err *err)
{
    struct store *store = job->ports.store;
    int64_t idle_us = job->now_us - LIMIT_STATE_IDLE_DAYS * US_PER_DAY;
    switch (step) {
    case STEP_INGEST_DEDUP:
        return store_prune(store, PRUNE_INGEST_DEDUP, job->now_us - LIMIT_DEDUP_DAYS * US_PER_DAY,
                           deleted, err);
    case STEP_SERIES_STATE:
        return store_prune(store, PRUNE_SERIES_STATE, idle_us, deleted, err);
    case STEP_RESOURCE_SEEN:
        return store_prune(store, PRUNE_RESOURCE_SEEN, idle_us, deleted, err);
    default:
        ASSERT(step == STEP_ROUTE_REGISTRY);
        return store_prune_route_registry(
            store, time_div(job->now_us, US_PER_DAY) - LIMIT_ROUTE_REGISTRY_DAYS, deleted, err);
    }
}

static enum status prune(struct job *job, enum prune_step step, struct err *err)
{
    enum status status = job_begin(job, ROLE_JOBS, err);
    if (status != STATUS_OK)
        return status;
    int64_t deleted = 0;
    status = job_end(job, prune_rows(job, step, &deleted, err), err);
    if (status == STATUS_OK)
        job_count(job, COUNTER_PRUNED_ROWS, (uint64_t)deleted);
    return status;
}

enum status job_retention(struct job *job, struct err *err)
{
    ASSERT(job && err);
    enum status status = settings_check_retention(&job->settings, err);
    if (status != STATUS_OK)
        return status;
    arena_rewind(&job->run);
    struct partition_lists lists;
    status = job_list_partitions(job, &lists, err);
    if (status == STATUS_OK)
        status = drop_expired(job, &lists, err);
    for (int step = 0; status == STATUS_OK && step < STEP_COUNT; step++)
        status = prune(job, (enum prune_step)step, err);
    return status;
}

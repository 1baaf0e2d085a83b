/* Making a job, its transactions, and the one job that is a single call: purge. */
#include "core/base/assert.h"
#include "core/base/limits.h"
#include "core/base/time.h"
#include "core/jobs/transaction.h"
#include "core/model/identity.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct job *job_new(const struct settings *settings, struct rules rules,
                    const struct job_ports *ports)
{
    ASSERT(settings && ports);
    ASSERT(ports->clock && ports->store && ports->fence && ports->meter && ports->log);
    struct job *job = calloc(1, sizeof *job);
    if (!job)
        return NULL;
    job->settings = *settings;
    job->rules = rules;
    job->ports = *ports;
    job->hasher = sha256_hasher_new();
    arena_init(&job->run, LIMIT_BATCH_ARENA_BYTES);
    arena_init(&job->tx, LIMIT_BATCH_ARENA_BYTES);
    if (!job->hasher) {
        job_free(job);
        return NULL;
    }
    return job;
}

void job_free(struct job *job)
{
    if (!job)
        return;
    sha256_hasher_free(job->hasher);
    arena_free(&job->run);
    arena_free(&job->tx);
    free(job);
}

enum status job_begin(struct job *job, enum store_role role, struct err *err)
{
    ASSERT(job && err);
    struct job_ports *ports = &job->ports;
    arena_rewind(&job->tx);
    enum status status = ports->fence->check(ports->fence, err);
    if (status == STATUS_OK)
        status = store_begin(ports->store, role, err);
    if (status != STATUS_OK)
        return status;
    job->now_ns = ports->clock->now_ns(ports->clock);
    job->now_us = time_div(job->now_ns, NS_PER_US);
    return STATUS_OK;
}

enum status job_end(struct job *job, enum status status, struct err *err)
{
    ASSERT(job && err);
    if (status == STATUS_OK)
        status = store_commit(job->ports.store, err);
    if (status != STATUS_OK)
        store_rollback(job->ports.store);
    return status;
}

void job_count(struct job *job, enum counter counter, uint64_t count)
{
    if (count > 0)
        job->ports.meter->add(job->ports.meter, counter, count);
}

void job_hour_text(const struct mark_row *mark, char out[JOB_HOUR_TEXT])
{
    char tenant[UUID_TEXT_SIZE + 1];
    char hour[TIME_TEXT_SIZE];
    int64_t hour_ns;
    uuid_format(&mark->tenant, tenant);
    if (__builtin_mul_overflow(mark->hour_us, NS_PER_US, &hour_ns)) /* a file from elsewhere */
        snprintf(hour, sizeof hour, "%" PRId64 " us", mark->hour_us);
    else
        time_format_ns(hour_ns, hour);
    snprintf(out, JOB_HOUR_TEXT, "tenant %s hour %s", tenant, hour);
}

void job_log_hour(struct job *job, const char *event, const struct mark_row *mark)
{
    char text[JOB_HOUR_TEXT];
    job_hour_text(mark, text);
    job->ports.log->write(job->ports.log, LOG_ERROR, event, text);
}

enum status job_lock_partitioned(struct job *job, enum partition_table table, bool *busy,
                                 struct err *err)
{
    struct err refused;
    *busy = false;
    enum status status = store_lock_partitioned(job->ports.store, table, &refused);
    if (status == STATUS_OK)
        return STATUS_OK;
    *busy = strcmp(refused.sqlstate, "55P03") == 0;
    if (*busy)
        return STATUS_OK;
    *err = refused;
    return status;
}

enum status job_list_partitions(struct job *job, struct partition_lists *lists, struct err *err)
{
    enum status status = job_begin(job, ROLE_JOBS, err);
    if (status != STATUS_OK)
        return status;
    lists->today = time_div(job->now_ns, NS_PER_DAY);
    status = store_list_partitions(job->ports.store, PARTITION_MINUTE, &job->run,
                                   &lists->minute_days, &lists->minute_count, err);
    if (status == STATUS_OK)
        status = store_list_partitions(job->ports.store, PARTITION_HOURLY, &job->run,
                                       &lists->hourly_months, &lists->hourly_count, err);
    return job_end(job, status, err);
}

bool days_contain(const int64_t *days, size_t count, int64_t day)
{
    size_t low = 0;
    size_t high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (days[middle] < day)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && days[low] == day;
}

enum status job_no_memory(const char *what, struct err *err)
{
    return err_set(err, STATUS_NO_MEMORY, NULL, "could not remember %s: out of memory", what);
}

enum status job_purge(struct job *job, const struct uuid *tenant, bool keep_aggregates,
                      struct err *err)
{
    ASSERT(job && tenant && err);
    enum status status = job_begin(job, ROLE_CP_SYSTEM, err);
    if (status != STATUS_OK)
        return status;
    int64_t lock = identity_tenant_lock(job->hasher, tenant);
    status = store_purge_tenant(job->ports.store, tenant, lock, keep_aggregates, err);
    return job_end(job, status, err);
}

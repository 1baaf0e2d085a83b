/* The consistency check behind the hour locks (MS "State and bookkeeping tables"; R-ROLL-2).
 *
 * It should find nothing. An hour it finds is marked again, told as an error and counted, and
 * recomputed in the same run by the rollup. Hours without minute rows are never marked, because a
 * purge that keeps aggregates deletes minutes on purpose.
 */
#include "core/base/assert.h"
#include "core/base/limits.h"
#include "core/base/time.h"
#include "core/jobs/transaction.h"

enum status rollup_drift_check(struct job *job, struct mark_row **marked, size_t *count,
                               struct err *err)
{
    ASSERT(job && marked && count);
    enum status status = job_begin(job, ROLE_JOBS, err);
    if (status != STATUS_OK)
        return status;
    int64_t from_us = job->now_us - LIMIT_DRIFT_WINDOW_HOURS * US_PER_HOUR;
    status =
        store_mark_drifted_hours(job->ports.store, from_us, job->now_us, job->now_us,
                                 rules_on(job->rules, RULE_S14), &job->run, marked, count, err);
    status = job_end(job, status, err);
    if (status != STATUS_OK)
        return status;
    for (size_t i = 0; i < *count; i++)
        job_log_hour(job, "rollup_drifted_hour", &(*marked)[i]);
    job_count(job, COUNTER_ROLLUP_DRIFTED_HOURS, *count);
    return STATUS_OK;
}

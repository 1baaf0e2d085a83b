/* api-partition, and the initial window of the migration (MS "Partitions", "Jobs tasks";
 * R-PART-1..2). Each partition is created in a transaction of its own, because its lock keeps every
 * reader and writer out. What exists is read from the bounds first, so that a run with nothing to
 * do takes no lock.
 */
#include "core/base/assert.h"
#include "core/base/limits.h"
#include "core/base/time.h"
#include "core/jobs/transaction.h"

/* MS "Partitions": the migration begins this many days back. */
#define INITIAL_MINUTE_DAYS_BACK 7
#define INITIAL_HOURLY_DAYS_BACK 31

/* What must exist; all inclusive. */
struct window {
    int64_t from_day;
    int64_t until_day;
    int64_t from_month; /* month indices */
    int64_t until_month;
};

static enum status create(struct job *job, enum partition_table table, int64_t first_day,
                          bool *busy, struct err *err)
{
    enum status status = job_begin(job, ROLE_JOBS, err);
    if (status != STATUS_OK)
        return status;
    bool created = false;
    status = job_lock_partitioned(job, table, busy, err);
    if (status == STATUS_OK && *busy) {
        store_rollback(job->ports.store);
        job_count(job, COUNTER_PARTITIONS_BUSY, 1);
        return STATUS_OK;
    }
    if (status == STATUS_OK)
        status =
            store_create_partition(job->ports.store, table, first_day, &job->tx, &created, err);
    status = job_end(job, status, err);
    if (status == STATUS_OK)
        job_count(job, COUNTER_PARTITIONS_CREATED, created);
    return status;
}

/* *busy: some partition was left out because its table was in use. */
static enum status create_window(struct job *job, const struct partition_lists *lists,
                                 const struct window *window, bool *busy, struct err *err)
{
    enum status status = STATUS_OK;
    *busy = false;
    for (int64_t day = window->from_day; status == STATUS_OK && day <= window->until_day; day++) {
        bool refused = false;
        if (!days_contain(lists->minute_days, lists->minute_count, day))
            status = create(job, PARTITION_MINUTE, day, &refused, err);
        *busy |= refused;
    }
    for (int64_t month = window->from_month; status == STATUS_OK && month <= window->until_month;
         month++) {
        bool refused = false;
        int64_t first_day = month_first_day(month);
        if (!days_contain(lists->hourly_months, lists->hourly_count, first_day))
            status = create(job, PARTITION_HOURLY, first_day, &refused, err);
        *busy |= refused;
    }
    return status;
}

enum status job_partition(struct job *job, struct err *err)
{
    ASSERT(job && err);
    arena_rewind(&job->run);
    struct partition_lists lists;
    enum status status = job_list_partitions(job, &lists, err);
    if (status != STATUS_OK)
        return status;
    int64_t month = month_index_of_day(lists.today);
    struct window window = {
        .from_day = lists.today,
        .until_day = lists.today + LIMIT_MINUTE_DAYS_AHEAD,
        .from_month = month,
        .until_month = month + LIMIT_HOURLY_MONTHS_AHEAD,
    };
    bool busy;
    return create_window(job, &lists, &window, &busy, err);
}

enum status job_initial_partitions(struct job *job, struct err *err)
{
    ASSERT(job && err);
    arena_rewind(&job->run);
    struct partition_lists lists;
    enum status status = job_list_partitions(job, &lists, err);
    if (status != STATUS_OK)
        return status;
    struct window window = {
        .from_day = lists.today - INITIAL_MINUTE_DAYS_BACK,
        .until_day = lists.today + LIMIT_MINUTE_DAYS_AHEAD,
        .from_month = month_index_of_day(lists.today - INITIAL_HOURLY_DAYS_BACK),
        .until_month = month_index_of_day(lists.today) + LIMIT_HOURLY_MONTHS_AHEAD,
    };
    bool busy;
    status = create_window(job, &lists, &window, &busy, err);
    if (status == STATUS_OK && busy) /* nobody comes again to make these */
        return err_sql(err, "55P03", "could not create the initial partitions: table is in use");
    return status;
}

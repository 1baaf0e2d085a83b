/* api-rollup (MS "State and bookkeeping tables", "Jobs tasks"; R-ROLL-1..3).
 *
 *   walk:   [ claim up to 500 marks after the cursor | hours | days ] commit, until none is left
 *   drift:  [ mark drifted hours ] commit                              (drift.c)
 *   again:  [ claim those | hours | days ] commit
 *
 * What happens to a claimed mark:
 *
 *   its minute partition is gone  -> dropped, its hourly rows stay, told as an error    
 *   a writer holds its hour       -> put back with its marked_at, left to a later run   
 *   else                          -> the hour is recomputed, its day remembered
 *
 * Days are recomputed at the end of the transaction, when all their hours are: each under its
 * exclusive lock (S-10), in the order of the lock ids, so that two runners never wait in a circle.
 */
#include "core/base/assert.h"
#include "core/base/limits.h"
#include "core/base/time.h"
#include "core/jobs/transaction.h"
#include "core/model/identity.h"
#include <stdlib.h>
#include <string.h>

struct rollup_day {
    struct uuid tenant;
    int64_t day;     /* bucket_start, days since 1970 */
    int64_t from_us; /* the hours that make it */
    int64_t until_us;
    int64_t lock;
};

/* One transaction's claimed marks and what became of them. Memory: job->tx. */
struct claim {
    struct mark_row *marks; /* in (hour, tenant) order */
    size_t count;
    struct rollup_day *days;
    size_t day_count;
    struct mark_row *orphans;
    size_t orphan_count;
    size_t recomputed;
    size_t restored;
};

static enum status recompute_hour(struct job *job, const struct mark_row *mark, struct err *err)
{
    int64_t deleted, inserted;
    enum status status =
        store_delete_hourly_rows(job->ports.store, &mark->tenant, mark->hour_us, &deleted, err);
    if (status == STATUS_OK)
        status = store_rollup_hour(job->ports.store, &mark->tenant, mark->hour_us, &inserted, err);
    return status;
}

/* The day of an hour: 24 hours of UTC, or the calendar day of the session's time zone (A-10 off),
 * whose row carries the UTC midnight nearest to its own. */
static enum status remember_day(struct job *job, const struct mark_row *mark, struct claim *claim,
                                struct err *err)
{
    struct rollup_day *day = &claim->days[claim->day_count];
    day->tenant = mark->tenant;
    if (rules_on(job->rules, RULE_A10)) {
        day->from_us = time_floor(mark->hour_us, US_PER_DAY);
        day->until_us = day->from_us + US_PER_DAY;
        day->day = time_div(mark->hour_us, US_PER_DAY);
    } else {
        enum status status = store_session_day(job->ports.store, mark->hour_us, &job->tx,
                                               &day->from_us, &day->until_us, err);
        if (status != STATUS_OK)
            return status;
        day->day = time_div(day->from_us + US_PER_DAY / 2, US_PER_DAY);
    }
    day->lock = identity_day_lock(job->hasher, &day->tenant, day->day);
    claim->day_count++;
    return STATUS_OK;
}

/* False, and the mark put back, while a writer holds the hour. With A-2 off nobody asks. */
static enum status lock_hour(struct job *job, const struct mark_row *mark, bool *granted,
                             struct err *err)
{
    *granted = true;
    if (!rules_on(job->rules, RULE_A2))
        return STATUS_OK;
    struct hour_lock lock = {
        .lock = identity_hour_lock(job->hasher, &mark->tenant, mark->hour_us),
        .tenant = mark->tenant,
        .hour_us = mark->hour_us,
    };
    enum status status =
        store_try_lock_rollup_hour(job->ports.store, &lock, &job->tx, granted, err);
    if (status == STATUS_OK && !*granted)
        status = store_restore_rollup_mark(job->ports.store, mark, err);
    return status;
}

static enum status refuse_orphan(const struct mark_row *mark, struct err *err)
{
    char hour[JOB_HOUR_TEXT];
    job_hour_text(mark, hour);
    return err_set(err, STATUS_REFUSED, NULL, "cannot roll up %s: its minute partition is gone",
                   hour);
}

static enum status take_mark(struct job *job, const struct mark_row *mark, bool orphan,
                             struct claim *claim, struct err *err)
{
    if (orphan) {
        if (!rules_on(job->rules, RULE_A9))
            return refuse_orphan(mark, err);
        claim->orphans[claim->orphan_count++] = *mark;
        return STATUS_OK;
    }
    bool granted;
    enum status status = lock_hour(job, mark, &granted, err);
    if (status != STATUS_OK)
        return status;
    if (!granted) {
        claim->restored++;
        return STATUS_OK;
    }
    status = recompute_hour(job, mark, err);
    if (status != STATUS_OK)
        return status;
    claim->recomputed++;
    return remember_day(job, mark, claim, err);
}

static int day_compare(const void *a, const void *b)
{
    const struct rollup_day *left = a;
    const struct rollup_day *right = b;
    if (left->lock != right->lock)
        return left->lock < right->lock ? -1 : 1;
    int order = uuid_compare(&left->tenant, &right->tenant);
    if (order != 0)
        return order;
    if (left->day != right->day)
        return left->day < right->day ? -1 : 1;
    return left->from_us < right->from_us ? -1 : left->from_us > right->from_us;
}

/* Sorts the days and leaves each (tenant, day) once. */
static void settle_days(struct claim *claim)
{
    if (claim->day_count > 1)
        qsort(claim->days, claim->day_count, sizeof *claim->days, day_compare);
    size_t kept = 0;
    for (size_t i = 0; i < claim->day_count; i++) {
        const struct rollup_day *day = &claim->days[i];
        bool repeated = kept > 0 && claim->days[kept - 1].day == day->day &&
                        uuid_compare(&claim->days[kept - 1].tenant, &day->tenant) == 0;
        if (!repeated)
            claim->days[kept++] = *day;
    }
    claim->day_count = kept;
}

static enum status recompute_day(struct job *job, const struct rollup_day *day, struct err *err)
{
    int64_t deleted, inserted;
    int64_t day_us = day->day * US_PER_DAY;
    struct store *store = job->ports.store;
    enum status status = STATUS_OK;
    if (rules_on(job->rules, RULE_S10))
        status = store_lock_rollup_day(store, day->lock, err);
    if (status == STATUS_OK)
        status = store_delete_daily_rows(store, &day->tenant, day_us, &deleted, err);
    if (status == STATUS_OK)
        status = store_rollup_day(store, &day->tenant, day_us, day->from_us, day->until_us,
                                  &inserted, err);
    return status;
}

/* Recomputes what was claimed, inside the transaction that claimed it. */
static enum status work_claim(struct job *job, struct claim *claim, struct err *err)
{
    if (claim->count == 0)
        return STATUS_OK;
    claim->days = arena_array(&job->tx, claim->count, sizeof *claim->days);
    claim->orphans = arena_array(&job->tx, claim->count, sizeof *claim->orphans);
    if (!claim->days || !claim->orphans)
        return job_no_memory("claimed hours", err);
    int64_t *days;
    size_t day_count;
    enum status status =
        store_list_partitions(job->ports.store, PARTITION_MINUTE, &job->tx, &days, &day_count, err);
    for (size_t i = 0; status == STATUS_OK && i < claim->count; i++) {
        const struct mark_row *mark = &claim->marks[i];
        bool orphan = !days_contain(days, day_count, time_div(mark->hour_us, US_PER_DAY));
        status = take_mark(job, mark, orphan, claim, err);
    }
    settle_days(claim);
    for (size_t i = 0; status == STATUS_OK && i < claim->day_count; i++)
        status = recompute_day(job, &claim->days[i], err);
    return status;
}

/* Told once the commit is known. */
static void report_claim(struct job *job, const struct claim *claim)
{
    ASSERT(claim->recomputed + claim->restored + claim->orphan_count == claim->count);
    for (size_t i = 0; i < claim->orphan_count; i++)
        job_log_hour(job, "rollup_orphaned_mark", &claim->orphans[i]);
    job_count(job, COUNTER_ROLLUP_HOURS, claim->recomputed);
    job_count(job, COUNTER_ROLLUP_DAYS, claim->day_count);
    job_count(job, COUNTER_ROLLUP_RESTORED, claim->restored);
    job_count(job, COUNTER_ROLLUP_ORPHANED_MARKS, claim->orphan_count);
}

/* The data of an hour is refused; a key that is there already (23505) is another runner's doing. */
static bool is_refused(enum status status, const struct err *err)
{
    return status == STATUS_DATA && strcmp(err->sqlstate, "23505") != 0;
}

/* Named marks once more, in a transaction of their own. */
static enum status claim_marked(struct job *job, const struct mark_row *marks, size_t count,
                                struct err *err)
{
    enum status status = job_begin(job, ROLE_JOBS, err);
    if (status != STATUS_OK)
        return status;
    struct claim claim = {0};
    status = store_claim_marked_hours(job->ports.store, marks, count, &job->tx, &claim.marks,
                                      &claim.count, err);
    if (status == STATUS_OK)
        status = work_claim(job, &claim, err);
    status = job_end(job, status, err);
    if (status == STATUS_OK)
        report_claim(job, &claim);
    return status;
}

/* One claim that the database refused as a whole (a sum above int64, a month without partition):
 * each of its hours in a transaction of its own, so that one hour of one tenant does not stop the
 * others. An hour that is refused alone keeps its mark, is told as an error, and is tried
 * again by the next run. */
static enum status claim_alone(struct job *job, const struct mark_row *marks, size_t count,
                               struct err *err)
{
    for (size_t i = 0; i < count; i++) {
        enum status status = claim_marked(job, &marks[i], 1, err);
        if (is_refused(status, err))
            job_log_hour(job, "rollup_refused_hour", &marks[i]);
        else if (status != STATUS_OK)
            return status;
    }
    return STATUS_OK;
}

/* R-ROLL-3: once over the marks in ascending (hour, tenant) order. A mark that was put back lies
 * behind the cursor, so it is not claimed again. */
static enum status walk(struct job *job, struct err *err)
{
    int64_t after_hour_us = INT64_MIN;
    struct uuid after_tenant = {{0}};
    for (;;) {
        enum status status = job_begin(job, ROLE_JOBS, err);
        if (status != STATUS_OK)
            return status;
        struct claim claim = {0};
        status =
            store_claim_rollup_hours(job->ports.store, after_hour_us, &after_tenant,
                                     LIMIT_CLAIM_HOURS, &job->tx, &claim.marks, &claim.count, err);
        struct mark_row *marks = NULL; /* outlives the transaction */
        if (status == STATUS_OK && claim.count > 0) {
            marks = arena_copy(&job->run, claim.marks, claim.count * sizeof *marks);
            status = marks ? work_claim(job, &claim, err) : job_no_memory("claimed hours", err);
        }
        status = job_end(job, status, err);
        if (status == STATUS_OK)
            report_claim(job, &claim);
        else if (is_refused(status, err) && marks && rules_on(job->rules, RULE_A9))
            status = claim_alone(job, marks, claim.count, err);
        if (status != STATUS_OK || claim.count < LIMIT_CLAIM_HOURS)
            return status;
        after_hour_us = marks[claim.count - 1].hour_us;
        after_tenant = marks[claim.count - 1].tenant;
    }
}

/* The hours that the drift check marked, and only those; refused ones alone, as in the walk. */
static enum status claim_drifted(struct job *job, const struct mark_row *marked, size_t count,
                                 struct err *err)
{
    enum status status = STATUS_OK;
    for (size_t at = 0; at < count && status == STATUS_OK; at += LIMIT_CLAIM_HOURS) {
        size_t n = count - at < LIMIT_CLAIM_HOURS ? count - at : LIMIT_CLAIM_HOURS;
        status = claim_marked(job, marked + at, n, err);
        if (is_refused(status, err) && rules_on(job->rules, RULE_A9))
            status = claim_alone(job, marked + at, n, err);
    }
    return status;
}

enum status job_rollup(struct job *job, struct err *err)
{
    ASSERT(job && err);
    arena_rewind(&job->run);
    enum status status = walk(job, err);
    if (status != STATUS_OK || !rules_on(job->rules, RULE_A2))
        return status;
    struct mark_row *marked;
    size_t count;
    status = rollup_drift_check(job, &marked, &count, err);
    if (status != STATUS_OK)
        return status;
    return claim_drifted(job, marked, count, err);
}

/* One job's own memory, and the frame of its transactions. Private to core/jobs.
 *
 *   job_begin: fence -> Begin -> clock, read once      job_end: Commit, or Rollback after an error
 */
#ifndef CORE_JOBS_TRANSACTION_H
#define CORE_JOBS_TRANSACTION_H

#include "core/base/arena.h"
#include "core/base/sha256.h"
#include "core/jobs/jobs.h"

struct job {
    struct settings settings;
    struct rules rules;
    struct job_ports ports;
    struct sha256_hasher *hasher;
    struct arena run; /* what a run remembers between its transactions */
    struct arena tx;  /* of one transaction; rewound by job_begin */
    int64_t now_ns;   /* of the open transaction (R-FIRST-4) */
    int64_t now_us;
};

enum status job_begin(struct job *job, enum store_role role, struct err *err);

/* Ends the transaction and returns what became of it: commits when status is STATUS_OK, and gives
 * the commit's own error if that fails; otherwise rolls back and gives status (err is then set). */
enum status job_end(struct job *job, enum status status, struct err *err);

/* Counters and log lines of a transaction are told after job_end: only then is the commit known. */
void job_count(struct job *job, enum counter counter, uint64_t count);
/* An error line: event, "tenant T hour H". */
void job_log_hour(struct job *job, const char *event, const struct mark_row *mark);

/* "tenant 0a... hour 2026-03-01T05:00:00Z" */
#define JOB_HOUR_TEXT 128
void job_hour_text(const struct mark_row *mark, char out[JOB_HOUR_TEXT]);

/* The relation lock of R-PART-2. *busy, with STATUS_OK and the transaction to be rolled back, when
 * somebody uses the table (55P03). */
enum status job_lock_partitioned(struct job *job, enum partition_table table, bool *busy,
                                 struct err *err);

/* Lists both tables' partitions into job->run, and sets *today from the transaction's clock. */
struct partition_lists {
    int64_t today; /* UTC day */
    int64_t *minute_days;
    size_t minute_count;
    int64_t *hourly_months; /* first days */
    size_t hourly_count;
};
enum status job_list_partitions(struct job *job, struct partition_lists *lists, struct err *err);

/* True when day is among count ascending days. */
bool days_contain(const int64_t *days, size_t count, int64_t day);

enum status job_no_memory(const char *what, struct err *err);

/* The drift check of a rollup run (drift.c). marked: the hours it marked, in job->run, sorted by
 * (tenant, hour). */
enum status rollup_drift_check(struct job *job, struct mark_row **marked, size_t *count,
                               struct err *err);

#endif

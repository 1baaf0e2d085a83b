/* The jobs (MS "Jobs tasks", "Tenant purge"; R-ROLL, R-RET, R-PART). Each call is one run.
 *
 * Every run checks its fence before each transaction and ends with STATUS_STALE when it is lost.
 * A transaction that fails is rolled back and the run ends with that error; the next run goes on.
 */
#ifndef CORE_JOBS_JOBS_H
#define CORE_JOBS_JOBS_H

#include "core/base/rules.h"
#include "core/base/settings.h"
#include "core/port/ports.h"
#include "core/store/store.h"

struct job_ports {
    struct clock *clock;
    struct store *store;
    struct fence *fence;
    struct meter *meter;
    struct log *log;
};

struct job; /* hasher, arena; one an actor */

/* NULL when out of memory. */
struct job *job_new(const struct settings *settings, struct rules rules,
                    const struct job_ports *ports);
void job_free(struct job *job);

/* api-rollup: claims, recomputes hours and days, then the drift check. */
enum status job_rollup(struct job *job, struct err *err);
/* api-partition: minute partitions for today and 7 days ahead, hourly for this month and 3. */
enum status job_partition(struct job *job, struct err *err);
/* api-retention: drops and prunes. STATUS_INVALID when the required settings are missing. */
enum status job_retention(struct job *job, struct err *err);
/* The initial window of migration 00015: minute partitions 7 days back to 7 ahead, hourly from the
 * month 31 days back to 3 ahead (MS "Partitions"). Used by the importer and the simulator. */
enum status job_initial_partitions(struct job *job, struct err *err);
/* api.purge_tenant. */
enum status job_purge(struct job *job, const struct uuid *tenant, bool keep_aggregates,
                      struct err *err);

#endif

/* Bounds of the simulator. */
#ifndef SIM_LIMITS_H
#define SIM_LIMITS_H

#define LIMIT_ACTORS            64
#define LIMIT_STEPS_PER_INSTANT 1000000
#define LIMIT_STACK_BYTES       (256 * 1024)
/* one run: what a scenario plans to happen (a week of 50 requests a minute is 504,000), refused
 * when it is read; and steps of actors and events of the world together, which end a run that
 * redelivers or retries for ever */
#define LIMIT_RUN_HAPPENINGS 5000000
#define LIMIT_RUN_STEPS      50000000
#define LIMIT_LOG_BYTES      (64 * 1024 * 1024)
#define LIMIT_WORLD_BYTES    (4UL * 1024 * 1024 * 1024)

/* sim/sqlite: locks at once, as PostgreSQL's default 64 a transaction x 100 connections; then 53200
 */
#define LIMIT_LOCKS 6400
/* sim/sqlite: keys and old images of one transaction */
#define LIMIT_ROW_LOG_BYTES ((size_t)256 * 1024 * 1024)

/* one scenario file (sim/scenario) */
#define LIMIT_SCENARIO_BYTES      (4 * 1024 * 1024)
#define LIMIT_SCENARIO_LINE_BYTES (3 * 1024 * 1024) /* a payload of 1 MiB in hex fits */
#define LIMIT_SCENARIO_TOKENS     16384             /* words of one statement */
#define LIMIT_SCENARIO_ITEMS      20000             /* statements */
#define LIMIT_SCENARIO_NAMES      1000              /* tenants, processes, series, actors */
#define LIMIT_SCENARIO_NAME_BYTES 64
#define LIMIT_SCENARIO_BOUNDS     5000 /* of one histogram; more than the writer takes */
#define LIMIT_SCENARIO_POINTS     100000
#define LIMIT_SCENARIO_BUCKETS    4000000 /* counts of all points together */
#define LIMIT_SCENARIO_REPLICAS   1000
#define LIMIT_SCENARIO_ARENA      (256 * 1024 * 1024)

#endif

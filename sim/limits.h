/* Bounds of the simulator. */
#ifndef SIM_LIMITS_H
#define SIM_LIMITS_H

#define LIMIT_ACTORS            64
#define LIMIT_STEPS_PER_INSTANT 1000000
#define LIMIT_STACK_BYTES       (256 * 1024)
#define LIMIT_LOG_BYTES         (64 * 1024 * 1024)
#define LIMIT_WORLD_BYTES       (4UL * 1024 * 1024 * 1024)

/* sim/sqlite: locks at once, as PostgreSQL's default 64 a transaction x 100 connections; then 53200 */
#define LIMIT_LOCKS 6400
/* sim/sqlite: keys and old images of one transaction */
#define LIMIT_ROW_LOG_BYTES ((size_t)256 * 1024 * 1024)

#endif

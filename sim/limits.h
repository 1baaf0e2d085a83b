/* Bounds of the simulator. */
#ifndef SIM_LIMITS_H
#define SIM_LIMITS_H

#define LIMIT_ACTORS            64
#define LIMIT_STEPS_PER_INSTANT 1000000
#define LIMIT_STACK_BYTES       (256 * 1024)
#define LIMIT_LOG_BYTES         (64 * 1024 * 1024)
#define LIMIT_WORLD_BYTES       (4UL * 1024 * 1024 * 1024)

#endif

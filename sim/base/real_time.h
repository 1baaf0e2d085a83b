/* The real, monotonic clock: how long something took. Never part of a run's result or trace. */
#ifndef SIM_BASE_REAL_TIME_H
#define SIM_BASE_REAL_TIME_H

#include <stdint.h>

int64_t real_now_ns(void);
/* How long this thread has run: other processes do not count. */
int64_t real_cpu_ns(void);

#endif

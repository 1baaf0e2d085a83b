/* An actor's clock: virtual time plus the skew of its machine. */
#ifndef SIM_WORLD_VCLOCK_H
#define SIM_WORLD_VCLOCK_H

#include "core/port/ports.h"
#include "sim/sched/sched.h"

struct vclock {
    struct clock port;
    const struct sched *sched;
    int64_t skew_ns; /* its clock minus the true one; may change while it is used */
};

/* No free: it owns nothing. */
void vclock_init(struct vclock *clock, const struct sched *sched, int64_t skew_ns);

#endif

#include "sim/world/vclock.h"

#include "core/base/assert.h"

static int64_t now_ns(struct clock *port)
{
    const struct vclock *clock = (const struct vclock *)port;
    return sched_now_ns(clock->sched) + clock->skew_ns;
}

void vclock_init(struct vclock *clock, const struct sched *sched, int64_t skew_ns)
{
    ASSERT(clock && sched);
    *clock = (struct vclock){.port = {now_ns}, .sched = sched, .skew_ns = skew_ns};
}

#include "sim/base/real_time.h"

#include "core/base/time.h"
#include <time.h>

static int64_t read_clock(clockid_t id)
{
    struct timespec now;
    clock_gettime(id, &now);
    return (int64_t)now.tv_sec * NS_PER_S + now.tv_nsec;
}

int64_t real_now_ns(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

int64_t real_cpu_ns(void)
{
    return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

#include "sim/base/real_time.h"

#include "core/base/time.h"
#include <time.h>

int64_t real_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * NS_PER_S + now.tv_nsec;
}

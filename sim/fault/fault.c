#include "sim/fault/fault.h"

#include <string.h>

const struct fault_info fault_infos[FAULT_KIND_COUNT] = {
    [FAULT_ERROR] = {"error", "fault", "fault STEP STATE [of ACTOR] [WHEN]",
                     "the step is not made; the database answers with this SQLSTATE", false, true},
    [FAULT_LOST_REPLY] = {"lost_reply", "lose reply of", "lose reply of STEP [of ACTOR] [WHEN]",
                          "the step is made (a Commit commits), but its answer is lost: 08006",
                          false, false},
    [FAULT_CUT] = {"cut", "cut", "cut ACTOR before STEP [WHEN]",
                   "the connection is cut before the step: 08006, the transaction is rolled back",
                   false, false},
    [FAULT_CRASH] = {"crash", "crash", "crash ACTOR SIDE STEP [WHEN]",
                     "the actor dies there and loses what it has in memory", true, false},
    [FAULT_HOLD] = {"hold", "hold", "hold ACTOR SIDE STEP [WHEN]",
                    "the actor stops there until it is released", true, false},
};

static const char *const port_steps[] = {"Ack", "Dead", "Fence", "Pull", "Retry"};

#define PORT_STEP_COUNT (sizeof port_steps / sizeof port_steps[0])

static const char *unsorted_step(size_t n)
{
    return n < PORT_STEP_COUNT ? port_steps[n] : queries[n - PORT_STEP_COUNT].name;
}

/* Selection by rank: slow and without memory; it runs for help and for a wrong scenario only. */
const char *fault_step(size_t n)
{
    const size_t count = PORT_STEP_COUNT + QUERY_COUNT;
    for (size_t i = 0; i < count; i++) {
        size_t rank = 0;
        for (size_t j = 0; j < count; j++)
            rank += strcmp(unsorted_step(j), unsorted_step(i)) < 0;
        if (rank == n)
            return unsorted_step(i);
    }
    return NULL;
}

bool fault_step_is_known(const char *step)
{
    for (size_t i = 0; i < PORT_STEP_COUNT + QUERY_COUNT; i++)
        if (strcmp(unsorted_step(i), step) == 0)
            return true;
    return false;
}

/* The initial window of partitions without those that the scenario leaves out: a store that answers
 * their creation with "not created", and passes everything else on. */
#ifndef SIM_RUN_WINDOW_H
#define SIM_RUN_WINDOW_H

#include "sim/run/stage.h"

struct window {
    struct store store;
    struct store *inner;
    struct stage *stage;
    bool *asked; /* of scenario.missing: its creation was asked for */
};

void window_init(struct window *window, struct stage *stage, struct store *inner);
/* Notes a failure for each partition that is left out and never was in the window. */
void window_check(const struct window *window);

#endif

/* The agenda of the world: what happens when, in an order that a reader of the scenario can
 * predict.
 *
 * Items of one instant run by class, then in file order (DESIGN 5): starts and traffic, exports,
 * stops, jobs, then expectations and goldens. Actors run only when nothing is due any more.
 */
#ifndef SIM_RUN_AGENDA_H
#define SIM_RUN_AGENDA_H

#include "sim/sched/sched.h"
#include <stddef.h>

enum agenda_class { AGENDA_TRAFFIC, AGENDA_EXPORT, AGENDA_STOP, AGENDA_JOB, AGENDA_CHECK };

typedef void agenda_action(void *context, void *item);

struct agenda_entry {
    int64_t time_ns;
    enum agenda_class class;
    int64_t place; /* file order within the class */
    uint64_t sequence;
    agenda_action *action;
    void *context;
    void *item;
};

struct agenda {
    struct sched *sched;
    struct agenda_entry *entries; /* a binary heap */
    size_t count;
    size_t capacity;
    uint64_t next_sequence;
    int64_t armed_ns; /* the earliest tick that the scheduler knows of; INT64_MAX: none */
    bool exhausted;
};

void agenda_init(struct agenda *agenda, struct sched *sched);
void agenda_free(struct agenda *agenda);
/* Adds action(context, item) at time_ns (not before now). An exhausted agenda keeps the flag. */
void agenda_add(struct agenda *agenda, int64_t time_ns, enum agenda_class class, int64_t place,
                agenda_action *action, void *context, void *item);

#endif

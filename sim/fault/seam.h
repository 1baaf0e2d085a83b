/* The insides of the seam, shared by seam.c (faults, other ports) and seam_store.c (the decorated
 * store). Private to sim/fault.
 */
#ifndef SIM_FAULT_SEAM_H
#define SIM_FAULT_SEAM_H

#include "sim/fault/fault.h"

struct armed_fault {
    struct fault fault; /* the first member: seam_fire hands out its address */
    int64_t passed;     /* matching calls let through, up to fault.skip */
    int64_t fired;
};

struct seam {
    struct sched *sched;
    struct trace *trace;
    struct armed_fault *armed;
    size_t count;
    size_t capacity;
    struct seam_store *stores; /* the youngest first */
};

enum seam_connection {
    SEAM_GOOD,
    SEAM_FAILED, /* the transaction was undone by an injected error: 25P02 until Rollback */
    SEAM_LOST,   /* 08006 until Rollback or Begin */
};

struct seam_store {
    struct store base;
    struct seam *seam;
    char *actor;
    struct store *inner;
    const struct seam_actor_ops *ops;
    void *context;
    struct actor *held; /* NULL, or who waits in hold() */
    size_t held_by;     /* while it is held: the fault's number */
    bool in_transaction;
    enum seam_connection connection;
    struct seam_store *next;
};

/* The fault that fires here, counted as fired; NULL when none does. call NULL: another port's step.
 */
const struct fault *seam_fire(struct seam_store *store, enum fault_kind kind, bool after,
                              const char *step, const struct store_call *call);
/* Holds and crashes on one side of the call. Does not return when the actor crashes. */
void seam_stop_or_end(struct seam_store *store, const char *step, const struct store_call *call,
                      bool after);
/* Fills err with what the actor is told of an error, a cut or a lost reply. */
enum status seam_error(const struct fault *fault, const char *step, struct err *err);

#endif

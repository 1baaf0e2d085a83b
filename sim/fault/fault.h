/* Faults: one table from which the parser, the help and the generator draw, and the seam that every
 * port call of an actor passes through. The seam is a scheduling point, the trace, and the place where
 * an actor is held, crashed, cut, or handed an error. It decorates the real store and the real
 * consumer; core does not know it.
 *
 * A step is a named query (Begin, AddMinute, ..., Commit, Rollback) or a step of the other ports:
 * Pull, Ack, Retry, Dead, Fence. Order at one step: hold before -> crash before -> cut -> error ->
 * [the call] -> lost reply -> crash after -> hold after.
 */
#ifndef SIM_FAULT_FAULT_H
#define SIM_FAULT_FAULT_H

#include "core/port/ports.h"
#include "core/store/call.h"
#include "sim/out/trace.h"
#include "sim/sched/sched.h"

enum fault_kind {
    FAULT_ERROR,      /* the call is not made; it returns the SQLSTATE */
    FAULT_LOST_REPLY, /* the call is made; its answer is lost: 08006 */
    FAULT_CUT,        /* the connection is cut before the call: 08006, transaction rolled back */
    FAULT_CRASH,      /* the actor dies here (before or after the call) */
    FAULT_HOLD,       /* the actor stops here until it is released */
};

struct fault {
    enum fault_kind kind;
    const char *actor;   /* NULL: any */
    const char *step;    /* "Commit" */
    bool after;          /* CRASH, HOLD: after the call; else before it */
    char sqlstate[6];    /* ERROR */
    const char *where;   /* NULL, or: only calls with a text parameter equal to this */
    int64_t from_ns;     /* armed in [from_ns, until_ns) */
    int64_t until_ns;
    int64_t skip;        /* let this many matching calls pass first ("the 3rd") */
    int64_t times;       /* fires this many times; INT64_MAX: always */
};

/* What an actor's connection must do when the seam says so. */
struct seam_actor_ops {
    void (*cut)(void *context);     /* roll back, release locks */
    void (*crashed)(void *context); /* the actor is about to end: free what it held */
};

struct seam; /* the faults of one run */

struct seam *seam_new(struct sched *sched, struct trace *trace);
void seam_free(struct seam *seam);
/* faults fire in the order they were added. The struct is copied, its strings are not. */
void seam_add(struct seam *seam, const struct fault *fault);
/* Wakes an actor that is held; false when it is not. */
bool seam_release(struct seam *seam, const char *actor);
bool seam_is_held(const struct seam *seam, const char *actor);
/* Faults that never fired: a scenario that arms one in vain is wrong. NULL when all fired. */
const struct fault *seam_unused(const struct seam *seam);

/* The decorated store of an actor, used from within it. The caller frees it. */
struct store *seam_store_new(struct seam *seam, const char *actor, struct store *inner,
                             const struct seam_actor_ops *ops, void *context);
void seam_store_free(struct store *store);

/* For the consumer and the fence: passes one step of another port. Call seam_enter, and when it returns
 * STATUS_OK make the call and then return seam_leave(its status). */
enum status seam_enter(struct seam *seam, struct store *seam_store, const char *step, struct err *err);
enum status seam_leave(struct seam *seam, struct store *seam_store, const char *step,
                       enum status status, struct err *err);

#endif

/* Faults: one table from which the parser, the help and the generator draw, and the seam that every
 * port call of an actor passes through. The seam is a scheduling point, the trace, and the place
 * where an actor is held, crashed, cut, or handed an error. It decorates the real store and the
 * real consumer; core does not know it.
 *
 * A step is a named query (Begin, AddMinute, ..., Commit, Rollback) or a step of the other ports:
 * Pull, Ack, Retry, Dead, Fence. Order at one step: scheduling point -> hold before -> crash before
 * -> cut -> error -> [the call] -> lost reply -> crash after -> hold after. A fault does not see a
 * call that an earlier one in this order took; of one kind the first that matches fires.
 *
 * After an injected error the transaction is undone at once, as PostgreSQL does, and every call but
 * Rollback gives 25P02; after a lost connection every call but Rollback and Begin gives 08006, and
 * Begin connects again.
 *
 * Trace: one event a step when it is over, with parameters, results and SQLSTATE, and "fault" when
 * one fired; one event when an actor is held, released or crashes.
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
    FAULT_KIND_COUNT
};

/* The one table of faults: the parser, its help and the documentation draw from it. In a syntax
 * STEP, STATE, ACTOR, SIDE ("before" or "after"), WHEN ("once", "N times", "from T until T", ...)
 * are places to fill, the rest is written as it stands. */
struct fault_info {
    const char *name;   /* in the trace: "lost_reply" */
    const char *words;  /* how a line begins: "lose reply of" */
    const char *syntax; /* "lose reply of STEP [of ACTOR] [WHEN]" */
    const char *help;   /* one line */
    bool has_side;      /* before or after the call; the others have no choice */
    bool has_sqlstate;
};
extern const struct fault_info fault_infos[FAULT_KIND_COUNT];

/* The steps at which a fault can be set: 0, 1, ... in order of name; NULL behind the last. */
const char *fault_step(size_t n);
bool fault_step_is_known(const char *step);

struct fault {
    enum fault_kind kind;
    const char *actor; /* NULL: any */
    const char *step;  /* "Commit" */
    bool after;        /* CRASH, HOLD: after the call; else before it */
    char sqlstate[6];  /* ERROR */
    const char *where; /* NULL, or: only calls with a text parameter (or a uuid in its 36-character
                          form) equal to this in some row; no step of another port has any */
    int64_t from_ns;   /* armed in [from_ns, until_ns) */
    int64_t until_ns;
    int64_t skip;  /* let this many matching calls pass first ("the 3rd") */
    int64_t times; /* fires this many times, >= 1; INT64_MAX: always */
};

/* What an actor's connection must do when the seam says so. Both are called from within the actor.
 */
struct seam_actor_ops {
    void (*cut)(void *context);     /* roll back, release locks */
    void (*crashed)(void *context); /* the actor is about to end: free what it held. The seam
                                       touches its store no more: it may be freed here */
};

struct seam; /* the faults of one run */

/* trace NULL: none. NULL: out of memory. No store of it may be left when it is freed. */
struct seam *seam_new(struct sched *sched, struct trace *trace);
void seam_free(struct seam *seam);
/* Faults fire in the order they were added. The struct is copied, its strings are not. False: out
 * of memory. */
bool seam_add(struct seam *seam, const struct fault *fault);
/* No fault fires any more (the draining after a run). Who is held stays held. */
void seam_disarm(struct seam *seam);
/* Wakes an actor that is held; false when it is not. */
bool seam_release(struct seam *seam, const char *actor);
bool seam_is_held(const struct seam *seam, const char *actor);
/* Which fault, in order of seam_add, holds the actor; false when it is not held. */
bool seam_held_by(const struct seam *seam, const char *actor, size_t *fault);
/* How often fault 0, 1, ... in order of seam_add fired: a scenario that arms one in vain is wrong.
 */
int64_t seam_fired(const struct seam *seam, size_t fault);

/* The decorated store of an actor, used from within it. The name is copied; inner, ops and context
 * must outlive it. The caller frees it. NULL: out of memory. */
struct store *seam_store_new(struct seam *seam, const char *actor, struct store *inner,
                             const struct seam_actor_ops *ops, void *context);
void seam_store_free(struct store *store);

/* For the consumer and the fence: passes one step of another port. Call seam_enter, and when it
 * returns STATUS_OK make the call and then return seam_leave(its status). A cut here is the queue's
 * connection, not the database's: the transaction stays. */
enum status seam_enter(struct seam *seam, struct store *seam_store, const char *step,
                       struct err *err);
enum status seam_leave(struct seam *seam, struct store *seam_store, const char *step,
                       enum status status, struct err *err);

#endif

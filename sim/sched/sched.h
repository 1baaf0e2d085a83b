/* The deterministic scheduler: one OS thread, virtual time, actors on coroutines.
 *
 *   loop: 1. world events due now, in (time, order of sched_at) order
 *         2. else one runnable actor, chosen by the seed
 *         3. else the clock jumps to the next event or sleeper; none left, or past the bound: stop
 *
 * An actor runs until it reaches a scheduling point (sched_point), sleeps, waits or ends. A store
 * or queue call takes no virtual time. The seed orders only runnable actors within one instant
 * (DESIGN 5): a pick depends on the seed, the picks before it and the runnable actors in order of
 * creation; never on an address. Where one actor alone is runnable nothing is drawn.
 */
#ifndef SIM_SCHED_SCHED_H
#define SIM_SCHED_SCHED_H

#include "core/base/err.h"
#include <stdbool.h>
#include <stdint.h>

struct sched;
struct actor;

typedef void actor_main(void *argument);
typedef void sched_event(void *argument);

/* seed: of the schedule's own random stream. start_ns: the first instant. NULL: out of memory. */
struct sched *sched_new(uint64_t seed, int64_t start_ns);
/* Kills every actor. Stacks are pooled in the process for the next sched. */
void sched_free(struct sched *sched);

int64_t sched_now_ns(const struct sched *sched);
/* Steps taken so far: resumes of actors. */
uint64_t sched_steps(const struct sched *sched);
/* Bounds steps and world events together; without it they are not. */
void sched_limit(struct sched *sched, uint64_t steps_max);

/* A new actor, runnable now. name is copied. NULL: out of memory, or LIMIT_ACTORS are alive. The
 * pointer stays good until sched_free, also when the actor is dead. */
struct actor *sched_spawn(struct sched *sched, const char *name, actor_main *main, void *argument);
const char *actor_name(const struct actor *actor);
/* 0, 1, 2, ... in order of creation within its sched. */
int actor_index(const struct actor *actor);
bool actor_alive(const struct actor *actor);
/* A crash: the actor never runs again, its stack is given back. Not from within the actor itself:
 * there use sched_exit. What it owned is the caller's business. Of a dead actor it does nothing. */
void sched_kill(struct sched *sched, struct actor *actor);

/* The running actor; NULL in a world event or outside sched_run. */
struct actor *sched_current(struct sched *sched);

/* From inside an actor: */
void sched_point(struct sched *sched);                      /* others may run in this instant */
void sched_sleep_until(struct sched *sched, int64_t at_ns); /* <= now: a scheduling point */
void sched_wait(struct sched *sched);                       /* until sched_wake */
_Noreturn void sched_exit(struct sched *sched);             /* ends the actor here */

/* Makes a waiting or sleeping actor runnable (it then runs when the seed picks it); of a runnable
 * one it does nothing. Not of a dead one. */
void sched_wake(struct sched *sched, struct actor *actor);

/* Runs event(argument) at at_ns (>= now), on the scheduler's own stack. */
void sched_at(struct sched *sched, int64_t at_ns, sched_event *event, void *argument);

enum sched_end {
    SCHED_REACHED,  /* nothing is left to do at or before until_ns; the clock stands at until_ns */
    SCHED_STOPPED,  /* sched_stop was called */
    SCHED_LIVELOCK, /* more than LIMIT_STEPS_PER_INSTANT steps without the clock moving */
    SCHED_ENDLESS,  /* more steps and events than sched_limit allows */
};
enum sched_end sched_run(struct sched *sched, int64_t until_ns);
void sched_stop(struct sched *sched);

/* hook(argument) runs when no actor is runnable and no event is due, before the clock moves (the
 * overlay's deadlock check). True: it made an actor runnable. NULL takes it away. */
void sched_set_idle_hook(struct sched *sched, bool (*hook)(void *argument), void *argument);

#endif

#include "sim/sched/sched.h"

#include "core/base/assert.h"
#include "sim/base/heap.h"
#include "sim/base/prng.h"
#include "sim/limits.h"
#include "sim/sched/coroutine.h"
#include <stdlib.h>
#include <string.h>

enum actor_state { ACTOR_RUNNABLE, ACTOR_SLEEPING, ACTOR_WAITING, ACTOR_DEAD };

struct actor {
    struct sched *sched;
    char *name;
    int index;
    enum actor_state state;
    int64_t wake_at_ns; /* SLEEPING */
    actor_main *main;
    void *argument;
    struct coroutine *coroutine; /* NULL when dead */
    struct actor *next_dead;
};

struct sched {
    struct prng prng;
    int64_t now_ns;
    uint64_t steps;
    uint64_t happened;         /* steps and world events */
    uint64_t steps_max;        /* of happened */
    uint64_t steps_in_instant; /* and world events */
    struct heap events;
    struct actor *actors[LIMIT_ACTORS]; /* alive, in order of creation */
    size_t actor_count;
    size_t runnable_count;
    int next_index;
    struct actor *dead; /* kept until sched_free: pointers to them stay good */
    struct actor *current;
    bool running;
    bool stopped;
    bool (*idle_hook)(void *argument);
    void *idle_argument;
};

struct sched *sched_new(uint64_t seed, int64_t start_ns)
{
    struct sched *sched = calloc(1, sizeof *sched);
    if (!sched)
        return NULL;
    sched->prng = prng_make(seed, PRNG_SCHEDULE);
    sched->now_ns = start_ns;
    sched->steps_max = UINT64_MAX;
    heap_init(&sched->events);
    return sched;
}

void sched_free(struct sched *sched)
{
    if (!sched)
        return;
    ASSERT(!sched->running);
    while (sched->actor_count > 0)
        sched_kill(sched, sched->actors[sched->actor_count - 1]);
    while (sched->dead) {
        struct actor *actor = sched->dead;
        sched->dead = actor->next_dead;
        free(actor->name);
        free(actor);
    }
    heap_free(&sched->events);
    free(sched);
}

int64_t sched_now_ns(const struct sched *sched)
{
    return sched->now_ns;
}

uint64_t sched_steps(const struct sched *sched)
{
    return sched->steps;
}

void sched_limit(struct sched *sched, uint64_t steps_max)
{
    ASSERT(steps_max > 0);
    sched->steps_max = steps_max;
}

struct actor *sched_current(struct sched *sched)
{
    return sched->current;
}

void sched_stop(struct sched *sched)
{
    sched->stopped = true;
}

void sched_set_idle_hook(struct sched *sched, bool (*hook)(void *argument), void *argument)
{
    sched->idle_hook = hook;
    sched->idle_argument = argument;
}

void sched_at(struct sched *sched, int64_t at_ns, sched_event *event, void *argument)
{
    ASSERT(event);
    ASSERT(at_ns >= sched->now_ns);
    /* a function pointer in a void pointer: POSIX promises that it survives (dlsym) */
    bool pushed = heap_push(&sched->events, at_ns, (void *)event, argument);
    ASSERT(pushed);
}

/* ---- actors ---- */

static void set_state(struct actor *actor, enum actor_state state)
{
    struct sched *sched = actor->sched;
    sched->runnable_count -= actor->state == ACTOR_RUNNABLE;
    actor->state = state;
    sched->runnable_count += state == ACTOR_RUNNABLE;
    ASSERT(sched->runnable_count <= sched->actor_count);
}

static void run_actor(void *argument)
{
    struct actor *actor = argument;
    actor->main(actor->argument);
}

struct actor *sched_spawn(struct sched *sched, const char *name, actor_main *main, void *argument)
{
    ASSERT(name && main);
    if (sched->actor_count == LIMIT_ACTORS)
        return NULL;
    struct actor *actor = calloc(1, sizeof *actor);
    if (!actor)
        return NULL;
    actor->name = strdup(name);
    actor->coroutine = coroutine_new(run_actor, actor);
    if (!actor->name || !actor->coroutine) {
        coroutine_free(actor->coroutine);
        free(actor->name);
        free(actor);
        return NULL;
    }
    actor->sched = sched;
    actor->index = sched->next_index++;
    actor->main = main;
    actor->argument = argument;
    actor->state = ACTOR_RUNNABLE;
    sched->actors[sched->actor_count++] = actor;
    sched->runnable_count++;
    return actor;
}

const char *actor_name(const struct actor *actor)
{
    return actor->name;
}

int actor_index(const struct actor *actor)
{
    return actor->index;
}

bool actor_alive(const struct actor *actor)
{
    return actor->state != ACTOR_DEAD;
}

/* Takes an actor out of the living; the order of the others stays. */
static void bury(struct sched *sched, struct actor *actor)
{
    set_state(actor, ACTOR_DEAD);
    size_t i = 0;
    while (i < sched->actor_count && sched->actors[i] != actor)
        i++;
    ASSERT(i < sched->actor_count);
    sched->actor_count--;
    memmove(&sched->actors[i], &sched->actors[i + 1],
            (sched->actor_count - i) * sizeof sched->actors[0]);
    actor->next_dead = sched->dead;
    sched->dead = actor;
    coroutine_free(actor->coroutine);
    actor->coroutine = NULL;
}

void sched_kill(struct sched *sched, struct actor *actor)
{
    ASSERT(actor->sched == sched);
    ASSERT(actor != sched->current);
    if (actor->state != ACTOR_DEAD)
        bury(sched, actor);
}

/* ---- from inside an actor ---- */

static bool event_is_due(const struct sched *sched)
{
    const struct heap_item *next = heap_peek(&sched->events);
    return next && next->time_ns <= sched->now_ns;
}

static void give_way(struct sched *sched, enum actor_state state)
{
    struct actor *actor = sched->current;
    ASSERT(actor);
    set_state(actor, state);
    coroutine_yield(actor->coroutine);
    ASSERT(sched->current == actor);
}

void sched_point(struct sched *sched)
{
    ASSERT(sched->current);
    if (sched->runnable_count == 1 && !sched->stopped && !event_is_due(sched) &&
        sched->steps_in_instant < LIMIT_STEPS_PER_INSTANT && sched->happened < sched->steps_max) {
        /* nobody else could be picked: the same step without the two switches */
        sched->steps++;
        sched->happened++;
        sched->steps_in_instant++;
        return;
    }
    give_way(sched, ACTOR_RUNNABLE);
}

void sched_sleep_until(struct sched *sched, int64_t at_ns)
{
    ASSERT(sched->current);
    if (at_ns <= sched->now_ns) {
        sched_point(sched);
        return;
    }
    sched->current->wake_at_ns = at_ns;
    give_way(sched, ACTOR_SLEEPING);
}

void sched_wait(struct sched *sched)
{
    give_way(sched, ACTOR_WAITING);
}

_Noreturn void sched_exit(struct sched *sched)
{
    ASSERT(sched->current);
    coroutine_exit(sched->current->coroutine);
}

void sched_wake(struct sched *sched, struct actor *actor)
{
    ASSERT(actor->sched == sched);
    ASSERT(actor->state != ACTOR_DEAD);
    if (actor->state != ACTOR_RUNNABLE)
        set_state(actor, ACTOR_RUNNABLE);
}

/* ---- the loop ---- */

static struct actor *pick(struct sched *sched)
{
    ASSERT(sched->runnable_count > 0);
    uint64_t nth = 0;
    if (sched->runnable_count > 1)
        nth = prng_below(&sched->prng, sched->runnable_count);
    for (size_t i = 0; i < sched->actor_count; i++) {
        struct actor *actor = sched->actors[i];
        if (actor->state == ACTOR_RUNNABLE && nth-- == 0)
            return actor;
    }
    assert_fail("runnable_count counts the runnable actors", __FILE__, __LINE__);
}

static void step(struct sched *sched)
{
    struct actor *actor = pick(sched);
    sched->steps++;
    sched->current = actor;
    coroutine_resume(actor->coroutine);
    sched->current = NULL;
    if (coroutine_done(actor->coroutine))
        bury(sched, actor);
}

static void run_event(struct sched *sched)
{
    struct heap_item item = heap_pop(&sched->events);
    sched_event *event = (sched_event *)item.payload;
    event(item.argument);
}

/* When the next event or sleeper is due; false when there is none. */
static bool next_time(const struct sched *sched, int64_t *at_ns)
{
    const struct heap_item *event = heap_peek(&sched->events);
    bool found = event;
    *at_ns = event ? event->time_ns : 0;
    for (size_t i = 0; i < sched->actor_count; i++) {
        const struct actor *actor = sched->actors[i];
        if (actor->state != ACTOR_SLEEPING || (found && actor->wake_at_ns >= *at_ns))
            continue;
        *at_ns = actor->wake_at_ns;
        found = true;
    }
    return found;
}

static void jump(struct sched *sched, int64_t at_ns)
{
    ASSERT(at_ns >= sched->now_ns);
    if (at_ns > sched->now_ns)
        sched->steps_in_instant = 0;
    sched->now_ns = at_ns;
    for (size_t i = 0; i < sched->actor_count; i++) {
        struct actor *actor = sched->actors[i];
        if (actor->state == ACTOR_SLEEPING && actor->wake_at_ns <= at_ns)
            set_state(actor, ACTOR_RUNNABLE);
    }
}

enum sched_end sched_run(struct sched *sched, int64_t until_ns)
{
    ASSERT(!sched->running);
    ASSERT(until_ns >= sched->now_ns);
    sched->running = true;
    sched->stopped = false;
    enum sched_end end = SCHED_STOPPED;
    while (!sched->stopped) {
        int64_t at_ns;
        if (event_is_due(sched) || sched->runnable_count > 0) {
            if (sched->steps_in_instant++ >= LIMIT_STEPS_PER_INSTANT) {
                end = SCHED_LIVELOCK;
                break;
            }
            if (sched->happened++ >= sched->steps_max) {
                end = SCHED_ENDLESS;
                break;
            }
            if (event_is_due(sched))
                run_event(sched);
            else
                step(sched);
        } else if (sched->idle_hook && sched->idle_hook(sched->idle_argument)) {
            ASSERT(event_is_due(sched) || sched->runnable_count > 0);
        } else if (next_time(sched, &at_ns) && at_ns <= until_ns) {
            jump(sched, at_ns);
        } else {
            jump(sched, until_ns);
            end = SCHED_REACHED;
            break;
        }
    }
    sched->running = false;
    return end;
}

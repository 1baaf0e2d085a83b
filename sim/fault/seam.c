#include "sim/fault/fault.h"

#include "core/base/assert.h"
#include "sim/fault/seam.h"
#include <stdlib.h>
#include <string.h>

struct seam *seam_new(struct sched *sched, struct trace *trace)
{
    ASSERT(sched);
    struct seam *seam = calloc(1, sizeof *seam);
    if (!seam)
        return NULL;
    seam->sched = sched;
    seam->trace = trace;
    return seam;
}

void seam_free(struct seam *seam)
{
    if (!seam)
        return;
    ASSERT(!seam->stores);
    free(seam->armed);
    free(seam);
}

bool seam_add(struct seam *seam, const struct fault *fault)
{
    ASSERT(fault->kind < FAULT_KIND_COUNT);
    ASSERT(fault->step && fault->times >= 1 && fault->skip >= 0);
    ASSERT(!fault->after || fault_infos[fault->kind].has_side);
    ASSERT(fault->kind != FAULT_ERROR || strlen(fault->sqlstate) == 5);
    if (seam->count == seam->capacity) {
        size_t capacity = seam->capacity ? 2 * seam->capacity : 16;
        struct armed_fault *armed = realloc(seam->armed, capacity * sizeof *armed);
        if (!armed)
            return false;
        seam->armed = armed;
        seam->capacity = capacity;
    }
    seam->armed[seam->count++] = (struct armed_fault){.fault = *fault};
    return true;
}

void seam_disarm(struct seam *seam)
{
    for (size_t i = 0; i < seam->count; i++)
        seam->armed[i].fault.until_ns = INT64_MIN;
}

int64_t seam_fired(const struct seam *seam, size_t fault)
{
    ASSERT(fault < seam->count);
    return seam->armed[fault].fired;
}

/* ---- held actors ---- */

static struct seam_store *find_held(const struct seam *seam, const char *actor)
{
    for (struct seam_store *store = seam->stores; store; store = store->next)
        if (store->held && actor_alive(store->held) && strcmp(store->actor, actor) == 0)
            return store;
    return NULL;
}

bool seam_is_held(const struct seam *seam, const char *actor)
{
    return find_held(seam, actor) != NULL;
}

bool seam_held_by(const struct seam *seam, const char *actor, size_t *fault)
{
    const struct seam_store *store = find_held(seam, actor);
    if (store)
        *fault = store->held_by;
    return store != NULL;
}

bool seam_release(struct seam *seam, const char *actor)
{
    struct seam_store *store = find_held(seam, actor);
    if (!store)
        return false;
    sched_wake(seam->sched, store->held);
    store->held = NULL;
    return true;
}

static void trace_fault(struct seam_store *store, const char *step, const char *fault, bool after)
{
    struct trace *trace = store->seam->trace;
    if (!trace)
        return;
    trace_event(trace, sched_now_ns(store->seam->sched), store->actor, step);
    trace_word(trace, "fault", fault);
    trace_word(trace, "side", after ? "after" : "before");
    trace_end(trace);
}

static void hold(struct seam_store *store, const struct fault *fault, const char *step, bool after)
{
    struct sched *sched = store->seam->sched;
    trace_fault(store, step, "hold", after);
    store->held = sched_current(sched);
    store->held_by = (size_t)((const struct armed_fault *)fault - store->seam->armed);
    while (store->held) /* whoever else wakes it does not release it */
        sched_wait(sched);
    trace_fault(store, step, "released", after);
}

static _Noreturn void crash(struct seam_store *store, const char *step, bool after)
{
    struct sched *sched = store->seam->sched;
    trace_fault(store, step, "crash", after);
    store->ops->crashed(store->context); /* store may be gone now */
    sched_exit(sched);
}

/* ---- matching ---- */

static bool value_equals(const struct query_column *column, const struct value *value,
                         struct bytes where)
{
    if (column->type == VALUE_TEXT)
        return bytes_equal(value->bytes, where);
    struct uuid uuid;
    return column->type == VALUE_UUID && uuid_parse(where, &uuid) &&
           bytes_equal(value->bytes, (struct bytes){uuid.bytes, sizeof uuid.bytes});
}

static bool where_matches(const char *where, const struct store_call *call)
{
    if (!where)
        return true;
    if (!call)
        return false;
    const struct query *query = &queries[call->query];
    const struct value *value = call->params;
    for (size_t r = 0; r < call->row_count; r++)
        for (int c = 0; c < query->param_count; c++)
            if (value_equals(&query->params[c], value++, bytes_of(where)))
                return true;
    return false;
}

static bool matches(const struct fault *fault, const struct seam_store *store, const char *step,
                    const struct store_call *call)
{
    int64_t now_ns = sched_now_ns(store->seam->sched);
    return strcmp(fault->step, step) == 0 &&
           (!fault->actor || strcmp(fault->actor, store->actor) == 0) && fault->from_ns <= now_ns &&
           now_ns < fault->until_ns && where_matches(fault->where, call);
}

const struct fault *seam_fire(struct seam_store *store, enum fault_kind kind, bool after,
                              const char *step, const struct store_call *call)
{
    struct seam *seam = store->seam;
    for (size_t i = 0; i < seam->count; i++) {
        struct armed_fault *armed = &seam->armed[i];
        if (armed->fault.kind != kind || armed->fault.after != after ||
            armed->fired == armed->fault.times || !matches(&armed->fault, store, step, call))
            continue;
        if (armed->passed < armed->fault.skip) {
            armed->passed++;
            continue;
        }
        armed->fired++;
        return &armed->fault;
    }
    return NULL;
}

void seam_stop_or_end(struct seam_store *store, const char *step, const struct store_call *call,
                      bool after)
{
    const struct fault *fault = after ? NULL : seam_fire(store, FAULT_HOLD, false, step, call);
    if (fault)
        hold(store, fault, step, false);
    if (seam_fire(store, FAULT_CRASH, after, step, call))
        crash(store, step, after);
    fault = after ? seam_fire(store, FAULT_HOLD, true, step, call) : NULL;
    if (fault)
        hold(store, fault, step, true);
}

/* ---- steps of other ports ---- */

static void trace_step(struct seam_store *store, const char *step, const char *fault,
                       enum status status, const struct err *err)
{
    struct trace *trace = store->seam->trace;
    if (!trace)
        return;
    trace_event(trace, sched_now_ns(store->seam->sched), store->actor, step);
    if (fault)
        trace_word(trace, "fault", fault);
    if (status != STATUS_OK)
        trace_word(trace, "status", status_name(status));
    if (status != STATUS_OK && err->sqlstate[0])
        trace_word(trace, "sqlstate", err->sqlstate);
    trace_end(trace);
}

enum status seam_enter(struct seam *seam, struct store *seam_store, const char *step,
                       struct err *err)
{
    struct seam_store *store = (struct seam_store *)seam_store;
    ASSERT(store->seam == seam);
    sched_point(seam->sched);
    seam_stop_or_end(store, step, NULL, false);
    const struct fault *fault = seam_fire(store, FAULT_CUT, false, step, NULL);
    if (!fault)
        fault = seam_fire(store, FAULT_ERROR, false, step, NULL);
    if (!fault)
        return STATUS_OK;
    enum status status = seam_error(fault, step, err);
    trace_step(store, step, fault_infos[fault->kind].name, status, err);
    return status;
}

enum status seam_leave(struct seam *seam, struct store *seam_store, const char *step,
                       enum status status, struct err *err)
{
    struct seam_store *store = (struct seam_store *)seam_store;
    ASSERT(store->seam == seam);
    const struct fault *fault = seam_fire(store, FAULT_LOST_REPLY, false, step, NULL);
    if (fault)
        status = seam_error(fault, step, err);
    trace_step(store, step, fault ? fault_infos[fault->kind].name : NULL, status, err);
    seam_stop_or_end(store, step, NULL, true);
    return status;
}

enum status seam_error(const struct fault *fault, const char *step, struct err *err)
{
    switch (fault->kind) {
    case FAULT_ERROR:
        return err_sql(err, fault->sqlstate, "could not run %s: injected error", step);
    case FAULT_LOST_REPLY:
        return err_sql(err, "08006", "could not run %s: the reply was lost", step);
    default:
        ASSERT(fault->kind == FAULT_CUT);
        return err_sql(err, "08006", "could not run %s: the connection was cut", step);
    }
}

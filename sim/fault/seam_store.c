/* The decorated store. What the inner store is told and what the actor is told are two things here:
 * the inner transaction is rolled back at once when an error is injected, the actor learns it from
 * 25P02 until its own Rollback.
 */
#include "core/base/assert.h"
#include "sim/fault/seam.h"
#include <stdlib.h>
#include <string.h>

static enum status run_call(struct store *base, struct store_call *call, struct err *err);

struct store *seam_store_new(struct seam *seam, const char *actor, struct store *inner,
                             const struct seam_actor_ops *ops, void *context)
{
    ASSERT(actor && inner && ops);
    struct seam_store *store = calloc(1, sizeof *store);
    if (!store)
        return NULL;
    store->actor = strdup(actor);
    if (!store->actor) {
        free(store);
        return NULL;
    }
    store->base.call = run_call;
    store->seam = seam;
    store->inner = inner;
    store->ops = ops;
    store->context = context;
    store->next = seam->stores;
    seam->stores = store;
    return &store->base;
}

void seam_store_free(struct store *base)
{
    if (!base)
        return;
    struct seam_store *store = (struct seam_store *)base;
    struct seam_store **link = &store->seam->stores;
    while (*link != store) {
        ASSERT(*link);
        link = &(*link)->next;
    }
    *link = store->next;
    free(store->actor);
    free(store);
}

static void roll_back_inner(struct seam_store *store)
{
    struct store_call rollback = {.query = QUERY_ROLLBACK};
    struct err ignored = {0};
    if (store->in_transaction)
        store->inner->call(store->inner, &rollback, &ignored);
    store->in_transaction = false;
}

static void lose_connection(struct seam_store *store)
{
    store->ops->cut(store->context);
    store->in_transaction = false;
    store->connection = SEAM_LOST;
}

/* An injected error undoes the transaction. Behind a failed Begin, Commit or Rollback there is
 * none. */
static void fail_transaction(struct seam_store *store, enum query_id query, const char *sqlstate)
{
    if (strncmp(sqlstate, "08", 2) == 0) {
        lose_connection(store);
        return;
    }
    bool aborted = store->in_transaction && query != QUERY_COMMIT && query != QUERY_ROLLBACK;
    roll_back_inner(store);
    store->connection = aborted ? SEAM_FAILED : SEAM_GOOD;
}

/* What the state of the connection alone decides: true when the call is answered with *status. */
static bool answered_without_call(struct seam_store *store, enum query_id query, const char *step,
                                  enum status *status, struct err *err)
{
    if (query == QUERY_ROLLBACK && (store->connection != SEAM_GOOD || !store->in_transaction)) {
        store->connection = SEAM_GOOD;
        *status = STATUS_OK;
        return true;
    }
    if (store->connection == SEAM_LOST && query == QUERY_BEGIN)
        store->connection = SEAM_GOOD;
    if (store->connection == SEAM_GOOD)
        return false;
    if (store->connection == SEAM_LOST)
        *status = err_sql(err, "08006", "could not run %s: the connection is lost", step);
    else
        *status = err_sql(err, "25P02", "cannot run %s: the transaction is aborted", step);
    return true;
}

static enum status call_inner(struct seam_store *store, struct store_call *call, struct err *err)
{
    enum status status = store->inner->call(store->inner, call, err);
    if (call->query == QUERY_BEGIN)
        store->in_transaction = status == STATUS_OK;
    else if (call->query == QUERY_COMMIT || call->query == QUERY_ROLLBACK)
        store->in_transaction = store->in_transaction && status != STATUS_OK;
    return status;
}

static void trace_call(struct seam_store *store, const struct store_call *call, bool made,
                       const struct fault *fault, enum status status, const struct err *err)
{
    struct trace *trace = store->seam->trace;
    if (!trace)
        return;
    trace_event(trace, sched_now_ns(store->seam->sched), store->actor, queries[call->query].name);
    trace_call_params(trace, call);
    if (made)
        trace_call_results(trace, call);
    if (fault)
        trace_word(trace, "fault", fault_infos[fault->kind].name);
    if (status != STATUS_OK)
        trace_word(trace, "sqlstate", err->sqlstate);
    trace_end(trace);
}

/* Between the stops: cut -> error -> the call -> lost reply. *fault: the one that fired, or NULL;
 * *made: the inner store answered and its results are good. */
static enum status answer(struct seam_store *store, struct store_call *call, const char *step,
                          const struct fault **fault, bool *made, struct err *err)
{
    enum status status;
    *made = false;
    *fault = seam_fire(store, FAULT_CUT, false, step, call);
    if (*fault) {
        lose_connection(store);
        return seam_error(*fault, step, err);
    }
    if (answered_without_call(store, call->query, step, &status, err))
        return status;
    *fault = seam_fire(store, FAULT_ERROR, false, step, call);
    if (*fault) {
        fail_transaction(store, call->query, (*fault)->sqlstate);
        return seam_error(*fault, step, err);
    }
    status = call_inner(store, call, err);
    *made = status == STATUS_OK;
    *fault = seam_fire(store, FAULT_LOST_REPLY, false, step, call);
    if (*fault) {
        lose_connection(store);
        return seam_error(*fault, step, err);
    }
    return status;
}

static enum status run_call(struct store *base, struct store_call *call, struct err *err)
{
    struct seam_store *store = (struct seam_store *)base;
    ASSERT(call->query < QUERY_COUNT);
    const char *step = queries[call->query].name;
    const struct fault *fault;
    bool made;

    sched_point(store->seam->sched);
    seam_stop_or_end(store, step, call, false);
    enum status status = answer(store, call, step, &fault, &made, err);
    trace_call(store, call, made, fault, status, err);
    seam_stop_or_end(store, step, call, true);
    return status;
}

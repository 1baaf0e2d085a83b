/* What really was committed, in order: the input of the reference model (sim/ref).
 *
 * A decorator between an actor's seam and its session. It keeps the calls of the open transaction
 * that the model needs to know and appends them to the log when the Commit below it succeeded,
 * whether or not the actor learns of it (a lost reply). Rolled-back transactions leave nothing.
 */
#ifndef SIM_RUN_COMMIT_LOG_H
#define SIM_RUN_COMMIT_LOG_H

#include "core/store/call.h"

/* One row of one call of a committed transaction. */
struct commit_entry {
    enum query_id query;
    const struct value *params;  /* one row; texts and blobs are copied */
    const struct value *results; /* one result row; NULL: the query has none, or returned none */
    int64_t affected;            /* of this row: 0 or 1 for INSERT, the call's for others */
    uint64_t transaction;        /* 1, 2, ... in order of their commits */
    uint64_t seen;               /* transactions that had committed when it was answered */
    bool by_operator;            /* set-up and control plane, not a job */
};

struct commit_log {
    struct arena *arena;
    struct commit_entry *entries;
    size_t count;
    size_t capacity;
    uint64_t transactions;
    bool exhausted; /* the arena was too small: the log is not whole */
};

void commit_log_init(struct commit_log *log, struct arena *arena);

/* A decorated store; the caller frees it. inner must outlive it. NULL: out of memory. */
struct store *commit_log_store_new(struct commit_log *log, struct store *inner, bool by_operator);
void commit_log_store_free(struct store *store);
/* The session below was cut: what it had open is rolled back. */
void commit_log_store_cut(struct store *store);

#endif

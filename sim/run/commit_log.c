#include "sim/run/commit_log.h"

#include "core/base/assert.h"
#include <stdlib.h>
#include <string.h>

struct log_store {
    struct store store;
    struct store *inner;
    struct commit_log *log;
    bool by_operator;
    size_t open_count; /* entries of the open transaction, behind the committed ones of `open` */
    size_t open_capacity;
    struct commit_entry *open;
};

void commit_log_init(struct commit_log *log, struct arena *arena)
{
    *log = (struct commit_log){.arena = arena};
}

/* Reads whose moment the model must know, whatever the answer was. */
static bool is_read(enum query_id query)
{
    return query == QUERY_GET_RESOURCES_SEEN || query == QUERY_GET_SERIES_STATES ||
           query == QUERY_COUNT_SERIES_STATES || query == QUERY_LIST_ROUTES ||
           query == QUERY_GET_CAP_WARNINGS;
}

/* What the model replays; everything else follows from it. */
static bool is_kept(enum query_id query)
{
    if (is_read(query))
        return true;
    switch (query) {
    case QUERY_RECORD_INGEST_MESSAGE:
    case QUERY_LOCK_TENANT:
    case QUERY_ROLLUP_HOUR:
    case QUERY_ROLLUP_DAY:
    case QUERY_CLAIM_ROLLUP_HOURS:
    case QUERY_CLAIM_MARKED_HOUR:
    case QUERY_RESTORE_ROLLUP_MARK:
    case QUERY_MARK_DRIFTED_HOURS:
    case QUERY_CREATE_MINUTE_PARTITION:
    case QUERY_CREATE_HOURLY_PARTITION:
    case QUERY_DROP_MINUTE_PARTITION:
    case QUERY_DROP_HOURLY_PARTITION:
    case QUERY_PRUNE_INGEST_DEDUP:
    case QUERY_PRUNE_SERIES_STATE:
    case QUERY_PRUNE_RESOURCE_SEEN:
    case QUERY_PRUNE_ROUTE_REGISTRY:
    case QUERY_PURGE_TENANT:
    case QUERY_SET_TENANT:
        return true;
    default:
        return false;
    }
}

static const struct value *copy_row(struct commit_log *log, const struct value *row,
                                    const struct query_column *columns, int count)
{
    struct value *copy = arena_array(log->arena, (size_t)(count > 0 ? count : 1), sizeof(*copy));
    if (copy == NULL)
        return NULL;
    for (int i = 0; i < count; i++) {
        copy[i] = row[i];
        enum value_type type = columns[i].type;
        if (type == VALUE_TEXT || type == VALUE_BYTES || type == VALUE_UUID)
            copy[i].bytes.data = arena_copy(log->arena, row[i].bytes.data, row[i].bytes.size);
        else if (type == VALUE_BUCKETS)
            copy[i].buckets = arena_copy(log->arena, row[i].buckets, sizeof(*row[i].buckets));
    }
    return copy;
}

static void keep(struct log_store *store, const struct store_call *call, const struct value *params,
                 const struct value *results, int64_t affected)
{
    struct commit_log *log = store->log;
    const struct query *query = &queries[call->query];
    if (store->open_count == store->open_capacity) {
        size_t capacity = store->open_capacity == 0 ? 64 : store->open_capacity * 2;
        struct commit_entry *grown = realloc(store->open, capacity * sizeof(*grown));
        if (grown == NULL) {
            log->exhausted = true;
            return;
        }
        store->open = grown;
        store->open_capacity = capacity;
    }
    struct commit_entry *entry = &store->open[store->open_count];
    *entry = (struct commit_entry){.query = call->query,
                                   .affected = affected,
                                   .seen = log->transactions,
                                   .by_operator = store->by_operator};
    entry->params = copy_row(log, params, query->params, query->param_count);
    if (results != NULL)
        entry->results = copy_row(log, results, query->results, query->result_count);
    if (entry->params == NULL || (results != NULL && entry->results == NULL)) {
        log->exhausted = true;
        return;
    }
    store->open_count++;
}

static void keep_call(struct log_store *store, const struct store_call *call)
{
    const struct query *query = &queries[call->query];
    size_t width = (size_t)query->param_count;
    if (is_read(call->query)) {
        keep(store, call, call->params, NULL, 0);
        return;
    }
    if (query->result_count > 0 && call->result_rows > 0) {
        for (size_t i = 0; i < call->result_rows; i++)
            keep(store, call, call->params, call->results + i * (size_t)query->result_count, 1);
        return;
    }
    if (query->result_count > 0 && call->query != QUERY_MARK_DRIFTED_HOURS)
        return;
    for (size_t i = 0; i < call->row_count; i++) {
        int64_t affected = call->row_affected != NULL ? call->row_affected[i] : call->affected;
        keep(store, call, call->params + i * width, NULL, affected);
    }
}

static void append(struct log_store *store)
{
    struct commit_log *log = store->log;
    if (store->open_count == 0)
        return;
    size_t needed = log->count + store->open_count;
    if (needed > log->capacity) {
        size_t capacity = needed * 2;
        struct commit_entry *grown = arena_array(log->arena, capacity, sizeof(*grown));
        if (grown == NULL) {
            log->exhausted = true;
            return;
        }
        if (log->count > 0)
            memcpy(grown, log->entries, log->count * sizeof(*grown));
        log->entries = grown;
        log->capacity = capacity;
    }
    log->transactions++;
    for (size_t i = 0; i < store->open_count; i++) {
        store->open[i].transaction = log->transactions;
        log->entries[log->count++] = store->open[i];
    }
    store->open_count = 0;
}

static enum status log_call(struct store *base, struct store_call *call, struct err *err)
{
    struct log_store *store = (struct log_store *)base;
    enum status status = store->inner->call(store->inner, call, err);
    if (call->query == QUERY_BEGIN || call->query == QUERY_ROLLBACK)
        store->open_count = 0;
    else if (call->query == QUERY_COMMIT && status == STATUS_OK)
        append(store);
    else if (call->query == QUERY_COMMIT)
        store->open_count = 0;
    else if (status == STATUS_OK && is_kept(call->query))
        keep_call(store, call);
    return status;
}

struct store *commit_log_store_new(struct commit_log *log, struct store *inner, bool by_operator)
{
    ASSERT(log != NULL && inner != NULL);
    struct log_store *store = calloc(1, sizeof(*store));
    if (store == NULL)
        return NULL;
    store->store.call = log_call;
    store->inner = inner;
    store->log = log;
    store->by_operator = by_operator;
    return &store->store;
}

void commit_log_store_free(struct store *base)
{
    struct log_store *store = (struct log_store *)base;
    if (store == NULL)
        return;
    free(store->open);
    free(store);
}

void commit_log_store_cut(struct store *base)
{
    struct log_store *store = (struct log_store *)base;
    store->open_count = 0;
}

/* Transactions, tenants and whole tables; the queries of writer, jobs and readers have their files.
 */
#include "core/store/store.h"
#include "core/store/rows.h"
#include <string.h>

enum status store_begin(struct store *store, enum store_role role, struct err *err)
{
    ASSERT(role >= ROLE_METRICS_WRITER && role <= ROLE_READER);
    struct value params[] = {value_int(role)};
    return call_change(store, QUERY_BEGIN, params, NULL, err);
}

enum status store_commit(struct store *store, struct err *err)
{
    return call_change(store, QUERY_COMMIT, NULL, NULL, err);
}

void store_rollback(struct store *store)
{
    struct err ignored;
    call_change(store, QUERY_ROLLBACK, NULL, NULL, &ignored);
}

enum status store_purge_tenant(struct store *store, const struct uuid *tenant, int64_t lock,
                               bool keep_aggregates, struct err *err)
{
    ASSERT(tenant);
    struct value params[] = {value_uuid(tenant), value_int(lock), value_bool(keep_aggregates)};
    return call_change(store, QUERY_PURGE_TENANT, params, NULL, err);
}

enum status store_set_tenant(struct store *store, const struct uuid *tenant, const char *status,
                             struct err *err)
{
    ASSERT(tenant && status);
    ASSERT(strcmp(status, "active") == 0 || strcmp(status, "removed") == 0);
    struct value params[] = {value_uuid(tenant), value_text(status)};
    return call_change(store, QUERY_SET_TENANT, params, NULL, err);
}

enum status store_dump(struct store *store, enum query_id query, struct arena *arena,
                       struct value **values, size_t *count, struct err *err)
{
    ASSERT(arena && values && count);
    ASSERT(queries[query].kind == QUERY_KIND_READ && queries[query].param_count == 0);
    struct store_call call = {.query = query, .arena = arena};
    enum status status = call_once(store, &call, err);
    if (status != STATUS_OK)
        return status;
    *values = call.results;
    *count = call.result_rows;
    return STATUS_OK;
}

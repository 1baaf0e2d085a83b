/* What is stored of the batch's processes, streams and tenants, one statement a tenant.
 *
 * Answers are sorted like the sets they belong to, so each is merged in one walk. A row that
 * belongs to nothing is passed over: GetSeriesStates returns every start time of a series.
 */
#include "core/base/assert.h"
#include "core/base/time.h"
#include "core/writer/work.h"

static int compare_process_keys(const struct process_key *a, const struct process_key *b)
{
    int order = sha256_compare(&a->resource_hash, &b->resource_hash);
    if (order != 0)
        return order;
    return (a->start_unix_nano > b->start_unix_nano) - (a->start_unix_nano < b->start_unix_nano);
}

static int compare_series_keys(const struct series_key *a, const struct series_key *b)
{
    int order = sha256_compare(&a->series_hash, &b->series_hash);
    if (order != 0)
        return order;
    return (a->start_unix_nano > b->start_unix_nano) - (a->start_unix_nano < b->start_unix_nano);
}

static enum status merge_resources(struct work *work, struct work_tenant *tenant, struct err *err)
{
    size_t n = tenant->process_end - tenant->process_begin;
    struct process_key *keys;
    enum status status = work_array(work, n, sizeof *keys, &keys, err);
    if (status != STATUS_OK || n == 0)
        return status;
    struct work_process *process = work->processes + tenant->process_begin;
    for (size_t i = 0; i < n; i++)
        keys[i] = process[i].key;
    struct resource_row *rows = NULL;
    size_t count = 0;
    status = store_get_resources_seen(work->writer->ports.store, &tenant->id, keys, n, work->arena,
                                      &rows, &count, err);
    size_t i = 0;
    for (size_t r = 0; r < count && status == STATUS_OK; r++) {
        while (i < n && compare_process_keys(&process[i].key, &rows[r].key) < 0)
            i++;
        if (i == n || compare_process_keys(&process[i].key, &rows[r].key) != 0)
            continue;
        process[i].stored = true;
        process[i].first_seen_at_us = rows[r].first_seen_at_us;
        process[i].stored_first_point = rows[r].first_point_unix_nano;
    }
    return status;
}

static enum status merge_states(struct work *work, struct work_tenant *tenant, struct err *err)
{
    size_t n = tenant->stream_end - tenant->stream_begin;
    struct sha256 *series;
    size_t series_count = 0;
    enum status status = work_array(work, n, sizeof *series, &series, err);
    if (status != STATUS_OK || n == 0)
        return status;
    struct work_stream *stream = work->streams + tenant->stream_begin;
    for (size_t i = 0; i < n; i++)
        if (i == 0 || sha256_compare(&stream[i].key.series_hash, &stream[i - 1].key.series_hash))
            series[series_count++] = stream[i].key.series_hash;
    struct series_state_row *rows = NULL;
    size_t count = 0;
    status = store_get_series_states(work->writer->ports.store, &tenant->id, series, series_count,
                                     work->arena, &rows, &count, err);
    if (status != STATUS_OK)
        return status;
    size_t i = 0;
    size_t known = 0;
    for (size_t r = 0; r < count; r++) {
        while (i < n && compare_series_keys(&stream[i].key, &rows[r].key) < 0)
            i++;
        if (i == n || compare_series_keys(&stream[i].key, &rows[r].key) != 0)
            continue;
        stream[i].stored = true;
        stream[i].state = rows[r].state;
        stream[i].state.exists = true;
        stream[i].stored_last_unix_nano = rows[r].state.last_unix_nano;
        known++;
    }
    tenant->new_stream_count = n - known;
    return STATUS_OK;
}

/* Streams that are stored by now, and whether the new ones may be too many for the cap. */
static enum status count_streams(struct work *work, struct work_tenant *tenant, struct err *err)
{
    enum status status = store_count_series_states(work->writer->ports.store, &tenant->id,
                                                   work->arena, &tenant->stream_count, err);
    if (status != STATUS_OK)
        return status;
    int64_t room = work->writer->settings.series_per_tenant_max - tenant->stream_count;
    if (room >= 0 && tenant->new_stream_count <= (size_t)room)
        return STATUS_OK;
    return merge_states(work, tenant, err);
}

enum status read_resources(struct work *work, struct err *err)
{
    enum status status = STATUS_OK;
    for (size_t t = 0; t < work->tenant_count && status == STATUS_OK; t++)
        status = merge_resources(work, &work->tenants[t], err);
    return status;
}

enum status read_states(struct work *work, struct err *err)
{
    enum status status = STATUS_OK;
    for (size_t t = 0; t < work->tenant_count && status == STATUS_OK; t++)
        status = merge_states(work, &work->tenants[t], err);
    return status;
}

/* Between the states and the count another writer may have stored one of the new streams. A refused
 * point writes no state that R-TX-8 would guard, so at the cap the states are read once more: what
 * is refused was not there when the tenant's streams were counted. */
enum status read_stream_counts(struct work *work, struct err *err)
{
    enum status status = STATUS_OK;
    if (!rules_on(work->writer->rules, RULE_A6))
        return status;
    for (size_t t = 0; t < work->tenant_count && status == STATUS_OK; t++) {
        struct work_tenant *tenant = &work->tenants[t];
        if (tenant->new_stream_count > 0)
            status = count_streams(work, tenant, err);
    }
    return status;
}

/* S-5: overflows of today and yesterday by the clock. Those of this batch need no look: a stream
 * that it refuses is not admitted later in it. */
enum status read_cap_warnings(struct work *work, struct err *err)
{
    enum status status = STATUS_OK;
    if (!rules_on(work->writer->rules, RULE_S5))
        return status;
    int64_t today = time_div(work->now_ns, NS_PER_DAY);
    for (size_t t = 0; t < work->tenant_count && status == STATUS_OK; t++) {
        struct work_tenant *tenant = &work->tenants[t];
        int64_t overflow = 0;
        if (tenant->new_stream_count > 0)
            status = store_get_cap_warnings(work->writer->ports.store, &tenant->id, today - 1,
                                            today, work->arena, &overflow, err);
        tenant->overflowed = overflow > 0;
    }
    return status;
}

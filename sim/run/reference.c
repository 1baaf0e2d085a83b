/* Replays what was committed in the naive model and compares its tables with the database's, cell
 * by cell. The model knows nothing of waits, retries and faults: it is told the order of the
 * commits, and how far they had come when a writer read. */
#include "sim/run/stage.h"

#include "core/base/assert.h"
#include "core/base/time.h"
#include "sim/ref/ref.h"
#include "sim/run/dump.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define REFERENCE_SHOWN 6

struct replay {
    struct stage *stage;
    struct ref *ref;
    uint64_t tenants_changed; /* the last transaction that changed a tenant's status */
    bool broken; /* the model and the writer parted: comparing tables says nothing more */
};

static struct uuid uuid_of(const struct value *value)
{
    struct uuid uuid;
    ASSERT(value->bytes.size == sizeof(uuid.bytes));
    memcpy(uuid.bytes, value->bytes.data, sizeof(uuid.bytes));
    return uuid;
}

static void parted(struct replay *replay, const char *format, const char *detail)
{
    run_fail(replay->stage->result, "reference", "", format, detail);
    replay->broken = true;
}

/* The message of the queue that a dedup row stands for: of that id and tenant the oldest that was
 * judged. Of those without points, which nobody judges, the oldest that was delivered (the age
 * limit may have taken it before) and is no dead letter, else one that was delivered again after it
 * had become one. */
static const struct queue_message *message_of(struct stage *stage, struct bytes msg_id,
                                              const struct uuid *tenant)
{
    const struct queue_message *judged = NULL, *oldest = NULL, *back = NULL;
    uint64_t sequence = queue_find(stage->queue, msg_id);
    while (sequence != 0) {
        const struct queue_message *message = queue_message_at(stage->queue, sequence);
        bool same = uuid_compare(&message->tenant, tenant) == 0;
        if (same && truth_was_judged(stage->truth, sequence))
            judged = message;
        if (same && !message->dead && message->deliveries > 0)
            oldest = message;
        if (same && queue_came_back(message))
            back = message;
        sequence = message->previous;
    }
    if (judged != NULL)
        return judged;
    return oldest != NULL ? oldest : back;
}

static int by_sequence(const void *a, const void *b)
{
    const struct queue_message *const *left = a;
    const struct queue_message *const *right = b;
    return (*left)->sequence < (*right)->sequence ? -1 : (*left)->sequence > (*right)->sequence;
}

static void apply(struct replay *replay, const struct queue_message *message)
{
    struct ref_message input = {.tenant = message->tenant,
                                .msg_id = message->msg_id,
                                .payload = message->payload,
                                .format = REF_PROTOBUF};
    if (ref_validate(replay->ref, &input) != REF_APPLIED) {
        parted(replay, "the writer applied a message that the model refuses: %s",
               ref_reason(replay->ref));
        return;
    }
    enum ref_fate fate = ref_apply(replay->ref, &input);
    if (fate != REF_APPLIED)
        parted(replay, "the writer applied a message that the model calls %s", ref_fate_name(fate));
}

/* A tenant that is removed while a transaction is open is active to it: it asked before (R-TX-7).
 * Tells the model so for the messages of that transaction, and takes it back behind them. */
static void show_tenants(struct replay *replay, const struct commit_entry *entries, size_t count,
                         bool as_then)
{
    const struct commit_log *log = &replay->stage->commits;
    for (size_t i = 0; i < count; i++) {
        if (entries[i].query != QUERY_LOCK_TENANT || replay->tenants_changed <= entries[i].seen)
            continue;
        struct uuid tenant = uuid_of(&entries[i].params[0]);
        bool removed = false;
        for (size_t k = 0; log->entries + k < entries; k++) {
            const struct commit_entry *earlier = &log->entries[k];
            if (earlier->query != QUERY_SET_TENANT ||
                (as_then && earlier->transaction > entries[i].seen))
                continue;
            struct uuid other = uuid_of(&earlier->params[0]);
            if (uuid_compare(&other, &tenant) == 0)
                removed = bytes_equal(earlier->params[1].bytes, bytes_of("removed"));
        }
        ref_tenant(replay->ref, &tenant, removed);
    }
}

/* What a writer's transaction had read, table by table. */
static struct ref_view view_of(const struct commit_entry *entries, size_t count)
{
    uint64_t before = entries[0].transaction - 1;
    struct ref_view view = {entries[0].transaction, before, before, before, before, before};
    for (size_t i = count; i-- > 0;) {
        if (entries[i].query == QUERY_GET_RESOURCES_SEEN)
            view.processes = entries[i].seen;
        else if (entries[i].query == QUERY_GET_SERIES_STATES)
            view.states = entries[i].seen;
        else if (entries[i].query == QUERY_COUNT_SERIES_STATES)
            view.streams = entries[i].seen;
        else if (entries[i].query == QUERY_LIST_ROUTES)
            view.routes = entries[i].seen;
        else if (entries[i].query == QUERY_GET_CAP_WARNINGS)
            view.overflows = entries[i].seen;
    }
    return view;
}

/* Messages of one transaction, in queue order. */
static void replay_messages(struct replay *replay, const struct commit_entry *entries, size_t count)
{
    const struct queue_message **messages = calloc(count, sizeof(*messages));
    size_t applied = 0;
    int64_t now_ns = 0;
    for (size_t i = 0; messages != NULL && i < count; i++) {
        if (entries[i].query != QUERY_RECORD_INGEST_MESSAGE || entries[i].affected == 0)
            continue;
        struct uuid tenant = uuid_of(&entries[i].params[1]);
        now_ns = entries[i].params[2].integer * NS_PER_US;
        const struct queue_message *message =
            message_of(replay->stage, entries[i].params[0].bytes, &tenant);
        if (message == NULL || message->payload.data == NULL)
            parted(replay, "a dedup row stands for no message of the queue%s", "");
        else
            messages[applied++] = message;
    }
    if (applied > 0) {
        qsort(messages, applied, sizeof(*messages), by_sequence);
        show_tenants(replay, entries, count, true);
        struct ref_view view = view_of(entries, count);
        ref_begin(replay->ref, now_ns, &view);
        for (size_t i = 0; i < applied && !replay->broken; i++)
            apply(replay, messages[i]);
        ref_commit(replay->ref);
        show_tenants(replay, entries, count, false);
    }
    free(messages);
}

static bool is_claim(enum query_id query)
{
    return query == QUERY_CLAIM_ROLLUP_HOURS || query == QUERY_CLAIM_MARKED_HOUR;
}

/* Marks claimed and not put back. */
static void replay_rollup(struct replay *replay, const struct commit_entry *entries, size_t count)
{
    struct ref_hour *hours = calloc(count, sizeof(*hours));
    size_t claimed = 0;
    for (size_t i = 0; hours != NULL && i < count; i++) {
        if (!is_claim(entries[i].query) || entries[i].results == NULL)
            continue;
        struct ref_hour hour = {uuid_of(&entries[i].results[0]), entries[i].results[1].integer};
        bool restored = false;
        for (size_t k = 0; k < count; k++) {
            if (entries[k].query != QUERY_RESTORE_ROLLUP_MARK)
                continue;
            struct uuid tenant = uuid_of(&entries[k].params[0]);
            restored = restored || (uuid_compare(&tenant, &hour.tenant) == 0 &&
                                    entries[k].params[1].integer == hour.hour_us);
        }
        if (!restored)
            hours[claimed++] = hour;
    }
    if (claimed > 0)
        ref_rollup(replay->ref, hours, claimed);
    free(hours);
}

static void replay_drift(struct replay *replay, const struct commit_entry *entries, size_t count)
{
    size_t marked = 0;
    const struct commit_entry *first = NULL;
    for (size_t i = 0; i < count; i++) {
        if (entries[i].query != QUERY_MARK_DRIFTED_HOURS)
            continue;
        first = first != NULL ? first : &entries[i];
        marked += entries[i].results != NULL;
    }
    if (first == NULL)
        return;
    size_t expected = ref_drift(replay->ref, first->params[0].integer, first->params[1].integer,
                                first->params[2].integer * NS_PER_US);
    struct run_result *result = replay->stage->result;
    if (expected != marked)
        run_fail_cell(result, "reference", "against the model", "hours that the drift check marked",
                      run_text(result, "%zu", expected), run_text(result, "%zu", marked));
}

static void replay_partition(struct replay *replay, const struct commit_entry *entry)
{
    bool hourly = entry->query == QUERY_CREATE_HOURLY_PARTITION ||
                  entry->query == QUERY_DROP_HOURLY_PARTITION;
    bool create = entry->query == QUERY_CREATE_MINUTE_PARTITION ||
                  entry->query == QUERY_CREATE_HOURLY_PARTITION;
    enum ref_partition_table table = hourly ? REF_HOURLY : REF_MINUTE;
    int64_t day = entry->params[0].integer;
    bool done = entry->results != NULL && entry->results[0].integer != 0;
    if (!done)
        return;
    if (create)
        ref_partition_created(replay->ref, table, day);
    else if (entry->by_operator)
        ref_partition_removed(replay->ref, table, day);
    else if (!ref_partition_dropped(replay->ref, table, day, sched_now_ns(replay->stage->sched)))
        run_fail(replay->stage->result, "reference", "against the model",
                 "retention dropped the %s partition of %s wrongly: %s",
                 hourly ? "hourly" : "minute", cell_day(&replay->stage->result->arena, day),
                 ref_reason(replay->ref));
}

static void replay_prune(struct replay *replay, const struct commit_entry *entry,
                         enum ref_prune_table table, int64_t days)
{
    int64_t before = entry->params[0].integer;
    int64_t now_ns = table == REF_ROUTE_REGISTRY ? (before + days) * NS_PER_DAY
                                                 : before * NS_PER_US + days * NS_PER_DAY;
    ref_prune(replay->ref, table, now_ns, entry->transaction);
}

static void replay_entry(struct replay *replay, const struct commit_entry *entry)
{
    struct uuid tenant;
    switch (entry->query) {
    case QUERY_CREATE_MINUTE_PARTITION:
    case QUERY_CREATE_HOURLY_PARTITION:
    case QUERY_DROP_MINUTE_PARTITION:
    case QUERY_DROP_HOURLY_PARTITION:
        replay_partition(replay, entry);
        break;
    case QUERY_PRUNE_INGEST_DEDUP:
        replay_prune(replay, entry, REF_INGEST_DEDUP, LIMIT_DEDUP_DAYS);
        break;
    case QUERY_PRUNE_SERIES_STATE:
        replay_prune(replay, entry, REF_SERIES_STATE, LIMIT_STATE_IDLE_DAYS);
        break;
    case QUERY_PRUNE_RESOURCE_SEEN:
        replay_prune(replay, entry, REF_RESOURCE_SEEN, LIMIT_STATE_IDLE_DAYS);
        break;
    case QUERY_PRUNE_ROUTE_REGISTRY:
        replay_prune(replay, entry, REF_ROUTE_REGISTRY, LIMIT_ROUTE_REGISTRY_DAYS);
        break;
    case QUERY_PURGE_TENANT:
        tenant = uuid_of(&entry->params[0]);
        if (!ref_purge(replay->ref, &tenant, entry->params[2].integer != 0))
            parted(replay, "a tenant that is not removed was purged%s", "");
        break;
    case QUERY_SET_TENANT:
        replay->tenants_changed = entry->transaction;
        tenant = uuid_of(&entry->params[0]);
        ref_tenant(replay->ref, &tenant, bytes_equal(entry->params[1].bytes, bytes_of("removed")));
        break;
    default:
        break;
    }
}

/* ---- its tables as text ---- */

struct output {
    struct stage *stage;
    struct arena *arena;
    struct snapshot *snapshot;
    bool exhausted;
};

static struct table *begin(struct output *output, const char *name, const char *const *columns,
                           size_t count)
{
    struct table *table = table_new(output->arena, name, dump_key_count(name), columns, count);
    output->exhausted = output->exhausted || table == NULL;
    return table;
}

static void row(struct output *output, struct table *table, const char *const *cells)
{
    for (size_t i = 0; table != NULL && i < table->column_count; i++)
        if (cells[i] == NULL)
            output->exhausted = true;
    if (table == NULL || output->exhausted || !table_add(table, cells))
        output->exhausted = true;
}

static void end(struct output *output, struct table *table)
{
    if (table == NULL || output->exhausted)
        return;
    table_sort(table);
    output->snapshot->tables[output->snapshot->table_count++] = *table;
}

static const char *tenant_cell(struct output *output, const struct uuid *tenant)
{
    return names_of_tenant(output->stage->names, tenant);
}

static const char *hash_cell(struct output *output, const uint8_t hash[32])
{
    struct sha256 value;
    memcpy(value.bytes, hash, sizeof(value.bytes));
    return names_of(output->stage->names, &value);
}

static const char *buckets_cell(struct output *output, const int64_t counts[15])
{
    struct histogram histogram;
    memcpy(histogram.counts, counts, sizeof(histogram.counts));
    return cell_buckets(output->arena, &histogram);
}

static void metrics(struct output *output, const char *name, const struct ref_metric_row *rows,
                    size_t count)
{
    static const char *const columns[] = {"tenant_id", "bucket_start", "service", "method",
                                          "route",     "status_code",  "source",  "counts",
                                          "sum",       "count",        "lossy"};
    struct arena *arena = output->arena;
    struct table *table = begin(output, name, columns, 11);
    for (size_t i = 0; i < count; i++) {
        const struct ref_metric_row *r = &rows[i];
        const char *cells[] = {tenant_cell(output, &r->tenant),
                               cell_time_us(arena, r->bucket_start_us),
                               cell_text(arena, r->service),
                               cell_text(arena, r->method),
                               cell_text(arena, r->route),
                               cell_int(arena, r->status_code),
                               r->source,
                               buckets_cell(output, r->counts),
                               cell_double(arena, r->sum),
                               cell_int(arena, r->count),
                               r->lossy ? "true" : "false"};
        row(output, table, cells);
    }
    end(output, table);
}

static void series_state(struct output *output, struct ref *ref)
{
    static const char *const columns[] = {"tenant_id",      "series_hash",  "start_unix_nano",
                                          "last_unix_nano", "last_count",   "last_sum",
                                          "last_counts",    "last_seen_at", "baseline"};
    struct arena *arena = output->arena;
    struct table *table = begin(output, "series_state", columns, 9);
    const struct ref_series_row *rows;
    size_t count = ref_series_state(ref, &rows);
    for (size_t i = 0; i < count; i++) {
        const struct ref_series_row *r = &rows[i];
        const char *cells[] = {
            tenant_cell(output, &r->tenant),         hash_cell(output, r->series_hash),
            cell_time_ns(arena, r->start_unix_nano), cell_time_ns(arena, r->last_unix_nano),
            cell_int(arena, r->last_count),          cell_double(arena, r->last_sum),
            buckets_cell(output, r->last_counts),    cell_time_us(arena, r->last_seen_at_us),
            r->baseline ? "true" : "false"};
        row(output, table, cells);
    }
    end(output, table);
}

static void resource_seen(struct output *output, struct ref *ref)
{
    static const char *const columns[] = {"tenant_id",       "resource_hash",
                                          "start_unix_nano", "first_seen_at",
                                          "last_seen_at",    "first_point_unix_nano"};
    struct arena *arena = output->arena;
    struct table *table = begin(output, "resource_seen", columns, 6);
    const struct ref_resource_row *rows;
    size_t count = ref_resource_seen(ref, &rows);
    for (size_t i = 0; i < count; i++) {
        const struct ref_resource_row *r = &rows[i];
        const char *cells[] = {
            tenant_cell(output, &r->tenant),         hash_cell(output, r->resource_hash),
            cell_time_ns(arena, r->start_unix_nano), cell_time_us(arena, r->first_seen_at_us),
            cell_time_us(arena, r->last_seen_at_us), cell_time_ns(arena, r->first_point_unix_nano)};
        row(output, table, cells);
    }
    end(output, table);
}

static void small_tables(struct output *output, struct ref *ref)
{
    static const char *const dedup_columns[] = {"msg_id", "tenant_id", "applied_at"};
    static const char *const route_columns[] = {"tenant_id", "day", "service", "route",
                                                "created_at"};
    static const char *const warning_columns[] = {"tenant_id", "day", "kind", "count"};
    static const char *const mark_columns[] = {"tenant_id", "hour", "marked_at"};
    struct arena *arena = output->arena;
    const struct ref_dedup_row *dedup;
    const struct ref_route_row *routes;
    const struct ref_warning_row *warnings;
    const struct ref_mark_row *marks;
    struct table *table = begin(output, "ingest_dedup", dedup_columns, 3);
    size_t count = ref_ingest_dedup(ref, &dedup);
    for (size_t i = 0; i < count; i++)
        row(output, table,
            (const char *const[]){cell_text(arena, dedup[i].msg_id),
                                  tenant_cell(output, &dedup[i].tenant),
                                  cell_time_us(arena, dedup[i].applied_at_us)});
    end(output, table);
    table = begin(output, "route_registry", route_columns, 5);
    count = ref_route_registry(ref, &routes);
    for (size_t i = 0; i < count; i++)
        row(output, table,
            (const char *const[]){
                tenant_cell(output, &routes[i].tenant), cell_day(arena, routes[i].day),
                cell_text(arena, routes[i].service), cell_text(arena, routes[i].route),
                cell_time_us(arena, routes[i].created_at_us)});
    end(output, table);
    table = begin(output, "ingest_warnings", warning_columns, 4);
    count = ref_ingest_warnings(ref, &warnings);
    for (size_t i = 0; i < count; i++)
        row(output, table,
            (const char *const[]){tenant_cell(output, &warnings[i].tenant),
                                  cell_day(arena, warnings[i].day), warnings[i].kind,
                                  cell_int(arena, warnings[i].count)});
    end(output, table);
    table = begin(output, "rollup_pending", mark_columns, 3);
    count = ref_rollup_pending(ref, &marks);
    for (size_t i = 0; i < count; i++)
        row(output, table,
            (const char *const[]){tenant_cell(output, &marks[i].tenant),
                                  cell_time_us(arena, marks[i].hour_us),
                                  cell_time_us(arena, marks[i].marked_at_us)});
    end(output, table);
}

static void compare(struct replay *replay)
{
    struct stage *stage = replay->stage;
    struct run_result *result = stage->result;
    struct snapshot snapshot = {.label = "end"};
    struct output output = {.stage = stage, .arena = &result->arena, .snapshot = &snapshot};
    const struct ref_metric_row *rows;
    struct table_difference differences[REFERENCE_SHOWN];
    snapshot.tables = arena_array(&result->arena, 16, sizeof(*snapshot.tables));
    if (snapshot.tables == NULL)
        return;
    size_t count = ref_metrics_minute(replay->ref, &rows);
    metrics(&output, "metrics_minute", rows, count);
    count = ref_metrics_hourly(replay->ref, &rows);
    metrics(&output, "metrics_hourly", rows, count);
    count = ref_metrics_daily(replay->ref, &rows);
    metrics(&output, "metrics_daily", rows, count);
    series_state(&output, replay->ref);
    resource_seen(&output, replay->ref);
    small_tables(&output, replay->ref);
    if (output.exhausted) {
        run_fail(result, "internal", "", "no memory for the model's tables");
        return;
    }
    const struct snapshot *last = &result->snapshots[result->snapshot_count - 1];
    size_t found =
        tables_compare(&snapshot, last, "", &result->arena, differences, REFERENCE_SHOWN);
    static const char where[] = "against the model at end";
    for (size_t i = 0; i < found && i < REFERENCE_SHOWN; i++)
        run_fail_difference(result, "reference", where, "", &differences[i]);
    if (found > REFERENCE_SHOWN)
        run_fail(result, "reference", where, "and %zu more cells", found - REFERENCE_SHOWN);
}

/* What the model does not describe: rows lost by design of a switched-off fix. */
static bool is_modelled(struct rules rules)
{
    return rules_on(rules, RULE_A2) && rules_on(rules, RULE_A9) && rules_on(rules, RULE_A10) &&
           rules_on(rules, RULE_S13);
}

void stage_check_reference(struct stage *stage)
{
    const struct commit_log *log = &stage->commits;
    if (!is_modelled(stage->rules) || stage->result->snapshot_count == 0)
        return;
    if (log->exhausted) {
        run_fail(stage->result, "internal", "", "no memory for the commit log");
        return;
    }
    struct replay replay = {.stage = stage,
                            .ref = ref_new(&stage->scenario->settings, stage->rules)};
    for (size_t i = 0; i < log->count && !replay.broken;) {
        size_t next = i;
        while (next < log->count && log->entries[next].transaction == log->entries[i].transaction)
            next++;
        replay_messages(&replay, log->entries + i, next - i);
        replay_rollup(&replay, log->entries + i, next - i);
        replay_drift(&replay, log->entries + i, next - i);
        for (size_t k = i; k < next; k++)
            replay_entry(&replay, &log->entries[k]);
        i = next;
    }
    if (!replay.broken)
        compare(&replay);
    ref_free(replay.ref);
}

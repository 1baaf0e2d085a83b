/* A moment of a run as tables: the database's, and what the world saw (outcomes, dead letters,
 * queue, counters). */
#include "sim/run/stage.h"

#include "core/base/assert.h"
#include "sim/run/dump.h"
#include <stdio.h>
#include <string.h>

#define WORLD_TABLES 4

static const char *tenant_name(void *context, const struct uuid *uuid)
{
    return names_of_tenant(context, uuid);
}

static const char *hash_name(void *context, struct bytes hash)
{
    struct sha256 value;
    ASSERT(hash.size == sizeof(value.bytes));
    memcpy(value.bytes, hash.data, sizeof(value.bytes));
    return names_of(context, &value);
}

static bool add_outcome(struct table *table, struct arena *arena, const char *tenant,
                        const char *kind, const char *outcome, uint64_t count)
{
    if (count == 0)
        return true;
    const char *cells[] = {tenant, kind, outcome, cell_int(arena, (int64_t)count)};
    return cells[3] != NULL && table_add(table, cells);
}

static struct table *outcomes(struct stage *stage, struct arena *arena)
{
    static const char *const columns[] = {"tenant", "of", "outcome", "count"};
    struct table *table = table_new(arena, "outcomes", 3, columns, 4);
    size_t count;
    const struct uuid *tenants = meters_tenants(stage->meters, &count);
    for (size_t i = 0; table != NULL && i < count; i++) {
        const char *tenant = names_of_tenant(stage->names, &tenants[i]);
        for (int outcome = 0; outcome < POINT_OUTCOME_COUNT; outcome++)
            if (!add_outcome(
                    table, arena, tenant, "point", point_outcome_name((enum point_outcome)outcome),
                    meters_points(stage->meters, &tenants[i], (enum point_outcome)outcome)))
                return NULL;
        for (int outcome = 0; outcome < MESSAGE_OUTCOME_COUNT; outcome++)
            if (!add_outcome(
                    table, arena, tenant, "message",
                    message_outcome_name((enum message_outcome)outcome),
                    meters_messages(stage->meters, &tenants[i], (enum message_outcome)outcome)))
                return NULL;
    }
    return table;
}

/* Without the error's text, which is the backend's own: reason and SQLSTATE say what happened. */
static struct table *dead_letters(struct stage *stage, struct arena *arena)
{
    static const char *const columns[] = {"sequence", "msg_id",     "tenant", "reason",
                                          "sqlstate", "deliveries", "time"};
    struct table *table = table_new(arena, "dlq", 1, columns, 7);
    for (size_t i = 0; table != NULL && i < queue_dead_count(stage->queue); i++) {
        const struct queue_dead_letter *letter = queue_dead_letter_at(stage->queue, i);
        const char *cells[] = {
            cell_int(arena, (int64_t)letter->sequence),
            cell_text(arena, letter->msg_id),
            names_of_tenant(stage->names, &letter->tenant),
            message_outcome_name(letter->reason),
            letter->sqlstate,
            cell_int(arena, letter->deliveries),
            cell_time_ns(arena, letter->time_ns),
        };
        if (cells[0] == NULL || cells[1] == NULL || cells[5] == NULL || cells[6] == NULL ||
            !table_add(table, cells))
            return NULL;
    }
    return table;
}

static struct table *queued(struct stage *stage, struct arena *arena)
{
    static const char *const columns[] = {"sequence", "msg_id", "tenant", "state", "deliveries"};
    struct table *table = table_new(arena, "queue", 1, columns, 5);
    (void)queue_depth(stage->queue); /* settles what has become due */
    for (uint64_t i = 1; table != NULL && i <= queue_last_sequence(stage->queue); i++) {
        const struct queue_message *message = queue_message_at(stage->queue, i);
        if (message->state == QUEUE_ACKNOWLEDGED)
            continue;
        const char *cells[] = {
            cell_int(arena, (int64_t)i),
            cell_text(arena, message->msg_id),
            names_of_tenant(stage->names, &message->tenant),
            queue_state_name(message->state),
            cell_int(arena, message->deliveries),
        };
        if (cells[0] == NULL || cells[1] == NULL || cells[4] == NULL || !table_add(table, cells))
            return NULL;
    }
    return table;
}

static struct table *counters(struct stage *stage, struct arena *arena)
{
    static const char *const columns[] = {"counter", "count"};
    struct table *table = table_new(arena, "counters", 1, columns, 2);
    for (int i = 0; table != NULL && i < COUNTER_COUNT; i++) {
        uint64_t count = meters_counter(stage->meters, (enum counter)i);
        const char *cells[] = {counter_name((enum counter)i), cell_int(arena, (int64_t)count)};
        if (count > 0 && (cells[1] == NULL || !table_add(table, cells)))
            return NULL;
    }
    return table;
}

static bool append(struct snapshot *snapshot, struct table *table)
{
    if (table == NULL)
        return false;
    table_sort(table);
    snapshot->tables[snapshot->table_count++] = *table;
    return true;
}

enum status stage_tables(struct stage *stage, struct arena *arena, struct snapshot *out,
                         struct err *err)
{
    struct dump_names names = {.tenant = tenant_name, .hash = hash_name, .context = stage->names};
    *out = (struct snapshot){0};
    out->tables = arena_array(arena, dump_table_count + WORLD_TABLES, sizeof(*out->tables));
    struct backend_session *session = stage->backend->session_new(stage->backend, "snapshot");
    enum status status = STATUS_NO_MEMORY;
    if (out->tables != NULL && session != NULL)
        status = dump_store(stage->backend->session_store(session), &names, arena, out, err);
    if (session != NULL)
        stage->backend->session_free(session);
    if (status == STATUS_OK &&
        (!append(out, outcomes(stage, arena)) || !append(out, dead_letters(stage, arena)) ||
         !append(out, queued(stage, arena)) || !append(out, counters(stage, arena))))
        status = STATUS_NO_MEMORY;
    if (status == STATUS_NO_MEMORY)
        err_set(err, status, NULL, "the tables are too large to show");
    return status;
}

enum status stage_snapshot(struct stage *stage, const char *label, struct err *err)
{
    struct run_result *result = stage->result;
    struct snapshot *grown =
        arena_array(&result->arena, result->snapshot_count + 1, sizeof(*grown));
    if (grown == NULL)
        return err_set(err, STATUS_NO_MEMORY, NULL, "too many goldens");
    if (result->snapshot_count > 0)
        memcpy(grown, result->snapshots, result->snapshot_count * sizeof(*grown));
    result->snapshots = grown;
    struct snapshot *snapshot = &grown[result->snapshot_count];
    enum status status = stage_tables(stage, &result->arena, snapshot, err);
    if (status != STATUS_OK)
        return status;
    snapshot->label = arena_copy(&result->arena, label, strlen(label));
    if (snapshot->label == NULL)
        return err_set(err, STATUS_NO_MEMORY, NULL, "too many goldens");
    result->snapshot_count++;
    return STATUS_OK;
}

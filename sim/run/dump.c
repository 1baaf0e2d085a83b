#include "sim/run/dump.h"

#include "core/base/assert.h"
#include "core/base/time.h"
#include "core/store/store.h"
#include <stdio.h>
#include <string.h>

struct dumped {
    const char *table;
    size_t key_count;
    enum query_id query;
};

static const struct dumped dumped[] = {
    {"metrics_minute", 7, QUERY_DUMP_METRICS_MINUTE},
    {"metrics_hourly", 7, QUERY_DUMP_METRICS_HOURLY},
    {"metrics_daily", 7, QUERY_DUMP_METRICS_DAILY},
    {"series_state", 3, QUERY_DUMP_SERIES_STATE},
    {"resource_seen", 3, QUERY_DUMP_RESOURCE_SEEN},
    {"ingest_dedup", 1, QUERY_DUMP_INGEST_DEDUP},
    {"route_registry", 4, QUERY_DUMP_ROUTE_REGISTRY},
    {"ingest_warnings", 3, QUERY_DUMP_INGEST_WARNINGS},
    {"rollup_pending", 2, QUERY_DUMP_ROLLUP_PENDING},
    {"tenants", 1, QUERY_DUMP_TENANTS},
    {"minute_partitions", 1, QUERY_LIST_MINUTE_PARTITIONS},
    {"hourly_partitions", 1, QUERY_LIST_HOURLY_PARTITIONS},
};
#define DUMPED (sizeof(dumped) / sizeof(dumped[0]))

const size_t dump_table_count = DUMPED;
size_t dump_key_count(const char *table)
{
    for (size_t i = 0; i < DUMPED; i++)
        if (strcmp(dumped[i].table, table) == 0)
            return dumped[i].key_count;
    return 0;
}

static bool ends_with(const char *text, const char *end)
{
    size_t size = strlen(text);
    size_t end_size = strlen(end);
    return size >= end_size && strcmp(text + size - end_size, end) == 0;
}

static const char *cell(const struct query_column *column, const struct value *value,
                        const struct dump_names *names, struct arena *arena)
{
    struct uuid uuid;
    switch (column->type) {
    case VALUE_INT:
        return ends_with(column->name, "_unix_nano") ? cell_time_ns(arena, value->integer)
                                                     : cell_int(arena, value->integer);
    case VALUE_BOOL:
        return value->integer != 0 ? "true" : "false";
    case VALUE_TIME:
        return cell_time_us(arena, value->integer);
    case VALUE_DATE:
        return cell_day(arena, value->integer);
    case VALUE_FLOAT:
        return cell_double(arena, value->number);
    case VALUE_TEXT:
        return cell_text(arena, value->bytes);
    case VALUE_BYTES:
        return names->hash(names->context, value->bytes);
    case VALUE_UUID:
        ASSERT(value->bytes.size == sizeof(uuid.bytes));
        memcpy(uuid.bytes, value->bytes.data, sizeof(uuid.bytes));
        return names->tenant(names->context, &uuid);
    case VALUE_BUCKETS:
        return cell_buckets(arena, value->buckets);
    }
    ASSERT(false);
    return NULL;
}

static enum status no_memory(struct err *err)
{
    return err_set(err, STATUS_NO_MEMORY, NULL, "the tables are too large to show");
}

static enum status dump_table(struct store *store, const struct dumped *which,
                              const struct dump_names *names, struct arena *arena,
                              struct snapshot *snapshot, struct err *err)
{
    const struct query *query = &queries[which->query];
    struct value *values;
    size_t row_count;
    enum status status = store_dump(store, which->query, arena, &values, &row_count, err);
    if (status != STATUS_OK)
        return status;
    const char *columns[TABLE_COLUMNS_MAX];
    size_t width = (size_t)query->result_count;
    ASSERT(width <= TABLE_COLUMNS_MAX);
    for (size_t i = 0; i < width; i++)
        columns[i] = query->results[i].name;
    struct table *table = table_new(arena, which->table, which->key_count, columns, width);
    if (table == NULL)
        return no_memory(err);
    for (size_t row = 0; row < row_count; row++) {
        const char *cells[TABLE_COLUMNS_MAX];
        for (size_t i = 0; i < width; i++) {
            cells[i] = cell(&query->results[i], &values[row * width + i], names, arena);
            if (cells[i] == NULL)
                return no_memory(err);
        }
        if (!table_add(table, cells))
            return no_memory(err);
    }
    table_sort(table);
    snapshot->tables[snapshot->table_count++] = *table;
    return STATUS_OK;
}

enum status dump_store(struct store *store, const struct dump_names *names, struct arena *arena,
                       struct snapshot *snapshot, struct err *err)
{
    enum status status = store_begin(store, ROLE_READER, err);
    for (size_t i = 0; i < DUMPED && status == STATUS_OK; i++)
        status = dump_table(store, &dumped[i], names, arena, snapshot, err);
    store_rollback(store);
    return status;
}

#include "tests/sim/ref/compare.h"

#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define ROW_VALUES 12
#define TEXT_SIZE  1024

static char difference[4 * TEXT_SIZE];

static void value_text(enum value_type type, const struct value *value, char *out, size_t size)
{
    char hex[2 * 32 + 1];
    size_t used = 0;
    switch (type) {
    case VALUE_TEXT:
        snprintf(out, size, "%.*s", (int)value->bytes.size, (const char *)value->bytes.data);
        return;
    case VALUE_BYTES:
    case VALUE_UUID:
        ck_assert_uint_le(value->bytes.size, 32);
        hex_format(value->bytes.data, value->bytes.size, hex);
        snprintf(out, size, "%s", hex);
        return;
    case VALUE_FLOAT:
        snprintf(out, size, "%a", value->number);
        return;
    case VALUE_BUCKETS:
        for (int i = 0; i < HISTOGRAM_BUCKETS && used < size; i++)
            used += (size_t)snprintf(out + used, size - used, "%s%" PRId64, i ? "," : "",
                                     value->buckets->counts[i]);
        return;
    default:
        snprintf(out, size, "%" PRId64, value->integer);
    }
}

static void row_text(const struct query *query, const struct value *row, char out[TEXT_SIZE])
{
    size_t used = 0;
    for (int c = 0; c < query->result_count; c++) {
        char cell[TEXT_SIZE / 2];
        value_text(query->results[c].type, &row[c], cell, sizeof cell);
        used +=
            (size_t)snprintf(out + used, TEXT_SIZE - used, "%s=%s ", query->results[c].name, cell);
        ck_assert_uint_lt(used, TEXT_SIZE);
    }
}

/* ---- the model's rows as values, in the columns of the Dump queries ---- */

static struct value integer(int64_t value)
{
    return (struct value){.integer = value};
}

static struct value uuid_value(const struct uuid *uuid)
{
    return (struct value){.bytes = {uuid->bytes, 16}};
}

static struct value text(const char *string)
{
    return (struct value){.bytes = bytes_of(string)};
}

static void metric_values(const struct ref_metric_row *row, struct histogram *buckets,
                          struct value *out)
{
    memcpy(buckets->counts, row->counts, sizeof row->counts);
    out[0] = uuid_value(&row->tenant);
    out[1] = integer(row->bucket_start_us);
    out[2].bytes = row->service;
    out[3].bytes = row->method;
    out[4].bytes = row->route;
    out[5] = integer(row->status_code);
    out[6] = text(row->source);
    out[7].buckets = buckets;
    out[8].number = row->sum;
    out[9] = integer(row->count);
    out[10] = integer(row->lossy);
}

/* Row n of the model's table; false behind the last. */
static bool model_row(struct ref *ref, enum query_id query, size_t n, struct histogram *buckets,
                      struct value *out)
{
    const struct ref_metric_row *metrics;
    const struct ref_series_row *series;
    const struct ref_resource_row *resources;
    const struct ref_dedup_row *dedup;
    const struct ref_route_row *routes;
    const struct ref_warning_row *warnings;
    const struct ref_mark_row *marks;
    size_t count = 0;
    switch (query) {
    case QUERY_DUMP_METRICS_MINUTE:
    case QUERY_DUMP_METRICS_HOURLY:
    case QUERY_DUMP_METRICS_DAILY:
        count = query == QUERY_DUMP_METRICS_MINUTE   ? ref_metrics_minute(ref, &metrics)
                : query == QUERY_DUMP_METRICS_HOURLY ? ref_metrics_hourly(ref, &metrics)
                                                     : ref_metrics_daily(ref, &metrics);
        if (n < count)
            metric_values(&metrics[n], buckets, out);
        break;
    case QUERY_DUMP_SERIES_STATE:
        count = ref_series_state(ref, &series);
        if (n < count) {
            memcpy(buckets->counts, series[n].last_counts, sizeof series[n].last_counts);
            out[0] = uuid_value(&series[n].tenant);
            out[1].bytes = (struct bytes){series[n].series_hash, 32};
            out[2] = integer(series[n].start_unix_nano);
            out[3] = integer(series[n].last_unix_nano);
            out[4] = integer(series[n].last_count);
            out[5].number = series[n].last_sum;
            out[6].buckets = buckets;
            out[7] = integer(series[n].last_seen_at_us);
            out[8] = integer(series[n].baseline);
        }
        break;
    case QUERY_DUMP_RESOURCE_SEEN:
        count = ref_resource_seen(ref, &resources);
        if (n < count) {
            out[0] = uuid_value(&resources[n].tenant);
            out[1].bytes = (struct bytes){resources[n].resource_hash, 32};
            out[2] = integer(resources[n].start_unix_nano);
            out[3] = integer(resources[n].first_seen_at_us);
            out[4] = integer(resources[n].last_seen_at_us);
            out[5] = integer(resources[n].first_point_unix_nano);
        }
        break;
    case QUERY_DUMP_INGEST_DEDUP:
        count = ref_ingest_dedup(ref, &dedup);
        if (n < count) {
            out[0].bytes = dedup[n].msg_id;
            out[1] = uuid_value(&dedup[n].tenant);
            out[2] = integer(dedup[n].applied_at_us);
        }
        break;
    case QUERY_DUMP_ROUTE_REGISTRY:
        count = ref_route_registry(ref, &routes);
        if (n < count) {
            out[0] = uuid_value(&routes[n].tenant);
            out[1] = integer(routes[n].day);
            out[2].bytes = routes[n].service;
            out[3].bytes = routes[n].route;
            out[4] = integer(routes[n].created_at_us);
        }
        break;
    case QUERY_DUMP_INGEST_WARNINGS:
        count = ref_ingest_warnings(ref, &warnings);
        if (n < count) {
            out[0] = uuid_value(&warnings[n].tenant);
            out[1] = integer(warnings[n].day);
            out[2] = text(warnings[n].kind);
            out[3] = integer(warnings[n].count);
        }
        break;
    case QUERY_DUMP_ROLLUP_PENDING:
        count = ref_rollup_pending(ref, &marks);
        if (n < count) {
            out[0] = uuid_value(&marks[n].tenant);
            out[1] = integer(marks[n].hour_us);
            out[2] = integer(marks[n].marked_at_us);
        }
        break;
    default:
        ck_abort_msg("%s is no table of the model", queries[query].name);
    }
    return n < count;
}

static bool table_differs(struct ref *ref, struct store *store, enum query_id query)
{
    struct arena arena;
    struct err err = {0};
    arena_init(&arena, 64 * 1024 * 1024);
    struct store_call call = {.query = query, .arena = &arena};
    ck_assert_msg(store->call(store, &call, &err) == STATUS_OK, "%s", err.message);
    bool differs = false;
    for (size_t n = 0;; n++) {
        struct value values[ROW_VALUES];
        struct histogram buckets;
        char expected[TEXT_SIZE] = "no row", got[TEXT_SIZE] = "no row";
        bool is_there = model_row(ref, query, n, &buckets, values);
        if (is_there)
            row_text(&queries[query], values, expected);
        if (n < call.result_rows)
            row_text(&queries[query], &call.results[n * (size_t)queries[query].result_count], got);
        else if (!is_there)
            break;
        if (strcmp(expected, got) != 0) {
            snprintf(difference, sizeof difference, "%s row %zu\n  model %s\n  store %s",
                     queries[query].name, n, expected, got);
            differs = true;
            break;
        }
    }
    arena_free(&arena);
    return differs;
}

const char *compare_tables(struct ref *ref, struct store *store)
{
    static const enum query_id tables[] = {
        QUERY_DUMP_INGEST_DEDUP,   QUERY_DUMP_SERIES_STATE,   QUERY_DUMP_RESOURCE_SEEN,
        QUERY_DUMP_METRICS_MINUTE, QUERY_DUMP_ROLLUP_PENDING, QUERY_DUMP_ROUTE_REGISTRY,
        QUERY_DUMP_METRICS_HOURLY, QUERY_DUMP_METRICS_DAILY,  QUERY_DUMP_INGEST_WARNINGS};
    struct err err = {0};
    difference[0] = '\0';
    ck_assert_int_eq(store_begin(store, ROLE_READER, &err), STATUS_OK);
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
        if (table_differs(ref, store, tables[i]))
            break;
    store_rollback(store);
    return difference;
}

#include "tests/sim/sqlite/ops.h"

#include "core/base/assert.h"
#include "core/base/time.h"
#include <stdio.h>
#include <string.h>

#define HOUR_US (INT64_C(3600) * 1000000)

/* What an argument, or a constant, means for a parameter of the query. */
enum source_of {
    TENANT,   /* the one tenant */
    ARG,      /* the argument as it is */
    TIME_ARG, /* minutes after the base */
    HOUR_ARG, /* hours after the base */
    DAY,      /* the base's day */
    DAY_ARG,  /* days after the base's day */
    HASH_ARG, /* 32 bytes of the argument */
    NAME_ARG, /* "n1" */
    KIND_ARG, /* of a warning */
    STATUS_ARG,
    FIXED_INT,
    FIXED_TIME, /* minutes after the base */
    FIXED_TEXT,
    ONE, /* a histogram with one request in the bucket of the argument */
    ARG_SET,
    SUM_ARG,
    MIN_TIME,
    NO_TENANT,
};

struct op_param {
    enum source_of source;
    int64_t value; /* number of the argument, or the constant */
    const char *text;
};
struct op_kind {
    const char *name;
    enum query_id query;
    struct op_param params[QUERY_COLUMNS_MAX];
};

static const struct op_kind kinds[] = {
    {"begin", QUERY_BEGIN, {{FIXED_INT, ROLE_METRICS_WRITER, NULL}}},
    {"commit", QUERY_COMMIT, {{0}}},
    {"rollback", QUERY_ROLLBACK, {{0}}},
    {"record",
     QUERY_RECORD_INGEST_MESSAGE,
     {{NAME_ARG, 0, NULL}, {TENANT, 0, NULL}, {TIME_ARG, 1, NULL}}},
    {"mark",
     QUERY_MARK_ROLLUP_PENDING,
     {{TENANT, 0, NULL}, {HOUR_ARG, 0, NULL}, {TIME_ARG, 1, NULL}}},
    {"restore",
     QUERY_RESTORE_ROLLUP_MARK,
     {{TENANT, 0, NULL}, {HOUR_ARG, 0, NULL}, {TIME_ARG, 1, NULL}}},
    {"route",
     QUERY_REGISTER_ROUTE,
     {{TENANT, 0, NULL},
      {DAY_ARG, 1, NULL},
      {FIXED_TEXT, 0, "s"},
      {NAME_ARG, 0, NULL},
      {FIXED_TIME, 0, NULL}}},
    {"minute",
     QUERY_ADD_MINUTE,
     {{TENANT, 0, NULL},
      {HOUR_ARG, 0, NULL},
      {FIXED_TEXT, 0, "s"},
      {FIXED_TEXT, 0, "GET"},
      {FIXED_TEXT, 0, "/"},
      {FIXED_INT, 200, NULL},
      {FIXED_TEXT, 0, "metric"},
      {ONE, 1, NULL},
      {SUM_ARG, 1, NULL},
      {FIXED_INT, 1, NULL},
      {FIXED_INT, 0, NULL}}},
    {"warn",
     QUERY_ADD_INGEST_WARNING,
     {{TENANT, 0, NULL}, {DAY, 0, NULL}, {KIND_ARG, 0, NULL}, {ARG, 1, NULL}}},
    {"seen",
     QUERY_TOUCH_RESOURCE,
     {{TENANT, 0, NULL},
      {HASH_ARG, 0, NULL},
      {FIXED_INT, 7, NULL},
      {TIME_ARG, 1, NULL},
      {ARG, 1, NULL}}},
    {"state",
     QUERY_UPSERT_SERIES_STATE,
     {{TENANT, 0, NULL},
      {HASH_ARG, 0, NULL},
      {FIXED_INT, 7, NULL},
      {ARG, 1, NULL},
      {FIXED_INT, 1, NULL},
      {SUM_ARG, 1, NULL},
      {ONE, 0, NULL},
      {TIME_ARG, 1, NULL},
      {FIXED_INT, 0, NULL},
      {FIXED_INT, 1, NULL},
      {ARG_SET, 2, NULL},
      {ARG, 2, NULL}}},
    {"claim",
     QUERY_CLAIM_ROLLUP_HOURS,
     {{MIN_TIME, 0, NULL}, {NO_TENANT, 0, NULL}, {ARG, 0, NULL}}},
    {"delhour", QUERY_DELETE_HOURLY_ROWS, {{TENANT, 0, NULL}, {HOUR_ARG, 0, NULL}}},
    {"delday", QUERY_DELETE_DAILY_ROWS, {{TENANT, 0, NULL}, {FIXED_TIME, 0, NULL}}},
    {"prunededup", QUERY_PRUNE_INGEST_DEDUP, {{TIME_ARG, 0, NULL}}},
    {"prunestate", QUERY_PRUNE_SERIES_STATE, {{TIME_ARG, 0, NULL}}},
    {"pruneseen", QUERY_PRUNE_RESOURCE_SEEN, {{TIME_ARG, 0, NULL}}},
    {"pruneroutes", QUERY_PRUNE_ROUTE_REGISTRY, {{DAY_ARG, 0, NULL}}},
    {"purge", QUERY_PURGE_TENANT, {{TENANT, 0, NULL}, {FIXED_INT, 99, NULL}, {ARG, 0, NULL}}},
    {"tenant", QUERY_SET_TENANT, {{TENANT, 0, NULL}, {STATUS_ARG, 0, NULL}}},
    {"removed", QUERY_LOCK_TENANT, {{TENANT, 0, NULL}, {FIXED_INT, 99, NULL}}},
    {"rollhour", QUERY_ROLLUP_HOUR, {{TENANT, 0, NULL}, {HOUR_ARG, 0, NULL}}},
    {"rollday",
     QUERY_ROLLUP_DAY,
     {{TENANT, 0, NULL}, {FIXED_TIME, 0, NULL}, {FIXED_TIME, 0, NULL}, {FIXED_TIME, 1440, NULL}}},
    {"drift",
     QUERY_MARK_DRIFTED_HOURS,
     {{FIXED_TIME, 0, NULL}, {FIXED_TIME, 600, NULL}, {TIME_ARG, 0, NULL}, {FIXED_INT, 1, NULL}}},
    {"shared", QUERY_LOCK_ROLLUP_HOUR, {{ARG, 0, NULL}, {TENANT, 0, NULL}, {FIXED_TIME, 0, NULL}}},
    {"exclusive", QUERY_LOCK_ROLLUP_DAY, {{ARG, 0, NULL}}},
    {"try", QUERY_TRY_LOCK_ROLLUP_HOUR, {{ARG, 0, NULL}, {TENANT, 0, NULL}, {FIXED_TIME, 0, NULL}}},
    {"lockminutes", QUERY_LOCK_MINUTE_PARTITIONS, {{0}}},
    {"lockhours", QUERY_LOCK_HOURLY_PARTITIONS, {{0}}},
    {"createminute", QUERY_CREATE_MINUTE_PARTITION, {{DAY_ARG, 0, NULL}}},
    {"createhour", QUERY_CREATE_HOURLY_PARTITION, {{DAY_ARG, 0, NULL}}},
    {"dropminute", QUERY_DROP_MINUTE_PARTITION, {{DAY_ARG, 0, NULL}}},
    {"listminutes", QUERY_LIST_MINUTE_PARTITIONS, {{0}}},
    {"states", QUERY_GET_SERIES_STATES, {{TENANT, 0, NULL}, {HASH_ARG, 0, NULL}}},
    {"dumpdedup", QUERY_DUMP_INGEST_DEDUP, {{0}}},
    {"dumpstate", QUERY_DUMP_SERIES_STATE, {{0}}},
    {"dumpseen", QUERY_DUMP_RESOURCE_SEEN, {{0}}},
    {"dumproutes", QUERY_DUMP_ROUTE_REGISTRY, {{0}}},
    {"dumpwarn", QUERY_DUMP_INGEST_WARNINGS, {{0}}},
    {"dumppending", QUERY_DUMP_ROLLUP_PENDING, {{0}}},
    {"dumpminute", QUERY_DUMP_METRICS_MINUTE, {{0}}},
    {"dumphourly", QUERY_DUMP_METRICS_HOURLY, {{0}}},
    {"dumpdaily", QUERY_DUMP_METRICS_DAILY, {{0}}},
};
static const struct uuid tenant = {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}};
static const struct uuid no_tenant;

struct op op_parse(const char *text)
{
    struct op op = {0};
    char name[32] = "";
    long long args[3] = {0};
    int count = sscanf(text, "%31[a-z] %lld %lld %lld", name, &args[0], &args[1], &args[2]);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i].name, name) == 0)
            op.kind = &kinds[i];
    ASSERT(count >= 1 && op.kind);
    for (int i = 0; i < 3; i++)
        op.args[i] = args[i];
    return op;
}

const char *op_name(const struct op *op)
{
    return op->kind->name;
}

enum query_id op_query(const struct op *op)
{
    return op->kind->query;
}

void op_print(const struct op *op, char out[64])
{
    snprintf(out, 64, "%s %lld %lld %lld", op->kind->name, (long long)op->args[0],
             (long long)op->args[1], (long long)op->args[2]);
}

static struct bytes text_of(struct op_call *out, const char *prefix, int64_t number)
{
    snprintf(out->text, sizeof out->text, "%s%lld", prefix, (long long)number);
    return bytes_of(out->text);
}

static struct value value_of(const struct op *op, const struct op_param *param, struct op_call *out)
{
    static const char *const warnings[] = {"cardinality_overflow", "coarse_buckets",
                                           "lossy_histogram", "secret_in_path", "span_derived"};
    int64_t arg = op->args[param->value < 3 ? param->value : 0];
    switch (param->source) {
    case TENANT:
        return (struct value){.bytes = {tenant.bytes, sizeof tenant}};
    case NO_TENANT:
        return (struct value){.bytes = {no_tenant.bytes, sizeof no_tenant}};
    case ARG:
        return (struct value){.integer = arg};
    case ARG_SET:
        return (struct value){.integer = arg != 0};
    case SUM_ARG:
        return (struct value){.number = (double)arg};
    case TIME_ARG:
        return (struct value){.integer = OPS_BASE_US + arg * 60 * 1000000};
    case FIXED_TIME:
        return (struct value){.integer = OPS_BASE_US + param->value * 60 * 1000000};
    case MIN_TIME:
        return (struct value){.integer = INT64_MIN};
    case HOUR_ARG:
        return (struct value){.integer = OPS_BASE_US + arg * HOUR_US};
    case DAY:
        return (struct value){.integer = OPS_DAY};
    case DAY_ARG:
        return (struct value){.integer = OPS_DAY + arg};
    case HASH_ARG:
        memset(out->hash, (int)arg, sizeof out->hash);
        return (struct value){.bytes = {out->hash, sizeof out->hash}};
    case NAME_ARG:
        return (struct value){.bytes = text_of(out, "n", arg)};
    case KIND_ARG:
        return (struct value){.bytes = bytes_of(warnings[arg % 5])};
    case STATUS_ARG:
        return (struct value){.bytes = bytes_of(arg ? "removed" : "active")};
    case FIXED_INT:
        return (struct value){.integer = param->value};
    case FIXED_TEXT:
        return (struct value){.bytes = bytes_of(param->text)};
    case ONE:
        out->buckets = (struct histogram){0};
        out->buckets.counts[arg % HISTOGRAM_BUCKETS] = 1;
        return (struct value){.buckets = &out->buckets};
    }
    return (struct value){0};
}

void op_build(const struct op *op, struct arena *arena, struct op_call *out)
{
    const struct query *query = &queries[op->kind->query];
    *out = (struct op_call){.call = {.query = op->kind->query, .arena = arena}};
    for (int i = 0; i < query->param_count; i++)
        out->params[i] = value_of(op, &op->kind->params[i], out);
    out->call.params = out->params;
    out->call.row_count = query->param_count > 0;
}

static int put_value(enum value_type type, const struct value *value, char *out, size_t size)
{
    int64_t minutes = (value->integer - OPS_BASE_US) / (60 * 1000000);
    size_t used = 0;
    switch (type) {
    case VALUE_TIME:
        return snprintf(out, size, "%lld", (long long)minutes);
    case VALUE_DATE:
        return snprintf(out, size, "%lld", (long long)(value->integer - OPS_DAY));
    case VALUE_FLOAT:
        return snprintf(out, size, "%g", value->number);
    case VALUE_TEXT:
        return snprintf(out, size, "%.*s", (int)value->bytes.size, (const char *)value->bytes.data);
    case VALUE_BYTES:
        return snprintf(out, size, "#%d", value->bytes.data[0]);
    case VALUE_UUID:
        return snprintf(out, size, "t%d", value->bytes.data[15]);
    case VALUE_BUCKETS:
        out[0] = '\0';
        for (int i = 0; i < HISTOGRAM_BUCKETS; i++)
            if (value->buckets->counts[i] > 0)
                used += (size_t)snprintf(out + used, size - used, "[%d:%lld]", i,
                                         (long long)value->buckets->counts[i]);
        return (int)used;
    default:
        return snprintf(out, size, "%lld", (long long)value->integer);
    }
}

static bool is_shown(const struct query *query, int column)
{
    static const char *const hidden[] = {
        "tenant_id", "service",  "method",     "status_code", "source",      "start_unix_nano",
        "lossy",     "baseline", "last_count", "last_sum",    "last_counts", NULL};
    if (query->result_count == 1)
        return true;
    for (int i = 0; hidden[i]; i++)
        if (strcmp(query->results[column].name, hidden[i]) == 0)
            return false;
    return true;
}

void op_result(const struct op_call *op_call, enum status status, const struct err *err,
               char out[OPS_TEXT_MAX])
{
    const struct store_call *call = &op_call->call;
    const struct query *query = &queries[call->query];
    size_t used = 0;
    if (status) {
        snprintf(out, OPS_TEXT_MAX, "%s", err->sqlstate[0] ? err->sqlstate : err->message);
        return;
    }
    if (query->result_count == 0) {
        bool counted = query->kind == QUERY_KIND_INSERT || query->kind == QUERY_KIND_UPSERT ||
                       query->kind == QUERY_KIND_DELETE || query->kind == QUERY_KIND_SELECT_IN;
        snprintf(out, OPS_TEXT_MAX, counted ? "%lld" : "ok", (long long)call->affected);
        return;
    }
    snprintf(out, OPS_TEXT_MAX, "none");
    for (size_t row = 0; row < call->result_rows; row++) {
        const char *gap = row > 0 ? " " : "";
        for (int i = 0; i < query->result_count; i++) {
            if (!is_shown(query, i))
                continue;
            size_t at = row * (size_t)query->result_count + (size_t)i;
            used += (size_t)snprintf(out + used, OPS_TEXT_MAX - used, "%s", gap);
            used += (size_t)put_value(query->results[i].type, &call->results[at], out + used,
                                      OPS_TEXT_MAX - used);
            ASSERT(used < OPS_TEXT_MAX);
            gap = ":";
        }
    }
}

/* The words of the language that are no statements. */
#include "sim/scenario/parser.h"

const char *const scenario_tables[SCENARIO_TABLES] = {
    "metrics_minute", "metrics_hourly", "metrics_daily",   "series_state",   "resource_seen",
    "ingest_dedup",   "route_registry", "ingest_warnings", "rollup_pending",
};
const char *const scenario_parts[SCENARIO_PARTS] = {"outcomes", "dlq", "queue"};
const char *const job_kinds[SCENARIO_JOB_KINDS] = {"rollup", "partition", "retention"};
const char *const fence_names[4] = {"writers", "rollup", "partition", "retention"};
const char *const level_names[3] = {"minute", "hourly", "daily"};
const char *const temporality_names[3] = {"unspecified", "delta", "cumulative"};
const char *const source_names[2] = {"metric", "span"};
const char *const type_names[5] = {"histogram", "gauge", "sum", "exponential", "summary"};
const char *const queue_settings[3] = {"ack", "age", "dedup"};

/* What OpenTelemetry SDKs use when they are not told otherwise: meant for milliseconds. */
const double milliseconds_bounds[15] = {0,   5,   10,   25,   50,   75,   100,  250,
                                        500, 750, 1000, 2500, 5000, 7500, 10000};

/* Every bound of core, in one place. Those of MS are contract, the others are ours. */
#ifndef CORE_BASE_LIMITS_H
#define CORE_BASE_LIMITS_H

/* MS "Metric tables", in bytes */
#define LIMIT_SERVICE_BYTES 128
#define LIMIT_METHOD_BYTES  16
#define LIMIT_ROUTE_BYTES   1024
#define LIMIT_MSG_ID_BYTES  256

/* R-DEC-1 */
#define LIMIT_PAYLOAD_BYTES (1024 * 1024)
/* the arena of one message: a multiple of its size, plus room for a small one */
#define LIMIT_DECODE_FACTOR     48
#define LIMIT_DECODE_BASE_BYTES (256 * 1024)
/* explicit bounds of one point; more are refused as rejected_shape */
#define LIMIT_SOURCE_BOUNDS 4096

/* OTLP/JSON: arrays and objects inside each other; the skeleton of a request takes 12 */
#define LIMIT_JSON_DEPTH 64
/* memory for the identities a decoder remembers, and how many (core/otlp/cache.h) */
#define LIMIT_CACHE_BYTES   (32 * 1024 * 1024)
#define LIMIT_CACHE_ENTRIES 65536
/* scratch that a decoder keeps for the next message; a larger one is given back */
#define LIMIT_DECODE_KEEP_BYTES (1024 * 1024)

/* R-TX-2 (S-9): hour locks a transaction may take */
#define LIMIT_HOURS_PER_TX 1000
/* R-DEC-5 */
#define LIMIT_POINT_AGE_DAYS 7

/* MS "Poison messages", R-Q-3 */
#define LIMIT_DELIVERIES      5
#define LIMIT_GUARD_SECONDS   600
#define LIMIT_GUARD_RETRY_SEC 80

/* MS "Jobs tasks" */
#define LIMIT_CLAIM_HOURS          500
#define LIMIT_DRIFT_WINDOW_HOURS   24
#define LIMIT_DEDUP_DAYS           8
#define LIMIT_STATE_IDLE_DAYS      7
#define LIMIT_ROUTE_REGISTRY_DAYS  8
#define LIMIT_MINUTE_DAYS_AHEAD    7
#define LIMIT_HOURLY_MONTHS_AHEAD  3
#define LIMIT_MIN_MINUTE_DAYS      8
#define LIMIT_MIN_HOURLY_MONTHS    24

/* rows of one store call: its parameters live on the caller's stack */
#define LIMIT_CALL_ROWS 64

/* messages of one import: each takes some hundred bytes beside its payload */
#define LIMIT_IMPORT_MESSAGES 1000000

/* memory of one batch */
#define LIMIT_BATCH_MESSAGES    1000
#define LIMIT_BATCH_ARENA_BYTES (512 * 1024 * 1024)

#endif

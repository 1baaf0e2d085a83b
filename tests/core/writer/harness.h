/* A writer with its ports in a test's hand: a real SQLite store in a file of its own, a queue, a
 * clock, a meter and a fence that do what the test says, and faults between the writer and the
 * store.
 *
 *   struct harness *h = harness_new("-A-6");      rules, as rules_parse takes them
 *   h->settings.series_per_tenant_max = 2;        before the first run
 *   SEND(h, "m1", {.start = 0, .time = 60, .n = 10}, {...});
 *   run(h);                                       one batch
 *   ck_assert_int_eq(minute(h, 1), 10);
 *   harness_free(h);
 *
 * Times of points and of the clock are seconds after T0. The clock starts at 0.
 */
#ifndef TESTS_CORE_WRITER_HARNESS_H
#define TESTS_CORE_WRITER_HARNESS_H

#include "core/base/time.h"
#include "core/store/sqlite/sqlite_store.h"
#include "core/store/store.h"
#include "core/writer/writer.h"
#include <check.h>
#include <stdlib.h>
#include <string.h>

#define T0_NS INT64_C(1773144000000000000) /* 2026-03-10T12:00:00Z */
#define DAY_S 86400

#define ACME "6f1c2c9e-7a51-4d0e-9d55-0a5d0c5b7b11" /* the tenant of a point that names none */
#define ZETA "f2b9a1c4-0b1d-4c3e-8f6a-5d7e9b8c7a60"

/* A point. What is zero or NULL takes the default in brackets. */
struct test_point {
    int64_t start; /* seconds after T0 */
    int64_t time;
    int64_t start_ns; /* nanoseconds more */
    int64_t time_ns;
    uint64_t n;             /* requests, all in */
    int bucket;             /* this canonical bucket, 1-based [3] */
    const uint64_t *counts; /* instead of n and bucket: count_count of them [15] */
    size_t count_count;
    uint64_t count;       /* what the point says [the sum of its counts] */
    const double *bounds; /* [the canonical ones] */
    size_t bound_count;
    bool no_buckets; /* neither bounds nor counts */
    double sum;
    bool no_sum;
    bool delta; /* [cumulative] */
    bool span;  /* the span-derived metric */
    bool redacted;
    uint32_t flags;
    const char *process; /* service.instance.id ["p1"] */
    const char *service; /* ["shop"] */
    const char *method;  /* ["GET"] */
    const char *route;   /* ["/cart"] */
    size_t route_size;   /* [strlen] */
    int64_t status;      /* [200] */
};

#define FAULTS_MAX   8
#define MESSAGES_MAX 512
#define CALLS_MAX    512

enum message_state { MESSAGE_READY, MESSAGE_ACKED };

struct test_message {
    struct delivery delivery;
    char id[LIMIT_MSG_ID_BYTES + 2];
    uint8_t *payload;
    enum message_state state;
    int64_t visible_ns;
    int64_t delay_ns; /* of the last retry; 0: never put back */
};

struct test_letter {
    enum message_outcome reason;
    const char *id;
    char sqlstate[6];
    char message[256];
    int deliveries;
};

/* An error at a query: not made, or made and its reply lost. Without a SQLSTATE the call is made
 * and says one row less. */
struct test_fault {
    enum query_id query;
    const char *sqlstate;
    const char *text; /* only calls with this text among their parameters; NULL: any */
    int skip;         /* calls to let pass first */
    int times;        /* how often; 0 when spent */
    bool after;       /* the call is made first */
};

struct harness {
    struct settings settings;
    struct rules rules;
    int64_t now_s;
    int64_t now_ns;     /* on top of now_s */
    const char *tenant; /* of what SEND sends */
    bool stale;         /* the fence says so */
    bool dlq_fails;
    bool ack_fails;

    /* what happened */
    uint64_t points[POINT_OUTCOME_COUNT];
    uint64_t outcomes[MESSAGE_OUTCOME_COUNT];
    uint64_t judged[POINT_OUTCOME_COUNT]; /* told inside transactions, committed or not */
    uint64_t judged_count;
    uint64_t skipped_metrics;
    struct test_letter letters[MESSAGES_MAX];
    size_t letter_count;
    enum query_id calls[CALLS_MAX]; /* since the last run began */
    size_t call_count;
    char last_log[2048];

    struct test_message *messages;
    size_t message_count;
    struct test_fault faults[FAULTS_MAX];
    size_t fault_count;

    /* inside */
    struct clock clock;
    struct consumer consumer;
    struct fence fence;
    struct meter meter;
    struct log log;
    struct store store;
    struct store *inner;
    struct sqlite_database *database;
    sqlite3 *eyes; /* a second connection, to look */
    char folder[64];
    char path[96];
    struct writer *writer;
};

struct harness *harness_new(const char *rules);
void harness_free(struct harness *h);

/* Encodes points as one OTLP request; malloc'ed. tenant: 36 characters, or NULL for none. */
uint8_t *test_request(const char *tenant, const struct test_point *points, size_t count,
                      size_t *size);

/* Puts a message at the end of the queue. */
struct test_message *send_points(struct harness *h, const char *id, const struct test_point *points,
                                 size_t count);
struct test_message *send_bytes(struct harness *h, const char *id, const void *payload,
                                size_t size);
#define SEND(h, id, ...)                                                                           \
    send_points(h, id, (const struct test_point[]){__VA_ARGS__},                                   \
                sizeof((const struct test_point[]){__VA_ARGS__}) / sizeof(struct test_point))

/* The message comes once more, as a redelivery does. */
void redeliver(struct test_message *message);

/* One batch; STATUS_OK is asserted. */
void run(struct harness *h);
/* One batch, whatever it returns. */
enum status run_status(struct harness *h);
/* Batches until nothing is ready, moving the clock to what was put back, at most `batches`. */
void drain(struct harness *h, int batches);

/* A new writer process over the same tables. */
void restart(struct harness *h);

void fault(struct harness *h, struct test_fault fault);

/* The first column of the only row, with text parameters in place of %s, numbers of %lld. */
int64_t sql_int(struct harness *h, const char *format, ...) __attribute__((format(printf, 2, 3)));
double sql_double(struct harness *h, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Requests of all tenants in the minute that starts `minute` minutes after T0, and in all minutes.
 */
int64_t minute(struct harness *h, int64_t minute);
int64_t total(struct harness *h);
/* Requests in a canonical bucket, 1-based, of all minute rows. */
int64_t bucket(struct harness *h, int number);
/* A warning's count over all days and tenants. */
int64_t warning(struct harness *h, const char *kind);
/* Calls of a query in the last run. */
size_t calls_of(const struct harness *h, enum query_id query);
/* Calls the harness's own store, in a transaction of its own. */
void set_tenant(struct harness *h, const char *tenant, const char *status);
/* 8 days back to 8 ahead of T0. */
void make_minute_partitions(struct harness *h);
void drop_minute_partitions(struct harness *h);
struct uuid test_uuid(const char *text);

#endif

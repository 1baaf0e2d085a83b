/* The test ports of the writer. See harness.h. */
#include "tests/core/writer/harness.h"
#include "core/base/assert.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- ports ---- */

#define HARNESS_OF(member, pointer)                                                                \
    ((struct harness *)((char *)(pointer)-offsetof(struct harness, member)))

static int64_t clock_now_ns(struct clock *clock)
{
    const struct harness *h = HARNESS_OF(clock, clock);
    return T0_NS + h->now_s * NS_PER_S + h->now_ns;
}

static enum status fence_check(struct fence *fence, struct err *err)
{
    if (HARNESS_OF(fence, fence)->stale)
        return err_set(err, STATUS_STALE, NULL, "a newer epoch was raised");
    return STATUS_OK;
}

static enum status consumer_pull(struct consumer *consumer, size_t max, struct arena *arena,
                                 struct delivery **deliveries, size_t *count, struct err *err)
{
    (void)err;
    struct harness *h = HARNESS_OF(consumer, consumer);
    *deliveries = arena_array(arena, max, sizeof **deliveries);
    *count = 0;
    for (size_t i = 0; i < h->message_count && *count < max; i++) {
        struct test_message *message = &h->messages[i];
        if (message->state != MESSAGE_READY || message->visible_ns > clock_now_ns(&h->clock))
            continue;
        message->delivery.deliveries++;
        message->visible_ns = INT64_MAX; /* until it is put back */
        (*deliveries)[(*count)++] = message->delivery;
    }
    return STATUS_OK;
}

static enum status consumer_ack(struct consumer *consumer, const struct delivery *delivery,
                                struct err *err)
{
    struct harness *h = HARNESS_OF(consumer, consumer);
    struct test_message *message = delivery->token;
    ck_assert_int_eq(message->state, MESSAGE_READY);
    if (h->ack_fails)
        return err_set(err, STATUS_IO, NULL, "could not acknowledge: the queue is away");
    message->state = MESSAGE_ACKED;
    return STATUS_OK;
}

static enum status consumer_retry(struct consumer *consumer, const struct delivery *delivery,
                                  int64_t delay_ns, struct err *err)
{
    (void)err;
    struct test_message *message = delivery->token;
    ck_assert_int_eq(message->state, MESSAGE_READY);
    message->delay_ns = delay_ns;
    message->visible_ns = clock_now_ns(&HARNESS_OF(consumer, consumer)->clock) + delay_ns;
    return STATUS_OK;
}

static enum status consumer_dead(struct consumer *consumer, const struct delivery *delivery,
                                 const struct dead_letter *dead, struct err *err)
{
    struct harness *h = HARNESS_OF(consumer, consumer);
    if (h->dlq_fails)
        return err_set(err, STATUS_IO, NULL, "could not write to API_DLQ");
    struct test_letter *letter = &h->letters[h->letter_count++];
    letter->reason = dead->reason;
    letter->deliveries = delivery->deliveries;
    ck_assert_int_eq(dead->time_ns, clock_now_ns(&h->clock));
    letter->id = ((struct test_message *)delivery->token)->id;
    snprintf(letter->sqlstate, sizeof letter->sqlstate, "%s", dead->sqlstate);
    snprintf(letter->message, sizeof letter->message, "%s", dead->message);
    return STATUS_OK;
}

static void meter_judged(struct meter *meter, const struct judgement *judgement)
{
    HARNESS_OF(meter, meter)->judged[judgement->outcome]++;
    HARNESS_OF(meter, meter)->judged_count += (uint64_t)judgement->counted;
}

static void meter_points(struct meter *meter, const struct uuid *tenant, enum point_outcome outcome,
                         uint64_t count)
{
    (void)tenant;
    HARNESS_OF(meter, meter)->points[outcome] += count;
}

static void meter_messages(struct meter *meter, const struct uuid *tenant,
                           enum message_outcome outcome, uint64_t count)
{
    (void)tenant;
    HARNESS_OF(meter, meter)->outcomes[outcome] += count;
}

static void meter_add(struct meter *meter, enum counter counter, uint64_t count)
{
    if (counter == COUNTER_SKIPPED_METRICS)
        HARNESS_OF(meter, meter)->skipped_metrics += count;
}

static void log_write(struct log *log, enum log_level level, const char *event, const char *text)
{
    (void)level;
    struct harness *h = HARNESS_OF(log, log);
    snprintf(h->last_log, sizeof h->last_log, "%s %s", event, text);
}

/* ---- the store with faults ---- */

static bool has_text(const struct store_call *call, const char *text)
{
    const struct query *query = &queries[call->query];
    for (size_t row = 0; row < call->row_count; row++)
        for (int p = 0; p < query->param_count; p++) {
            const struct value *value = &call->params[row * (size_t)query->param_count + (size_t)p];
            if (query->params[p].type == VALUE_TEXT && bytes_equal(value->bytes, bytes_of(text)))
                return true;
        }
    return false;
}

static struct test_fault *armed(struct harness *h, const struct store_call *call)
{
    for (size_t i = 0; i < h->fault_count; i++) {
        struct test_fault *f = &h->faults[i];
        if (f->query != call->query || f->times == 0 || (f->text && !has_text(call, f->text)))
            continue;
        if (f->skip > 0) {
            f->skip--;
            continue;
        }
        f->times--;
        return f;
    }
    return NULL;
}

static enum status store_pass(struct store *store, struct store_call *call, struct err *err)
{
    struct harness *h = HARNESS_OF(store, store);
    if (h->call_count < CALLS_MAX)
        h->calls[h->call_count++] = call->query;
    struct test_fault *f = armed(h, call);
    if (f && f->sqlstate && !f->after)
        return err_sql(err, f->sqlstate, "fault at %s", queries[call->query].name);
    enum status status = h->inner->call(h->inner, call, err);
    if (f && f->sqlstate == NULL) {
        call->affected--; /* one row less than was sent */
        return status;
    }
    if (f && status == STATUS_OK)
        return err_sql(err, f->sqlstate, "lost reply of %s", queries[call->query].name);
    return status;
}

void fault(struct harness *h, struct test_fault f)
{
    ck_assert_uint_lt(h->fault_count, FAULTS_MAX);
    h->faults[h->fault_count++] = f;
}

/* ---- life ---- */

static void must(enum status status, const struct err *err)
{
    ck_assert_msg(status == STATUS_OK, "%s: %s", err->sqlstate, err->message);
}

/* The window of MS "Partitions" around T0, one day wider. */
void make_minute_partitions(struct harness *h)
{
    struct err err = {0};
    struct arena arena;
    arena_init(&arena, 1024 * 1024);
    int64_t today = time_div(T0_NS, NS_PER_DAY);
    must(store_begin(h->inner, ROLE_JOBS, &err), &err);
    for (int64_t day = today - 8; day <= today + 8; day++) {
        bool done;
        must(store_create_partition(h->inner, PARTITION_MINUTE, day, &arena, &done, &err), &err);
    }
    must(store_commit(h->inner, &err), &err);
    arena_free(&arena);
}

struct harness *harness_new(const char *rules)
{
    struct err err = {0};
    struct harness *h = calloc(1, sizeof *h);
    ck_assert_ptr_nonnull(h);
    h->settings = settings_default();
    h->rules = rules_default();
    if (rules)
        must(rules_parse(rules, strlen(rules), &h->rules, &err), &err);
    h->tenant = ACME;
    h->messages = calloc(MESSAGES_MAX, sizeof *h->messages);
    h->clock.now_ns = clock_now_ns;
    h->fence.check = fence_check;
    h->consumer = (struct consumer){consumer_pull, consumer_ack, consumer_retry, consumer_dead};
    h->meter = (struct meter){meter_judged, meter_points, meter_messages, meter_add};
    h->log.write = log_write;
    h->store.call = store_pass;
    snprintf(h->folder, sizeof h->folder, "/tmp/metersim-test-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(h->folder));
    snprintf(h->path, sizeof h->path, "%s/db", h->folder);
    must(sqlite_database_open(h->path, DATABASE_CREATE, 1000, &h->database, &err), &err);
    h->inner = sqlite_database_store(h->database);
    ck_assert_int_eq(sqlite3_open_v2(h->path, &h->eyes, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    make_minute_partitions(h);
    return h;
}

void harness_free(struct harness *h)
{
    writer_free(h->writer);
    sqlite3_close(h->eyes);
    sqlite_database_close(h->database);
    for (const char *const *tail = (const char *const[]){"", "-wal", "-shm", "-journal", NULL};
         *tail; tail++) {
        char path[128];
        snprintf(path, sizeof path, "%s%s", h->path, *tail);
        unlink(path);
    }
    rmdir(h->folder);
    for (size_t i = 0; i < h->message_count; i++)
        free(h->messages[i].payload);
    free(h->messages);
    free(h);
}

/* ---- messages ---- */

struct test_message *send_bytes(struct harness *h, const char *id, const void *payload, size_t size)
{
    ck_assert_uint_lt(h->message_count, MESSAGES_MAX);
    struct test_message *message = &h->messages[h->message_count];
    snprintf(message->id, sizeof message->id, "%s", id);
    message->payload = malloc(size + 1);
    ck_assert_ptr_nonnull(message->payload);
    if (size > 0)
        memcpy(message->payload, payload, size);
    message->delivery = (struct delivery){.sequence = ++h->message_count,
                                          .msg_id = bytes_of(message->id),
                                          .subject = bytes_of("metrics.test"),
                                          .tenant = test_uuid(h->tenant),
                                          .payload = {message->payload, size},
                                          .token = message};
    return message;
}

struct test_message *send_points(struct harness *h, const char *id, const struct test_point *points,
                                 size_t count)
{
    size_t size;
    uint8_t *payload = test_request(h->tenant, points, count, &size);
    struct test_message *message = send_bytes(h, id, payload, size);
    free(payload);
    return message;
}

void redeliver(struct test_message *message)
{
    message->state = MESSAGE_READY;
    message->visible_ns = 0;
}

/* ---- running ---- */

enum status run_status(struct harness *h)
{
    struct writer_ports ports = {.clock = &h->clock,
                                 .store = &h->store,
                                 .consumer = &h->consumer,
                                 .fence = &h->fence,
                                 .meter = &h->meter,
                                 .log = &h->log};
    if (!h->writer)
        h->writer = writer_new(&h->settings, h->rules, &ports, PAYLOAD_PROTOBUF);
    ck_assert_ptr_nonnull(h->writer);
    h->call_count = 0;
    size_t pulled;
    struct err err = {0};
    return writer_run_once(h->writer, &pulled, &err);
}

void run(struct harness *h)
{
    ck_assert_int_eq(run_status(h), STATUS_OK);
}

void drain(struct harness *h, int batches)
{
    for (int i = 0; i < batches; i++) {
        int64_t next = INT64_MAX;
        for (size_t m = 0; m < h->message_count; m++)
            if (h->messages[m].state == MESSAGE_READY && h->messages[m].visible_ns < next)
                next = h->messages[m].visible_ns;
        if (next == INT64_MAX)
            return;
        if (next > clock_now_ns(&h->clock))
            h->now_s = (next - T0_NS) / NS_PER_S;
        run(h);
    }
}

void restart(struct harness *h)
{
    writer_free(h->writer);
    h->writer = NULL;
}

/* ---- looking ---- */

static sqlite3_stmt *query_one(struct harness *h, const char *format, va_list args)
{
    char *sql = sqlite3_vmprintf(format, args);
    sqlite3_stmt *statement;
    ck_assert_msg(sqlite3_prepare_v2(h->eyes, sql, -1, &statement, NULL) == SQLITE_OK, "%s: %s",
                  sqlite3_errmsg(h->eyes), sql);
    ck_assert_msg(sqlite3_step(statement) == SQLITE_ROW, "no row: %s", sql);
    sqlite3_free(sql);
    return statement;
}

int64_t sql_int(struct harness *h, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    sqlite3_stmt *statement = query_one(h, format, args);
    va_end(args);
    int64_t value = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return value;
}

double sql_double(struct harness *h, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    sqlite3_stmt *statement = query_one(h, format, args);
    va_end(args);
    double value = sqlite3_column_double(statement, 0);
    sqlite3_finalize(statement);
    return value;
}

int64_t minute(struct harness *h, int64_t minute)
{
    return sql_int(h,
                   "select coalesce(sum(count), 0) from metrics_minute where bucket_start = %lld",
                   (long long)(T0_NS / NS_PER_US + minute * US_PER_MIN));
}

int64_t total(struct harness *h)
{
    return sql_int(h, "select coalesce(sum(count), 0) from metrics_minute");
}

/* Buckets are 15 integers of 8 bytes, little endian. */
int64_t bucket(struct harness *h, int number)
{
    sqlite3_stmt *statement;
    int64_t sum = 0;
    ck_assert(number >= 1 && number <= HISTOGRAM_BUCKETS);
    ck_assert_int_eq(
        sqlite3_prepare_v2(h->eyes, "select counts from metrics_minute", -1, &statement, NULL),
        SQLITE_OK);
    while (sqlite3_step(statement) == SQLITE_ROW) {
        const uint8_t *counts = sqlite3_column_blob(statement, 0);
        ck_assert_int_eq(sqlite3_column_bytes(statement, 0), 8 * HISTOGRAM_BUCKETS);
        for (int byte = 0; byte < 8; byte++)
            sum += (int64_t)((uint64_t)counts[8 * (number - 1) + byte] << (8 * byte));
    }
    sqlite3_finalize(statement);
    return sum;
}

int64_t warning(struct harness *h, const char *kind)
{
    return sql_int(h, "select coalesce(sum(count), 0) from ingest_warnings where kind = '%s'",
                   kind);
}

size_t calls_of(const struct harness *h, enum query_id query)
{
    size_t count = 0;
    for (size_t i = 0; i < h->call_count; i++)
        count += h->calls[i] == query;
    return count;
}

struct uuid test_uuid(const char *text)
{
    struct uuid uuid;
    ck_assert(uuid_parse(bytes_of(text), &uuid));
    return uuid;
}

void set_tenant(struct harness *h, const char *tenant, const char *status)
{
    struct err err = {0};
    struct uuid id = test_uuid(tenant);
    must(store_begin(h->inner, ROLE_CP_SYSTEM, &err), &err);
    must(store_set_tenant(h->inner, &id, status, &err), &err);
    must(store_commit(h->inner, &err), &err);
}

void drop_minute_partitions(struct harness *h)
{
    struct err err = {0};
    struct arena arena;
    arena_init(&arena, 1024 * 1024);
    int64_t today = time_div(T0_NS, NS_PER_DAY);
    must(store_begin(h->inner, ROLE_JOBS, &err), &err);
    for (int64_t day = today - 8; day <= today + 8; day++) {
        bool done;
        must(store_drop_partition(h->inner, PARTITION_MINUTE, day, &arena, &done, &err), &err);
    }
    must(store_commit(h->inner, &err), &err);
    arena_free(&arena);
}

/* Outside the simulator: two writers and the rollup on threads, the real clock, one database file.
 * The code is the one the simulator runs; here the file's own locks order the transactions.
 *
 * Threads assert nothing: they stop at an error and leave it for the test to see.
 */
#include "core/jobs/jobs.h"
#include "tests/core/writer/harness.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

Suite *threads_suite(void);

#define SERIES   8
#define EXPORTS  25 /* cumulative messages, a point a series each */
#define DELTAS   75 /* delta messages */
#define COPIES   2  /* every message is published twice */
#define MESSAGES ((EXPORTS + DELTAS) * COPIES)
#define ROUNDS   100000 /* bound of every loop here */
#define BUSY_MS  20000

enum queue_state { QUEUED, TAKEN, SETTLED };

struct shared_queue {
    pthread_mutex_t mutex;
    struct delivery deliveries[MESSAGES];
    enum queue_state states[MESSAGES];
    char ids[MESSAGES][16];
    int dead;
    atomic_int open; /* not settled yet */
};

/* One writer or the rollup: its own ports, its own connection. */
struct worker {
    struct consumer consumer;
    struct clock clock;
    struct fence fence;
    struct meter meter;
    struct log log;
    struct shared_queue *queue;
    const char *path;
    struct settings settings;
    uint64_t applied;
    uint64_t already_applied;
    bool failed;
    struct err err;
};

static int64_t real_now_ns(struct clock *clock)
{
    (void)clock;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * NS_PER_S + now.tv_nsec;
}

static enum status open_fence(struct fence *fence, struct err *err)
{
    (void)fence, (void)err;
    return STATUS_OK;
}

static enum status queue_pull(struct consumer *consumer, size_t max, struct arena *arena,
                              struct delivery **deliveries, size_t *count, struct err *err)
{
    struct shared_queue *queue = ((struct worker *)consumer)->queue;
    *count = 0;
    *deliveries = arena_array(arena, max, sizeof **deliveries);
    if (!*deliveries)
        return err_set(err, STATUS_NO_MEMORY, NULL, "out of memory");
    pthread_mutex_lock(&queue->mutex);
    for (size_t i = 0; i < MESSAGES && *count < max; i++) {
        if (queue->states[i] != QUEUED)
            continue;
        queue->states[i] = TAKEN;
        queue->deliveries[i].deliveries++;
        (*deliveries)[(*count)++] = queue->deliveries[i];
    }
    pthread_mutex_unlock(&queue->mutex);
    return STATUS_OK;
}

static void queue_move(struct consumer *consumer, const struct delivery *delivery,
                       enum queue_state state)
{
    struct shared_queue *queue = ((struct worker *)consumer)->queue;
    pthread_mutex_lock(&queue->mutex);
    queue->states[delivery->sequence - 1] = state;
    pthread_mutex_unlock(&queue->mutex);
    if (state == SETTLED)
        atomic_fetch_sub(&queue->open, 1);
}

static enum status queue_ack(struct consumer *consumer, const struct delivery *delivery,
                             struct err *err)
{
    (void)err;
    queue_move(consumer, delivery, SETTLED);
    return STATUS_OK;
}

/* Comes again at once: no test waits. */
static enum status queue_retry(struct consumer *consumer, const struct delivery *delivery,
                               int64_t delay_ns, struct err *err)
{
    (void)delay_ns, (void)err;
    queue_move(consumer, delivery, QUEUED);
    return STATUS_OK;
}

static enum status queue_dead(struct consumer *consumer, const struct delivery *delivery,
                              const struct dead_letter *letter, struct err *err)
{
    (void)delivery, (void)letter, (void)err;
    struct shared_queue *queue = ((struct worker *)consumer)->queue;
    pthread_mutex_lock(&queue->mutex);
    queue->dead++;
    pthread_mutex_unlock(&queue->mutex);
    return STATUS_OK;
}

static void ignore_points(struct meter *meter, const struct uuid *tenant,
                          enum point_outcome outcome, uint64_t count)
{
    (void)meter, (void)tenant, (void)outcome, (void)count;
}

static void count_messages(struct meter *meter, const struct uuid *tenant,
                           enum message_outcome outcome, uint64_t count)
{
    (void)tenant;
    struct worker *worker = (struct worker *)((char *)meter - offsetof(struct worker, meter));
    worker->applied += outcome == MESSAGE_APPLIED ? count : 0;
    worker->already_applied += outcome == MESSAGE_ALREADY_APPLIED ? count : 0;
}

static void ignore_counter(struct meter *meter, enum counter counter, uint64_t count)
{
    (void)meter, (void)counter, (void)count;
}

static void ignore_log(struct log *log, enum log_level level, const char *event, const char *text)
{
    (void)log, (void)level, (void)event, (void)text;
}

static struct worker worker_of(struct shared_queue *queue, const struct harness *h)
{
    return (struct worker){.consumer = {queue_pull, queue_ack, queue_retry, queue_dead},
                           .clock = {real_now_ns},
                           .fence = {open_fence},
                           .meter = {NULL, ignore_points, count_messages, ignore_counter},
                           .log = {ignore_log},
                           .queue = queue,
                           .path = h->path,
                           .settings = h->settings};
}

static void *write_messages(void *argument)
{
    struct worker *worker = argument;
    struct sqlite_database *database;
    if (sqlite_database_open(worker->path, DATABASE_WRITE, BUSY_MS, &database, &worker->err) != STATUS_OK) {
        worker->failed = true;
        return NULL;
    }
    struct writer_ports ports = {.clock = &worker->clock,
                                 .store = sqlite_database_store(database),
                                 .consumer = &worker->consumer,
                                 .fence = &worker->fence,
                                 .meter = &worker->meter,
                                 .log = &worker->log};
    struct writer *writer =
        writer_new(&worker->settings, rules_default(), &ports, PAYLOAD_PROTOBUF);
    /* nothing left to pull: what is in flight is the other writer's, also what it puts back */
    size_t pulled = 1;
    for (int round = 0; writer && !worker->failed && pulled > 0 && round < ROUNDS; round++)
        worker->failed = writer_run_once(writer, &pulled, &worker->err) != STATUS_OK;
    worker->failed = worker->failed || !writer;
    writer_free(writer);
    sqlite_database_close(database);
    return NULL;
}

static void *roll_up(void *argument)
{
    struct worker *worker = argument;
    struct sqlite_database *database;
    if (sqlite_database_open(worker->path, DATABASE_WRITE, BUSY_MS, &database, &worker->err) != STATUS_OK) {
        worker->failed = true;
        return NULL;
    }
    struct job_ports ports = {.clock = &worker->clock,
                              .store = sqlite_database_store(database),
                              .fence = &worker->fence,
                              .meter = &worker->meter,
                              .log = &worker->log};
    struct job *job = job_new(&worker->settings, rules_default(), &ports);
    enum status status = job ? STATUS_OK : STATUS_NO_MEMORY;
    for (int round = 0; status == STATUS_OK && round < ROUNDS; round++) {
        bool last = atomic_load(&worker->queue->open) == 0;
        status = job_rollup(job, &worker->err);
        if (last)
            break;
    }
    worker->failed = status != STATUS_OK;
    if (job)
        job_free(job);
    sqlite_database_close(database);
    return NULL;
}

/* Message i of the queue: exports of one process 50 s old, 1 s apart, in which series k of export e
 * stands at (e + 1) * (k + 1); then delta messages of one request. */
static uint8_t *payload_of(int i, int64_t age_s, size_t *size)
{
    static char routes[SERIES][16];
    struct test_point points[SERIES];
    if (i >= EXPORTS) {
        points[0] = (struct test_point){
            .start = age_s, .time = age_s + 1 + i % 40, .n = 1, .delta = true, .route = "/delta"};
        return test_request(ACME, points, 1, size);
    }
    for (int k = 0; k < SERIES; k++) {
        snprintf(routes[k], sizeof routes[k], "/r%d", k);
        points[k] = (struct test_point){.start = age_s,
                                        .time = age_s + 1 + i,
                                        .n = (uint64_t)((i + 1) * (k + 1)),
                                        .route = routes[k]};
    }
    return test_request(ACME, points, SERIES, size);
}

static struct shared_queue *fill_queue(void)
{
    struct shared_queue *queue = calloc(1, sizeof *queue);
    ck_assert_ptr_nonnull(queue);
    pthread_mutex_init(&queue->mutex, NULL);
    int64_t age_s = (real_now_ns(NULL) - T0_NS) / NS_PER_S - 50;
    for (int m = 0; m < MESSAGES; m++) {
        size_t size;
        uint8_t *payload = payload_of(m / COPIES, age_s, &size);
        snprintf(queue->ids[m], sizeof queue->ids[m], "m%d", m / COPIES);
        queue->deliveries[m] = (struct delivery){.sequence = (uint64_t)m + 1,
                                                 .msg_id = bytes_of(queue->ids[m]),
                                                 .subject = bytes_of("metrics.test"),
                                                 .tenant = test_uuid(ACME),
                                                 .payload = {payload, size}};
    }
    atomic_store(&queue->open, MESSAGES);
    return queue;
}

static void free_queue(struct shared_queue *queue)
{
    for (int m = 0; m < MESSAGES; m++)
        free((void *)(uintptr_t)queue->deliveries[m].payload.data);
    pthread_mutex_destroy(&queue->mutex);
    free(queue);
}

/* Whoever writes which message, in whatever order: the process is younger than 120 s throughout, so
 * the first point met of a stream counts in full, a later one its difference, an earlier one
 * nothing, and each stream ends at its last value: EXPORTS * (k + 1). Sum over k: 25 * 36 = 900;
 * deltas: 75. Hours and days are rolled up from all of it. */
START_TEST(threads__totals_are_exact)
{
    struct harness *h = harness_new(NULL); /* the file, and eyes to look into it */
    struct shared_queue *queue = fill_queue();
    struct worker workers[3] = {worker_of(queue, h), worker_of(queue, h), worker_of(queue, h)};
    /* partitions first: the writers start when they are there */
    struct job_ports ports = {&workers[2].clock, h->inner, &workers[2].fence, &workers[2].meter,
                              &workers[2].log};
    struct err err = {0};
    struct job *job = job_new(&h->settings, rules_default(), &ports);
    ck_assert_int_eq(job_initial_partitions(job, &err), STATUS_OK);
    job_free(job);
    pthread_t threads[3];
    ck_assert_int_eq(pthread_create(&threads[0], NULL, write_messages, &workers[0]), 0);
    ck_assert_int_eq(pthread_create(&threads[1], NULL, write_messages, &workers[1]), 0);
    ck_assert_int_eq(pthread_create(&threads[2], NULL, roll_up, &workers[2]), 0);
    for (int i = 0; i < 3; i++) {
        pthread_join(threads[i], NULL);
        ck_assert_msg(!workers[i].failed, "worker %d: %s", i, workers[i].err.message);
    }
    ck_assert_int_eq(atomic_load(&queue->open), 0);
    ck_assert_int_eq(queue->dead, 0);
    ck_assert_uint_eq(workers[0].applied + workers[1].applied, EXPORTS + DELTAS);
    ck_assert_uint_eq(workers[0].already_applied + workers[1].already_applied, EXPORTS + DELTAS);
    ck_assert_int_eq(total(h), 900 + DELTAS);
    ck_assert_int_eq(sql_int(h, "select sum(count) from metrics_minute where route = '/delta'"),
                     DELTAS);
    ck_assert_int_eq(sql_int(h, "select sum(count) from metrics_hourly"), 900 + DELTAS);
    ck_assert_int_eq(sql_int(h, "select sum(count) from metrics_daily"), 900 + DELTAS);
    ck_assert_int_eq(sql_int(h, "select count(*) from rollup_pending"), 0);
    ck_assert_int_eq(sql_int(h, "select count(*) from ingest_dedup"), EXPORTS + DELTAS);
    free_queue(queue);
    harness_free(h);
}
END_TEST

Suite *threads_suite(void)
{
    Suite *suite = suite_create("threads");
    TCase *tests = tcase_create("threads");
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, threads__totals_are_exact);
    suite_add_tcase(suite, tests);
    return suite;
}

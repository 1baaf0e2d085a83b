/* full, floor and overlay: one workload, measured in turns.
 *
 * Shape: 200 series, 20 points a message, 6 attributes a point, 10 messages a batch, each minute
 * row updated four times (an export every 15 s).
 */
#include "sim/bench/bench.h"

#include "core/base/assert.h"
#include "core/base/time.h"
#include "core/jobs/jobs.h"
#include "core/writer/writer.h"
#include "sim/bench/recording.h"
#include "sim/fault/fault.h"
#include "sim/sqlite/overlay.h"
#include "sim/world/consumer.h"
#include "sim/world/fence.h"
#include "sim/world/log.h"
#include "sim/world/meter.h"
#include "sim/world/names.h"
#include "sim/world/publisher.h"
#include "sim/world/queue.h"
#include "sim/world/vclock.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FULL_SERIES      200
#define FULL_POINTS      20
#define FULL_MESSAGES    (FULL_SERIES / FULL_POINTS) /* of one export, one batch */
#define FULL_EXPORTS     120
#define FULL_EVERY_NS    (15 * NS_PER_S)
#define FULL_REPETITIONS 7
#define FULL_START_NS    INT64_C(1772323200000000000) /* 2026-03-01T00:00:00Z */

/* Everything of one simulated run but the database. */
struct full_world {
    struct sched *sched;
    struct trace *trace;
    struct seam *seam;
    struct queue *queue;
    struct meters *meters;
    struct log_book log;
    struct fences fences;
    struct fence_holder fence;
    struct vclock clock;
    struct consumer *consumer;
    struct writer *writer;
    struct store *seam_store;
    struct overlay_session *session;
    struct settings settings;
    enum status status;
    struct err err;
};

/* The SDK's bytes, made once, outside of what is measured. */
struct full_payloads {
    struct arena arena;
    struct bytes payload[FULL_EXPORTS][FULL_MESSAGES];
    struct bytes msg_id[FULL_EXPORTS][FULL_MESSAGES];
    struct uuid tenant;
};

static struct series *make_series(struct series_maker *maker, const struct telemetry *telemetry,
                                  int index)
{
    char route[40];
    struct attribute extra[3] = {
        {.key = bytes_of("url.scheme"), .type = ATTRIBUTE_STRING, .bytes = bytes_of("https")},
        {.key = bytes_of("network.protocol.version"),
         .type = ATTRIBUTE_STRING,
         .bytes = bytes_of("1.1")},
        {.key = bytes_of("server.address"),
         .type = ATTRIBUTE_STRING,
         .bytes = bytes_of("shop.example.com")},
    };
    snprintf(route, sizeof(route), "/api/v1/resource-%d/{id}", index);
    struct request request = {.method = bytes_of(index % 3 == 0 ? "POST" : "GET"),
                              .route = bytes_of(route),
                              .status_kind = REQUEST_STATUS_INT,
                              .status = 200,
                              .attributes = extra,
                              .attribute_count = 3};
    return series_make(maker, "shop", telemetry, &request, TEMPORALITY_CUMULATIVE, SERIES_HISTOGRAM,
                       true);
}

static void fill_point(struct series_point *point, const struct series *series, uint64_t *counts,
                       int index, int export)
{
    uint64_t total = 0;
    for (int b = 0; b < HISTOGRAM_BUCKETS; b++) {
        counts[b] = (uint64_t)((export + 1) * ((index + b) % 4));
        total += counts[b];
    }
    *point = (struct series_point){
        .series = series,
        .start_unix_nano = (uint64_t)FULL_START_NS,
        .time_unix_nano = (uint64_t)(FULL_START_NS + (export + 1) * FULL_EVERY_NS),
        .counts = counts,
        .counts_size = HISTOGRAM_BUCKETS,
        .count = total,
        .has_sum = true,
        .sum = (double)total / 16,
    };
}

static enum status encode_export(struct publisher *publisher, struct full_payloads *payloads,
                                 struct series *const *series, int export, struct err *err)
{
    struct posting posting = {
        .tenant = payloads->tenant, .stamp = STAMP_TENANT, .stamp_tenant = payloads->tenant};
    for (int m = 0; m < FULL_MESSAGES; m++) {
        struct series_point points[FULL_POINTS];
        uint64_t counts[FULL_POINTS][HISTOGRAM_BUCKETS];
        struct bytes encoded;
        char id[40];
        for (int p = 0; p < FULL_POINTS; p++)
            fill_point(&points[p], series[m * FULL_POINTS + p], counts[p], m * FULL_POINTS + p,
                       export);
        enum status status =
            publisher_encode(publisher, &posting, points, FULL_POINTS, &encoded, err);
        if (status != STATUS_OK)
            return status;
        int size = snprintf(id, sizeof(id), "c1-%d", export * FULL_MESSAGES + m + 1);
        payloads->payload[export][m] =
            (struct bytes){arena_copy(&payloads->arena, encoded.data, encoded.size), encoded.size};
        payloads->msg_id[export][m] =
            (struct bytes){arena_copy(&payloads->arena, id, (size_t)size), (size_t)size};
        if (payloads->payload[export][m].data == NULL)
            return err_set(err, STATUS_NO_MEMORY, NULL, "no memory for the payloads");
    }
    return STATUS_OK;
}

static enum status make_payloads(struct full_payloads *payloads, struct err *err)
{
    struct series_maker maker;
    struct series *series[FULL_SERIES];
    struct sched *sched = sched_new(1, FULL_START_NS);
    struct queue_config config = queue_config_default();
    struct queue *queue = sched != NULL ? queue_new(&config, sched, NULL) : NULL;
    arena_init(&payloads->arena, (size_t)1024 * 1024 * 1024);
    enum status status = series_maker_init(&maker, rules_default(), NULL, err);
    if (status != STATUS_OK)
        return status;
    struct publisher *publisher = queue != NULL ? publisher_new(queue, NULL, &maker) : NULL;
    struct telemetry telemetry = {.service = bytes_of("shop"),
                                  .source = SOURCE_METRIC,
                                  .bounds = histogram_bounds,
                                  .bound_count = HISTOGRAM_BOUNDS};
    bool room = publisher != NULL && names_tenant_uuid("bench", &payloads->tenant);
    telemetry.tenant = payloads->tenant;
    for (int i = 0; i < FULL_SERIES && room; i++) {
        series[i] = make_series(&maker, &telemetry, i);
        room = series[i] != NULL;
    }
    if (!room)
        status = err_set(err, STATUS_NO_MEMORY, NULL, "no memory for the series");
    for (int e = 0; e < FULL_EXPORTS && status == STATUS_OK; e++)
        status = encode_export(publisher, payloads, series, e, err);
    publisher_free(publisher);
    queue_free(queue);
    sched_free(sched);
    series_maker_free(&maker);
    return status;
}

static void writer_actor_main(void *argument)
{
    struct full_world *world = argument;
    while (world->status == STATUS_OK) {
        size_t pulled;
        enum status status = writer_run_once(world->writer, &pulled, &world->err);
        if (status == STATUS_STOPPED)
            return;
        world->status = status;
    }
}

static const struct seam_actor_ops no_ops = {NULL, NULL};

static enum status world_open(struct full_world *world, struct overlay *overlay,
                              struct recording *recording, struct err *err)
{
    struct queue_config config = queue_config_default();
    *world = (struct full_world){.settings = settings_default()};
    world->sched = sched_new(1, FULL_START_NS);
    world->trace = trace_new(NULL);
    world->seam = seam_new(world->sched, world->trace);
    world->queue = queue_new(&config, world->sched, world->trace);
    world->meters = meters_new(NULL, world->sched);
    log_book_init(&world->log, world->sched);
    overlay_attach(overlay, world->sched, NULL);
    world->session = overlay_session_new(overlay, "w1");
    struct store *store = overlay_session_store(world->session);
    struct meter *meter = meter_new(world->meters);
    if (recording != NULL)
        store = recording_store(recording, store);
    vclock_init(&world->clock, world->sched, 0);
    fence_holder_init(&world->fence, &world->fences, FENCE_WRITERS, NULL, NULL);
    /* partitions first, outside of what is recorded and measured */
    struct job_ports job_ports = {&world->clock.port, overlay_session_store(world->session),
                                  &world->fence.port, meter, &world->log.port};
    struct job *job = job_new(&world->settings, rules_default(), &job_ports);
    enum status status = job != NULL ? job_initial_partitions(job, err) : STATUS_NO_MEMORY;
    job_free(job);
    if (status != STATUS_OK)
        return status;
    world->seam_store =
        seam_store_new(world->seam, "w1", meter_store_new(meter, store), &no_ops, NULL);
    fence_holder_init(&world->fence, &world->fences, FENCE_WRITERS, world->seam, world->seam_store);
    world->consumer = consumer_new(world->queue, world->seam, world->seam_store);
    struct writer_ports ports = {
        &world->clock.port, world->seam_store, world->consumer, &world->fence.port, meter,
        &world->log.port};
    world->writer = writer_new(&world->settings, rules_default(), &ports, PAYLOAD_PROTOBUF);
    if (world->writer == NULL || sched_spawn(world->sched, "w1", writer_actor_main, world) == NULL)
        return err_set(err, STATUS_NO_MEMORY, NULL, "no memory for the writer");
    return STATUS_OK;
}

static void world_close(struct full_world *world)
{
    sched_free(world->sched);
    writer_free(world->writer);
    consumer_free(world->consumer);
    seam_store_free(world->seam_store);
    if (world->session != NULL)
        overlay_session_free(world->session);
    seam_free(world->seam);
    meters_free(world->meters);
    queue_free(world->queue);
    log_book_free(&world->log);
    trace_free(world->trace);
}

/* Publishes every export when its time has come and lets the writer take it. */
static enum status world_run(struct full_world *world, const struct full_payloads *payloads,
                             int64_t *elapsed_ns, struct err *err)
{
    int64_t began = real_cpu_ns();
    for (int e = 0; e < FULL_EXPORTS; e++) {
        sched_run(world->sched, FULL_START_NS + (e + 1) * FULL_EVERY_NS);
        for (int m = 0; m < FULL_MESSAGES; m++) {
            struct publication publication = {.msg_id = payloads->msg_id[e][m],
                                              .tenant = payloads->tenant,
                                              .payload = payloads->payload[e][m]};
            uint64_t sequence;
            bool duplicate;
            enum status status =
                queue_publish(world->queue, &publication, &sequence, &duplicate, err);
            if (status != STATUS_OK)
                return status;
        }
    }
    sched_run(world->sched, FULL_START_NS + (FULL_EXPORTS + 1) * FULL_EVERY_NS);
    *elapsed_ns = real_cpu_ns() - began;
    if (world->status != STATUS_OK) {
        *err = world->err;
        return world->status;
    }
    uint64_t applied = meters_messages(world->meters, NULL, MESSAGE_APPLIED);
    if (queue_depth(world->queue) > 0 || applied != FULL_EXPORTS * FULL_MESSAGES)
        return err_set(err, STATUS_INVALID, NULL, "the writer applied %llu of %d messages",
                       (unsigned long long)applied, FULL_EXPORTS * FULL_MESSAGES);
    return STATUS_OK;
}

static enum status one_full(struct overlay *overlay, const struct full_payloads *payloads,
                            struct recording *recording, int64_t *elapsed_ns, struct err *err)
{
    struct full_world *world = calloc(1, sizeof(*world));
    enum status status = world != NULL ? world_open(world, overlay, recording, err)
                                       : err_set(err, STATUS_NO_MEMORY, NULL, "no memory");
    if (status == STATUS_OK)
        status = world_run(world, payloads, elapsed_ns, err);
    if (world != NULL)
        world_close(world);
    free(world);
    struct err reset_err = {0};
    enum status reset = overlay_reset(overlay, status == STATUS_OK ? err : &reset_err);
    return status == STATUS_OK ? reset : status;
}

/* The statements of one turn's replays, each on a database of its own. */
enum replayed { REPLAYED_BARE, REPLAYED_SESSION, REPLAYED_OVERLAY, REPLAYED_COUNT };

/* The partitions that the statements need. */
static enum status make_partitions(sqlite3 *db, struct err *err)
{
    int64_t day = time_div(FULL_START_NS, NS_PER_DAY);
    for (int64_t d = day - 7; d <= day + 7; d++) {
        char *text = sqlite3_mprintf("insert into minute_partitions (day) values (%lld)", d);
        bool good = text != NULL && sqlite3_exec(db, text, NULL, NULL, NULL) == SQLITE_OK;
        sqlite3_free(text);
        if (!good)
            return sqlite_error(db, "could not prepare the floor", err);
    }
    return STATUS_OK;
}

static enum status bare_open(sqlite3 **db, struct err *err)
{
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    if (sqlite3_open_v2(":memory:", db, flags, NULL) != SQLITE_OK)
        return err_set(err, STATUS_NO_MEMORY, NULL, "no memory for the floor");
    enum status status = sqlite_functions_register(*db, err);
    if (status == STATUS_OK)
        status = sqlite_schema_open(*db, err);
    return status == STATUS_OK ? make_partitions(*db, err) : status;
}

/* One transaction after the other, each by all three before the next: whatever else the machine
 * does meanwhile, it does to all of them. Who is first changes. */
static enum status take_turns(struct replay *replays[REPLAYED_COUNT],
                              double elapsed_ns[REPLAYED_COUNT], struct err *err)
{
    enum status status = STATUS_OK;
    for (int i = 0; i < REPLAYED_COUNT; i++)
        if (replays[i] == NULL)
            return err_set(err, STATUS_NO_MEMORY, NULL, "no memory for a replay");
    for (int turn = 0; status == STATUS_OK && !replay_done(replays[turn % REPLAYED_COUNT]); turn++)
        for (int i = 0; i < REPLAYED_COUNT && status == STATUS_OK; i++)
            status = replay_transaction(replays[(turn + i) % REPLAYED_COUNT], err);
    for (int i = 0; i < REPLAYED_COUNT; i++)
        elapsed_ns[i] = (double)replay_elapsed_ns(replays[i]);
    return status;
}

/* The same statements on bare SQLite; through core's session on a connection of its own; and
 * through session and overlay. No scheduler: nobody else is there. */
static enum status one_replay(struct overlay *overlay, const struct recording *recording,
                              double elapsed_ns[REPLAYED_COUNT], struct err *err)
{
    struct full_world world;
    struct replay *replays[REPLAYED_COUNT] = {NULL, NULL, NULL};
    sqlite3 *db = NULL;
    struct sqlite_database *database = NULL;
    struct overlay_session *session = NULL;
    enum status status = world_open(&world, overlay, NULL, err);
    if (status == STATUS_OK)
        status = bare_open(&db, err);
    if (status == STATUS_OK)
        status = sqlite_database_open(":memory:", true, 0, &database, err);
    if (status == STATUS_OK)
        status = make_partitions(sqlite_database_db(database), err);
    if (status == STATUS_OK && (session = overlay_session_new(overlay, "replay")) != NULL) {
        replays[REPLAYED_BARE] = replay_bare(recording, db);
        replays[REPLAYED_SESSION] = replay_store(recording, sqlite_database_store(database));
        replays[REPLAYED_OVERLAY] = replay_store(recording, overlay_session_store(session));
    }
    if (status == STATUS_OK)
        status = take_turns(replays, elapsed_ns, err);
    for (int i = 0; i < REPLAYED_COUNT; i++)
        replay_free(replays[i]);
    if (session != NULL)
        overlay_session_free(session);
    if (database != NULL)
        sqlite_database_close(database);
    sqlite3_close(db);
    world_close(&world);
    struct err reset_err = {0};
    overlay_reset(overlay, &reset_err);
    return status;
}

/* Of each turn what the replay takes more than the bare one, in microseconds a statement. */
static struct bench_row over_bare(const char *name, double elapsed_ns[][REPLAYED_COUNT],
                                  enum replayed replayed, size_t statements)
{
    double over[FULL_REPETITIONS];
    double bare[FULL_REPETITIONS];
    double noise;
    for (int i = 0; i < FULL_REPETITIONS; i++) {
        bare[i] = elapsed_ns[i][REPLAYED_BARE] / (double)statements / 1000;
        over[i] = elapsed_ns[i][replayed] / (double)statements / 1000 - bare[i];
    }
    double floor = bench_median(bare, FULL_REPETITIONS, &noise);
    double value = bench_median(over, FULL_REPETITIONS, &noise);
    return (struct bench_row){.name = name,
                              .value = value,
                              .unit = "us/statement",
                              .floor = floor,
                              .ratio = floor / (floor + value),
                              .noise = noise};
}

static void report_full(struct bench_report *report, double *full,
                        double elapsed_ns[][REPLAYED_COUNT], size_t statements)
{
    const double points = (double)FULL_EXPORTS * FULL_SERIES;
    double floor[FULL_REPETITIONS];
    double noise_full;
    double noise_floor;
    for (int i = 0; i < FULL_REPETITIONS; i++)
        floor[i] = elapsed_ns[i][REPLAYED_BARE];
    double full_ns = bench_median(full, FULL_REPETITIONS, &noise_full);
    double floor_ns = bench_median(floor, FULL_REPETITIONS, &noise_floor);
    bench_add(report, (struct bench_row){.name = "floor: bare SQLite, the same statements",
                                         .value = floor_ns / points,
                                         .unit = "ns/point",
                                         .noise = noise_floor});
    bench_add(report, (struct bench_row){.name = "full path",
                                         .value = full_ns / points,
                                         .unit = "ns/point",
                                         .floor = floor_ns / points,
                                         .ratio = floor_ns / full_ns,
                                         .target = 0.45,
                                         .target_least = true,
                                         .noise = noise_full});
    struct bench_row overlay =
        over_bare("overlay over bare SQLite", elapsed_ns, REPLAYED_OVERLAY, statements);
    overlay.target = 1.5;
    bench_add(report, overlay);
    bench_add(report, over_bare("of it core's session", elapsed_ns, REPLAYED_SESSION, statements));
    bench_add(report, (struct bench_row){.name = "statements a point",
                                         .value = (double)statements / points,
                                         .unit = "statements"});
}

enum status bench_full(struct bench_report *report, struct err *err)
{
    struct full_payloads *payloads = calloc(1, sizeof(*payloads));
    struct recording *recording = recording_new();
    struct overlay *overlay = NULL;
    double full[FULL_REPETITIONS];
    double elapsed_ns[FULL_REPETITIONS][REPLAYED_COUNT];
    int64_t elapsed;
    enum status status = payloads != NULL && recording != NULL
                             ? make_payloads(payloads, err)
                             : err_set(err, STATUS_NO_MEMORY, NULL, "no memory");
    if (status == STATUS_OK)
        status = overlay_new(&overlay, err);
    if (status == STATUS_OK) /* also the warm-up */
        status = one_full(overlay, payloads, recording, &elapsed, err);
    for (int i = 0; i < FULL_REPETITIONS && status == STATUS_OK; i++) {
        status = one_replay(overlay, recording, elapsed_ns[i], err);
        if (status == STATUS_OK)
            status = one_full(overlay, payloads, NULL, &elapsed, err);
        full[i] = (double)elapsed;
    }
    if (status == STATUS_OK)
        report_full(report, full, elapsed_ns, recording_statements(recording));
    if (overlay != NULL)
        overlay_free(overlay);
    recording_free(recording);
    if (payloads != NULL)
        arena_free(&payloads->arena);
    free(payloads);
    return status;
}

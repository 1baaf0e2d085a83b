/* Writers and jobs as actors: start, stop, crash, restart. */
#include "sim/run/stage.h"
#include "sim/run/window.h"

#include "core/base/assert.h"
#include "core/base/time.h"
#include <stdio.h>
#include <string.h>

static void cut_session(struct connection *connection)
{
    if (connection->log_store != NULL)
        commit_log_store_cut(connection->log_store);
    if (connection->session != NULL)
        connection->stage->backend->session_cut(connection->session);
}

static void on_cut(void *context)
{
    cut_session(context);
}

/* The seam ends the actor after this; nothing of it may be freed while it still stands on its
 * stack. */
static void on_writer_crashed(void *context)
{
    struct writer_actor *writer = context;
    cut_session(&writer->connection);
    consumer_crashed(writer->consumer);
    writer->connection.dead = true;
    writer->connection.actor = NULL;
}

static void on_job_crashed(void *context)
{
    struct job_actor *job = context;
    cut_session(&job->connection);
    job->connection.dead = true;
    job->connection.actor = NULL;
    job->idle = false;
}

static const struct seam_actor_ops writer_ops = {.cut = on_cut, .crashed = on_writer_crashed};
static const struct seam_actor_ops job_ops = {.cut = on_cut, .crashed = on_job_crashed};

void connection_close(struct connection *connection)
{
    ASSERT(connection->actor == NULL || !actor_alive(connection->actor));
    connection->actor = NULL;
    seam_store_free(connection->seam_store);
    commit_log_store_free(connection->log_store);
    if (connection->session != NULL)
        connection->stage->backend->session_free(connection->session);
    connection->seam_store = NULL;
    connection->log_store = NULL;
    connection->session = NULL;
    connection->dead = false;
}

static bool connection_open(struct connection *connection, enum fence_kind kind,
                            const struct seam_actor_ops *ops, void *context)
{
    struct stage *stage = connection->stage;
    connection->session = stage->backend->session_new(stage->backend, connection->name);
    if (connection->session == NULL)
        return false;
    struct store *store = stage->backend->session_store(connection->session);
    if (stage->options->wrap != NULL)
        store = stage->options->wrap(stage->options->wrap_context, store);
    connection->meter = meter_new(stage->meters);
    if (!stage->options->bare) {
        connection->log_store = commit_log_store_new(&stage->commits, store, false);
        store = connection->log_store;
    }
    if (store == NULL || connection->meter == NULL)
        return false;
    struct store *metered = meter_store_new(connection->meter, store);
    if (metered == NULL)
        return false;
    connection->metered = metered;
    connection->seam_store = seam_store_new(stage->seam, connection->name, metered, ops, context);
    if (connection->seam_store == NULL)
        return false;
    vclock_init(&connection->clock, stage->sched, 0);
    fence_holder_init(&connection->fence, &stage->fences, kind, stage->seam,
                      connection->seam_store);
    return true;
}

static bool out_of_memory(struct stage *stage, const char *name)
{
    run_fail(stage->result, "internal", "", "no memory to start %s", name);
    stage->failed_hard = true;
    sched_stop(stage->sched);
    return false;
}

static void trace_step(struct stage *stage, const char *actor, const char *step)
{
    trace_event(stage->trace, sched_now_ns(stage->sched), actor, step);
    trace_end(stage->trace);
}

/* Pulls until it is stopped or stale. An error of the consumer itself is tried again a second
 * later. */
static void writer_main(void *argument)
{
    struct writer_actor *self = argument;
    struct stage *stage = self->connection.stage;
    for (;;) {
        struct err err = {0};
        size_t pulled;
        enum status status = writer_run_once(self->writer, &pulled, &err);
        if (status == STATUS_STOPPED || status == STATUS_STALE) {
            trace_step(stage, self->connection.name, status == STATUS_STALE ? "Stale" : "Stopped");
            if (status == STATUS_STALE)
                stage->log.port.write(&stage->log.port, LOG_WARNING, "writer_stale", err.message);
            break;
        }
        if (status != STATUS_OK) {
            stage->log.port.write(&stage->log.port, LOG_WARNING, "writer_consumer_failed",
                                  err.message);
            sched_sleep_until(stage->sched, sched_now_ns(stage->sched) + NS_PER_S);
        }
    }
    self->connection.dead = true;
    self->connection.actor = NULL;
}

static void writer_release(struct writer_actor *self)
{
    writer_free(self->writer);
    consumer_free(self->consumer);
    self->writer = NULL;
    self->consumer = NULL;
    connection_close(&self->connection);
}

bool writer_start(struct writer_actor *self)
{
    struct connection *connection = &self->connection;
    struct stage *stage = connection->stage;
    if (connection->actor != NULL)
        return true;
    writer_release(self);
    if (!connection_open(connection, FENCE_WRITERS, &writer_ops, self))
        return out_of_memory(stage, connection->name);
    self->consumer = consumer_new(stage->queue, stage->seam, connection->seam_store);
    if (self->consumer == NULL)
        return out_of_memory(stage, connection->name);
    struct writer_ports ports = {
        .clock = &connection->clock.port,
        .store = connection->seam_store,
        .consumer = self->consumer,
        .fence = &connection->fence.port,
        .meter = (struct meter *)connection->meter,
        .log = &stage->log.port,
    };
    self->writer = writer_new(&stage->scenario->settings, stage->rules, &ports, PAYLOAD_PROTOBUF);
    if (self->writer == NULL)
        return out_of_memory(stage, connection->name);
    trace_step(stage, connection->name, "Start");
    connection->actor = sched_spawn(stage->sched, connection->name, writer_main, self);
    return connection->actor != NULL || out_of_memory(stage, connection->name);
}

void writer_stop(struct writer_actor *self)
{
    if (self->connection.actor != NULL)
        consumer_stop(self->consumer);
}

static void kill_actor(struct connection *connection)
{
    struct actor *actor = connection->actor;
    trace_step(connection->stage, connection->name, "Crash");
    connection->actor = NULL;
    connection->dead = true;
    sched_kill(connection->stage->sched, actor);
    cut_session(connection);
}

void writer_crash(struct writer_actor *self)
{
    if (self->connection.actor == NULL)
        return;
    kill_actor(&self->connection);
    consumer_crashed(self->consumer);
}

static enum status run_job(struct job_actor *self, struct err *err)
{
    switch (self->plan->kind) {
    case SCENARIO_ROLLUP:
        return job_rollup(self->job, err);
    case SCENARIO_PARTITION:
        return job_partition(self->job, err);
    case SCENARIO_RETENTION:
        return job_retention(self->job, err);
    }
    ASSERT(false);
    return STATUS_INVALID;
}

static void job_main(void *argument)
{
    struct job_actor *self = argument;
    struct stage *stage = self->connection.stage;
    for (;;) {
        while (!self->due) {
            self->idle = true;
            sched_wait(stage->sched);
            self->idle = false;
        }
        self->due = false;
        struct err err = {0};
        trace_step(stage, self->connection.name, "Run");
        enum status status = run_job(self, &err);
        if (status == STATUS_STALE) {
            trace_step(stage, self->connection.name, "Stale");
            stage->log.port.write(&stage->log.port, LOG_WARNING, "job_stale", err.message);
            break;
        }
        if (status != STATUS_OK)
            stage->log.port.write(&stage->log.port, LOG_ERROR, "job_failed", err.message);
    }
    self->connection.dead = true;
    self->connection.actor = NULL;
}

static void job_release(struct job_actor *self)
{
    job_free(self->job);
    self->job = NULL;
    connection_close(&self->connection);
}

static enum fence_kind fence_of(enum scenario_job_kind kind)
{
    switch (kind) {
    case SCENARIO_ROLLUP:
        return FENCE_ROLLUP;
    case SCENARIO_PARTITION:
        return FENCE_PARTITION;
    case SCENARIO_RETENTION:
        return FENCE_RETENTION;
    }
    ASSERT(false);
    return FENCE_ROLLUP;
}

bool job_start(struct job_actor *self)
{
    struct connection *connection = &self->connection;
    struct stage *stage = connection->stage;
    self->stopped = false;
    if (connection->actor != NULL)
        return true;
    job_release(self);
    if (!connection_open(connection, fence_of(self->plan->kind), &job_ops, self))
        return out_of_memory(stage, connection->name);
    struct job_ports ports = {
        .clock = &connection->clock.port,
        .store = connection->seam_store,
        .fence = &connection->fence.port,
        .meter = (struct meter *)connection->meter,
        .log = &stage->log.port,
    };
    self->job = job_new(&stage->scenario->settings, stage->rules, &ports);
    if (self->job == NULL)
        return out_of_memory(stage, connection->name);
    self->due = false;
    self->idle = false;
    connection->actor = sched_spawn(stage->sched, connection->name, job_main, self);
    return connection->actor != NULL || out_of_memory(stage, connection->name);
}

void job_stop(struct job_actor *self)
{
    self->stopped = true;
}

void job_crash(struct job_actor *self)
{
    self->stopped = true;
    if (self->connection.actor != NULL)
        kill_actor(&self->connection);
    self->idle = false;
}

void job_wake(struct job_actor *self)
{
    if (self->connection.actor == NULL)
        return;
    self->due = true;
    if (self->idle)
        sched_wake(self->connection.stage->sched, self->connection.actor);
}

/* A connection below the seam: the control plane has no faults and takes no steps. */
static bool control_open(struct connection *connection)
{
    static const struct seam_actor_ops ops = {.cut = on_cut, .crashed = on_cut};
    if (!connection_open(connection, FENCE_PARTITION, &ops, connection))
        return false;
    connection->fence.seam = NULL;
    return true;
}

static struct job *control_job_new(struct connection *connection, struct store *store)
{
    struct stage *stage = connection->stage;
    struct job_ports ports = {
        .clock = &connection->clock.port,
        .store = store,
        .fence = &connection->fence.port,
        .meter = (struct meter *)connection->meter,
        .log = &stage->log.port,
    };
    return job_new(&stage->scenario->settings, stage->rules, &ports);
}

enum status stage_create_window(struct stage *stage, struct err *err)
{
    struct connection connection = {.stage = stage, .name = "set-up"};
    struct window window;
    struct job *job = NULL;
    if (control_open(&connection)) {
        window_init(&window, stage, connection.metered);
        job = control_job_new(&connection, &window.store);
    }
    enum status status = job != NULL
                             ? job_initial_partitions(job, err)
                             : err_set(err, STATUS_NO_MEMORY, NULL, "no memory for the set-up");
    if (status == STATUS_OK)
        window_check(&window);
    job_free(job);
    connection_close(&connection);
    return status;
}

static void purge_main(void *argument)
{
    struct purge_actor *self = argument;
    struct stage *stage = self->connection.stage;
    struct err err = {0};
    enum status status = job_purge(self->job, &self->tenant, self->keep_aggregates, &err);
    bool good = status == STATUS_OK;
    stage->log.port.write(&stage->log.port, good ? LOG_INFO : LOG_ERROR,
                          good ? "tenant_purged" : "purge_refused", good ? "" : err.message);
    self->connection.actor = NULL;
}

void purge_start(struct stage *stage, const struct uuid *tenant, bool keep_aggregates)
{
    struct purge_actor *self = arena_array(&stage->arena, 1, sizeof(*self));
    if (self == NULL) {
        out_of_memory(stage, "purge");
        return;
    }
    self->connection = (struct connection){.stage = stage, .name = "purge"};
    self->tenant = *tenant;
    self->keep_aggregates = keep_aggregates;
    self->next = stage->purges;
    stage->purges = self;
    if (control_open(&self->connection))
        self->job = control_job_new(&self->connection, self->connection.metered);
    if (self->job != NULL)
        self->connection.actor = sched_spawn(stage->sched, "purge", purge_main, self);
    if (self->connection.actor == NULL)
        out_of_memory(stage, "purge");
}

bool job_busy(const struct job_actor *job)
{
    return job->connection.actor != NULL && (!job->idle || job->due);
}

bool jobs_busy(const struct stage *stage)
{
    for (size_t i = 0; i < stage->scenario->job_count; i++)
        if (job_busy(&stage->jobs[i]))
            return true;
    for (const struct purge_actor *purge = stage->purges; purge != NULL; purge = purge->next)
        if (purge->connection.actor != NULL)
            return true;
    return false;
}

/* Dead before anything of them is freed, and out of every lock queue before the next one dies. */
static void end_actor(struct connection *connection)
{
    if (connection->actor != NULL) {
        sched_kill(connection->stage->sched, connection->actor);
        connection->actor = NULL;
    }
    cut_session(connection);
}

void actors_free(struct stage *stage)
{
    for (size_t i = 0; stage->writers != NULL && i < stage->scenario->writer_count; i++) {
        end_actor(&stage->writers[i].connection);
        if (stage->writers[i].consumer != NULL)
            consumer_crashed(stage->writers[i].consumer);
    }
    for (size_t i = 0; stage->jobs != NULL && i < stage->scenario->job_count; i++)
        end_actor(&stage->jobs[i].connection);
    for (struct purge_actor *purge = stage->purges; purge != NULL; purge = purge->next)
        end_actor(&purge->connection);
    for (size_t i = 0; stage->writers != NULL && i < stage->scenario->writer_count; i++)
        writer_release(&stage->writers[i]);
    for (size_t i = 0; stage->jobs != NULL && i < stage->scenario->job_count; i++)
        job_release(&stage->jobs[i]);
    for (struct purge_actor *purge = stage->purges; purge != NULL; purge = purge->next) {
        job_free(purge->job);
        connection_close(&purge->connection);
    }
}

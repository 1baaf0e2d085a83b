/* Builds what a scenario declares: tenants, partitions, queue, collectors, processes, series,
 * actors. */
#include "sim/run/stage.h"

#include "core/base/assert.h"
#include "core/base/time.h"
#include "sim/limits.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum status no_memory(struct err *err)
{
    return err_set(err, STATUS_NO_MEMORY, NULL, "no memory for the scenario's world");
}

static void on_waits(void *context, const char *actor)
{
    struct stage *stage = context;
    trace_event(stage->trace, sched_now_ns(stage->sched), actor, "waits");
    trace_end(stage->trace);
}

static void on_granted(void *context, const char *actor)
{
    struct stage *stage = context;
    trace_event(stage->trace, sched_now_ns(stage->sched), actor, "granted");
    trace_end(stage->trace);
}

/* ---- the database before the first event ---- */

static enum status set_up_tenants(struct stage *stage, struct store *store, struct err *err)
{
    const struct scenario *scenario = stage->scenario;
    enum status status = store_begin(store, ROLE_CP_SYSTEM, err);
    for (size_t i = 0; i < scenario->tenant_count && status == STATUS_OK; i++)
        status = store_set_tenant(store, &stage->tenants[i],
                                  scenario->tenants[i].removed ? "removed" : "active", err);
    if (status == STATUS_OK)
        status = store_commit(store, err);
    if (status != STATUS_OK)
        store_rollback(store);
    return status;
}

static enum status set_up_database(struct stage *stage, struct err *err)
{
    const struct scenario *scenario = stage->scenario;
    struct backend *backend = stage->backend;
    enum status status = STATUS_OK;
    for (size_t i = 0; i < scenario->offset_count && status == STATUS_OK; i++) {
        const struct scenario_offset *offset = &scenario->offsets[i];
        int64_t from = offset->has_from ? time_div(offset->from.ns, NS_PER_US) : INT64_MIN;
        status = backend->set_session_offset(backend, from, offset->offset_ns / NS_PER_US, err);
    }
    if (status == STATUS_OK && !scenario->without_partitions)
        status = stage_create_window(stage, err);
    if (status != STATUS_OK)
        return status;
    struct backend_session *session = backend->session_new(backend, "set-up");
    if (session == NULL)
        return no_memory(err);
    struct store *store =
        commit_log_store_new(&stage->commits, backend->session_store(session), true);
    status = store != NULL ? set_up_tenants(stage, store, err) : no_memory(err);
    commit_log_store_free(store);
    backend->session_free(session);
    return status;
}

/* ---- telemetry ---- */

static struct attribute *convert_attributes(struct arena *arena,
                                            const struct scenario_attribute *from, size_t count)
{
    struct attribute *to = arena_array(arena, count > 0 ? count : 1, sizeof(*to));
    for (size_t i = 0; to != NULL && i < count; i++) {
        to[i].key = from[i].key;
        switch (from[i].type) {
        case SCENARIO_STRING:
            to[i].type = ATTRIBUTE_STRING;
            to[i].bytes = from[i].text;
            break;
        case SCENARIO_INT:
            to[i].type = ATTRIBUTE_INT;
            to[i].integer = from[i].integer;
            break;
        case SCENARIO_DOUBLE:
            to[i].type = ATTRIBUTE_DOUBLE;
            to[i].number = from[i].number;
            break;
        case SCENARIO_BOOL:
            to[i].type = ATTRIBUTE_BOOL;
            to[i].integer = from[i].integer;
            break;
        }
    }
    return to;
}

static bool convert_telemetry(struct stage *stage, const struct scenario_resource *from,
                              struct telemetry *to)
{
    *to = (struct telemetry){
        .tenant = stage->tenants[from->tenant],
        .service = from->service,
        .attribute_count = from->attribute_count,
        .has_scope = from->has_scope,
        .scope_name = from->scope_name,
        .scope_version = from->scope_version,
        .metric = from->metric,
        .source = from->source,
        .unit = from->unit,
        .redacted = from->redacted,
        .bounds = from->bounds.bounds,
        .bound_count = from->bounds.count,
    };
    to->attributes = convert_attributes(&stage->arena, from->attributes, from->attribute_count);
    return to->attributes != NULL;
}

void stage_convert_request(const struct scenario_request *from, struct bytes error_type,
                           struct request *to)
{
    *to = (struct request){
        .method = from->method,
        .route = from->route,
        .status_kind = from->status_kind == SCENARIO_STATUS_ABSENT ? REQUEST_STATUS_ABSENT
                       : from->status_kind == SCENARIO_STATUS_INT  ? REQUEST_STATUS_INT
                                                                   : REQUEST_STATUS_TEXT,
        .status = from->status,
        .status_text = from->status_text,
        .error_type = error_type,
    };
}

/* ---- what the scenario declares ---- */

static bool build_tenants(struct stage *stage)
{
    const struct scenario *scenario = stage->scenario;
    size_t count = scenario->tenant_count;
    stage->tenants = arena_array(&stage->arena, count > 0 ? count : 1, sizeof(struct uuid));
    if (stage->tenants == NULL)
        return false;
    for (size_t i = 0; i < count; i++) {
        const struct scenario_tenant *tenant = &scenario->tenants[i];
        stage->tenants[i] = tenant->id;
        if (!tenant->has_id && !names_tenant_uuid(tenant->name, &stage->tenants[i]))
            return false;
        if (names_add_tenant(stage->names, &stage->tenants[i], tenant->name) == NULL)
            return false;
    }
    return true;
}

static bool build_collectors(struct stage *stage)
{
    const struct scenario *scenario = stage->scenario;
    size_t count = scenario->collector_count + 1;
    stage->collectors = arena_array(&stage->arena, count, sizeof(*stage->collectors));
    if (stage->collectors == NULL)
        return false;
    for (size_t i = 0; i < count; i++) {
        struct collector_config config = {.name = "collector", .batch_exports = 1};
        if (i < scenario->collector_count) {
            const struct scenario_collector *plan = &scenario->collectors[i];
            config = (struct collector_config){.name = plan->name,
                                               .split_points = plan->split_points,
                                               .batch_exports = plan->batch_exports,
                                               .delay_ns = plan->delay_ns};
        }
        stage->collectors[i] = collector_new(&config, stage->publisher, stage->sched);
        if (stage->collectors[i] == NULL)
            return false;
        stage->collector_count = i + 1;
    }
    return true;
}

static struct process *build_process(struct stage *stage, const struct scenario_process *plan,
                                     int replica)
{
    struct process_config config = {
        .name = plan->name,
        .export_every_ns = plan->export_every_ns,
        .temporality = plan->temporality,
        .skew_ns = plan->skew_ns,
        .raw_sums = plan->raw_sums,
    };
    if (plan->replicas > 1) {
        char name[160];
        snprintf(name, sizeof(name), "%s/%d", plan->name, replica + 1);
        config.name = arena_copy(&stage->arena, name, strlen(name));
    }
    if (config.name == NULL || !convert_telemetry(stage, &plan->resource, &config.telemetry))
        return NULL;
    size_t collector =
        plan->collector >= 0 ? (size_t)plan->collector : stage->scenario->collector_count;
    return process_new(&config, &stage->maker, stage->truth, stage->collectors[collector]);
}

static bool build_processes(struct stage *stage)
{
    const struct scenario *scenario = stage->scenario;
    size_t total = 0;
    for (size_t i = 0; i < scenario->process_count; i++)
        total += (size_t)scenario->processes[i].replicas;
    stage->processes = arena_array(&stage->arena, total + 1, sizeof(*stage->processes));
    stage->process_first =
        arena_array(&stage->arena, scenario->process_count + 1, sizeof(*stage->process_first));
    if (stage->processes == NULL || stage->process_first == NULL)
        return false;
    for (size_t i = 0; i < scenario->process_count; i++) {
        const struct scenario_process *plan = &scenario->processes[i];
        stage->process_first[i] = stage->process_count;
        for (int replica = 0; replica < plan->replicas; replica++) {
            struct process *process = build_process(stage, plan, replica);
            if (process == NULL)
                return false;
            stage->processes[stage->process_count++] = process;
        }
    }
    return true;
}

static bool build_series(struct stage *stage)
{
    const struct scenario *scenario = stage->scenario;
    size_t count = scenario->series_count;
    stage->series = arena_array(&stage->arena, count + 1, sizeof(*stage->series));
    if (stage->series == NULL)
        return false;
    for (size_t i = 0; i < count; i++) {
        const struct scenario_series *plan = &scenario->series[i];
        struct telemetry *telemetry = arena_array(&stage->arena, 1, sizeof(*telemetry));
        struct request request;
        if (telemetry == NULL || !convert_telemetry(stage, &plan->resource, telemetry))
            return false;
        stage_convert_request(&plan->request, (struct bytes){NULL, 0}, &request);
        request.attributes =
            convert_attributes(&stage->arena, plan->attributes, plan->attribute_count);
        request.attribute_count = plan->attribute_count;
        if (request.attributes == NULL)
            return false;
        stage->series[i] = series_make(&stage->maker, plan->name, telemetry, &request,
                                       plan->temporality, (enum series_type)plan->type, false);
        if (stage->series[i] == NULL)
            return false;
    }
    return true;
}

static bool build_actors(struct stage *stage)
{
    const struct scenario *scenario = stage->scenario;
    stage->writers =
        arena_array(&stage->arena, scenario->writer_count + 1, sizeof(*stage->writers));
    stage->jobs = arena_array(&stage->arena, scenario->job_count + 1, sizeof(*stage->jobs));
    if (stage->writers == NULL || stage->jobs == NULL)
        return false;
    for (size_t i = 0; i < scenario->writer_count; i++) {
        stage->writers[i].connection =
            (struct connection){.stage = stage, .name = scenario->writers[i].name};
        if (!scenario->writers[i].stopped && !writer_start(&stage->writers[i]))
            return false;
    }
    for (size_t i = 0; i < scenario->job_count; i++) {
        stage->jobs[i].plan = &scenario->jobs[i];
        stage->jobs[i].connection =
            (struct connection){.stage = stage, .name = scenario->jobs[i].name};
        if (!job_start(&stage->jobs[i]))
            return false;
    }
    return true;
}

static bool build_services(struct stage *stage)
{
    const struct scenario *scenario = stage->scenario;
    struct queue_config config = queue_config_default();
    config.ack_wait_ns = scenario->ack_wait_ns;
    config.dedup_window_ns = scenario->dedup_window_ns;
    config.age_limit_ns = scenario->age_limit_ns;
    config.keep_acknowledged = !stage->options->bare;
    stage->names = names_new();
    if (stage->names == NULL)
        return false;
    stage->truth = truth_new(stage->names);
    stage->queue = queue_new(&config, stage->sched, stage->trace);
    if (stage->truth == NULL || stage->queue == NULL)
        return false;
    stage->meters = meters_new(stage->options->bare ? NULL : stage->truth, stage->sched);
    stage->seam = seam_new(stage->sched, stage->trace);
    return stage->meters != NULL && stage->seam != NULL;
}

enum status stage_build(struct stage *stage, struct err *err)
{
    static const size_t arena_bytes = (size_t)2048 * 1024 * 1024;
    const struct scenario *scenario = stage->scenario;
    arena_init(&stage->arena, arena_bytes);
    commit_log_init(&stage->commits, &stage->arena);
    stage->sched = sched_new(stage->options->seed, scenario->start_ns);
    if (stage->sched == NULL)
        return no_memory(err);
    sched_limit(stage->sched, LIMIT_RUN_STEPS);
    agenda_init(&stage->agenda, stage->sched);
    log_book_init(&stage->log, stage->sched);
    if (!build_services(stage))
        return no_memory(err);
    enum status status = series_maker_init(&stage->maker, stage->rules, stage->names, err);
    if (status != STATUS_OK)
        return status;
    stage->maker_ready = true;
    stage->publisher = publisher_new(stage->queue, stage->truth, &stage->maker);
    if (stage->publisher == NULL || !build_tenants(stage) || !build_collectors(stage) ||
        !build_processes(stage) || !build_series(stage))
        return no_memory(err);
    struct backend_events events = {.waits = on_waits, .granted = on_granted, .context = stage};
    stage->backend->attach(stage->backend, stage->sched, &events);
    status = set_up_database(stage, err);
    if (status != STATUS_OK)
        return status;
    return build_actors(stage) ? STATUS_OK : no_memory(err);
}

void stage_tear_down(struct stage *stage)
{
    actors_free(stage);
    for (size_t i = 0; i < stage->process_count; i++)
        process_free(stage->processes[i]);
    for (size_t i = 0; i < stage->collector_count; i++)
        collector_free(stage->collectors[i]);
    publisher_free(stage->publisher);
    if (stage->maker_ready)
        series_maker_free(&stage->maker);
    seam_free(stage->seam);
    meters_free(stage->meters);
    truth_free(stage->truth);
    queue_free(stage->queue);
    names_free(stage->names);
    log_book_free(&stage->log);
    agenda_free(&stage->agenda);
    if (stage->sched != NULL)
        sched_free(stage->sched);
    arena_free(&stage->arena);
}

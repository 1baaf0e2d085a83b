/* The scenario's events on the agenda: traffic, exports, stops, jobs, deliveries, checks. */
#include "sim/run/stage.h"

#include "core/base/assert.h"
#include "core/base/time.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a world event could not do is a failure of the run, at the place where it is written. */
void stage_event_done(struct stage *stage, const struct scenario_event *event, enum status status,
                      const struct err *err)
{
    if (status == STATUS_OK)
        return;
    run_fail(stage->result, "event", stage_where(stage, event->place), "%s", err->message);
}

static struct process **replicas_of(struct stage *stage, const struct scenario_subject *subject,
                                    size_t *count)
{
    ASSERT(subject->kind == SCENARIO_OF_PROCESS && subject->index >= 0);
    size_t index = (size_t)subject->index;
    size_t first = stage->process_first[index];
    *count = (size_t)stage->scenario->processes[index].replicas;
    if (subject->replica > 0) {
        *count = 1;
        return &stage->processes[first + (size_t)subject->replica - 1];
    }
    return &stage->processes[first];
}

/* ---- exports: each running process has one on the agenda ---- */

static void plan_export(struct stage *stage, struct process *process);

static size_t number_of(const struct stage *stage, const struct process *process)
{
    size_t number = 0;
    while (stage->processes[number] != process)
        number++;
    return number;
}

/* Where the process, or the one it is a replica of, is declared. */
static struct place place_of(const struct stage *stage, const struct process *process)
{
    size_t number = number_of(stage, process);
    size_t plan = stage->scenario->process_count - 1;
    while (stage->process_first[plan] > number)
        plan--;
    return stage->scenario->processes[plan].place;
}

static void export_due(void *context, void *item)
{
    struct stage *stage = context;
    struct process *process = item;
    int64_t now = sched_now_ns(stage->sched);
    struct err err = {0};
    if (!process_running(process) || process_next_export_ns(process) > now)
        return; /* it stopped or restarted since; its new export is planned already */
    if (process_export(process, now, &err) != STATUS_OK)
        run_fail(stage->result, "event", stage_where(stage, place_of(stage, process)),
                 "an export failed: %s", err.message);
    plan_export(stage, process);
}

static void plan_export(struct stage *stage, struct process *process)
{
    int64_t at = process_next_export_ns(process);
    if (at != INT64_MAX)
        agenda_add(&stage->agenda, at, AGENDA_EXPORT, (int64_t)number_of(stage, process),
                   export_due, stage, process);
}

static void process_begins(void *context, void *item)
{
    struct stage *stage = context;
    struct process *process = item;
    int64_t now = sched_now_ns(stage->sched);
    if (process_running(process))
        return;
    process_start(process, now, now);
    plan_export(stage, process);
}

/* ---- subjects ---- */

static void process_event(struct stage *stage, const struct scenario_event *event)
{
    size_t count;
    struct process **processes = replicas_of(stage, &event->subject, &count);
    const struct scenario_process *plan = &stage->scenario->processes[event->subject.index];
    int64_t now = sched_now_ns(stage->sched);
    for (size_t i = 0; i < count; i++) {
        struct process *process = processes[i];
        struct err err = {0};
        enum status status = STATUS_OK;
        if (event->kind != SCENARIO_STARTS && !process_running(process))
            status = err_set(&err, STATUS_INVALID, NULL, "process \"%s\" is not running",
                             event->subject.name);
        else if (event->kind == SCENARIO_STARTS && process_running(process))
            status = err_set(&err, STATUS_INVALID, NULL, "process \"%s\" is running already",
                             event->subject.name);
        else if (event->kind == SCENARIO_STOPS)
            status = process_stop(process, now, !event->without_flush, &err);
        else if (event->kind == SCENARIO_EXPORTS)
            status = process_export(process, now, &err);
        else if (event->kind == SCENARIO_CRASHES || event->kind == SCENARIO_RESTARTS)
            process_crash(process);
        else if (event->kind == SCENARIO_RESENDS)
            status = process_resend(process, &err);
        if (status == STATUS_OK &&
            (event->kind == SCENARIO_STARTS || event->kind == SCENARIO_RESTARTS)) {
            int64_t replica = event->subject.replica > 0 ? 0 : (int64_t)i;
            if (plan->apart_ns * replica == 0) /* at once: traffic of this instant is served */
                process_begins(stage, process);
            else
                agenda_add(&stage->agenda, now + plan->apart_ns * replica, AGENDA_TRAFFIC,
                           event - stage->scenario->events, process_begins, stage, process);
        }
        stage_event_done(stage, event, status, &err);
    }
}

static void collector_event(struct stage *stage, const struct scenario_event *event)
{
    struct collector *collector = stage->collectors[event->subject.index];
    struct err err = {0};
    enum status status = STATUS_OK;
    if (event->kind == SCENARIO_STOPS)
        status = collector_stop(collector, &err);
    if (event->kind == SCENARIO_CRASHES || event->kind == SCENARIO_RESTARTS)
        collector_crash(collector);
    if (event->kind == SCENARIO_STARTS || event->kind == SCENARIO_RESTARTS)
        collector_start(collector);
    stage_event_done(stage, event, status, &err);
}

static void writer_event(struct stage *stage, const struct scenario_event *event)
{
    struct writer_actor *writer = &stage->writers[event->subject.index];
    if (event->kind == SCENARIO_STOPS)
        writer_stop(writer);
    if (event->kind == SCENARIO_CRASHES || event->kind == SCENARIO_RESTARTS)
        writer_crash(writer);
    if (event->kind == SCENARIO_STARTS || event->kind == SCENARIO_RESTARTS)
        writer_start(writer);
}

static void job_event(struct stage *stage, const struct scenario_event *event)
{
    struct job_actor *job = &stage->jobs[event->subject.index];
    if (event->kind == SCENARIO_RUNS)
        job_wake(job);
    if (event->kind == SCENARIO_STOPS)
        job_stop(job);
    if (event->kind == SCENARIO_CRASHES || event->kind == SCENARIO_RESTARTS)
        job_crash(job);
    if (event->kind == SCENARIO_STARTS || event->kind == SCENARIO_RESTARTS)
        job_start(job);
}

static void subject_event(struct stage *stage, const struct scenario_event *event)
{
    switch (event->subject.kind) {
    case SCENARIO_OF_PROCESS:
        process_event(stage, event);
        break;
    case SCENARIO_OF_COLLECTOR:
        collector_event(stage, event);
        break;
    case SCENARIO_OF_WRITER:
        writer_event(stage, event);
        break;
    case SCENARIO_OF_JOB:
        job_event(stage, event);
        break;
    default:
        ASSERT(false);
    }
}

static void serve(struct stage *stage, const struct scenario_event *event)
{
    size_t count;
    struct process **processes = replicas_of(stage, &event->subject, &count);
    struct request request;
    stage_convert_request(&event->request, event->error_type, &request);
    for (size_t i = 0; i < count; i++) {
        struct err err = {0};
        enum status status = process_serve(processes[i], sched_now_ns(stage->sched), &request,
                                           event->duration_ns, event->times, &err);
        if (status != STATUS_STOPPED) /* nobody is there to be served: no request */
            stage_event_done(stage, event, status, &err);
    }
}

/* ---- control plane ---- */

static enum status with_store(struct stage *stage,
                              enum status (*run)(struct stage *, const struct scenario_event *,
                                                 struct store *, struct err *),
                              const struct scenario_event *event, enum store_role role,
                              struct err *err)
{
    struct backend_session *session = stage->backend->session_new(stage->backend, "control");
    struct store *log = NULL;
    struct store *store = NULL;
    enum status status = STATUS_NO_MEMORY;
    if (session != NULL)
        log = commit_log_store_new(&stage->commits, stage->backend->session_store(session), true);
    struct meter *meter = log != NULL ? meter_new(stage->meters) : NULL;
    if (meter != NULL)
        store = meter_store_new(meter, log);
    if (store != NULL)
        status = store_begin(store, role, err);
    if (status == STATUS_OK)
        status = run(stage, event, store, err);
    if (status == STATUS_OK)
        status = store_commit(store, err);
    else if (store != NULL)
        store_rollback(store);
    commit_log_store_free(log);
    if (session != NULL)
        stage->backend->session_free(session);
    return status;
}

static enum status remove_tenant(struct stage *stage, const struct scenario_event *event,
                                 struct store *store, struct err *err)
{
    return store_set_tenant(store, &stage->tenants[event->subject.index], "removed", err);
}

static enum status change_partition(struct stage *stage, const struct scenario_event *event,
                                    struct store *store, struct err *err)
{
    enum partition_table table = event->partition.hourly ? PARTITION_HOURLY : PARTITION_MINUTE;
    bool done;
    enum status status = store_lock_partitioned(store, table, err);
    if (status != STATUS_OK)
        return status;
    if (event->kind == SCENARIO_CREATE_PARTITION)
        return store_create_partition(store, table, event->partition.first_day, &stage->arena,
                                      &done, err);
    return store_drop_partition(store, table, event->partition.first_day, &stage->arena, &done,
                                err);
}

static void control(struct stage *stage, const struct scenario_event *event)
{
    struct err err = {0};
    bool tenant = event->kind == SCENARIO_REMOVE_TENANT;
    stage_event_done(stage, event,
                     with_store(stage, tenant ? remove_tenant : change_partition, event,
                                tenant ? ROLE_CP_SYSTEM : ROLE_JOBS, &err),
                     &err);
}

static void raise_fence(struct stage *stage, const struct scenario_event *event)
{
    static const enum fence_kind kinds[] = {FENCE_WRITERS, FENCE_ROLLUP, FENCE_PARTITION,
                                            FENCE_RETENTION};
    trace_event(stage->trace, sched_now_ns(stage->sched), "", "RaiseFence");
    trace_word(stage->trace, "fence", fence_kind_name(kinds[event->fence]));
    trace_end(stage->trace);
    fences_raise(&stage->fences, kinds[event->fence]);
}

static void take_golden(struct stage *stage, const struct scenario_event *event)
{
    char label[TIME_TEXT_SIZE];
    struct err err = {0};
    time_format_ns(event->at.ns, label);
    stage_event_done(stage, event, stage_snapshot(stage, label, &err), &err);
}

/* ---- the agenda ---- */

static void act(struct stage *stage, const struct scenario_event *event)
{
    switch (event->kind) {
    case SCENARIO_SERVE:
        serve(stage, event);
        break;
    case SCENARIO_STARTS:
    case SCENARIO_STOPS:
    case SCENARIO_CRASHES:
    case SCENARIO_RESTARTS:
    case SCENARIO_EXPORTS:
    case SCENARIO_RESENDS:
    case SCENARIO_RUNS:
        subject_event(stage, event);
        break;
    case SCENARIO_SEND:
        stage_send(stage, event);
        break;
    case SCENARIO_POINTS:
        ASSERT(false); /* on the agenda point by point */
        break;
    case SCENARIO_DELIVER_BYTES:
    case SCENARIO_DELIVER_FILE:
        stage_deliver(stage, event);
        break;
    case SCENARIO_REDELIVER:
    case SCENARIO_PUBLISH_AGAIN:
        stage_send_again(stage, event);
        break;
    case SCENARIO_RELEASE:
        if (!seam_release(stage->seam, event->subject.name))
            run_fail(stage->result, "event", stage_where(stage, event->place), "\"%s\" is not held",
                     event->subject.name);
        break;
    case SCENARIO_RAISE_FENCE:
        raise_fence(stage, event);
        break;
    case SCENARIO_REMOVE_TENANT:
    case SCENARIO_CREATE_PARTITION:
    case SCENARIO_DROP_PARTITION:
        control(stage, event);
        break;
    case SCENARIO_PURGE:
        purge_start(stage, &stage->tenants[event->subject.index], event->keep_aggregates);
        break;
    case SCENARIO_EXPECT:
        stage_expect(stage, &event->expect, event->place);
        break;
    case SCENARIO_GOLDEN:
        take_golden(stage, event);
        break;
    }
}

static enum agenda_class class_of(const struct scenario_event *event)
{
    switch (event->kind) {
    case SCENARIO_EXPORTS:
    case SCENARIO_RESENDS:
        return AGENDA_EXPORT;
    case SCENARIO_STOPS:
    case SCENARIO_CRASHES:
    case SCENARIO_RESTARTS:
        return AGENDA_STOP;
    case SCENARIO_RUNS:
        return AGENDA_JOB;
    case SCENARIO_EXPECT:
    case SCENARIO_GOLDEN:
        return AGENDA_CHECK;
    default:
        return AGENDA_TRAFFIC;
    }
}

static void event_due(void *context, void *item)
{
    struct stage *stage = context;
    const struct scenario_event *event = item;
    act(stage, event);
    if (event->every_ns <= 0)
        return;
    int64_t next = sched_now_ns(stage->sched) + event->every_ns;
    if (next < event->until.ns)
        agenda_add(&stage->agenda, next, class_of(event), event - stage->scenario->events,
                   event_due, stage, item);
}

static void job_due(void *context, void *item)
{
    struct stage *stage = context;
    struct job_actor *job = item;
    if (!job->stopped)
        job_wake(job);
    agenda_add(&stage->agenda, sched_now_ns(stage->sched) + job->plan->every_ns, AGENDA_JOB,
               job - stage->jobs, job_due, stage, job);
}

/* A process that runs before the scenario begins: its start lies in the past, and its exports go on
 * in its own rhythm from there. */
static void schedule_running_processes(struct stage *stage)
{
    const struct scenario *scenario = stage->scenario;
    for (size_t i = 0; i < scenario->process_count; i++) {
        const struct scenario_process *plan = &scenario->processes[i];
        if (!plan->has_started)
            continue;
        for (int replica = 0; replica < plan->replicas; replica++) {
            struct process *process = stage->processes[stage->process_first[i] + (size_t)replica];
            int64_t at = plan->started.ns + plan->apart_ns * replica;
            if (at > scenario->start_ns) {
                agenda_add(&stage->agenda, at, AGENDA_TRAFFIC, -1, process_begins, stage, process);
                continue;
            }
            process_start(process, at, scenario->start_ns);
            plan_export(stage, process);
        }
    }
}

static bool add_faults(struct stage *stage)
{
    bool room = true;
    for (size_t i = 0; i < stage->scenario->fault_count; i++) {
        const struct scenario_fault *plan = &stage->scenario->faults[i];
        struct fault fault = {
            .kind = plan->kind,
            .actor = plan->actor.kind == SCENARIO_NOBODY ? NULL : plan->actor.name,
            .step = plan->step,
            .after = plan->after,
            .where = plan->where,
            .from_ns = plan->has_from ? plan->from.ns : INT64_MIN,
            .until_ns = plan->has_until ? plan->until.ns : INT64_MAX,
            .skip = plan->nth - 1,
            .times = plan->times,
        };
        memcpy(fault.sqlstate, plan->sqlstate, sizeof(fault.sqlstate));
        room = seam_add(stage->seam, &fault) && room;
    }
    return room;
}

void stage_schedule(struct stage *stage)
{
    const struct scenario *scenario = stage->scenario;
    bool room = true;
    for (size_t i = 0; i < scenario->event_count; i++) {
        const struct scenario_event *event = &scenario->events[i];
        if (event->kind == SCENARIO_POINTS)
            room = stage_schedule_points(stage, event) && room;
        else
            agenda_add(&stage->agenda, event->at.ns, class_of(event), (int64_t)i, event_due, stage,
                       (void *)(uintptr_t)event);
    }
    for (size_t i = 0; i < scenario->job_count; i++) {
        struct job_actor *job = &stage->jobs[i];
        const struct scenario_job *plan = job->plan;
        if (plan->every_ns > 0)
            agenda_add(&stage->agenda,
                       plan->has_first ? plan->first.ns : scenario->start_ns + plan->every_ns,
                       AGENDA_JOB, (int64_t)i, job_due, stage, job);
    }
    schedule_running_processes(stage);
    room = add_faults(stage) && room;
    if (!room || stage->agenda.exhausted)
        run_fail(stage->result, "internal", "", "no memory for the scenario's events");
}

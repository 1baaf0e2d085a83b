#include "sim/run/run.h"

#include "core/base/assert.h"
#include "core/base/time.h"
#include "sim/limits.h"
#include "sim/run/stage.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* How long a run may go on after its last event until the queue is empty: redelivery takes 150 s,
 * the guard of R-Q-3 asks for 10 minutes. */
#define DRAIN_NS           (3600 * NS_PER_S)
#define RESULT_ARENA_BYTES ((size_t)1024 * 1024 * 1024)

static const char no_memory[] = "(no memory for the text)";

static const char *format_text(struct run_result *result, const char *format, va_list arguments)
{
    va_list again;
    va_copy(again, arguments);
    int size = vsnprintf(NULL, 0, format, again);
    va_end(again);
    char *text = size >= 0 ? arena_alloc(&result->arena, (size_t)size + 1) : NULL;
    if (text == NULL)
        return no_memory;
    vsnprintf(text, (size_t)size + 1, format, arguments);
    return text;
}

const char *run_text(struct run_result *result, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const char *text = format_text(result, format, arguments);
    va_end(arguments);
    return text;
}

static void note(struct run_result *result, const struct run_failure *failure)
{
    if (result->failure_count < RUN_FAILURES_MAX)
        result->failures[result->failure_count] = *failure;
    result->failure_count++;
}

void run_fail(struct run_result *result, const char *kind, const char *where, const char *format,
              ...)
{
    va_list arguments;
    if (result->failure_count >= RUN_FAILURES_MAX) {
        result->failure_count++;
        return;
    }
    va_start(arguments, format);
    const char *text = format_text(result, format, arguments);
    va_end(arguments);
    if (where[0] != 0)
        text = run_text(result, "%s: %s", where, text);
    note(result, &(struct run_failure){kind, text, where, "", "", ""});
}

void run_fail_cell(struct run_result *result, const char *kind, const char *where, const char *cell,
                   const char *expected, const char *got)
{
    const char *text = run_text(result, "%s%s%s: expected %s, got %s", where,
                                where[0] != 0 ? ": " : "", cell, expected, got);
    note(result,
         &(struct run_failure){kind, text, where, run_text(result, "%s", cell),
                               run_text(result, "%s", expected), run_text(result, "%s", got)});
}

void run_fail_difference(struct run_result *result, const char *kind, const char *where,
                         const char *moment, const struct table_difference *difference)
{
    const char *cell = run_text(result, "%s%s, row \"%s\", %s", moment, difference->table,
                                difference->key, difference->column);
    run_fail_cell(result, kind, where, cell, difference->expected, difference->got);
}

const char *stage_where(struct stage *stage, struct place place)
{
    return run_text(stage->result, "%s:%d:%d", stage->scenario->file, place.line, place.column);
}

void run_result_free(struct run_result *result)
{
    trace_free(result->trace);
    arena_free(&result->arena);
    *result = (struct run_result){0};
}

/* Lets time pass until until_ns; false when the run cannot go on. */
static bool run_until(struct stage *stage, int64_t until_ns)
{
    char at[TIME_TEXT_SIZE];
    switch (sched_run(stage->sched, until_ns)) {
    case SCHED_REACHED:
        return !stage->failed_hard;
    case SCHED_STOPPED:
        return false;
    case SCHED_LIVELOCK:
        time_format_ns(sched_now_ns(stage->sched), at);
        run_fail(stage->result, "liveness", "", "livelock: time stands still at %s", at);
        return false;
    case SCHED_ENDLESS:
        time_format_ns(sched_now_ns(stage->sched), at);
        run_fail(
            stage->result, "liveness", "",
            "the run was ended at %s, after %d steps: something is retried without end, or the "
            "run is too long",
            at, LIMIT_RUN_STEPS);
        return false;
    }
    ASSERT(false);
    return false;
}

static bool all_writers_gone(const struct stage *stage)
{
    for (size_t i = 0; i < stage->scenario->writer_count; i++)
        if (stage->writers[i].connection.actor != NULL)
            return false;
    return true;
}

static bool anyone_held(const struct stage *stage)
{
    for (size_t i = 0; i < stage->scenario->writer_count; i++)
        if (seam_is_held(stage->seam, stage->scenario->writers[i].name))
            return true;
    for (size_t i = 0; i < stage->scenario->job_count; i++)
        if (seam_is_held(stage->seam, stage->scenario->jobs[i].name))
            return true;
    return false;
}

static bool parcels_on_their_way(const struct stage *stage)
{
    for (size_t i = 0; i < stage->collector_count; i++)
        if (collector_delays(stage->collectors[i]))
            return true;
    return false;
}

/* Goes on, without new events, until the queue is empty and nobody is in the middle of something.
 * What cannot end (no writer, somebody held) is left as it stands, and fails the run. */
static void drain(struct stage *stage)
{
    int64_t bound = sched_now_ns(stage->sched) + DRAIN_NS;
    while (sched_now_ns(stage->sched) < bound && !anyone_held(stage)) {
        bool queued = queue_depth(stage->queue) > 0 && !all_writers_gone(stage);
        if (!queued && !jobs_busy(stage) && !parcels_on_their_way(stage))
            return;
        if (!run_until(stage, sched_now_ns(stage->sched) + NS_PER_S))
            return;
    }
}

static const char *times(struct run_result *result, int64_t count)
{
    if (count <= 1)
        return count == 0 ? "never" : "once";
    return run_text(result, "%" PRId64 " times", count);
}

/* A fault that never came, or not as often as it is said to: the scenario is wrong about itself. */
static void check_faults(struct stage *stage)
{
    struct run_result *result = stage->result;
    for (size_t i = 0; i < stage->scenario->fault_count; i++) {
        const struct scenario_fault *fault = &stage->scenario->faults[i];
        int64_t fired = seam_fired(stage->seam, i);
        if (fired == fault->times || (fired > 0 && fault->times == INT64_MAX))
            continue;
        const char *text = scenario_print_fault(stage->scenario, fault, &result->arena);
        run_fail_cell(result, "fault", stage_where(stage, fault->place), text != NULL ? text : "?",
                      fault->times == INT64_MAX ? "at least once" : times(result, fault->times),
                      times(result, fired));
    }
}

static void judge(struct stage *stage)
{
    const struct scenario *scenario = stage->scenario;
    struct err err = {0};
    if (stage_snapshot(stage, "end", &err) != STATUS_OK)
        run_fail(stage->result, "internal", "", "%s", err.message);
    for (size_t i = 0; i < scenario->expect_count; i++)
        stage_expect(stage, &scenario->expects[i].expect, scenario->expects[i].place);
    check_faults(stage);
    stage_check_invariants(stage);
    stage_check_reference(stage);
}

static void close_trace(struct stage *stage)
{
    struct run_result *result = stage->result;
    const struct snapshot *end =
        result->snapshot_count > 0 ? &result->snapshots[result->snapshot_count - 1] : NULL;
    trace_event(result->trace, sched_now_ns(stage->sched), "", "End");
    for (size_t i = 0; end != NULL && i < end->table_count; i++)
        trace_int(result->trace, end->tables[i].name, (int64_t)end->tables[i].row_count);
    trace_end(result->trace);
    result->trace_hash = trace_hash(result->trace);
    result->trace_events = trace_events(result->trace);
    result->steps = sched_steps(stage->sched);
    result->virtual_ns = sched_now_ns(stage->sched) - stage->scenario->start_ns;
}

enum status run_scenario(struct backend *backend, const struct scenario *scenario,
                         const struct run_options *options, struct run_result *result,
                         struct err *err)
{
    *result = (struct run_result){0};
    arena_init(&result->arena, RESULT_ARENA_BYTES);
    result->trace = trace_new(options->trace);
    if (result->trace == NULL)
        return err_set(err, STATUS_NO_MEMORY, NULL, "no memory for a trace");
    if (options->keep_trace)
        trace_keep(result->trace);
    struct stage stage = {.scenario = scenario,
                          .options = options,
                          .result = result,
                          .rules = scenario->rules,
                          .backend = backend,
                          .trace = result->trace};
    enum status status = STATUS_OK;
    if (options->rules_text != NULL)
        status = rules_parse(options->rules_text, strlen(options->rules_text), &stage.rules, err);
    if (status == STATUS_OK)
        status = stage_build(&stage, err);
    if (status == STATUS_OK) {
        stage_schedule(&stage);
        if (run_until(&stage, scenario->run_until.ns) && !scenario->without_draining) {
            seam_disarm(stage.seam);
            drain(&stage);
            stage_check_left_open(&stage);
        }
        if (!options->bare)
            judge(&stage);
        close_trace(&stage);
    }
    stage_tear_down(&stage);
    struct err reset_err = {0};
    if (backend->reset(backend, &reset_err) != STATUS_OK && status == STATUS_OK) {
        *err = reset_err;
        status = reset_err.status;
    }
    return status;
}

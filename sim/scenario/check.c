/* What can only be said of a whole file: what is missing, what is never used, settings. */
#include "core/base/assert.h"
#include "core/base/settings.h"
#include "sim/limits.h"
#include "sim/scenario/parser.h"
#include <stdio.h>
#include <string.h>

static const struct place top = {1, 1};

static void check_missing(struct parser *parser)
{
    const struct scenario *scenario = &parser->scenario;
    if (parser->title_place.line == 0)
        parser_fail(parser, top, "begin with: scenario \"what it claims\"",
                    "the scenario has no title");
    if (parser->cites.count == 0)
        parser_fail(parser, top, "for example: cites R-PT-3 A-5", "the scenario cites no rule");
    if (parser->run_place.line == 0)
        parser_fail(parser, top, "for example: run until 45m",
                    "the scenario does not say how long it runs");
    if (parser->derive_place.line == 0)
        parser_fail(parser, top, "end with derive, and the arithmetic below it, indented",
                    "the scenario does not derive its numbers");
    else if (scenario->derive[0] == '\0')
        parser_fail(parser, parser->derive_place, "write the arithmetic below it, indented",
                    "the derivation is empty");
}

/* template with its NAME replaced. */
static void hint_for(const char *template, const char *name, char *hint, size_t room)
{
    const char *at = strstr(template, "NAME");
    ASSERT(at != NULL);
    snprintf(hint, room, "%.*s%s%s", (int)(at - template), template, name, at + 4);
}

static void check_used(struct parser *parser)
{
    static const char *const templates[] = {
        [SCENARIO_OF_PROCESS] = "for example: at 0s NAME starts",
        [SCENARIO_OF_COLLECTOR] = "a process sends to it with: through NAME",
        [SCENARIO_OF_WRITER] = "it is stopped; for example: at 5m NAME starts",
        [SCENARIO_OF_JOB] = "it runs by hand; for example: at 6m NAME runs",
        [SCENARIO_OF_SERIES] = "for example: at 60s NAME sends 10",
        [SCENARIO_OF_TENANT] = "for example: process shop-1 of NAME exports every 1m cumulative",
    };
    const struct name *names = parser->names.items;
    for (size_t i = 0; i < parser->names.count; i++) {
        if (names[i].used || names[i].broken)
            continue;
        char hint[sizeof parser->errors->errors[0].hint];
        hint_for(templates[names[i].kind], names[i].name, hint, sizeof hint);
        parser_fail(parser, names[i].place, hint, "\"%s\" is never used", names[i].name);
    }
}

/* Whether a process of several replicas, the first at first_ns, has its last behind end_ns. */
static bool starts_behind(const struct scenario_process *process, int64_t first_ns, int64_t end_ns)
{
    int64_t last_ns;
    ASSERT(process->replicas >= 1 && process->apart_ns >= 0);
    if (process->replicas == 1)
        return false;
    return __builtin_mul_overflow(process->apart_ns, (int64_t)process->replicas - 1, &last_ns) ||
           __builtin_add_overflow(first_ns, last_ns, &last_ns) || last_ns > end_ns;
}

/* The replicas that one statement starts, each a little later than the one before. */
static void check_replicas(struct parser *parser, int64_t end)
{
    static const char hint[] =
        "bring the replicas closer together, or let the run go on for longer";
    static const char message[] = "a replica starts after the end of the run";
    const struct scenario_process *processes = parser->processes.items;
    for (size_t i = 0; i < parser->processes.count; i++) {
        if (processes[i].has_started && starts_behind(&processes[i], processes[i].started.ns, end))
            parser_fail(parser, processes[i].place, hint, message);
    }
    const struct scenario_event *events = parser->events.items;
    for (size_t i = 0; i < parser->events.count; i++) {
        const struct scenario_subject *subject = &events[i].subject;
        if ((events[i].kind != SCENARIO_STARTS && events[i].kind != SCENARIO_RESTARTS) ||
            subject->kind != SCENARIO_OF_PROCESS || subject->replica > 0)
            continue;
        if (starts_behind(&processes[subject->index], events[i].at.ns, end))
            parser_fail(parser, events[i].place, hint, message);
    }
}

/* Nothing may happen behind the end of the run: it would be read and never done. */
static void check_end(struct parser *parser)
{
    if (parser->run_place.line == 0)
        return;
    int64_t end = parser->scenario.run_until.ns;
    static const char hint[] = "move it, or let the run go on for longer";
    const struct scenario_event *events = parser->events.items;
    for (size_t i = 0; i < parser->events.count; i++) {
        int64_t last = events[i].at.ns;
        if (events[i].kind == SCENARIO_POINTS)
            last = events[i].until.ns - events[i].every_ns;
        else if (events[i].every_ns > 0)
            last = events[i].until.ns;
        if (last > end)
            parser_fail(parser, events[i].place, hint, "that happens after the end of the run");
    }
    const struct scenario_fault *faults = parser->faults.items;
    for (size_t i = 0; i < parser->faults.count; i++) {
        if (faults[i].has_from && faults[i].from.ns > end)
            parser_fail(parser, faults[i].place, hint,
                        "the fault is armed after the end of the run");
    }
    const struct scenario_job *jobs = parser->jobs.items;
    for (size_t i = 0; i < parser->jobs.count; i++) {
        if (jobs[i].has_first && jobs[i].first.ns > end)
            parser_fail(parser, jobs[i].place, hint, "the job first runs after the end of the run");
    }
}

/* How often something happens from first_ns until end_ns (exclusive), each time `each` times over.
 */
static uint64_t times_of(int64_t first_ns, int64_t end_ns, int64_t every_ns, int64_t each)
{
    if (end_ns <= first_ns)
        return 0;
    ASSERT(every_ns > 0 && each >= 1);
    uint64_t span = (uint64_t)end_ns - (uint64_t)first_ns;
    uint64_t product;
    return __builtin_mul_overflow((span - 1) / (uint64_t)every_ns + 1, (uint64_t)each, &product)
               ? UINT64_MAX
               : product;
}

/* Adds to the sum, and fails at the statement that goes beyond the limit. */
static void plan(struct parser *parser, struct place place, uint64_t times, uint64_t *sum)
{
    static const char hint[] = "a longer interval, fewer replicas or a shorter run";
    bool fits = *sum <= LIMIT_RUN_HAPPENINGS;
    if (__builtin_add_overflow(*sum, times, sum))
        *sum = UINT64_MAX;
    if (!fits || *sum <= LIMIT_RUN_HAPPENINGS)
        return;
    if (times > LIMIT_RUN_HAPPENINGS)
        parser_fail(parser, place, hint,
                    "that happens %llu times; a run is at most %d exports, events and job runs",
                    (unsigned long long)times, LIMIT_RUN_HAPPENINGS);
    else
        parser_fail(parser, place, hint,
                    "with that the run has %llu exports, events and job runs; %d is the most",
                    (unsigned long long)*sum, LIMIT_RUN_HAPPENINGS);
}

static int64_t replicas_of(const struct parser *parser, const struct scenario_subject *subject)
{
    if (subject->kind != SCENARIO_OF_PROCESS || subject->replica > 0)
        return 1;
    return ((const struct scenario_process *)parser->processes.items)[subject->index].replicas;
}

/* A run that never ends is refused where it is written. */
static void check_length(struct parser *parser)
{
    int64_t start = parser->scenario.start_ns;
    int64_t end = parser->scenario.run_until.ns;
    uint64_t sum = 0;
    const struct scenario_process *processes = parser->processes.items;
    for (size_t i = 0; i < parser->processes.count; i++)
        plan(parser, processes[i].place,
             times_of(start, end, processes[i].export_every_ns, processes[i].replicas), &sum);
    const struct scenario_job *jobs = parser->jobs.items;
    for (size_t i = 0; i < parser->jobs.count; i++) {
        if (jobs[i].every_ns > 0)
            plan(parser, jobs[i].place,
                 times_of(jobs[i].has_first ? jobs[i].first.ns : start, end, jobs[i].every_ns, 1),
                 &sum);
    }
    const struct scenario_event *events = parser->events.items;
    for (size_t i = 0; i < parser->events.count; i++) {
        if (events[i].every_ns > 0 && events[i].kind != SCENARIO_POINTS)
            plan(parser, events[i].place,
                 times_of(events[i].at.ns, events[i].until.ns, events[i].every_ns,
                          replicas_of(parser, &events[i].subject)),
                 &sum);
    }
}

/* Settings are judged under the rules of the file, wherever those stand. */
static void check_settings(struct parser *parser)
{
    const struct scenario_setting *sets = parser->sets.items;
    bool short_minutes = !rules_on(parser->scenario.rules, RULE_A14);
    for (size_t i = 0; i < parser->sets.count; i++) {
        struct err err = {0};
        if (settings_set(&parser->scenario.settings, sets[i].name, sets[i].value, short_minutes,
                         &err) != STATUS_OK)
            parser_fail(parser, sets[i].place, err.hint, "%s", err.message);
        for (size_t j = 0; j < i; j++) {
            if (strcmp(sets[i].name, sets[j].name) == 0)
                parser_fail(parser, sets[i].place, "", "\"%s\" is set twice, first on line %d",
                            sets[i].name, sets[j].place.line);
        }
    }
}

void check_scenario(struct parser *parser)
{
    bool sound = parser->errors->count == 0; /* else a subject may be one that was never read */
    check_missing(parser);
    check_used(parser);
    check_end(parser);
    if (sound && parser->run_place.line > 0) {
        check_replicas(parser, parser->scenario.run_until.ns);
        check_length(parser);
    }
    check_settings(parser);
}

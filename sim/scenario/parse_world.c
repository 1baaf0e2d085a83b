/* tenant, collector, writer, job, process. */
#include "core/base/assert.h"
#include "core/base/time.h"
#include "sim/limits.h"
#include "sim/scenario/parser.h"
#include <string.h>

static bool parse_tenant(struct parser *parser, struct scenario_item *item)
{
    item->kind = SCENARIO_ITEM_TENANT;
    item->index = parser->tenants.count;
    struct name *name = parser_declare(parser, SCENARIO_OF_TENANT, item->index);
    if (!name)
        return false;
    struct scenario_tenant tenant = {.place = item->place, .name = name->name};
    static const char *const options[] = {"id", "removed"};
    uint32_t seen = 0;
    int option;
    while (!parser_at_end(parser)) {
        if (!parser_read_option(parser, "an option of a tenant", options, 2, 0, &seen, &option))
            return false;
        if (option == 1) {
            tenant.removed = true;
            continue;
        }
        tenant.has_id = true;
        struct bytes text;
        struct place place = parser->at->place;
        if (!parser_read_text(parser, "a uuid", &text))
            return false;
        if (!uuid_parse(text, &tenant.id))
            return parser_fail(parser, place, "36 characters, 8-4-4-4-12",
                               "the text is not a uuid");
    }
    struct scenario_tenant *slot = parser_list_add(parser, &parser->tenants);
    if (!slot)
        return false;
    *slot = tenant;
    parser_declared(parser, tenant.name);
    return true;
}

static bool parse_collector(struct parser *parser, struct scenario_item *item)
{
    item->kind = SCENARIO_ITEM_COLLECTOR;
    item->index = parser->collectors.count;
    struct name *name = parser_declare(parser, SCENARIO_OF_COLLECTOR, item->index);
    if (!name)
        return false;
    struct scenario_collector collector = {
        .place = item->place, .name = name->name, .batch_exports = 1};
    static const char *const options[] = {"splits", "batches", "delays"};
    uint32_t seen = 0;
    int option;
    while (!parser_at_end(parser)) {
        if (!parser_read_option(parser, "an option of a collector", options, 3, 0, &seen, &option))
            return false;
        bool read = false;
        if (option == 0)
            read = parser_need(parser, "every") &&
                   parser_read_int(parser, "a number of points", 1, 1000000,
                                   &collector.split_points) &&
                   parser_need(parser, "points");
        else if (option == 1)
            read =
                parser_read_int(parser, "a number of exports", 2, 1000, &collector.batch_exports) &&
                parser_need(parser, "exports");
        else
            read = parser_read_duration(parser, false, &collector.delay_ns);
        if (!read)
            return false;
    }
    struct scenario_collector *slot = parser_list_add(parser, &parser->collectors);
    if (!slot)
        return false;
    *slot = collector;
    parser_declared(parser, collector.name);
    return true;
}

static bool parse_writer(struct parser *parser, struct scenario_item *item)
{
    item->kind = SCENARIO_ITEM_WRITER;
    item->index = parser->writers.count;
    struct name *name = parser_declare(parser, SCENARIO_OF_WRITER, item->index);
    if (!name)
        return false;
    struct scenario_writer writer = {.place = item->place, .name = name->name};
    writer.stopped = parser_accept(parser, "stopped");
    name->used = !writer.stopped;
    struct scenario_writer *slot = parser_list_add(parser, &parser->writers);
    if (!slot)
        return false;
    *slot = writer;
    parser_declared(parser, writer.name);
    return true;
}

static bool parse_job(struct parser *parser, struct scenario_item *item)
{
    item->kind = SCENARIO_ITEM_JOB;
    item->index = parser->jobs.count;
    struct scenario_job job = {.place = item->place};
    struct place place = parser->at->place;
    int kind;
    if (!parser_read_choice(parser, "a job", job_kinds, SCENARIO_JOB_KINDS, &kind))
        return false;
    job.kind = (enum scenario_job_kind)kind;
    struct name *name =
        parser_accept(parser, "as")
            ? parser_declare(parser, SCENARIO_OF_JOB, item->index)
            : parser_declare_as(parser, job_kinds[kind], place, SCENARIO_OF_JOB, item->index);
    if (!name)
        return false;
    job.name = name->name;
    if (parser_accept(parser, "by")) {
        if (!parser_need(parser, "hand"))
            return false;
    } else {
        if (!parser_next_is(parser, "every"))
            return parser_fail_expected(parser, "\"every\" or \"by hand\"", "");
        parser->at++;
        if (!parser_read_duration(parser, false, &job.every_ns))
            return false;
        name->used = true;
        job.has_first = parser_accept(parser, "first");
        if (job.has_first &&
            (!parser_need(parser, "at") || !parser_read_moment_of_run(parser, &job.first)))
            return false;
    }
    struct scenario_job *slot = parser_list_add(parser, &parser->jobs);
    if (!slot)
        return false;
    *slot = job;
    parser_declared(parser, job.name);
    return true;
}

/* ---- process ---- */

enum { EXPORTS, STARTED, CLOCK, REPLICAS, THROUGH, RAW, PROCESS_OPTIONS };

static bool parse_exports(struct parser *parser, struct scenario_process *process)
{
    if (!parser_need(parser, "every") ||
        !parser_read_duration(parser, false, &process->export_every_ns))
        return false;
    int temporality;
    if (!parser_read_choice(parser, NULL, temporality_names + 1, 2, &temporality))
        return false;
    process->temporality = (enum temporality)(temporality + 1);
    return true;
}

static bool parse_replicas(struct parser *parser, struct scenario_process *process)
{
    int64_t replicas;
    if (!parser_read_int(parser, "the number of replicas", 2, LIMIT_SCENARIO_REPLICAS, &replicas))
        return false;
    process->replicas = (int)replicas;
    process->apart_ns = NS_PER_US;
    return !parser_accept(parser, "apart") ||
           parser_read_duration(parser, true, &process->apart_ns);
}

static bool parse_process_option(struct parser *parser, int option,
                                 struct scenario_process *process)
{
    switch (option) {
    case EXPORTS:
        return parse_exports(parser, process);
    case STARTED:
        process->has_started = true;
        return parser_need(parser, "at") && parser_read_moment(parser, &process->started);
    case CLOCK:
        return parser_need(parser, "skew") &&
               parser_read_signed_duration(parser, &process->skew_ns);
    case REPLICAS:
        return parse_replicas(parser, process);
    case THROUGH: {
        struct scenario_subject subject;
        if (!parser_read_subject(parser, "a collector", KIND_BIT(SCENARIO_OF_COLLECTOR), &subject))
            return false;
        process->collector = subject.index;
        return true;
    }
    default:
        ASSERT(option == RAW);
        process->raw_sums = true;
        return parser_need(parser, "sums");
    }
}

static bool check_process(struct parser *parser, const struct scenario_process *process)
{
    if (process->export_every_ns == 0)
        return parser_fail(parser, process->place, "for example: exports every 1m cumulative",
                           "the process \"%s\" does not say how it exports", process->name);
    const struct scenario_bounds *bounds = &process->resource.bounds;
    for (size_t i = 1; i < bounds->count; i++) {
        if (!(bounds->bounds[i - 1] < bounds->bounds[i]))
            return parser_fail(parser, process->place, "only a series may send wrong bounds",
                               "the bounds of the process \"%s\" do not increase", process->name);
    }
    return true;
}

static bool parse_process(struct parser *parser, struct scenario_item *item)
{
    item->kind = SCENARIO_ITEM_PROCESS;
    item->index = parser->processes.count;
    struct name *name = parser_declare(parser, SCENARIO_OF_PROCESS, item->index);
    if (!name)
        return false;
    struct scenario_process process = {
        .place = item->place, .name = name->name, .replicas = 1, .collector = -1};
    if (!parser_need(parser, "of") || !parser_read_tenant(parser, &process.resource.tenant))
        return false;
    resource_defaults(&process.resource);
    const char *options[PROCESS_OPTIONS + RESOURCE_OPTIONS] = {"exports",  "started", "clock",
                                                               "replicas", "through", "raw"};
    memcpy(options + PROCESS_OPTIONS, resource_options, RESOURCE_OPTIONS * sizeof *options);
    struct list attributes = {.item_size = sizeof(struct scenario_attribute)};
    uint32_t seen = 0;
    int option;
    while (!parser_at_end(parser)) {
        if (!parser_read_option(parser, "an option of a process", options,
                                PROCESS_OPTIONS + RESOURCE_OPTIONS,
                                RESOURCE_REPEATABLE << PROCESS_OPTIONS, &seen, &option))
            return false;
        bool read = option < PROCESS_OPTIONS
                        ? parse_process_option(parser, option, &process)
                        : parse_resource_option(parser, option - PROCESS_OPTIONS, &process.resource,
                                                &attributes);
        if (!read)
            return false;
    }
    process.resource.attributes = attributes.items;
    process.resource.attribute_count = attributes.count;
    if (!check_process(parser, &process))
        return false;
    struct scenario_process *slot = parser_list_add(parser, &parser->processes);
    if (!slot)
        return false;
    *slot = process;
    parser_declared(parser, process.name);
    return true;
}

bool parse_declaration(struct parser *parser, const char *word, struct scenario_item *item)
{
    static const struct {
        const char *word;
        bool (*parse)(struct parser *parser, struct scenario_item *item);
    } statements[] = {
        {"tenant", parse_tenant}, {"collector", parse_collector}, {"writer", parse_writer},
        {"job", parse_job},       {"process", parse_process},     {"series", parse_series},
    };
    size_t which = 0;
    while (strcmp(statements[which].word, word) != 0) {
        which++;
        ASSERT(which < sizeof statements / sizeof statements[0]);
    }
    return statements[which].parse(parser, item) && parser_need_end(parser);
}

/* Header statements and declarations as text. */
#include "core/base/assert.h"
#include "sim/scenario/parser.h"
#include "sim/scenario/printer.h"
#include <string.h>

/* ---- header ---- */

static void print_queue(struct printer *printer, const struct scenario_queue *queue)
{
    static const char *const words[] = {"ack wait", "age limit", "dedup window"};
    printer_put(printer, "queue %s", words[queue->setting]);
    printer_put_duration(printer, queue->value_ns);
}

static void print_missing(struct printer *printer, const struct scenario_missing *missing)
{
    printer_put(printer, "without");
    if (missing->all)
        printer_put(printer, "partitions");
    else
        printer_put_partition(printer, missing->partition);
}

static void print_golden_rule(struct printer *printer, const struct scenario_golden_rule *rule)
{
    if (rule->column)
        printer_put(printer, "golden ignoring %s.%s", rule->table, rule->column);
    else
        printer_put(printer, "golden without %s", rule->table);
    printer_option(printer);
    printer_put(printer, "because");
    printer_put_string(printer, rule->because);
}

static void print_offset(struct printer *printer, const struct scenario_offset *offset)
{
    printer_put(printer, "session offset");
    printer_put_duration(printer, offset->offset_ns);
    if (offset->has_from) {
        printer_put(printer, "from");
        printer_put_moment(printer, offset->from);
    }
}

void print_header(struct printer *printer, const struct scenario_item *item)
{
    const struct scenario *scenario = printer->scenario;
    switch (item->kind) {
    case SCENARIO_ITEM_TITLE:
        printer_put(printer, "scenario");
        printer_put_string(printer, scenario->title);
        break;
    case SCENARIO_ITEM_CITES:
        printer_put(printer, "cites");
        for (size_t i = 0; i < scenario->cite_count; i++) {
            printer_option(printer);
            printer_put(printer, "%s", scenario->cites[i]);
        }
        break;
    case SCENARIO_ITEM_START:
        printer_put(printer, "start");
        printer_put_moment(printer, (struct moment){scenario->start_ns, true});
        break;
    case SCENARIO_ITEM_SET:
        printer_put(printer, "set %s %s", scenario->sets[item->index].name,
                    scenario->sets[item->index].value);
        break;
    case SCENARIO_ITEM_RULES:
        printer_put(printer, "rules %s", scenario->rules_text);
        break;
    case SCENARIO_ITEM_SESSION:
        print_offset(printer, &scenario->offsets[item->index]);
        break;
    case SCENARIO_ITEM_QUEUE:
        print_queue(printer, &scenario->queues[item->index]);
        break;
    case SCENARIO_ITEM_WITHOUT_PARTITION:
        print_missing(printer, &scenario->missing[item->index]);
        break;
    case SCENARIO_ITEM_RUN:
        printer_put(printer, "run until");
        printer_put_moment(printer, scenario->run_until);
        if (scenario->without_draining)
            printer_put(printer, "without draining");
        break;
    default:
        ASSERT(item->kind == SCENARIO_ITEM_GOLDEN);
        print_golden_rule(printer, &scenario->golden_rules[item->index]);
    }
}

/* ---- what processes and series share ---- */

static void print_attribute(struct printer *printer, const char *what,
                            const struct scenario_attribute *attribute)
{
    printer_option(printer);
    printer_put(printer, "%s", what);
    printer_put_text(printer, attribute->key);
    if (attribute->type == SCENARIO_STRING)
        printer_put_text(printer, attribute->text);
    else if (attribute->type == SCENARIO_BOOL)
        printer_put(printer, "%s", attribute->integer ? "true" : "false");
    else if (attribute->type == SCENARIO_INT)
        printer_put(printer, "%lld", (long long)attribute->integer);
    else
        printer_put_double(printer, attribute->number);
}

static void print_named_text(struct printer *printer, const char *what, struct bytes text)
{
    if (!text.data)
        return;
    printer_option(printer);
    printer_put(printer, "%s", what);
    printer_put_text(printer, text);
}

static void print_bounds(struct printer *printer, const struct scenario_bounds *bounds)
{
    if (bounds->kind == SCENARIO_BOUNDS_CANONICAL)
        return;
    printer_option(printer);
    printer_put(printer, "bounds");
    if (bounds->kind == SCENARIO_BOUNDS_MILLISECONDS)
        printer_put(printer, "milliseconds");
    else if (bounds->kind == SCENARIO_BOUNDS_NONE)
        printer_put(printer, "none");
    for (size_t i = 0; bounds->kind == SCENARIO_BOUNDS_LIST && i < bounds->count; i++) {
        printer_put_number(printer, bounds->bounds[i]);
        printer_option(printer); /* a long list wraps */
    }
}

static void print_resource(struct printer *printer, const struct scenario_resource *resource)
{
    print_bounds(printer, &resource->bounds);
    print_named_text(printer, "metric", resource->metric);
    print_named_text(printer, "unit", resource->unit);
    if (resource->source == SOURCE_SPAN) {
        printer_option(printer);
        printer_put(printer, "source span");
    }
    if (resource->has_scope) {
        print_named_text(printer, "scope", resource->scope_name);
        if (resource->scope_version.size > 0)
            printer_put_text(printer, resource->scope_version);
    }
    if (resource->redacted) {
        printer_option(printer);
        printer_put(printer, "redacted");
    }
    for (size_t i = 0; i < resource->attribute_count; i++)
        print_attribute(printer, "attribute", &resource->attributes[i]);
}

/* ---- declarations ---- */

static void print_tenant(struct printer *printer, const struct scenario_tenant *tenant)
{
    printer_put(printer, "tenant %s", tenant->name);
    if (tenant->has_id) {
        char text[UUID_TEXT_SIZE + 1];
        uuid_format(&tenant->id, text);
        printer_put(printer, "id \"%s\"", text);
    }
    if (tenant->removed)
        printer_put(printer, "removed");
}

static void print_process(struct printer *printer, const struct scenario_process *process)
{
    printer_put(printer, "process %s of %s", process->name,
                printer_tenant(printer, process->resource.tenant));
    if (process->resource.service.data) {
        printer_put(printer, "service");
        printer_put_text(printer, process->resource.service);
    }
    printer_option(printer);
    printer_put(printer, "exports every");
    printer_put_duration(printer, process->export_every_ns);
    printer_put(printer, "%s", temporality_names[process->temporality]);
    if (process->has_started) {
        printer_option(printer);
        printer_put(printer, "started at");
        printer_put_moment(printer, process->started);
    }
    if (process->skew_ns != 0) {
        printer_option(printer);
        printer_put(printer, "clock skew");
        printer_put_duration(printer, process->skew_ns);
    }
    if (process->replicas > 1) {
        printer_option(printer);
        printer_put(printer, "replicas %d apart", process->replicas);
        printer_put_duration(printer, process->apart_ns);
    }
    if (process->collector >= 0) {
        printer_option(printer);
        printer_put(printer, "through %s", printer->scenario->collectors[process->collector].name);
    }
    if (process->raw_sums) {
        printer_option(printer);
        printer_put(printer, "raw sums");
    }
    print_resource(printer, &process->resource);
}

static void print_collector(struct printer *printer, const struct scenario_collector *collector)
{
    printer_put(printer, "collector %s", collector->name);
    if (collector->split_points > 0)
        printer_put(printer, "splits every %lld points", (long long)collector->split_points);
    if (collector->batch_exports > 1)
        printer_put(printer, "batches %lld exports", (long long)collector->batch_exports);
    if (collector->delay_ns > 0) {
        printer_put(printer, "delays");
        printer_put_duration(printer, collector->delay_ns);
    }
}

static void print_job(struct printer *printer, const struct scenario_job *job)
{
    printer_put(printer, "job %s", job_kinds[job->kind]);
    if (strcmp(job->name, job_kinds[job->kind]) != 0)
        printer_put(printer, "as %s", job->name);
    if (job->every_ns == 0) {
        printer_put(printer, "by hand");
        return;
    }
    printer_put(printer, "every");
    printer_put_duration(printer, job->every_ns);
    if (job->has_first) {
        printer_put(printer, "first at");
        printer_put_moment(printer, job->first);
    }
}

static void print_series(struct printer *printer, const struct scenario_series *series)
{
    printer_put(printer, "series %s of %s", series->name,
                printer_tenant(printer, series->resource.tenant));
    if (series->resource.service.data) {
        printer_put(printer, "service");
        printer_put_text(printer, series->resource.service);
    }
    printer_put_request(printer, &series->request);
    if (series->start_kind == SCENARIO_START_AT) {
        printer_option(printer);
        printer_put(printer, "start");
        printer_put_moment(printer, series->start);
    } else if (series->temporality == TEMPORALITY_CUMULATIVE) {
        printer_option(printer);
        printer_put(printer, "start unknown");
    }
    printer_option(printer);
    printer_put(printer, "%s", temporality_names[series->temporality]);
    if (series->type != SCENARIO_HISTOGRAM) {
        printer_option(printer);
        printer_put(printer, "type %s", type_names[series->type]);
    }
    print_resource(printer, &series->resource);
    for (size_t i = 0; i < series->attribute_count; i++)
        print_attribute(printer, "point attribute", &series->attributes[i]);
}

void print_declaration(struct printer *printer, const struct scenario_item *item)
{
    const struct scenario *scenario = printer->scenario;
    switch (item->kind) {
    case SCENARIO_ITEM_TENANT:
        print_tenant(printer, &scenario->tenants[item->index]);
        break;
    case SCENARIO_ITEM_PROCESS:
        print_process(printer, &scenario->processes[item->index]);
        break;
    case SCENARIO_ITEM_COLLECTOR:
        print_collector(printer, &scenario->collectors[item->index]);
        break;
    case SCENARIO_ITEM_WRITER:
        printer_put(printer, "writer %s", scenario->writers[item->index].name);
        if (scenario->writers[item->index].stopped)
            printer_put(printer, "stopped");
        break;
    case SCENARIO_ITEM_JOB:
        print_job(printer, &scenario->jobs[item->index]);
        break;
    default:
        ASSERT(item->kind == SCENARIO_ITEM_SERIES);
        print_series(printer, &scenario->series[item->index]);
    }
}

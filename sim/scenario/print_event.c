/* Events, faults and expectations as text. */
#include "core/base/assert.h"
#include "core/store/store.h"
#include "sim/scenario/parser.h"
#include "sim/scenario/printer.h"
#include <inttypes.h>
#include <stdio.h>

static void print_time(struct printer *printer, const struct scenario_event *event)
{
    bool span = event->every_ns > 0;
    printer_put(printer, "%s", span ? "from" : "at");
    printer_put_moment(printer, event->at);
    if (span && event->kind != SCENARIO_POINTS) {
        printer_put(printer, "until");
        printer_put_moment(printer, event->until);
    }
    if (span) {
        printer_put(printer, "every");
        printer_put_duration(printer, event->every_ns);
    }
    printer_align(printer);
}

/* ---- points ---- */

static void print_step(struct printer *printer, const struct scenario_step *step)
{
    char sign[2] = "";
    if (step->kind == SCENARIO_STEP_INCREASE || step->kind == SCENARIO_STEP_DECREASE)
        sign[0] = step->kind == SCENARIO_STEP_INCREASE ? '+' : '-';
    char repeat[24] = "";
    if (step->repeat > 1)
        snprintf(repeat, sizeof repeat, "x%" PRId64, step->repeat);
    if (step->kind == SCENARIO_STEP_GAP) {
        printer_put(printer, "_%s", repeat);
    } else if (step->bucket_count == 0) {
        printer_put(printer, "%s%" PRIu64 "%s", sign, step->count, repeat);
    } else {
        for (size_t i = 0; i < step->bucket_count; i++) {
            bool last = i + 1 == step->bucket_count;
            printer_put(printer, "%sb%d:%" PRIu64 "%s", i == 0 ? sign : ",",
                        step->buckets[i].bucket, step->buckets[i].count, last ? repeat : "");
            printer_join(printer);
        }
        printer_part(printer);
    }
}

static void print_point_options(struct printer *printer, const struct scenario_step *step)
{
    if (step->has_time) {
        printer_put(printer, "time");
        printer_put_moment(printer, step->time);
    }
    if (step->has_start) {
        printer_put(printer, "start");
        if (step->start_unknown)
            printer_put(printer, "unknown");
        else
            printer_put_moment(printer, step->start);
    }
    if (step->has_sum) {
        printer_put(printer, "sum");
        printer_put_number(printer, step->sum);
    }
    if (step->no_sum)
        printer_put(printer, "no sum");
    if (step->has_count)
        printer_put(printer, "count %" PRIu64, step->total);
    if (step->has_flags)
        printer_put(printer, "flags %" PRIu32, step->flags);
}

static void print_message_options(struct printer *printer, const struct scenario_event *event,
                                  bool with_id)
{
    if (event->msg_id_written && !event->msg_id)
        printer_put(printer, "without id");
    if (with_id && event->msg_id_written && event->msg_id) {
        printer_put(printer, "as");
        printer_put_string(printer, event->msg_id);
    }
    if (event->stamp == SCENARIO_STAMP_OTHER)
        printer_put(printer, "stamped %s", printer_tenant(printer, event->stamp_tenant));
    else if (event->stamp == SCENARIO_STAMP_NONE)
        printer_put(printer, "unstamped");
}

static void print_message(struct printer *printer, const struct scenario_event *event)
{
    printer_put(printer, "message");
    if (event->msg_id_written && event->msg_id)
        printer_put_string(printer, event->msg_id);
    printer_put(printer, "of %s", printer_tenant(printer, event->tenant));
    print_message_options(printer, event, false);
    for (size_t i = 0; i < event->step_count; i++) {
        printer_line(printer);
        printer_put(printer, "%s", printer->scenario->series[event->steps[i].series].name);
        print_step(printer, &event->steps[i]);
        print_point_options(printer, &event->steps[i]);
    }
}

void print_sends(struct printer *printer, const struct scenario_event *event)
{
    if (event->in_block) {
        print_message(printer, event);
        return;
    }
    printer_put(printer, "%s sends", event->subject.name);
    for (size_t i = 0; i < event->step_count; i++) {
        if (event->kind == SCENARIO_POINTS)
            printer_option(printer);
        print_step(printer, &event->steps[i]);
        print_point_options(printer, &event->steps[i]);
    }
    if (event->kind == SCENARIO_SEND)
        print_message_options(printer, event, true);
}

static void print_deliver(struct printer *printer, const struct scenario_event *event)
{
    if (event->kind == SCENARIO_DELIVER_FILE) {
        printer_put(printer, "deliver file");
        printer_put_string(printer, event->path);
    } else {
        printer_put(printer, "deliver bytes");
        printer_put_hex(printer, event->bytes);
    }
    printer_put(printer, "of %s", printer_tenant(printer, event->tenant));
    print_message_options(printer, event, true);
}

/* ---- events ---- */

static void print_serve(struct printer *printer, const struct scenario_event *event)
{
    printer_put(printer, "%s serves", event->subject.name);
    printer_put_request(printer, &event->request);
    printer_put(printer, "in");
    printer_put_duration(printer, event->duration_ns);
    if (event->times != 1)
        printer_put(printer, "times %lld", (long long)event->times);
    if (event->error_type.data) {
        printer_put(printer, "error");
        printer_put_text(printer, event->error_type);
    }
}

static void print_again(struct printer *printer, const char *words,
                        const struct scenario_event *event)
{
    printer_put(printer, "%s", words);
    printer_put_string(printer, event->msg_id);
}

static void print_partition(struct printer *printer, const char *word,
                            const struct scenario_event *event)
{
    printer_put(printer, "%s", word);
    printer_put_partition(printer, event->partition);
}

static void print_act(struct printer *printer, const struct scenario_event *event)
{
    static const char *const verbs[] = {
        [SCENARIO_STARTS] = "starts",   [SCENARIO_STOPS] = "stops",
        [SCENARIO_CRASHES] = "crashes", [SCENARIO_RESTARTS] = "restarts",
        [SCENARIO_EXPORTS] = "exports", [SCENARIO_RUNS] = "runs",
        [SCENARIO_RESENDS] = "resends",
    };
    ASSERT(event->kind >= SCENARIO_STARTS && event->kind <= SCENARIO_RUNS);
    printer_put(printer, "%s %s", event->subject.name, verbs[event->kind]);
    if (event->without_flush)
        printer_put(printer, "without flush");
}

void print_event(struct printer *printer, const struct scenario_event *event)
{
    if (event->kind == SCENARIO_GOLDEN) {
        printer_put(printer, "golden at");
        printer_put_moment(printer, event->at);
        return;
    }
    print_time(printer, event);
    switch (event->kind) {
    case SCENARIO_SERVE:
        print_serve(printer, event);
        break;
    case SCENARIO_SEND:
    case SCENARIO_POINTS:
        print_sends(printer, event);
        break;
    case SCENARIO_DELIVER_BYTES:
    case SCENARIO_DELIVER_FILE:
        print_deliver(printer, event);
        break;
    case SCENARIO_REDELIVER:
        print_again(printer, "redeliver", event);
        break;
    case SCENARIO_PUBLISH_AGAIN:
        print_again(printer, "publish again", event);
        break;
    case SCENARIO_RELEASE:
        printer_put(printer, "release %s", event->subject.name);
        break;
    case SCENARIO_RAISE_FENCE:
        printer_put(printer, "raise fence %s", fence_names[event->fence]);
        break;
    case SCENARIO_REMOVE_TENANT:
        printer_put(printer, "remove tenant %s", event->subject.name);
        break;
    case SCENARIO_PURGE:
        printer_put(printer, "purge %s%s", event->subject.name,
                    event->keep_aggregates ? " keeping aggregates" : "");
        break;
    case SCENARIO_CREATE_PARTITION:
        print_partition(printer, "create", event);
        break;
    case SCENARIO_DROP_PARTITION:
        print_partition(printer, "drop", event);
        break;
    case SCENARIO_EXPECT:
        printer_put(printer, "expect");
        print_expect(printer, &event->expect);
        break;
    default:
        print_act(printer, event);
    }
}

/* ---- faults ---- */

void print_fault(struct printer *printer, const struct scenario_fault *fault)
{
    if (fault->has_from) {
        printer_put(printer, "%s", fault->has_until ? "from" : "at");
        printer_put_moment(printer, fault->from);
        if (fault->has_until) {
            printer_put(printer, "until");
            printer_put_moment(printer, fault->until);
        }
        printer_align(printer);
    }
    const struct fault_info *info = &fault_infos[fault->kind];
    bool anyone = fault->kind == FAULT_ERROR || fault->kind == FAULT_LOST_REPLY;
    if (anyone)
        printer_put(printer, "%s %s", info->words, fault->step);
    else
        printer_put(printer, "%s %s %s %s", info->words, fault->actor.name,
                    fault->after ? "after" : "before", fault->step);
    if (info->has_sqlstate)
        printer_put(printer, "%s", fault->sqlstate);
    if (fault->times == INT64_MAX)
        printer_put(printer, "always");
    else if (fault->times != 1)
        printer_put(printer, "%lld times", (long long)fault->times);
    else if (anyone)
        printer_put(printer, "once");
    if (anyone && fault->actor.kind != SCENARIO_NOBODY)
        printer_put(printer, "of %s", fault->actor.name);
    if (fault->nth != 1)
        printer_put(printer, "nth %lld", (long long)fault->nth);
    if (fault->where) {
        printer_put(printer, "where");
        printer_put_string(printer, fault->where);
    }
}

/* ---- expectations ---- */

static void print_selector(struct printer *printer, const struct scenario_selector *selector)
{
    printer_put(printer, "%s of %s", level_names[selector->level],
                printer_tenant(printer, selector->tenant));
    if (selector->has_service) {
        printer_put(printer, "service");
        printer_put_text(printer, selector->service);
    }
    if (selector->has_request)
        printer_put_request(printer, &selector->request);
    if (selector->has_source)
        printer_put(printer, "source %s", source_names[selector->source == SOURCE_SPAN]);
    if (selector->has_range) {
        printer_put(printer, "from");
        printer_put_moment(printer, selector->from);
        printer_put(printer, "until");
        printer_put_moment(printer, selector->until);
    }
}

static void print_reason(struct printer *printer, const struct scenario_expect *expect)
{
    if (expect->has_reason)
        printer_put(printer, "reason %s", message_outcome_name(expect->message));
}

/* All but the answer, and the reason of a dead letter that stands behind it. */
static void print_question(struct printer *printer, const struct scenario_expect *expect)
{
    static const char *const levels[] = {"info", "warning", "error"};
    switch (expect->kind) {
    case SCENARIO_EXPECT_OUTCOME:
        printer_put(printer, "outcome %s", point_outcome_name(expect->outcome));
        break;
    case SCENARIO_EXPECT_MESSAGE:
        printer_put(printer, "message %s", message_outcome_name(expect->message));
        break;
    case SCENARIO_EXPECT_DLQ:
        printer_put(printer, "dlq");
        break;
    case SCENARIO_EXPECT_ROWS:
        printer_put(printer, "rows %s", expect->name);
        break;
    case SCENARIO_EXPECT_REQUESTS:
        printer_put(printer, "requests");
        print_selector(printer, &expect->selector);
        break;
    case SCENARIO_EXPECT_SUM:
        printer_put(printer, "sum");
        print_selector(printer, &expect->selector);
        break;
    case SCENARIO_EXPECT_QUANTILE:
        printer_put(printer, "p%s", expect->q_text);
        print_selector(printer, &expect->selector);
        break;
    case SCENARIO_EXPECT_WARNING:
        printer_put(printer, "warning %s", expect->name);
        break;
    case SCENARIO_EXPECT_LOG:
        printer_put(printer, "log %s %s", levels[expect->log_level], expect->name);
        break;
    case SCENARIO_EXPECT_COUNTER:
        printer_put(printer, "counter %s", counter_name(expect->counter));
        break;
    case SCENARIO_EXPECT_PENDING:
        printer_put(printer, "pending");
        break;
    case SCENARIO_EXPECT_QUEUE:
        printer_put(printer, "queue");
        break;
    }
    if (expect->tenant >= 0)
        printer_put(printer, "of %s", printer_tenant(printer, expect->tenant));
}

void print_expect(struct printer *printer, const struct scenario_expect *expect)
{
    print_question(printer, expect);
    if (expect->kind == SCENARIO_EXPECT_SUM)
        printer_put(printer, "%s", expect->number_text);
    else if (expect->kind == SCENARIO_EXPECT_QUANTILE)
        printer_put(printer, "%s",
                    expect->answer == SCENARIO_QUANTILE_OPEN   ? ">10s"
                    : expect->answer == SCENARIO_QUANTILE_NONE ? "none"
                                                               : expect->number_text);
    else
        printer_put(printer, "%lld", (long long)expect->count);
    print_reason(printer, expect);
}

void print_expected(struct printer *printer, const struct scenario_expect *expect)
{
    print_question(printer, expect);
    print_reason(printer, expect);
}

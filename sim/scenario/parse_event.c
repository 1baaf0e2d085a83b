/* What happens: the time in front, and what follows it. */
#include "core/base/assert.h"
#include "sim/limits.h"
#include "sim/scenario/parser.h"
#include <stdio.h>
#include <string.h>

/* at M | from M until M | from M until M every D | from M every D */
static bool parse_time(struct parser *parser, struct time_clause *time)
{
    time->place = parser->at->place;
    if (parser_accept(parser, "at")) {
        time->has_at = true;
        return parser_read_moment_of_run(parser, &time->at);
    }
    time->has_from = true;
    if (!parser_need(parser, "from") || !parser_read_moment_of_run(parser, &time->at))
        return false;
    struct place place = parser->at->place;
    if (parser_accept(parser, "until")) {
        time->has_until = true;
        place = parser->at->place;
        if (!parser_read_moment_of_run(parser, &time->until))
            return false;
        if (time->until.ns <= time->at.ns)
            return parser_fail(parser, place, "", "the span ends before it begins");
    }
    if (parser_accept(parser, "every"))
        return parser_read_duration(parser, false, &time->every_ns);
    return time->has_until || parser_fail_expected(parser, "\"until\" or \"every\"",
                                                   "for example: from 0s until 30m every 1s");
}

/* What comes once needs `at`. */
static bool need_at(struct parser *parser, const struct time_clause *time)
{
    return time->has_at || parser_fail(parser, time->place, "write: at TIME ...",
                                       "that happens at one time, not over a span");
}

/* What may come once or again and again: `at`, or `from until every`. */
static bool need_rhythm(struct parser *parser, const struct time_clause *time)
{
    if (time->has_at || (time->has_until && time->every_ns > 0))
        return true;
    return parser_fail(parser, time->place, "write: from TIME until TIME every DURATION ...",
                       "what is done over a span needs its beginning, its end and its period");
}

/* ---- NAME does something ---- */

enum { SERVES, STARTS, STOPS, CRASHES, RESTARTS, EXPORTS, RESENDS, RUNS, SENDS, VERBS };

static const char *const verbs[VERBS] = {"serves",  "starts",  "stops", "crashes", "restarts",
                                         "exports", "resends", "runs",  "sends"};

static const uint32_t verb_subjects[VERBS] = {
    [SERVES] = KIND_BIT(SCENARIO_OF_PROCESS),
    [STARTS] = KIND_BIT(SCENARIO_OF_PROCESS) | KIND_BIT(SCENARIO_OF_COLLECTOR) |
               KIND_BIT(SCENARIO_OF_WRITER) | KIND_BIT(SCENARIO_OF_JOB),
    [STOPS] = KIND_BIT(SCENARIO_OF_PROCESS) | KIND_BIT(SCENARIO_OF_COLLECTOR) |
              KIND_BIT(SCENARIO_OF_WRITER) | KIND_BIT(SCENARIO_OF_JOB),
    [CRASHES] = KIND_BIT(SCENARIO_OF_PROCESS) | KIND_BIT(SCENARIO_OF_COLLECTOR) |
                KIND_BIT(SCENARIO_OF_WRITER) | KIND_BIT(SCENARIO_OF_JOB),
    [RESTARTS] = KIND_BIT(SCENARIO_OF_PROCESS) | KIND_BIT(SCENARIO_OF_COLLECTOR) |
                 KIND_BIT(SCENARIO_OF_WRITER) | KIND_BIT(SCENARIO_OF_JOB),
    [EXPORTS] = KIND_BIT(SCENARIO_OF_PROCESS),
    [RESENDS] = KIND_BIT(SCENARIO_OF_PROCESS),
    [RUNS] = KIND_BIT(SCENARIO_OF_JOB),
    [SENDS] = KIND_BIT(SCENARIO_OF_SERIES),
};

static bool parse_serves(struct parser *parser, struct scenario_event *event)
{
    event->times = 1;
    if (!parser_read_request(parser, &event->request) || !parser_need(parser, "in") ||
        !parser_read_duration(parser, true, &event->duration_ns))
        return false;
    static const char *const options[] = {"times", "error"};
    uint32_t seen = 0;
    int option;
    while (!parser_at_end(parser)) {
        if (!parser_read_option(parser, "\"times\" or \"error\"", options, 2, 0, &seen, &option))
            return false;
        if (option == 0
                ? !parser_read_int(parser, "a number of requests", 1, 1000000000, &event->times)
                : !parser_read_text(parser, "an error type", &event->error_type))
            return false;
    }
    return true;
}

static bool parse_verb(struct parser *parser, int verb, const struct time_clause *time,
                       struct scenario_event *event)
{
    if (verb == SENDS)
        return parse_sends(parser, time, event);
    if (verb == SERVES || verb == EXPORTS || verb == RUNS) {
        if (!need_rhythm(parser, time))
            return false;
    } else if (!need_at(parser, time)) {
        return false;
    }
    static const enum scenario_event_kind kinds[VERBS] = {
        SCENARIO_SERVE,   SCENARIO_STARTS,  SCENARIO_STOPS, SCENARIO_CRASHES, SCENARIO_RESTARTS,
        SCENARIO_EXPORTS, SCENARIO_RESENDS, SCENARIO_RUNS,  SCENARIO_SEND};
    event->kind = kinds[verb];
    if (verb == SERVES)
        return parse_serves(parser, event);
    if (verb == STOPS && parser_accept(parser, "without")) {
        event->without_flush = true;
        if (event->subject.kind != SCENARIO_OF_PROCESS)
            return parser_fail(parser, event->subject.place, "", "only a process flushes");
        return parser_need(parser, "flush");
    }
    return true;
}

/* "shop-1 serves ...": which verbs there are depends on who acts. */
static bool parse_act(struct parser *parser, const struct time_clause *time,
                      struct scenario_event *event)
{
    uint32_t anyone = 0;
    for (int verb = 0; verb < VERBS; verb++)
        anyone |= verb_subjects[verb];
    if (!parser_read_subject(parser, "who acts, or what happens", anyone, &event->subject))
        return false;
    const char *words[VERBS];
    int known[VERBS];
    size_t count = 0;
    for (int verb = 0; verb < VERBS; verb++) {
        if (verb_subjects[verb] & KIND_BIT(event->subject.kind)) {
            words[count] = verbs[verb];
            known[count++] = verb;
        }
    }
    int choice;
    char what[LIMIT_SCENARIO_NAME_BYTES + 40];
    snprintf(what, sizeof what, "what \"%s\" does", event->subject.name);
    ASSERT(count > 0);
    return parser_read_choice(parser, what, words, count, &choice) &&
           parse_verb(parser, known[choice], time, event);
}

/* ---- what happens without an actor ---- */

/* "s1-7" is one of the ids s1-4, s1-5, ... of a shorthand. */
static bool is_point_id(const struct scenario_event *event, const char *id)
{
    size_t prefix = strlen(event->subject.name) + 1;
    int64_t first;
    int64_t number;
    if (strncmp(event->msg_ids[0], id, prefix) != 0 ||
        !text_to_int(event->msg_ids[0] + prefix, strlen(event->msg_ids[0] + prefix), &first) ||
        !text_to_int(id + prefix, strlen(id + prefix), &number))
        return false;
    return number >= first && number < first + (int64_t)event->point_count &&
           strcmp(event->msg_ids[number - first], id) == 0;
}

/* Messages are known by their ids; those that a collector gives cannot be checked here. */
static bool check_msg_id(struct parser *parser, const char *id, struct place place)
{
    const struct scenario_event *events = parser->events.items;
    for (size_t i = 0; i < parser->events.count; i++) {
        if (events[i].msg_id && strcmp(events[i].msg_id, id) == 0)
            return true;
        if (events[i].msg_ids && events[i].point_count > 0 && is_point_id(&events[i], id))
            return true;
    }
    return parser->processes.count > 0 ||
           parser_fail(parser, place, "a message gets an id of its own with: as \"...\"",
                       "no message \"%s\" is sent above", id);
}

static bool parse_again(struct parser *parser, struct scenario_event *event)
{
    struct place place = parser->at->place;
    event->msg_id_written = true;
    return parser_read_string(parser, "the id of a message", &event->msg_id) &&
           check_msg_id(parser, event->msg_id, place);
}

static bool parse_redeliver(struct parser *parser, struct scenario_event *event)
{
    event->kind = SCENARIO_REDELIVER;
    return parse_again(parser, event);
}

static bool parse_publish(struct parser *parser, struct scenario_event *event)
{
    event->kind = SCENARIO_PUBLISH_AGAIN;
    return parser_need(parser, "again") && parse_again(parser, event);
}

static bool parse_release(struct parser *parser, struct scenario_event *event)
{
    event->kind = SCENARIO_RELEASE;
    return parser_read_subject(parser, "a writer or a job",
                               KIND_BIT(SCENARIO_OF_WRITER) | KIND_BIT(SCENARIO_OF_JOB),
                               &event->subject);
}

static bool parse_raise(struct parser *parser, struct scenario_event *event)
{
    event->kind = SCENARIO_RAISE_FENCE;
    int fence;
    if (!parser_need(parser, "fence") ||
        !parser_read_choice(parser, "a fence", fence_names, 4, &fence))
        return false;
    event->fence = (enum scenario_fence)fence;
    return true;
}

static bool parse_remove(struct parser *parser, struct scenario_event *event)
{
    event->kind = SCENARIO_REMOVE_TENANT;
    return parser_need(parser, "tenant") &&
           parser_read_subject(parser, "a tenant", KIND_BIT(SCENARIO_OF_TENANT), &event->subject);
}

static bool parse_purge(struct parser *parser, struct scenario_event *event)
{
    event->kind = SCENARIO_PURGE;
    if (!parser_read_subject(parser, "a tenant", KIND_BIT(SCENARIO_OF_TENANT), &event->subject))
        return false;
    event->keep_aggregates = parser_accept(parser, "keeping");
    return !event->keep_aggregates || parser_need(parser, "aggregates");
}

static bool parse_create(struct parser *parser, struct scenario_event *event)
{
    event->kind = SCENARIO_CREATE_PARTITION;
    return parser_read_partition(parser, &event->partition);
}

static bool parse_drop(struct parser *parser, struct scenario_event *event)
{
    event->kind = SCENARIO_DROP_PARTITION;
    return parser_read_partition(parser, &event->partition);
}

static bool parse_expect_now(struct parser *parser, struct scenario_event *event)
{
    event->kind = SCENARIO_EXPECT;
    return parse_expect(parser, &event->expect);
}

static bool parse_message_now(struct parser *parser, struct scenario_event *event)
{
    event->kind = SCENARIO_SEND;
    return parse_message(parser, event);
}

static const struct {
    const char *word;
    bool (*parse)(struct parser *parser, struct scenario_event *event);
} happenings[] = {
    {"message", parse_message_now}, {"deliver", parse_deliver},   {"redeliver", parse_redeliver},
    {"publish", parse_publish},     {"release", parse_release},   {"raise", parse_raise},
    {"remove", parse_remove},       {"purge", parse_purge},       {"create", parse_create},
    {"drop", parse_drop},           {"expect", parse_expect_now},
};
#define HAPPENINGS (sizeof happenings / sizeof happenings[0])

bool parse_event(struct parser *parser, const struct time_clause *time, struct scenario_item *item)
{
    item->kind = SCENARIO_ITEM_EVENT;
    item->index = parser->events.count;
    struct scenario_event event = {.place = item->place,
                                   .at = time->at,
                                   .until = time->until,
                                   .every_ns = time->every_ns,
                                   .tenant = -1,
                                   .stamp_tenant = -1};
    event.subject.index = -1;
    size_t which = 0;
    while (which < HAPPENINGS && !parser_next_is(parser, happenings[which].word))
        which++;
    if (which == HAPPENINGS) {
        if (!parse_act(parser, time, &event))
            return false;
    } else {
        if (!need_at(parser, time))
            return false;
        parser->at++;
        if (!happenings[which].parse(parser, &event))
            return false;
    }
    if (!parser_need_end(parser))
        return false;
    struct scenario_event *slot = parser_list_add(parser, &parser->events);
    if (slot)
        *slot = event;
    return slot != NULL;
}

bool parse_timed(struct parser *parser, struct scenario_item *item)
{
    struct time_clause time = {0};
    if (!parse_time(parser, &time))
        return false;
    if (is_fault_word(parser->at))
        return parse_fault(parser, &time, item);
    return parse_event(parser, &time, item);
}

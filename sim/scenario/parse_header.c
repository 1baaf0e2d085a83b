/* scenario, cites, start, set, rules, session, queue, without, run, golden. */
#include "core/base/assert.h"
#include "core/base/nearest.h"
#include "core/base/time.h"
#include "sim/limits.h"
#include "sim/scenario/moment.h"
#include "sim/scenario/parser.h"
#include "sim/scenario/rule_ids.h"
#include <stdio.h>
#include <string.h>

/* A statement that may stand once. place: where it stands, line 0 before. */
static bool take_once(struct parser *parser, struct place *place, struct place here,
                      const char *word)
{
    if (place->line > 0)
        return parser_fail(parser, here, "", "\"%s\" is given twice, first on line %d", word,
                           place->line);
    *place = here;
    return true;
}

static bool parse_title(struct parser *parser, struct scenario_item *item)
{
    item->kind = SCENARIO_ITEM_TITLE;
    return take_once(parser, &parser->title_place, item->place, "scenario") &&
           parser_read_string(parser, "a title: what the scenario claims", &parser->scenario.title);
}

/* A rule of core/CONTRACT.md, or "MS": its parts without an id. */
static bool read_rule_id(struct parser *parser, const char **id)
{
    const struct token *token = parser->at;
    struct nearest nearest =
        nearest_begin((struct bytes){(const uint8_t *)token->text, token->size});
    if (token->kind != TOKEN_WORD)
        return parser_fail_expected(parser, "the id of a rule", "for example A-5, S-1, R-PT-3");
    bool known = strcmp(token->text, "MS") == 0;
    for (size_t i = 0; i < rule_id_count && !known; i++) {
        known = strcmp(token->text, rule_ids[i]) == 0;
        nearest_offer(&nearest, rule_ids[i]);
    }
    if (!known) {
        char hint[sizeof parser->errors->errors[0].hint] = "core/CONTRACT.md defines them";
        if (nearest_name(&nearest))
            snprintf(hint, sizeof hint, "did you mean \"%s\"? core/CONTRACT.md defines them",
                     nearest_name(&nearest));
        return parser_fail(parser, token->place, hint, "unknown rule id \"%.40s\"", token->text);
    }
    *id = token->text;
    parser->at++;
    return true;
}

static bool parse_cites(struct parser *parser, struct scenario_item *item)
{
    item->kind = SCENARIO_ITEM_CITES;
    if (parser->cites.count > 0)
        return parser_fail(parser, item->place, "", "\"cites\" is given twice");
    do {
        const char *id = NULL;
        if (!read_rule_id(parser, &id))
            return false;
        const char **cite = parser_list_add(parser, &parser->cites);
        if (!cite)
            return false;
        *cite = id;
    } while (!parser_at_end(parser));
    return true;
}

static bool parse_start(struct parser *parser, struct scenario_item *item)
{
    item->kind = SCENARIO_ITEM_START;
    if (!take_once(parser, &parser->start_place, item->place, "start"))
        return false;
    if (parser->first_moment.line > 0)
        return parser_fail(parser, item->place, "move it above",
                           "the start must stand before the first time, which is on line %d",
                           parser->first_moment.line);
    const struct token *token = parser->at;
    struct moment moment;
    if (token->kind != TOKEN_WORD || !moment_parse(token->text, token->size, 0, &moment) ||
        !moment.absolute)
        return parser_fail_expected(parser, "a UTC time", "for example 2026-03-01T00:00:00Z");
    parser->scenario.start_ns = moment.ns;
    parser->at++;
    return true;
}

static bool parse_set(struct parser *parser, struct scenario_item *item)
{
    item->kind = SCENARIO_ITEM_SET;
    item->index = parser->sets.count;
    struct scenario_setting setting = {item->place, NULL, NULL};
    if (parser->at->kind != TOKEN_WORD)
        return parser_fail_expected(parser, "the name of a setting", "");
    setting.place = parser->at->place;
    setting.name = parser->at->text;
    parser->at++;
    if (parser->at->kind != TOKEN_WORD)
        return parser_fail_expected(parser, "the value of the setting", "");
    setting.value = parser->at->text;
    parser->at++;
    struct scenario_setting *slot = parser_list_add(parser, &parser->sets);
    if (slot)
        *slot = setting;
    return slot != NULL;
}

static bool parse_rules(struct parser *parser, struct scenario_item *item)
{
    item->kind = SCENARIO_ITEM_RULES;
    if (parser->rules_words.count > 0)
        return parser_fail(parser, item->place, "", "\"rules\" is given twice");
    do {
        struct err err;
        const struct token *token = parser->at;
        if (token->kind != TOKEN_WORD)
            return parser_fail_expected(parser, "a rule to switch", "for example -A-5 or +S-8");
        if (rules_parse(token->text, token->size, &parser->scenario.rules, &err) != STATUS_OK)
            return parser_fail(parser, token->place, err.hint, "%s", err.message);
        const char **word = parser_list_add(parser, &parser->rules_words);
        if (!word)
            return false;
        *word = token->text;
        parser->at++;
    } while (!parser_at_end(parser));
    return true;
}

static bool parse_session(struct parser *parser, struct scenario_item *item)
{
    item->kind = SCENARIO_ITEM_SESSION;
    item->index = parser->offsets.count;
    struct scenario_offset offset = {.place = item->place};
    if (!parser_need(parser, "offset"))
        return false;
    struct place place = parser->at->place;
    if (!parser_read_signed_duration(parser, &offset.offset_ns))
        return false;
    if (offset.offset_ns < -16 * NS_PER_HOUR || offset.offset_ns > 16 * NS_PER_HOUR ||
        offset.offset_ns % NS_PER_MIN != 0)
        return parser_fail(parser, place, "", "an offset is whole minutes, at most 16h");
    if (parser_accept(parser, "from")) {
        offset.has_from = true;
        if (!parser_read_moment(parser, &offset.from))
            return false;
    }
    struct scenario_offset *slot = parser_list_add(parser, &parser->offsets);
    if (slot)
        *slot = offset;
    return slot != NULL;
}

static bool parse_queue(struct parser *parser, struct scenario_item *item)
{
    static const char *const second[3] = {"wait", "limit", "window"};
    item->kind = SCENARIO_ITEM_QUEUE;
    item->index = parser->queues.count;
    struct scenario_queue queue = {.place = item->place};
    int setting;
    if (!parser_read_choice(parser, "a setting of the queue", queue_settings, 3, &setting) ||
        !parser_need(parser, second[setting]) ||
        !parser_read_duration(parser, false, &queue.value_ns))
        return false;
    queue.setting = (enum scenario_queue_setting)setting;
    if (setting == SCENARIO_ACK_WAIT)
        parser->scenario.ack_wait_ns = queue.value_ns;
    else if (setting == SCENARIO_AGE_LIMIT)
        parser->scenario.age_limit_ns = queue.value_ns;
    else
        parser->scenario.dedup_window_ns = queue.value_ns;
    struct scenario_queue *slot = parser_list_add(parser, &parser->queues);
    if (slot)
        *slot = queue;
    return slot != NULL;
}

static bool parse_without(struct parser *parser, struct scenario_item *item)
{
    item->kind = SCENARIO_ITEM_WITHOUT_PARTITION;
    item->index = parser->missing.count;
    struct scenario_missing missing = {.place = item->place};
    if (parser_accept(parser, "partitions")) {
        missing.all = true;
        parser->scenario.without_partitions = true;
    } else if (!parser_read_partition(parser, &missing.partition)) {
        return false;
    }
    struct scenario_missing *slot = parser_list_add(parser, &parser->missing);
    if (slot)
        *slot = missing;
    return slot != NULL;
}

static bool parse_run(struct parser *parser, struct scenario_item *item)
{
    item->kind = SCENARIO_ITEM_RUN;
    if (!take_once(parser, &parser->run_place, item->place, "run") ||
        !parser_need(parser, "until") ||
        !parser_read_moment_of_run(parser, &parser->scenario.run_until))
        return false;
    if (parser_accept(parser, "without")) {
        parser->scenario.without_draining = true;
        return parser_need(parser, "draining");
    }
    return true;
}

bool parse_header(struct parser *parser, const char *word, struct scenario_item *item)
{
    static const struct {
        const char *word;
        bool (*parse)(struct parser *parser, struct scenario_item *item);
    } statements[] = {
        {"scenario", parse_title}, {"cites", parse_cites},     {"start", parse_start},
        {"set", parse_set},        {"rules", parse_rules},     {"session", parse_session},
        {"queue", parse_queue},    {"without", parse_without}, {"run", parse_run},
    };
    size_t which = 0;
    while (strcmp(statements[which].word, word) != 0) {
        which++;
        ASSERT(which < sizeof statements / sizeof statements[0]);
    }
    return statements[which].parse(parser, item) && parser_need_end(parser);
}

/* The whole file: statement by statement, then what can only be said of all of it. */
#include "core/base/assert.h"
#include "core/base/nearest.h"
#include "core/base/time.h"
#include "sim/limits.h"
#include "sim/scenario/parser.h"
#include <stdio.h>
#include <string.h>

static const char *const header_words[] = {"scenario", "cites", "start",   "set", "rules",
                                           "session",  "queue", "without", "run"};
static const char *const declaration_words[] = {"tenant", "process", "collector",
                                                "writer", "job",     "series"};
static const char *const other_words[] = {"at",    "from", "hold",   "crash",  "cut",
                                          "fault", "lose", "expect", "golden", "derive"};
#define COUNT_OF(words) (sizeof(words) / sizeof((words)[0]))

static bool is_in(const char *word, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(word, words[i]) == 0)
            return true;
    }
    return false;
}

static bool fail_statement(struct parser *parser)
{
    const struct token *token = parser->at;
    struct nearest nearest =
        nearest_begin((struct bytes){(const uint8_t *)token->text, token->size});
    for (size_t i = 0; i < COUNT_OF(header_words); i++)
        nearest_offer(&nearest, header_words[i]);
    for (size_t i = 0; i < COUNT_OF(declaration_words); i++)
        nearest_offer(&nearest, declaration_words[i]);
    for (size_t i = 0; i < COUNT_OF(other_words); i++)
        nearest_offer(&nearest, other_words[i]);
    char hint[sizeof parser->errors->errors[0].hint] = "";
    bool near = token->kind == TOKEN_WORD && nearest_name(&nearest);
    for (size_t i = 0; i < parser->names.count && !near; i++) {
        if (strcmp(((struct name *)parser->names.items)[i].name, token->text) == 0)
            snprintf(hint, sizeof hint, "what happens begins with its time: at 5m %s ...",
                     ((struct name *)parser->names.items)[i].name);
    }
    if (near)
        snprintf(hint, sizeof hint, "did you mean \"%s\"?", nearest_name(&nearest));
    return parser_fail_expected(parser, "a statement", hint);
}

static bool parse_expect_at_end(struct parser *parser, struct scenario_item *item)
{
    item->kind = SCENARIO_ITEM_EXPECT;
    item->index = parser->expects.count;
    struct scenario_timed_expect expect = {.place = item->place};
    if (!parse_expect(parser, &expect.expect) || !parser_need_end(parser))
        return false;
    struct scenario_timed_expect *slot = parser_list_add(parser, &parser->expects);
    if (slot)
        *slot = expect;
    return slot != NULL;
}

static bool parse_words(struct parser *parser, const struct statement *statement,
                        struct scenario_item *item)
{
    ASSERT(statement->tokens != NULL);
    parser->at = statement->tokens;
    const char *word = parser->at->kind == TOKEN_WORD ? parser->at->text : "";
    if (strcmp(word, "at") == 0 || strcmp(word, "from") == 0)
        return parse_timed(parser, item);
    if (is_fault_word(parser->at))
        return parse_fault(parser, &(struct time_clause){0}, item);
    bool header = is_in(word, header_words, COUNT_OF(header_words));
    bool declaration = is_in(word, declaration_words, COUNT_OF(declaration_words));
    bool expects = strcmp(word, "expect") == 0;
    if (!header && !declaration && !expects && strcmp(word, "golden") != 0)
        return fail_statement(parser);
    parser->at++;
    if (header)
        return parse_header(parser, word, item);
    if (declaration)
        return parse_declaration(parser, word, item);
    return expects ? parse_expect_at_end(parser, item) : parse_golden(parser, item);
}

static bool parse_derive(struct parser *parser, const struct statement *statement,
                         struct scenario_item *item)
{
    item->kind = SCENARIO_ITEM_DERIVE;
    if (parser->derive_place.line > 0)
        return parser_fail(parser, statement->place, "",
                           "\"derive\" is given twice, first on line %d",
                           parser->derive_place.line);
    parser->derive_place = statement->place;
    parser->scenario.derive = statement->block;
    return statement->block != NULL;
}

static void parse_statement(struct parser *parser, const struct statement *statement)
{
    if (statement->broken) {
        if (statement->kind == STATEMENT_DERIVE) { /* it is there, whatever is wrong with it */
            parser->derive_place = statement->place;
            parser->scenario.derive = "broken";
        }
        return;
    }
    struct scenario_item item = {.place = statement->place,
                                 .kind = SCENARIO_ITEM_COMMENT,
                                 .comment = statement->comment,
                                 .blank_before =
                                     statement->blank_before && parser->items.count > 0};
    bool good = true;
    if (statement->kind == STATEMENT_WORDS)
        good = parse_words(parser, statement, &item);
    else if (statement->kind == STATEMENT_DERIVE)
        good = parse_derive(parser, statement, &item);
    struct scenario_item *slot = good ? parser_list_add(parser, &parser->items) : NULL;
    if (slot)
        *slot = item;
}

static void init(struct parser *parser, const char *file, struct arena *arena,
                 struct scenario_errors *errors)
{
    *parser = (struct parser){.arena = arena, .errors = errors};
    parser->scenario.file = file;
    parser->scenario.start_ns = day_of_civil(2026, 3, 1) * NS_PER_DAY;
    parser->scenario.rules = rules_default();
    parser->scenario.settings = settings_default();
    parser->scenario.ack_wait_ns = 30 * NS_PER_S;
    parser->scenario.age_limit_ns = 7 * NS_PER_DAY;
    parser->scenario.dedup_window_ns = 120 * NS_PER_S;
    parser->cites.item_size = sizeof(const char *);
    parser->rules_words.item_size = sizeof(const char *);
    parser->sets.item_size = sizeof(struct scenario_setting);
    parser->offsets.item_size = sizeof(struct scenario_offset);
    parser->queues.item_size = sizeof(struct scenario_queue);
    parser->missing.item_size = sizeof(struct scenario_missing);
    parser->tenants.item_size = sizeof(struct scenario_tenant);
    parser->processes.item_size = sizeof(struct scenario_process);
    parser->collectors.item_size = sizeof(struct scenario_collector);
    parser->writers.item_size = sizeof(struct scenario_writer);
    parser->jobs.item_size = sizeof(struct scenario_job);
    parser->series.item_size = sizeof(struct scenario_series);
    parser->events.item_size = sizeof(struct scenario_event);
    parser->faults.item_size = sizeof(struct scenario_fault);
    parser->expects.item_size = sizeof(struct scenario_timed_expect);
    parser->golden_rules.item_size = sizeof(struct scenario_golden_rule);
    parser->items.item_size = sizeof(struct scenario_item);
    parser->names.item_size = sizeof(struct name);
    parser->tails.item_size = sizeof(struct series_tail);
}

/* The words of `rules`, joined by spaces. */
static const char *join_rules(struct parser *parser)
{
    const char *const *words = parser->rules_words.items;
    size_t size = 1;
    for (size_t i = 0; i < parser->rules_words.count; i++)
        size += strlen(words[i]) + 1;
    char *text = parser_alloc(parser, size, 1);
    size_t at = 0;
    for (size_t i = 0; text && i < parser->rules_words.count; i++)
        at += (size_t)snprintf(text + at, size - at, "%s%s", i > 0 ? " " : "", words[i]);
    return text;
}

/* Hands the lists over to the scenario. */
static struct scenario *finish(struct parser *parser)
{
    struct scenario *out = parser_alloc(parser, 1, sizeof *out);
    parser->scenario.rules_text = join_rules(parser);
    if (!out || !parser->scenario.rules_text)
        return NULL;
    *out = parser->scenario;
    out->cites = parser->cites.items;
    out->cite_count = parser->cites.count;
#define HAND_OVER(array, list, counter)                                                            \
    (out->array = parser->list.items, out->counter = parser->list.count)
    HAND_OVER(sets, sets, set_count);
    HAND_OVER(offsets, offsets, offset_count);
    HAND_OVER(queues, queues, queue_count);
    HAND_OVER(missing, missing, missing_count);
    HAND_OVER(tenants, tenants, tenant_count);
    HAND_OVER(processes, processes, process_count);
    HAND_OVER(collectors, collectors, collector_count);
    HAND_OVER(writers, writers, writer_count);
    HAND_OVER(jobs, jobs, job_count);
    HAND_OVER(series, series, series_count);
    HAND_OVER(events, events, event_count);
    HAND_OVER(faults, faults, fault_count);
    HAND_OVER(expects, expects, expect_count);
    HAND_OVER(golden_rules, golden_rules, golden_rule_count);
    HAND_OVER(items, items, item_count);
#undef HAND_OVER
    return out;
}

/* False: the arena is exhausted. */
static bool parse_statements(struct parser *parser, struct lexer *lexer)
{
    struct statement statement;
    for (size_t count = 0; !lexer->no_memory && !parser->no_memory; count++) {
        lexer_next(lexer, &statement);
        if (statement.kind == STATEMENT_NONE || lexer->no_memory)
            break;
        if (count == LIMIT_SCENARIO_ITEMS) {
            parser_fail(parser, statement.place, "", "a scenario has at most %d statements",
                        LIMIT_SCENARIO_ITEMS);
            break;
        }
        parse_statement(parser, &statement);
    }
    return !lexer->no_memory && !parser->no_memory;
}

enum status scenario_parse(const char *file, const char *text, size_t size, struct arena *arena,
                           struct scenario **out, struct scenario_errors *errors)
{
    ASSERT(file != NULL && arena != NULL && out != NULL && errors != NULL);
    ASSERT(text != NULL || size == 0);
    struct parser parser;
    struct lexer lexer;
    *out = NULL;
    errors->count = 0;
    errors->more = 0;
    init(&parser, file, arena, errors);
    if (size > LIMIT_SCENARIO_BYTES) {
        parser_fail(&parser, (struct place){1, 1}, "", "the file is larger than %d bytes",
                    LIMIT_SCENARIO_BYTES);
        return STATUS_INVALID;
    }
    if (!lexer_init(&lexer, text, size, arena, errors))
        return STATUS_NO_MEMORY;
    if (!parse_statements(&parser, &lexer))
        return STATUS_NO_MEMORY;
    check_scenario(&parser);
    if (errors->count == 0)
        *out = finish(&parser);
    if (parser.no_memory)
        return STATUS_NO_MEMORY;
    return *out ? STATUS_OK : STATUS_INVALID;
}

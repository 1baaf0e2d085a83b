/* expect, golden. */
#include "core/base/assert.h"
#include "core/store/store.h"
#include "sim/scenario/parser.h"
#include <stdlib.h>
#include <string.h>

static bool accept_tenant(struct parser *parser, int *tenant)
{
    return !parser_accept(parser, "of") || parser_read_tenant(parser, tenant);
}

static bool read_count(struct parser *parser, int64_t *count)
{
    return parser_read_int(parser, "a number", 0, INT64_MAX, count);
}

static bool is_last(const struct parser *parser)
{
    return !parser_at_end(parser) && parser->at[1].kind == TOKEN_END;
}

/* minute|hourly|daily of TENANT [service "x"] [METHOD ROUTE STATUS] [source span] [from A until B]
 */
static bool read_selector(struct parser *parser, struct scenario_selector *selector)
{
    int level;
    int source;
    if (!parser_read_choice(parser, NULL, level_names, 3, &level) || !parser_need(parser, "of") ||
        !parser_read_tenant(parser, &selector->tenant))
        return false;
    selector->level = (enum scenario_level)level;
    if (parser_accept(parser, "service")) {
        selector->has_service = true;
        if (!parser_read_text(parser, "the name of a service", &selector->service))
            return false;
    }
    bool request = !parser_at_end(parser) && !parser_next_is(parser, "source") &&
                   !parser_next_is(parser, "from");
    if (request && !is_last(parser)) {
        selector->has_request = true;
        if (!parser_read_request(parser, &selector->request))
            return false;
    }
    if (parser_accept(parser, "source")) {
        selector->has_source = true;
        if (!parser_read_choice(parser, NULL, source_names, 2, &source))
            return false;
        selector->source = source == 0 ? SOURCE_METRIC : SOURCE_SPAN;
    }
    if (!parser_accept(parser, "from"))
        return true;
    selector->has_range = true;
    struct place place = parser->at->place;
    if (!parser_read_moment(parser, &selector->from) || !parser_need(parser, "until") ||
        !parser_read_moment(parser, &selector->until))
        return false;
    return selector->from.ns < selector->until.ns ||
           parser_fail(parser, place, "", "the span ends before it begins");
}

static bool read_expected_number(struct parser *parser, struct scenario_expect *expect)
{
    expect->number_text = parser->at->text;
    return parser_read_number(parser, "a number", &expect->number);
}

/* "p95", "p99.9": the word itself was taken. */
static bool read_quantile(struct parser *parser, const char *word, struct scenario_expect *expect)
{
    expect->q_text = word + 1;
    if (!read_selector(parser, &expect->selector))
        return false;
    if (parser_accept(parser, ">10s")) {
        expect->answer = SCENARIO_QUANTILE_OPEN;
        return true;
    }
    if (parser_accept(parser, "none")) {
        expect->answer = SCENARIO_QUANTILE_NONE;
        return true;
    }
    expect->answer = SCENARIO_QUANTILE_NUMBER;
    if (parser->at->kind != TOKEN_WORD ||
        !text_to_number(parser->at->text, parser->at->size, &expect->number))
        return parser_fail_expected(parser, "a quantile", "seconds, \">10s\", or none");
    return read_expected_number(parser, expect);
}

static bool is_quantile(const struct token *token, double *q)
{
    if (token->kind != TOKEN_WORD || token->size < 2 || token->text[0] != 'p' ||
        strspn(token->text + 1, "0123456789.") != token->size - 1)
        return false;
    double percent;
    if (!text_to_number(token->text + 1, token->size - 1, &percent) || percent > 100)
        return false;
    *q = percent / 100;
    return true;
}

/* ---- the words behind `expect` ---- */

static bool read_outcome(struct parser *parser, struct scenario_expect *expect)
{
    const char *names[POINT_OUTCOME_COUNT];
    for (int i = 0; i < POINT_OUTCOME_COUNT; i++)
        names[i] = point_outcome_name((enum point_outcome)i);
    int index;
    if (!parser_read_choice(parser, "an outcome of points", names, POINT_OUTCOME_COUNT, &index))
        return false;
    expect->outcome = (enum point_outcome)index;
    return accept_tenant(parser, &expect->tenant) && read_count(parser, &expect->count);
}

static bool read_message_outcome(struct parser *parser, struct scenario_expect *expect)
{
    const char *names[MESSAGE_OUTCOME_COUNT];
    for (int i = 0; i < MESSAGE_OUTCOME_COUNT; i++)
        names[i] = message_outcome_name((enum message_outcome)i);
    int index;
    if (!parser_read_choice(parser, "an outcome of messages", names, MESSAGE_OUTCOME_COUNT, &index))
        return false;
    expect->message = (enum message_outcome)index;
    return true;
}

static bool read_message(struct parser *parser, struct scenario_expect *expect)
{
    return read_message_outcome(parser, expect) && accept_tenant(parser, &expect->tenant) &&
           read_count(parser, &expect->count);
}

static bool read_dlq(struct parser *parser, struct scenario_expect *expect)
{
    if (!accept_tenant(parser, &expect->tenant) || !read_count(parser, &expect->count))
        return false;
    expect->has_reason = parser_accept(parser, "reason");
    if (!expect->has_reason)
        return true;
    struct place place = parser->at->place;
    if (!read_message_outcome(parser, expect))
        return false;
    return (expect->message >= MESSAGE_DEAD_VALIDATION && expect->message <= MESSAGE_DEAD_TENANT) ||
           parser_fail(parser, place, "a reason begins with dead_",
                       "that is no reason of a dead letter");
}

static bool read_rows(struct parser *parser, struct scenario_expect *expect)
{
    int table;
    if (!parser_read_choice(parser, "a table", scenario_tables, SCENARIO_TABLES, &table))
        return false;
    expect->name = scenario_tables[table];
    return accept_tenant(parser, &expect->tenant) && read_count(parser, &expect->count);
}

static bool read_requests(struct parser *parser, struct scenario_expect *expect)
{
    return read_selector(parser, &expect->selector) && read_count(parser, &expect->count);
}

static bool read_sum(struct parser *parser, struct scenario_expect *expect)
{
    return read_selector(parser, &expect->selector) && read_expected_number(parser, expect);
}

static bool read_warning(struct parser *parser, struct scenario_expect *expect)
{
    const char *names[WARNING_KIND_COUNT];
    for (int i = 0; i < WARNING_KIND_COUNT; i++)
        names[i] = warning_kind_name((enum warning_kind)i);
    int index;
    if (!parser_read_choice(parser, "a kind of warning", names, WARNING_KIND_COUNT, &index))
        return false;
    expect->name = names[index];
    return accept_tenant(parser, &expect->tenant) && read_count(parser, &expect->count);
}

static bool read_log(struct parser *parser, struct scenario_expect *expect)
{
    static const char *const levels[] = {"info", "warning", "error"};
    int level;
    if (!parser_read_choice(parser, NULL, levels, 3, &level))
        return false;
    expect->log_level = (enum log_level)level;
    const struct token *token = parser->at;
    if (token->kind != TOKEN_WORD ||
        strspn(token->text, "abcdefghijklmnopqrstuvwxyz0123456789_") != token->size)
        return parser_fail_expected(parser, "the event of a log line",
                                    "for example rollup_orphaned_mark");
    expect->name = token->text;
    parser->at++;
    expect->count = 1;
    return parser_at_end(parser) || read_count(parser, &expect->count);
}

static bool read_counter(struct parser *parser, struct scenario_expect *expect)
{
    const char *names[COUNTER_COUNT];
    for (int i = 0; i < COUNTER_COUNT; i++)
        names[i] = counter_name((enum counter)i);
    int index;
    if (!parser_read_choice(parser, "a counter", names, COUNTER_COUNT, &index))
        return false;
    expect->counter = (enum counter)index;
    return read_count(parser, &expect->count);
}

static bool read_pending(struct parser *parser, struct scenario_expect *expect)
{
    return accept_tenant(parser, &expect->tenant) && read_count(parser, &expect->count);
}

static bool read_queue(struct parser *parser, struct scenario_expect *expect)
{
    return read_count(parser, &expect->count);
}

bool parse_expect(struct parser *parser, struct scenario_expect *expect)
{
    static const struct {
        const char *word;
        enum scenario_expect_kind kind;
        bool (*read)(struct parser *parser, struct scenario_expect *expect);
    } kinds[] = {
        {"outcome", SCENARIO_EXPECT_OUTCOME, read_outcome},
        {"message", SCENARIO_EXPECT_MESSAGE, read_message},
        {"dlq", SCENARIO_EXPECT_DLQ, read_dlq},
        {"rows", SCENARIO_EXPECT_ROWS, read_rows},
        {"requests", SCENARIO_EXPECT_REQUESTS, read_requests},
        {"sum", SCENARIO_EXPECT_SUM, read_sum},
        {"warning", SCENARIO_EXPECT_WARNING, read_warning},
        {"log", SCENARIO_EXPECT_LOG, read_log},
        {"counter", SCENARIO_EXPECT_COUNTER, read_counter},
        {"pending", SCENARIO_EXPECT_PENDING, read_pending},
        {"queue", SCENARIO_EXPECT_QUEUE, read_queue},
    };
    enum { KINDS = sizeof kinds / sizeof kinds[0] };
    *expect = (struct scenario_expect){.tenant = -1, .selector.tenant = -1};
    const char *word = parser->at->text;
    if (is_quantile(parser->at, &expect->q)) {
        parser->at++;
        expect->kind = SCENARIO_EXPECT_QUANTILE;
        return read_quantile(parser, word, expect);
    }
    const char *words[KINDS + 1];
    for (size_t i = 0; i < KINDS; i++)
        words[i] = kinds[i].word;
    words[KINDS] = "p95";
    int index;
    if (!parser_read_choice(parser, "an expectation", words, KINDS + 1, &index))
        return false;
    ASSERT(index < KINDS); /* p95 is a quantile and was taken above */
    expect->kind = kinds[index].kind;
    return kinds[index].read(parser, expect);
}

/* ---- golden ---- */

static bool read_because(struct parser *parser, struct scenario_golden_rule *rule)
{
    return parser_need(parser, "because") &&
           parser_read_string(parser, "the reason", &rule->because);
}

/* golden without TABLE because "..." */
static bool parse_golden_without(struct parser *parser, struct scenario_golden_rule *rule)
{
    const char *words[SCENARIO_TABLES + SCENARIO_PARTS];
    memcpy(words, scenario_tables, sizeof scenario_tables[0] * SCENARIO_TABLES);
    memcpy(words + SCENARIO_TABLES, scenario_parts, sizeof scenario_parts[0] * SCENARIO_PARTS);
    int index;
    if (!parser_read_choice(parser, "a table, outcomes, dlq or queue", words,
                            SCENARIO_TABLES + SCENARIO_PARTS, &index))
        return false;
    rule->table = words[index];
    return read_because(parser, rule);
}

/* golden ignoring TABLE.COLUMN because "..." */
static bool parse_golden_ignoring(struct parser *parser, struct scenario_golden_rule *rule)
{
    const struct token *token = parser->at;
    const char *dot = token->kind == TOKEN_WORD ? strchr(token->text, '.') : NULL;
    for (size_t i = 0; dot && i < SCENARIO_TABLES; i++) {
        size_t size = strlen(scenario_tables[i]);
        if ((size_t)(dot - token->text) == size &&
            memcmp(token->text, scenario_tables[i], size) == 0)
            rule->table = scenario_tables[i];
    }
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyz_0123456789";
    if (!rule->table || dot[1] == '\0' || dot[1 + strspn(dot + 1, allowed)] != '\0')
        return parser_fail_expected(parser, "TABLE.COLUMN", "for example metrics_minute.sum");
    rule->column = dot + 1;
    parser->at++;
    return read_because(parser, rule);
}

static bool parse_golden_at(struct parser *parser, struct scenario_item *item)
{
    item->kind = SCENARIO_ITEM_EVENT;
    item->index = parser->events.count;
    struct scenario_event event = {
        .place = item->place, .kind = SCENARIO_GOLDEN, .tenant = -1, .stamp_tenant = -1};
    event.subject.index = -1;
    if (!parser_read_moment_of_run(parser, &event.at) || !parser_need_end(parser))
        return false;
    struct scenario_event *slot = parser_list_add(parser, &parser->events);
    if (slot)
        *slot = event;
    return slot != NULL;
}

bool parse_golden(struct parser *parser, struct scenario_item *item)
{
    static const char *const words[] = {"at", "without", "ignoring"};
    int which;
    if (!parser_read_choice(parser, NULL, words, 3, &which))
        return false;
    if (which == 0)
        return parse_golden_at(parser, item);
    item->kind = SCENARIO_ITEM_GOLDEN;
    item->index = parser->golden_rules.count;
    struct scenario_golden_rule rule = {.place = item->place};
    if (!(which == 1 ? parse_golden_without(parser, &rule)
                     : parse_golden_ignoring(parser, &rule)) ||
        !parser_need_end(parser))
        return false;
    struct scenario_golden_rule *slot = parser_list_add(parser, &parser->golden_rules);
    if (slot)
        *slot = rule;
    return slot != NULL;
}

/* hold, crash, cut, fault, lose. */
#include "core/base/assert.h"
#include "core/base/nearest.h"
#include "sim/scenario/parser.h"
#include <stdio.h>
#include <string.h>

/* The kind whose words (fault_infos) begin with this word; FAULT_KIND_COUNT: none. */
static enum fault_kind kind_of(const struct token *token)
{
    enum fault_kind kind = 0;
    for (; kind < FAULT_KIND_COUNT && token->kind == TOKEN_WORD; kind++) {
        const char *words = fault_infos[kind].words;
        if (strcspn(words, " ") == token->size && memcmp(words, token->text, token->size) == 0)
            return kind;
    }
    return FAULT_KIND_COUNT;
}

bool is_fault_word(const struct token *token)
{
    return kind_of(token) != FAULT_KIND_COUNT;
}

/* All words of a kind: "lose reply of". */
static bool read_words(struct parser *parser, const char *words)
{
    while (*words) {
        char word[40];
        size_t size = strcspn(words, " ");
        snprintf(word, sizeof word, "%.*s", (int)size, words);
        if (!parser_need(parser, word))
            return false;
        words += size + strspn(words + size, " ");
    }
    return true;
}

static bool read_step(struct parser *parser, const char **step)
{
    const struct token *token = parser->at;
    if (token->kind == TOKEN_WORD && fault_step_is_known(token->text)) {
        *step = token->text;
        parser->at++;
        return true;
    }
    struct nearest nearest =
        nearest_begin((struct bytes){(const uint8_t *)token->text, token->size});
    /* the list is slow to read: only for an error that is kept */
    const char *known = parser->errors->count < SCENARIO_ERRORS_MAX ? fault_step(0) : NULL;
    for (size_t i = 1; known; known = fault_step(i++))
        nearest_offer(&nearest, known);
    char hint[sizeof parser->errors->errors[0].hint] =
        "a query of sql/ (Begin, AddMinute, Commit, ...), or Pull, Ack, Retry, Dead, Fence";
    if (token->kind == TOKEN_WORD && nearest_name(&nearest))
        snprintf(hint, sizeof hint, "did you mean \"%s\"?", nearest_name(&nearest));
    return parser_fail_expected(parser, "a step", hint);
}

static bool read_sqlstate(struct parser *parser, char sqlstate[6])
{
    const struct token *token = parser->at;
    static const char allowed[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    if (token->kind != TOKEN_WORD || token->size != 5 || strspn(token->text, allowed) != 5)
        return parser_fail_expected(parser, "an SQLSTATE",
                                    "five characters, for example 53200 or 40P01");
    memcpy(sqlstate, token->text, 6);
    parser->at++;
    return true;
}

static bool read_actor(struct parser *parser, struct scenario_fault *fault)
{
    return parser_read_subject(parser, "a writer or a job",
                               KIND_BIT(SCENARIO_OF_WRITER) | KIND_BIT(SCENARIO_OF_JOB),
                               &fault->actor);
}

/* Names its step first, and an actor only by `of`. */
static bool is_of_anyone(enum fault_kind kind)
{
    return kind == FAULT_ERROR || kind == FAULT_LOST_REPLY;
}

/* w1 before|after STEP */
static bool parse_point(struct parser *parser, struct scenario_fault *fault)
{
    static const char *const sides[] = {"before", "after"};
    int side;
    if (!read_actor(parser, fault) ||
        !parser_read_choice(parser, NULL, sides, fault_infos[fault->kind].has_side ? 2 : 1, &side))
        return false;
    fault->after = side == 1;
    return read_step(parser, &fault->step);
}

enum { ONCE, ALWAYS, OF, NTH, WHERE, OPTIONS };

static bool parse_option(struct parser *parser, int option, struct scenario_fault *fault)
{
    switch (option) {
    case ONCE:
        fault->times = 1;
        return true;
    case ALWAYS:
        fault->times = INT64_MAX;
        return true;
    case OF:
        if (fault->actor.kind != SCENARIO_NOBODY)
            return parser_fail(parser, parser->at->place, "", "the actor is named already");
        return read_actor(parser, fault);
    case NTH:
        return parser_read_int(parser, "which one", 1, INT32_MAX, &fault->nth);
    default:
        ASSERT(option == WHERE);
        return parser_read_string(parser, "a value of a parameter", &fault->where);
    }
}

/* once | N times | always, of w1, nth N, where "x"; in any order */
static bool parse_options(struct parser *parser, struct scenario_fault *fault)
{
    static const char *const options[OPTIONS] = {"once", "always", "of", "nth", "where"};
    uint32_t seen = 0;
    while (!parser_at_end(parser)) {
        struct place place = parser->at->place;
        int64_t number;
        int option = ONCE;
        if (parser->at->kind == TOKEN_WORD &&
            text_to_int(parser->at->text, parser->at->size, &number)) {
            if (!parser_read_int(parser, "how often", 1, INT32_MAX, &number) ||
                !parser_need(parser, "times"))
                return false;
            if (seen & 1)
                return parser_fail(parser, place, "", "it is said twice how often the fault comes");
            seen |= 1;
            fault->times = number;
            continue;
        }
        if (!parser_read_option(parser, "an option of a fault", options, OPTIONS, 0, &seen,
                                &option) ||
            !parse_option(parser, option, fault))
            return false;
        if ((seen & 3) == 3)
            return parser_fail(parser, place, "", "it is said twice how often the fault comes");
    }
    bool says_how_often = (seen & 3) != 0;
    if (says_how_often || !is_of_anyone(fault->kind))
        return true;
    return parser_fail_expected(parser, "how often the fault comes", "once, 3 times, or always");
}

bool parse_fault(struct parser *parser, const struct time_clause *time, struct scenario_item *item)
{
    item->kind = SCENARIO_ITEM_FAULT;
    item->index = parser->faults.count;
    if (time->every_ns > 0)
        return parser_fail(parser, time->place, "write: from TIME until TIME fault ...",
                           "a fault has no period");
    struct scenario_fault fault = {.place = item->place,
                                   .has_from = time->has_at || time->has_from,
                                   .has_until = time->has_until,
                                   .from = time->at,
                                   .until = time->until,
                                   .nth = 1,
                                   .times = 1};
    fault.actor.index = -1;
    fault.kind = kind_of(parser->at);
    ASSERT(fault.kind != FAULT_KIND_COUNT);
    if (!read_words(parser, fault_infos[fault.kind].words))
        return false;
    if (is_of_anyone(fault.kind) ? !read_step(parser, &fault.step) : !parse_point(parser, &fault))
        return false;
    if (fault_infos[fault.kind].has_sqlstate && !read_sqlstate(parser, fault.sqlstate))
        return false;
    if (!parse_options(parser, &fault))
        return false;
    struct scenario_fault *slot = parser_list_add(parser, &parser->faults);
    if (slot)
        *slot = fault;
    return slot != NULL;
}

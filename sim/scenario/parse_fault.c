/* hold, crash, cut, fault, lose. */
#include "core/base/assert.h"
#include "core/base/nearest.h"
#include "sim/scenario/parser.h"
#include <stdio.h>
#include <string.h>

static const char *const fault_words[] = {
    [SCENARIO_FAULT_ERROR] = "fault", [SCENARIO_FAULT_LOSE] = "lose", [SCENARIO_FAULT_CUT] = "cut",
    [SCENARIO_FAULT_CRASH] = "crash", [SCENARIO_FAULT_HOLD] = "hold",
};
#define FAULT_WORDS (sizeof fault_words / sizeof fault_words[0])

bool is_fault_word(const struct token *token)
{
    for (size_t i = 0; i < FAULT_WORDS && token->kind == TOKEN_WORD; i++) {
        if (strcmp(fault_words[i], token->text) == 0)
            return true;
    }
    return false;
}

static bool read_step(struct parser *parser, const char **step)
{
    const struct token *token = parser->at;
    struct nearest nearest =
        nearest_begin((struct bytes){(const uint8_t *)token->text, token->size});
    for (size_t i = 0; step_name(i); i++) {
        if (parser_accept(parser, step_name(i))) {
            *step = step_name(i);
            return true;
        }
        nearest_offer(&nearest, step_name(i));
    }
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

/* w1 before|after STEP */
static bool parse_point(struct parser *parser, struct scenario_fault *fault)
{
    static const char *const sides[] = {"before", "after"};
    int side;
    if (!read_actor(parser, fault))
        return false;
    if (!parser_read_choice(parser, NULL, sides, fault->kind == SCENARIO_FAULT_CUT ? 1 : 2, &side))
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
    if (says_how_often || fault->kind > SCENARIO_FAULT_LOSE)
        return true;
    return parser_fail_expected(parser, "how often the fault comes", "once, 3 times, or always");
}

static bool parse_kind(struct parser *parser, struct scenario_fault *fault)
{
    switch (fault->kind) {
    case SCENARIO_FAULT_ERROR:
        return read_step(parser, &fault->step) && read_sqlstate(parser, fault->sqlstate);
    case SCENARIO_FAULT_LOSE:
        return parser_need(parser, "reply") && parser_need(parser, "of") &&
               read_step(parser, &fault->step);
    default:
        return parse_point(parser, fault); /* cut, crash, hold */
    }
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
    int kind;
    if (!parser_read_choice(parser, "a fault", fault_words, FAULT_WORDS, &kind))
        return false;
    fault.kind = (enum scenario_fault_kind)kind;
    if (!parse_kind(parser, &fault) || !parse_options(parser, &fault))
        return false;
    struct scenario_fault *slot = parser_list_add(parser, &parser->faults);
    if (slot)
        *slot = fault;
    return slot != NULL;
}

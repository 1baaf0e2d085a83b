/* The pieces every statement is read with. */
#include "sim/scenario/parser.h"
#include "core/base/assert.h"
#include "core/base/nearest.h"
#include "core/base/time.h"
#include "sim/limits.h"
#include "sim/scenario/moment.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- memory ---- */

void *parser_alloc(struct parser *parser, size_t count, size_t size)
{
    void *memory = arena_array(parser->arena, count > 0 ? count : 1, size);
    if (!memory)
        parser->no_memory = true;
    return memory;
}

void *parser_list_add(struct parser *parser, struct list *list)
{
    ASSERT(list->item_size > 0);
    if (list->count == list->capacity) {
        size_t capacity = list->capacity ? 2 * list->capacity : 8;
        void *items = parser_alloc(parser, capacity, list->item_size);
        if (!items)
            return NULL;
        if (list->count > 0)
            memcpy(items, list->items, list->count * list->item_size);
        list->items = items;
        list->capacity = capacity;
    }
    return (char *)list->items + list->count++ * list->item_size;
}

/* ---- errors ---- */

bool parser_fail(struct parser *parser, struct place place, const char *hint, const char *format,
                 ...)
{
    char message[sizeof parser->errors->errors[0].message];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    scenario_error_add(parser->errors, place, hint, "%s", message);
    return false;
}

bool parser_fail_expected(struct parser *parser, const char *what, const char *hint)
{
    const struct token *token = parser->at;
    if (token->kind == TOKEN_END)
        return parser_fail(parser, token->place, hint,
                           "expected %s, found the end of the statement", what);
    int shown = token->size > 40 ? 40 : (int)token->size;
    return parser_fail(parser, token->place, hint, "expected %s, found %s\"%.*s\"", what,
                       token->kind == TOKEN_TEXT ? "the text " : "", shown, token->text);
}

/* ---- words ---- */

bool parser_at_end(const struct parser *parser)
{
    return parser->at->kind == TOKEN_END;
}

bool parser_next_is(const struct parser *parser, const char *word)
{
    const struct token *token = parser->at;
    return token->kind == TOKEN_WORD && strcmp(token->text, word) == 0;
}

bool parser_accept(struct parser *parser, const char *word)
{
    if (!parser_next_is(parser, word))
        return false;
    parser->at++;
    return true;
}

bool parser_need(struct parser *parser, const char *word)
{
    if (parser_accept(parser, word))
        return true;
    char what[80];
    snprintf(what, sizeof what, "\"%s\"", word);
    return parser_fail_expected(parser, what, "");
}

bool parser_need_end(struct parser *parser)
{
    return parser_at_end(parser) || parser_fail_expected(parser, "the end of the statement", "");
}

/* "did you mean ...", or all words when they fit. */
static void choice_hint(const struct token *token, const char *const *words, size_t count,
                        char *hint, size_t room)
{
    struct nearest nearest =
        nearest_begin((struct bytes){(const uint8_t *)token->text, token->size});
    for (size_t i = 0; i < count; i++)
        nearest_offer(&nearest, words[i]);
    if (token->kind == TOKEN_WORD && nearest_name(&nearest)) {
        snprintf(hint, room, "did you mean \"%s\"?", nearest_name(&nearest));
        return;
    }
    size_t size = (size_t)snprintf(hint, room, "known:");
    for (size_t i = 0; i < count; i++) {
        if (size + strlen(words[i]) + 5 > room) {
            snprintf(hint + size, room - size, " ...");
            return;
        }
        size += (size_t)snprintf(hint + size, room - size, " %s", words[i]);
    }
}

/* "minute", "hourly" or "daily" */
static void list_choices(const char *const *words, size_t count, char *out, size_t room)
{
    size_t size = 0;
    for (size_t i = 0; i < count && size < room; i++) {
        const char *before = i == 0 ? "" : i + 1 < count ? ", " : " or ";
        size += (size_t)snprintf(out + size, room - size, "%s\"%s\"", before, words[i]);
    }
}

bool parser_read_choice(struct parser *parser, const char *what, const char *const *words,
                        size_t count, int *index)
{
    ASSERT(count > 0 && index != NULL);
    for (size_t i = 0; i < count; i++) {
        if (parser_accept(parser, words[i])) {
            *index = (int)i;
            return true;
        }
    }
    char hint[sizeof parser->errors->errors[0].hint];
    choice_hint(parser->at, words, count, hint, sizeof hint);
    if (what)
        return parser_fail_expected(parser, what, hint);
    char choices[100];
    list_choices(words, count, choices, sizeof choices);
    return parser_fail_expected(parser, choices, hint[0] == 'd' ? hint : "");
}

bool parser_read_option(struct parser *parser, const char *what, const char *const *words,
                        size_t count, uint32_t repeatable, uint32_t *seen, int *index)
{
    ASSERT(count <= 32);
    const struct token *token = parser->at;
    if (!parser_read_choice(parser, what, words, count, index))
        return false;
    uint32_t bit = UINT32_C(1) << *index;
    if ((*seen & bit) && !(repeatable & bit))
        return parser_fail(parser, token->place, "", "\"%s\" is given twice", token->text);
    *seen |= bit;
    return true;
}

bool text_to_int(const char *text, size_t size, int64_t *out)
{
    size_t at = size > 0 && text[0] == '-' ? 1 : 0;
    int64_t number = 0;
    if (at == size)
        return false;
    for (size_t i = at; i < size; i++) {
        if (text[i] < '0' || text[i] > '9' || __builtin_mul_overflow(number, 10, &number) ||
            __builtin_add_overflow(number, text[i] - '0', &number))
            return false;
    }
    *out = at ? -number : number;
    return true;
}

bool parser_read_int(struct parser *parser, const char *what, int64_t min, int64_t max,
                     int64_t *out)
{
    ASSERT(min <= max);
    const struct token *token = parser->at;
    if (token->kind != TOKEN_WORD || !text_to_int(token->text, token->size, out))
        return parser_fail_expected(parser, what, "");
    if (*out < min || *out > max)
        return parser_fail(parser, token->place, "", "%s must be %lld to %lld, found %s", what,
                           (long long)min, (long long)max, token->text);
    parser->at++;
    return true;
}

bool text_to_number(const char *text, size_t size, double *out)
{
    if (size == 0 || size > 40)
        return false;
    static const char *const words[] = {"nan", "inf", "-inf"};
    static const double values[] = {(double)NAN, (double)INFINITY, -(double)INFINITY};
    for (size_t i = 0; i < 3; i++) {
        if (strlen(words[i]) == size && memcmp(text, words[i], size) == 0) {
            *out = values[i];
            return true;
        }
    }
    if (strspn(text, "0123456789.eE+-") != size || text[0] == '+' || text[0] == 'e')
        return false;
    char *end;
    *out = strtod(text, &end);
    return end == text + size && isfinite(*out);
}

bool parser_read_number(struct parser *parser, const char *what, double *out)
{
    const struct token *token = parser->at;
    if (token->kind != TOKEN_WORD || !text_to_number(token->text, token->size, out))
        return parser_fail_expected(parser, what, "");
    parser->at++;
    return true;
}

/* ---- times ---- */

static const char duration_hint[] = "for example 90s, 1h30m, 500ms; units d h m s ms us ns";

bool parser_read_duration(struct parser *parser, bool zero_too, int64_t *ns)
{
    const struct token *token = parser->at;
    if (token->kind != TOKEN_WORD || !duration_parse(token->text, token->size, ns))
        return parser_fail_expected(parser, "a duration", duration_hint);
    if (*ns == 0 && !zero_too)
        return parser_fail(parser, token->place, "", "the duration must be above 0");
    parser->at++;
    return true;
}

bool parser_read_signed_duration(struct parser *parser, int64_t *ns)
{
    const struct token *token = parser->at;
    bool sign = token->size > 0 && (token->text[0] == '-' || token->text[0] == '+');
    if (token->kind != TOKEN_WORD ||
        !duration_parse(token->text + (sign ? 1 : 0), token->size - (sign ? 1 : 0), ns))
        return parser_fail_expected(parser, "a duration", duration_hint);
    if (sign && token->text[0] == '-')
        *ns = -*ns;
    parser->at++;
    return true;
}

bool parser_read_moment(struct parser *parser, struct moment *moment)
{
    const struct token *token = parser->at;
    if (token->kind != TOKEN_WORD ||
        !moment_parse(token->text, token->size, parser->scenario.start_ns, moment))
        return parser_fail_expected(
            parser, "a time", "after the start, as 90s, 1h30m or -3h+5ns, or 2026-03-01T00:00:00Z");
    if (parser->first_moment.line == 0)
        parser->first_moment = token->place;
    parser->at++;
    return true;
}

bool parser_read_moment_of_run(struct parser *parser, struct moment *moment)
{
    struct place place = parser->at->place;
    if (!parser_read_moment(parser, moment))
        return false;
    if (moment->ns < parser->scenario.start_ns)
        return parser_fail(parser, place, "nothing happens before the start of the scenario",
                           "the time is before the start");
    return true;
}

/* ---- texts ---- */

bool parser_read_text(struct parser *parser, const char *what, struct bytes *out)
{
    const struct token *token = parser->at;
    if (token->kind != TOKEN_TEXT)
        return parser_fail_expected(parser, what, "a text is written in quotes: \"...\"");
    *out = (struct bytes){(const uint8_t *)token->text, token->size};
    parser->at++;
    return true;
}

bool parser_read_string(struct parser *parser, const char *what, const char **out)
{
    const struct token *token = parser->at;
    struct bytes text = {NULL, 0};
    if (!parser_read_text(parser, what, &text))
        return false;
    if (text.size == 0 || memchr(text.data, '\0', text.size))
        return parser_fail(parser, token->place, "", "%s must not be empty and holds no \\x00",
                           what);
    *out = token->text;
    return true;
}

bool parser_read_partition(struct parser *parser, struct scenario_partition *partition)
{
    static const char *const words[] = {"minute", "hourly"};
    int which;
    if (!parser_read_choice(parser, NULL, words, 2, &which) || !parser_need(parser, "partition"))
        return false;
    partition->hourly = which == 1;
    const struct token *token = parser->at;
    char date[16];
    int64_t ns;
    size_t size = partition->hourly ? 7 : 10;
    if (token->kind == TOKEN_WORD && token->size == size) {
        snprintf(date, sizeof date, "%s%s", token->text, partition->hourly ? "-01" : "");
        if (date[0] >= '1' && date[0] <= '2' && time_parse_ns(date, strlen(date), &ns) && ns >= 0) {
            partition->first_day = time_div(ns, NS_PER_DAY);
            parser->at++;
            return true;
        }
    }
    return parser_fail_expected(parser, partition->hourly ? "a month" : "a day",
                                partition->hourly ? "for example 2026-03"
                                                  : "for example 2026-03-05");
}

/* A word or a text; "-" is an absent attribute. */
static bool read_attribute_value(struct parser *parser, const char *what, struct bytes *out)
{
    const struct token *token = parser->at;
    if (token->kind == TOKEN_END)
        return parser_fail_expected(parser, what,
                                    "a request is METHOD ROUTE STATUS; - for an absent one");
    bool absent = token->kind == TOKEN_WORD && strcmp(token->text, "-") == 0;
    *out = absent ? (struct bytes){NULL, 0}
                  : (struct bytes){(const uint8_t *)token->text, token->size};
    parser->at++;
    return true;
}

bool parser_read_request(struct parser *parser, struct scenario_request *request)
{
    if (!read_attribute_value(parser, "a method", &request->method) ||
        !read_attribute_value(parser, "a route", &request->route))
        return false;
    const struct token *token = parser->at;
    request->status_kind = SCENARIO_STATUS_ABSENT;
    if (parser_accept(parser, "-"))
        return true;
    if (token->kind == TOKEN_TEXT) {
        request->status_kind = SCENARIO_STATUS_TEXT;
        return parser_read_text(parser, "a status", &request->status_text);
    }
    request->status_kind = SCENARIO_STATUS_INT;
    return parser_read_int(parser, "a status", INT64_MIN + 1, INT64_MAX, &request->status);
}

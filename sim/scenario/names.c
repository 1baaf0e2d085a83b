/* Names of tenants, processes, collectors, writers, jobs and series: one namespace for all. */
#include "core/base/assert.h"
#include "core/base/nearest.h"
#include "sim/limits.h"
#include "sim/scenario/parser.h"
#include <stdio.h>
#include <string.h>

/* Words that stand where a name may stand, so that "at 5m release w1" is read in one way. */
static const char *const reserved[] = {
    "message", "deliver",   "redeliver", "publish", "release", "raise",     "remove",
    "purge",   "create",    "drop",      "expect",  "golden",  "hold",      "crash",
    "cut",     "fault",     "lose",      "at",      "from",    "until",     "every",
    "rollup",  "partition", "retention", "time",    "start",   "sum",       "no",
    "count",   "flags",     "as",        "without", "stamped", "unstamped",
};
#define RESERVED_COUNT (sizeof reserved / sizeof reserved[0])

static const char *const kind_names[] = {
    [SCENARIO_NOBODY] = "nobody",
    [SCENARIO_OF_PROCESS] = "process",
    [SCENARIO_OF_COLLECTOR] = "collector",
    [SCENARIO_OF_WRITER] = "writer",
    [SCENARIO_OF_JOB] = "job",
    [SCENARIO_OF_SERIES] = "series",
    [SCENARIO_OF_TENANT] = "tenant",
};

static struct name *names_of(const struct parser *parser)
{
    return parser->names.items;
}

static struct name *find(const struct parser *parser, const char *text, size_t size)
{
    struct name *names = names_of(parser);
    for (size_t i = 0; i < parser->names.count; i++) {
        if (strlen(names[i].name) == size && memcmp(names[i].name, text, size) == 0)
            return &names[i];
    }
    return NULL;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_name(const char *text, size_t size)
{
    if (size == 0 || size > LIMIT_SCENARIO_NAME_BYTES || !is_letter(text[0]))
        return false;
    for (size_t i = 1; i < size; i++) {
        char c = text[i];
        if (!is_letter(c) && !(c >= '0' && c <= '9') && c != '-' && c != '_' && c != '.')
            return false;
    }
    return true;
}

struct name *parser_declare_as(struct parser *parser, const char *text, struct place place,
                               enum scenario_subject_kind kind, size_t index)
{
    const struct name *old = find(parser, text, strlen(text));
    if (old) {
        parser_fail(parser, place, "every name is used once, whatever its kind",
                    "the name \"%s\" is taken by the %s of line %d", text, kind_names[old->kind],
                    old->place.line);
        return NULL;
    }
    if (parser->names.count == LIMIT_SCENARIO_NAMES) {
        parser_fail(parser, place, "", "a scenario has at most %d names", LIMIT_SCENARIO_NAMES);
        return NULL;
    }
    struct name *name = parser_list_add(parser, &parser->names);
    if (name)
        *name = (struct name){text, kind, (int)index, place, true, false};
    return name;
}

struct name *parser_declare(struct parser *parser, enum scenario_subject_kind kind, size_t index)
{
    const struct token *token = parser->at;
    char what[40];
    snprintf(what, sizeof what, "a name for the %s", kind_names[kind]);
    if (token->kind != TOKEN_WORD || !is_name(token->text, token->size)) {
        parser_fail_expected(parser, what, "a letter, then letters, digits, - _ .; 64 at most");
        return NULL;
    }
    for (size_t i = 0; i < RESERVED_COUNT; i++) {
        if (strcmp(reserved[i], token->text) == 0) {
            parser_fail_expected(parser, what, "that word has a meaning of its own");
            return NULL;
        }
    }
    parser->at++;
    return parser_declare_as(parser, token->text, token->place, kind, index);
}

void parser_declared(struct parser *parser, const char *text)
{
    struct name *name = find(parser, text, strlen(text));
    ASSERT(name != NULL);
    name->broken = false;
}

/* "shop-1/2" is a name and a replica: 0 without one, -1 when it is no number. */
static size_t split_replica(const struct token *token, int *replica)
{
    const char *slash = memchr(token->text, '/', token->size);
    *replica = 0;
    if (!slash)
        return token->size;
    size_t size = (size_t)(slash - token->text);
    int64_t number;
    bool good = text_to_int(slash + 1, token->size - size - 1, &number) && number >= 1 &&
                number <= LIMIT_SCENARIO_REPLICAS;
    *replica = good ? (int)number : -1;
    return size;
}

static bool fail_unknown(struct parser *parser, const char *what, uint32_t kinds)
{
    const struct token *token = parser->at;
    if (token->kind != TOKEN_WORD)
        return parser_fail_expected(parser, what, "");
    struct nearest nearest =
        nearest_begin((struct bytes){(const uint8_t *)token->text, token->size});
    const struct name *names = names_of(parser);
    for (size_t i = 0; i < parser->names.count; i++) {
        if (KIND_BIT(names[i].kind) & kinds)
            nearest_offer(&nearest, names[i].name);
    }
    char hint[sizeof parser->errors->errors[0].hint] = "declare it on a line above";
    if (nearest_name(&nearest))
        snprintf(hint, sizeof hint, "did you mean \"%s\"?", nearest_name(&nearest));
    return parser_fail_expected(parser, what, hint);
}

static bool check_replica(struct parser *parser, const struct name *name, int replica)
{
    if (replica == 0 || name->broken)
        return true;
    int replicas = 1;
    if (name->kind == SCENARIO_OF_PROCESS)
        replicas = ((struct scenario_process *)parser->processes.items)[name->index].replicas;
    if (replicas > 1 && replica >= 1 && replica <= replicas)
        return true;
    const struct token *token = parser->at;
    return parser_fail(parser, token->place, "", "%s \"%s\" has no replica \"%s\"",
                       kind_names[name->kind], name->name, strchr(token->text, '/') + 1);
}

bool parser_read_subject(struct parser *parser, const char *what, uint32_t kinds,
                         struct scenario_subject *subject)
{
    ASSERT(kinds != 0);
    const struct token *token = parser->at;
    int replica = 0;
    size_t size = split_replica(token, &replica);
    struct name *name = token->kind == TOKEN_WORD ? find(parser, token->text, size) : NULL;
    if (!name)
        return fail_unknown(parser, what, kinds);
    if (!(KIND_BIT(name->kind) & kinds)) {
        char hint[sizeof parser->errors->errors[0].hint];
        snprintf(hint, sizeof hint, "\"%s\" is a %s", name->name, kind_names[name->kind]);
        return parser_fail_expected(parser, what, hint);
    }
    name->used = true;
    if (!check_replica(parser, name, replica))
        return false;
    *subject = (struct scenario_subject){token->place, name->kind, token->text,
                                         name->broken ? -1 : name->index, replica};
    parser->at++;
    return true;
}

bool parser_read_tenant(struct parser *parser, int *index)
{
    struct scenario_subject subject;
    if (!parser_read_subject(parser, "a tenant", KIND_BIT(SCENARIO_OF_TENANT), &subject))
        return false;
    *index = subject.index;
    return true;
}

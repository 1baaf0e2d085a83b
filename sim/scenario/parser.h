/* Inside sim/scenario: the state of one parse, and the pieces every statement is read with.
 *
 * A function that reads returns false after it reported an error; the statement is then given up
 * and the next one is read, so that one run shows all errors of a file. Names are made known before
 * the rest of their statement is read: a declaration with an error does not make its uses errors
 * too.
 */
#ifndef SIM_SCENARIO_PARSER_H
#define SIM_SCENARIO_PARSER_H

#include "sim/scenario/lexer.h"
#include "sim/scenario/scenario.h"

/* A growing array in the arena. Adding may move it: keep indexes, not pointers. */
struct list {
    void *items;
    size_t count;
    size_t capacity;
    size_t item_size;
};

struct name {
    const char *name;
    enum scenario_subject_kind kind;
    int index;
    struct place place;
    bool broken; /* its declaration had an error; nothing is known about it */
    bool used;
};

/* What the parser remembers of a series while its points are added up. */
struct series_tail {
    int64_t start_unix_nano;
    const uint64_t *counts; /* of the last point; NULL: none yet */
    int64_t messages;       /* sent so far, for their ids */
};

struct parser {
    struct arena *arena;
    struct scenario_errors *errors;
    const struct token *at; /* the next word of the statement */
    bool no_memory;

    struct scenario scenario; /* its arrays are set at the end, from the lists */
    struct place title_place, start_place, run_place, derive_place; /* line 0: not there */
    struct place first_moment; /* where a moment was first read; line 0: nowhere */
    struct list cites, rules_words, sets, offsets, queues, missing;
    struct list tenants, processes, collectors, writers, jobs, series;
    struct list events, faults, expects, golden_rules, items;
    struct list names, tails;
    int64_t delivered;      /* `deliver` events so far, for their ids */
    size_t points, buckets; /* against their limits */
};

/* ---- memory ---- */

/* A zeroed element at the end; NULL and no_memory when the arena is exhausted. */
void *parser_list_add(struct parser *parser, struct list *list);
void *parser_alloc(struct parser *parser, size_t count, size_t size);

/* ---- errors: all return false ---- */

bool parser_fail(struct parser *parser, struct place place, const char *hint, const char *format,
                 ...) __attribute__((format(printf, 4, 5)));
/* "expected WHAT, found "x"" at the next word. */
bool parser_fail_expected(struct parser *parser, const char *what, const char *hint);

/* ---- words ---- */

bool parser_at_end(const struct parser *parser);
bool parser_next_is(const struct parser *parser, const char *word);
/* Takes the word when it is next. */
bool parser_accept(struct parser *parser, const char *word);
/* Takes it or fails. */
bool parser_need(struct parser *parser, const char *word);
bool parser_need_end(struct parser *parser);

/* One word of a list; *index says which. what: "a table"; NULL: the error names the words. */
bool parser_read_choice(struct parser *parser, const char *what, const char *const *words,
                        size_t count, int *index);
/* As read_choice for an option; each may be given once (seen: a bit each), but those in repeatable.
 */
bool parser_read_option(struct parser *parser, const char *what, const char *const *words,
                        size_t count, uint32_t repeatable, uint32_t *seen, int *index);

bool parser_read_int(struct parser *parser, const char *what, int64_t min, int64_t max,
                     int64_t *out);
bool parser_read_number(struct parser *parser, const char *what, double *out);
/* A duration above 0; with zero_too also 0. */
bool parser_read_duration(struct parser *parser, bool zero_too, int64_t *ns);
/* As read_duration, with an optional '-' or '+'. */
bool parser_read_signed_duration(struct parser *parser, int64_t *ns);
bool parser_read_moment(struct parser *parser, struct moment *moment);
/* A moment at or after the start of the scenario. */
bool parser_read_moment_of_run(struct parser *parser, struct moment *moment);
/* "..." */
bool parser_read_text(struct parser *parser, const char *what, struct bytes *out);
/* "..." without NUL, not empty. */
bool parser_read_string(struct parser *parser, const char *what, const char **out);
bool parser_read_partition(struct parser *parser, struct scenario_partition *partition);
/* METHOD ROUTE STATUS */
bool parser_read_request(struct parser *parser, struct scenario_request *request);

bool text_to_int(const char *text, size_t size, int64_t *out);
bool text_to_number(const char *text, size_t size, double *out);

/* ---- names ---- */

/* Reads a new name and makes it known, broken, as element index of its kind. NULL after an error.
 */
struct name *parser_declare(struct parser *parser, enum scenario_subject_kind kind, size_t index);
/* The same for a name that is not written ("rollup"). */
struct name *parser_declare_as(struct parser *parser, const char *name, struct place place,
                               enum scenario_subject_kind kind, size_t index);
void parser_declared(struct parser *parser, const char *name); /* its declaration was good */
/* A known name of any of the kinds (a bit each). *index is -1 when its declaration is broken. */
bool parser_read_subject(struct parser *parser, const char *what, uint32_t kinds,
                         struct scenario_subject *subject);
bool parser_read_tenant(struct parser *parser, int *index); /* behind `of` */
#define KIND_BIT(kind) (UINT32_C(1) << (kind))

/* ---- statements, each from behind its first words ---- */

bool parse_header(struct parser *parser, const char *word, struct scenario_item *item);
bool parse_declaration(struct parser *parser, const char *word, struct scenario_item *item);
bool parse_series(struct parser *parser, struct scenario_item *item);
/* The options that processes and series share. option: index into resource_options. */
extern const char *const resource_options[];
#define RESOURCE_OPTIONS    8
#define RESOURCE_REPEATABLE (UINT32_C(1) << 1) /* attribute */
bool parse_resource_option(struct parser *parser, int option, struct scenario_resource *resource,
                           struct list *attributes);
bool parser_read_attribute(struct parser *parser, struct list *attributes);
void resource_defaults(struct scenario_resource *resource);

/* at, from: what stands before the words of an event or fault. */
struct time_clause {
    struct place place;
    bool has_at, has_from, has_until;
    struct moment at; /* of `at` or `from` */
    struct moment until;
    int64_t every_ns;
};
bool parse_timed(struct parser *parser, struct scenario_item *item);
bool parse_event(struct parser *parser, const struct time_clause *time, struct scenario_item *item);
bool parse_fault(struct parser *parser, const struct time_clause *time, struct scenario_item *item);
bool is_fault_word(const struct token *token);
/* subject sends ...; message ... */
bool parse_sends(struct parser *parser, const struct time_clause *time,
                 struct scenario_event *event);
bool parse_message(struct parser *parser, struct scenario_event *event);
bool parse_deliver(struct parser *parser, struct scenario_event *event);
/* Options of a message: as "id", without id, stamped, unstamped. True also when none is next. */
bool parse_message_option(struct parser *parser, struct scenario_event *event, bool *taken);
bool parse_expect(struct parser *parser, struct scenario_expect *expect);
bool parse_golden(struct parser *parser, struct scenario_item *item);

/* Adds up the steps of an event into points (points.c). */
bool expand_points(struct parser *parser, struct scenario_event *event);
const struct scenario_series *series_of(const struct parser *parser, int index);

/* ---- tables of words ---- */

extern const char *const scenario_tables[]; /* of MS */
#define SCENARIO_TABLES 9
extern const char *const scenario_parts[]; /* of a golden besides tables */
#define SCENARIO_PARTS 3
extern const char *const job_kinds[SCENARIO_JOB_KINDS];
extern const char *const fence_names[4];
extern const char *const level_names[3];
extern const char *const temporality_names[3];
extern const char *const source_names[2];
extern const char *const type_names[5];
extern const char *const queue_settings[3];
extern const double milliseconds_bounds[15];

/* ---- the whole file (check.c) ---- */

void check_scenario(struct parser *parser);

#endif

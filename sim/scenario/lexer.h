/* Lines and words of a scenario file.
 *
 *   statement   a line that is not indented, and the indented lines below it
 *   word        anything without spaces:  shop-1  /cart  5m  b1:3,b4:2
 *   text        "..." with \" \\ \n \t and \xHH for any byte
 *   comment     # to the end of the line, on a line of its own or behind a statement's first line
 *
 * The lexer accepts any bytes and never stops early: what it cannot read is an error with its
 * place, and reading goes on with the next line.
 */
#ifndef SIM_SCENARIO_LEXER_H
#define SIM_SCENARIO_LEXER_H

#include "core/base/arena.h"
#include "sim/scenario/scenario.h"

enum token_kind { TOKEN_END, TOKEN_WORD, TOKEN_TEXT };

struct token {
    enum token_kind kind;
    struct place place;
    const char *text; /* NUL-terminated; a TEXT may hold NULs of its own */
    size_t size;
    bool first_of_line; /* of an indented line */
};

enum statement_kind {
    STATEMENT_NONE,    /* the end of the file */
    STATEMENT_COMMENT, /* a comment alone */
    STATEMENT_WORDS,
    STATEMENT_DERIVE, /* `derive` and its block of free text */
};

struct statement {
    enum statement_kind kind;
    struct place place;
    bool blank_before;
    bool broken;          /* an error was reported: skip it */
    struct token *tokens; /* WORDS; closed by a TOKEN_END where the statement ends */
    size_t token_count;   /* without the TOKEN_END */
    const char *comment;  /* NULL: none */
    const char *block;    /* DERIVE: without common indentation, lines ending in \n */
};

struct lexer {
    const char *text;
    size_t size;
    size_t at; /* the start of the next line */
    int line;  /* its number */
    struct arena *arena;
    struct scenario_errors *errors;
    struct token *scratch; /* LIMIT_SCENARIO_TOKENS + 1 */
    bool no_memory;
};

/* False: the arena is exhausted. */
bool lexer_init(struct lexer *lexer, const char *text, size_t size, struct arena *arena,
                struct scenario_errors *errors);

/* The next statement; kind NONE at the end or when the arena is exhausted (no_memory is then set).
 * Its memory lives as long as the arena. */
void lexer_next(struct lexer *lexer, struct statement *statement);

/* Adds an error in order of place; beyond SCENARIO_ERRORS_MAX it is counted in `more`. hint: "" for
 * none. */
void scenario_error_add(struct scenario_errors *errors, struct place place, const char *hint,
                        const char *format, ...) __attribute__((format(printf, 4, 5)));

#endif

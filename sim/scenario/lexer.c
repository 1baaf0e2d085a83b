#include "sim/scenario/lexer.h"
#include "core/base/assert.h"
#include "core/base/bytes.h"
#include "sim/limits.h"
#include <string.h>

/* One line of the file, without its line end. */
struct span {
    const char *text;
    size_t size;
    int line;
};

/* The line at lexer->at; false at the end of the file. Does not move on. */
static bool line_here(const struct lexer *lexer, struct span *span, size_t *next)
{
    if (lexer->at >= lexer->size)
        return false;
    const char *start = lexer->text + lexer->at;
    size_t left = lexer->size - lexer->at;
    const char *end = memchr(start, '\n', left);
    size_t size = end ? (size_t)(end - start) : left;
    *next = lexer->at + size + (end ? 1 : 0);
    if (size > 0 && start[size - 1] == '\r')
        size--;
    *span = (struct span){start, size, lexer->line};
    return true;
}

static void line_pass(struct lexer *lexer, size_t next)
{
    ASSERT(next > lexer->at);
    lexer->at = next;
    lexer->line++;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t';
}

static size_t indentation(struct span span)
{
    size_t n = 0;
    while (n < span.size && is_space(span.text[n]))
        n++;
    return n;
}

static bool is_blank(struct span span)
{
    return indentation(span) == span.size;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

static void error_at(struct lexer *lexer, struct span span, size_t at, const char *hint,
                     const char *message)
{
    struct place place = {span.line, (int)at + 1};
    scenario_error_add(lexer->errors, place, hint, "%s", message);
}

/* One escape at span.text[*at] (the backslash). Returns the byte, or -1 after reporting an error.
 */
static int read_escape(struct lexer *lexer, struct span span, size_t *at)
{
    static const char hint[] = "known: \\\" \\\\ \\n \\t \\xHH";
    size_t here = *at;
    char c = here + 1 < span.size ? span.text[here + 1] : '\0';
    *at = here + 2;
    switch (c) {
    case '"':
    case '\\':
        return c;
    case 'n':
        return '\n';
    case 't':
        return '\t';
    case 'x':
        if (here + 3 < span.size) {
            int high = hex_digit(span.text[here + 2]);
            int low = hex_digit(span.text[here + 3]);
            *at = here + 4;
            if (high >= 0 && low >= 0)
                return high * 16 + low;
        }
        break;
    default:
        break;
    }
    error_at(lexer, span, here, hint, "unknown escape in a text");
    return -1;
}

/* Where the text that opens at `open` closes; span.size when it does not. */
static size_t closing_quote(struct span span, size_t open)
{
    size_t at = open + 1;
    while (at < span.size && span.text[at] != '"')
        at += span.text[at] == '\\' ? 2 : 1;
    return at < span.size ? at : span.size;
}

/* Reads a text whose opening quote is at *at; moves *at behind the closing one. */
static bool read_text(struct lexer *lexer, struct span span, size_t *at, struct token *token)
{
    size_t open = *at;
    size_t close = closing_quote(span, open);
    if (close == span.size) {
        error_at(lexer, span, open, "close it on the same line with \"", "the text is not closed");
        return false;
    }
    char *out = arena_alloc(lexer->arena, close - open);
    if (!out) {
        lexer->no_memory = true;
        return false;
    }
    size_t size = 0;
    for (size_t i = open + 1; i < close;) {
        int byte = (unsigned char)span.text[i];
        if (byte == '\\')
            byte = read_escape(lexer, span, &i);
        else
            i++;
        if (byte < 0)
            return false;
        out[size++] = (char)byte;
    }
    ASSERT(size < close - open);
    out[size] = '\0';
    *at = close + 1;
    *token = (struct token){TOKEN_TEXT, {span.line, (int)open + 1}, out, size, false};
    return true;
}

static bool read_word(struct lexer *lexer, struct span span, size_t *at, struct token *token)
{
    size_t start = *at;
    size_t i = start;
    while (i < span.size && !is_space(span.text[i]) && span.text[i] != '"')
        i++;
    if (i < span.size && span.text[i] == '"') {
        error_at(lexer, span, i, "put a space before it", "a text starts inside a word");
        return false;
    }
    char *copy = arena_copy(lexer->arena, span.text + start, i - start);
    if (!copy) {
        lexer->no_memory = true;
        return false;
    }
    *at = i;
    *token = (struct token){TOKEN_WORD, {span.line, (int)start + 1}, copy, i - start, false};
    return true;
}

/* The comment that starts at `at` (the '#'), without '#', one space behind it and trailing spaces.
 */
static const char *read_comment(struct lexer *lexer, struct span span, size_t at)
{
    size_t start = at + 1;
    size_t end = span.size;
    if (start < end && span.text[start] == ' ')
        start++;
    while (end > start && is_space(span.text[end - 1]))
        end--;
    const char *comment = arena_copy(lexer->arena, span.text + start, end - start);
    if (!comment)
        lexer->no_memory = true;
    return comment;
}

/* Bytes that no line may hold as they are: control characters, bytes that are not UTF-8. */
static bool check_bytes(struct lexer *lexer, struct span span)
{
    for (size_t i = 0; i < span.size; i++) {
        unsigned char c = (unsigned char)span.text[i];
        if ((c < 0x20 && c != '\t') || c == 0x7f) {
            error_at(lexer, span, i, "inside a text write \\xHH",
                     "the line holds a control character");
            return false;
        }
    }
    size_t start = 0;
    for (size_t i = 0; i <= span.size; i++) {
        if (i < span.size && span.text[i] != '\t')
            continue;
        struct bytes part = {(const uint8_t *)span.text + start, i - start};
        if (part.size > 0 && !text_is_storable(part)) {
            error_at(lexer, span, start, "inside a text write \\xHH for other bytes",
                     "the line is not UTF-8");
            return false;
        }
        start = i + 1;
    }
    return true;
}

/* Adds the words of one line to the statement. False: the statement is broken. */
static bool read_line(struct lexer *lexer, struct span span, struct statement *statement)
{
    bool indented = indentation(span) > 0;
    size_t at = indentation(span);
    bool first = indented;
    if (span.size > LIMIT_SCENARIO_LINE_BYTES) {
        error_at(lexer, span, 0, "", "the line is too long");
        return false;
    }
    if (!check_bytes(lexer, span))
        return false;
    while (at < span.size) {
        if (span.text[at] == '#') {
            if (indented) {
                error_at(lexer, span, at, "put it on a line of its own above the statement",
                         "a comment cannot stand inside a statement");
                return false;
            }
            statement->comment = read_comment(lexer, span, at);
            return statement->comment != NULL;
        }
        if (statement->token_count == LIMIT_SCENARIO_TOKENS) {
            error_at(lexer, span, at, "", "the statement has too many words");
            return false;
        }
        struct token *token = &lexer->scratch[statement->token_count];
        bool read = span.text[at] == '"' ? read_text(lexer, span, &at, token)
                                         : read_word(lexer, span, &at, token);
        if (!read)
            return false;
        token->first_of_line = first;
        first = false;
        statement->token_count++;
        while (at < span.size && is_space(span.text[at]))
            at++;
    }
    return true;
}

/* Copies the words read into scratch, closed by a TOKEN_END where the last line ended. */
static void keep_tokens(struct lexer *lexer, struct statement *statement, struct place end)
{
    size_t count = statement->token_count;
    statement->tokens = arena_array(lexer->arena, count + 1, sizeof *statement->tokens);
    if (!statement->tokens) {
        lexer->no_memory = true;
        return;
    }
    memcpy(statement->tokens, lexer->scratch, count * sizeof *statement->tokens);
    statement->tokens[count] = (struct token){TOKEN_END, end, "", 0, false};
}

static void read_words(struct lexer *lexer, struct statement *statement)
{
    struct span span;
    size_t next;
    struct place end = statement->place;
    for (bool first = true; line_here(lexer, &span, &next); first = false) {
        if (!first && (is_blank(span) || indentation(span) == 0))
            break;
        line_pass(lexer, next);
        if (statement->broken)
            continue;
        if (!read_line(lexer, span, statement))
            statement->broken = true;
        if (statement->token_count > 0) {
            const struct token *last = &lexer->scratch[statement->token_count - 1];
            end = (struct place){span.line, last->place.column + (int)last->size};
        }
    }
    statement->kind = STATEMENT_WORDS;
    if (!statement->broken)
        keep_tokens(lexer, statement, end);
}

/* The least indentation of the lines that are not blank, of a block that ends before `end`. */
static size_t common_indentation(struct lexer lexer, size_t end)
{
    size_t common = SIZE_MAX;
    struct span span;
    size_t next;
    while (lexer.at < end && line_here(&lexer, &span, &next)) {
        line_pass(&lexer, next);
        if (!is_blank(span) && indentation(span) < common)
            common = indentation(span);
    }
    return common == SIZE_MAX ? 0 : common;
}

/* Where the block of free text that starts here ends: behind its last indented line. */
static size_t block_end(struct lexer lexer)
{
    size_t end = lexer.at;
    struct span span;
    size_t next;
    while (line_here(&lexer, &span, &next)) {
        if (!is_blank(span) && indentation(span) == 0)
            break;
        line_pass(&lexer, next);
        if (!is_blank(span))
            end = next;
    }
    return end;
}

/* The free text below `derive`; blank lines inside it stay, those before it do not. */
static void read_block(struct lexer *lexer, struct statement *statement)
{
    size_t end = block_end(*lexer);
    size_t common = common_indentation(*lexer, end);
    char *block = arena_alloc(lexer->arena, end - lexer->at + 2);
    if (!block) {
        lexer->no_memory = true;
        return;
    }
    size_t size = 0;
    struct span span;
    size_t next;
    while (lexer->at < end && line_here(lexer, &span, &next)) {
        line_pass(lexer, next);
        if (size == 0 && is_blank(span))
            continue;
        if (!statement->broken && !check_bytes(lexer, span))
            statement->broken = true;
        while (span.size > 0 && is_space(span.text[span.size - 1]))
            span.size--;
        if (span.size > common) {
            memcpy(block + size, span.text + common, span.size - common);
            size += span.size - common;
        }
        block[size++] = '\n';
    }
    block[size] = '\0';
    statement->block = block;
}

static bool is_derive(struct span span)
{
    static const char word[] = "derive";
    size_t n = sizeof word - 1;
    return span.size >= n && memcmp(span.text, word, n) == 0 &&
           (span.size == n || is_space(span.text[n]));
}

/* An indented line with no statement above it, and the lines that belong to it. */
static void skip_orphan(struct lexer *lexer, struct span span, struct statement *statement)
{
    error_at(lexer, span, indentation(span), "an indented line continues the line above it",
             "there is no statement above to continue");
    statement->broken = true;
    statement->kind = STATEMENT_WORDS;
    size_t next;
    while (line_here(lexer, &span, &next) && (indentation(span) > 0 || is_blank(span)))
        line_pass(lexer, next);
}

bool lexer_init(struct lexer *lexer, const char *text, size_t size, struct arena *arena,
                struct scenario_errors *errors)
{
    ASSERT(text != NULL || size == 0);
    ASSERT(errors != NULL);
    *lexer = (struct lexer){text, size, 0, 1, arena, errors, NULL, false};
    lexer->scratch = arena_alloc(arena, (LIMIT_SCENARIO_TOKENS + 1) * sizeof *lexer->scratch);
    return lexer->scratch != NULL;
}

void lexer_next(struct lexer *lexer, struct statement *statement)
{
    ASSERT(lexer->at <= lexer->size);
    *statement = (struct statement){0};
    struct span span;
    size_t next;
    while (!lexer->no_memory && line_here(lexer, &span, &next) && is_blank(span)) {
        statement->blank_before = true;
        line_pass(lexer, next);
    }
    if (lexer->no_memory || !line_here(lexer, &span, &next))
        return;
    size_t at = indentation(span);
    statement->place = (struct place){span.line, (int)at + 1};
    if (span.text[at] == '#') {
        line_pass(lexer, next);
        statement->kind = STATEMENT_COMMENT;
        statement->broken = !check_bytes(lexer, span);
        statement->comment = read_comment(lexer, span, at);
    } else if (at > 0) {
        skip_orphan(lexer, span, statement);
    } else if (is_derive(span)) {
        statement->kind = STATEMENT_DERIVE;
        if (!is_blank((struct span){span.text + 6, span.size - 6, span.line})) {
            error_at(lexer, span, 7, "put the text on the lines below, indented",
                     "expected the end of the line after \"derive\"");
            statement->broken = true;
        }
        line_pass(lexer, next);
        read_block(lexer, statement);
    } else {
        read_words(lexer, statement);
    }
}

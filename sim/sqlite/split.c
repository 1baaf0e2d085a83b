#include "sim/sqlite/split.h"

#include "core/base/assert.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Past white space and comments. */
static const char *skip(const char *at)
{
    for (;;) {
        at += strspn(at, " \t\r\n");
        if (at[0] != '-' || at[1] != '-')
            return at;
        at += strcspn(at, "\n");
    }
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* The end of the token at at: a word, a quoted text, or one character. */
static const char *token_end(const char *at)
{
    const char *end = at + 1;
    if (*at == '\'' || *at == '"') {
        while (*end && *end != *at)
            end++;
        return *end ? end + 1 : end;
    }
    if (is_word(*at))
        while (is_word(*end))
            end++;
    return end;
}

static bool is(const char *at, const char *word)
{
    size_t size = strlen(word);
    return (size_t)(token_end(at) - at) == size && strncasecmp(at, word, size) == 0;
}

/* The first of the words outside of parentheses from at on; the end of the text when none is there.
 */
static const char *find(const char *at, const char *word, const char *follower)
{
    int depth = 0;
    for (at = skip(at); *at; at = skip(token_end(at))) {
        depth += *at == '(';
        depth -= *at == ')';
        if (depth == 0 && is(at, word) && (!follower || is(skip(token_end(at)), follower)))
            return at;
    }
    return at;
}

/* Reads "(a, b, c)" at at: where each key column stands in it. The end of the list, or NULL. */
static const char *read_columns(const char *at, const struct table *table, struct split *split)
{
    int found = 0;
    if (*at != '(')
        return NULL;
    for (at = skip(at + 1); *at && *at != ')'; at = skip(token_end(at))) {
        if (*at == ',')
            continue;
        for (int i = 0; i < table->key_count; i++) {
            if (!is(at, table->columns[table->key[i]]))
                continue;
            split->key[i] = split->columns;
            found++;
        }
        split->columns++;
    }
    return *at == ')' && found == table->key_count ? at + 1 : NULL;
}

static int length(const char *from, const char *until)
{
    return (int)(until - from);
}

static enum status prepare_halves(sqlite3 *db, const char *sql, const char *insert,
                                  const char *body, const char *tail, struct split *split,
                                  struct err *err)
{
    size_t size = strlen(sql) + (size_t)split->columns * 8 + 16;
    char *text = malloc(size);
    if (!text)
        return err_set(err, STATUS_NO_MEMORY, NULL, "out of memory");
    snprintf(text, size, "%.*s%.*s", length(sql, insert), sql, length(body, tail), body);
    int rc = sqlite3_prepare_v3(db, text, -1, SQLITE_PREPARE_PERSISTENT, &split->select, NULL);
    size_t used = (size_t)snprintf(text, size, "%.*s values", length(insert, body), insert);
    for (int i = 0; i < split->columns; i++)
        used += (size_t)snprintf(text + used, size - used, "%s?%d", i > 0 ? ", " : " (",
                                 split->first + i);
    snprintf(text + used, size - used, ") %s", tail);
    if (rc == SQLITE_OK)
        rc = sqlite3_prepare_v3(db, text, -1, SQLITE_PREPARE_PERSISTENT, &split->insert, NULL);
    free(text);
    if (rc != SQLITE_OK || sqlite3_column_count(split->select) != split->columns)
        return err_set(err, STATUS_INVALID, NULL, "cannot split an insert ... select: %s",
                       sqlite3_errmsg(db));
    return STATUS_OK;
}

enum status split_new(sqlite3 *db, const struct table *table, const char *sql, int params,
                      struct split **out, struct err *err)
{
    struct split *split = calloc(1, sizeof *split);
    if (!split)
        return err_set(err, STATUS_NO_MEMORY, NULL, "out of memory");
    split->first = params + 1;
    const char *insert = find(sql, "insert", "into");
    const char *body = NULL;
    if (*insert) {
        const char *name = skip(token_end(skip(token_end(insert))));
        body = read_columns(skip(token_end(name)), table, split);
    }
    if (!body) {
        split_free(split);
        return err_set(err, STATUS_INVALID, NULL,
                       "cannot split an insert ... select into \"%s\" without its key columns",
                       table->name);
    }
    const char *conflict = find(body, "on", "conflict");
    const char *returning = find(body, "returning", NULL);
    const char *tail = conflict < returning ? conflict : returning;
    split->updates = *conflict && *find(conflict, "do", "update");
    enum status status = prepare_halves(db, sql, insert, body, tail, split, err);
    if (status) {
        split_free(split);
        return status;
    }
    *out = split;
    return STATUS_OK;
}

void split_free(struct split *split)
{
    if (!split)
        return;
    sqlite3_finalize(split->select);
    sqlite3_finalize(split->insert);
    free(split);
}

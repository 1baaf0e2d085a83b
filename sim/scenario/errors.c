/* The errors of a file, in order of place and bounded in number. */
#include "core/base/assert.h"
#include "core/base/bytes.h"
#include "sim/scenario/lexer.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* What a file holds may be anything; what is printed of it is not: a terminal reads it. */
static void make_printable(char *text)
{
    bool storable = text_is_storable(bytes_of(text));
    for (char *c = text; *c && !storable; c++) {
        if ((unsigned char)*c < 0x20 || (unsigned char)*c >= 0x7f)
            *c = '?';
    }
}

static bool is_before(struct place a, struct place b)
{
    return a.line < b.line || (a.line == b.line && a.column < b.column);
}

void scenario_error_add(struct scenario_errors *errors, struct place place, const char *hint,
                        const char *format, ...)
{
    ASSERT(place.line > 0 && place.column > 0);
    ASSERT(hint != NULL);
    if (errors->count == SCENARIO_ERRORS_MAX) {
        errors->more++;
        return;
    }
    size_t at = errors->count++;
    for (; at > 0 && is_before(place, errors->errors[at - 1].place); at--)
        errors->errors[at] = errors->errors[at - 1];
    struct scenario_error *error = &errors->errors[at];
    error->place = place;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    snprintf(error->hint, sizeof error->hint, "%s", hint);
    make_printable(error->message);
    make_printable(error->hint);
}

size_t scenario_error_format(const char *file, const struct scenario_error *error, char *out,
                             size_t size)
{
    ASSERT(size > 0);
    bool hint = error->hint[0] != '\0';
    int length =
        snprintf(out, size, "%s:%d:%d: %s%s%s%s", file, error->place.line, error->place.column,
                 error->message, hint ? " (" : "", error->hint, hint ? ")" : "");
    ASSERT(length >= 0);
    return (size_t)length < size ? (size_t)length : size - 1;
}

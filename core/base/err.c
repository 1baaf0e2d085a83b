/* Filling the text of an error. */
#include "core/base/err.h"
#include "core/base/assert.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* vsnprintf with a result that callers need not read: text is cut at the buffer's end. */
static void format_cut(char *out, size_t size, const char *format, va_list args)
{
    int written = vsnprintf(out, size, format, args);
    if (written < 0)
        out[0] = '\0';
}

static void set(struct err *err, enum status status, const char *sqlstate, const char *format,
                va_list args)
{
    ASSERT(err);
    ASSERT(status != STATUS_OK);
    ASSERT(!sqlstate || strlen(sqlstate) == 5);
    err->status = status;
    memset(err->sqlstate, 0, sizeof err->sqlstate);
    if (sqlstate)
        memcpy(err->sqlstate, sqlstate, 5);
    format_cut(err->message, sizeof err->message, format, args);
    err->hint[0] = '\0';
}

enum status err_set(struct err *err, enum status status, const char *sqlstate, const char *format,
                    ...)
{
    va_list args;
    va_start(args, format);
    set(err, status, sqlstate, format, args);
    va_end(args);
    return status;
}

enum status err_sql(struct err *err, const char *sqlstate, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    set(err, status_of_sqlstate(sqlstate), sqlstate, format, args);
    va_end(args);
    return err->status;
}

void err_hint(struct err *err, const char *format, ...)
{
    ASSERT(err);
    ASSERT(err->status != STATUS_OK);
    va_list args;
    va_start(args, format);
    format_cut(err->hint, sizeof err->hint, format, args);
    va_end(args);
}

const char *err_tail(const char *name, size_t max)
{
    ASSERT(name && max > 0);
    size_t size = strlen(name);
    const char *tail = size > max ? name + (size - max) : name;
    while (tail > name && ((unsigned char)*tail & 0xC0) == 0x80) /* not in the middle of UTF-8 */
        tail++;
    return tail;
}

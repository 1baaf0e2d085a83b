/* The text of an error: what, where, why, and what to do now.
 *
 * Style (PostgreSQL's): lower case, no full stop, "could not X: reason" when it may work later,
 * "cannot X" when it never will, kinds and quoted names ('table "metrics_minute"'). The hint says
 * what to do now and stands apart.
 */
#ifndef CORE_BASE_ERR_H
#define CORE_BASE_ERR_H

#include "core/base/status.h"
#include <stddef.h>

struct err {
    enum status status;
    char sqlstate[6]; /* "" where no database was asked; NUL-terminated */
    char message[256];
    char hint[160]; /* "" when there is nothing to add */
};

/* Every function that can fail takes `struct err *err` last (never NULL) and returns the status it
 * set. On STATUS_OK err is left alone. */

/* Fills err and returns status. sqlstate may be NULL. The message is cut at its buffer's end. */
enum status err_set(struct err *err, enum status status, const char *sqlstate, const char *format,
                    ...) __attribute__((format(printf, 4, 5)));

/* As err_set, the status taken from the SQLSTATE's class. */
enum status err_sql(struct err *err, const char *sqlstate, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The end of a name, at most max bytes of it: so that a long path does not push the reason out of a
 * message. It is the name itself when that is short enough. */
const char *err_tail(const char *name, size_t max);

/* Adds the hint; the status stays. */
void err_hint(struct err *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif

/* What happens next after a call. A status decides (retry, dead-letter, stop); the text that
 * goes with it is for people and lives in struct err (err.h).
 */
#ifndef CORE_BASE_STATUS_H
#define CORE_BASE_STATUS_H

enum status {
    STATUS_OK = 0,
    STATUS_TRANSIENT, /* SQLSTATE classes 08 40 53 55 57 58 XX: the same call may work later */
    STATUS_DATA,      /* SQLSTATE classes 22 and 23: this data will never be accepted */
    STATUS_REFUSED,   /* any other SQLSTATE, for example 25P02, 42501 */
    STATUS_STALE,     /* the fence has moved on: another epoch owns the work (R-FENCE-1) */
    STATUS_INVALID,   /* the input is wrong: undecodable message, bad setting, bad argument */
    STATUS_NO_MEMORY, /* an arena or a limit of core/base/limits.h is exhausted */
    STATUS_IO,        /* a file or the operating system refused */
    STATUS_STOPPED,   /* asked to stop; nothing was done */
};

/* Lower-case word for traces and messages, for example "transient". Never NULL. */
const char *status_name(enum status status);

/* The status of a five-character SQLSTATE, by its class (MS "Poison messages"). */
enum status status_of_sqlstate(const char *sqlstate);

#endif

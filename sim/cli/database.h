/* Ports of the commands that work on a real database: counts in memory, a log on stderr, a fence
 * that nobody raises, a clock that stands still.
 */
#ifndef SIM_CLI_DATABASE_H
#define SIM_CLI_DATABASE_H

#include "core/port/ports.h"
#include "core/store/sqlite/sqlite_store.h"
#include "sim/cli/cli.h"

struct counts {
    struct meter port;
    uint64_t points[POINT_OUTCOME_COUNT];
    uint64_t messages[MESSAGE_OUTCOME_COUNT];
    uint64_t counters[COUNTER_COUNT];
};
struct counts counts_make(void);

struct fixed_clock {
    struct clock port;
    int64_t now_ns;
};
struct fixed_clock fixed_clock_make(int64_t now_ns);

struct fence fence_nobody_raises(void);
/* Warnings and errors as lines on stderr. */
struct log log_on_stderr(void);

/* Opens --db. With the trouble printed, EXIT_USAGE: no path, no database, from elsewhere,
 * read-only; EXIT_MISSING: locked, no room. */
enum exit_code database_open(const char *command, const char *path, enum database_use use,
                             struct sqlite_database **database);
/* Keeps a second importer out of an open database: what one stores makes the points that the other
 * still holds out_of_order. EXIT_MISSING with the trouble printed when there is one. Unlock after
 * the database is closed: closing any descriptor of a file drops SQLite's own locks on it. */
enum exit_code database_lock(const char *path, int *lock);
void database_unlock(int lock);
/* The time of an option; text NULL leaves *ns. */
enum exit_code option_time(const char *command, const char *option, const char *text, int64_t *ns);
/* The time of --now, above 0; 0 when text is NULL. */
enum exit_code option_now(const char *command, const char *text, int64_t *ns);

#endif

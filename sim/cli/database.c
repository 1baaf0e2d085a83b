#include "sim/cli/database.h"

#include "core/base/time.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define BUSY_MS 5000

static void count_points(struct meter *port, const struct uuid *tenant, enum point_outcome outcome,
                         uint64_t count)
{
    (void)tenant;
    ((struct counts *)port)->points[outcome] += count;
}

static void count_messages(struct meter *port, const struct uuid *tenant,
                           enum message_outcome outcome, uint64_t count)
{
    (void)tenant;
    ((struct counts *)port)->messages[outcome] += count;
}

static void count_counter(struct meter *port, enum counter counter, uint64_t count)
{
    ((struct counts *)port)->counters[counter] += count;
}

struct counts counts_make(void)
{
    return (struct counts){
        .port = {.points = count_points, .messages = count_messages, .add = count_counter}};
}

static void log_to_stderr(struct log *port, enum log_level level, const char *event,
                          const char *text)
{
    (void)port;
    if (level != LOG_INFO)
        fprintf(stderr, "metersim: %s: %s: %s\n", level == LOG_ERROR ? "error" : "warning", event,
                text);
}

static enum status fence_always_good(struct fence *fence, struct err *err)
{
    (void)fence;
    (void)err;
    return STATUS_OK;
}

static int64_t fixed_now(struct clock *port)
{
    return ((struct fixed_clock *)port)->now_ns;
}

enum exit_code database_open(const char *command, const char *path, enum database_use use,
                             struct sqlite_database **database)
{
    struct err err = {0};
    if (path == NULL)
        return usage_error(command, "--db PATH is required");
    /* who listens to the log may hang up; the work goes on */
    if (use != DATABASE_READ)
        signal(SIGPIPE, SIG_IGN);
    enum status status = sqlite_database_open(path, use, BUSY_MS, database, &err);
    if (status == STATUS_OK)
        return EXIT_GOOD;
    complain(&err);
    return status == STATUS_INVALID || status == STATUS_IO ? EXIT_USAGE : EXIT_MISSING;
}

/* A byte behind those that SQLite locks (its PENDING_BYTE and what follows), for a lock of the open
 * file and not of the process. */
#define LOCK_BYTE (0x40000000 + 1024)

enum exit_code database_lock(const char *path, int *lock)
{
    struct flock byte = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = LOCK_BYTE, .l_len = 1};
    *lock = open(path, O_RDWR | O_CLOEXEC);
    if (*lock < 0) /* ":memory:" is nobody else's */
        return EXIT_GOOD;
    if (fcntl(*lock, F_OFD_SETLK, &byte) == 0 || (errno != EAGAIN && errno != EACCES))
        return EXIT_GOOD;
    fprintf(stderr,
            "metersim: another metersim ingest is writing to database \"%s\"\n"
            "hint: wait for its end, then import again: one importer, files in the order of time\n",
            path);
    return EXIT_MISSING;
}

void database_unlock(int lock)
{
    if (lock >= 0)
        close(lock);
}

enum exit_code option_time(const char *command, const char *option, const char *text, int64_t *ns)
{
    if (text == NULL || time_parse_ns(text, strlen(text), ns))
        return EXIT_GOOD;
    return usage_error(command,
                       "%s takes a UTC time from 1678 to 2261, such as 2026-03-01T00:00:00Z or "
                       "2026-03-01, not \"%s\"",
                       option, text);
}

enum exit_code option_now(const char *command, const char *text, int64_t *ns)
{
    *ns = 0;
    enum exit_code code = option_time(command, "--now", text, ns);
    if (code == EXIT_GOOD && text != NULL && *ns <= 0)
        code =
            usage_error(command, "--now takes a time after 1970-01-01T00:00:00Z, not \"%s\"", text);
    return code;
}

struct fixed_clock fixed_clock_make(int64_t now_ns)
{
    return (struct fixed_clock){{fixed_now}, now_ns};
}

struct fence fence_nobody_raises(void)
{
    return (struct fence){fence_always_good};
}

struct log log_on_stderr(void)
{
    return (struct log){log_to_stderr};
}

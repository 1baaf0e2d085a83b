/* Jobs over a real SQLite store, with the clock, the fence and everything they tell in a test's
 * hand, and a seam between them and the store that records calls and plays what needs a second
 * session: a writer that holds an hour, a table in use, a lost connection.
 *
 *   struct jobs_fixture *f = jobs_fixture_new("-A-9");
 *   jobs_partitions(f, -1, 1);
 *   jobs_minute(f, ACME, at(10, 5), 3, 0.5);      a minute row and its mark
 *   jobs_ok(f, job_rollup);
 *   jobs_fixture_free(f);
 *
 * The clock stands at T0 = 2026-03-10T12:00:00Z until a test moves it.
 */
#ifndef TESTS_CORE_JOBS_JOBS_FIXTURE_H
#define TESTS_CORE_JOBS_JOBS_FIXTURE_H

#include "core/base/time.h"
#include "core/jobs/jobs.h"
#include "core/store/sqlite/sqlite_store.h"
#include <check.h>
#include <string.h>

#define T0_NS    (INT64_C(1773144000) * NS_PER_S)
#define T0_DAY   INT64_C(20522)
#define T0_US    (T0_NS / NS_PER_US)
#define CALL_MAX 8192

enum test_tenant { ACME = 1, ZETA = 2 };

/* An answer of the seam in place of the store's. */
struct jobs_fault {
    enum query_id query;
    const char *sqlstate; /* "" ends the list */
    int skip;             /* calls to let pass first */
    int times;            /* how often */
};

struct jobs_fixture {
    struct settings settings;
    struct rules rules;
    int64_t now_ns;
    int stale_after; /* the fence is lost at this check, counted from 1; 0 never */
    int fence_checks;
    int64_t held_hour_us; /* a writer holds this hour of every tenant; 0 none */
    int64_t session_from_us, session_until_us; /* SessionDay's answer, when set */
    struct jobs_fault fault;

    /* what happened */
    uint64_t counters[COUNTER_COUNT];
    char logged[1024]; /* one "event text\n" a line */
    enum query_id calls[CALL_MAX];
    int64_t first_param[CALL_MAX]; /* of each call, when it is a number */
    size_t call_count;

    struct err err; /* of the last jobs_run */
    struct arena arena;

    struct clock clock;
    struct fence fence;
    struct meter meter;
    struct log log;
    struct store seam;
    struct store *inner;
    struct sqlite_database *database;
};

struct jobs_fixture *jobs_fixture_new(const char *rules);
void jobs_fixture_free(struct jobs_fixture *f);

/* Forgets counters, log lines and calls. */
void jobs_forget(struct jobs_fixture *f);

/* One run of a job made from the fixture's settings and rules. */
enum status jobs_run(struct jobs_fixture *f, enum status (*run)(struct job *job, struct err *err));
/* The same, asserting STATUS_OK. */
void jobs_ok(struct jobs_fixture *f, enum status (*run)(struct job *job, struct err *err));

/* Microseconds of an hour and minute of T0's day; negative hours are the days before. */
int64_t at(int64_t hour, int64_t minute);
struct uuid jobs_tenant(int number);

/* Partitions of the days T0_DAY + from to T0_DAY + until, and of their months. */
void jobs_partitions(struct jobs_fixture *f, int64_t from, int64_t until);
void jobs_drop_minutes(struct jobs_fixture *f, int64_t day);

/* n requests in bucket 3 of GET /cart 200, with and without the mark of their hour. */
void jobs_minute(struct jobs_fixture *f, int tenant, int64_t minute_us, int64_t n, double sum);
void jobs_minute_unmarked(struct jobs_fixture *f, int tenant, int64_t minute_us, int bucket,
                          int64_t n, double sum);
void jobs_mark(struct jobs_fixture *f, int tenant, int64_t hour_us, int64_t marked_at_us);

/* Rows of a tenant at a level, over all time. */
struct minute_row *jobs_rows(struct jobs_fixture *f, enum read_level level, int tenant,
                             size_t *count);
/* Requests of the row that starts there; -1 when there is none, asserts at most one. */
int64_t jobs_count_at(struct jobs_fixture *f, enum read_level level, int tenant, int64_t start_us);
/* Rows of a table, by its dump; the values stay in the arena. */
size_t jobs_table(struct jobs_fixture *f, enum query_id dump, struct value **values);
/* Calls of a query since the last jobs_forget. */
size_t jobs_calls(const struct jobs_fixture *f, enum query_id query);

#endif

/* One run of one scenario: builds the world, lets it happen, judges what is left.
 *
 *   scenario ─► run_scenario ─► result: verdict, trace hash, snapshots, failures
 *
 * A run fails when an expectation, an invariant, the accounting identity, the reference model or
 * the golden disagrees. The golden is compared by the caller (suite.h), which knows its file.
 */
#ifndef SIM_RUN_RUN_H
#define SIM_RUN_RUN_H

#include "sim/out/trace.h"
#include "sim/run/backend.h"
#include "sim/run/table.h"
#include "sim/scenario/scenario.h"

struct run_options {
    uint64_t seed;
    const char *rules_text; /* on top of the scenario's; NULL: none */
    FILE *trace;            /* sink of the events; NULL: the hash alone */
    bool keep_trace;        /* for trace_first_difference */
    bool bare;              /* bench: nothing is kept for judging, and nothing is judged */
    /* bench: decorates the session of every writer and job; NULL: nobody does */
    struct store *(*wrap)(void *context, struct store *session);
    void *wrap_context;
};

#define RUN_FAILURES_MAX 64

/* One thing that broke. All texts are in the result's arena, and "" where there is nothing to say.
 */
struct run_failure {
    const char *kind;  /* "expectation", "invariant", "accounting", "reference", "golden", "fault",
                          "event", "liveness", "nondeterminism", "internal" */
    const char *text;  /* one line that says what broke: all of the below in it */
    const char *where; /* "file:line:column", a golden's path, or the claim that fell */
    const char *cell;  /* table, row and column; or what was counted, and of whom */
    const char *expected;
    const char *got;
};

struct run_result {
    struct run_failure failures[RUN_FAILURES_MAX];
    size_t failure_count; /* may exceed RUN_FAILURES_MAX: those are not kept */
    struct snapshot *snapshots;
    size_t snapshot_count;
    struct trace *trace; /* the caller frees it with trace_free */
    uint64_t trace_hash;
    uint64_t trace_events;
    uint64_t steps;
    int64_t virtual_ns;
    struct arena arena; /* snapshots and texts; the caller frees it */
};

/* Runs it once on the backend and resets the backend. The result is always filled; the status is
 * other than STATUS_OK only when the run could not be made at all (memory, database). */
enum status run_scenario(struct backend *backend, const struct scenario *scenario,
                         const struct run_options *options, struct run_result *result,
                         struct err *err);
void run_result_free(struct run_result *result);

/* Notes a failure; the text is formatted into the result's arena. where: "", or what stands before
 * the text and a colon. */
void run_fail(struct run_result *result, const char *kind, const char *where, const char *format,
              ...) __attribute__((format(printf, 4, 5)));
/* Notes a value that is not what it should be: "WHERE: CELL: expected EXPECTED, got GOT". */
void run_fail_cell(struct run_result *result, const char *kind, const char *where, const char *cell,
                   const char *expected, const char *got);
/* The same for a cell of a table; moment: "", or what stands before the table: "at end, ". */
void run_fail_difference(struct run_result *result, const char *kind, const char *where,
                         const char *moment, const struct table_difference *difference);
/* A formatted text in the result's arena; "(no memory for the text)" when that is exhausted. */
const char *run_text(struct run_result *result, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif

/* week: a process of 20 series that exports every 60 s for 7 virtual days, with all jobs. The clock
 * is the thread's own, so that other processes do not count. */
#include "sim/bench/bench.h"

#include "core/base/time.h"
#include "sim/run/run.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WEEK_SERIES 20

/* Where the time goes, by the query that was asked. */
enum share { SHARE_WRITING, SHARE_HOURS, SHARE_DAYS, SHARE_DRIFT, SHARE_OTHER, SHARE_COUNT };

struct shares {
    int64_t elapsed_ns[SHARE_COUNT];
    struct timed_store *stores;
};

struct timed_store {
    struct store base;
    struct store *inner;
    struct shares *shares;
    enum share current; /* Begin and Commit count for what stood between them */
    struct timed_store *next;
};

static enum share share_of(const struct timed_store *store, enum query_id query)
{
    switch (query) {
    case QUERY_ROLLUP_HOUR:
    case QUERY_DELETE_HOURLY_ROWS:
    case QUERY_CLAIM_ROLLUP_HOURS:
    case QUERY_TRY_LOCK_ROLLUP_HOUR:
        return SHARE_HOURS;
    case QUERY_ROLLUP_DAY:
    case QUERY_DELETE_DAILY_ROWS:
    case QUERY_LOCK_ROLLUP_DAY:
        return SHARE_DAYS;
    case QUERY_MARK_DRIFTED_HOURS:
    case QUERY_CLAIM_MARKED_HOUR:
        return SHARE_DRIFT;
    case QUERY_RECORD_INGEST_MESSAGE:
        return SHARE_WRITING;
    case QUERY_BEGIN:
        return SHARE_OTHER;
    default:
        return store->current;
    }
}

static enum status timed_call(struct store *base, struct store_call *call, struct err *err)
{
    struct timed_store *store = (struct timed_store *)base;
    store->current = share_of(store, call->query);
    int64_t began = real_cpu_ns();
    enum status status = store->inner->call(store->inner, call, err);
    store->shares->elapsed_ns[store->current] += real_cpu_ns() - began;
    return status;
}

static struct store *wrap(void *context, struct store *session)
{
    struct shares *shares = context;
    struct timed_store *store = calloc(1, sizeof(*store));
    if (store == NULL)
        return NULL;
    store->base.call = timed_call;
    store->inner = session;
    store->shares = shares;
    store->current = SHARE_OTHER;
    store->next = shares->stores;
    shares->stores = store;
    return &store->base;
}

static void shares_free(struct shares *shares)
{
    while (shares->stores != NULL) {
        struct timed_store *next = shares->stores->next;
        free(shares->stores);
        shares->stores = next;
    }
}

static size_t week_text(char *text, size_t size)
{
    int used = snprintf(text, size, "%s",
                        "scenario \"a week of one process\"\n"
                        "cites R-ROLL-1\n"
                        "start 2026-03-01T00:00:00Z\n"
                        "set API_MINUTE_RETENTION_DAYS 30\n"
                        "set API_HOURLY_RETENTION_MONTHS 24\n"
                        "tenant acme\n"
                        "process shop of acme service \"shop\" exports every 60s cumulative\n"
                        "writer w1\n"
                        "job rollup every 5m\n"
                        "job partition every 1h\n"
                        "job retention every 1h\n"
                        "at 0s shop starts\n");
    for (int i = 0; i < WEEK_SERIES; i++)
        used += snprintf(text + used, size - (size_t)used,
                         "from 1s until 7d every 60s shop serves GET /resource-%d 200 in %dms\n", i,
                         5 + i * 37);
    used += snprintf(text + used, size - (size_t)used, "%s",
                     "run until 7d\n"
                     "expect queue 0\n"
                     "derive\n"
                     "  A measurement, not a claim.\n");
    return (size_t)used;
}

static enum status run_week(struct backend *backend, const struct scenario *scenario,
                            struct shares *shares, int64_t *cpu_ns, int64_t *wall_ns,
                            struct err *err)
{
    struct run_options options = {.seed = 1, .bare = true, .wrap = wrap, .wrap_context = shares};
    struct run_result result;
    int64_t cpu_began = real_cpu_ns();
    int64_t wall_began = real_now_ns();
    enum status status = run_scenario(backend, scenario, &options, &result, err);
    *cpu_ns = real_cpu_ns() - cpu_began;
    *wall_ns = real_now_ns() - wall_began;
    if (status == STATUS_OK && result.failure_count > 0)
        status = err_set(err, STATUS_INVALID, NULL, "the week failed: %s", result.failures[0].text);
    run_result_free(&result);
    return status;
}

static void add_seconds(struct bench_report *report, const char *name, int64_t ns, double target)
{
    bench_add(report, (struct bench_row){
                          .name = name, .value = (double)ns / 1e9, .unit = "s", .target = target});
}

static void report_week(struct bench_report *report, const struct shares *shares, int64_t cpu_ns,
                        int64_t wall_ns)
{
    static const char *const names[SHARE_COUNT] = {"week: writing, in the store", "week: hours",
                                                   "week: days", "week: drift check",
                                                   "week: other store calls"};
    int64_t rest = cpu_ns;
    add_seconds(report, "week: 7 virtual days", cpu_ns, 10);
    for (int i = 0; i < SHARE_COUNT; i++) {
        rest -= shares->elapsed_ns[i];
        add_seconds(report, names[i], shares->elapsed_ns[i], 0);
    }
    add_seconds(report, "week: core and world outside the store", rest, 0);
    add_seconds(report, "week: on the wall", wall_ns, 0);
}

enum status bench_week(struct bench_report *report, struct err *err)
{
    char *text = malloc(16384);
    struct arena arena;
    struct scenario *scenario;
    struct scenario_errors errors = {0};
    struct shares shares = {{0}, NULL};
    struct backend *backend = NULL;
    int64_t cpu = 0;
    int64_t wall = 0;
    if (text == NULL)
        return err_set(err, STATUS_NO_MEMORY, NULL, "no memory for the week");
    arena_init(&arena, (size_t)1024 * 1024 * 1024);
    enum status status =
        scenario_parse("week", text, week_text(text, 16384), &arena, &scenario, &errors);
    if (status != STATUS_OK)
        err_set(err, status, NULL, "the week's scenario: %s",
                errors.count > 0 ? errors.errors[0].message : "no memory");
    if (status == STATUS_OK)
        status = backend_sqlite_new(&backend, err);
    if (status == STATUS_OK)
        status = run_week(backend, scenario, &shares, &cpu, &wall, err);
    if (status == STATUS_OK)
        report_week(report, &shares, cpu, wall);
    shares_free(&shares);
    if (backend != NULL)
        backend->free(backend);
    arena_free(&arena);
    free(text);
    return status;
}

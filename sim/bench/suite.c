/* reset and suite: what the CI regression suite feels. */
#include "sim/bench/bench.h"

#include "core/base/assert.h"
#include "core/jobs/jobs.h"
#include "sim/run/suite.h"
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define RESETS 200
/* what a scenario of the suite leaves behind, roughly */
#define RESET_ROWS 300

static enum status fill(struct store *store, struct err *err)
{
    struct route_registry_row rows[RESET_ROWS];
    char routes[RESET_ROWS][16];
    for (int i = 0; i < RESET_ROWS; i++) {
        snprintf(routes[i], sizeof(routes[i]), "/r%06d", i);
        rows[i] = (struct route_registry_row){.day = 20513,
                                              .service = bytes_of("shop"),
                                              .route = bytes_of(routes[i]),
                                              .created_at_us = 1};
    }
    enum status status = store_begin(store, ROLE_METRICS_WRITER, err);
    if (status == STATUS_OK)
        status = store_register_routes(store, rows, RESET_ROWS, err);
    return status == STATUS_OK ? store_commit(store, err) : status;
}

enum status bench_reset(struct bench_report *report, struct err *err)
{
    struct backend *backend;
    double elapsed[RESETS];
    double noise;
    enum status status = backend_sqlite_new(&backend, err);
    if (status != STATUS_OK)
        return status;
    struct backend_events events = {NULL, NULL, NULL};
    for (int i = 0; i < RESETS && status == STATUS_OK; i++) {
        backend->attach(backend, NULL, &events);
        struct backend_session *session = backend->session_new(backend, "reset");
        status = session != NULL ? fill(backend->session_store(session), err)
                                 : err_set(err, STATUS_NO_MEMORY, NULL, "no memory");
        if (session != NULL)
            backend->session_free(session);
        int64_t began = real_now_ns();
        if (status == STATUS_OK)
            status = backend->reset(backend, err);
        elapsed[i] = (double)(real_now_ns() - began) / 1e6;
    }
    backend->free(backend);
    if (status == STATUS_OK)
        bench_add(report, (struct bench_row){.name = "reset between scenarios",
                                             .value = bench_median(elapsed, RESETS, &noise),
                                             .unit = "ms",
                                             .target = 0.3,
                                             .noise = noise});
    return status;
}

/* The suite prints; here only its time is wanted. */
static enum status quiet_suite(struct backend *backend, struct suite_outcome *outcome,
                               struct err *err)
{
    struct suite_options options = {.first_seed = 1, .last_seed = 1};
    fflush(stdout);
    int saved = dup(STDOUT_FILENO);
    int null = open("/dev/null", O_WRONLY);
    if (saved < 0 || null < 0)
        return err_set(err, STATUS_IO, NULL, "could not silence the suite");
    dup2(null, STDOUT_FILENO);
    enum status status = suite_run(backend, &options, outcome, err);
    fflush(stdout);
    dup2(saved, STDOUT_FILENO);
    close(saved);
    close(null);
    return status;
}

enum status bench_suite(struct bench_report *report, struct err *err)
{
    struct backend *backend;
    struct suite_outcome outcome;
    struct rusage usage;
    enum status status = backend_sqlite_new(&backend, err);
    if (status != STATUS_OK)
        return status;
    int64_t began = real_now_ns();
    status = quiet_suite(backend, &outcome, err);
    int64_t elapsed = real_now_ns() - began;
    backend->free(backend);
    if (status != STATUS_OK)
        return status;
    if (outcome.failed > 0)
        return err_set(err, STATUS_INVALID, NULL, "%zu scenarios of the suite failed",
                       outcome.failed);
    getrusage(RUSAGE_SELF, &usage);
    bench_add(report, (struct bench_row){.name = "suite: scenarios",
                                         .value = (double)outcome.passed,
                                         .unit = "scenarios"});
    bench_add(report, (struct bench_row){.name = "suite: each scenario twice",
                                         .value = (double)elapsed / 1e9,
                                         .unit = "s",
                                         .target = 10});
    bench_add(report, (struct bench_row){.name = "peak memory of this process",
                                         .value = (double)usage.ru_maxrss / 1024,
                                         .unit = "MB",
                                         .target = 200});
    return STATUS_OK;
}

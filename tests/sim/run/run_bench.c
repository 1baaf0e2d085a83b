#include "tests/sim/run/run_bench.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

void run_bench_play(struct run_bench *bench, const char *body)
{
    char text[4096];
    struct scenario_errors errors = {0};
    struct err err = {0};
    memset(bench, 0, sizeof(*bench));
    arena_init(&bench->arena, (size_t)64 << 20);
    int size = snprintf(text, sizeof(text),
                        "scenario \"a test\"\ncites R-PT-1\ntenant acme\n"
                        "series s1 of acme service \"cart\" GET /a 200 start 0s cumulative\n"
                        "%s\n%sderive\n  a test\n",
                        body, strstr(body, "run until") != NULL ? "" : "run until 1h\n");
    ck_assert(size > 0 && (size_t)size < sizeof(text));
    enum status status =
        scenario_parse("t.scn", text, (size_t)size, &bench->arena, &bench->scenario, &errors);
    ck_assert_msg(status == STATUS_OK, "%d:%d: %s", errors.errors[0].place.line,
                  errors.errors[0].place.column, errors.errors[0].message);
    ck_assert_int_eq(backend_sqlite_new(&bench->backend, &err), STATUS_OK);
    struct run_options options = {.seed = 1};
    status = run_scenario(bench->backend, bench->scenario, &options, &bench->result, &err);
    ck_assert_msg(status == STATUS_OK, "%s", err.message);
}

void run_bench_free(struct run_bench *bench)
{
    run_result_free(&bench->result);
    bench->backend->free(bench->backend);
    arena_free(&bench->arena);
}

const char *run_bench_failures(struct run_bench *bench)
{
    static const size_t room = 65536;
    char *text = arena_alloc(&bench->arena, room);
    size_t used = 0;
    ck_assert_ptr_nonnull(text);
    text[0] = 0;
    for (size_t i = 0; i < bench->result.failure_count && i < RUN_FAILURES_MAX; i++)
        used += (size_t)snprintf(text + used, room - used, "%s: %s\n",
                                 bench->result.failures[i].kind, bench->result.failures[i].text);
    ck_assert_uint_lt(used, room);
    return text;
}

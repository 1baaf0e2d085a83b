/* What the tests of sim/run share: one scenario as a text, run once. Not static: test_*.c share
 * them. */
#ifndef TESTS_SIM_RUN_RUN_BENCH_H
#define TESTS_SIM_RUN_RUN_BENCH_H

#include "sim/run/run.h"

struct run_bench {
    struct arena arena;
    struct backend *backend;
    struct scenario *scenario;
    struct run_result result;
};

/* Runs a file "t.scn" that is complete but for body, which stands from line 5 on: title, cites, a
 * tenant acme, a series s1; behind body a run of an hour (unless body has its own) and a derive. */
void run_bench_play(struct run_bench *bench, const char *body);
void run_bench_free(struct run_bench *bench);
/* The failures as lines "kind: text\n", in the bench's arena. */
const char *run_bench_failures(struct run_bench *bench);

#endif

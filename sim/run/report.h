/* What is said of one run: lines for people, or an object of JSON for programs.
 *
 *   {"name": "scenarios/...", "backend": "sqlite", "seed": 1, "verdict": "fail", "trace_hash":
 * "...", "steps": 120, "virtual_ns": ..., "real_ns": ..., "failures": [{"kind": "golden", "where":
 * "golden/...", "cell": "at end, metrics_minute, row ...", "expected": "601", "got": "300", "text":
 * "the same as one line"}], "failures_left_out": 0, "repeat": "./metersim run scenarios/... --seed
 * 1"}
 */
#ifndef SIM_RUN_REPORT_H
#define SIM_RUN_REPORT_H

#include "sim/run/run.h"
#include <stdio.h>

enum verdict { VERDICT_PASS, VERDICT_FAIL, VERDICT_NONDETERMINISTIC, VERDICT_NOT_JUDGED };
const char *verdict_name(enum verdict verdict);

struct report {
    const char *scenario; /* its path */
    const char *backend;
    uint64_t seed;
    const char *rules_text; /* of the command line; NULL: none */
    enum verdict verdict;
    const struct run_result *result;
    int64_t real_ns;
};

/* passed_too: a line also for a run that passed. */
void report_text(FILE *out, const struct report *report, bool passed_too);
/* first: no comma before it. */
void report_json(FILE *out, const struct report *report, bool first);

#endif

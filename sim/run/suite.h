/* Many scenarios: finds their files, runs each twice, compares with the golden, gives a verdict. */
#ifndef SIM_RUN_SUITE_H
#define SIM_RUN_SUITE_H

#include "sim/run/run.h"

struct suite_options {
    const char *const *paths; /* files and folders; none: "scenarios" */
    size_t path_count;
    uint64_t first_seed;
    uint64_t last_seed;
    const char *rules_text; /* NULL: none */
    bool update;            /* writes goldens that differ */
    const char *trace_path; /* NULL: none; one scenario and one seed only */
    bool fail_fast;         /* stops at the first that does not pass */
    bool json;
    bool progress; /* a line on stderr that is overwritten */
};

struct suite_outcome {
    size_t passed;
    size_t failed;
    bool nondeterministic;
    bool not_judged;
    bool bad_scenario; /* a file could not be read or parsed: nothing was run */
};

/* Prints results on stdout. Every file is parsed before the first one runs; with an error in any of
 * them all errors are printed to stderr and nothing runs. */
enum status suite_run(struct backend *backend, const struct suite_options *options,
                      struct suite_outcome *outcome, struct err *err);

#endif

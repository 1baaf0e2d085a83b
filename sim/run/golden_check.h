/* A run against the golden of its scenario, and the writing of a new one. */
#ifndef SIM_RUN_GOLDEN_CHECK_H
#define SIM_RUN_GOLDEN_CHECK_H

#include "sim/run/golden.h"
#include "sim/run/run.h"

/* Takes out of the result's snapshots what the scenario leaves out, and notes each difference from
 * the golden (NULL: there is none) as a failure of kind "golden". update: one will be written. */
void golden_check(const struct scenario *scenario, const struct golden *golden, bool update,
                  struct run_result *result);

/* --update: prints the differences to out and writes the golden, unless the run fails otherwise;
 * failures of kind "golden" are taken back. */
void golden_update(const struct scenario *scenario, struct run_result *result, FILE *out);

#endif

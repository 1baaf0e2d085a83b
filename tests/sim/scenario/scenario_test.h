/* What the tests of sim/scenario share. */
#ifndef TESTS_SIM_SCENARIO_SCENARIO_TEST_H
#define TESTS_SIM_SCENARIO_SCENARIO_TEST_H

#include "sim/scenario/scenario.h"

/* The whole file, NUL-terminated, in the arena; fails the test when it cannot be read. */
const char *text_of_file(struct arena *arena, const char *path, size_t *size);

/* Parses; fails the test with the first error when that is one. */
struct scenario *parse_good(struct arena *arena, const char *text);
/* Parses what must have errors; returns them as lines "line:column: message (hint)\n". */
const char *parse_bad(struct arena *arena, const char *text);
/* A file that is complete but for body: title, cites, a tenant, run, derive. body is on line 4. */
const char *with_body(struct arena *arena, const char *body);

#endif

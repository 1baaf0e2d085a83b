/* Durations and moments as people write them.
 *
 *   duration   90s   1h30m   500ms   2d3h   123ns            units d h m s ms us ns
 *   moment     30m   -3h   -3h+123ns   0s   2026-03-01T00:00:00Z
 *
 * A moment is a signed sum of durations after the scenario's start, or a UTC time. A sign belongs
 * to the duration behind it: -3h+123ns is three hours before the start and 123 ns later.
 */
#ifndef SIM_SCENARIO_MOMENT_H
#define SIM_SCENARIO_MOMENT_H

#include "sim/scenario/scenario.h"

/* False: not a duration, or above 200 years. No sign. */
bool duration_parse(const char *text, size_t size, int64_t *ns);

/* False: neither form, or outside the years 1970 to 2199. start_ns is added to the first form. */
bool moment_parse(const char *text, size_t size, int64_t start_ns, struct moment *moment);

#define MOMENT_TEXT_SIZE 96

/* The canonical text, which parses to the same: units from the largest, none that is zero. */
void duration_format(int64_t ns, char out[MOMENT_TEXT_SIZE]); /* ns >= 0 */
void moment_format(struct moment moment, int64_t start_ns, char out[MOMENT_TEXT_SIZE]);

#endif

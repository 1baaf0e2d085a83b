/* Golden files: the tables a scenario must leave behind (DESIGN 7). One file serves both backends.
 *
 *   golden of scenarios/first-point/five-minutes.scn
 *
 *   at end
 *
 *   metrics_minute
 *     tenant  bucket_start          service  method  route  status_code  source | counts  sum ...
 *     acme    2026-03-01T00:10:00Z  shop     GET     /cart  200          metric | b3:601  12.02 ...
 *
 *   empty: ingest_warnings rollup_pending
 *
 * Cells stand two or more blanks apart. A cell that is empty, or holds two blanks, a quote, a
 * backslash,
 * '|' or a control character is written in double quotes with JSON's escapes. '|' ends the key.
 */
#ifndef SIM_RUN_GOLDEN_H
#define SIM_RUN_GOLDEN_H

#include "core/base/err.h"
#include "sim/run/table.h"
#include <stdio.h>

struct golden {
    struct snapshot *snapshots;
    size_t snapshot_count;
};

/* Writes a golden to out. scenario: its path, for the first line. */
void golden_print(FILE *out, const char *scenario, const struct snapshot *snapshots, size_t count);

/* Reads one. Errors are "file:line:col: expected ...", STATUS_INVALID. Memory: arena. */
enum status golden_parse(const char *file, const char *text, size_t size, struct arena *arena,
                         struct golden *out, struct err *err);

#endif

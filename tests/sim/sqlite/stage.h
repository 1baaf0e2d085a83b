/* A stage for the overlay: actors on coroutines that do what a play says, one line at a time.
 *
 *   a begin: ok
 *   b begin: ok
 *   a mark 1 5: 1
 *   b mark 1 6: waits       b waits for a
 *   a commit: ok; b may go on
 *   b: 0                    b has gone on, and this is the result of its line
 *
 *   b is cut: gone          its connection; if it waits, its line ends with 08006
 *   b dies: gone            and its line never ends
 *
 * A play is its own transcript: every line with an op is run (actor, op of ops.h), everything that
 * comes of it is written down, and the whole must be equal to the play.
 */
#ifndef TESTS_SIM_SQLITE_STAGE_H
#define TESTS_SIM_SQLITE_STAGE_H

#include "sim/sqlite/overlay.h"
#include "tests/sim/sqlite/ops.h"

#define STAGE_ACTORS 4 /* a, b, c, d */

struct stage;
/* Partitions of 2026-01-01 and the day after, the tenant is active. */
struct stage *stage_new(uint64_t seed);
void stage_free(struct stage *stage);
struct overlay *stage_overlay(struct stage *stage);

/* Runs the play and fails the test where the transcript differs. */
void stage_play(struct stage *stage, const char *title, const char *play);

/* One line of one actor, as stage_play runs it. */
void stage_line(struct stage *stage, char actor, const struct op *op);
/* The same from outside of the scheduler: nobody else runs meanwhile, also those who may go on, and
 * it must not wait. Fails the test unless the result is the expected one. */
void stage_outside(struct stage *stage, char actor, const char *line, const char *expected);
/* What was written down since the last call. */
const char *stage_take_transcript(struct stage *stage);
/* Is the actor inside a line, waiting? */
bool stage_waits(const struct stage *stage, char actor);

#endif

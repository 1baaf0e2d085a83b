/* The statements of a run with their parameters, to be replayed on bare SQLite: the floor. */
#ifndef SIM_BENCH_RECORDING_H
#define SIM_BENCH_RECORDING_H

#include "core/store/call.h"
#include <sqlite3.h>

struct recording;

struct recording *recording_new(void); /* NULL: out of memory */
void recording_free(struct recording *recording);
/* A store that passes every call on to inner and keeps it. Freed with the recording. */
struct store *recording_store(struct recording *recording, struct store *inner);

size_t recording_calls(const struct recording *recording);
/* Rows of parameters over all calls that reach SQLite: statements executed. */
size_t recording_statements(const struct recording *recording);

/* Replays on a bare connection that has functions and schema: prepared statements, the values
 * already in the form in which they are bound. *elapsed_ns: the loop alone. */
enum status recording_replay_bare(struct recording *recording, sqlite3 *db, int64_t *elapsed_ns,
                                  struct err *err);
/* Replays through a store; results are read into a scratch arena. */
enum status recording_replay_store(struct recording *recording, struct store *store,
                                   int64_t *elapsed_ns, struct err *err);

#endif

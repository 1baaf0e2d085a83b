/* The statements of a run with their parameters, to be replayed on bare SQLite: the floor. */
#ifndef SIM_BENCH_RECORDING_H
#define SIM_BENCH_RECORDING_H

#include "core/store/call.h"
#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

struct recording;

struct recording *recording_new(void); /* NULL: out of memory */
void recording_free(struct recording *recording);
/* A store that passes every call on to inner and keeps it. Freed with the recording. */
struct store *recording_store(struct recording *recording, struct store *inner);

size_t recording_calls(const struct recording *recording);
/* Rows of parameters over all calls that reach SQLite: statements executed. */
size_t recording_statements(const struct recording *recording);

/* A replay runs the recording transaction by transaction, so that several can take turns. */
struct replay;

/* On a bare connection that has functions and schema: prepared statements, the values already in
 * the form in which they are bound. Through a store: results are read into a scratch arena. NULL:
 * out of memory, of the recording too, or a statement that SQLite refuses. */
struct replay *replay_bare(const struct recording *recording, sqlite3 *db);
struct replay *replay_store(const struct recording *recording, struct store *store);
void replay_free(struct replay *replay);

/* Runs the calls up to the next Commit and that one. */
enum status replay_transaction(struct replay *replay, struct err *err);
bool replay_done(const struct replay *replay);
/* In replay_transaction so far. */
int64_t replay_elapsed_ns(const struct replay *replay);

#endif

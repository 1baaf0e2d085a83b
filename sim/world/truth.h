/* The truth: what was served, what went out, what was decided; and the accounting identity
 * (R-OUT-2).
 *
 * Three independent books are compared:
 *
 *   served     processes and series count what they serve, a stream (tenant, series, start)
 *   sent       publisher: which points each message of the queue carries
 *   judged     meter: what became of each point of each transaction that committed
 *   tables     the rows at the end
 *
 *   cumulative, a stream   served = counted + (SDK value - last accepted) + absorbed by named
 *                          outcomes - what a state that retention pruned had held (R-FIRST-7)
 *
 *   delta, a message       sent = counted + refused, when it was applied; else it must be in the
 *                          queue, in the DLQ, expired, or a repetition of one that was applied
 *
 *   a row group            rows of the tables = sum of what was judged into it, a UTC day
 *
 *   a stream's state       series_state = the last accepted point
 *
 * A surplus fails like a deficit. {other} moves requests between row groups, not out: the judgement
 * names the row. A dropped partition or a purge takes its rows out of the book when it commits.
 */
#ifndef SIM_WORLD_TRUTH_H
#define SIM_WORLD_TRUTH_H

#include "core/port/ports.h"
#include "core/store/store.h"
#include "sim/world/names.h"
#include "sim/world/queue.h"
#include "sim/world/series.h"
#include <stdio.h>

struct truth;

/* NULL: out of memory. */
struct truth *truth_new(struct names *names);
void truth_free(struct truth *truth);

/* ---- told by processes and the publisher ---- */

/* A stream's own book; found or made. NULL: out of memory. */
struct truth_stream;
struct truth_stream *truth_stream_of(struct truth *truth, const struct series *series,
                                     uint64_t start_unix_nano);
/* Requests served by the process of that stream. */
void truth_served(struct truth_stream *stream, uint64_t count);
/* Requests of a delta stream that died with their process before they were sent. */
void truth_lost(struct truth_stream *stream, uint64_t count);

/* A message went onto the queue, in order of sequence. points: those it carries (none for
 * undecodable bytes). False: out of memory. */
bool truth_message(struct truth *truth, uint64_t sequence, const struct series_point *points,
                   size_t count);
/* The same bytes again under a new sequence, outside the dedup window. */
bool truth_message_again(struct truth *truth, uint64_t sequence, uint64_t first);
/* Sent, but dropped by the dedup window because its id was taken. */
void truth_deduplicated(struct truth *truth, const struct series_point *points, size_t count);

/* ---- told by the meter, when a transaction really commits ---- */

void truth_judged(struct truth *truth, const struct judgement *judgement, int64_t now_ns);
/* Whether a transaction that committed judged a point of that message. */
bool truth_was_judged(const struct truth *truth, uint64_t sequence);
void truth_purged(struct truth *truth, const struct uuid *tenant);
/* Retention removed the series states last seen before that time. */
void truth_pruned(struct truth *truth, int64_t before_us);
/* The minute partition of that day is gone with its rows. */
void truth_dropped_day(struct truth *truth, int64_t day);

/* ---- the check ---- */

/* The tables at the end; any order. */
struct truth_tables {
    const struct minute_row *minutes;
    size_t minute_count;
    const struct truth_state *states;
    size_t state_count;
};
struct truth_state {
    struct uuid tenant;
    struct series_key key;
    int64_t last_unix_nano;
    int64_t last_count;
};
/* Reads them through the store port, all tenants that the truth knows. Memory from arena. */
enum status truth_read_tables(const struct truth *truth, struct store *store, struct arena *arena,
                              struct truth_tables *tables, struct err *err);

/* Writes one line for each thing that does not add up, naming tenant, series and both sides of the
 * sum, and returns their number. queue NULL: messages are not followed. May be called again. */
size_t truth_check(struct truth *truth, const struct truth_tables *tables, struct queue *queue,
                   FILE *out);

/* Requests served so far, all tenants or one. */
uint64_t truth_total_served(const struct truth *truth, const struct uuid *tenant);

#endif

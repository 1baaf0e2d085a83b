/* The trace of a run: what happened, in order, the same bytes on every build and backend (DESIGN
 * 5).
 *
 * An event is (virtual ns, actor, step, fields). Fields are name and value; doubles are 16 hex
 * digits; never an error text, a pid, an address, SQL or a backend's name. Its XXH3 hash closes
 * each run. With a sink the events are also written as JSON lines:
 *
 *   {"at":"2026-03-01T00:05:00Z","actor":"w1","step":"AddMinute","params":[{...}],"affected":3}
 *
 * Running out of memory ends the simulator: a trace with a hole would be worse than none.
 * Legal order: trace_new, { trace_event, fields..., trace_end }*, trace_hash, trace_free.
 */
#ifndef SIM_OUT_TRACE_H
#define SIM_OUT_TRACE_H

#include "core/store/call.h"
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct trace;

/* sink: NULL for the hash alone; the caller closes it and asks it for write errors. NULL: out of
 * memory. */
struct trace *trace_new(FILE *sink);
void trace_free(struct trace *trace);

/* actor: "" for the world. step: a query's name, or a world step ("Pull", "Ack", "Export", ...). */
void trace_event(struct trace *trace, int64_t now_ns, const char *actor, const char *step);
void trace_int(struct trace *trace, const char *name, int64_t value);
void trace_text(struct trace *trace, const char *name, struct bytes value);
void trace_word(struct trace *trace, const char *name, const char *value);
void trace_hex(struct trace *trace, const char *name, struct bytes value);
void trace_number(struct trace *trace, const char *name, double value);
/* A whole store call: parameters row by row and, when done, affected rows and result rows. */
void trace_call_params(struct trace *trace, const struct store_call *call);
void trace_call_results(struct trace *trace, const struct store_call *call);
void trace_end(struct trace *trace);

uint64_t trace_events(const struct trace *trace);
uint64_t trace_hash(const struct trace *trace);

/* Keeps every event in memory, for the two functions below. Before the first event. */
void trace_keep(struct trace *trace);
/* Two kept traces of the same run: the first event where they differ, or the number of events of
 * the shorter one. False when they are equal. */
bool trace_first_difference(const struct trace *a, const struct trace *b, uint64_t *event);
/* Event 0, 1, ... of a kept trace as one JSON line without newline; good until the next call. */
const char *trace_kept_line(const struct trace *trace, uint64_t event);

#endif

/* A process with an OpenTelemetry SDK: serves requests into explicit-bucket histograms and exports
 * them.
 *
 *   process_new ─► process_start ─► serve... export... ─► process_stop | process_crash ─►
 * process_start
 *
 * It never schedules itself: the runner calls process_export when process_next_export_ns has come,
 * and decides the order of events of one instant (DESIGN 5). Times handed in are true times; the
 * process adds the skew of its clock to what it writes.
 *
 * Cumulative: every series since the start, in order of first use, unchanged or not. Delta: only
 * what changed since the last export. Source span: the collector's span connector derives the
 * points: one delta point for each series and minute its spans ended in, time = start of that
 * minute, no start time (MS "Metric tables"). Durations enter a sum floored to 2^-20 s unless
 * raw_sums is set; the bucket is chosen by the exact value (DESIGN 5).
 */
#ifndef SIM_WORLD_PROCESS_H
#define SIM_WORLD_PROCESS_H

#include "sim/world/collector.h"

struct process_config {
    const char *name; /* "shop-1", of a replica "shop/2" */
    const char
        *shown_as; /* in goldens; NULL: name. Replicas have one, for they share their hashes */
    struct telemetry telemetry;
    int64_t export_every_ns;      /* > 0 */
    enum temporality temporality; /* of source metric */
    int64_t skew_ns;
    bool raw_sums;
};

struct process;

/* Copies the config but for what its pointers point to. NULL: out of memory. */
struct process *process_new(const struct process_config *config, struct series_maker *maker,
                            struct truth *truth, struct collector *collector);
void process_free(struct process *process);

/* A new start time, start_ns (+ skew), and no series. start_ns <= now_ns: a process may have been
 * running before the scenario begins; its first export is the first due at or after now. Asserts
 * that it is not running. */
void process_start(struct process *process, int64_t start_ns, int64_t now_ns);
bool process_running(const struct process *process);

/* times requests of that duration. STATUS_STOPPED: it is not running, nobody is served.
 * STATUS_NO_MEMORY. request is copied when its series is new. */
enum status process_serve(struct process *process, int64_t now_ns, const struct request *request,
                          int64_t duration_ns, int64_t times, struct err *err);

/* INT64_MAX when it is not running. */
int64_t process_next_export_ns(const struct process *process);
/* Hands an export to the collector and plans the next when this one was due. Nothing to send sends
 * nothing. A collector that is down is no error: a delta process keeps its interval for the next
 * export. */
enum status process_export(struct process *process, int64_t now_ns, struct err *err);
/* The last export once more, as an SDK does that got no answer: the same points, new message ids.
 */
enum status process_resend(struct process *process, struct err *err);
/* Flushes (an export) when asked to, then ends. */
enum status process_stop(struct process *process, int64_t now_ns, bool flush, struct err *err);
/* What was not exported is lost. Asserts that it is running. */
void process_crash(struct process *process);

#endif

/* The collector between processes and the queue: batches, splits, cleans, stamps, publishes.
 *
 * Cleaning (collect.h) is done when a series is made, because it depends on nothing else:
 * routenorm rule set 2 and tenantguard of MS "Poison messages" 1. Two series that become equal by
 * it are added up in each message, as one stream must not carry two counters. Message ids are
 * "<name>-<sequence>"; the sequence goes on after a crash (R-Q-1).
 */
#ifndef SIM_WORLD_COLLECTOR_H
#define SIM_WORLD_COLLECTOR_H

#include "sim/sched/sched.h"
#include "sim/world/publisher.h"

struct collector_config {
    const char *name;
    int64_t split_points;  /* at most so many points a message; 0: never splits */
    int64_t batch_exports; /* waits for so many exports, one message a tenant for all; >= 1 */
    int64_t delay_ns;      /* publishes so much later */
};

struct collector;

/* NULL: out of memory. sched is used for delay_ns alone. */
struct collector *collector_new(const struct collector_config *config, struct publisher *publisher,
                                struct sched *sched);
void collector_free(struct collector *collector);

/* One export of one process. Copies the points. repeats: the SDK sends the same again (R-OUT-2).
 * STATUS_IO: the collector is down; the process keeps its interval (delta) or goes on (cumulative).
 */
enum status collector_receive(struct collector *collector, const struct series_point *points,
                              size_t count, bool repeats, struct err *err);
/* Publishes what is held back by batch_exports or delay_ns. */
enum status collector_flush(struct collector *collector, struct err *err);
/* Down: what it holds is lost, and receive fails until collector_start. */
void collector_crash(struct collector *collector);
/* Flushes, then receive fails until collector_start. */
enum status collector_stop(struct collector *collector, struct err *err);
void collector_start(struct collector *collector);
bool collector_running(const struct collector *collector);
/* True while something waits for delay_ns. */
bool collector_delays(const struct collector *collector);

#endif

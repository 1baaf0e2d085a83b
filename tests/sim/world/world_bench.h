/* A small world for the tests of this folder: queue, truth, one collector, one process, and a
 * decoder that reads what the queue holds as the writer would. Not static functions: test_*.c share
 * them. */
#ifndef TESTS_SIM_WORLD_WORLD_BENCH_H
#define TESTS_SIM_WORLD_WORLD_BENCH_H

#include "core/base/time.h"
#include "core/otlp/message.h"
#include "sim/world/process.h"

#define WORLD_START INT64_C(1772323200000000000) /* 2026-03-01T00:00:00Z */

struct world_bench {
    struct sched *sched;
    struct queue *queue;
    struct names *names;
    struct truth *truth;
    struct series_maker maker;
    struct publisher *publisher;
    struct collector *collector;
    struct process *process;
    struct decoder *decoder;
    struct settings settings;
    struct arena arena;
    struct uuid tenant;
};

/* A process "shop-1" of service "shop" that exports every minute. change: may adjust it; or NULL.
 */
void world_bench_set_up(struct world_bench *bench,
                        void (*change)(struct process_config *process,
                                       struct collector_config *collector));
void world_bench_tear_down(struct world_bench *bench);

int64_t world_at(int64_t seconds); /* unix ns */
/* GET route 200 in 20 ms, times times. */
void world_serve(struct world_bench *bench, int64_t seconds, const char *route, int64_t times);
void world_export(struct world_bench *bench, int64_t seconds);
/* Decodes message `sequence`; it must be a good one. */
struct message world_decode(struct world_bench *bench, uint64_t sequence);

#endif

/* Figures and ratios, measured side by side in one run: absolute times on a noisy machine say
 * little, the ratio of two things measured in turns says much.
 *
 *   full     SDK bytes -> queue -> decode -> rules -> SQLite -> ack, in the simulator
 *   floor    the identical statements and parameters on bare SQLite: no core, overlay or hook
 *   overlay  the same statements through core's session and the overlay
 *   switch   from one open transaction to another, with few and with many open rows
 *   week     20 series exported every 60 s for 7 virtual days, all jobs on their periods
 *   reset    back to the empty schema after a scenario
 *   suite    all scenarios, each twice
 */
#ifndef SIM_BENCH_BENCH_H
#define SIM_BENCH_BENCH_H

#include "core/base/err.h"
#include "sim/base/real_time.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One line of the report. ratio: floor / value for times, as a share of the floor's speed. */
struct bench_row {
    const char *name;
    double value;
    const char *unit;
    double floor;      /* 0: none */
    double ratio;      /* 0: none */
    double target;     /* 0: none; see target_is_least */
    bool target_least; /* the ratio must be at least target; else the value at most */
    double noise;      /* half the spread of the repetitions over their median */
};

#define BENCH_ROWS_MAX 64

struct bench_report {
    struct bench_row rows[BENCH_ROWS_MAX];
    size_t count;
};

struct bench {
    const char *name;
    const char *summary;
    enum status (*run)(struct bench_report *report, struct err *err);
};
extern const struct bench benches[];
extern const size_t bench_count;

void bench_add(struct bench_report *report, struct bench_row row);

/* Median, and half the spread of the middle half over it, of count values (sorted in place). */
double bench_median(double *values, size_t count, double *noise);

enum status bench_full(struct bench_report *report, struct err *err);
enum status bench_switch(struct bench_report *report, struct err *err);
enum status bench_week(struct bench_report *report, struct err *err);
enum status bench_reset(struct bench_report *report, struct err *err);
enum status bench_suite(struct bench_report *report, struct err *err);

#endif

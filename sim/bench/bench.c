#include "sim/bench/bench.h"

#include "core/base/assert.h"
#include <stdlib.h>

const struct bench benches[] = {
    {"full", "SDK bytes to committed rows, against bare SQLite and the overlay", bench_full},
    {"switch", "a statement of another open transaction than the one before", bench_switch},
    {"week", "20 series every 60 s for 7 virtual days, all jobs on their periods", bench_week},
    {"reset", "back to the empty schema after a scenario", bench_reset},
    {"suite", "all scenarios, each twice, and the memory it took", bench_suite},
};
const size_t bench_count = sizeof(benches) / sizeof(benches[0]);

void bench_add(struct bench_report *report, struct bench_row row)
{
    ASSERT(report->count < BENCH_ROWS_MAX);
    report->rows[report->count++] = row;
}

static int by_value(const void *a, const void *b)
{
    double left = *(const double *)a;
    double right = *(const double *)b;
    return left < right ? -1 : left > right;
}

double bench_median(double *values, size_t count, double *noise)
{
    ASSERT(count > 0);
    qsort(values, count, sizeof(*values), by_value);
    double median = values[count / 2];
    double spread = values[count - 1 - count / 4] - values[count / 4];
    *noise = median > 0 ? spread / 2 / median : 0;
    return median;
}

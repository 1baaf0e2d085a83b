/* Names of counters, for traces and expectations. */
#include "core/port/ports.h"
#include "core/base/assert.h"

const char *counter_name(enum counter counter)
{
    static const char *const names[COUNTER_COUNT] = {
        [COUNTER_ROLLUP_HOURS] = "rollup_hours",
        [COUNTER_ROLLUP_DAYS] = "rollup_days",
        [COUNTER_ROLLUP_RESTORED] = "rollup_restored",
        [COUNTER_ROLLUP_DRIFTED_HOURS] = "rollup_drifted_hours",
        [COUNTER_ROLLUP_ORPHANED_MARKS] = "rollup_orphaned_marks",
        [COUNTER_PARTITIONS_CREATED] = "partitions_created",
        [COUNTER_PARTITIONS_DROPPED] = "partitions_dropped",
        [COUNTER_PARTITIONS_BUSY] = "partitions_busy",
        [COUNTER_PARTITIONS_WAITING] = "partitions_waiting",
        [COUNTER_PRUNED_ROWS] = "pruned_rows",
        [COUNTER_SKIPPED_METRICS] = "skipped_metrics",
    };
    ASSERT((unsigned)counter < COUNTER_COUNT);
    ASSERT(names[counter]);
    return names[counter];
}

/* The checks of one point (R-DEC-4, R-DEC-5). A failing point is refused alone.
 * Pure: no clock, no memory. */
#ifndef CORE_OTLP_CHECKS_H
#define CORE_OTLP_CHECKS_H

#include "core/base/settings.h"
#include "core/otlp/facts.h"
#include "core/otlp/request.h"

/* R-DEC-5: the point times that are accepted, both ends included. */
struct otlp_window {
    uint64_t oldest_unix_nano;
    uint64_t newest_unix_nano;
};

/* 7 days back, and the future tolerance ahead. Without S-4 the future has no bound but the column:
 * a time above int64 cannot be stored and is rejected_future under any rules. */
struct otlp_window otlp_window_at(int64_t now_ns, const struct settings *settings,
                                  struct rules rules);

/* The first check of R-DEC-4 that the point fails, or POINT_OUTCOME_COUNT for a good one. */
enum point_outcome otlp_point_check(const struct otlp_metric *metric,
                                    const struct otlp_point *point, const struct point_facts *facts,
                                    const struct otlp_window *window);

#endif

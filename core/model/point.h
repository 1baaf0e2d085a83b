/* A point as the writer judges it: checked, identified, re-bucketed, nothing of OTLP left. */
#ifndef CORE_MODEL_POINT_H
#define CORE_MODEL_POINT_H

#include "core/base/sha256.h"
#include "core/model/histogram.h"
#include "core/model/outcome.h"

enum source { SOURCE_METRIC, SOURCE_SPAN };  /* MS "Metric tables": column source */
const char *source_name(enum source source); /* "metric", "span" */

enum temporality { TEMPORALITY_DELTA = 1, TEMPORALITY_CUMULATIVE = 2 }; /* OTLP's numbers */

struct point {
    /* POINT_OUTCOME_COUNT while the point is good; otherwise why it was refused (R-DEC-4), and
     * only that field is set. */
    enum point_outcome refusal;
    enum temporality temporality;
    enum source source;
    struct sha256 resource_hash;
    struct sha256 series_hash;
    int64_t start_unix_nano;
    int64_t time_unix_nano;
    struct bytes service; /* "" when absent; memory of the message's arena */
    struct bytes method;
    struct bytes route;
    int16_t status_code; /* 0 when absent */
    struct histogram histogram;
    int64_t count; /* = sum of histogram */
    bool has_sum;
    double sum; /* seconds; 0 when absent */
    bool lossy;
    bool coarse;
    bool redacted; /* resource attribute scf.redacted is true (R-WARN-1) */
};

#endif

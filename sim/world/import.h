/* Points from bytes that somebody else encoded: captured exports and hostile payloads. */
#ifndef SIM_WORLD_IMPORT_H
#define SIM_WORLD_IMPORT_H

#include "core/otlp/message.h"
#include "sim/world/series.h"

struct import {
    /* in */
    struct series_maker *maker; /* owns the series that come out */
    struct arena *scratch;      /* owns the points */
    struct uuid tenant;
    bool collected; /* clean the text and drop stamps, as the collector does */
    /* out */
    struct series_point *points;
    size_t count;
    bool cleaned; /* the text of some point was */
};

/* All points of the metrics that are ours (R-DEC-2). STATUS_INVALID: the payload is no request. */
enum status import_request(struct import *import, struct bytes payload, enum payload_format format,
                           struct err *err);

#endif

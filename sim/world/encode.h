/* Points to the bytes of an ExportMetricsServiceRequest, through protobuf-c's generated code.
 *
 *   neighbours that share the telemetry          one ResourceMetrics with one ScopeMetrics
 *   of those, that share temporality and type    one Metric
 */
#ifndef SIM_WORLD_ENCODE_H
#define SIM_WORLD_ENCODE_H

#include "sim/world/series.h"

/* What the collector adds to every resource. */
struct encode_stamp {
    bool has_tenant;
    struct uuid tenant; /* scf.tenant.id */
};

/* The bytes live in arena. STATUS_NO_MEMORY. */
enum status encode_request(const struct encode_stamp *stamp, const struct series_point *points,
                           size_t count, struct arena *arena, struct bytes *out, struct err *err);

#endif

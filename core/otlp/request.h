/* The neutral tree of an OTLP metrics request: what both decoders fill and every check reads.
 *
 *   request -> resources -> scopes -> metrics (only those of R-DEC-2) -> points
 *
 * Attributes stay in their OTLP encoding, one `KeyValue` message each: an export repeats the
 * attributes of the one before, and the identity cache (cache.h) knows them by these bytes. The
 * JSON decoder encodes them. All memory is the arena's, nothing points into the payload.
 */
#ifndef CORE_OTLP_REQUEST_H
#define CORE_OTLP_REQUEST_H

#include "core/base/arena.h"
#include "core/base/bytes.h"
#include "core/base/err.h"
#include "core/model/point.h"
#include "core/otlp/message.h"

struct otlp_attributes {
    struct bytes *items; /* each an encoded KeyValue, in the order of the payload */
    size_t count;
};

struct otlp_point {
    struct otlp_attributes attributes;
    uint64_t start_unix_nano; /* 0 when absent, as in OTLP */
    uint64_t time_unix_nano;
    uint64_t count;
    double sum;
    bool has_sum;
    uint32_t flags;
    const uint64_t *bucket_counts;
    size_t bucket_count;
    const double *bounds;
    size_t bound_count;
};

struct otlp_metric {
    enum source source;
    struct bytes name;
    struct bytes unit;
    bool is_histogram;   /* explicit-bucket; otherwise points have attributes only */
    int32_t temporality; /* as sent; 0 when absent */
    struct otlp_point *points;
    size_t point_count;
};

struct otlp_scope {
    struct bytes name;
    struct bytes version;
    struct otlp_metric *metrics;
    size_t metric_count;
};

struct otlp_resource {
    struct otlp_attributes attributes;
    struct otlp_scope *scopes;
    size_t scope_count;
};

struct otlp_request {
    struct otlp_resource *resources;
    size_t resource_count;
    bool names_resources;   /* there is one, or in JSON an empty array of them */
    size_t point_count;     /* of all metrics in the tree */
    size_t skipped_metrics; /* R-DEC-2: metrics of other names, not in the tree */
};

/* R-DEC-2. False for a metric that is none of ours. */
bool otlp_metric_source(struct bytes name, enum source *source);

/* The tree of a payload.
 * STATUS_INVALID: larger than LIMIT_PAYLOAD_BYTES, or not an OTLP request; err says where.
 * STATUS_NO_MEMORY: the arena is exhausted (a small payload can ask for much: an empty submessage
 * is two bytes on the wire). */
enum status otlp_request_decode(struct bytes payload, enum payload_format format,
                                struct arena *arena, struct otlp_request *out, struct err *err);

/* The two decoders behind it. */
enum status otlp_request_protobuf(struct bytes payload, struct arena *arena,
                                  struct otlp_request *out, struct err *err);
enum status otlp_request_json(struct bytes payload, struct arena *arena, struct otlp_request *out,
                              struct err *err);

#endif

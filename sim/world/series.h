/* Series and their points, as a process or a scenario has them before they become OTLP bytes.
 *
 *   struct telemetry  resource, scope, metric, bounds     one a process
 *   struct request    method, route, status, error.type   what is served
 *   struct series     telemetry + point attributes, with its hashes and its readable name
 *   struct series_point   one value of a series at a time
 *
 * A series is made once and its text normalised and hashed once; points only carry numbers. That
 * keeps a simulated week cheap.
 */
#ifndef SIM_WORLD_SERIES_H
#define SIM_WORLD_SERIES_H

#include "core/base/rules.h"
#include "core/model/identity.h"
#include "core/model/point.h"
#include "sim/world/names.h"
#include <protobuf-c/protobuf-c.h>

struct telemetry {
    struct uuid tenant;
    struct bytes service;               /* service.name; data NULL: absent */
    const struct attribute *attributes; /* of the resource, besides service.name */
    size_t attribute_count;
    bool has_scope;
    struct bytes scope_name;
    struct bytes scope_version;
    struct bytes metric; /* data NULL: the name that belongs to source (R-DEC-2) */
    enum source source;
    struct bytes unit;    /* data NULL: "s" */
    bool redacted;        /* the collector redacted a secret: scf.redacted (R-WARN-1) */
    const double *bounds; /* explicit bounds; NULL with bound_count 0: none (R-DEC-6) */
    size_t bound_count;
};

enum request_status { REQUEST_STATUS_ABSENT, REQUEST_STATUS_INT, REQUEST_STATUS_TEXT };

struct request {
    struct bytes method; /* data NULL: the attribute is absent */
    struct bytes route;
    enum request_status status_kind;
    int64_t status;
    struct bytes status_text;
    struct bytes error_type;            /* data NULL: absent */
    const struct attribute *attributes; /* further point attributes */
    size_t attribute_count;
};

enum series_type { SERIES_HISTOGRAM, SERIES_GAUGE, SERIES_SUM, SERIES_EXPONENTIAL, SERIES_SUMMARY };

/* OTLP KeyValue messages, encoded once. */
struct key_values {
    ProtobufCBinaryData *items;
    size_t count;
};

struct truth_stream;

struct series {
    const struct telemetry *telemetry;
    const char *name;           /* "shop-1 GET /cart 200" */
    struct key_values resource; /* without the collector's stamps (scf.*) */
    struct key_values attributes;
    bool cleaned;    /* the collector changed its text: another series may have become equal */
    int temporality; /* enum temporality; 0: unspecified */
    enum series_type type;
    struct sha256 resource_hash;
    struct sha256 series_hash;
};

struct series_point {
    const struct series *series;
    struct truth_stream *stream; /* its book; NULL: the publisher finds it (truth.h) */
    bool repeats; /* the same data was sent before under another id (an SDK's re-send, R-OUT-2) */
    uint64_t start_unix_nano; /* 0: unknown */
    uint64_t time_unix_nano;
    const uint64_t *counts; /* counts_size; bound_count + 1 in a right point */
    size_t counts_size;
    uint64_t count;
    bool has_sum;
    double sum;
    uint32_t flags; /* 1: no recorded value */
};

/* Adds a point to one before it in the same export, when the collector's cleaning made the two
 * equal: of one series, start, time and shape. Two points of one stream at one time would be a
 * duplicate for the writer (R-PT-1). False: they are not such, and nothing is done. to's counts are
 * written. */
bool series_point_merge(struct series_point *to, const struct series_point *point);

/* Makes series: hasher, names and memory of one run. */
struct series_maker {
    struct sha256_hasher *hasher;
    struct arena arena; /* of the series */
    struct arena scratch;
    struct rules rules; /* S-3 */
    struct names *names;
};
/* STATUS_NO_MEMORY. names may be NULL. */
enum status series_maker_init(struct series_maker *maker, struct rules rules, struct names *names,
                              struct err *err);
void series_maker_free(struct series_maker *maker);

/* owner: the process or series as a golden shows it ("shop-1"); registered for resource and series
 * hash. collected: the text passes the collector first: routes and service normalised (collect.h).
 * else it reaches the writer as it is written. Copies all but telemetry, which must outlive the
 * series. NULL: out of memory. */
struct series *series_make(struct series_maker *maker, const char *owner,
                           const struct telemetry *telemetry, const struct request *request,
                           int temporality, enum series_type type, bool collected);

/* A series from a decoded request: attributes already encoded, hashes from them. owner as above.
 * The same otlp resource may be given as often as it has metrics. */
struct series *series_import(struct series_maker *maker, const char *owner,
                             const struct telemetry *telemetry, const struct attributes *resource,
                             const struct attributes *attributes, int temporality,
                             enum series_type type);

/* The metric name that goes out. */
struct bytes telemetry_metric(const struct telemetry *telemetry);

/* An attribute as an encoded KeyValue; false: out of memory. */
bool key_value_encode(const struct attribute *attribute, struct arena *arena,
                      ProtobufCBinaryData *out);

#endif

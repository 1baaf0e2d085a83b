#include "core/otlp/request.h"
#include "core/base/limits.h"

bool otlp_metric_source(struct bytes name, enum source *source)
{
    if (bytes_equal(name, bytes_of("http.server.request.duration")))
        *source = SOURCE_METRIC;
    else if (bytes_equal(name, bytes_of("scf.http.server.request.duration.from_spans")))
        *source = SOURCE_SPAN;
    else
        return false;
    return true;
}

enum status otlp_request_decode(struct bytes payload, enum payload_format format,
                                struct arena *arena, struct otlp_request *out, struct err *err)
{
    if (payload.size > LIMIT_PAYLOAD_BYTES)
        return err_set(err, STATUS_INVALID, NULL,
                       "cannot decode the request: it has %zu bytes, the most is %d", payload.size,
                       LIMIT_PAYLOAD_BYTES);
    if (format == PAYLOAD_JSON)
        return otlp_request_json(payload, arena, out, err);
    return otlp_request_protobuf(payload, arena, out, err);
}

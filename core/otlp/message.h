/* One message of the queue, decoded and checked (R-DEC-1..8, MS "Poison messages" layer 2).
 *
 *   bytes -> [protobuf | JSON] -> neutral OTLP tree (struct otlp_request) -> checks -> struct message
 *
 * Both decoders fill the same tree, so every check exists once.
 */
#ifndef CORE_OTLP_MESSAGE_H
#define CORE_OTLP_MESSAGE_H

#include "core/base/arena.h"
#include "core/base/rules.h"
#include "core/base/settings.h"
#include "core/model/identity.h"
#include "core/model/point.h"

enum payload_format { PAYLOAD_PROTOBUF, PAYLOAD_JSON };

struct message_input {
    struct bytes payload;
    enum payload_format format;
    struct bytes msg_id;    /* Nats-Msg-Id; size 0 when absent */
    struct uuid tenant;     /* from the subject */
    int64_t now_ns;         /* the writer's clock, for R-DEC-5 */
};

struct message {
    struct uuid tenant;
    struct point *points; /* good and refused ones (point.refusal), in the order of R "3": good
                             ones by (series, start, time), stable; refused ones behind them */
    size_t point_count;
    size_t good_count;
    size_t skipped_metrics; /* metrics that are none of ours (R-DEC-2) */
};

struct decoder; /* hasher, limits, caches; one a thread or actor */

struct decoder *decoder_new(const struct settings *settings, struct rules rules);
void decoder_free(struct decoder *decoder);

/* Decodes and checks. Memory of *out comes from arena (bounded per message: limits.h).
 * STATUS_INVALID: the message is bad as a whole and goes to API_DLQ alone (dead_validation); err
 * says which check and which value. STATUS_NO_MEMORY: the decode bound was hit; the same fate.
 * Bad points are not errors: see point.refusal. */
enum status message_decode(struct decoder *decoder, const struct message_input *input,
                           struct arena *arena, struct message *out, struct err *err);

/* What the importer must know of a payload, whose file has no subject and no time of arrival. */
struct message_facts {
    bool holds_metrics; /* a resource, or in JSON at least an empty "resourceMetrics" */
    bool has_tenant;    /* the first resource has an scf.tenant.id that is a uuid */
    struct uuid tenant;
    int64_t oldest_ns; /* of the points with a time; 0 when there is none */
    int64_t newest_ns;
};
/* STATUS_INVALID: not an OTLP request. */
enum status message_peek(struct bytes payload, enum payload_format format, struct arena *arena,
                         struct message_facts *facts, struct err *err);

#endif

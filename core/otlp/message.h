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

/* The tenant in the payload's first resource (scf.tenant.id), for the importer, whose files have no
 * subject. STATUS_INVALID when there is none. */
enum status message_peek_tenant(struct bytes payload, enum payload_format format, struct arena *arena,
                                struct uuid *tenant, struct err *err);
/* The newest point time of the payload, for the importer's clock; 0 when it has no point. */
enum status message_peek_newest(struct bytes payload, enum payload_format format, struct arena *arena,
                                int64_t *newest_ns, struct err *err);

#endif

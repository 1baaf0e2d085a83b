/* Turns points into OTLP messages on the queue, and tells the truth and the names what went out.
 *
 *   struct series_point[] ─► protobuf-c ─► bytes ─► queue_publish ─► truth_message
 *
 * One publisher a run: it reuses its buffers. All collectors and point-level series send through
 * it.
 */
#ifndef SIM_WORLD_PUBLISHER_H
#define SIM_WORLD_PUBLISHER_H

#include "core/otlp/message.h"
#include "sim/world/queue.h"
#include "sim/world/series.h"
#include "sim/world/truth.h"

struct publisher;

/* truth may be NULL (nobody checks). maker: for payloads that come as bytes. */
struct publisher *publisher_new(struct queue *queue, struct truth *truth,
                                struct series_maker *maker);
void publisher_free(struct publisher *publisher);

enum stamp_kind { STAMP_TENANT, STAMP_NONE }; /* scf.tenant.id on each resource */

struct posting {
    struct bytes msg_id; /* data NULL: none */
    struct uuid tenant;  /* of the subject */
    enum stamp_kind stamp;
    struct uuid stamp_tenant; /* STAMP_TENANT: usually the subject's */
};

/* What the queue said. */
struct publisher_receipt {
    uint64_t sequence; /* of the message, or of the one that it repeats */
    bool duplicate;    /* nothing was stored: the id was taken within the dedup window */
};

/* One message of all points, in their order; neighbours that share the telemetry share resource and
 * scope in it. count >= 1. receipt may be NULL. */
enum status publisher_send(struct publisher *publisher, const struct posting *posting,
                           const struct series_point *points, size_t count,
                           struct publisher_receipt *receipt, struct err *err);
/* The encoded bytes of the same message, valid until the next call; for bench and fuzz seeds. */
enum status publisher_encode(struct publisher *publisher, const struct posting *posting,
                             const struct series_point *points, size_t count, struct bytes *out,
                             struct err *err);
/* Bytes as they are, decodable or not. posting's stamp is not used. */
enum status publisher_send_bytes(struct publisher *publisher, const struct posting *posting,
                                 struct bytes payload, struct publisher_receipt *receipt,
                                 struct err *err);
/* A captured request, stamped and cleaned as the collector does; metrics that are none of ours are
 * left out. STATUS_INVALID when it is no request or has none of our points. */
enum status publisher_send_captured(struct publisher *publisher, const struct posting *posting,
                                    struct bytes payload, enum payload_format format,
                                    struct publisher_receipt *receipt, struct err *err);
/* The publisher's retry: queue_publish_again, and the truth is told. */
enum status publisher_send_again(struct publisher *publisher, struct bytes msg_id, bool *duplicate,
                                 struct err *err);

#endif

#include "sim/world/publisher.h"

#include "core/base/assert.h"
#include "sim/limits.h"
#include "sim/world/encode.h"
#include "sim/world/import.h"
#include <stdlib.h>

struct publisher {
    struct queue *queue;
    struct truth *truth;
    struct series_maker *maker;
    struct arena scratch; /* of one message */
};

struct publisher *publisher_new(struct queue *queue, struct truth *truth,
                                struct series_maker *maker)
{
    ASSERT(queue && maker);
    struct publisher *publisher = calloc(1, sizeof(*publisher));
    if (!publisher)
        return NULL;
    *publisher = (struct publisher){.queue = queue, .truth = truth, .maker = maker};
    arena_init(&publisher->scratch, LIMIT_WORLD_BYTES);
    return publisher;
}

void publisher_free(struct publisher *publisher)
{
    if (!publisher)
        return;
    arena_free(&publisher->scratch);
    free(publisher);
}

/* Onto the queue and into the books. */
static enum status publish(struct publisher *publisher, const struct posting *posting,
                           struct bytes payload, const struct series_point *points, size_t count,
                           struct publisher_receipt *receipt, struct err *err)
{
    struct header header = {bytes_of("Content-Type"), bytes_of("application/x-protobuf")};
    struct publication publication = {
        .msg_id = posting->msg_id,
        .tenant = posting->tenant,
        .payload = payload,
        .headers = &header,
        .header_count = 1,
    };
    struct publisher_receipt unused;
    if (!receipt)
        receipt = &unused;
    enum status status =
        queue_publish(publisher->queue, &publication, &receipt->sequence, &receipt->duplicate, err);
    if (status != STATUS_OK || !publisher->truth)
        return status;
    if (receipt->duplicate)
        truth_deduplicated(publisher->truth, points, count);
    else if (!truth_message(publisher->truth, receipt->sequence, points, count))
        status = err_set(err, STATUS_NO_MEMORY, NULL, "could not book a message: out of memory");
    return status;
}

static enum status encode(struct publisher *publisher, const struct posting *posting,
                          const struct series_point *points, size_t count, struct bytes *out,
                          struct err *err)
{
    struct encode_stamp stamp = {posting->stamp == STAMP_TENANT, posting->stamp_tenant};
    return encode_request(&stamp, points, count, &publisher->scratch, out, err);
}

enum status publisher_encode(struct publisher *publisher, const struct posting *posting,
                             const struct series_point *points, size_t count, struct bytes *out,
                             struct err *err)
{
    ASSERT(publisher && posting && points && count >= 1 && out);
    arena_rewind(&publisher->scratch);
    return encode(publisher, posting, points, count, out, err);
}

enum status publisher_send(struct publisher *publisher, const struct posting *posting,
                           const struct series_point *points, size_t count,
                           struct publisher_receipt *receipt, struct err *err)
{
    struct bytes payload;
    enum status status = publisher_encode(publisher, posting, points, count, &payload, err);
    if (status != STATUS_OK)
        return status;
    return publish(publisher, posting, payload, points, count, receipt, err);
}

enum status publisher_send_bytes(struct publisher *publisher, const struct posting *posting,
                                 struct bytes payload, struct publisher_receipt *receipt,
                                 struct err *err)
{
    ASSERT(publisher && posting);
    arena_rewind(&publisher->scratch);
    struct import import = {
        .maker = publisher->maker,
        .scratch = &publisher->scratch,
        .tenant = posting->tenant,
    };
    /* bytes that are no request carry nothing that could be counted */
    if (import_request(&import, payload, PAYLOAD_PROTOBUF, err) != STATUS_OK)
        import.count = 0;
    return publish(publisher, posting, payload, import.points, import.count, receipt, err);
}

enum status publisher_send_captured(struct publisher *publisher, const struct posting *posting,
                                    struct bytes payload, enum payload_format format,
                                    struct publisher_receipt *receipt, struct err *err)
{
    ASSERT(publisher && posting);
    arena_rewind(&publisher->scratch);
    struct import import = {
        .maker = publisher->maker,
        .scratch = &publisher->scratch,
        .tenant = posting->tenant,
        .collected = true,
    };
    enum status status = import_request(&import, payload, format, err);
    if (status != STATUS_OK)
        return status;
    if (import.count == 0)
        return err_set(err, STATUS_INVALID, NULL,
                       "cannot send the request: it has no point of a "
                       "request duration histogram");
    struct bytes encoded;
    status = encode(publisher, posting, import.points, import.count, &encoded, err);
    if (status != STATUS_OK)
        return status;
    return publish(publisher, posting, encoded, import.points, import.count, receipt, err);
}

enum status publisher_send_again(struct publisher *publisher, struct bytes msg_id, bool *duplicate,
                                 struct err *err)
{
    ASSERT(publisher && duplicate);
    uint64_t first = queue_find(publisher->queue, msg_id), sequence = 0;
    enum status status = queue_publish_again(publisher->queue, msg_id, &sequence, duplicate, err);
    if (status != STATUS_OK || *duplicate || !publisher->truth)
        return status;
    if (!truth_message_again(publisher->truth, sequence, first))
        status = err_set(err, STATUS_NO_MEMORY, NULL, "could not book a message: out of memory");
    return status;
}

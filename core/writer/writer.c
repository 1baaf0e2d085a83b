/* Pull, decode, dead-letter what fails its checks, and hand the rest on in slices.
 *
 * A slice is as much of the batch as one transaction may hold: its decoded messages fit the slice
 * arena at their worst, and their points touch at most LIMIT_HOURS_PER_TX hours (S-9). Nearly
 * always it is the whole batch.
 */
#include "core/base/assert.h"
#include "core/base/time.h"
#include "core/writer/batch.h"
#include <stdlib.h>
#include <string.h>

struct writer *writer_new(const struct settings *settings, struct rules rules,
                          const struct writer_ports *ports, enum payload_format format)
{
    ASSERT(settings->batch_max >= 1 && settings->batch_max <= LIMIT_BATCH_MESSAGES);
    ASSERT(ports->clock && ports->store && ports->consumer && ports->fence);
    ASSERT(ports->meter && ports->log);
    struct writer *writer = calloc(1, sizeof *writer);
    if (!writer)
        return NULL;
    writer->settings = *settings;
    writer->rules = rules;
    writer->ports = *ports;
    writer->format = format;
    arena_init(&writer->pull, LIMIT_BATCH_ARENA_BYTES);
    arena_init(&writer->slice, LIMIT_BATCH_ARENA_BYTES);
    arena_init(&writer->tx, LIMIT_BATCH_ARENA_BYTES);
    writer->decoder = decoder_new(settings, rules);
    writer->hasher = sha256_hasher_new();
    if (!writer->decoder || !writer->hasher) {
        writer_free(writer);
        return NULL;
    }
    return writer;
}

void writer_free(struct writer *writer)
{
    if (!writer)
        return;
    if (writer->decoder)
        decoder_free(writer->decoder);
    if (writer->hasher)
        sha256_hasher_free(writer->hasher);
    arena_free(&writer->pull);
    arena_free(&writer->slice);
    arena_free(&writer->tx);
    free(writer);
}

/* True when the slice arena can take this message whatever it decodes to. */
static bool fits_slice(const struct writer *writer, const struct delivery *delivery)
{
    size_t size = delivery->payload.size;
    if (size > LIMIT_PAYLOAD_BYTES)
        return true; /* refused before it is decoded */
    size_t worst = size * LIMIT_DECODE_FACTOR + LIMIT_DECODE_BASE_BYTES;
    return writer->slice.limit - writer->slice.used >= worst;
}

/* Decodes the next messages into entries, from the first one on, until the arena may not take one
 * more. Messages that fail their checks are decided: dead_validation. */
static size_t decode_slice(struct writer *writer, const struct delivery *deliveries,
                           struct entry *entries, size_t count)
{
    arena_rewind(&writer->slice);
    int64_t now_ns = writer->ports.clock->now_ns(writer->ports.clock);
    size_t taken = 0;
    for (; taken < count; taken++) {
        const struct delivery *delivery = &deliveries[taken];
        if (taken > 0 && !fits_slice(writer, delivery))
            break;
        struct entry *entry = &entries[taken];
        *entry = (struct entry){.delivery = delivery};
        struct message_input input = {.payload = delivery->payload,
                                      .format = writer->format,
                                      .msg_id = delivery->msg_id,
                                      .tenant = delivery->tenant,
                                      .now_ns = now_ns};
        struct err why = {0};
        if (message_decode(writer->decoder, &input, &writer->slice, &entry->message, &why) !=
            STATUS_OK)
            entry_decide(entry, MESSAGE_DEAD_VALIDATION, &why);
    }
    ASSERT(taken >= 1);
    return taken;
}

/* Before anything is written: the messages that failed their checks go to API_DLQ alone (MS "Poison
 * messages" layer 2). Without A-1 there is no such layer: one of them fails the whole batch. */
static enum status settle_invalid(struct writer *writer, struct entry *entries, size_t count,
                                  struct err *err)
{
    const struct entry *invalid = NULL;
    for (size_t i = 0; i < count && !invalid; i++)
        invalid = entries[i].decided ? &entries[i] : NULL;
    if (!invalid)
        return STATUS_OK;
    struct err why = invalid->err;
    enum status status = writer->ports.fence->check(writer->ports.fence, err);
    if (status != STATUS_OK) {
        why = *err;
    } else if (rules_on(writer->rules, RULE_A1)) {
        return settle(writer, entries, count, err);
    }
    for (size_t i = 0; i < count; i++)
        entries[i].decided = false;
    enum status settled = settle_put_back(writer, entries, count, &why, err);
    if (status == STATUS_STALE || status == STATUS_STOPPED) {
        *err = why;
        return status;
    }
    return settled;
}

/* One slice: settled whole, whatever happens. */
static enum status run_slice(struct writer *writer, struct entry *entries, size_t count,
                             struct err *err)
{
    enum status first = settle_invalid(writer, entries, count, err);
    for (size_t done = 0; done < count;) {
        size_t n = split_hours(writer, entries + done, count - done);
        struct err later;
        enum status status = poison_apply(writer, entries + done, n, &later);
        if (status != STATUS_OK && (first == STATUS_OK || status == STATUS_STALE)) {
            first = status;
            *err = later;
        }
        done += n;
    }
    return first;
}

enum status writer_run_once(struct writer *writer, size_t *pulled, struct err *err)
{
    ASSERT(writer && pulled && err);
    *pulled = 0;
    arena_rewind(&writer->pull);
    struct delivery *deliveries = NULL;
    size_t count = 0;
    struct consumer *consumer = writer->ports.consumer;
    enum status status = consumer->pull(consumer, (size_t)writer->settings.batch_max, &writer->pull,
                                        &deliveries, &count, err);
    if (status != STATUS_OK || count == 0)
        return status;
    ASSERT(count <= (size_t)writer->settings.batch_max);
    *pulled = count;
    struct entry *entries = arena_array(&writer->pull, count, sizeof *entries);
    if (!entries)
        return err_set(err, STATUS_NO_MEMORY, NULL, "could not take a batch of %zu messages",
                       count);
    for (size_t done = 0; done < count;) {
        size_t n = decode_slice(writer, deliveries + done, entries + done, count - done);
        struct err later;
        enum status sliced = run_slice(writer, entries + done, n, &later);
        if (sliced != STATUS_OK && (status == STATUS_OK || sliced == STATUS_STALE)) {
            status = sliced;
            *err = later;
        }
        done += n;
    }
    return status;
}

/* Settling: what is told to the queue, the meter and the log once a message's fate is known.
 *
 *   applied, already_applied   ack
 *   dead_*                     API_DLQ, then ack; a retry when API_DLQ cannot take it (R-Q-2)
 *   retry                      put back with backoff
 */
#include "core/base/assert.h"
#include "core/base/time.h"
#include "core/writer/batch.h"
#include <stdio.h>

void entry_decide(struct entry *entry, enum message_outcome outcome, const struct err *why)
{
    ASSERT(!entry->decided);
    ASSERT(outcome < MESSAGE_OUTCOME_COUNT);
    entry->decided = true;
    entry->outcome = outcome;
    entry->err = why ? *why : (struct err){0};
}

int64_t backoff_ns(int deliveries)
{
    ASSERT(deliveries >= 1);
    int doublings = deliveries < 4 ? deliveries - 1 : 3;
    return (INT64_C(10) << doublings) * NS_PER_S;
}

static void log_entry(struct writer *writer, const struct entry *entry, enum log_level level,
                      const char *event)
{
    /* the id may hold anything when that is why the message failed */
    struct bytes id = entry->delivery->msg_id;
    bool printable = id.size <= LIMIT_MSG_ID_BYTES && text_is_storable(id);
    char text[1024];
    snprintf(text, sizeof text, "message \"%.*s\", sequence %llu, delivery %d: %s: %s",
             printable ? (int)id.size : 0, printable ? (const char *)id.data : "",
             (unsigned long long)entry->delivery->sequence, entry->delivery->deliveries,
             message_outcome_name(entry->outcome), entry->err.message);
    writer->ports.log->write(writer->ports.log, level, event, text);
}

static void count_message(struct writer *writer, const struct entry *entry)
{
    writer->ports.meter->messages(writer->ports.meter, &entry->delivery->tenant, entry->outcome, 1);
}

static enum status put_back(struct writer *writer, struct entry *entry, struct err *err)
{
    ASSERT(entry->outcome == MESSAGE_RETRY);
    struct consumer *consumer = writer->ports.consumer;
    log_entry(writer, entry, LOG_WARNING, "message_retry");
    count_message(writer, entry);
    return consumer->retry(consumer, entry->delivery, backoff_ns(entry->delivery->deliveries), err);
}

static enum status acknowledge(struct writer *writer, struct entry *entry, struct err *err)
{
    count_message(writer, entry);
    return writer->ports.consumer->ack(writer->ports.consumer, entry->delivery, err);
}

static enum status dead_letter(struct writer *writer, struct entry *entry, struct err *err)
{
    struct consumer *consumer = writer->ports.consumer;
    struct dead_letter letter = {.reason = entry->outcome,
                                 .sqlstate = entry->err.sqlstate,
                                 .message = entry->err.message,
                                 .time_ns = writer->ports.clock->now_ns(writer->ports.clock)};
    struct err why = {0};
    if (consumer->dead(consumer, entry->delivery, &letter, &why) != STATUS_OK) {
        entry->outcome = MESSAGE_RETRY;
        entry->err = why;
        return put_back(writer, entry, err);
    }
    log_entry(writer, entry, LOG_ERROR, "message_dead");
    return acknowledge(writer, entry, err);
}

static enum status settle_one(struct writer *writer, struct entry *entry, struct err *err)
{
    ASSERT(entry->decided && !entry->settled);
    entry->settled = true;
    switch (entry->outcome) {
    case MESSAGE_APPLIED:
    case MESSAGE_ALREADY_APPLIED:
        return acknowledge(writer, entry, err);
    case MESSAGE_RETRY:
        return put_back(writer, entry, err);
    default:
        return dead_letter(writer, entry, err);
    }
}

enum status settle(struct writer *writer, struct entry *entries, size_t count, struct err *err)
{
    enum status first = STATUS_OK;
    for (size_t i = 0; i < count; i++) {
        if (!entries[i].decided || entries[i].settled)
            continue;
        struct err later = {0};
        enum status status = settle_one(writer, &entries[i], &later);
        if (status != STATUS_OK && first == STATUS_OK) {
            first = status;
            *err = later;
        }
    }
    return first;
}

enum status settle_put_back(struct writer *writer, struct entry *entries, size_t count,
                            const struct err *why, struct err *err)
{
    for (size_t i = 0; i < count; i++)
        if (!entries[i].decided)
            entry_decide(&entries[i], MESSAGE_RETRY, why);
    return settle(writer, entries, count, err);
}

/* The consumer of the importer. */
#include "core/ingest/queue.h"
#include "core/base/assert.h"
#include <stdio.h>

static struct ingest_queue *queue_of(struct consumer *consumer)
{
    return (struct ingest_queue *)consumer; /* port is the first member */
}

bool ingest_queue_next(struct ingest_queue *queue, enum payload_format *format)
{
    while (queue->first_open < queue->count && queue->messages[queue->first_open].settled)
        queue->first_open++;
    if (queue->first_open == queue->count)
        return false;
    *format = queue->messages[queue->first_open].format;
    return true;
}

static enum status pull(struct consumer *consumer, size_t max, struct arena *arena,
                        struct delivery **deliveries, size_t *count, struct err *err)
{
    struct ingest_queue *queue = queue_of(consumer);
    ASSERT(max >= 1);
    *count = 0;
    *deliveries = arena_array(arena, max, sizeof **deliveries);
    if (!*deliveries)
        return err_set(err, STATUS_NO_MEMORY, NULL, "could not take %zu messages: out of memory",
                       max);
    enum payload_format format;
    if (!ingest_queue_next(queue, &format))
        return STATUS_OK;
    for (size_t i = queue->first_open; i < queue->count && *count < max; i++) {
        struct ingest_message *message = &queue->messages[i];
        if (message->settled)
            continue;
        if (message->format != format)
            break;
        message->delivery.deliveries++;
        (*deliveries)[(*count)++] = message->delivery;
    }
    return STATUS_OK;
}

static enum status ack(struct consumer *consumer, const struct delivery *delivery, struct err *err)
{
    (void)consumer;
    (void)err;
    struct ingest_message *message = delivery->token;
    ASSERT(!message->settled);
    message->settled = true;
    return STATUS_OK;
}

static enum status retry(struct consumer *consumer, const struct delivery *delivery,
                         int64_t delay_ns, struct err *err)
{
    (void)delay_ns;
    (void)err;
    struct ingest_message *message = delivery->token;
    ASSERT(!message->settled);
    if (delivery->deliveries >= LIMIT_DELIVERIES) {
        message->settled = true;
        queue_of(consumer)->abandoned++;
    }
    return STATUS_OK;
}

static void bury(struct ingest_queue *queue, const struct ingest_message *message,
                 enum message_outcome outcome, const char *why)
{
    char text[640];
    char line[24] = "";
    if (message->number > 0)
        snprintf(line, sizeof line, ":%zu", message->number);
    snprintf(text, sizeof text, "%s%s: %s: %s", err_tail(message->file, 256), line,
             message_outcome_name(outcome), why);
    queue->log->write(queue->log, LOG_ERROR, "message_refused", text);
    queue->refused++;
}

static enum status dead(struct consumer *consumer, const struct delivery *delivery,
                        const struct dead_letter *letter, struct err *err)
{
    (void)err;
    bury(queue_of(consumer), delivery->token, letter->reason, letter->message);
    return STATUS_OK;
}

void ingest_queue_refuse(struct ingest_queue *queue, struct ingest_message *message,
                         enum message_outcome outcome, const char *why)
{
    ASSERT(!message->settled);
    bury(queue, message, outcome, why);
    message->settled = true;
}

void ingest_queue_init(struct ingest_queue *queue, struct ingest_message *messages, size_t count,
                       struct log *log)
{
    *queue = (struct ingest_queue){
        .port = {.pull = pull, .ack = ack, .retry = retry, .dead = dead},
        .log = log,
        .messages = messages,
        .count = count,
    };
}

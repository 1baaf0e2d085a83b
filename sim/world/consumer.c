#include "sim/world/consumer.h"

#include "core/base/assert.h"
#include "core/base/limits.h"
#include <stdlib.h>

struct queue_consumer {
    struct consumer port;
    struct queue *queue;
    struct seam *seam;
    struct store *seam_store;
    struct queue_taker taker;
    /* the batch of the last pull */
    struct queue_message *messages[LIMIT_BATCH_MESSAGES];
    int deliveries[LIMIT_BATCH_MESSAGES]; /* the count of each delivery */
    size_t count;
};

static struct queue_consumer *of_port(struct consumer *port)
{
    ASSERT(port);
    return (struct queue_consumer *)port;
}

static enum status enter(struct queue_consumer *consumer, const char *step, struct err *err)
{
    if (!consumer->seam)
        return STATUS_OK;
    return seam_enter(consumer->seam, consumer->seam_store, step, err);
}

static enum status leave(struct queue_consumer *consumer, const char *step, enum status status,
                         struct err *err)
{
    if (!consumer->seam)
        return status;
    return seam_leave(consumer->seam, consumer->seam_store, step, status, err);
}

static void give_up_batch(struct queue_consumer *consumer)
{
    for (size_t i = 0; i < consumer->count; i++)
        queue_let_go(consumer->queue, consumer->messages[i]);
    consumer->count = 0;
}

static enum status fill(struct queue_consumer *consumer, struct arena *arena,
                        struct delivery **deliveries, struct err *err)
{
    struct delivery *out = arena_array(arena, consumer->count, sizeof(*out));
    if (!out)
        return err_set(err, STATUS_NO_MEMORY, NULL, "could not pull: the batch's arena is full");
    for (size_t i = 0; i < consumer->count; i++) {
        struct queue_message *message = consumer->messages[i];
        consumer->deliveries[i] = message->deliveries;
        out[i] = (struct delivery){
            .sequence = message->sequence,
            .msg_id = message->msg_id,
            .subject = message->subject,
            .tenant = message->tenant,
            .payload = message->payload,
            .deliveries = message->deliveries,
            .token = &consumer->messages[i],
        };
    }
    *deliveries = out;
    return STATUS_OK;
}

static enum status pull(struct consumer *port, size_t max, struct arena *arena,
                        struct delivery **deliveries, size_t *count, struct err *err)
{
    struct queue_consumer *consumer = of_port(port);
    ASSERT(arena && deliveries && count && max >= 1 && max <= LIMIT_BATCH_MESSAGES);
    *count = 0;
    *deliveries = NULL;
    give_up_batch(consumer);
    enum status status = enter(consumer, "Pull", err);
    if (status != STATUS_OK)
        return status;
    status =
        queue_take(consumer->queue, &consumer->taker, max, consumer->messages, &consumer->count);
    if (status == STATUS_STOPPED)
        err_set(err, STATUS_STOPPED, NULL, "the writer was asked to stop");
    else if (status == STATUS_OK)
        status = fill(consumer, arena, deliveries, err);
    status = leave(consumer, "Pull", status, err);
    if (status == STATUS_OK)
        *count = consumer->count;
    return status;
}

static size_t index_of(const struct queue_consumer *consumer, const struct delivery *delivery)
{
    ASSERT(delivery && delivery->token);
    size_t index = (size_t)((struct queue_message **)delivery->token - consumer->messages);
    ASSERT(index < consumer->count); /* else it is of another pull */
    ASSERT(consumer->messages[index]->sequence == delivery->sequence);
    return index;
}

static enum status ack(struct consumer *port, const struct delivery *delivery, struct err *err)
{
    struct queue_consumer *consumer = of_port(port);
    size_t index = index_of(consumer, delivery);
    enum status status = enter(consumer, "Ack", err);
    if (status != STATUS_OK)
        return status;
    queue_ack(consumer->queue, consumer->messages[index]);
    return leave(consumer, "Ack", STATUS_OK, err);
}

static enum status retry(struct consumer *port, const struct delivery *delivery, int64_t delay_ns,
                         struct err *err)
{
    struct queue_consumer *consumer = of_port(port);
    size_t index = index_of(consumer, delivery);
    ASSERT(delay_ns >= 0);
    enum status status = enter(consumer, "Retry", err);
    if (status != STATUS_OK)
        return status;
    if (!queue_retry(consumer->queue, consumer->messages[index], consumer->deliveries[index],
                     delay_ns))
        status = err_set(err, STATUS_NO_MEMORY, NULL, "could not put back: out of memory");
    return leave(consumer, "Retry", status, err);
}

static enum status dead(struct consumer *port, const struct delivery *delivery,
                        const struct dead_letter *letter, struct err *err)
{
    struct queue_consumer *consumer = of_port(port);
    size_t index = index_of(consumer, delivery);
    enum status status = enter(consumer, "Dead", err);
    if (status != STATUS_OK)
        return status;
    status = queue_dead(consumer->queue, consumer->messages[index], consumer->deliveries[index],
                        letter, err);
    return leave(consumer, "Dead", status, err);
}

struct consumer *consumer_new(struct queue *queue, struct seam *seam, struct store *seam_store)
{
    ASSERT(queue);
    struct queue_consumer *consumer = calloc(1, sizeof(*consumer));
    if (!consumer)
        return NULL;
    consumer->port = (struct consumer){.pull = pull, .ack = ack, .retry = retry, .dead = dead};
    consumer->queue = queue;
    consumer->seam = seam;
    consumer->seam_store = seam_store;
    return &consumer->port;
}

void consumer_free(struct consumer *port)
{
    if (!port)
        return;
    consumer_crashed(port);
    free(of_port(port));
}

void consumer_stop(struct consumer *port)
{
    struct queue_consumer *consumer = of_port(port);
    queue_stop(consumer->queue, &consumer->taker);
}

void consumer_crashed(struct consumer *port)
{
    struct queue_consumer *consumer = of_port(port);
    queue_forget(consumer->queue, &consumer->taker);
    give_up_batch(consumer);
}

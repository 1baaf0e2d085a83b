/* API_DLQ: a stream of its own behind the queue (R-Q-2). */
#include "core/base/assert.h"
#include "sim/world/queue_state.h"
#include <stdlib.h>

static bool dead_reserve(struct queue *queue)
{
    if (queue->dead_count < queue->dead_capacity)
        return true;
    size_t capacity = queue->dead_capacity ? 2 * queue->dead_capacity : 16;
    void *grown = realloc(queue->dead, capacity * sizeof(struct queue_dead_letter *));
    if (!grown)
        return false;
    queue->dead = grown;
    queue->dead_capacity = capacity;
    return true;
}

/* Within its window the DLQ drops a second copy of the same message. */
static bool is_repeated(const struct queue *queue, const struct queue_message *message)
{
    int64_t now = sched_now_ns(queue->sched);
    for (size_t i = queue->dead_count; i-- > 0;) {
        const struct queue_dead_letter *letter = queue->dead[i];
        if (now - letter->stored_ns >= queue->config.dedup_window_ns)
            return false;
        if (letter->sequence == message->sequence)
            return true;
    }
    return false;
}

static void trace_dead(struct queue *queue, const struct queue_dead_letter *letter)
{
    if (!queue->trace)
        return;
    const struct actor *actor = sched_current(queue->sched);
    trace_event(queue->trace, letter->stored_ns, actor ? actor_name(actor) : "", "DeadLetter");
    trace_int(queue->trace, "sequence", (int64_t)letter->sequence);
    trace_word(queue->trace, "reason", message_outcome_name(letter->reason));
    trace_word(queue->trace, "sqlstate", letter->sqlstate);
    trace_int(queue->trace, "deliveries", letter->deliveries);
    trace_end(queue->trace);
}

enum status queue_dead(struct queue *queue, struct queue_message *message, int delivery,
                       const struct dead_letter *letter, struct err *err)
{
    ASSERT(message && letter && letter->sqlstate && letter->message);
    ASSERT(message->payload.data && message->holders > 0);
    queue_settle(queue);
    if (is_repeated(queue, message))
        return STATUS_OK;
    struct queue_text text = {
        .msg_id = message->msg_id,
        .subject = message->subject,
        .headers = message->headers,
        .header_count = message->header_count,
        .payload = message->payload,
        .sqlstate = letter->sqlstate,
        .message = letter->message,
    };
    struct queue_dead_letter *copy = NULL;
    if (dead_reserve(queue))
        copy = queue_block_new(sizeof(*copy), &text);
    if (!copy)
        return err_set(err, STATUS_NO_MEMORY, NULL, "could not dead-letter: out of memory");
    *copy = (struct queue_dead_letter){
        .sequence = message->sequence,
        .msg_id = text.msg_id,
        .tenant = message->tenant,
        .subject = text.subject,
        .payload = text.payload,
        .headers = text.headers,
        .header_count = text.header_count,
        .reason = letter->reason,
        .sqlstate = text.sqlstate,
        .message = text.message,
        .deliveries = delivery,
        .time_ns = letter->time_ns,
        .stored_ns = sched_now_ns(queue->sched),
    };
    queue->dead[queue->dead_count++] = copy;
    message->dead = true;
    message->dead_at = message->deliveries;
    trace_dead(queue, copy);
    return STATUS_OK;
}

bool queue_came_back(const struct queue_message *message)
{
    return message->dead && message->deliveries > message->dead_at;
}

size_t queue_dead_count(const struct queue *queue)
{
    return queue->dead_count;
}

const struct queue_dead_letter *queue_dead_letter_at(const struct queue *queue, size_t index)
{
    ASSERT(index < queue->dead_count);
    return queue->dead[index];
}

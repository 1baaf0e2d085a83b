/* The durable consumer: who takes what, when it comes again, and what an answer does.
 *
 * Pulls are windows of one second, half-open, the first from the moment queue_take is called. A
 * taker with nothing there skips the empty windows asleep: it waits without a timer, is woken by
 * the next message, and sleeps on to the end of the window that this moment lies in.
 */
#include "core/base/assert.h"
#include "core/base/time.h"
#include "sim/world/queue_state.h"

void queue_leave_state(struct queue *queue, const struct queue_message *message)
{
    size_t *counts[] = {&queue->waiting_count, &queue->in_flight_count, &queue->delayed_count};
    if (message->state > QUEUE_DELAYED)
        return;
    ASSERT(*counts[message->state] > 0);
    (*counts[message->state])--;
}

bool queue_make_waiting(struct queue *queue, struct queue_message *message)
{
    ASSERT(message->state != QUEUE_WAITING || !message->listed);
    if (!message->listed && !heap_push(&queue->waiting, (int64_t)message->sequence, message, NULL))
        return false;
    queue_leave_state(queue, message);
    message->listed = true;
    message->state = QUEUE_WAITING;
    queue->waiting_count++;
    return true;
}

/* ---- waking ---- */

void queue_notify(struct queue *queue)
{
    if (queue->waiting_count == 0)
        return;
    for (struct queue_taker *taker = queue->takers; taker; taker = taker->next)
        if (taker->wake_ns == INT64_MAX || queue->waiting_count >= taker->max)
            sched_wake(queue->sched, taker->actor);
}

static void arm(struct queue *queue);

static void due_event(void *argument)
{
    struct queue *queue = argument;
    queue->armed_ns = INT64_MAX;
    queue_settle(queue);
    queue_notify(queue);
    arm(queue);
}

/* The scheduler is asked for the next due time only: at most one event of the queue is of use. */
static void arm(struct queue *queue)
{
    int64_t due = queue_next_due_ns(queue);
    if (due >= queue->armed_ns)
        return;
    queue->armed_ns = due;
    sched_at(queue->sched, due, due_event, queue);
}

int64_t queue_next_due_ns(struct queue *queue)
{
    queue_settle(queue);
    const struct heap_item *item;
    while ((item = heap_peek(&queue->due)) != NULL) {
        const struct queue_message *message = item->payload;
        if ((message->state == QUEUE_IN_FLIGHT || message->state == QUEUE_DELAYED) &&
            message->due_ns == item->time_ns)
            return item->time_ns;
        (void)heap_pop(&queue->due);
    }
    return INT64_MAX;
}

bool queue_make_due(struct queue *queue, struct queue_message *message, enum queue_state state,
                    int64_t due_ns)
{
    ASSERT(state == QUEUE_IN_FLIGHT || state == QUEUE_DELAYED);
    if (!heap_push(&queue->due, due_ns, message, NULL))
        return false;
    queue_leave_state(queue, message);
    message->state = state;
    message->due_ns = due_ns;
    if (state == QUEUE_IN_FLIGHT)
        queue->in_flight_count++;
    else
        queue->delayed_count++;
    arm(queue);
    return true;
}

/* ---- pulls ---- */

static void taker_link(struct queue *queue, struct queue_taker *taker)
{
    struct queue_taker **at = &queue->takers;
    while (*at)
        at = &(*at)->next;
    taker->next = NULL;
    taker->actor = sched_current(queue->sched);
    *at = taker;
}

static void taker_unlink(struct queue *queue, struct queue_taker *taker)
{
    for (struct queue_taker **at = &queue->takers; *at; at = &(*at)->next) {
        if (*at != taker)
            continue;
        *at = taker->next;
        break;
    }
    taker->next = NULL;
    taker->actor = NULL;
}

static void trace_delivery(struct queue *queue, const struct queue_message *message)
{
    if (!queue->trace)
        return;
    trace_event(queue->trace, sched_now_ns(queue->sched), actor_name(sched_current(queue->sched)),
                "Deliver");
    trace_int(queue->trace, "sequence", (int64_t)message->sequence);
    trace_int(queue->trace, "deliveries", message->deliveries);
    trace_end(queue->trace);
}

static size_t take_now(struct queue *queue, size_t max, struct queue_message **out)
{
    size_t count = 0;
    int64_t due = sched_now_ns(queue->sched) + queue->config.ack_wait_ns;
    while (count < max && queue->waiting.count > 0) {
        struct queue_message *message = heap_pop(&queue->waiting).payload;
        message->listed = false;
        if (message->state != QUEUE_WAITING)
            continue;
        if (!queue_make_due(queue, message, QUEUE_IN_FLIGHT, due)) {
            message->listed = heap_push(&queue->waiting, (int64_t)message->sequence, message, NULL);
            break; /* out of memory: it stays waiting */
        }
        message->deliveries++;
        message->holders++;
        out[count++] = message;
        trace_delivery(queue, message);
    }
    return count;
}

/* The end of the one-second window, counted from opened, that now lies in. */
static int64_t window_end(const struct queue *queue, int64_t opened, int64_t now)
{
    int64_t wait = queue->config.pull_wait_ns;
    return opened + ((now - opened) / wait + 1) * wait;
}

enum status queue_take(struct queue *queue, struct queue_taker *taker, size_t max,
                       struct queue_message **out, size_t *count)
{
    ASSERT(queue && taker && out && count && max > 0);
    ASSERT(sched_current(queue->sched) && !taker->actor);
    *count = 0;
    taker->opened_ns = sched_now_ns(queue->sched);
    taker->max = max;
    taker->wake_ns = INT64_MAX;
    for (;;) {
        queue_settle(queue);
        if (taker->stopped)
            return STATUS_STOPPED;
        int64_t now = sched_now_ns(queue->sched);
        bool ended = now >= taker->wake_ns;
        if (queue->waiting_count >= max || (queue->waiting_count > 0 && ended)) {
            *count = take_now(queue, max, out);
            return STATUS_OK;
        }
        if (queue->waiting_count == 0)
            taker->wake_ns = INT64_MAX;
        else if (taker->wake_ns == INT64_MAX)
            taker->wake_ns = window_end(queue, taker->opened_ns, now);
        taker_link(queue, taker);
        if (taker->wake_ns == INT64_MAX)
            sched_wait(queue->sched);
        else
            sched_sleep_until(queue->sched, taker->wake_ns);
        taker_unlink(queue, taker);
    }
}

void queue_stop(struct queue *queue, struct queue_taker *taker)
{
    taker->stopped = true;
    if (taker->actor)
        sched_wake(queue->sched, taker->actor);
}

void queue_forget(struct queue *queue, struct queue_taker *taker)
{
    taker_unlink(queue, taker);
    taker->stopped = false;
}

/* ---- answers ---- */

void queue_ack(struct queue *queue, struct queue_message *message)
{
    queue_settle(queue);
    if (message->state == QUEUE_EXPIRED || message->state == QUEUE_ACKNOWLEDGED)
        return;
    queue_leave_state(queue, message);
    message->state = QUEUE_ACKNOWLEDGED;
    queue_release(queue, message);
}

bool queue_retry(struct queue *queue, struct queue_message *message, int delivery, int64_t delay_ns)
{
    queue_settle(queue);
    if (message->state != QUEUE_IN_FLIGHT || delivery != message->deliveries)
        return true;
    if (delay_ns > 0)
        return queue_make_due(queue, message, QUEUE_DELAYED, sched_now_ns(queue->sched) + delay_ns);
    if (!queue_make_waiting(queue, message))
        return false;
    queue_notify(queue);
    return true;
}

void queue_let_go(struct queue *queue, struct queue_message *message)
{
    ASSERT(message->holders > 0);
    message->holders--;
    queue_release(queue, message);
}

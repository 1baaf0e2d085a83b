/* What the files of the queue share: queue.c (stream, dedup, age), queue_pull.c (the durable
 * consumer), queue_dead.c (API_DLQ). Nobody else includes this.
 */
#ifndef SIM_WORLD_QUEUE_STATE_H
#define SIM_WORLD_QUEUE_STATE_H

#include "sim/base/heap.h"
#include "sim/world/index.h"
#include "sim/world/queue.h"

struct queue {
    struct queue_config config;
    struct sched *sched;
    struct trace *trace;

    struct queue_message **messages; /* by sequence - 1 */
    size_t count;
    size_t capacity;
    size_t age_cursor; /* messages before it are past the age limit */

    struct index ids; /* Nats-Msg-Id -> the newest message with it */

    struct heap waiting; /* by sequence; an entry is stale when its message is not WAITING */
    size_t waiting_count;
    struct heap due; /* by time; stale when its message is not IN_FLIGHT or DELAYED till then */
    size_t in_flight_count;
    size_t delayed_count;
    int64_t armed_ns; /* the scheduler wakes the queue then; INT64_MAX: it does not */

    struct queue_taker *takers; /* those that sleep in queue_take, the longest first */

    struct queue_dead_letter **dead; /* each with its copies in one block */
    size_t dead_count;
    size_t dead_capacity;
};

/* Settles what has become due and what has become too old by now. */
void queue_settle(struct queue *queue);
/* Takes the message out of its state's count. */
void queue_leave_state(struct queue *queue, const struct queue_message *message);
/* Waiting again; wakes who waits for it. False: out of memory (nothing changed). */
bool queue_make_waiting(struct queue *queue, struct queue_message *message);
/* IN_FLIGHT or DELAYED until due_ns. False: out of memory (nothing changed). */
bool queue_make_due(struct queue *queue, struct queue_message *message, enum queue_state state,
                    int64_t due_ns);
/* Wakes the takers whose pull has something new to look at. */
void queue_notify(struct queue *queue);
/* Frees the payload when nobody needs it any more. */
void queue_release(struct queue *queue, struct queue_message *message);

/* One block: room for `size` bytes of struct, then copies of the id, subject and headers (and the
 * payload when it is given); the pointers are set. NULL: out of memory. */
struct queue_text {
    struct bytes msg_id;
    struct bytes subject;
    const struct header *headers;
    size_t header_count;
    struct bytes payload; /* data NULL: none */
    const char *sqlstate; /* NULL: none */
    const char *message;
};
void *queue_block_new(size_t size, struct queue_text *text);

#endif

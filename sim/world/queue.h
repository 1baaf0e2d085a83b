/* The queue: a JetStream stream with one durable pull consumer that all writers share (R-Q-1), and
 * the dead-letter stream API_DLQ behind it (R-Q-2).
 *
 *              publish             take                ack
 *   publisher ─────────► waiting ─────────► in flight ─────► acknowledged
 *                          ▲                  │  │
 *                          └─ ack wait passed ┘  └─ retry: waits for its delay, then waiting again
 *                             or redelivered
 *
 * At-least-once: an acknowledgement settles the message whichever of its deliveries it belongs to;
 * a delivery that was overtaken by a later one can no longer ask for a retry. The order is that of
 * the sequence among what is waiting, so redeliveries come before newer messages. Nothing here
 * needs a thread or a timer: what has become due is settled on the next call. Only queue_take
 * blocks, and only inside an actor.
 */
#ifndef SIM_WORLD_QUEUE_H
#define SIM_WORLD_QUEUE_H

#include "core/port/ports.h"
#include "sim/out/trace.h"
#include "sim/sched/sched.h"
#include <stdbool.h>

struct queue_config {
    int64_t ack_wait_ns;     /* 30 s */
    int64_t dedup_window_ns; /* 120 s; not renewed by duplicates */
    int64_t age_limit_ns;    /* 7 days; an older message is never delivered again */
    int64_t pull_wait_ns;    /* 1 s: how long a pull waits for more */
    bool keep_acknowledged;  /* payloads stay to the end of the run: for queue_redeliver,
                                queue_publish_again, and whoever replays the run */
};
struct queue_config queue_config_default(void);

struct header {
    struct bytes name;
    struct bytes value;
};

struct publication {
    struct bytes msg_id; /* Nats-Msg-Id; data NULL: none, and no dedup */
    struct uuid tenant;  /* the subject's */
    struct bytes payload;
    const struct header *headers; /* besides Nats-Msg-Id */
    size_t header_count;
};

enum queue_state {
    QUEUE_WAITING,      /* ready for the next pull */
    QUEUE_IN_FLIGHT,    /* delivered, neither acknowledged nor due again */
    QUEUE_DELAYED,      /* put back for retry, its delay has not passed */
    QUEUE_ACKNOWLEDGED, /* done */
    QUEUE_EXPIRED,      /* removed by the age limit before it was acknowledged */
};
const char *queue_state_name(enum queue_state state);

/* A message of the stream. Read-only outside queue.c. */
struct queue_message {
    uint64_t sequence; /* 1, 2, 3, ... */
    uint64_t previous; /* the newest before it with the same id; 0: none */
    struct bytes msg_id;
    struct uuid tenant;
    struct bytes subject; /* "api.metrics.<tenant uuid>" */
    struct bytes payload; /* data NULL: released */
    const struct header *headers;
    size_t header_count;
    int64_t published_ns;
    enum queue_state state;
    int deliveries;
    int64_t due_ns;   /* IN_FLIGHT, DELAYED: when it is waiting again */
    bool dead;        /* it is in the DLQ */
    int dead_at;      /* its deliveries when it was put there */
    unsigned holders; /* deliveries that still point into it */
    bool listed;      /* queue.c: it is in the list of waiting messages */
};

/* R-Q-2: payload and headers are kept, the rest is added. */
struct queue_dead_letter {
    uint64_t sequence; /* of the message */
    struct bytes msg_id;
    struct uuid tenant;
    struct bytes subject;
    struct bytes payload;
    const struct header *headers;
    size_t header_count;
    enum message_outcome reason;
    const char *sqlstate;
    const char *message;
    int deliveries;
    int64_t time_ns;   /* by the clock of the writer that gave it up */
    int64_t stored_ns; /* true time */
};

struct queue;

/* sched: for the time and for pulls that wait. trace: may be NULL. NULL: out of memory. */
struct queue *queue_new(const struct queue_config *config, struct sched *sched,
                        struct trace *trace);
void queue_free(struct queue *queue);

/* Copies everything. *sequence: of the new message, or of the one that it repeats within the dedup
 * window (*duplicate is then true, and nothing was stored). STATUS_NO_MEMORY otherwise. */
enum status queue_publish(struct queue *queue, const struct publication *publication,
                          uint64_t *sequence, bool *duplicate, struct err *err);
/* The publisher's retry of an earlier message: same id, same bytes; the dedup window decides.
 * STATUS_INVALID: no message has that id, or its payload was released. */
enum status queue_publish_again(struct queue *queue, struct bytes msg_id, uint64_t *sequence,
                                bool *duplicate, struct err *err);
/* Delivers once more, acknowledged or not (as when an acknowledgement was lost). STATUS_INVALID as
 * above, or when it is older than the age limit. */
enum status queue_redeliver(struct queue *queue, struct bytes msg_id, struct err *err);

/* One side of the durable consumer: a writer's subscription. */
struct queue_taker {
    struct actor *actor; /* waiting here; NULL: not waiting */
    bool stopped;
    struct queue_taker *next;
    int64_t opened_ns; /* start of its first pull: the phase of its 1 s windows */
    int64_t wake_ns;   /* while it waits: when its pull ends; INT64_MAX: nothing is there */
    size_t max;
};

/* Takes up to max waiting messages. A pull ends when max are there, or when a second has passed
 * since it began and at least one is there. With nothing there it goes on, second after second,
 * without waking: the taker sleeps until a message comes (and then to the end of that second), or
 * until queue_stop. STATUS_STOPPED with *count 0 after queue_stop. Inside an actor only. out: max
 * pointers. Each message taken has one more holder: queue_let_go. */
enum status queue_take(struct queue *queue, struct queue_taker *taker, size_t max,
                       struct queue_message **out, size_t *count);
/* The taker's pull, now or later, gives STATUS_STOPPED. It is woken when it waits. */
void queue_stop(struct queue *queue, struct queue_taker *taker);
/* The taker's actor is dead or gone: it waits no longer. May be used again by another actor. */
void queue_forget(struct queue *queue, struct queue_taker *taker);

/* delivery: the count of the delivery that speaks (its first is 1). */
void queue_ack(struct queue *queue, struct queue_message *message);
/* False: out of memory; it then comes again after its ack wait. */
bool queue_retry(struct queue *queue, struct queue_message *message, int delivery,
                 int64_t delay_ns);
/* It was delivered again after it had been dead-lettered (a reply or an acknowledgement was lost),
 * so that it may have been applied after all. */
bool queue_came_back(const struct queue_message *message);
/* Copies into the DLQ, which is a stream of its own with the same dedup window over the stream
 * sequence: the second try after a lost reply adds nothing. */
enum status queue_dead(struct queue *queue, struct queue_message *message, int delivery,
                       const struct dead_letter *letter, struct err *err);
void queue_let_go(struct queue *queue, struct queue_message *message);

/* Messages neither acknowledged nor expired, now. */
size_t queue_depth(struct queue *queue);
size_t queue_in_flight(struct queue *queue);
/* When the next message becomes due by itself (ack wait or delay); INT64_MAX: none. */
int64_t queue_next_due_ns(struct queue *queue);

/* The sequence of the newest message with that id; 0: there is none. */
uint64_t queue_find(const struct queue *queue, struct bytes msg_id);
/* Every message ever stored, by sequence from 1. NULL past the end. */
const struct queue_message *queue_message_at(struct queue *queue, uint64_t sequence);
uint64_t queue_last_sequence(const struct queue *queue);
size_t queue_dead_count(const struct queue *queue);
/* In the order they came; index < queue_dead_count. */
const struct queue_dead_letter *queue_dead_letter_at(const struct queue *queue, size_t index);

#endif

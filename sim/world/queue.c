/* The stream: messages by sequence, the publish dedup window, the age limit. */
#include "sim/world/queue.h"

#include "core/base/assert.h"
#include "core/base/time.h"
#include "sim/world/queue_state.h"
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define SUBJECT_PREFIX "api.metrics."

struct queue_config queue_config_default(void)
{
    return (struct queue_config){
        .ack_wait_ns = 30 * NS_PER_S,
        .dedup_window_ns = 120 * NS_PER_S,
        .age_limit_ns = 7 * NS_PER_DAY,
        .pull_wait_ns = NS_PER_S,
    };
}

const char *queue_state_name(enum queue_state state)
{
    static const char *const names[] = {"waiting", "in_flight", "delayed", "acknowledged",
                                        "expired"};
    ASSERT((size_t)state < sizeof(names) / sizeof(names[0]));
    return names[state];
}

struct queue *queue_new(const struct queue_config *config, struct sched *sched, struct trace *trace)
{
    ASSERT(config && sched);
    ASSERT(config->ack_wait_ns > 0 && config->pull_wait_ns > 0 && config->age_limit_ns > 0);
    struct queue *queue = calloc(1, sizeof(*queue));
    if (!queue)
        return NULL;
    queue->config = *config;
    queue->sched = sched;
    queue->trace = trace;
    queue->armed_ns = INT64_MAX;
    heap_init(&queue->waiting);
    heap_init(&queue->due);
    return queue;
}

void queue_free(struct queue *queue)
{
    if (!queue)
        return;
    for (size_t i = 0; i < queue->count; i++) {
        free((void *)(uintptr_t)queue->messages[i]->payload.data);
        free(queue->messages[i]);
    }
    for (size_t i = 0; i < queue->dead_count; i++)
        free(queue->dead[i]);
    free(queue->messages);
    free(queue->dead);
    index_free(&queue->ids);
    heap_free(&queue->waiting);
    heap_free(&queue->due);
    free(queue);
}

/* ---- copies ---- */

static struct bytes copy_bytes(char **at, struct bytes from)
{
    struct bytes copy = {0};
    if (!from.data)
        return copy;
    memcpy(*at, from.data, from.size);
    copy = (struct bytes){(const uint8_t *)*at, from.size};
    *at += from.size + 1; /* a NUL behind each: calloc'ed */
    return copy;
}

static const char *copy_string(char **at, const char *from)
{
    if (!from)
        return NULL;
    return (const char *)copy_bytes(at, bytes_of(from)).data;
}

void *queue_block_new(size_t size, struct queue_text *text)
{
    ASSERT(text && size % sizeof(void *) == 0);
    size_t total = size + text->header_count * sizeof(struct header);
    total += text->msg_id.size + text->subject.size + text->payload.size + 3;
    for (size_t i = 0; i < text->header_count; i++)
        total += text->headers[i].name.size + text->headers[i].value.size + 2;
    total += text->sqlstate ? strlen(text->sqlstate) + 1 : 0;
    total += text->message ? strlen(text->message) + 1 : 0;
    char *block = calloc(1, total);
    if (!block)
        return NULL;
    struct header *headers = (struct header *)(void *)(block + size);
    char *at = (char *)(headers + text->header_count);
    for (size_t i = 0; i < text->header_count; i++) {
        headers[i].name = copy_bytes(&at, text->headers[i].name);
        headers[i].value = copy_bytes(&at, text->headers[i].value);
    }
    text->headers = text->header_count ? headers : NULL;
    text->msg_id = copy_bytes(&at, text->msg_id);
    text->subject = copy_bytes(&at, text->subject);
    text->payload = copy_bytes(&at, text->payload);
    text->sqlstate = copy_string(&at, text->sqlstate);
    text->message = copy_string(&at, text->message);
    ASSERT(at <= block + total);
    return block;
}

void queue_release(struct queue *queue, struct queue_message *message)
{
    bool over = message->state == QUEUE_ACKNOWLEDGED || message->state == QUEUE_EXPIRED;
    if (!over || queue->config.keep_acknowledged || message->holders > 0)
        return;
    free((void *)(uintptr_t)message->payload.data);
    message->payload.data = NULL;
}

/* ---- ids ---- */

static uint64_t id_hash(struct bytes id)
{
    return XXH3_64bits(id.data, id.size);
}

static bool id_equal(const void *context, size_t number, const void *key)
{
    const struct queue *queue = context;
    return bytes_equal(queue->messages[number]->msg_id, *(const struct bytes *)key);
}

/* The newest message with that id, or NULL. */
static struct queue_message *id_find(const struct queue *queue, struct bytes id)
{
    if (!id.data)
        return NULL;
    size_t number = index_find(&queue->ids, id_hash(id), id_equal, queue, &id);
    return number == INDEX_NONE ? NULL : queue->messages[number];
}

/* After the message is stored. */
static bool id_remember(struct queue *queue, const struct queue_message *message,
                        const struct queue_message *earlier)
{
    size_t number = (size_t)message->sequence - 1;
    if (!message->msg_id.data)
        return true;
    if (!earlier)
        return index_add(&queue->ids, id_hash(message->msg_id), number);
    index_replace(&queue->ids, id_hash(message->msg_id), (size_t)earlier->sequence - 1, number);
    return true;
}

/* ---- publish ---- */

static bool messages_reserve(struct queue *queue)
{
    if (queue->count < queue->capacity)
        return true;
    size_t capacity = queue->capacity ? 2 * queue->capacity : 64;
    void *grown = realloc(queue->messages, capacity * sizeof(struct queue_message *));
    if (!grown)
        return false;
    queue->messages = grown;
    queue->capacity = capacity;
    return true;
}

static struct queue_message *message_new(const struct publication *publication)
{
    char subject[sizeof(SUBJECT_PREFIX) + UUID_TEXT_SIZE] = SUBJECT_PREFIX;
    uuid_format(&publication->tenant, subject + sizeof(SUBJECT_PREFIX) - 1);
    struct queue_text text = {
        .msg_id = publication->msg_id,
        .subject = bytes_of(subject),
        .headers = publication->headers,
        .header_count = publication->header_count,
    };
    struct queue_message *message = queue_block_new(sizeof(*message), &text);
    uint8_t *payload = malloc(publication->payload.size + 1);
    if (!message || !payload) {
        free(message);
        free(payload);
        return NULL;
    }
    if (publication->payload.size > 0)
        memcpy(payload, publication->payload.data, publication->payload.size);
    message->msg_id = text.msg_id;
    message->subject = text.subject;
    message->headers = text.headers;
    message->header_count = text.header_count;
    message->tenant = publication->tenant;
    message->payload = (struct bytes){payload, publication->payload.size};
    return message;
}

static void trace_publish(struct queue *queue, const struct queue_message *message, bool duplicate)
{
    if (!queue->trace)
        return;
    trace_event(queue->trace, sched_now_ns(queue->sched), "", "Publish");
    trace_int(queue->trace, "sequence", (int64_t)message->sequence);
    trace_hex(queue->trace, "id", message->msg_id);
    trace_int(queue->trace, "bytes", (int64_t)message->payload.size);
    trace_int(queue->trace, "duplicate", duplicate);
    trace_end(queue->trace);
}

enum status queue_publish(struct queue *queue, const struct publication *publication,
                          uint64_t *sequence, bool *duplicate, struct err *err)
{
    ASSERT(queue && publication && sequence && duplicate);
    ASSERT(publication->payload.data || publication->payload.size == 0);
    queue_settle(queue);
    int64_t now = sched_now_ns(queue->sched);
    struct queue_message *earlier = id_find(queue, publication->msg_id);
    if (earlier && now - earlier->published_ns < queue->config.dedup_window_ns) {
        *sequence = earlier->sequence;
        *duplicate = true;
        trace_publish(queue, earlier, true);
        return STATUS_OK;
    }
    struct queue_message *message = messages_reserve(queue) ? message_new(publication) : NULL;
    if (!message)
        return err_set(err, STATUS_NO_MEMORY, NULL, "could not publish: out of memory");
    message->sequence = queue->count + 1;
    message->previous = earlier ? earlier->sequence : 0;
    message->published_ns = now;
    message->state = QUEUE_ACKNOWLEDGED; /* for the moment: in no count */
    queue->messages[queue->count] = message;
    if (!id_remember(queue, message, earlier) || !queue_make_waiting(queue, message)) {
        queue->count++; /* it stays, acknowledged: an id points to it */
        return err_set(err, STATUS_NO_MEMORY, NULL, "could not publish: out of memory");
    }
    queue->count++;
    *sequence = message->sequence;
    *duplicate = false;
    trace_publish(queue, message, false);
    queue_notify(queue);
    return STATUS_OK;
}

/* A stored message by its id, payload and all. */
static enum status id_need(struct queue *queue, struct bytes msg_id, struct queue_message **out,
                           struct err *err)
{
    queue_settle(queue);
    struct queue_message *message = id_find(queue, msg_id);
    if (!message || !message->payload.data)
        return err_set(err, STATUS_INVALID, NULL, "%s message \"%.*s\" in the queue",
                       message ? "the payload was released of" : "there is no", (int)msg_id.size,
                       msg_id.data ? (const char *)msg_id.data : "");
    *out = message;
    return STATUS_OK;
}

enum status queue_publish_again(struct queue *queue, struct bytes msg_id, uint64_t *sequence,
                                bool *duplicate, struct err *err)
{
    struct queue_message *message = NULL;
    enum status status = id_need(queue, msg_id, &message, err);
    if (status != STATUS_OK)
        return status;
    struct publication publication = {
        .msg_id = message->msg_id,
        .tenant = message->tenant,
        .payload = message->payload,
        .headers = message->headers,
        .header_count = message->header_count,
    };
    return queue_publish(queue, &publication, sequence, duplicate, err);
}

static bool is_over_age(const struct queue *queue, const struct queue_message *message)
{
    return sched_now_ns(queue->sched) - message->published_ns >= queue->config.age_limit_ns;
}

enum status queue_redeliver(struct queue *queue, struct bytes msg_id, struct err *err)
{
    struct queue_message *message = NULL;
    enum status status = id_need(queue, msg_id, &message, err);
    if (status != STATUS_OK)
        return status;
    if (is_over_age(queue, message))
        return err_set(err, STATUS_INVALID, NULL,
                       "cannot redeliver message \"%.*s\": the age limit removed it",
                       (int)msg_id.size, (const char *)msg_id.data);
    if (message->state != QUEUE_WAITING && !queue_make_waiting(queue, message))
        return err_set(err, STATUS_NO_MEMORY, NULL, "could not redeliver: out of memory");
    queue_notify(queue);
    return STATUS_OK;
}

/* ---- age ---- */

static void expire(struct queue *queue)
{
    while (queue->age_cursor < queue->count) {
        struct queue_message *message = queue->messages[queue->age_cursor];
        if (!is_over_age(queue, message))
            return;
        if (message->state != QUEUE_ACKNOWLEDGED) {
            queue_leave_state(queue, message);
            message->state = QUEUE_EXPIRED;
            queue_release(queue, message);
        }
        queue->age_cursor++;
    }
}

void queue_settle(struct queue *queue)
{
    int64_t now = sched_now_ns(queue->sched);
    expire(queue);
    const struct heap_item *item;
    while ((item = heap_peek(&queue->due)) != NULL && item->time_ns <= now) {
        struct queue_message *message = item->payload;
        bool current = (message->state == QUEUE_IN_FLIGHT || message->state == QUEUE_DELAYED) &&
                       message->due_ns == item->time_ns;
        if (current && !queue_make_waiting(queue, message))
            return; /* out of memory: tried again at the next call */
        (void)heap_pop(&queue->due);
    }
}

/* ---- accessors ---- */

size_t queue_depth(struct queue *queue)
{
    queue_settle(queue);
    return queue->waiting_count + queue->in_flight_count + queue->delayed_count;
}

size_t queue_in_flight(struct queue *queue)
{
    queue_settle(queue);
    return queue->in_flight_count;
}

const struct queue_message *queue_message_at(struct queue *queue, uint64_t sequence)
{
    ASSERT(sequence >= 1);
    queue_settle(queue);
    return sequence <= queue->count ? queue->messages[sequence - 1] : NULL;
}

uint64_t queue_find(const struct queue *queue, struct bytes msg_id)
{
    const struct queue_message *message = id_find(queue, msg_id);
    return message ? message->sequence : 0;
}

uint64_t queue_last_sequence(const struct queue *queue)
{
    return queue->count;
}

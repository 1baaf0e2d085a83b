/* The consumer of the importer: all messages are in memory, in their order.
 *
 * A message that is put back comes again at once, before those behind it, so that the order holds;
 * after LIMIT_DELIVERIES it is abandoned. Dead letters go to the log. A pull takes messages of one
 * format, that of the first open one: a writer decodes one format. */
#ifndef CORE_INGEST_QUEUE_H
#define CORE_INGEST_QUEUE_H

#include "core/base/limits.h"
#include "core/otlp/message.h"
#include "core/port/ports.h"

struct ingest_message {
    struct delivery delivery; /* token: the message itself */
    const char *file;
    size_t number; /* in its file, from 1; 0 when it is the file */
    enum payload_format format;
    char id[65];
    int64_t first_ns; /* the file's first point; 0: it has none */
    bool unreadable;
    bool settled; /* acknowledged, dead or abandoned */
};

struct ingest_queue {
    struct consumer port;
    struct log *log;
    struct ingest_message *messages;
    size_t count;
    size_t first_open; /* all before it are settled */
    size_t refused;
    size_t abandoned;
};

/* messages and log must outlive the queue. */
void ingest_queue_init(struct ingest_queue *queue, struct ingest_message *messages, size_t count,
                       struct log *log);

/* A message that is not for the writer: logged as a dead letter, and settled. */
void ingest_queue_refuse(struct ingest_queue *queue, struct ingest_message *message,
                         enum message_outcome outcome, const char *why);

/* The format of the next pull; false when every message is settled. */
bool ingest_queue_next(struct ingest_queue *queue, enum payload_format *format);

#endif

/* What a plan holds; for ingest.c. */
#ifndef CORE_INGEST_PLAN_H
#define CORE_INGEST_PLAN_H

#include "core/ingest/ingest.h"
#include "core/ingest/queue.h"

/* A point time and the file that holds it. */
struct plan_edge {
    int64_t time_ns; /* 0: no point */
    const char *file;
};

struct ingest_plan {
    struct ingest_message *messages;
    size_t count;
    size_t readable;
    struct plan_edge oldest;
    struct plan_edge newest;
    struct err fault; /* of the first message that cannot be read */
};

/* What is wrong with the message, into err; STATUS_OK when it can be read. */
enum status plan_look_at(const struct ingest_message *message, struct message_facts *facts,
                         struct err *err);

#endif

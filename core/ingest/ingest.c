/* A plan -> the window's partitions -> the writer, until no message is left. */
#include "core/ingest/ingest.h"
#include "core/base/assert.h"
#include "core/ingest/plan.h"
#include "core/ingest/queue.h"
#include "core/jobs/jobs.h"
#include "core/writer/writer.h"

/* A clock that stands still: the import happens at one moment. */
struct fixed_clock {
    struct clock port;
    int64_t now_ns;
};

static int64_t fixed_now_ns(struct clock *clock)
{
    return ((struct fixed_clock *)clock)->now_ns;
}

/* Nobody else is raised against the importer. */
static enum status open_fence_check(struct fence *fence, struct err *err)
{
    (void)fence;
    (void)err;
    return STATUS_OK;
}

static enum status make_partitions(const struct settings *settings, struct rules rules,
                                   const struct ingest_ports *ports, struct clock *clock,
                                   struct fence *fence, struct err *err)
{
    struct job_ports job_ports = {.clock = clock,
                                  .store = ports->store,
                                  .fence = fence,
                                  .meter = ports->meter,
                                  .log = ports->log};
    struct job *job = job_new(settings, rules, &job_ports);
    if (!job)
        return err_set(err, STATUS_NO_MEMORY, NULL, "could not make partitions: out of memory");
    enum status status = job_initial_partitions(job, err);
    job_free(job);
    return status;
}

/* Runs until every message is settled, a writer a format. */
static enum status drain(const struct settings *settings, struct rules rules,
                         const struct writer_ports *ports, struct ingest_queue *queue,
                         struct err *err)
{
    struct writer *writers[2] = {NULL, NULL};
    enum payload_format format;
    enum status status = STATUS_OK;
    while (status == STATUS_OK && ingest_queue_next(queue, &format)) {
        ASSERT(format == PAYLOAD_PROTOBUF || format == PAYLOAD_JSON);
        if (!writers[format])
            writers[format] = writer_new(settings, rules, ports, format);
        size_t pulled;
        if (!writers[format])
            status = err_set(err, STATUS_NO_MEMORY, NULL, "could not import: out of memory");
        else
            status = writer_run_once(writers[format], &pulled, err);
    }
    writer_free(writers[PAYLOAD_PROTOBUF]);
    writer_free(writers[PAYLOAD_JSON]);
    return status;
}

/* What cannot be read is no business of the writer, who would take an empty file for an empty
 * request: on the wire it is one. */
static void refuse_unreadable(struct ingest_queue *queue, struct meter *meter)
{
    for (size_t i = 0; i < queue->count; i++) {
        struct ingest_message *message = &queue->messages[i];
        struct message_facts facts;
        struct err why = {0};
        if (!message->unreadable || plan_look_at(message, &facts, &why) == STATUS_OK)
            continue;
        ingest_queue_refuse(queue, message, MESSAGE_DEAD_VALIDATION, why.message);
        meter->messages(meter, &message->delivery.tenant, MESSAGE_DEAD_VALIDATION, 1);
    }
}

enum status ingest(const struct settings *settings, struct rules rules,
                   const struct ingest_ports *ports, struct ingest_plan *plan, int64_t now_ns,
                   struct ingest_summary *summary, struct err *err)
{
    ASSERT(ports->store && ports->meter && ports->log);
    ASSERT(plan && now_ns > 0);
    *summary = (struct ingest_summary){.messages = plan->count};
    struct fixed_clock clock = {.port = {.now_ns = fixed_now_ns}, .now_ns = now_ns};
    struct fence fence = {.check = open_fence_check};
    enum status status = make_partitions(settings, rules, ports, &clock.port, &fence, err);
    if (status != STATUS_OK)
        return status;
    struct ingest_queue queue;
    ingest_queue_init(&queue, plan->messages, plan->count, ports->log);
    refuse_unreadable(&queue, ports->meter);
    struct writer_ports writer_ports = {.clock = &clock.port,
                                        .store = ports->store,
                                        .consumer = &queue.port,
                                        .fence = &fence,
                                        .meter = ports->meter,
                                        .log = ports->log};
    status = drain(settings, rules, &writer_ports, &queue, err);
    summary->refused = queue.refused;
    summary->abandoned = queue.abandoned;
    return status;
}

/* Files -> messages -> the window's partitions -> the writer, until no message is left. */
#include "core/ingest/ingest.h"
#include "core/base/assert.h"
#include "core/base/sha256.h"
#include "core/ingest/queue.h"
#include "core/ingest/split.h"
#include "core/jobs/jobs.h"
#include "core/writer/writer.h"
#include <stdlib.h>

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

static size_t count_messages(const struct ingest_file *files, size_t file_count)
{
    size_t count = 0;
    for (size_t i = 0; i < file_count; i++) {
        struct bytes rest = files[i].bytes;
        struct bytes line;
        if (!ingest_is_lines(files[i].bytes))
            count++;
        else
            while (ingest_next_line(&rest, &line))
                count++;
    }
    return count;
}

/* Fills one message: its id, and its tenant where it names one. What cannot be read is left to the
 * writer's checks, which say what is wrong with it. */
static void fill_message(struct ingest_message *message, const struct ingest_file *file,
                         struct bytes payload, struct sha256_hasher *hasher)
{
    struct arena scratch;
    arena_init(&scratch,
               LIMIT_DECODE_BASE_BYTES + (size_t)LIMIT_DECODE_FACTOR * LIMIT_PAYLOAD_BYTES);
    message->file = file->name;
    message->format = ingest_format(file->bytes);
    struct sha256 hash;
    sha256_of(hasher, payload.data, payload.size, &hash);
    hex_format(hash.bytes, sizeof hash.bytes, message->id);
    message->delivery = (struct delivery){.msg_id = bytes_of(message->id),
                                          .subject = bytes_of("metrics.import"),
                                          .payload = payload,
                                          .token = message};
    struct err ignored = {0};
    struct uuid tenant = {{0}};
    if (payload.size <= LIMIT_PAYLOAD_BYTES &&
        message_peek_tenant(payload, message->format, &scratch, &tenant, &ignored) == STATUS_OK)
        message->delivery.tenant = tenant;
    arena_free(&scratch);
}

static void fill_messages(struct ingest_message *messages, size_t count,
                          const struct ingest_file *files, size_t file_count,
                          struct sha256_hasher *hasher)
{
    size_t n = 0;
    for (size_t i = 0; i < file_count; i++) {
        struct bytes rest = files[i].bytes;
        struct bytes line;
        if (!ingest_is_lines(files[i].bytes)) {
            fill_message(&messages[n++], &files[i], files[i].bytes, hasher);
            continue;
        }
        for (size_t number = 1; ingest_next_line(&rest, &line); number++) {
            fill_message(&messages[n], &files[i], line, hasher);
            messages[n++].number = number;
        }
    }
    ASSERT(n == count);
    for (size_t i = 0; i < count; i++)
        messages[i].delivery.sequence = i + 1;
}

/* The newest point of all messages; 0 when there is none. Then fault says what is wrong with the
 * first message that cannot be read: STATUS_OK when each can. */
static int64_t newest_point(const struct ingest_message *messages, size_t count, struct err *fault)
{
    int64_t newest_ns = 0;
    for (size_t i = 0; i < count; i++) {
        struct bytes payload = messages[i].delivery.payload;
        if (payload.size > LIMIT_PAYLOAD_BYTES) {
            if (fault->status == STATUS_OK)
                err_set(fault, STATUS_INVALID, NULL,
                        "file \"%s\": a request of %zu bytes, the most is %d", messages[i].file,
                        payload.size, LIMIT_PAYLOAD_BYTES);
            continue;
        }
        struct arena scratch;
        arena_init(&scratch,
                   LIMIT_DECODE_BASE_BYTES + (size_t)LIMIT_DECODE_FACTOR * LIMIT_PAYLOAD_BYTES);
        int64_t newest = 0;
        struct err unread = {0};
        enum status status =
            message_peek_newest(payload, messages[i].format, &scratch, &newest, &unread);
        if (status == STATUS_OK && newest > newest_ns)
            newest_ns = newest;
        else if (status != STATUS_OK && fault->status == STATUS_OK)
            err_set(fault, STATUS_INVALID, NULL, "file \"%s\": %s", messages[i].file,
                    unread.message);
        arena_free(&scratch);
    }
    return newest_ns;
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

/* With the messages filled: the clock, the partitions, the writer. */
static enum status import(const struct settings *settings, struct rules rules,
                          const struct ingest_ports *ports, struct ingest_message *messages,
                          struct ingest_summary *summary, struct err *err)
{
    size_t count = summary->messages;
    struct err fault = {0};
    if (summary->now_ns == 0)
        summary->now_ns = newest_point(messages, count, &fault);
    if (summary->now_ns == 0) {
        const char *reason = fault.status == STATUS_OK ? "no file has a point" : fault.message;
        err_set(err, STATUS_INVALID, NULL, "cannot tell the time of the import: %s", reason);
        err_hint(err, "give the time of the import");
        return err->status;
    }
    struct fixed_clock clock = {.port = {.now_ns = fixed_now_ns}, .now_ns = summary->now_ns};
    struct fence fence = {.check = open_fence_check};
    enum status status = make_partitions(settings, rules, ports, &clock.port, &fence, err);
    if (status != STATUS_OK)
        return status;
    struct ingest_queue queue;
    ingest_queue_init(&queue, messages, count, ports->log);
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

enum status ingest(const struct settings *settings, struct rules rules,
                   const struct ingest_ports *ports, const struct ingest_file *files,
                   size_t file_count, int64_t now_ns, struct ingest_summary *summary,
                   struct err *err)
{
    ASSERT(ports->store && ports->meter && ports->log);
    ASSERT(file_count >= 1 && now_ns >= 0);
    *summary =
        (struct ingest_summary){.now_ns = now_ns, .messages = count_messages(files, file_count)};
    struct sha256_hasher *hasher = sha256_hasher_new();
    struct ingest_message *messages = calloc(summary->messages, sizeof *messages);
    enum status status;
    if (hasher && messages) {
        fill_messages(messages, summary->messages, files, file_count, hasher);
        status = import(settings, rules, ports, messages, summary, err);
    } else {
        status = err_set(err, STATUS_NO_MEMORY, NULL,
                         "could not import %zu messages: out of memory", summary->messages);
    }
    free(messages);
    if (hasher)
        sha256_hasher_free(hasher);
    return status;
}

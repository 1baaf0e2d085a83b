/* Files -> messages, each with its id, tenant and times, in the order of time. */
#include "core/ingest/plan.h"
#include "core/base/assert.h"
#include "core/base/limits.h"
#include "core/base/sha256.h"
#include "core/base/time.h"
#include "core/ingest/split.h"
#include <stdlib.h>

/* One past the limit is enough to know. */
static size_t count_messages(const struct ingest_file *files, size_t file_count)
{
    size_t count = 0;
    for (size_t i = 0; i < file_count && count <= LIMIT_IMPORT_MESSAGES; i++) {
        struct bytes rest = files[i].bytes;
        struct bytes line;
        if (!ingest_is_lines(files[i].bytes))
            count++;
        else
            while (count <= LIMIT_IMPORT_MESSAGES && ingest_next_line(&rest, &line))
                count++;
    }
    return count;
}

enum status plan_look_at(const struct ingest_message *message, struct message_facts *facts,
                         struct err *err)
{
    struct bytes payload = message->delivery.payload;
    *facts = (struct message_facts){0};
    if (payload.size == 0)
        return err_set(err, STATUS_INVALID, NULL, "it is empty");
    struct arena scratch;
    arena_init(&scratch,
               LIMIT_DECODE_BASE_BYTES + (size_t)LIMIT_DECODE_FACTOR * LIMIT_PAYLOAD_BYTES);
    enum status status = message_peek(payload, message->format, &scratch, facts, err);
    arena_free(&scratch);
    if (status == STATUS_OK && !facts->holds_metrics)
        status = err_set(err, STATUS_INVALID, NULL, "it holds no OTLP metrics: no %s",
                         message->format == PAYLOAD_JSON ? "\"resourceMetrics\"" : "resource");
    if (status == STATUS_INVALID && message->format == PAYLOAD_PROTOBUF &&
        payload.size <= LIMIT_PAYLOAD_BYTES)
        err_hint(err, "protobuf is expected of what does not begin with \"{\"");
    return status;
}

static void look_at(struct ingest_plan *plan, struct ingest_message *message)
{
    struct message_facts facts;
    struct err fault = {0};
    if (plan_look_at(message, &facts, &fault) != STATUS_OK) {
        message->unreadable = true;
        if (plan->fault.status != STATUS_OK)
            return;
        err_set(&plan->fault, STATUS_INVALID, NULL, "file \"%s\": %s", err_tail(message->file, 120),
                fault.message);
        err_hint(&plan->fault, "%s", fault.hint);
        return;
    }
    plan->readable++;
    if (facts.has_tenant)
        message->delivery.tenant = facts.tenant;
    message->first_ns = facts.oldest_ns;
    if (facts.newest_ns > plan->newest.time_ns)
        plan->newest = (struct plan_edge){facts.newest_ns, message->file};
    if (facts.oldest_ns > 0 &&
        (plan->oldest.time_ns == 0 || facts.oldest_ns < plan->oldest.time_ns))
        plan->oldest = (struct plan_edge){facts.oldest_ns, message->file};
}

static void fill_message(struct ingest_plan *plan, const struct ingest_file *file,
                         struct bytes payload, size_t number, struct sha256_hasher *hasher)
{
    struct ingest_message *message = &plan->messages[plan->count++];
    struct sha256 hash;
    message->file = file->name;
    message->number = number;
    message->format = ingest_format(file->bytes);
    sha256_of(hasher, payload.data, payload.size, &hash);
    hex_format(hash.bytes, sizeof hash.bytes, message->id);
    message->delivery = (struct delivery){.msg_id = bytes_of(message->id),
                                          .subject = bytes_of("metrics.import"),
                                          .payload = payload,
                                          .token = message};
    look_at(plan, message);
}

/* The time of a file is that of its first message with a point; 0 sorts a file without one first,
 * where it does no harm. */
static void fill_file(struct ingest_plan *plan, const struct ingest_file *file,
                      struct sha256_hasher *hasher)
{
    struct ingest_message *first = &plan->messages[plan->count];
    struct bytes rest = file->bytes;
    struct bytes line;
    int64_t time_ns = 0;
    if (!ingest_is_lines(file->bytes))
        fill_message(plan, file, file->bytes, 0, hasher);
    else
        for (size_t number = 1; ingest_next_line(&rest, &line); number++)
            fill_message(plan, file, line, number, hasher);
    struct ingest_message *end = &plan->messages[plan->count];
    for (struct ingest_message *message = first; message < end && time_ns == 0; message++)
        time_ns = message->first_ns;
    for (struct ingest_message *message = first; message < end; message++)
        message->first_ns = time_ns;
}

static int by_time(const void *left, const void *right)
{
    const struct ingest_message *a = left;
    const struct ingest_message *b = right;
    if (a->first_ns != b->first_ns)
        return a->first_ns < b->first_ns ? -1 : 1;
    return a->delivery.sequence < b->delivery.sequence ? -1 : 1;
}

static void put_in_order(struct ingest_plan *plan)
{
    for (size_t i = 0; i < plan->count; i++)
        plan->messages[i].delivery.sequence = i + 1;
    qsort(plan->messages, plan->count, sizeof *plan->messages, by_time);
    for (size_t i = 0; i < plan->count; i++) { /* they have moved */
        struct ingest_message *message = &plan->messages[i];
        message->delivery.sequence = i + 1;
        message->delivery.msg_id = bytes_of(message->id);
        message->delivery.token = message;
    }
}

enum status ingest_plan_new(const struct ingest_file *files, size_t file_count,
                            struct ingest_plan **out, struct err *err)
{
    ASSERT(files && file_count >= 1);
    *out = NULL;
    size_t count = count_messages(files, file_count);
    if (count > LIMIT_IMPORT_MESSAGES) {
        err_set(err, STATUS_INVALID, NULL, "cannot import more than %d messages at once",
                LIMIT_IMPORT_MESSAGES);
        err_hint(err, "import the files in parts, in the order of time");
        return STATUS_INVALID;
    }
    struct sha256_hasher *hasher = sha256_hasher_new();
    struct ingest_plan *plan = calloc(1, sizeof *plan);
    if (plan)
        plan->messages = calloc(count, sizeof *plan->messages);
    if (hasher && plan && plan->messages) {
        for (size_t i = 0; i < file_count; i++)
            fill_file(plan, &files[i], hasher);
        ASSERT(plan->count == count);
        put_in_order(plan);
    } else {
        err_set(err, STATUS_NO_MEMORY, NULL, "could not import %zu messages: out of memory", count);
        ingest_plan_free(plan);
        plan = NULL;
    }
    if (hasher)
        sha256_hasher_free(hasher);
    if (plan && plan->readable == 0) {
        *err = plan->fault;
        ingest_plan_free(plan);
        plan = NULL;
    }
    *out = plan;
    return plan ? STATUS_OK : err->status;
}

void ingest_plan_free(struct ingest_plan *plan)
{
    if (plan)
        free(plan->messages);
    free(plan);
}

enum status ingest_plan_now(const struct ingest_plan *plan, int64_t *now_ns, struct err *err)
{
    ASSERT(plan && now_ns);
    char oldest[TIME_TEXT_SIZE];
    char newest[TIME_TEXT_SIZE];
    *now_ns = plan->newest.time_ns;
    if (*now_ns == 0) {
        err_set(err, STATUS_INVALID, NULL,
                "cannot tell the time of the import: no file has a point");
        err_hint(err, "give the time of the import");
        return STATUS_INVALID;
    }
    if (plan->newest.time_ns - plan->oldest.time_ns <= LIMIT_POINT_AGE_DAYS * NS_PER_DAY)
        return STATUS_OK;
    time_format_ns(plan->oldest.time_ns, oldest);
    time_format_ns(plan->newest.time_ns, newest);
    err_set(
        err, STATUS_INVALID, NULL,
        "the points are more than the %d days of one import apart: from %s (\"%s\") to %s (\"%s\")",
        LIMIT_POINT_AGE_DAYS, oldest, err_tail(plan->oldest.file, 50), newest,
        err_tail(plan->newest.file, 50));
    err_hint(err, "give the time of the import, or import in parts");
    return STATUS_INVALID;
}

/* message_decode: payload to checked, identified, re-bucketed points. See message.h. */
#include "core/base/assert.h"
#include "core/base/limits.h"
#include "core/otlp/cache.h"
#include "core/otlp/checks.h"
#include "core/otlp/facts.h"
#include "core/otlp/message.h"
#include "core/otlp/request.h"
#include <stdlib.h>
#include <string.h>

struct decoder {
    struct sha256_hasher *hasher;
    struct settings settings;
    struct rules rules;
    struct arena scratch; /* the tree of one message */
    struct arena work;    /* the attributes of one resource or point */
    struct otlp_cache cache;
};

struct decoder *decoder_new(const struct settings *settings, struct rules rules)
{
    struct decoder *decoder = calloc(1, sizeof *decoder);
    ASSERT(settings != NULL);
    if (decoder == NULL)
        return NULL;
    decoder->settings = *settings;
    decoder->rules = rules;
    decoder->hasher = sha256_hasher_new();
    if (decoder->hasher == NULL) {
        free(decoder);
        return NULL;
    }
    arena_init(&decoder->scratch, 0);
    arena_init(&decoder->work, 0);
    otlp_cache_init(&decoder->cache);
    return decoder;
}

void decoder_free(struct decoder *decoder)
{
    if (decoder == NULL)
        return;
    arena_free(&decoder->scratch);
    arena_free(&decoder->work);
    otlp_cache_free(&decoder->cache);
    sha256_hasher_free(decoder->hasher);
    free(decoder);
}

/* One message on its way. */
struct pass {
    struct decoder *decoder;
    const struct message_input *input;
    struct arena *arena; /* of the caller: points and texts */
    struct message *out;
    struct err *err;
    struct facts_context context;
    struct otlp_window window;
    struct facts_place place;
    struct point *drafts; /* in scratch: good ones from the front, refused ones from the back */
    size_t good_count;
    size_t refused_count;
    size_t point_count;
};

static enum status no_memory(struct pass *pass)
{
    return err_set(pass->err, STATUS_NO_MEMORY, NULL,
                   "cannot decode the request: it needs more memory than its %zu bytes may use",
                   pass->input->payload.size);
}

/* arena is reset to a bound of a multiple of the payload (R-DEC-1). */
static void arena_reset(struct arena *arena, size_t limit)
{
    if (arena->used > LIMIT_DECODE_KEEP_BYTES) {
        arena_free(arena);
        arena_init(arena, limit);
    } else {
        arena_rewind(arena);
        arena->limit = limit;
    }
}

/* A text column, copied from the scratch to the message's own memory. */
static enum status text_keep(struct pass *pass, struct bytes text, struct bytes *out)
{
    *out = (struct bytes){.data = (const uint8_t *)"", .size = text.size};
    if (text.size == 0)
        return STATUS_OK;
    out->data = arena_copy(pass->arena, text.data, text.size);
    return out->data != NULL ? STATUS_OK : no_memory(pass);
}

static enum status point_fill(struct pass *pass, const struct otlp_metric *metric,
                              const struct otlp_point *from, const struct point_facts *facts,
                              const struct resource_facts *resource, struct point *to)
{
    bool no_buckets = from->bucket_count == 0; /* R-DEC-6: one bucket that holds count */
    const uint64_t *counts = no_buckets ? &from->count : from->bucket_counts;
    bool exact = false;
    *to = (struct point){
        .refusal = POINT_OUTCOME_COUNT,
        .temporality = (enum temporality)metric->temporality,
        .source = metric->source,
        .resource_hash = resource->hash,
        .series_hash = facts->hash,
        .start_unix_nano = (int64_t)from->start_unix_nano,
        .time_unix_nano = (int64_t)from->time_unix_nano,
        .service = resource->service,
        .status_code = facts->status_code,
        .count = (int64_t)from->count,
        .has_sum = from->has_sum,
        .sum = from->has_sum ? from->sum + 0.0 : 0.0, /* -0 becomes 0 */
        .redacted = resource->redacted,
    };
    enum status status = histogram_rebucket(from->bounds, from->bound_count, counts, &to->histogram,
                                            &exact, pass->err);
    ASSERT(status == STATUS_OK); /* otlp_point_check has ruled the errors out */
    to->lossy = !exact;
    /* exact: every canonical bound ends a source bucket, so none lies inside one */
    to->coarse = !exact && histogram_coarse(from->bounds, from->bound_count, counts);
    status = text_keep(pass, facts->method, &to->method);
    return status == STATUS_OK ? text_keep(pass, facts->route, &to->route) : status;
}

/* The facts of a point, remembered or found out. Texts are valid until the next call. */
static enum status point_facts(struct pass *pass, const struct otlp_scope *scope,
                               const struct otlp_metric *metric, const struct otlp_point *point,
                               const struct resource_facts *resource, struct point_facts *out)
{
    struct decoder *decoder = pass->decoder;
    arena_rewind(&decoder->work);
    struct bytes key = otlp_cache_key(&pass->input->tenant, &resource->hash, scope, metric,
                                      &point->attributes, &decoder->work);
    const struct point_facts *known = key.size > 0 ? otlp_cache_find(&decoder->cache, key) : NULL;
    if (known != NULL) {
        *out = *known;
        return STATUS_OK;
    }
    enum status status = otlp_point_facts(&pass->context, scope, metric, &point->attributes,
                                          &resource->hash, &pass->place, out, pass->err);
    if (status == STATUS_OK && key.size > 0)
        otlp_cache_put(&decoder->cache, key, out);
    return status;
}

static enum status point_decode(struct pass *pass, const struct otlp_scope *scope,
                                const struct otlp_metric *metric, const struct otlp_point *point,
                                const struct resource_facts *resource)
{
    struct point_facts facts = {0};
    enum status status = point_facts(pass, scope, metric, point, resource, &facts);
    pass->place.point++;
    if (status != STATUS_OK)
        return status;
    enum point_outcome refusal = otlp_point_check(metric, point, &facts, &pass->window);
    if (refusal == POINT_OUTCOME_COUNT)
        return point_fill(pass, metric, point, &facts, resource, &pass->drafts[pass->good_count++]);
    pass->refused_count++;
    pass->drafts[pass->point_count - pass->refused_count] = (struct point){.refusal = refusal};
    return STATUS_OK;
}

static enum status metric_decode(struct pass *pass, const struct otlp_scope *scope,
                                 const struct otlp_metric *metric,
                                 const struct resource_facts *resource)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; status == STATUS_OK && i < metric->point_count; i++)
        status = point_decode(pass, scope, metric, &metric->points[i], resource);
    return status;
}

static enum status resource_decode(struct pass *pass, const struct otlp_resource *resource)
{
    struct resource_facts facts = {0};
    arena_reset(&pass->decoder->work, pass->decoder->scratch.limit);
    enum status status =
        otlp_resource_facts(&pass->context, &resource->attributes, &pass->place, &facts, pass->err);
    pass->place.resource++;
    if (status == STATUS_OK)
        status = text_keep(pass, facts.service, &facts.service);
    for (size_t i = 0; status == STATUS_OK && i < resource->scope_count; i++) {
        const struct otlp_scope *scope = &resource->scopes[i];
        for (size_t k = 0; status == STATUS_OK && k < scope->metric_count; k++)
            status = metric_decode(pass, scope, &scope->metrics[k], &facts);
    }
    return status;
}

/* Order of the good points: (series, start, time), stable by the place in the message. */
struct order {
    uint64_t prefix; /* the first bytes of the series hash, to spare most comparisons */
    const struct point *point;
    size_t index; /* place in the message, because qsort is not stable */
};

static int compare_int64(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int order_compare(const void *left, const void *right)
{
    const struct order *a = left;
    const struct order *b = right;
    if (a->prefix != b->prefix)
        return a->prefix < b->prefix ? -1 : 1;
    int difference = sha256_compare(&a->point->series_hash, &b->point->series_hash);
    if (difference == 0)
        difference = compare_int64(a->point->start_unix_nano, b->point->start_unix_nano);
    if (difference == 0)
        difference = compare_int64(a->point->time_unix_nano, b->point->time_unix_nano);
    if (difference == 0)
        difference = (a->index > b->index) - (a->index < b->index);
    return difference;
}

static uint64_t hash_prefix(const struct sha256 *hash)
{
    uint64_t prefix = 0;
    for (size_t i = 0; i < sizeof prefix; i++)
        prefix = prefix << 8 | hash->bytes[i];
    return prefix;
}

/* The drafts, sorted, into the caller's memory. */
static enum status points_order(struct pass *pass)
{
    size_t good_count = pass->good_count;
    size_t count = pass->point_count;
    ASSERT(good_count + pass->refused_count == count);
    if (count == 0)
        return STATUS_OK;
    struct order *order = arena_array(&pass->decoder->scratch, count, sizeof *order);
    struct point *points = arena_array(pass->arena, count, sizeof *points);
    if (order == NULL || points == NULL)
        return no_memory(pass);
    for (size_t i = 0; i < good_count; i++)
        order[i] = (struct order){.prefix = hash_prefix(&pass->drafts[i].series_hash),
                                  .point = &pass->drafts[i],
                                  .index = i};
    qsort(order, good_count, sizeof *order, order_compare);
    for (size_t i = 0; i < good_count; i++)
        points[i] = *order[i].point;
    for (size_t i = good_count; i < count; i++) /* back into message order */
        points[i] = pass->drafts[count - 1 - (i - good_count)];
    pass->out->points = points;
    pass->out->point_count = count;
    pass->out->good_count = good_count;
    return STATUS_OK;
}

static enum status msg_id_check(struct bytes msg_id, struct err *err)
{
    if (msg_id.size == 0)
        return err_set(err, STATUS_INVALID, NULL, "message id is missing");
    if (msg_id.size > LIMIT_MSG_ID_BYTES)
        return err_set(err, STATUS_INVALID, NULL, "message id has %zu bytes, the most is %d",
                       msg_id.size, LIMIT_MSG_ID_BYTES);
    if (!text_is_storable(msg_id))
        return err_set(err, STATUS_INVALID, NULL,
                       "message id is not UTF-8 or has a control character");
    return STATUS_OK;
}

enum status message_decode(struct decoder *decoder, const struct message_input *input,
                           struct arena *arena, struct message *out, struct err *err)
{
    ASSERT(decoder != NULL && input != NULL && arena != NULL);
    *out = (struct message){.tenant = input->tenant};
    enum status status = msg_id_check(input->msg_id, err);
    if (status != STATUS_OK)
        return status;
    size_t bounded =
        input->payload.size < LIMIT_PAYLOAD_BYTES ? input->payload.size : LIMIT_PAYLOAD_BYTES;
    arena_reset(&decoder->scratch, LIMIT_DECODE_BASE_BYTES + LIMIT_DECODE_FACTOR * bounded);
    struct otlp_request request;
    status = otlp_request_decode(input->payload, input->format, &decoder->scratch, &request, err);
    if (status != STATUS_OK)
        return status;
    struct pass pass = {
        .decoder = decoder,
        .input = input,
        .arena = arena,
        .out = out,
        .err = err,
        .context = {.hasher = decoder->hasher,
                    .rules = decoder->rules,
                    .tenant = input->tenant,
                    .arena = &decoder->work},
        .window = otlp_window_at(input->now_ns, &decoder->settings, decoder->rules),
        .point_count = request.point_count,
    };
    if (request.point_count > 0)
        pass.drafts = arena_array(&decoder->scratch, request.point_count, sizeof *pass.drafts);
    if (request.point_count > 0 && pass.drafts == NULL)
        return no_memory(&pass);
    for (size_t i = 0; status == STATUS_OK && i < request.resource_count; i++)
        status = resource_decode(&pass, &request.resources[i]);
    if (status == STATUS_OK)
        status = points_order(&pass);
    if (status == STATUS_OK)
        out->skipped_metrics = request.skipped_metrics;
    return status;
}

/* What must hold for any payload, shared by the fuzzers of both formats. Reads the payload as the
 * importer does (peek the tenant and the newest time, then decode), so that an input which is
 * nearly an export gets past the message checks. */
#ifndef TESTS_FUZZ_FUZZ_MESSAGE_H
#define TESTS_FUZZ_FUZZ_MESSAGE_H

#include "core/base/assert.h"
#include "core/base/limits.h"
#include "core/base/time.h"
#include "core/otlp/message.h"
#include <math.h>
#include <string.h>

static inline void fuzz_point(const struct point *point, int64_t now_ns)
{
    int64_t total = 0;
    for (int i = 0; i < HISTOGRAM_BUCKETS; i++) {
        ASSERT(point->histogram.counts[i] >= 0);
        ASSERT(!__builtin_add_overflow(total, point->histogram.counts[i], &total));
    }
    ASSERT(total == point->count);
    ASSERT(point->time_unix_nano > 0 && point->start_unix_nano >= 0);
    ASSERT(point->start_unix_nano <= point->time_unix_nano);
    ASSERT(point->time_unix_nano >= now_ns - LIMIT_POINT_AGE_DAYS * NS_PER_DAY);
    ASSERT(isfinite(point->sum) && !signbit(point->sum));
    ASSERT(point->has_sum || point->sum == 0);
    ASSERT(point->status_code == 0 || (point->status_code >= 100 && point->status_code <= 599));
    ASSERT(point->service.size <= LIMIT_SERVICE_BYTES && text_is_storable(point->service));
    ASSERT(point->method.size <= LIMIT_METHOD_BYTES && text_is_storable(point->method));
    ASSERT(point->route.size <= LIMIT_ROUTE_BYTES && text_is_storable(point->route));
}

static inline void fuzz_order(const struct point *a, const struct point *b)
{
    int series = sha256_compare(&a->series_hash, &b->series_hash);
    ASSERT(series <= 0);
    if (series < 0)
        return;
    ASSERT(a->start_unix_nano <= b->start_unix_nano);
    ASSERT(a->start_unix_nano < b->start_unix_nano || a->time_unix_nano <= b->time_unix_nano);
}

/* Every byte that the contract defines is the same. */
static inline void fuzz_same(const struct message *a, const struct message *b)
{
    ASSERT(a->point_count == b->point_count && a->good_count == b->good_count);
    ASSERT(a->skipped_metrics == b->skipped_metrics);
    for (size_t i = 0; i < a->point_count; i++) {
        const struct point *p = &a->points[i];
        const struct point *q = &b->points[i];
        ASSERT(p->refusal == q->refusal);
        ASSERT(sha256_compare(&p->series_hash, &q->series_hash) == 0);
        ASSERT(sha256_compare(&p->resource_hash, &q->resource_hash) == 0);
        ASSERT(bytes_equal(p->service, q->service) && bytes_equal(p->method, q->method));
        ASSERT(bytes_equal(p->route, q->route) && p->status_code == q->status_code);
        ASSERT(memcmp(&p->histogram, &q->histogram, sizeof p->histogram) == 0);
    }
}

static inline int fuzz_payload(const uint8_t *data, size_t size, enum payload_format format)
{
    static struct decoder *decoder; /* stays warm: its caches meet all inputs */
    struct settings settings = settings_default();
    struct message_input input = {.payload = {data, size}, .format = format};
    struct message message;
    struct message again;
    struct err err = {0};
    struct arena arena;
    if (decoder == NULL)
        decoder = decoder_new(&settings, rules_default());
    ASSERT(decoder != NULL);
    arena_init(&arena, 4 * (LIMIT_DECODE_BASE_BYTES + LIMIT_DECODE_FACTOR * size));
    input.msg_id = bytes_of("fuzz");
    struct message_facts facts;
    enum status peek = message_peek(input.payload, format, &arena, &facts, &err);
    input.tenant = facts.tenant;
    input.now_ns = facts.newest_ns;
    enum status status = message_decode(decoder, &input, &arena, &message, &err);
    ASSERT(status == STATUS_OK || status == STATUS_INVALID || status == STATUS_NO_MEMORY);
    ASSERT(status != STATUS_OK || peek == STATUS_OK);
    ASSERT(status != STATUS_OK || facts.has_tenant || message.point_count == 0);
    ASSERT(facts.holds_metrics || facts.newest_ns == 0);
    ASSERT(facts.oldest_ns <= facts.newest_ns);
    if (status == STATUS_OK) {
        ASSERT(message.good_count <= message.point_count);
        for (size_t i = 0; i < message.point_count; i++)
            ASSERT((message.points[i].refusal == POINT_OUTCOME_COUNT) == (i < message.good_count));
        for (size_t i = 0; i < message.good_count; i++)
            fuzz_point(&message.points[i], input.now_ns);
        for (size_t i = 1; i < message.good_count; i++)
            fuzz_order(&message.points[i - 1], &message.points[i]);
        /* a decoder without memory of the past says the same */
        struct decoder *fresh = decoder_new(&settings, rules_default());
        ASSERT(fresh != NULL);
        ASSERT(message_decode(fresh, &input, &arena, &again, &err) == STATUS_OK);
        fuzz_same(&message, &again);
        decoder_free(fresh);
    }
    arena_free(&arena);
    return 0;
}

#endif

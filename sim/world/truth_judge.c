/* What committed transactions decided. Every judgement must fit the step that the SDK's own counter
 * made:
 *
 *   grown   = value of the point - last accepted value of its stream
 *   rest    = grown - counted
 *
 *   first_full, delta, unchanged   rest = 0
 *   baseline                       counted 0; the rest is absorbed
 *   catch_up                       rest = - what its baseline had absorbed
 *   reset                          counted 0; the rest, which may be negative, is absorbed
 *   any other                      counted 0, and the stream stays where it is
 *
 * A stream whose state retention pruned begins anew, with first_full or baseline: what its state
 * held is booked as forgotten, and its last accepted value is 0 again (R-OUT-2, R-FIRST-7).
 *
 * So that at all times last accepted = counted + absorbed - forgotten, and nothing is absorbed
 * without a name.
 */
#include "core/base/assert.h"
#include "core/base/time.h"
#include "sim/world/truth_state.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

static const char *tenant_name(const struct truth *truth, const struct uuid *tenant)
{
    return names_of_tenant(truth->names, tenant);
}

/* ---- row groups ---- */

static bool cell_equal(const void *context, size_t number, const void *key)
{
    const struct truth *truth = context;
    const struct truth_cell *a = &truth->cells[number], *b = key;
    return a->day == b->day && a->status_code == b->status_code && a->source == b->source &&
           bytes_equal(a->route, b->route) && bytes_equal(a->service, b->service) &&
           bytes_equal(a->method, b->method) && uuid_compare(&a->tenant, &b->tenant) == 0;
}

static uint64_t mix(uint64_t hash, const void *data, size_t size)
{
    return XXH3_64bits_withSeed(data ? data : "", size, hash);
}

static uint64_t cell_hash(const struct truth_cell *cell)
{
    uint64_t hash = mix((uint64_t)cell->day, cell->tenant.bytes, sizeof(cell->tenant.bytes));
    hash = mix(hash, cell->service.data, cell->service.size);
    hash = mix(hash, cell->method.data, cell->method.size);
    hash = mix(hash, cell->route.data, cell->route.size);
    return hash + (uint64_t)cell->status_code * 2 + (uint64_t)cell->source;
}

static bool keep(struct truth *truth, struct bytes *text)
{
    text->data = arena_copy(&truth->arena, text->data, text->size);
    return text->data != NULL;
}

struct truth_cell *truth_cell_of(struct truth *truth, const struct truth_cell *key)
{
    uint64_t hash = cell_hash(key);
    size_t number = index_find(&truth->by_row, hash, cell_equal, truth, key);
    if (number != INDEX_NONE)
        return &truth->cells[number];
    struct truth_cell cell = *key;
    cell.counted = 0;
    cell.in_table = 0;
    if (!array_reserve(&truth->cells, truth->cell_count, &truth->cell_capacity, sizeof(cell)) ||
        !keep(truth, &cell.service) || !keep(truth, &cell.method) || !keep(truth, &cell.route))
        return NULL;
    truth->cells[truth->cell_count] = cell;
    if (!index_add(&truth->by_row, hash, truth->cell_count))
        return NULL;
    return &truth->cells[truth->cell_count++];
}

static void book_row(struct truth *truth, const struct judgement *judgement)
{
    const struct point *point = judgement->point;
    struct truth_cell key = {
        .tenant = judgement->delivery->tenant,
        .day = time_div(judgement->bucket_start_us, US_PER_DAY),
        .service = judgement->service,
        .method = point->method,
        .route = judgement->route,
        .status_code = point->status_code,
        .source = point->source,
    };
    struct truth_cell *cell = truth_cell_of(truth, &key);
    if (!cell) {
        truth->exhausted = true;
        return;
    }
    cell->counted = truth_add(cell->counted, judgement->counted);
}

/* ---- one judgement ---- */

static void breach_of(struct truth *truth, const struct truth_stream *stream,
                      const struct judgement *judgement, int64_t rest)
{
    truth_breach(truth,
                 "tenant \"%s\" series \"%s\" message %" PRIu64 ": outcome %s counted %" PRId64
                 ", but the SDK's value went from %" PRId64 " to %" PRId64 ": %" PRId64
                 " request(s) %s",
                 tenant_name(truth, &stream->tenant), stream->name, judgement->delivery->sequence,
                 point_outcome_name(judgement->outcome), judgement->counted, stream->last_value,
                 judgement->point->count, rest > 0 ? rest : -rest,
                 rest > 0 ? "are lost" : "are counted twice");
}

static void accept(struct truth *truth, struct truth_stream *stream,
                   const struct judgement *judgement, int64_t now_ns)
{
    const struct point *point = judgement->point;
    bool first = judgement->outcome == POINT_FIRST_FULL || judgement->outcome == POINT_BASELINE;
    if (first && stream->accepted && truth_may_be_pruned(truth, stream)) {
        stream->forgotten = truth_add(stream->forgotten, stream->last_value);
        stream->last_value = 0;
    }
    int64_t rest = point->count - stream->last_value - judgement->counted;
    int64_t explained = 0;
    stream->counted = truth_add(stream->counted, judgement->counted);
    if (judgement->outcome == POINT_BASELINE && judgement->counted == 0) {
        explained = rest;
        stream->absorbed_baseline += rest;
    } else if (judgement->outcome == POINT_CATCH_UP) {
        explained = -stream->baseline_value;
        stream->absorbed_baseline -= stream->baseline_value;
    } else if (judgement->outcome == POINT_RESET && judgement->counted == 0) {
        explained = rest;
        stream->absorbed_reset += rest;
    }
    if (rest != explained)
        breach_of(truth, stream, judgement, rest - explained);
    stream->baseline_value = judgement->outcome == POINT_BASELINE ? rest : 0;
    stream->accepted = true;
    stream->last_unix_nano = point->time_unix_nano;
    stream->last_value = point->count;
    stream->applied_ns = now_ns;
}

static bool was_sent(const struct truth_message *message, const struct truth_stream *stream,
                     const struct point *point)
{
    struct truth_point key = {(uint32_t)stream->number, (uint64_t)point->time_unix_nano,
                              (uint64_t)point->count};
    size_t low = 0, high = message->point_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct truth_point *at = &message->points[middle];
        if (at->stream == key.stream && at->time_unix_nano == key.time_unix_nano &&
            at->count == key.count)
            return true;
        bool before = at->stream < key.stream ||
                      (at->stream == key.stream &&
                       (at->time_unix_nano < key.time_unix_nano ||
                        (at->time_unix_nano == key.time_unix_nano && at->count < key.count)));
        if (before)
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}

static void judge_cumulative(struct truth *truth, const struct truth_message *message,
                             const struct judgement *judgement, int64_t now_ns)
{
    const struct point *point = judgement->point;
    const struct uuid *tenant = &judgement->delivery->tenant;
    struct truth_stream *stream =
        truth_find_stream(truth, tenant, &point->series_hash, (uint64_t)point->start_unix_nano,
                          TEMPORALITY_CUMULATIVE);
    if (!stream || !was_sent(message, stream, point)) {
        truth_breach(truth,
                     "tenant \"%s\" series \"%s\" message %" PRIu64
                     ": outcome %s for a point of %" PRId64 " request(s) that nobody sent",
                     tenant_name(truth, tenant), names_of(truth->names, &point->series_hash),
                     judgement->delivery->sequence, point_outcome_name(judgement->outcome),
                     point->count);
        return;
    }
    switch (judgement->outcome) {
    case POINT_FIRST_FULL:
    case POINT_BASELINE:
    case POINT_CATCH_UP:
    case POINT_DELTA:
    case POINT_UNCHANGED:
    case POINT_RESET:
        accept(truth, stream, judgement, now_ns);
        return;
    default: /* duplicate, out_of_order, refused_cap: the stream stays where it is */
        if (judgement->counted != 0)
            breach_of(truth, stream, judgement, -judgement->counted);
    }
}

bool truth_was_judged(const struct truth *truth, uint64_t sequence)
{
    ASSERT(truth);
    return sequence >= 1 && sequence <= truth->message_count &&
           truth->messages[sequence - 1].judgements > 0;
}

void truth_judged(struct truth *truth, const struct judgement *judgement, int64_t now_ns)
{
    ASSERT(truth && judgement && judgement->delivery && judgement->point);
    ASSERT(judgement->counted >= 0);
    uint64_t sequence = judgement->delivery->sequence;
    if (sequence < 1 || sequence > truth->message_count || !truth->messages[sequence - 1].known) {
        truth_breach(truth, "message %" PRIu64 " was applied, but nobody sent it", sequence);
        return;
    }
    struct truth_message *message = &truth->messages[sequence - 1];
    const struct point *point = judgement->point;
    message->judgements++;
    if (judgement->counted > 0)
        book_row(truth, judgement);
    if (point->refusal != POINT_OUTCOME_COUNT) {
        message->refusals++;
    } else if (point->temporality == TEMPORALITY_DELTA) {
        message->delta_judged = truth_add_up(message->delta_judged, (uint64_t)point->count);
        message->delta_counted = truth_add_up(message->delta_counted, (uint64_t)judgement->counted);
    } else {
        judge_cumulative(truth, message, judgement, now_ns);
    }
}

/* ---- rows that go ---- */

void truth_dropped_day(struct truth *truth, int64_t day)
{
    for (size_t i = 0; i < truth->cell_count; i++)
        if (truth->cells[i].day == day)
            truth->cells[i].counted = 0;
}

void truth_pruned(struct truth *truth, int64_t before_us)
{
    if (before_us > truth->pruned_before_us)
        truth->pruned_before_us = before_us;
}

/* Rows and states go; what comes later begins anew, and is then booked as if nothing had been. */
void truth_purged(struct truth *truth, const struct uuid *tenant)
{
    for (size_t i = 0; i < truth->cell_count; i++)
        if (uuid_compare(&truth->cells[i].tenant, tenant) == 0)
            truth->cells[i].counted = 0;
    for (size_t i = 0; i < truth->stream_count; i++) {
        struct truth_stream *stream = truth->streams[i];
        if (uuid_compare(&stream->tenant, tenant) != 0)
            continue;
        stream->accepted = false;
        stream->last_unix_nano = 0;
        stream->last_value = 0;
        stream->counted = 0;
        stream->absorbed_baseline = 0;
        stream->absorbed_reset = 0;
        stream->forgotten = 0;
        stream->baseline_value = 0;
    }
}

/* What was served and what was sent. */
#include "sim/world/truth.h"

#include "core/base/assert.h"
#include "core/otlp/request.h"
#include "sim/limits.h"
#include "sim/world/truth_state.h"
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

struct truth *truth_new(struct names *names)
{
    ASSERT(names);
    struct truth *truth = calloc(1, sizeof(*truth));
    if (!truth)
        return NULL;
    truth->names = names;
    truth->pruned_before_us = INT64_MIN;
    arena_init(&truth->arena, LIMIT_WORLD_BYTES);
    return truth;
}

void truth_free(struct truth *truth)
{
    if (!truth)
        return;
    for (size_t i = 0; i < truth->breach_count; i++)
        free(truth->breaches[i]);
    free(truth->breaches);
    free(truth->streams);
    free(truth->messages);
    free(truth->cells);
    index_free(&truth->by_key);
    index_free(&truth->by_row);
    arena_free(&truth->arena);
    free(truth);
}

void truth_breach(struct truth *truth, const char *format, ...)
{
    if (!truth->breaches)
        truth->breaches = calloc(LIMIT_TRUTH_BREACHES, sizeof(*truth->breaches));
    if (!truth->breaches || truth->breach_count == LIMIT_TRUTH_BREACHES) {
        truth->breach_more++;
        return;
    }
    va_list arguments;
    va_start(arguments, format);
    char *line = NULL;
    if (vasprintf(&line, format, arguments) < 0)
        truth->breach_more++;
    else
        truth->breaches[truth->breach_count++] = line;
    va_end(arguments);
}

/* ---- streams ---- */

struct stream_key {
    struct uuid tenant;
    struct sha256 series_hash;
    uint64_t start_unix_nano;
    int temporality;
};

static bool key_equal(const void *context, size_t number, const void *key)
{
    const struct truth *truth = context;
    const struct truth_stream *stream = truth->streams[number];
    const struct stream_key *wanted = key;
    return stream->start_unix_nano == wanted->start_unix_nano &&
           stream->temporality == wanted->temporality &&
           sha256_compare(&stream->series_hash, &wanted->series_hash) == 0 &&
           uuid_compare(&stream->tenant, &wanted->tenant) == 0;
}

static uint64_t key_hash(const struct stream_key *key)
{
    uint64_t hash = XXH3_64bits(key->series_hash.bytes, sizeof(key->series_hash.bytes));
    return hash ^
           ((key->start_unix_nano + (uint64_t)key->temporality) * UINT64_C(0x9e3779b97f4a7c15));
}

struct truth_stream *truth_find_stream(const struct truth *truth, const struct uuid *tenant,
                                       const struct sha256 *series_hash, uint64_t start_unix_nano,
                                       int temporality)
{
    struct stream_key key = {*tenant, *series_hash, start_unix_nano, temporality};
    size_t number = index_find(&truth->by_key, key_hash(&key), key_equal, truth, &key);
    return number == INDEX_NONE ? NULL : truth->streams[number];
}

struct truth_stream *truth_stream_of(struct truth *truth, const struct series *series,
                                     uint64_t start_unix_nano)
{
    ASSERT(truth && series);
    const struct uuid *tenant = &series->telemetry->tenant;
    struct truth_stream *stream = truth_find_stream(truth, tenant, &series->series_hash,
                                                    start_unix_nano, series->temporality);
    if (stream)
        return stream;
    struct stream_key key = {*tenant, series->series_hash, start_unix_nano, series->temporality};
    stream = arena_array(&truth->arena, 1, sizeof(*stream));
    if (!stream || !array_reserve(&truth->streams, truth->stream_count, &truth->stream_capacity,
                                  sizeof(struct truth_stream *)))
        return NULL;
    stream->tenant = *tenant;
    stream->series_hash = series->series_hash;
    stream->start_unix_nano = start_unix_nano;
    stream->name = series->name;
    stream->temporality = series->temporality;
    stream->number = truth->stream_count;
    truth->streams[truth->stream_count] = stream;
    if (!index_add(&truth->by_key, key_hash(&key), truth->stream_count))
        return NULL;
    truth->stream_count++;
    return stream;
}

void truth_served(struct truth_stream *stream, uint64_t count)
{
    ASSERT(stream);
    stream->live = true;
    stream->served += count;
}

void truth_lost(struct truth_stream *stream, uint64_t count)
{
    ASSERT(stream && stream->temporality == TEMPORALITY_DELTA);
    stream->lost += count;
}

uint64_t truth_total_served(const struct truth *truth, const struct uuid *tenant)
{
    uint64_t total = 0;
    for (size_t i = 0; i < truth->stream_count; i++)
        if (!tenant || uuid_compare(&truth->streams[i]->tenant, tenant) == 0)
            total += truth->streams[i]->served;
    return total;
}

/* ---- messages ---- */

/* R-DEC-4: a point that carries a value at all. */
static bool has_value(const struct series_point *point)
{
    return point->series->type == SERIES_HISTOGRAM && (point->flags & 1) == 0;
}

/* What a point says of its stream when it leaves. */
static void book_point(struct truth_stream *stream, const struct series_point *point)
{
    if (!has_value(point))
        return;
    if (stream->temporality == TEMPORALITY_DELTA) {
        stream->sent += point->repeats ? 0 : point->count;
        stream->served += point->repeats || stream->live ? 0 : point->count;
        return;
    }
    if (stream->live || point->time_unix_nano < stream->newest_at)
        return;
    stream->newest_at = point->time_unix_nano;
    stream->served = point->count;
}

static int point_compare(const void *a, const void *b)
{
    const struct truth_point *left = a, *right = b;
    if (left->stream != right->stream)
        return left->stream < right->stream ? -1 : 1;
    if (left->time_unix_nano != right->time_unix_nano)
        return left->time_unix_nano < right->time_unix_nano ? -1 : 1;
    return left->count < right->count ? -1 : left->count > right->count;
}

/* R-DEC-2: metrics of other names are skipped, so nobody judges their points. */
static bool is_judged(const struct series_point *point)
{
    enum source source;
    return otlp_metric_source(telemetry_metric(point->series->telemetry), &source);
}

static bool fill_points(struct truth *truth, struct truth_message *message,
                        const struct series_point *points, size_t count)
{
    message->points = arena_array(&truth->arena, count + 1, sizeof(*message->points));
    if (!message->points)
        return false;
    bool sorted = true;
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        const struct series_point *point = &points[i];
        struct truth_stream *stream = point->stream;
        if (!stream)
            stream = truth_stream_of(truth, point->series, point->start_unix_nano);
        if (!stream)
            return false;
        if (!is_judged(point))
            continue;
        book_point(stream, point);
        message->points[used] = (struct truth_point){
            .stream = (uint32_t)stream->number,
            .time_unix_nano = point->time_unix_nano,
            .count = point->count,
        };
        if (stream->temporality == TEMPORALITY_DELTA && has_value(point))
            message->delta_sent = truth_add_up(message->delta_sent, point->count);
        sorted = sorted && (used == 0 ||
                            point_compare(&message->points[used - 1], &message->points[used]) <= 0);
        used++;
    }
    message->point_count = used;
    if (!sorted) /* equal ones are interchangeable: the key is the whole struct */
        qsort(message->points, used, sizeof(*message->points), point_compare);
    return true;
}

static struct truth_message *message_slot(struct truth *truth, uint64_t sequence)
{
    ASSERT(sequence > truth->message_count); /* in order of sequence */
    while (truth->message_count < sequence) {
        if (!array_reserve(&truth->messages, truth->message_count, &truth->message_capacity,
                           sizeof(*truth->messages)))
            return NULL;
        truth->messages[truth->message_count++] = (struct truth_message){0};
    }
    struct truth_message *message = &truth->messages[sequence - 1];
    message->known = true;
    return message;
}

bool truth_message(struct truth *truth, uint64_t sequence, const struct series_point *points,
                   size_t count)
{
    ASSERT(truth && (points || count == 0));
    struct truth_message *message = message_slot(truth, sequence);
    bool good = message && fill_points(truth, message, points, count);
    truth->exhausted = truth->exhausted || !good;
    return good;
}

bool truth_message_again(struct truth *truth, uint64_t sequence, uint64_t first)
{
    ASSERT(truth && first >= 1 && first < sequence);
    struct truth_message *message = message_slot(truth, sequence);
    if (!message) {
        truth->exhausted = true;
        return false;
    }
    const struct truth_message *origin = &truth->messages[first - 1];
    message->points = origin->points;
    message->point_count = origin->point_count;
    message->delta_sent = origin->delta_sent;
    message->first = origin->first ? origin->first : first;
    return true;
}

void truth_deduplicated(struct truth *truth, const struct series_point *points, size_t count)
{
    ASSERT(truth && (points || count == 0));
    for (size_t i = 0; i < count; i++) {
        struct truth_stream *stream = points[i].stream;
        if (!stream)
            stream = truth_stream_of(truth, points[i].series, points[i].start_unix_nano);
        if (!stream) {
            truth->exhausted = true;
            return;
        }
        book_point(stream, &points[i]);
        if (stream->temporality == TEMPORALITY_DELTA)
            truth->deduplicated += points[i].count;
    }
}

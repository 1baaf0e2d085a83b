#include "sim/world/process.h"

#include "core/base/assert.h"
#include "core/base/time.h"
#include "sim/base/array.h"
#include "sim/limits.h"
#include "sim/world/index.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* Counts of one series: since the start (cumulative), since the last export (delta), or of one
 * minute (span). */
struct tally {
    int64_t minute_ns; /* span: the minute its spans ended in */
    uint64_t count;
    double sum;
    uint64_t *counts; /* bound_count + 1 */
};

/* A series of the SDK. It outlives a restart, because its text and hashes stay the same. */
struct instrument {
    struct request request; /* copied into the maker's arena */
    struct series *series;
    struct truth_stream *stream; /* of this start; NULL: not used since the start */
    struct tally *tallies;       /* one; of spans one a minute, the newest last */
    size_t tally_count;
    size_t tally_capacity;
};

struct process {
    struct process_config config;
    struct series_maker *maker;
    struct truth *truth;
    struct collector *collector;
    int temporality; /* of its points: spans are always delta */

    bool running;
    int64_t started_ns; /* true time */
    int64_t next_export_ns;
    int64_t delta_from_ns; /* delta: when the last export was, in its own clock */

    struct instrument **instruments;
    size_t instrument_count;
    size_t instrument_capacity;
    struct index by_request;
    struct instrument **used; /* since the start, in order of first use */
    size_t used_count;
    size_t used_capacity;

    /* the last export, for process_resend */
    struct series_point *points;
    size_t point_count;
    size_t point_capacity;
    struct arena arena; /* its counts */
};

struct process *process_new(const struct process_config *config, struct series_maker *maker,
                            struct truth *truth, struct collector *collector)
{
    ASSERT(config && config->name && maker && truth && collector);
    ASSERT(config->export_every_ns > 0);
    struct process *process = calloc(1, sizeof(*process));
    if (!process)
        return NULL;
    process->config = *config;
    process->maker = maker;
    process->truth = truth;
    process->collector = collector;
    process->temporality =
        config->telemetry.source == SOURCE_SPAN ? TEMPORALITY_DELTA : (int)config->temporality;
    arena_init(&process->arena, LIMIT_WORLD_BYTES);
    return process;
}

static void instrument_free(struct instrument *instrument)
{
    for (size_t i = 0; i < instrument->tally_capacity; i++)
        free(instrument->tallies[i].counts);
    free(instrument->tallies);
    free(instrument);
}

void process_free(struct process *process)
{
    if (!process)
        return;
    for (size_t i = 0; i < process->instrument_count; i++)
        instrument_free(process->instruments[i]);
    free(process->instruments);
    free(process->used);
    free(process->points);
    index_free(&process->by_request);
    arena_free(&process->arena);
    free(process);
}

static int64_t own_clock(const struct process *process, int64_t now_ns)
{
    return now_ns + process->config.skew_ns;
}

static enum status not_running(const struct process *process, struct err *err)
{
    return err_set(err, STATUS_STOPPED, NULL, "process \"%s\" is not running",
                   process->config.name);
}

static enum status no_memory(const struct process *process, struct err *err)
{
    return err_set(err, STATUS_NO_MEMORY, NULL, "could not serve in process \"%s\": out of memory",
                   process->config.name);
}

/* ---- instruments ---- */

static bool text_equal(struct bytes a, struct bytes b)
{
    return !a.data == !b.data && bytes_equal(a, b);
}

static bool attribute_equal(const struct attribute *a, const struct attribute *b)
{
    return bytes_equal(a->key, b->key) && a->type == b->type && bytes_equal(a->bytes, b->bytes) &&
           a->integer == b->integer && memcmp(&a->number, &b->number, sizeof(a->number)) == 0;
}

static bool request_equal(const void *context, size_t number, const void *key)
{
    const struct process *process = context;
    const struct request *a = &process->instruments[number]->request, *b = key;
    bool equal = text_equal(a->method, b->method) && text_equal(a->route, b->route) &&
                 a->status_kind == b->status_kind && a->status == b->status &&
                 text_equal(a->status_text, b->status_text) &&
                 text_equal(a->error_type, b->error_type) &&
                 a->attribute_count == b->attribute_count;
    for (size_t i = 0; equal && i < a->attribute_count; i++)
        equal = attribute_equal(&a->attributes[i], &b->attributes[i]);
    return equal;
}

static uint64_t request_hash(const struct request *request)
{
    const struct bytes parts[] = {request->method, request->route, request->status_text,
                                  request->error_type};
    uint64_t hash = (uint64_t)request->status;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        hash = XXH3_64bits_withSeed(parts[i].data ? parts[i].data : (const uint8_t *)"",
                                    parts[i].size, hash);
    return hash;
}

static bool copy_text(struct arena *arena, struct bytes *text)
{
    if (text->data)
        text->data = arena_copy(arena, text->data, text->size);
    return text->data || text->size == 0;
}

static bool copy_request(struct arena *arena, struct request *request)
{
    if (!copy_text(arena, &request->method) || !copy_text(arena, &request->route) ||
        !copy_text(arena, &request->status_text) || !copy_text(arena, &request->error_type))
        return false;
    struct attribute *attributes =
        arena_array(arena, request->attribute_count + 1, sizeof(*attributes));
    if (!attributes)
        return false;
    for (size_t i = 0; i < request->attribute_count; i++) {
        attributes[i] = request->attributes[i];
        if (!copy_text(arena, &attributes[i].key) || !copy_text(arena, &attributes[i].bytes))
            return false;
    }
    request->attributes = attributes;
    return true;
}

static struct instrument *instrument_new(struct process *process, const struct request *request,
                                         uint64_t hash)
{
    if (!array_reserve(&process->instruments, process->instrument_count,
                       &process->instrument_capacity, sizeof(struct instrument *)))
        return NULL;
    struct instrument *instrument = calloc(1, sizeof(*instrument));
    if (!instrument)
        return NULL;
    const char *owner = process->config.shown_as ? process->config.shown_as : process->config.name;
    instrument->request = *request;
    if (copy_request(&process->maker->arena, &instrument->request))
        instrument->series =
            series_make(process->maker, owner, &process->config.telemetry, &instrument->request,
                        process->temporality, SERIES_HISTOGRAM, true);
    process->instruments[process->instrument_count] = instrument;
    if (!instrument->series || !index_add(&process->by_request, hash, process->instrument_count)) {
        instrument_free(instrument);
        return NULL;
    }
    process->instrument_count++;
    return instrument;
}

static struct instrument *instrument_of(struct process *process, const struct request *request)
{
    uint64_t hash = request_hash(request);
    size_t number = index_find(&process->by_request, hash, request_equal, process, request);
    struct instrument *instrument = number == INDEX_NONE ? instrument_new(process, request, hash)
                                                         : process->instruments[number];
    if (!instrument || instrument->stream)
        return instrument;
    if (!array_reserve(&process->used, process->used_count, &process->used_capacity,
                       sizeof(struct instrument *)))
        return NULL;
    uint64_t start = (uint64_t)own_clock(process, process->started_ns);
    instrument->stream = truth_stream_of(process->truth, instrument->series, start);
    if (instrument->stream)
        process->used[process->used_count++] = instrument;
    return instrument->stream ? instrument : NULL;
}

/* The tally for a request served now. */
static struct tally *tally_of(struct process *process, struct instrument *instrument,
                              int64_t minute_ns)
{
    size_t count = instrument->tally_count;
    if (count > 0 && instrument->tallies[count - 1].minute_ns == minute_ns)
        return &instrument->tallies[count - 1];
    size_t capacity = instrument->tally_capacity;
    if (!array_reserve(&instrument->tallies, count, &instrument->tally_capacity,
                       sizeof(struct tally)))
        return NULL;
    for (size_t i = capacity; i < instrument->tally_capacity; i++)
        instrument->tallies[i].counts = NULL;
    struct tally *tally = &instrument->tallies[count];
    size_t size = process->config.telemetry.bound_count + 1;
    if (!tally->counts)
        tally->counts = malloc(size * sizeof(*tally->counts));
    if (!tally->counts)
        return NULL;
    memset(tally->counts, 0, size * sizeof(*tally->counts));
    tally->minute_ns = minute_ns;
    tally->count = 0;
    tally->sum = 0;
    instrument->tally_count++;
    return tally;
}

static uint64_t held(const struct instrument *instrument)
{
    uint64_t total = 0;
    for (size_t i = 0; i < instrument->tally_count; i++)
        total += instrument->tallies[i].count;
    return total;
}

/* ---- life ---- */

void process_start(struct process *process, int64_t start_ns, int64_t now_ns)
{
    ASSERT(process && !process->running && start_ns <= now_ns);
    int64_t every = process->config.export_every_ns;
    process->running = true;
    process->started_ns = start_ns;
    process->delta_from_ns = own_clock(process, start_ns);
    int64_t passed = (now_ns - start_ns + every - 1) / every;
    process->next_export_ns = start_ns + (passed > 0 ? passed : 1) * every;
    process->used_count = 0;
    process->point_count = 0;
}

bool process_running(const struct process *process)
{
    return process->running;
}

int64_t process_next_export_ns(const struct process *process)
{
    return process->running ? process->next_export_ns : INT64_MAX;
}

/* What is still held is lost with the process; of a cumulative one the truth knows by itself. */
static void end(struct process *process)
{
    for (size_t i = 0; i < process->used_count; i++) {
        struct instrument *instrument = process->used[i];
        if (process->temporality == TEMPORALITY_DELTA)
            truth_lost(instrument->stream, held(instrument));
        instrument->stream = NULL;
        instrument->tally_count = 0;
    }
    process->used_count = 0;
    process->running = false;
}

void process_crash(struct process *process)
{
    ASSERT(process && process->running);
    end(process);
}

enum status process_stop(struct process *process, int64_t now_ns, bool flush, struct err *err)
{
    ASSERT(process);
    if (!process->running)
        return not_running(process, err);
    enum status status = flush ? process_export(process, now_ns, err) : STATUS_OK;
    end(process);
    return status;
}

/* ---- serving ---- */

/* The bucket whose upper bound is the first that is not below the value: (bound[i-1], bound[i]]. */
static size_t bucket_of(const struct telemetry *telemetry, double seconds)
{
    size_t bucket = 0;
    while (bucket < telemetry->bound_count && seconds > telemetry->bounds[bucket])
        bucket++;
    return bucket;
}

static void add_sum(const struct process *process, struct tally *tally, double seconds,
                    int64_t times)
{
    if (process->config.raw_sums) {
        for (int64_t i = 0; i < times; i++)
            tally->sum += seconds; /* one by one, as an SDK does: the rounding is the point */
        return;
    }
    tally->sum += (double)times * (floor(seconds * 0x1p20) * 0x1p-20);
}

enum status process_serve(struct process *process, int64_t now_ns, const struct request *request,
                          int64_t duration_ns, int64_t times, struct err *err)
{
    ASSERT(process && request && duration_ns >= 0 && times >= 0);
    if (!process->running)
        return not_running(process, err);
    if (times == 0)
        return STATUS_OK;
    bool span = process->config.telemetry.source == SOURCE_SPAN;
    int64_t minute = span ? time_floor(own_clock(process, now_ns), NS_PER_MIN) : 0;
    struct instrument *instrument = instrument_of(process, request);
    struct tally *tally = instrument ? tally_of(process, instrument, minute) : NULL;
    if (!tally)
        return no_memory(process, err);
    double seconds = (double)duration_ns / (double)NS_PER_S;
    tally->counts[bucket_of(&process->config.telemetry, seconds)] += (uint64_t)times;
    tally->count += (uint64_t)times;
    add_sum(process, tally, seconds, times);
    truth_served(instrument->stream, (uint64_t)times);
    return STATUS_OK;
}

/* ---- exporting ---- */

static bool add_point(struct process *process, const struct instrument *instrument,
                      const struct tally *tally, int64_t start_ns, int64_t time_ns)
{
    size_t size = process->config.telemetry.bound_count + 1;
    uint64_t *counts = arena_copy(&process->arena, tally->counts, size * sizeof(*tally->counts));
    if (!counts || !array_reserve(&process->points, process->point_count, &process->point_capacity,
                                  sizeof(*process->points)))
        return false;
    process->points[process->point_count++] = (struct series_point){
        .series = instrument->series,
        .stream = instrument->stream,
        .start_unix_nano = (uint64_t)start_ns,
        .time_unix_nano = (uint64_t)time_ns,
        .counts = counts,
        .counts_size = size,
        .count = tally->count,
        .has_sum = true,
        .sum = tally->sum,
    };
    return true;
}

/* The points of an export now, in a fixed order: series by first use, minutes ascending. */
static bool gather(struct process *process, int64_t now_ns)
{
    bool span = process->config.telemetry.source == SOURCE_SPAN;
    int64_t time = own_clock(process, now_ns);
    int64_t start = process->temporality == TEMPORALITY_DELTA
                        ? process->delta_from_ns
                        : own_clock(process, process->started_ns);
    process->point_count = 0;
    arena_rewind(&process->arena);
    for (size_t i = 0; i < process->used_count; i++) {
        const struct instrument *instrument = process->used[i];
        for (size_t j = 0; j < instrument->tally_count; j++) {
            const struct tally *tally = &instrument->tallies[j];
            if (!add_point(process, instrument, tally, span ? 0 : start,
                           span ? tally->minute_ns : time))
                return false;
        }
    }
    return true;
}

enum status process_export(struct process *process, int64_t now_ns, struct err *err)
{
    ASSERT(process);
    if (!process->running)
        return not_running(process, err);
    while (process->next_export_ns <= now_ns)
        process->next_export_ns += process->config.export_every_ns;
    if (!gather(process, now_ns))
        return no_memory(process, err);
    if (process->point_count == 0)
        return STATUS_OK;
    enum status status =
        collector_receive(process->collector, process->points, process->point_count, false, err);
    if (status == STATUS_IO) { /* the collector is down: nothing went out that could be re-sent */
        process->point_count = 0;
        return STATUS_OK;
    }
    if (status != STATUS_OK || process->temporality != TEMPORALITY_DELTA)
        return status;
    process->delta_from_ns = own_clock(process, now_ns);
    for (size_t i = 0; i < process->used_count; i++)
        process->used[i]->tally_count = 0;
    return STATUS_OK;
}

enum status process_resend(struct process *process, struct err *err)
{
    ASSERT(process);
    if (!process->running)
        return not_running(process, err);
    if (process->point_count == 0)
        return STATUS_OK;
    enum status status =
        collector_receive(process->collector, process->points, process->point_count, true, err);
    return status == STATUS_IO ? STATUS_OK : status;
}

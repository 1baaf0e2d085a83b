#include "sim/world/collector.h"

#include "core/base/assert.h"
#include "sim/limits.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Exports on their way: being batched, or waiting for their delay. */
struct parcel {
    struct series_point *points; /* copies; their counts in arena */
    size_t count;
    size_t capacity;
    int64_t exports;
    int64_t due_ns; /* when it goes out, once it is closed */
    struct arena arena;
    struct parcel *next;
};

struct collector {
    struct collector_config config;
    char *name;
    struct publisher *publisher;
    struct sched *sched;
    bool running;
    uint64_t sequence; /* of the last message id */
    char *id;          /* room for a message id */
    size_t id_size;
    struct err failure;            /* of a delayed parcel; STATUS_OK: none */
    struct parcel *open;           /* being batched; never NULL */
    struct parcel *delayed;        /* closed, the earliest first */
    struct series_point *gathered; /* points of one tenant, while they are sent */
    size_t gathered_capacity;
};

static struct parcel *parcel_new(void)
{
    struct parcel *parcel = calloc(1, sizeof(*parcel));
    if (parcel)
        arena_init(&parcel->arena, LIMIT_WORLD_BYTES);
    return parcel;
}

static void parcel_free(struct parcel *parcel)
{
    if (!parcel)
        return;
    free(parcel->points);
    arena_free(&parcel->arena);
    free(parcel);
}

static void parcel_empty(struct parcel *parcel)
{
    parcel->count = 0;
    parcel->exports = 0;
    arena_rewind(&parcel->arena);
}

struct collector *collector_new(const struct collector_config *config, struct publisher *publisher,
                                struct sched *sched)
{
    ASSERT(config && config->name && publisher);
    ASSERT(config->batch_exports >= 1 && config->split_points >= 0 && config->delay_ns >= 0);
    ASSERT(sched || config->delay_ns == 0);
    struct collector *collector = calloc(1, sizeof(*collector));
    if (!collector)
        return NULL;
    collector->config = *config;
    collector->publisher = publisher;
    collector->sched = sched;
    collector->running = true;
    collector->open = parcel_new();
    collector->name = strdup(config->name);
    collector->id_size = strlen(config->name) + sizeof("-18446744073709551615");
    collector->id = malloc(collector->id_size);
    if (!collector->open || !collector->name || !collector->id) {
        collector_free(collector);
        return NULL;
    }
    return collector;
}

static void drop_delayed(struct collector *collector)
{
    while (collector->delayed) {
        struct parcel *parcel = collector->delayed;
        collector->delayed = parcel->next;
        parcel_free(parcel);
    }
}

/* What never leaves is lost, but for cumulative series, whose next point holds it all. */
static void parcel_lose(const struct parcel *parcel)
{
    for (size_t i = 0; i < parcel->count; i++) {
        const struct series_point *point = &parcel->points[i];
        if (point->series->temporality == TEMPORALITY_DELTA && point->stream && !point->repeats)
            truth_lost(point->stream, point->count);
    }
}

void collector_free(struct collector *collector)
{
    if (!collector)
        return;
    drop_delayed(collector);
    parcel_free(collector->open);
    free(collector->gathered);
    free(collector->id);
    free(collector->name);
    free(collector);
}

static enum status no_memory(struct err *err)
{
    return err_set(err, STATUS_NO_MEMORY, NULL, "could not collect an export: out of memory");
}

/* ---- sending ---- */

static enum status send_message(struct collector *collector, const struct series_point *points,
                                size_t count, struct err *err)
{
    int size = snprintf(collector->id, collector->id_size, "%s-%" PRIu64, collector->name,
                        ++collector->sequence);
    ASSERT(size > 0 && (size_t)size < collector->id_size);
    const struct uuid *tenant = &points[0].series->telemetry->tenant;
    struct posting posting = {
        .msg_id = {(const uint8_t *)collector->id, (size_t)size},
        .tenant = *tenant,
        .stamp = STAMP_TENANT,
        .stamp_tenant = *tenant,
    };
    return publisher_send(collector->publisher, &posting, points, count, NULL, err);
}

/* One tenant's points, split. */
static enum status send_tenant(struct collector *collector, const struct series_point *points,
                               size_t count, struct err *err)
{
    size_t most =
        collector->config.split_points > 0 ? (size_t)collector->config.split_points : count;
    enum status status = STATUS_OK;
    for (size_t at = 0; at < count && status == STATUS_OK; at += most)
        status = send_message(collector, points + at, count - at < most ? count - at : most, err);
    return status;
}

static bool same_tenant(const struct series_point *a, const struct series_point *b)
{
    return uuid_compare(&a->series->telemetry->tenant, &b->series->telemetry->tenant) == 0;
}

static bool tenant_came_before(const struct parcel *parcel, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (same_tenant(&parcel->points[i], &parcel->points[index]))
            return true;
    return false;
}

static bool gather_reserve(struct collector *collector, size_t count)
{
    if (count <= collector->gathered_capacity)
        return true;
    void *grown = realloc(collector->gathered, count * sizeof(struct series_point));
    if (!grown)
        return false;
    collector->gathered = grown;
    collector->gathered_capacity = count;
    return true;
}

/* A message is of one tenant (the subject's): tenants in order of their first point. */
static enum status send_parcel(struct collector *collector, struct parcel *parcel, struct err *err)
{
    enum status status = STATUS_OK;
    if (!gather_reserve(collector, parcel->count))
        status = no_memory(err);
    for (size_t i = 0; i < parcel->count && status == STATUS_OK; i++) {
        if (tenant_came_before(parcel, i))
            continue;
        size_t used = 0;
        for (size_t j = i; j < parcel->count; j++)
            if (same_tenant(&parcel->points[i], &parcel->points[j]))
                collector->gathered[used++] = parcel->points[j];
        status = send_tenant(collector, collector->gathered, used, err);
    }
    parcel_empty(parcel);
    return status;
}

static void delay_event(void *argument)
{
    struct collector *collector = argument;
    struct err err;
    enum status status = STATUS_OK;
    /* a crash may have dropped what this event was for */
    while (collector->delayed && collector->delayed->due_ns <= sched_now_ns(collector->sched)) {
        struct parcel *parcel = collector->delayed;
        collector->delayed = parcel->next;
        status = send_parcel(collector, parcel, &err);
        parcel_free(parcel);
        if (status != STATUS_OK)
            collector->failure = err; /* told by the next receive or flush */
    }
}

static enum status tell_failure(const struct collector *collector, struct err *err)
{
    if (collector->failure.status != STATUS_OK)
        *err = collector->failure;
    return collector->failure.status;
}

/* Sends the open parcel, now or after the delay. */
static enum status close_parcel(struct collector *collector, struct err *err)
{
    if (collector->open->count == 0)
        return STATUS_OK;
    if (collector->config.delay_ns == 0)
        return send_parcel(collector, collector->open, err);
    struct parcel *fresh = parcel_new();
    if (!fresh)
        return no_memory(err);
    struct parcel **at = &collector->delayed;
    while (*at)
        at = &(*at)->next;
    *at = collector->open;
    collector->open->due_ns = sched_now_ns(collector->sched) + collector->config.delay_ns;
    collector->open = fresh;
    sched_at(collector->sched, (*at)->due_ns, delay_event, collector);
    return STATUS_OK;
}

/* ---- receiving ---- */

/* Adds a point to an earlier one of this export that cleaning made equal to it. */
static bool merge(struct parcel *parcel, size_t from, const struct series_point *point)
{
    for (size_t i = from; i < parcel->count; i++)
        if (series_point_merge(&parcel->points[i],
                               point)) /* its counts are the parcel's own copy */
            return true;
    return false;
}

static bool take_point(struct parcel *parcel, const struct series_point *point, bool repeats)
{
    if (parcel->count == parcel->capacity) {
        size_t capacity = parcel->capacity ? 2 * parcel->capacity : 32;
        struct series_point *grown = realloc(parcel->points, capacity * sizeof(*grown));
        if (!grown)
            return false;
        parcel->points = grown;
        parcel->capacity = capacity;
    }
    struct series_point *copy = &parcel->points[parcel->count];
    *copy = *point;
    copy->repeats = repeats;
    copy->counts =
        arena_copy(&parcel->arena, point->counts, point->counts_size * sizeof(*point->counts));
    if (!copy->counts)
        return false;
    parcel->count++;
    return true;
}

enum status collector_receive(struct collector *collector, const struct series_point *points,
                              size_t count, bool repeats, struct err *err)
{
    ASSERT(collector && (points || count == 0));
    if (!collector->running)
        return err_set(err, STATUS_IO, NULL, "could not export: collector \"%s\" is down",
                       collector->name);
    if (collector->failure.status != STATUS_OK)
        return tell_failure(collector, err);
    struct parcel *parcel = collector->open;
    size_t from = parcel->count;
    bool cleaned = false;
    for (size_t i = 0; i < count; i++)
        cleaned = cleaned || points[i].series->cleaned;
    for (size_t i = 0; i < count; i++) {
        if (cleaned && merge(parcel, from, &points[i]))
            continue;
        if (!take_point(parcel, &points[i], repeats))
            return no_memory(err);
    }
    parcel->exports++;
    if (parcel->exports < collector->config.batch_exports)
        return STATUS_OK;
    return close_parcel(collector, err);
}

enum status collector_flush(struct collector *collector, struct err *err)
{
    ASSERT(collector);
    enum status status = tell_failure(collector, err);
    while (collector->delayed && status == STATUS_OK) {
        struct parcel *parcel = collector->delayed;
        collector->delayed = parcel->next;
        status = send_parcel(collector, parcel, err);
        parcel_free(parcel);
    }
    if (status == STATUS_OK && collector->open->count > 0)
        status = send_parcel(collector, collector->open, err);
    return status;
}

void collector_crash(struct collector *collector)
{
    ASSERT(collector);
    for (const struct parcel *parcel = collector->delayed; parcel; parcel = parcel->next)
        parcel_lose(parcel);
    parcel_lose(collector->open);
    drop_delayed(collector);
    parcel_empty(collector->open);
    collector->running = false;
}

enum status collector_stop(struct collector *collector, struct err *err)
{
    enum status status = collector_flush(collector, err);
    collector->running = false;
    return status;
}

void collector_start(struct collector *collector)
{
    ASSERT(collector);
    collector->running = true;
}

bool collector_running(const struct collector *collector)
{
    return collector->running;
}

bool collector_delays(const struct collector *collector)
{
    return collector->delayed != NULL;
}

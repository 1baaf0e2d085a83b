/* Messages of a scenario: points, bytes and captured files, and what is sent once more. */
#include "sim/run/stage.h"

#include "core/base/limits.h"
#include "sim/base/file.h"
#include "sim/run/paths.h"
#include <stdlib.h>
#include <string.h>

static struct posting posting_of(struct stage *stage, const struct scenario_event *event,
                                 const char *msg_id)
{
    struct posting posting = {.tenant = stage->tenants[event->tenant], .stamp = STAMP_TENANT};
    posting.stamp_tenant = posting.tenant;
    if (event->stamp == SCENARIO_STAMP_NONE)
        posting.stamp = STAMP_NONE;
    if (event->stamp == SCENARIO_STAMP_OTHER)
        posting.stamp_tenant = stage->tenants[event->stamp_tenant];
    if (msg_id != NULL)
        posting.msg_id = bytes_of(msg_id);
    return posting;
}

static void convert_point(struct stage *stage, const struct scenario_point *from,
                          struct series_point *to)
{
    *to = (struct series_point){
        .series = stage->series[from->series],
        .start_unix_nano = (uint64_t)from->start_unix_nano,
        .time_unix_nano = (uint64_t)from->time_unix_nano,
        .counts = from->counts,
        .counts_size = from->counts_size,
        .count = from->count,
        .has_sum = from->has_sum,
        .sum = from->sum,
        .flags = from->flags,
    };
}

void stage_send(struct stage *stage, const struct scenario_event *event)
{
    struct series_point *points = calloc(event->point_count, sizeof(*points));
    struct err err = {0};
    enum status status = STATUS_NO_MEMORY;
    if (points != NULL) {
        for (size_t i = 0; i < event->point_count; i++)
            convert_point(stage, &event->points[i], &points[i]);
        struct posting posting = posting_of(stage, event, event->msg_id);
        status = publisher_send(stage->publisher, &posting, points, event->point_count, NULL, &err);
    }
    free(points);
    stage_event_done(stage, event, status, &err);
}

/* One point of a shorthand; which one is told by the item's place in the array. */
struct shorthand_point {
    const struct scenario_event *event;
    size_t index;
};

static void send_shorthand(void *context, void *item)
{
    struct stage *stage = context;
    struct shorthand_point *which = item;
    const struct scenario_event *event = which->event;
    struct series_point point;
    struct err err = {0};
    convert_point(stage, &event->points[which->index], &point);
    struct posting posting = posting_of(stage, event, event->msg_ids[which->index]);
    stage_event_done(stage, event,
                     publisher_send(stage->publisher, &posting, &point, 1, NULL, &err), &err);
}

static enum status read_captured(const struct stage *stage, const char *path, struct arena *arena,
                                 struct bytes *out, struct err *err)
{
    const char *name = path_data(stage->scenario->file, path, arena);
    if (name == NULL)
        return err_set(err, STATUS_NO_MEMORY, NULL, "no memory for the path of a file");
    return file_read(name, LIMIT_PAYLOAD_BYTES + 1, arena, out, err);
}

static enum payload_format format_of(const char *path)
{
    size_t size = strlen(path);
    bool json = size > 5 && strcmp(path + size - 5, ".json") == 0;
    return json ? PAYLOAD_JSON : PAYLOAD_PROTOBUF;
}

void stage_deliver(struct stage *stage, const struct scenario_event *event)
{
    struct posting posting = posting_of(stage, event, event->msg_id);
    struct err err = {0};
    enum status status;
    if (event->kind == SCENARIO_DELIVER_BYTES) {
        status = publisher_send_bytes(stage->publisher, &posting, event->bytes, NULL, &err);
    } else {
        struct bytes payload;
        struct arena scratch;
        arena_init(&scratch, 4 * LIMIT_PAYLOAD_BYTES);
        status = read_captured(stage, event->path, &scratch, &payload, &err);
        if (status == STATUS_OK)
            status = publisher_send_captured(stage->publisher, &posting, payload,
                                             format_of(event->path), NULL, &err);
        arena_free(&scratch);
    }
    stage_event_done(stage, event, status, &err);
}

void stage_send_again(struct stage *stage, const struct scenario_event *event)
{
    struct err err = {0};
    struct bytes msg_id = bytes_of(event->msg_id);
    bool duplicate;
    enum status status = event->kind == SCENARIO_REDELIVER
                             ? queue_redeliver(stage->queue, msg_id, &err)
                             : publisher_send_again(stage->publisher, msg_id, &duplicate, &err);
    stage_event_done(stage, event, status, &err);
}

bool stage_schedule_points(struct stage *stage, const struct scenario_event *event)
{
    struct shorthand_point *items =
        arena_array(&stage->arena, event->point_count + 1, sizeof(*items));
    for (size_t i = 0; items != NULL && i < event->point_count; i++) {
        items[i] = (struct shorthand_point){event, i};
        agenda_add(&stage->agenda, event->points[i].time_unix_nano, AGENDA_TRAFFIC,
                   event - stage->scenario->events, send_shorthand, stage, &items[i]);
    }
    return items != NULL;
}

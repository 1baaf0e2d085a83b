/* What every point adds: messages in queue order, the points of a message as the decoder sorted
 * them by (series, start, time). The rule of one point is core/model/point_rule.h; here is what it
 * is told about the stream, its process and the stream cap, and what its verdict changes for the
 * next point.
 */
#include "core/base/assert.h"
#include "core/base/time.h"
#include "core/model/point_rule.h"
#include "core/writer/work.h"

static int64_t earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* R-FIRST-2: any checked cumulative point of a message makes its process met, whatever the order in
 * which the streams of the message are judged. */
static void meet_message(struct work *work, size_t from, size_t until)
{
    for (size_t i = from; i < until; i++) {
        const struct work_point *point = &work->points[i];
        if (point->point->temporality != TEMPORALITY_CUMULATIVE)
            continue;
        struct work_process *process = &work->processes[point->process];
        int64_t time = point->point->time_unix_nano;
        process->message_first_point =
            process->message == point->entry ? earlier(process->message_first_point, time) : time;
        process->message = point->entry;
    }
}

static struct process_view view_process(const struct work *work, const struct work_point *point)
{
    const struct work_process *process = &work->processes[point->process];
    struct process_view view = {.seen = process->stored || process->accepted,
                                .tenant_overflowed = work->tenants[point->tenant].overflowed};
    int64_t first = INT64_MAX;
    if (process->stored)
        first = earlier(first, process->stored_first_point);
    if (process->accepted)
        first = earlier(first, process->accepted_first_point);
    if (rules_on(work->writer->rules, RULE_S1)) {
        ASSERT(process->message == point->entry);
        view.seen = true;
        first = earlier(first, process->message_first_point);
    }
    view.first_point_unix_nano = first;
    view.first_seen_long_ago =
        process->stored &&
        process->first_seen_at_us <= work->now_us - LIMIT_STATE_IDLE_DAYS * US_PER_DAY;
    return view;
}

/* MS "Writer state bounds": a new stream beyond the cap is refused, known ones go on. */
static bool over_stream_cap(const struct work *work, const struct work_point *point)
{
    return rules_on(work->writer->rules, RULE_A6) && !work->streams[point->stream].state.exists &&
           work->tenants[point->tenant].stream_count >=
               work->writer->settings.series_per_tenant_max;
}

/* The stored row and the process are touched by accepted points only (R-PT-5). */
static void accept(struct work *work, const struct work_point *point,
                   const struct point_verdict *verdict)
{
    struct work_stream *stream = &work->streams[point->stream];
    if (!stream->state.exists)
        work->tenants[point->tenant].stream_count++;
    stream->state = verdict->next;
    stream->state.exists = true;
    stream->changed = true;
    struct work_process *process = &work->processes[point->process];
    int64_t time = point->point->time_unix_nano;
    process->accepted_first_point =
        process->accepted ? earlier(process->accepted_first_point, time) : time;
    process->accepted = true;
}

static enum status judge_cumulative(struct work *work, struct work_point *point,
                                    enum point_outcome *outcome, struct err *err)
{
    struct work_stream *stream = &work->streams[point->stream];
    if (over_stream_cap(work, point)) {
        *outcome = POINT_REFUSED_CAP;
        return work_warn(&work->days[point->day], WARNING_CARDINALITY_OVERFLOW, 1, err);
    }
    struct process_view process = view_process(work, point);
    struct point_verdict verdict;
    point_rule(point->point, &stream->state, &process,
               work->writer->settings.first_point_threshold_ns, work->writer->rules, &verdict);
    *outcome = verdict.outcome;
    if (verdict.state_changed)
        accept(work, point, &verdict);
    if (verdict.count == 0)
        return STATUS_OK;
    struct histogram *counts;
    enum status status = work_array(work, 1, sizeof *counts, &counts, err);
    if (status != STATUS_OK)
        return status;
    *counts = verdict.counts;
    point->counts = counts;
    point->count = verdict.count;
    point->sum = verdict.sum;
    return STATUS_OK;
}

/* R-WARN-1, R-PT-7. Without A-8: exported points, whatever they add. */
static enum status warn(struct work *work, const struct work_point *point, struct err *err)
{
    bool requests = rules_on(work->writer->rules, RULE_A8);
    int64_t count = requests ? point->count : 1;
    const bool applies[WARNING_KIND_COUNT] = {
        [WARNING_LOSSY_HISTOGRAM] = point->point->lossy,
        [WARNING_COARSE_BUCKETS] = point->point->coarse && rules_on(work->writer->rules, RULE_A12),
        [WARNING_SECRET_IN_PATH] = point->point->redacted,
        [WARNING_SPAN_DERIVED] = point->point->source == SOURCE_SPAN,
    };
    enum status status = STATUS_OK;
    for (int kind = 0; kind < WARNING_KIND_COUNT && status == STATUS_OK; kind++)
        if (applies[kind])
            status = work_warn(&work->days[point->day], (enum warning_kind)kind, count, err);
    return status;
}

static enum status judge(struct work *work, struct work_point *point, struct err *err)
{
    enum point_outcome outcome;
    enum status status = STATUS_OK;
    if (point->point->temporality == TEMPORALITY_CUMULATIVE) {
        status = judge_cumulative(work, point, &outcome, err);
    } else { /* R-PT-5: a delta point adds what it says */
        point->counts = &point->point->histogram;
        point->count = point->point->count;
        point->sum = point->point->sum;
        outcome = point->count > 0 ? POINT_DELTA : POINT_UNCHANGED;
    }
    if (status != STATUS_OK)
        return status;
    ASSERT(point->count >= 0);
    point->outcome = outcome;
    work->tenants[point->tenant].outcomes[outcome]++;
    return outcome == POINT_REFUSED_CAP ? STATUS_OK : warn(work, point, err);
}

enum status judge_points(struct work *work, struct err *err)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; i < work->point_count && status == STATUS_OK;) {
        size_t until = i;
        while (until < work->point_count && work->points[until].entry == work->points[i].entry)
            until++;
        meet_message(work, i, until);
        for (; i < until && status == STATUS_OK; i++)
            status = judge(work, &work->points[i], err);
    }
    return status;
}

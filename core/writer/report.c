/* What is told of the points: each one's fate inside the transaction, for whoever explains a cell,
 * and the counters after the commit (R-OUT-1). */
#include "core/base/assert.h"
#include "core/base/time.h"
#include "core/writer/work.h"
#include <stdio.h>

static void tell_judged(const struct work *work, const struct work_point *point)
{
    struct meter *meter = work->writer->ports.meter;
    struct judgement judgement = {.delivery = point->entry->delivery,
                                  .point = point->point,
                                  .outcome = point->outcome,
                                  .counted = point->count};
    if (point->count > 0) {
        int64_t minute_ns = time_floor(point->point->time_unix_nano, NS_PER_MIN);
        judgement.bucket_start_us = minute_ns / NS_PER_US;
        judgement.service = fold_service(work, point);
        judgement.route = fold_route(work, point);
    }
    meter->judged(meter, &judgement);
}

/* Message by message: the good points in their order, then those that were refused. */
enum status report_judgements(struct work *work, struct err *err)
{
    (void)err;
    struct meter *meter = work->writer->ports.meter;
    if (!meter->judged)
        return STATUS_OK;
    size_t next = 0;
    for (size_t i = 0; i < work->entry_count; i++) {
        if (!work->is_new[i])
            continue;
        const struct entry *entry = work->entries[i];
        for (; next < work->point_count && work->points[next].entry == entry; next++)
            tell_judged(work, &work->points[next]);
        for (size_t p = entry->message.good_count; p < entry->message.point_count; p++) {
            const struct point *refused = &entry->message.points[p];
            struct judgement judgement = {
                .delivery = entry->delivery, .point = refused, .outcome = refused->refusal};
            meter->judged(meter, &judgement);
        }
    }
    ASSERT(next == work->point_count);
    return STATUS_OK;
}

/* What R-OUT-1 counts of the points of new messages, and the log of MS "Writer state bounds". */
void report_committed(const struct work *work)
{
    const struct writer_ports *ports = &work->writer->ports;
    for (size_t t = 0; t < work->tenant_count; t++) {
        const struct work_tenant *tenant = &work->tenants[t];
        for (int outcome = 0; outcome < POINT_OUTCOME_COUNT; outcome++)
            if (tenant->outcomes[outcome] > 0)
                ports->meter->points(ports->meter, &tenant->id, (enum point_outcome)outcome,
                                     tenant->outcomes[outcome]);
        if (tenant->skipped_metrics > 0)
            ports->meter->add(ports->meter, COUNTER_SKIPPED_METRICS, tenant->skipped_metrics);
        uint64_t refused = tenant->outcomes[POINT_REFUSED_CAP];
        if (refused > 0) {
            char id[UUID_TEXT_SIZE + 1];
            char text[160];
            uuid_format(&tenant->id, id);
            snprintf(text, sizeof text, "tenant %s: %llu points of new streams refused", id,
                     (unsigned long long)refused);
            ports->log->write(ports->log, LOG_WARNING, "stream_cap", text);
        }
    }
}

/* What the importer must know of a payload before it can be decoded as a message. */
#include "core/otlp/facts.h"
#include "core/otlp/message.h"
#include "core/otlp/pb.h"
#include "core/otlp/request.h"

static void add_times(const struct otlp_metric *metric, struct message_facts *facts)
{
    for (size_t i = 0; i < metric->point_count; i++) {
        uint64_t time = metric->points[i].time_unix_nano;
        if (time == 0 || time > INT64_MAX)
            continue;
        if (facts->oldest_ns == 0 || (int64_t)time < facts->oldest_ns)
            facts->oldest_ns = (int64_t)time;
        if ((int64_t)time > facts->newest_ns)
            facts->newest_ns = (int64_t)time;
    }
}

enum status message_peek(struct bytes payload, enum payload_format format, struct arena *arena,
                         struct message_facts *facts, struct err *err)
{
    struct otlp_request request;
    struct attributes attributes;
    *facts = (struct message_facts){0};
    enum status status = otlp_request_decode(payload, format, arena, &request, err);
    if (status == STATUS_OK && request.resource_count > 0)
        status = otlp_attributes_decode(&request.resources[0].attributes, arena, &attributes, err);
    if (status != STATUS_OK)
        return status;
    facts->holds_metrics = request.names_resources;
    if (request.resource_count > 0) {
        const struct attribute *stamp = attributes_find(attributes, "scf.tenant.id");
        facts->has_tenant = stamp != NULL && otlp_tenant_of(stamp, &facts->tenant);
    }
    for (size_t i = 0; i < request.resource_count; i++) {
        const struct otlp_resource *resource = &request.resources[i];
        for (size_t k = 0; k < resource->scope_count; k++)
            for (size_t m = 0; m < resource->scopes[k].metric_count; m++)
                add_times(&resource->scopes[k].metrics[m], facts);
    }
    return STATUS_OK;
}

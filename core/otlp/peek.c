/* What the importer must know of a payload before it can be decoded as a message. */
#include "core/otlp/facts.h"
#include "core/otlp/message.h"
#include "core/otlp/pb.h"
#include "core/otlp/request.h"

enum status message_peek_tenant(struct bytes payload, enum payload_format format,
                                struct arena *arena, struct uuid *tenant, struct err *err)
{
    struct otlp_request request;
    struct attributes attributes;
    enum status status = otlp_request_decode(payload, format, arena, &request, err);
    if (status != STATUS_OK)
        return status;
    if (request.resource_count == 0)
        return err_set(err, STATUS_INVALID, NULL, "the request has no resource");
    status = otlp_attributes_decode(&request.resources[0].attributes, arena, &attributes, err);
    if (status != STATUS_OK)
        return status;
    const struct attribute *stamp = attributes_find(attributes, "scf.tenant.id");
    if (stamp == NULL)
        return err_set(err, STATUS_INVALID, NULL,
                       "resource 0: attribute \"scf.tenant.id\" is missing");
    if (!otlp_tenant_of(stamp, tenant))
        return err_set(err, STATUS_INVALID, NULL,
                       "resource 0: attribute \"scf.tenant.id\" is not a uuid");
    return STATUS_OK;
}

static void newest_of_metric(const struct otlp_metric *metric, int64_t *newest_ns)
{
    for (size_t i = 0; i < metric->point_count; i++) {
        uint64_t time = metric->points[i].time_unix_nano;
        if (time <= INT64_MAX && (int64_t)time > *newest_ns)
            *newest_ns = (int64_t)time;
    }
}

enum status message_peek_newest(struct bytes payload, enum payload_format format,
                                struct arena *arena, int64_t *newest_ns, struct err *err)
{
    struct otlp_request request;
    enum status status = otlp_request_decode(payload, format, arena, &request, err);
    *newest_ns = 0;
    if (status != STATUS_OK)
        return status;
    for (size_t i = 0; i < request.resource_count; i++) {
        const struct otlp_resource *resource = &request.resources[i];
        for (size_t k = 0; k < resource->scope_count; k++)
            for (size_t m = 0; m < resource->scopes[k].metric_count; m++)
                newest_of_metric(&resource->scopes[k].metrics[m], newest_ns);
    }
    return STATUS_OK;
}

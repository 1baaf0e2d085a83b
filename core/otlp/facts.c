#include "core/otlp/facts.h"
#include "core/base/assert.h"
#include "core/base/limits.h"
#include "core/otlp/pb.h"
#include <stdio.h>

/* A text attribute that becomes a column: its bounds are those of MS "Metric tables". */
struct text_rule {
    const char *key;
    size_t size_max; /* bytes, not characters */
};

/* Where it was found, as a phrase. */
static void place_format(const struct facts_place *place, bool of_point, char out[64])
{
    if (of_point)
        snprintf(out, 64, "point %zu", place->point);
    else
        snprintf(out, 64, "resource %zu", place->resource);
}

static enum status text_check(const struct attribute *attribute, const struct text_rule *rule,
                              const char *where, struct err *err)
{
    if (attribute->type != ATTRIBUTE_STRING)
        return err_set(err, STATUS_INVALID, NULL, "%s: attribute \"%s\" is not a string", where,
                       rule->key);
    if (attribute->bytes.size > rule->size_max)
        return err_set(err, STATUS_INVALID, NULL,
                       "%s: attribute \"%s\" has %zu bytes, the most is %zu", where, rule->key,
                       attribute->bytes.size, rule->size_max);
    if (!text_is_storable(attribute->bytes))
        return err_set(err, STATUS_INVALID, NULL,
                       "%s: attribute \"%s\" is not UTF-8 or has a control character", where,
                       rule->key);
    return STATUS_OK;
}

/* Checks every value of the key; *out is the first, or "" when there is none. */
static enum status text_find(struct attributes attributes, const struct text_rule *rule,
                             const char *where, struct bytes *out, struct err *err)
{
    struct bytes key = bytes_of(rule->key);
    bool found = false;
    *out = (struct bytes){0};
    for (size_t i = 0; i < attributes.count; i++) {
        const struct attribute *attribute = &attributes.items[i];
        if (!bytes_equal(attribute->key, key))
            continue;
        enum status status = text_check(attribute, rule, where, err);
        if (status != STATUS_OK)
            return status;
        if (!found)
            *out = attribute->bytes;
        found = true;
    }
    return STATUS_OK;
}

bool otlp_tenant_of(const struct attribute *attribute, struct uuid *tenant)
{
    ASSERT(attribute != NULL);
    return attribute->type == ATTRIBUTE_STRING && uuid_parse(attribute->bytes, tenant);
}

/* Every scf.tenant.id must be the subject's: a message must not write into another tenant. */
static enum status tenant_check(struct attributes attributes, const struct uuid *tenant,
                                const char *where, struct err *err)
{
    struct bytes key = bytes_of("scf.tenant.id");
    bool found = false;
    for (size_t i = 0; i < attributes.count; i++) {
        struct uuid claimed;
        if (!bytes_equal(attributes.items[i].key, key))
            continue;
        found = true;
        if (!otlp_tenant_of(&attributes.items[i], &claimed))
            return err_set(err, STATUS_INVALID, NULL,
                           "%s: attribute \"scf.tenant.id\" is not a uuid", where);
        if (uuid_compare(&claimed, tenant) != 0) {
            char text[UUID_TEXT_SIZE + 1];
            char expected[UUID_TEXT_SIZE + 1];
            uuid_format(&claimed, text);
            uuid_format(tenant, expected);
            return err_set(err, STATUS_INVALID, NULL,
                           "%s: attribute \"scf.tenant.id\" is %s, the subject's tenant is %s",
                           where, text, expected);
        }
    }
    if (!found)
        return err_set(err, STATUS_INVALID, NULL, "%s: attribute \"scf.tenant.id\" is missing",
                       where);
    return STATUS_OK;
}

enum status otlp_resource_facts(const struct facts_context *context,
                                const struct otlp_attributes *attributes,
                                const struct facts_place *place, struct resource_facts *out,
                                struct err *err)
{
    static const struct text_rule service = {"service.name", LIMIT_SERVICE_BYTES};
    char where[64];
    struct attributes decoded;
    place_format(place, false, where);
    enum status status = otlp_attributes_decode(attributes, context->arena, &decoded, err);
    if (status == STATUS_OK)
        status = tenant_check(decoded, &context->tenant, where, err);
    if (status == STATUS_OK)
        status = text_find(decoded, &service, where, &out->service, err);
    if (status != STATUS_OK)
        return status;
    const struct attribute *redacted = attributes_find(decoded, "scf.redacted");
    out->redacted = redacted != NULL && redacted->type == ATTRIBUTE_BOOL && redacted->integer != 0;
    return identity_resource(context->hasher, decoded, context->arena, &out->hash, err);
}

static void status_code_find(struct attributes attributes, struct point_facts *out)
{
    const struct attribute *code = attributes_find(attributes, "http.response.status_code");
    out->status_code = 0;
    out->status_wrong = false;
    if (code == NULL)
        return;
    out->status_wrong = code->type != ATTRIBUTE_INT || code->integer < 100 || code->integer > 599;
    if (!out->status_wrong)
        out->status_code = (int16_t)code->integer;
}

enum status otlp_point_facts(const struct facts_context *context, const struct otlp_scope *scope,
                             const struct otlp_metric *metric,
                             const struct otlp_attributes *attributes,
                             const struct sha256 *resource_hash, const struct facts_place *place,
                             struct point_facts *out, struct err *err)
{
    static const struct text_rule method = {"http.request.method", LIMIT_METHOD_BYTES};
    static const struct text_rule route = {"http.route", LIMIT_ROUTE_BYTES};
    char where[64];
    struct attributes decoded;
    place_format(place, true, where);
    enum status status = otlp_attributes_decode(attributes, context->arena, &decoded, err);
    if (status == STATUS_OK)
        status = text_find(decoded, &method, where, &out->method, err);
    if (status == STATUS_OK)
        status = text_find(decoded, &route, where, &out->route, err);
    if (status == STATUS_OK)
        status = attributes_repeated(decoded, context->arena, &out->repeated, err);
    if (status != STATUS_OK)
        return status;
    status_code_find(decoded, out);
    if (out->repeated)
        return STATUS_OK;
    struct series_identity identity = {.tenant = &context->tenant,
                                       .resource_hash = resource_hash,
                                       .scope_name = scope->name,
                                       .scope_version = scope->version,
                                       .metric_name = metric->name,
                                       .attributes = decoded};
    return identity_series(context->hasher, &identity, context->rules, context->arena, &out->hash,
                           err);
}

/* What the attributes of a resource or of a point say, once they are decoded and checked.
 *
 * The checks here are those of a whole message (R-DEC-3): a failing one condemns the message.
 */
#ifndef CORE_OTLP_FACTS_H
#define CORE_OTLP_FACTS_H

#include "core/model/identity.h"
#include "core/otlp/request.h"

struct resource_facts {
    struct sha256 hash;   /* resource_hash */
    struct bytes service; /* "" when absent */
    bool redacted;        /* scf.redacted is true (R-WARN-1) */
};

struct point_facts {
    struct sha256 hash; /* series_hash; not set when repeated */
    struct bytes method;
    struct bytes route;
    int16_t status_code; /* 0 when absent */
    bool status_wrong;   /* present, but no integer 100..599 */
    bool repeated;       /* a key occurs twice */
};

/* Everything the hashes take apart from the attributes. */
struct facts_context {
    struct sha256_hasher *hasher;
    struct rules rules;
    struct uuid tenant;  /* the subject's */
    struct arena *arena; /* scratch, and the memory of the texts */
};

/* Where an attribute stands, for error texts. */
struct facts_place {
    size_t resource;
    size_t point; /* counted over the whole request */
};

/* STATUS_INVALID names the check. With a repeated key, every value must pass and the first is
 * used. */
enum status otlp_resource_facts(const struct facts_context *context,
                                const struct otlp_attributes *attributes,
                                const struct facts_place *place, struct resource_facts *out,
                                struct err *err);

enum status otlp_point_facts(const struct facts_context *context, const struct otlp_scope *scope,
                             const struct otlp_metric *metric,
                             const struct otlp_attributes *attributes,
                             const struct sha256 *resource_hash, const struct facts_place *place,
                             struct point_facts *out, struct err *err);

/* The tenant of a resource: the value of scf.tenant.id, as text; false when it is no uuid. */
bool otlp_tenant_of(const struct attribute *attribute, struct uuid *tenant);

#endif

/* Names of outcomes (R-OUT-1). */
#include "core/model/outcome.h"
#include "core/base/assert.h"

const char *point_outcome_name(enum point_outcome outcome)
{
    static const char *const names[POINT_OUTCOME_COUNT] = {
        [POINT_FIRST_FULL] = "first_full",
        [POINT_BASELINE] = "baseline",
        [POINT_CATCH_UP] = "catch_up",
        [POINT_DELTA] = "delta",
        [POINT_UNCHANGED] = "unchanged",
        [POINT_RESET] = "reset",
        [POINT_DUPLICATE] = "duplicate",
        [POINT_OUT_OF_ORDER] = "out_of_order",
        [POINT_REFUSED_CAP] = "refused_cap",
        [POINT_NO_VALUE] = "no_value",
        [POINT_REJECTED_ATTRIBUTES] = "rejected_attributes",
        [POINT_REJECTED_TYPE] = "rejected_type",
        [POINT_REJECTED_TEMPORALITY] = "rejected_temporality",
        [POINT_REJECTED_UNIT] = "rejected_unit",
        [POINT_REJECTED_INTERVAL] = "rejected_interval",
        [POINT_REJECTED_TOO_OLD] = "rejected_too_old",
        [POINT_REJECTED_FUTURE] = "rejected_future",
        [POINT_REJECTED_SHAPE] = "rejected_shape",
        [POINT_REJECTED_OVERFLOW] = "rejected_overflow",
        [POINT_REJECTED_SUM] = "rejected_sum",
        [POINT_REJECTED_STATUS] = "rejected_status",
    };
    ASSERT((unsigned)outcome < POINT_OUTCOME_COUNT);
    ASSERT(names[outcome]);
    return names[outcome];
}

const char *message_outcome_name(enum message_outcome outcome)
{
    static const char *const names[MESSAGE_OUTCOME_COUNT] = {
        [MESSAGE_APPLIED] = "applied",
        [MESSAGE_ALREADY_APPLIED] = "already_applied",
        [MESSAGE_DEAD_VALIDATION] = "dead_validation",
        [MESSAGE_DEAD_DATA_ERROR] = "dead_data_error",
        [MESSAGE_DEAD_RETRIES] = "dead_retries",
        [MESSAGE_DEAD_ID_CONFLICT] = "dead_id_conflict",
        [MESSAGE_DEAD_TENANT] = "dead_tenant",
        [MESSAGE_RETRY] = "retry",
    };
    ASSERT((unsigned)outcome < MESSAGE_OUTCOME_COUNT);
    ASSERT(names[outcome]);
    return names[outcome];
}

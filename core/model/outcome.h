/* The named outcomes (R-OUT-1): what became of every point and of every message. One each. */
#ifndef CORE_MODEL_OUTCOME_H
#define CORE_MODEL_OUTCOME_H

enum point_outcome {
    POINT_FIRST_FULL,
    POINT_BASELINE,
    POINT_CATCH_UP,
    POINT_DELTA,
    POINT_UNCHANGED,
    POINT_RESET,
    POINT_DUPLICATE,
    POINT_OUT_OF_ORDER,
    POINT_REFUSED_CAP,
    POINT_NO_VALUE,
    POINT_REJECTED_ATTRIBUTES,
    POINT_REJECTED_TYPE,
    POINT_REJECTED_TEMPORALITY,
    POINT_REJECTED_UNIT,
    POINT_REJECTED_INTERVAL,
    POINT_REJECTED_TOO_OLD,
    POINT_REJECTED_FUTURE,
    POINT_REJECTED_SHAPE,
    POINT_REJECTED_OVERFLOW,
    POINT_REJECTED_SUM,
    POINT_REJECTED_STATUS,
    POINT_OUTCOME_COUNT
};

enum message_outcome {
    MESSAGE_APPLIED,
    MESSAGE_ALREADY_APPLIED,
    MESSAGE_DEAD_VALIDATION,
    MESSAGE_DEAD_DATA_ERROR,
    MESSAGE_DEAD_RETRIES,
    MESSAGE_DEAD_ID_CONFLICT,
    MESSAGE_DEAD_TENANT,
    MESSAGE_RETRY,
    MESSAGE_OUTCOME_COUNT
};

/* "first_full", "dead_validation", ...; never NULL. */
const char *point_outcome_name(enum point_outcome outcome);
const char *message_outcome_name(enum message_outcome outcome);

#endif

/* The switches: audit fixes A-n of MS and holes S-n found by simulation, one bit each.
 *
 * Code asks rules_on(rules, RULE_A5) at the one place that matters. No other test mode exists in
 * core. Which rule does what: core/CONTRACT.md.
 */
#ifndef CORE_BASE_RULES_H
#define CORE_BASE_RULES_H

#include "core/base/err.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum rule {
    RULE_A1,
    RULE_A2,
    RULE_A5,
    RULE_A6,
    RULE_A8,
    RULE_A9,
    RULE_A10,
    RULE_A12,
    RULE_A14,
    RULE_S1,
    RULE_S2,
    RULE_S3,
    RULE_S4,
    RULE_S5,
    RULE_S6,
    RULE_S7,
    RULE_S8,
    RULE_S9,
    RULE_S10,
    RULE_S11,
    RULE_S12,
    RULE_S13,
    RULE_S14,
    RULE_COUNT
};

struct rules {
    uint32_t bits; /* bit n = enum rule n */
};

struct rule_info {
    const char *id;    /* "A-5" */
    const char *title; /* what is right when it is on, in a few words */
    bool on_by_default;
};

extern const struct rule_info rule_infos[RULE_COUNT];

bool rules_on(struct rules rules, enum rule rule);
struct rules rules_default(void);

/* Applies words to rules, left to right: "-A-5", "+S-8", "strict" (all on), "letter" (every S off),
 * "default". Words are separated by spaces or commas.
 * STATUS_INVALID with the unknown word, and the nearest known one as the hint. */
enum status rules_parse(const char *text, size_t size, struct rules *rules, struct err *err);

#endif

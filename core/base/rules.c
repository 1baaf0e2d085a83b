/* The table of switches and the words that set them. */
#include "core/base/rules.h"
#include "core/base/assert.h"
#include "core/base/nearest.h"
#include <stdio.h>
#include <string.h>

_Static_assert(RULE_COUNT <= 32, "struct rules has 32 bits");

/* S-2, S-5, S-6 and S-8 contradict the letter of MS, so they are off unless asked for. */
const struct rule_info rule_infos[RULE_COUNT] = {
    [RULE_A1] = {"A-1", "one poison message does not stall the queue", true},
    [RULE_A2] = {"A-2", "the rollup never recomputes an hour that a writer has open", true},
    [RULE_A5] = {"A-5", "a long export interval loses no first interval (catch_up)", true},
    [RULE_A6] = {"A-6", "streams per tenant are capped", true},
    [RULE_A8] = {"A-8", "warnings count requests, not exports", true},
    [RULE_A9] = {"A-9", "a mark without its minute partition stops no other hour", true},
    [RULE_A10] = {"A-10", "days are 24 hours of UTC, never of the session time zone", true},
    [RULE_A12] = {"A-12", "coarse source buckets are counted as coarse_buckets", true},
    [RULE_A14] = {"A-14", "minutes are kept for at least 8 days", true},
    [RULE_S1] = {"S-1", "one export split over messages does not make itself known", true},
    [RULE_S2] = {"S-2", "catch-up only while the first point is at most 1 h old", false},
    [RULE_S3] = {"S-3", "the instrumentation scope is part of a stream's identity", true},
    [RULE_S4] = {"S-4", "a point far in the future is refused", true},
    [RULE_S5] = {"S-5", "a stream met after an overflow starts from a baseline", false},
    [RULE_S6] = {"S-6", "a stream whose state may have been pruned starts from a baseline", false},
    [RULE_S7] = {"S-7", "an id used by another tenant never silences a message", true},
    [RULE_S8] = {"S-8", "a missing partition stalls the queue instead of losing its traffic",
                 false},
    [RULE_S9] = {"S-9", "a batch over many hours is split before the lock table overflows", true},
    [RULE_S10] = {"S-10", "two rollups never recompute one day at once", true},
    [RULE_S11] = {"S-11", "nothing is written for a removed tenant", true},
    [RULE_S12] = {"S-12", "a point of no duration contributes nothing", true},
    [RULE_S13] = {"S-13", "two writers never judge one stream from the same state", true},
    [RULE_S14] = {"S-14", "the drift check compares buckets, not only counts", true},
};

bool rules_on(struct rules rules, enum rule rule)
{
    ASSERT((unsigned)rule < RULE_COUNT);
    return (rules.bits >> rule & 1) != 0;
}

static void switch_rule(struct rules *rules, size_t rule, bool on)
{
    uint32_t bit = UINT32_C(1) << rule;
    rules->bits = on ? rules->bits | bit : rules->bits & ~bit;
}

struct rules rules_default(void)
{
    struct rules rules = {0};
    for (size_t i = 0; i < RULE_COUNT; i++)
        switch_rule(&rules, i, rule_infos[i].on_by_default);
    return rules;
}

static bool apply_preset(struct bytes word, struct rules *rules)
{
    if (bytes_equal(word, bytes_of("default"))) {
        *rules = rules_default();
        return true;
    }
    bool strict = bytes_equal(word, bytes_of("strict"));
    bool letter = bytes_equal(word, bytes_of("letter"));
    for (size_t i = 0; i < RULE_COUNT; i++) {
        if (strict)
            switch_rule(rules, i, true);
        else if (letter && rule_infos[i].id[0] == 'S')
            switch_rule(rules, i, false);
    }
    return strict || letter;
}

static bool apply_switch(struct bytes word, struct rules *rules)
{
    if (word.size < 2 || (word.data[0] != '+' && word.data[0] != '-'))
        return false;
    struct bytes id = {word.data + 1, word.size - 1};
    for (size_t i = 0; i < RULE_COUNT; i++) {
        if (bytes_equal(id, bytes_of(rule_infos[i].id))) {
            switch_rule(rules, i, word.data[0] == '+');
            return true;
        }
    }
    return false;
}

static enum status unknown_word(struct bytes word, struct err *err)
{
    struct nearest nearest = nearest_begin(word);
    char known[2 * RULE_COUNT][8]; /* "+A-1", "-A-1", ... */
    for (size_t i = 0; i < RULE_COUNT; i++) {
        for (size_t off = 0; off < 2; off++) {
            char *text = known[2 * i + off];
            snprintf(text, sizeof known[0], "%c%s", off ? '-' : '+', rule_infos[i].id);
            nearest_offer(&nearest, text);
        }
    }
    nearest_offer(&nearest, "strict");
    nearest_offer(&nearest, "letter");
    nearest_offer(&nearest, "default");
    err_set(err, STATUS_INVALID, NULL, "unknown rule \"%.*s\"", (int)word.size,
            (const char *)word.data);
    if (nearest_name(&nearest))
        err_hint(err, "did you mean \"%s\"?", nearest_name(&nearest));
    else
        err_hint(err, "write -A-5 or +S-8, or strict, letter, default");
    return STATUS_INVALID;
}

enum status rules_parse(const char *text, size_t size, struct rules *rules, struct err *err)
{
    ASSERT(text || size == 0);
    ASSERT(rules && err);
    struct rules parsed = *rules;
    for (size_t at = 0; at < size;) {
        if (text[at] == ' ' || text[at] == ',') {
            at++;
            continue;
        }
        size_t end = at;
        while (end < size && text[end] != ' ' && text[end] != ',')
            end++;
        struct bytes word = {(const uint8_t *)text + at, end - at};
        if (!apply_preset(word, &parsed) && !apply_switch(word, &parsed))
            return unknown_word(word, err);
        at = end;
    }
    *rules = parsed;
    return STATUS_OK;
}

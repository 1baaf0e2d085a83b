/* Layer 3 of MS "Poison messages" (A-1, R-Q-3): what becomes of a batch that the database refuses.
 *
 *   whole slice in one transaction
 *     ok                       settle
 *     stale, stopped           put all back and say so
 *     transient                put all back
 *     refused, A-1 off         put all back, for ever
 *     refused                  each message alone, in queue order:
 *                                transient            put back
 *                                data error (22, 23)  dead_data_error at once
 *                                                     (S-8: a missing partition inside the window
 *                                                     stalls: put back)
 *                                other                put back; dead_retries from the 5th delivery
 *                                                     on, if another message was applied lately
 */
#include "core/base/assert.h"
#include "core/base/time.h"
#include "core/writer/batch.h"
#include <string.h>

void guard_applied(struct guard *guard, struct bytes msg_id, int64_t now_ns)
{
    ASSERT(msg_id.size >= 1 && msg_id.size <= sizeof guard->newest_id);
    struct bytes newest = {guard->newest_id, guard->newest_id_size};
    if (newest.size > 0 && !bytes_equal(newest, msg_id)) {
        guard->has_other = true;
        guard->other_ns = guard->newest_ns;
    }
    memcpy(guard->newest_id, msg_id.data, msg_id.size);
    guard->newest_id_size = msg_id.size;
    guard->newest_ns = now_ns;
}

bool guard_met(const struct guard *guard, struct bytes msg_id, int64_t now_ns)
{
    struct bytes newest = {guard->newest_id, guard->newest_id_size};
    if (newest.size == 0)
        return false;
    bool same = bytes_equal(newest, msg_id);
    if (same && !guard->has_other)
        return false;
    int64_t applied_ns = same ? guard->other_ns : guard->newest_ns;
    return now_ns - applied_ns <= LIMIT_GUARD_SECONDS * NS_PER_S;
}

/* S-8: the partition of a day that the partition job must keep is missing. The database says 23514
 * for a broken check too; only the message tells them apart (the server speaks C locale). */
static bool partition_is_missing(const struct writer *writer, const struct entry *entry,
                                 const struct err *why)
{
    if (strcmp(why->sqlstate, "23514") != 0 || !strstr(why->message, "no partition of relation"))
        return false;
    int64_t today = time_div(writer->ports.clock->now_ns(writer->ports.clock), NS_PER_DAY);
    for (size_t i = 0; i < entry->message.good_count; i++) {
        int64_t day = time_div(entry->message.points[i].time_unix_nano, NS_PER_DAY);
        if (day < today - LIMIT_POINT_AGE_DAYS || day > today + LIMIT_MINUTE_DAYS_AHEAD)
            return false;
    }
    return true;
}

/* The fate of a message that was refused alone, outside the transient classes. */
static enum message_outcome refused_alone(const struct writer *writer, const struct entry *entry,
                                          enum status status, const struct err *why)
{
    const struct delivery *delivery = entry->delivery;
    if (status == STATUS_DATA) {
        bool stall = rules_on(writer->rules, RULE_S8) && partition_is_missing(writer, entry, why);
        return stall ? MESSAGE_RETRY : MESSAGE_DEAD_DATA_ERROR;
    }
    int64_t now_ns = writer->ports.clock->now_ns(writer->ports.clock);
    if (delivery->deliveries >= LIMIT_DELIVERIES &&
        guard_met(&writer->guard, delivery->msg_id, now_ns))
        return MESSAGE_DEAD_RETRIES;
    return MESSAGE_RETRY;
}

static bool ends_the_run(enum status status)
{
    return status == STATUS_STALE || status == STATUS_STOPPED;
}

static enum status isolate(struct writer *writer, struct entry *entries, size_t count,
                           struct err *err)
{
    enum status first = STATUS_OK;
    for (size_t i = 0; i < count; i++) {
        if (entries[i].decided)
            continue;
        struct err why = {0};
        enum status status = transaction_apply(writer, &entries[i], 1, &why);
        if (ends_the_run(status)) {
            settle_put_back(writer, entries + i, count - i, &why, err);
            *err = why;
            return status;
        }
        if (status == STATUS_TRANSIENT)
            entry_decide(&entries[i], MESSAGE_RETRY, &why);
        else if (status != STATUS_OK)
            entry_decide(&entries[i], refused_alone(writer, &entries[i], status, &why), &why);
        struct err later = {0};
        enum status settled = settle(writer, &entries[i], 1, &later);
        if (settled != STATUS_OK && first == STATUS_OK) {
            first = settled;
            *err = later;
        }
    }
    return first;
}

enum status poison_apply(struct writer *writer, struct entry *entries, size_t count,
                         struct err *err)
{
    ASSERT(count >= 1);
    struct err why = {0};
    enum status status = transaction_apply(writer, entries, count, &why);
    enum status settled;
    if (status == STATUS_OK) {
        settled = settle(writer, entries, count, err);
    } else if (ends_the_run(status)) {
        settle_put_back(writer, entries, count, &why, err);
        *err = why;
        settled = status;
    } else if (status == STATUS_TRANSIENT || !rules_on(writer->rules, RULE_A1)) {
        settled = settle_put_back(writer, entries, count, &why, err);
    } else {
        settled = settle(writer, entries, count, err); /* those that were decided on the way */
        struct err later = {0};
        enum status isolated = isolate(writer, entries, count, &later);
        if (isolated != STATUS_OK) {
            settled = isolated;
            *err = later;
        }
    }
    return settled;
}

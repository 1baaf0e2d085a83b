/* How much of a batch one transaction may hold: at most LIMIT_HOURS_PER_TX hour locks (R-TX-2,
 * S-9). One more would overflow the lock table: 53200, which is transient, so the batch would be
 * retried for ever. A single message over the bound goes alone.
 */
#include "core/base/assert.h"
#include "core/base/time.h"
#include "core/writer/batch.h"
#include <stdlib.h>

struct tenant_hour {
    struct uuid tenant;
    int64_t hour;
};

static int compare_hours(const void *a, const void *b)
{
    const struct tenant_hour *x = a;
    const struct tenant_hour *y = b;
    int order = uuid_compare(&x->tenant, &y->tenant);
    return order ? order : (x->hour > y->hour) - (x->hour < y->hour);
}

/* Sorts, and drops repeats. */
static size_t distinct(struct tenant_hour *hours, size_t count)
{
    qsort(hours, count, sizeof *hours, compare_hours);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || compare_hours(&hours[kept - 1], &hours[i]) != 0)
            hours[kept++] = hours[i];
    return kept;
}

/* Appends the hours of a message's good points, most of which follow each other. */
static size_t append(struct tenant_hour *hours, size_t count, const struct message *message)
{
    for (size_t i = 0; i < message->good_count; i++) {
        struct tenant_hour hour = {message->tenant,
                                   time_div(message->points[i].time_unix_nano, NS_PER_HOUR)};
        if (count == 0 || compare_hours(&hours[count - 1], &hour) != 0)
            hours[count++] = hour;
    }
    return count;
}

size_t split_hours(struct writer *writer, const struct entry *entries, size_t count)
{
    ASSERT(count >= 1);
    if (!rules_on(writer->rules, RULE_S9))
        return count;
    size_t largest = 0;
    for (size_t i = 0; i < count; i++)
        if (!entries[i].decided && entries[i].message.good_count > largest)
            largest = entries[i].message.good_count;
    arena_rewind(&writer->tx);
    struct tenant_hour *hours =
        arena_array(&writer->tx, LIMIT_HOURS_PER_TX + largest, sizeof *hours);
    if (!hours)
        return 1;
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (entries[i].decided)
            continue;
        kept = distinct(hours, append(hours, kept, &entries[i].message));
        if (i > 0 && kept > LIMIT_HOURS_PER_TX)
            return i;
        if (kept > LIMIT_HOURS_PER_TX)
            return 1;
    }
    return count;
}

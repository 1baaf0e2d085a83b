#include "sim/run/agenda.h"

#include "core/base/assert.h"
#include <stdlib.h>

static bool before(const struct agenda_entry *a, const struct agenda_entry *b)
{
    if (a->time_ns != b->time_ns)
        return a->time_ns < b->time_ns;
    if (a->class != b->class)
        return a->class < b->class;
    if (a->place != b->place)
        return a->place < b->place;
    return a->sequence < b->sequence;
}

void agenda_init(struct agenda *agenda, struct sched *sched)
{
    *agenda = (struct agenda){.sched = sched, .armed_ns = INT64_MAX};
}

void agenda_free(struct agenda *agenda)
{
    free(agenda->entries);
    agenda->entries = NULL;
    agenda->count = agenda->capacity = 0;
}

static void sift_up(struct agenda *agenda, size_t at)
{
    struct agenda_entry entry = agenda->entries[at];
    while (at > 0 && before(&entry, &agenda->entries[(at - 1) / 2])) {
        agenda->entries[at] = agenda->entries[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    agenda->entries[at] = entry;
}

static struct agenda_entry pop(struct agenda *agenda)
{
    ASSERT(agenda->count > 0);
    struct agenda_entry top = agenda->entries[0];
    struct agenda_entry last = agenda->entries[--agenda->count];
    size_t at = 0;
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= agenda->count)
            break;
        if (child + 1 < agenda->count &&
            before(&agenda->entries[child + 1], &agenda->entries[child]))
            child++;
        if (!before(&agenda->entries[child], &last))
            break;
        agenda->entries[at] = agenda->entries[child];
        at = child;
    }
    if (agenda->count > 0)
        agenda->entries[at] = last;
    return top;
}

static void arm(struct agenda *agenda);

static void tick(void *argument)
{
    struct agenda *agenda = argument;
    int64_t now = sched_now_ns(agenda->sched);
    if (agenda->armed_ns <= now)
        agenda->armed_ns = INT64_MAX;
    while (agenda->count > 0 && agenda->entries[0].time_ns <= now) {
        struct agenda_entry entry = pop(agenda);
        entry.action(entry.context, entry.item);
    }
    arm(agenda);
}

static void arm(struct agenda *agenda)
{
    if (agenda->count == 0 || agenda->entries[0].time_ns >= agenda->armed_ns)
        return;
    agenda->armed_ns = agenda->entries[0].time_ns;
    sched_at(agenda->sched, agenda->armed_ns, tick, agenda);
}

void agenda_add(struct agenda *agenda, int64_t time_ns, enum agenda_class class, int64_t place,
                agenda_action *action, void *context, void *item)
{
    ASSERT(time_ns >= sched_now_ns(agenda->sched));
    if (agenda->count == agenda->capacity) {
        size_t capacity = agenda->capacity == 0 ? 64 : agenda->capacity * 2;
        struct agenda_entry *grown = realloc(agenda->entries, capacity * sizeof(*grown));
        if (grown == NULL) {
            agenda->exhausted = true;
            return;
        }
        agenda->entries = grown;
        agenda->capacity = capacity;
    }
    agenda->entries[agenda->count] = (struct agenda_entry){
        .time_ns = time_ns,
        .class = class,
        .place = place,
        .sequence = agenda->next_sequence++,
        .action = action,
        .context = context,
        .item = item,
    };
    sift_up(agenda, agenda->count++);
    arm(agenda);
}

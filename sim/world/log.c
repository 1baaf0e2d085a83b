#include "sim/world/log.h"

#include "core/base/assert.h"
#include "sim/limits.h"
#include <stdlib.h>
#include <string.h>

const char *log_level_name(enum log_level level)
{
    static const char *const names[] = {"info", "warning", "error"};
    ASSERT((size_t)level < sizeof(names) / sizeof(names[0]));
    return names[level];
}

static const char *keep(struct log_book *book, const char *text)
{
    return arena_copy(&book->arena, text, strlen(text));
}

static void write_entry(struct log *port, enum log_level level, const char *event, const char *text)
{
    struct log_book *book = (struct log_book *)port;
    ASSERT(event && text);
    if (book->count == book->capacity) {
        size_t capacity = book->capacity ? 2 * book->capacity : 64;
        struct log_entry *grown = realloc(book->entries, capacity * sizeof(*grown));
        if (!grown) {
            book->overflowed = true;
            return;
        }
        book->entries = grown;
        book->capacity = capacity;
    }
    struct actor *actor = book->sched ? sched_current(book->sched) : NULL;
    struct log_entry entry = {
        .time_ns = book->sched ? sched_now_ns(book->sched) : 0,
        .actor = keep(book, actor ? actor_name(actor) : ""),
        .level = level,
        .event = keep(book, event),
        .text = keep(book, text),
    };
    if (!entry.actor || !entry.event || !entry.text) {
        book->overflowed = true;
        return;
    }
    book->entries[book->count++] = entry;
}

void log_book_init(struct log_book *book, struct sched *sched)
{
    ASSERT(book);
    *book = (struct log_book){.port = {write_entry}, .sched = sched};
    arena_init(&book->arena, LIMIT_LOG_BYTES);
}

void log_book_free(struct log_book *book)
{
    free(book->entries);
    arena_free(&book->arena);
}

size_t log_book_count(const struct log_book *book, enum log_level level, const char *event)
{
    size_t count = 0;
    for (size_t i = 0; i < book->count; i++) {
        const struct log_entry *entry = &book->entries[i];
        count += entry->level == level && (!event || strcmp(entry->event, event) == 0);
    }
    return count;
}

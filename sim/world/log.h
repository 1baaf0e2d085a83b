/* Collects what core logs, with the time and the actor. */
#ifndef SIM_WORLD_LOG_H
#define SIM_WORLD_LOG_H

#include "core/port/ports.h"
#include "sim/sched/sched.h"
#include <stddef.h>

struct log_entry {
    int64_t time_ns;
    const char *actor; /* "" for the world */
    enum log_level level;
    const char *event;
    const char *text;
};

struct log_book {
    struct log port;
    struct sched *sched; /* names the running actor; NULL: time 0, actor "" */
    struct arena arena;
    struct log_entry *entries; /* in order */
    size_t count;
    size_t capacity;
    bool overflowed; /* LIMIT_LOG_BYTES was reached; later entries are lost */
};

/* "info", "warning", "error". */
const char *log_level_name(enum log_level level);

void log_book_init(struct log_book *book, struct sched *sched);
void log_book_free(struct log_book *book);

/* Entries of that level and event; event NULL: any. */
size_t log_book_count(const struct log_book *book, enum log_level level, const char *event);

#endif

/* The image log of open transactions, which is also the table of row locks: one entry for each row
 * (table, key) that an open transaction has changed or locked, with the row's first old image. A
 * row is in at most one transaction's list. New images are not kept: the database has them.
 */
#ifndef SIM_SQLITE_ROW_LOG_H
#define SIM_SQLITE_ROW_LOG_H

#include "core/base/arena.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TABLES_MAX 64 /* a set of tables is a bit mask */

/* A key to look up: borrowed bytes (image.h) and their hash with the table. */
struct row_key {
    uint64_t hash;
    const uint8_t *data;
    uint32_t size;
    uint32_t table;
};
struct row_key row_key_make(uint32_t table, const uint8_t *data, size_t size);

struct row_entry {
    struct row_entry *next; /* of the same transaction, newest first */
    void *owner;
    struct row_key key;
    const uint8_t *old; /* the rest of the row before the transaction; NULL: there was no row */
    bool changed;       /* false: locked only, nothing to undo */
    bool deleted; /* was deleted at some time: whoever follows the old version finds its end */
};

/* The rows of one transaction. */
struct row_list {
    struct row_entry *first;
    size_t count;
    struct arena arena;
    uint64_t tables;  /* that have an entry */
    uint64_t changed; /* that have a changed entry */
};

struct row_slot {
    uint64_t hash;
    struct row_entry *entry; /* NULL: free */
};
struct row_log {
    struct row_slot *slots;
    size_t capacity; /* 0 or a power of two */
    size_t count;
};

void row_log_free(struct row_log *log);
/* Forgets all entries; the lists are the caller's to reset. */
void row_log_clear(struct row_log *log);

/* The entry of a key, or NULL. */
struct row_entry *row_log_find(const struct row_log *log, const struct row_key *key);
/* A new entry, locked only, of a key that has none; copies the key. NULL: out of memory. */
struct row_entry *row_log_add(struct row_log *log, struct row_list *list, void *owner,
                              const struct row_key *key);
/* The same for a row that changes, in one piece with its old image (row_log_change). */
struct row_entry *row_log_add_changed(struct row_log *log, struct row_list *list, void *owner,
                                      const struct row_key *key, const uint8_t *old,
                                      size_t old_size);
/* Makes the entry a changed one. old: the row's image of old_size bytes, copied; NULL: no row.
 * False: out of memory. Only the first call for an entry counts. */
bool row_log_change(struct row_list *list, struct row_entry *entry, const uint8_t *old,
                    size_t old_size);

void row_list_init(struct row_list *list);
void row_list_free(struct row_list *list);
/* The transaction is over: its rows are free. */
void row_list_clear(struct row_log *log, struct row_list *list);

#endif

/* insert into T (columns) select ... [on conflict ...] [returning ...], cut into its two halves:
 *
 *   select   [with ...] select ...
 *   insert   insert into T (columns) values (?, ...) [on conflict ...] [returning ...]
 */
#ifndef SIM_SQLITE_SPLIT_H
#define SIM_SQLITE_SPLIT_H

#include "core/base/err.h"
#include "sim/sqlite/catalog.h"

struct split {
    sqlite3_stmt *select;
    sqlite3_stmt *insert;
    int columns;            /* of the select */
    int key[QUERY_KEY_MAX]; /* the select's column for each column of the primary key */
    bool updates;           /* on conflict do update */
};

/* STATUS_INVALID for a text of another form: the columns must be named, the whole key among them.
 */
enum status split_new(sqlite3 *db, const struct table *table, const char *sql, struct split **out,
                      struct err *err);
/* NULL is fine. */
void split_free(struct split *split);

#endif

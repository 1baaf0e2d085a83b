/* insert into T (columns) select ... [on conflict ...] [returning ...], cut into its two halves:
 *
 *   select   [with ...] select ...
 *   insert   insert into T (columns) values (?, ...) [on conflict ...] [returning ...]
 *
 * Both keep the query's parameters ?1, ?2, ...; the values of the insert come after them.
 */
#ifndef SIM_SQLITE_SPLIT_H
#define SIM_SQLITE_SPLIT_H

#include "core/base/err.h"
#include "sim/sqlite/catalog.h"

struct split {
    sqlite3_stmt *select;
    sqlite3_stmt *insert;
    int columns;            /* of the select */
    int first;              /* the insert's parameter for the first of them */
    int key[QUERY_KEY_MAX]; /* the select's column for each column of the primary key */
    bool updates;           /* on conflict do update */
};

/* params: of the query. STATUS_INVALID for a text of another form: the columns must be named, the
 * whole key among them. */
enum status split_new(sqlite3 *db, const struct table *table, const char *sql, int params,
                      struct split **out, struct err *err);
/* NULL is fine. */
void split_free(struct split *split);

#endif

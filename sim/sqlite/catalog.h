/* The tables of the schema: columns, keys, and the three statements that move a row image.
 *
 * The image of a row is in two pieces: its key (row_log.h), and the columns that are not in the
 * key, in the order of the table.
 */
#ifndef SIM_SQLITE_CATALOG_H
#define SIM_SQLITE_CATALOG_H

#include "core/base/err.h"
#include "core/store/call.h"
#include "sim/sqlite/image.h"
#include "sim/sqlite/row_log.h"
#include <sqlite3.h>

#define TABLE_COLUMNS_MAX 32

struct table {
    char *name;
    uint32_t number; /* position in the catalog, its bit in a set of tables */
    int column_count;
    char *columns[TABLE_COLUMNS_MAX];
    int key_count;
    int key[QUERY_KEY_MAX]; /* columns of the primary key, in its order */
    int rest_count;
    int rest[TABLE_COLUMNS_MAX]; /* the other columns */
    sqlite3_stmt *get;           /* select rest where key */
    sqlite3_stmt *put;           /* insert or replace (key, rest) */
    sqlite3_stmt *remove;        /* delete where key */
};

struct catalog {
    struct table tables[TABLES_MAX];
    uint32_t count;
};

/* Reads the schema of db and prepares the statements. STATUS_INVALID for a table that the overlay
 * cannot carry: without a primary key of its own, with a second unique key or a foreign key (a row
 * lock is its primary key), or with a rowid that SQLite would hand out anew. */
enum status catalog_open(struct catalog *catalog, sqlite3 *db, struct err *err);
void catalog_close(struct catalog *catalog);

/* NULL when there is no such table. */
const struct table *catalog_find(const struct catalog *catalog, const char *name, size_t size);
/* The bit of a name, 0 for "". STATUS_INVALID for an unknown one. */
enum status catalog_bit(const struct catalog *catalog, const char *name, uint64_t *bit,
                        struct err *err);
/* The same for the first of names separated by a space, and moves past it. */
enum status catalog_next(const struct catalog *catalog, const char **names, uint64_t *bit,
                         struct err *err);

/* Row images. False: SQLite refused (out of memory). */
/* Appends the rest of the row; *found false: there is no row. */
bool table_get(const struct table *table, const struct row_key *key, struct image_buffer *rest,
               bool *found);
bool table_put(const struct table *table, const struct row_key *key, const uint8_t *rest);
bool table_remove(const struct table *table, const struct row_key *key);

#endif

/* Tables as text: what a golden holds, what the database holds, and what the reference model says,
 * in one shape, so that they can be compared cell by cell.
 *
 * A cell is text in its final form: names instead of hashes, UTC times, "b3:601" for buckets,
 * doubles that round-trip. Rows are in the order of their key, the first key_count columns. Memory:
 * the arena given to table_new; nothing is freed alone.
 */
#ifndef SIM_RUN_TABLE_H
#define SIM_RUN_TABLE_H

#include "core/base/arena.h"
#include "core/base/bytes.h"
#include "core/model/histogram.h"

#define TABLE_COLUMNS_MAX 24

struct table {
    const char *name;
    size_t column_count;
    size_t key_count;
    const char *columns[TABLE_COLUMNS_MAX];
    const char **cells; /* row_count * column_count */
    size_t row_count;
    size_t row_capacity;
    struct arena *arena;
};

/* A moment of a run: every table at that time. */
struct snapshot {
    const char *label; /* "end", or the moment: "20m" */
    struct table *tables;
    size_t table_count;
};

/* columns: column_count names that outlive the table. NULL when the arena is exhausted. */
struct table *table_new(struct arena *arena, const char *name, size_t key_count,
                        const char *const *columns, size_t column_count);
/* Adds a row of column_count cells (texts are copied). False when exhausted. */
bool table_add(struct table *table, const char *const *cells);
const char *table_cell(const struct table *table, size_t row, size_t column);
/* The cells of the row's key, with blanks between: "acme 2026-03-01 shop /cart". */
const char *table_row_key(const struct table *table, size_t row, struct arena *arena);
/* Sorts rows by all their cells, key columns first: bytewise, a column "sequence" as numbers. */
void table_sort(struct table *table);

/* Cell texts; all return arena memory, NULL when exhausted. */
const char *cell_int(struct arena *arena, int64_t value);
const char *cell_double(struct arena *arena, double value); /* the shortest that round-trips */
const char *cell_time_us(struct arena *arena, int64_t us);
const char *cell_time_ns(struct arena *arena, int64_t ns);
const char *cell_day(struct arena *arena, int64_t day);
const char *cell_text(struct arena *arena, struct bytes text);
const char *cell_buckets(struct arena *arena,
                         const struct histogram *histogram); /* "b3:601 b4:2" */

/* One difference between two snapshots' tables. */
struct table_difference {
    const char *table;
    const char *key;      /* "acme 2026-03-01T00:10:00Z shop GET /cart 200 metric" */
    const char *column;   /* "count", or "row" when the row is missing or too much */
    const char *expected; /* "none" for a row that should not be there */
    const char *got;
};

/* Cells of `got` that differ from `expected`, columns of the same name only; at most max. Tables
 * named in without (space-separated) and columns named "table.column" there are left out. */
size_t tables_compare(const struct snapshot *expected, const struct snapshot *got,
                      const char *without, struct arena *arena, struct table_difference *out,
                      size_t max);

#endif

/* The tables of a store as text tables, through its Dump queries: every row, in key order. */
#ifndef SIM_RUN_DUMP_H
#define SIM_RUN_DUMP_H

#include "core/store/call.h"
#include "sim/run/table.h"

/* Readable names for what the tables hold as hashes. Never NULL; memory that outlives the snapshot.
 */
struct dump_names {
    const char *(*tenant)(void *context, const struct uuid *uuid);
    const char *(*hash)(void *context, struct bytes hash);
    void *context;
};

/* How many database tables a golden holds. */
extern const size_t dump_table_count;

/* How many of a table's first columns form its key; 0 for a table that is not known. */
size_t dump_key_count(const char *table);

/* Appends every table to snapshot->tables, which has room. One READ COMMITTED transaction. */
enum status dump_store(struct store *store, const struct dump_names *names, struct arena *arena,
                       struct snapshot *snapshot, struct err *err);

#endif

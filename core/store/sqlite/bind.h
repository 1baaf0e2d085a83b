/* Values into statements and out of result rows. Private to core/store/sqlite. */
#ifndef CORE_STORE_SQLITE_BIND_H
#define CORE_STORE_SQLITE_BIND_H

#include "core/store/sqlite/codec.h"
#include "core/store/sqlite/sqlite_store.h"

/* What a bound row points to besides the caller's memory: SQLite copies nothing (SQLITE_STATIC), so
 * it lives until the row has run. One a session. */
struct bind_slot {
    bool has_uuid;
    struct uuid uuid; /* of text: most rows of a call have the same tenant */
    char text[UUID_TEXT_SIZE + 1];
    uint8_t buckets[BUCKETS_BLOB_SIZE];
};
struct bind_slots {
    struct bind_slot slot[QUERY_COLUMNS_MAX];
};

/* Refuses what PostgreSQL refuses and SQLite would store or turn into null:
 * 22021 text that is not UTF-8 or holds NUL, 22003 a double that is not finite, 54000 a size. */
enum status bind_check(const struct query *query, const struct value *params, struct err *err);

/* Binds checked values. The statement must be reset. */
void bind_row(const struct query *query, const struct value *params, struct bind_slots *slots,
              sqlite3_stmt *statement);

/* Reads the current result row; text and bytes go to the arena. The file is checked, not trusted:
 * XX001 for what does not fit the column's type. */
enum status bind_read(const struct query *query, sqlite3_stmt *statement, struct arena *arena,
                      struct value *values, struct err *err);

#endif

/* Prepared statements, made on first use and kept. Private to core/store/sqlite. */
#ifndef CORE_STORE_SQLITE_STATEMENTS_H
#define CORE_STORE_SQLITE_STATEMENTS_H

#include "core/store/sqlite/sqlite_store.h"

/* The statement of a part that has SQL, reset and ready to bind; NULL with err set. */
sqlite3_stmt *statements_get(struct sqlite_statements *statements, enum query_id query, int part,
                             struct err *err);

#endif

/* What the files with SQL functions share. Private to core/store/sqlite. */
#ifndef CORE_STORE_SQLITE_FUNCTIONS_H
#define CORE_STORE_SQLITE_FUNCTIONS_H

#include "core/base/err.h"
#include "core/model/histogram.h"
#include <sqlite3.h>

/* Fails the statement with a SQLSTATE. */
void function_error(sqlite3_context *context, const char *sqlstate, const char *message);

/* False, after setting the error, for what is not a histogram: SQLSTATE of MS "add_buckets". */
bool function_buckets(sqlite3_context *context, sqlite3_value *value, struct histogram *out);

/* fold.c: fold_rows() and folded_rows. */
enum status fold_register(sqlite3 *db, struct err *err);

#endif

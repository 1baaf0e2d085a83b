/* The store port: how a named query reaches a backend.
 *
 *   core/writer, core/jobs -> typed wrapper (store.h) -> struct store_call -> backend or decorator
 *
 * A call names a query of sql/ (generated table `queries`), and carries its rows of parameters, at
 * most LIMIT_CALL_ROWS (the wrappers cut longer arrays, in order, into several calls). One
 * call is one trip and one scheduling point: PostgreSQL sends its rows as arrays in one unnest
 * statement, SQLite loops a cached statement over them. Decorators (the simulator's faults and
 * trace) and both backends implement this one function and nothing else.
 */
#ifndef CORE_STORE_CALL_H
#define CORE_STORE_CALL_H

#include "core/base/arena.h"
#include "core/base/bytes.h"
#include "core/base/err.h"
#include "core/base/limits.h"
#include "core/model/histogram.h"

/* Types of parameters and results. There is no null: a query that needs "absent" has a flag. */
enum value_type {
    VALUE_INT,     /* int64: bigint, smallint */
    VALUE_BOOL,    /* int64 0 or 1 */
    VALUE_TIME,    /* int64 microseconds UTC: timestamptz */
    VALUE_DATE,    /* int64 days since 1970-01-01: date */
    VALUE_FLOAT,   /* double precision, finite */
    VALUE_TEXT,    /* text, valid UTF-8 */
    VALUE_BYTES,   /* bytea */
    VALUE_UUID,    /* uuid: 16 bytes */
    VALUE_BUCKETS, /* bigint[15]; SQLite: 120 bytes little endian */
};

struct value {
    union {
        int64_t integer;
        double number;
        struct bytes bytes; /* TEXT, BYTES, UUID (size 16) */
        const struct histogram *buckets;
    };
};

/* What a query does to rows; the SQLite overlay needs it to know what may wait (DESIGN 3). */
enum query_kind {
    QUERY_KIND_TX,        /* Begin, Commit, Rollback */
    QUERY_KIND_READ,      /* select; never waits */
    QUERY_KIND_INSERT,    /* insert ... on conflict do nothing, by key */
    QUERY_KIND_UPSERT,    /* insert ... on conflict do update, by key */
    QUERY_KIND_DELETE,    /* delete of a range of rows */
    QUERY_KIND_CLAIM,     /* delete ... skip locked returning */
    QUERY_KIND_SELECT_IN, /* insert ... select */
    QUERY_KIND_SHARED,    /* advisory transaction lock, shared; parameter "lock" */
    QUERY_KIND_EXCLUSIVE, /* advisory transaction lock, exclusive */
    QUERY_KIND_TRY,       /* exclusive without waiting; result column "granted" */
    QUERY_KIND_RELATION,  /* lock table in access exclusive mode nowait (55P03) */
    QUERY_KIND_DDL,       /* create or drop a partition */
};

struct query_column {
    const char *name;
    enum value_type type;
};

#define QUERY_COLUMNS_MAX 24
#define QUERY_KEY_MAX     8
#define QUERY_PARTS_MAX   12

/* One statement of a query. Most have one; PurgeTenant and partition drops have several, run in
 * order with the same parameters. */
struct query_part {
    enum query_kind kind;
    const char *table;      /* the table written or read, "" for none */
    const char *reads;      /* further tables it reads, separated by a space; "" for none */
    int key_count;          /* INSERT, UPSERT: parameters that form the primary key, in its order;
                               READ, DELETE: that the key's leading columns must equal, may be 0 */
    int key[QUERY_KEY_MAX]; /* index into params */
    const char *sqlite;
};

struct query {
    const char *name;     /* "AddMinute" */
    enum query_kind kind; /* of its first part */
    int param_count;
    struct query_column params[QUERY_COLUMNS_MAX];
    int result_count;
    struct query_column results[QUERY_COLUMNS_MAX];
    int part_count;
    struct query_part parts[QUERY_PARTS_MAX];
};

/* Generated from sql/ at build: enum query_id { QUERY_ADD_MINUTE, ..., QUERY_COUNT } and queries[].
 */
#include "gen/queries.h"

struct store_call {
    enum query_id query;
    const struct value *params; /* row_count * param_count, row by row */
    size_t row_count;           /* 1..LIMIT_CALL_ROWS; 0 for a query without parameters */
    struct arena *arena;        /* where results go; NULL when the query has none */

    /* filled by the backend */
    int64_t affected;      /* rows inserted, updated or deleted, over all rows; 0 when the query's
                              kind is TX, READ, a lock or DDL */
    uint8_t *row_affected; /* INSERT and UPSERT: per parameter row 1 or 0; caller's, or NULL */
    struct value *results; /* result_rows * result_count */
    size_t result_rows;
};

struct store {
    /* STATUS_OK, or the error with its SQLSTATE. After an error inside a transaction every call but
     * Rollback gives 25P02. A lost connection is 08006: the transaction is gone, or, when the call
     * was Commit, may have happened. */
    enum status (*call)(struct store *store, struct store_call *call, struct err *err);
};

#endif

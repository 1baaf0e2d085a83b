/* From arrays of rows to calls and back: what the typed wrappers of store.h are made of.
 * Private to core/store.
 */
#ifndef CORE_STORE_ROWS_H
#define CORE_STORE_ROWS_H

#include "core/base/assert.h"
#include "core/store/store.h"

static inline struct value value_int(int64_t integer)
{
    return (struct value){.integer = integer};
}
static inline struct value value_bool(bool flag)
{
    return (struct value){.integer = flag};
}
/* Minus zero becomes zero, on every backend: SQLite cannot store its sign. */
static inline struct value value_float(double number)
{
    return (struct value){.number = number + 0.0};
}
static inline struct value value_bytes(struct bytes bytes)
{
    return (struct value){.bytes = bytes};
}
static inline struct value value_text(const char *text)
{
    return (struct value){.bytes = bytes_of(text)};
}
/* These point to the row, which outlives the call. */
static inline struct value value_uuid(const struct uuid *uuid)
{
    return (struct value){.bytes = {uuid->bytes, sizeof uuid->bytes}};
}
static inline struct value value_hash(const struct sha256 *hash)
{
    return (struct value){.bytes = {hash->bytes, sizeof hash->bytes}};
}
static inline struct value value_buckets(const struct histogram *buckets)
{
    return (struct value){.buckets = buckets};
}

/* A query and the array of rows it runs over. */
struct row_source {
    enum query_id query;
    const void *rows;
    size_t row_size;
    size_t n; /* >= 1 */
    /* Writes the parameters of one row. shared: what all rows have in common. */
    void (*fill)(const void *row, const void *shared, struct value *params);
    const void *shared;
    /* Order of the full key: rows ascend by it without repeats (asserted). */
    int (*compare)(const void *a, const void *b);
};

/* What becomes of result rows. */
struct row_sink {
    struct arena *arena;
    size_t row_size;
    /* Reads one result row; false for an answer that makes no sense (XX001). */
    bool (*take)(const struct value *values, const void *shared, void *row);
    const void *shared;
    /* filled */
    void *rows;
    size_t count;
    size_t capacity;
};

/* One call with one row of parameters (NULL when the query has none). */
enum status call_once(struct store *store, struct store_call *call, struct err *err);

/* Runs the rows in order, at most LIMIT_CALL_ROWS a call. affected, row_affected (n of them) and
 * sink may be NULL. */
enum status call_rows(struct store *store, const struct row_source *source, struct row_sink *sink,
                      int64_t *affected, uint8_t *row_affected, struct err *err);

/* A query with one row of parameters that returns rows. */
enum status call_list(struct store *store, enum query_id query, const struct value *params,
                      struct row_sink *sink, struct err *err);

/* A query that returns one row of one integer, or a boolean. */
enum status call_integer(struct store *store, enum query_id query, const struct value *params,
                         struct arena *arena, int64_t *integer, struct err *err);
enum status call_flag(struct store *store, enum query_id query, const struct value *params,
                      struct arena *arena, bool *flag, struct err *err);

/* A query that changes rows and returns none. changed may be NULL. */
enum status call_change(struct store *store, enum query_id query, const struct value *params,
                        int64_t *changed, struct err *err);

/* False for a source name that is neither (a file from elsewhere). */
bool take_source(struct bytes name, enum source *source);
bool take_uuid(struct bytes bytes, struct uuid *uuid);
bool take_hash(struct bytes bytes, struct sha256 *hash);

#endif

/* The rollup's fold: the minutes of an hour, the hours of a day (RollupHour, RollupDay).
 *
 *   select ... from folded_rows((select fold_rows(service, method, route, status_code, source,
 *                                                 bucket_start, counts, sum, count, lossy)
 *                                from metrics_minute where ...))
 *
 * gives what PostgreSQL's "group by service, method, route, status_code, source" gives of them:
 * service, method, route, status_code, source, and over the rows of such a key the checked sums of
 * counts and count (22003), the doubles added in the order of bucket_start, and max(lossy).
 *
 * SQLite would group by sorting all rows, which takes four fifths of the time of a rollup. But they
 * come sorted already: in the order of the primary key, (bucket_start, service, ...). So each
 * bucket is merged into the list of totals, as one sorted run into another:
 *
 *   totals   /cart  -> /item -> /pay          bucket   /cart  /help  /pay
 *   after    /cart+ -> /help -> /item -> /pay+
 *
 * Rows in another order are refused (XX000), because their doubles would add up to other bits.
 *
 * From one function to the other the totals go as a blob: a struct folded_row each, then its texts.
 */
#include "core/base/assert.h"
#include "core/store/sqlite/codec.h"
#include "core/store/sqlite/functions.h"
#include "core/store/sqlite/sqlite_store.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The key's texts: service, method and route, then source, which stands behind status_code. */
#define KEY_TEXTS 4
#define SOURCE    3

struct folded_row {
    uint32_t text_sizes[KEY_TEXTS];
    int64_t status_code;
    double sum;
    int64_t count;
    int64_t lossy;
    uint8_t counts[BUCKETS_BLOB_SIZE];
};

/* ---- fold_rows(): rows into totals ---- */

enum {
    ARG_STATUS_CODE = 3,
    ARG_SOURCE,
    ARG_BUCKET_START,
    ARG_COUNTS,
    ARG_SUM,
    ARG_COUNT,
    ARG_LOSSY
};

struct key {
    struct bytes texts[KEY_TEXTS];
    int64_t status_code;
};

struct total {
    struct total *next; /* in key order */
    struct key key;     /* its texts lie behind the total */
    struct histogram counts;
    double sum;
    int64_t count;
    bool lossy;
};

struct fold {
    struct total *first;
    struct total *last;   /* of the row before */
    int64_t bucket_start; /* of the row before */
    size_t size;          /* of the blob */
};

static struct bytes value_bytes(sqlite3_value *value)
{
    const void *data = sqlite3_value_blob(value);
    return (struct bytes){data, (size_t)sqlite3_value_bytes(value)};
}

static struct key key_of(sqlite3_value **values)
{
    return (struct key){
        .texts = {value_bytes(values[0]), value_bytes(values[1]), value_bytes(values[2]),
                  value_bytes(values[ARG_SOURCE])},
        .status_code = sqlite3_value_int64(values[ARG_STATUS_CODE]),
    };
}

/* The order of the tables' primary keys. */
static int key_compare(const struct key *a, const struct key *b)
{
    for (int i = 0; i < SOURCE; i++) {
        int order = bytes_compare(a->texts[i], b->texts[i]);
        if (order != 0)
            return order;
    }
    if (a->status_code != b->status_code)
        return a->status_code < b->status_code ? -1 : 1;
    return bytes_compare(a->texts[SOURCE], b->texts[SOURCE]);
}

static struct total *total_insert(struct fold *fold, struct total **place, const struct key *key)
{
    size_t text_size = 0;
    for (int i = 0; i < KEY_TEXTS; i++)
        text_size += key->texts[i].size;
    struct total *total = sqlite3_malloc64(sizeof *total + text_size);
    if (!total)
        return NULL;
    *total = (struct total){.next = *place, .key = *key};
    *place = total;
    uint8_t *at = (uint8_t *)(total + 1);
    for (int i = 0; i < KEY_TEXTS; i++) {
        if (key->texts[i].size > 0)
            memcpy(at, key->texts[i].data, key->texts[i].size);
        total->key.texts[i].data = at;
        at += key->texts[i].size;
    }
    fold->size += sizeof(struct folded_row) + text_size;
    return total;
}

/* Where the key's total is, or goes. NULL for a row that does not lie behind the last one. */
static struct total **place_of(struct fold *fold, int64_t bucket_start, const struct key *key,
                               bool *found)
{
    struct total *last = fold->last;
    if (last && bucket_start < fold->bucket_start)
        return NULL;
    if (last && bucket_start > fold->bucket_start)
        last = NULL; /* a new bucket begins at the first total */
    struct total **place = last ? &last->next : &fold->first;
    int order = -1;
    while (*place && (order = key_compare(&(*place)->key, key)) < 0)
        place = &(*place)->next;
    *found = order == 0;
    /* a key that is there already lies behind the last one, because its total does */
    bool behind = *found || !last || key_compare(&last->key, key) < 0;
    return behind ? place : NULL;
}

static void fold_step(sqlite3_context *context, int count, sqlite3_value **values)
{
    ASSERT(count == ARG_LOSSY + 1);
    struct fold *fold = sqlite3_aggregate_context(context, sizeof *fold);
    struct histogram counts;
    struct err err;
    if (!fold)
        return sqlite3_result_error_nomem(context);
    if (!function_buckets(context, values[ARG_COUNTS], &counts))
        return;
    struct key key = key_of(values);
    int64_t bucket_start = sqlite3_value_int64(values[ARG_BUCKET_START]);
    bool found;
    struct total **place = place_of(fold, bucket_start, &key, &found);
    if (!place)
        return function_error(context, "XX000", "fold_rows needs its rows in the order of the key");
    struct total *total = found ? *place : total_insert(fold, place, &key);
    if (!total)
        return sqlite3_result_error_nomem(context);
    fold->last = total;
    fold->bucket_start = bucket_start;
    total->sum += sqlite3_value_double(values[ARG_SUM]);
    total->lossy |= sqlite3_value_int(values[ARG_LOSSY]) != 0;
    if (histogram_add(&total->counts, &counts, &err) != STATUS_OK)
        function_error(context, err.sqlstate, err.message);
    else if (__builtin_add_overflow(total->count, (int64_t)sqlite3_value_int64(values[ARG_COUNT]),
                                    &total->count))
        function_error(context, "22003", "bigint out of range");
}

static uint8_t *write_total(uint8_t *at, const struct total *total)
{
    struct folded_row row = {.status_code = total->key.status_code,
                             .sum = total->sum,
                             .count = total->count,
                             .lossy = total->lossy};
    buckets_encode(&total->counts, row.counts);
    size_t text_size = 0;
    for (int i = 0; i < KEY_TEXTS; i++) {
        row.text_sizes[i] = (uint32_t)total->key.texts[i].size;
        text_size += row.text_sizes[i];
    }
    memcpy(at, &row, sizeof row);
    memcpy(at + sizeof row, total + 1, text_size);
    return at + sizeof row + text_size;
}

static void result_totals(sqlite3_context *context, const struct fold *fold)
{
    uint8_t *blob = sqlite3_malloc64(fold->size);
    if (!blob)
        return sqlite3_result_error_nomem(context);
    uint8_t *at = blob;
    for (const struct total *total = fold->first; total; total = total->next) {
        if (!isfinite(total->sum)) {
            sqlite3_free(blob);
            return function_error(context, "22003", "value out of range: overflow");
        }
        at = write_total(at, total);
    }
    ASSERT(at == blob + fold->size);
    sqlite3_result_blob64(context, blob, fold->size, sqlite3_free);
}

/* Also called, for its memory alone, after an error. No rows: null. */
static void fold_final(sqlite3_context *context)
{
    struct fold *fold = sqlite3_aggregate_context(context, 0);
    if (!fold || !fold->first)
        return;
    result_totals(context, fold);
    for (struct total *next, *total = fold->first; total; total = next) {
        next = total->next;
        sqlite3_free(total);
    }
    *fold = (struct fold){0};
}

/* ---- folded_rows: totals as a table ---- */

enum {
    COLUMN_STATUS_CODE = 3,
    COLUMN_SOURCE,
    COLUMN_COUNTS,
    COLUMN_SUM,
    COLUMN_COUNT,
    COLUMN_LOSSY,
    COLUMN_FOLD, /* the table's argument */
};

struct folded_cursor {
    sqlite3_vtab_cursor base;
    sqlite3_value *blob;
    size_t at; /* of the row in it */
    struct folded_row row;
    const uint8_t *texts;
    size_t text_size;
    bool end;
};

static int folded_connect(sqlite3 *db, void *context, int count, const char *const *arguments,
                          sqlite3_vtab **table, char **error)
{
    (void)context, (void)count, (void)arguments, (void)error;
    int code = sqlite3_declare_vtab(db, "create table folded_rows (service, method, route, "
                                        "status_code, source, counts, sum, count, lossy, "
                                        "fold hidden)");
    if (code == SQLITE_OK)
        code = sqlite3_vtab_config(db, SQLITE_VTAB_DIRECTONLY);
    if (code != SQLITE_OK)
        return code;
    *table = sqlite3_malloc64(sizeof **table);
    if (!*table)
        return SQLITE_NOMEM;
    **table = (sqlite3_vtab){0};
    return SQLITE_OK;
}

static int folded_disconnect(sqlite3_vtab *table)
{
    sqlite3_free(table);
    return SQLITE_OK;
}

static int folded_plan(sqlite3_vtab *table, sqlite3_index_info *plan)
{
    (void)table;
    for (int i = 0; i < plan->nConstraint; i++) {
        if (plan->aConstraint[i].iColumn != COLUMN_FOLD || !plan->aConstraint[i].usable ||
            plan->aConstraint[i].op != SQLITE_INDEX_CONSTRAINT_EQ)
            continue;
        plan->aConstraintUsage[i].argvIndex = 1;
        plan->aConstraintUsage[i].omit = 1;
        return SQLITE_OK;
    }
    return SQLITE_CONSTRAINT; /* the table is nothing without its argument */
}

static int folded_open(sqlite3_vtab *table, sqlite3_vtab_cursor **out)
{
    (void)table;
    struct folded_cursor *cursor = sqlite3_malloc64(sizeof *cursor);
    if (!cursor)
        return SQLITE_NOMEM;
    *cursor = (struct folded_cursor){.end = true};
    *out = &cursor->base;
    return SQLITE_OK;
}

static int folded_close(sqlite3_vtab_cursor *base)
{
    struct folded_cursor *cursor = (struct folded_cursor *)base;
    sqlite3_value_free(cursor->blob);
    sqlite3_free(cursor);
    return SQLITE_OK;
}

static int refuse_blob(struct folded_cursor *cursor)
{
    cursor->base.pVtab->zErrMsg = sqlite3_mprintf("folded_rows takes what fold_rows gives");
    return SQLITE_ERROR;
}

/* The row at cursor->at, or the end. */
static int read_row(struct folded_cursor *cursor)
{
    struct bytes blob = value_bytes(cursor->blob);
    ASSERT(cursor->at <= blob.size);
    size_t left = blob.size - cursor->at;
    cursor->end = left == 0;
    if (cursor->end)
        return SQLITE_OK;
    if (left < sizeof cursor->row)
        return refuse_blob(cursor);
    memcpy(&cursor->row, blob.data + cursor->at, sizeof cursor->row);
    cursor->texts = blob.data + cursor->at + sizeof cursor->row;
    cursor->text_size = 0;
    for (int i = 0; i < KEY_TEXTS; i++)
        cursor->text_size += cursor->row.text_sizes[i];
    return cursor->text_size > left - sizeof cursor->row ? refuse_blob(cursor) : SQLITE_OK;
}

static int folded_filter(sqlite3_vtab_cursor *base, int number, const char *string, int count,
                         sqlite3_value **values)
{
    struct folded_cursor *cursor = (struct folded_cursor *)base;
    (void)number, (void)string;
    ASSERT(count == 1);
    sqlite3_value_free(cursor->blob);
    cursor->blob = sqlite3_value_dup(values[0]);
    cursor->at = 0;
    return cursor->blob ? read_row(cursor) : SQLITE_NOMEM;
}

static int folded_next(sqlite3_vtab_cursor *base)
{
    struct folded_cursor *cursor = (struct folded_cursor *)base;
    cursor->at += sizeof cursor->row + cursor->text_size;
    return read_row(cursor);
}

static int folded_end(sqlite3_vtab_cursor *base)
{
    return ((const struct folded_cursor *)base)->end;
}

static void result_text(sqlite3_context *context, const struct folded_cursor *cursor, int text)
{
    const uint8_t *at = cursor->texts;
    for (int i = 0; i < text; i++)
        at += cursor->row.text_sizes[i];
    sqlite3_result_text(context, (const char *)at, (int)cursor->row.text_sizes[text],
                        SQLITE_TRANSIENT);
}

static int folded_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
    const struct folded_cursor *cursor = (const struct folded_cursor *)base;
    const struct folded_row *row = &cursor->row;
    switch (column) {
    case COLUMN_STATUS_CODE:
        sqlite3_result_int64(context, row->status_code);
        break;
    case COLUMN_SOURCE:
        result_text(context, cursor, SOURCE);
        break;
    case COLUMN_COUNTS:
        sqlite3_result_blob(context, row->counts, sizeof row->counts, SQLITE_TRANSIENT);
        break;
    case COLUMN_SUM:
        sqlite3_result_double(context, row->sum);
        break;
    case COLUMN_COUNT:
        sqlite3_result_int64(context, row->count);
        break;
    case COLUMN_LOSSY:
        sqlite3_result_int64(context, row->lossy);
        break;
    case COLUMN_FOLD:
        sqlite3_result_value(context, cursor->blob);
        break;
    default:
        result_text(context, cursor, column);
    }
    return SQLITE_OK;
}

static int folded_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *rowid)
{
    *rowid = (sqlite3_int64)((const struct folded_cursor *)base)->at;
    return SQLITE_OK;
}

/* Without xCreate: it is there by its name, and nobody can make another. */
static const sqlite3_module folded_module = {
    .xConnect = folded_connect,
    .xBestIndex = folded_plan,
    .xDisconnect = folded_disconnect,
    .xOpen = folded_open,
    .xClose = folded_close,
    .xFilter = folded_filter,
    .xNext = folded_next,
    .xEof = folded_end,
    .xColumn = folded_column,
    .xRowid = folded_rowid,
};

enum status fold_register(sqlite3 *db, struct err *err)
{
    int code =
        sqlite3_create_function_v2(db, "fold_rows", ARG_LOSSY + 1, SQLITE_UTF8 | SQLITE_DIRECTONLY,
                                   NULL, NULL, fold_step, fold_final, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_create_module_v2(db, "folded_rows", &folded_module, NULL, NULL);
    return code == SQLITE_OK ? STATUS_OK : sqlite_error(db, "register the fold", err);
}

#include "core/store/sqlite/bind.h"
#include "core/base/assert.h"
#include <math.h>
#include <string.h>

/* far below SQLite's limit, far above any value of ours (limits.h) */
#define VALUE_SIZE_MAX (1024 * 1024)

enum status bind_check(const struct query *query, const struct value *params, struct err *err)
{
    ASSERT(query && (params || query->param_count == 0));
    for (int i = 0; i < query->param_count; i++) {
        const char *name = query->params[i].name;
        switch (query->params[i].type) {
        case VALUE_FLOAT:
            if (!isfinite(params[i].number))
                return err_sql(err, "22003", "\"%s\" is not a finite number", name);
            break;
        case VALUE_TEXT:
            if (params[i].bytes.size > VALUE_SIZE_MAX)
                return err_sql(err, "54000", "\"%s\" is too long", name);
            if (!text_is_valid(params[i].bytes))
                return err_sql(err, "22021", "invalid byte sequence for UTF-8 in \"%s\"", name);
            break;
        case VALUE_BYTES:
            if (params[i].bytes.size > VALUE_SIZE_MAX)
                return err_sql(err, "54000", "\"%s\" is too long", name);
            break;
        case VALUE_UUID:
            ASSERT(params[i].bytes.data && params[i].bytes.size == sizeof(struct uuid));
            break;
        case VALUE_BUCKETS:
            ASSERT(params[i].buckets);
            break;
        case VALUE_BOOL:
            ASSERT(params[i].integer == 0 || params[i].integer == 1);
            break;
        case VALUE_INT:
        case VALUE_TIME:
        case VALUE_DATE:
            break;
        }
    }
    return STATUS_OK;
}

static int bind_uuid(struct bind_slot *slot, struct bytes bytes, sqlite3_stmt *statement, int at)
{
    if (!slot->has_uuid || memcmp(&slot->uuid, bytes.data, sizeof slot->uuid) != 0) {
        memcpy(&slot->uuid, bytes.data, sizeof slot->uuid);
        uuid_format(&slot->uuid, slot->text);
        slot->has_uuid = true;
    }
    return sqlite3_bind_text(statement, at, slot->text, UUID_TEXT_SIZE, SQLITE_STATIC);
}

void bind_row(const struct query *query, const struct value *params, struct bind_slots *slots,
              sqlite3_stmt *statement)
{
    ASSERT(query && slots && statement);
    /* a part need not use every parameter of its query */
    int count = sqlite3_bind_parameter_count(statement);
    ASSERT(count <= query->param_count);
    int rc = SQLITE_OK;
    for (int i = 0; i < count && rc == SQLITE_OK; i++) {
        const struct value *value = &params[i];
        /* a null pointer would bind null */
        const void *data = value->bytes.data;
        switch (query->params[i].type) {
        case VALUE_INT:
        case VALUE_BOOL:
        case VALUE_TIME:
        case VALUE_DATE:
            rc = sqlite3_bind_int64(statement, i + 1, value->integer);
            break;
        case VALUE_FLOAT:
            rc = sqlite3_bind_double(statement, i + 1, value->number);
            break;
        case VALUE_TEXT:
            rc = sqlite3_bind_text(statement, i + 1, value->bytes.size ? data : "",
                                   (int)value->bytes.size, SQLITE_STATIC);
            break;
        case VALUE_BYTES:
            rc = sqlite3_bind_blob(statement, i + 1, value->bytes.size ? data : "",
                                   (int)value->bytes.size, SQLITE_STATIC);
            break;
        case VALUE_UUID:
            rc = bind_uuid(&slots->slot[i], value->bytes, statement, i + 1);
            break;
        case VALUE_BUCKETS:
            buckets_encode(value->buckets, slots->slot[i].buckets);
            rc = sqlite3_bind_blob(statement, i + 1, slots->slot[i].buckets, BUCKETS_BLOB_SIZE,
                                   SQLITE_STATIC);
            break;
        }
    }
    ASSERT(rc == SQLITE_OK); /* SQLITE_MISUSE: the statement was not reset */
}

static enum status read_bytes(sqlite3_stmt *statement, int at, struct arena *arena,
                              struct bytes *out, struct err *err)
{
    const void *data = sqlite3_column_blob(statement, at);
    size_t size = (size_t)sqlite3_column_bytes(statement, at);
    void *copy = arena_copy(arena, size ? data : "", size);
    if (!copy)
        return err_set(err, STATUS_NO_MEMORY, "53200", "out of memory for a result");
    *out = (struct bytes){copy, size};
    return STATUS_OK;
}

static enum status read_uuid(sqlite3_stmt *statement, int at, struct arena *arena,
                             struct bytes *out, struct err *err)
{
    struct bytes text = {sqlite3_column_blob(statement, at),
                         (size_t)sqlite3_column_bytes(statement, at)};
    struct uuid uuid;
    if (!uuid_parse(text, &uuid))
        return err_sql(err, "XX001", "stored value is not a uuid");
    void *copy = arena_copy(arena, &uuid, sizeof uuid);
    if (!copy)
        return err_set(err, STATUS_NO_MEMORY, "53200", "out of memory for a result");
    *out = (struct bytes){copy, sizeof uuid};
    return STATUS_OK;
}

static enum status read_buckets(sqlite3_stmt *statement, int at, struct arena *arena,
                                const struct histogram **out, struct err *err)
{
    struct histogram *histogram = arena_alloc(arena, sizeof *histogram);
    if (!histogram)
        return err_set(err, STATUS_NO_MEMORY, "53200", "out of memory for a result");
    const void *blob = sqlite3_column_blob(statement, at);
    if (!buckets_decode(blob, (size_t)sqlite3_column_bytes(statement, at), histogram))
        return err_sql(err, "XX001", "stored histogram is not 15 buckets");
    *out = histogram;
    return STATUS_OK;
}

/* The storage class of each type, and the name for the message. */
static const struct {
    int storage;
    const char *name;
} stored_as[] = {
    [VALUE_INT] = {SQLITE_INTEGER, "integer"},  [VALUE_BOOL] = {SQLITE_INTEGER, "boolean"},
    [VALUE_TIME] = {SQLITE_INTEGER, "time"},    [VALUE_DATE] = {SQLITE_INTEGER, "date"},
    [VALUE_FLOAT] = {SQLITE_FLOAT, "double"},   [VALUE_TEXT] = {SQLITE_TEXT, "text"},
    [VALUE_BYTES] = {SQLITE_BLOB, "bytes"},     [VALUE_UUID] = {SQLITE_TEXT, "uuid"},
    [VALUE_BUCKETS] = {SQLITE_BLOB, "buckets"},
};

static enum status read_value(enum value_type type, sqlite3_stmt *statement, int at,
                              struct arena *arena, struct value *value, struct err *err)
{
    switch (type) {
    case VALUE_BOOL:
        value->integer = sqlite3_column_int64(statement, at);
        if (value->integer != 0 && value->integer != 1)
            return err_sql(err, "XX001", "stored value is not a boolean");
        return STATUS_OK;
    case VALUE_INT:
    case VALUE_TIME:
    case VALUE_DATE:
        value->integer = sqlite3_column_int64(statement, at);
        return STATUS_OK;
    case VALUE_FLOAT:
        value->number = sqlite3_column_double(statement, at);
        return STATUS_OK;
    case VALUE_TEXT:
    case VALUE_BYTES:
        return read_bytes(statement, at, arena, &value->bytes, err);
    case VALUE_UUID:
        return read_uuid(statement, at, arena, &value->bytes, err);
    case VALUE_BUCKETS:
        return read_buckets(statement, at, arena, &value->buckets, err);
    }
    ASSERT(false && "a value type is missing here");
    return STATUS_OK;
}

enum status bind_read(const struct query *query, sqlite3_stmt *statement, struct arena *arena,
                      struct value *values, struct err *err)
{
    ASSERT(query && statement && arena && values);
    ASSERT(sqlite3_column_count(statement) == query->result_count);
    for (int i = 0; i < query->result_count; i++) {
        enum value_type type = query->results[i].type;
        if (sqlite3_column_type(statement, i) != stored_as[type].storage)
            return err_sql(err, "XX001", "stored value of \"%s\" is not of type %s",
                           query->results[i].name, stored_as[type].name);
        enum status status = read_value(type, statement, i, arena, &values[i], err);
        if (status != STATUS_OK)
            return status;
    }
    return STATUS_OK;
}

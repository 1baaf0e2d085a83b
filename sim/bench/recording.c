#include "sim/bench/recording.h"

#include "core/base/assert.h"
#include "sim/bench/bench.h"
#include <stdlib.h>
#include <string.h>

#define RECORDING_BYTES   ((size_t)8192 * 1024 * 1024)
#define SCRATCH_BYTES     ((size_t)512 * 1024 * 1024)
#define LIMIT_REPLAY_ROWS 100000

/* A parameter as SQLite takes it. */
struct bound {
    enum { BOUND_INT, BOUND_DOUBLE, BOUND_TEXT, BOUND_BLOB } kind;
    int size;
    union {
        int64_t integer;
        double number;
        const void *data;
    };
};

struct recorded {
    enum query_id query;
    size_t row_count;
    struct value *params;
    struct bound *bound;
};

struct recording {
    struct store base;
    struct store *inner;
    struct arena arena;
    struct recorded *calls;
    size_t count;
    size_t capacity;
    size_t statements;
    bool exhausted;
};

static struct bound bind_form(struct recording *recording, enum value_type type,
                              const struct value *value)
{
    struct bound bound = {.kind = BOUND_INT, .integer = value->integer};
    if (type == VALUE_FLOAT)
        return (struct bound){.kind = BOUND_DOUBLE, .number = value->number};
    if (type == VALUE_TEXT || type == VALUE_BYTES)
        return (struct bound){.kind = type == VALUE_TEXT ? BOUND_TEXT : BOUND_BLOB,
                              .size = (int)value->bytes.size,
                              .data = value->bytes.data};
    if (type == VALUE_UUID) {
        struct uuid uuid;
        char text[UUID_TEXT_SIZE + 1];
        memcpy(uuid.bytes, value->bytes.data, sizeof(uuid.bytes));
        uuid_format(&uuid, text);
        return (struct bound){.kind = BOUND_TEXT,
                              .size = UUID_TEXT_SIZE,
                              .data = arena_copy(&recording->arena, text, UUID_TEXT_SIZE)};
    }
    if (type == VALUE_BUCKETS) {
        uint8_t blob[HISTOGRAM_BUCKETS * 8];
        for (int i = 0; i < HISTOGRAM_BUCKETS; i++)
            for (int b = 0; b < 8; b++)
                blob[i * 8 + b] = (uint8_t)((uint64_t)value->buckets->counts[i] >> (8 * b));
        return (struct bound){.kind = BOUND_BLOB,
                              .size = (int)sizeof(blob),
                              .data = arena_copy(&recording->arena, blob, sizeof(blob))};
    }
    return bound;
}

static void keep_row(struct recording *recording, const struct query *query,
                     const struct value *from, struct value *value, struct bound *bound)
{
    for (int i = 0; i < query->param_count; i++) {
        enum value_type type = query->params[i].type;
        value[i] = from[i];
        if (type == VALUE_TEXT || type == VALUE_BYTES || type == VALUE_UUID)
            value[i].bytes.data =
                arena_copy(&recording->arena, from[i].bytes.data, from[i].bytes.size);
        if (type == VALUE_BUCKETS)
            value[i].buckets =
                arena_copy(&recording->arena, from[i].buckets, sizeof(*from[i].buckets));
        bound[i] = bind_form(recording, type, &value[i]);
    }
}

static void keep(struct recording *recording, const struct store_call *call)
{
    const struct query *query = &queries[call->query];
    if (recording->count == recording->capacity) {
        size_t capacity = recording->capacity == 0 ? 4096 : recording->capacity * 2;
        struct recorded *grown = realloc(recording->calls, capacity * sizeof(*grown));
        if (grown == NULL) {
            recording->exhausted = true;
            return;
        }
        recording->calls = grown;
        recording->capacity = capacity;
    }
    size_t width = (size_t)query->param_count;
    size_t rows = call->row_count > 0 ? call->row_count : 1;
    struct recorded *recorded = &recording->calls[recording->count];
    *recorded = (struct recorded){.query = call->query, .row_count = call->row_count};
    recorded->params = arena_array(&recording->arena, rows * width + 1, sizeof(struct value));
    recorded->bound = arena_array(&recording->arena, rows * width + 1, sizeof(struct bound));
    if (recorded->params == NULL || recorded->bound == NULL) {
        recording->exhausted = true;
        return;
    }
    for (size_t i = 0; width > 0 && i < call->row_count; i++)
        keep_row(recording, query, call->params + i * width, recorded->params + i * width,
                 recorded->bound + i * width);
    for (int part = 0; part < query->part_count; part++)
        if (query->parts[part].sqlite != NULL && query->parts[part].sqlite[0] != 0)
            recording->statements += rows;
    recording->count++;
}

static enum status record_call(struct store *store, struct store_call *call, struct err *err)
{
    struct recording *recording = (struct recording *)store;
    keep(recording, call);
    return recording->inner->call(recording->inner, call, err);
}

struct recording *recording_new(void)
{
    struct recording *recording = calloc(1, sizeof(*recording));
    if (recording != NULL)
        arena_init(&recording->arena, RECORDING_BYTES);
    return recording;
}

void recording_free(struct recording *recording)
{
    if (recording == NULL)
        return;
    arena_free(&recording->arena);
    free(recording->calls);
    free(recording);
}

struct store *recording_store(struct recording *recording, struct store *inner)
{
    recording->base.call = record_call;
    recording->inner = inner;
    return &recording->base;
}

size_t recording_calls(const struct recording *recording)
{
    return recording->count;
}

size_t recording_statements(const struct recording *recording)
{
    return recording->statements;
}

static void bind_bound(sqlite3_stmt *statement, const struct bound *bound, int count)
{
    for (int i = 0; i < count; i++) {
        switch (bound[i].kind) {
        case BOUND_INT:
            sqlite3_bind_int64(statement, i + 1, bound[i].integer);
            break;
        case BOUND_DOUBLE:
            sqlite3_bind_double(statement, i + 1, bound[i].number);
            break;
        case BOUND_TEXT:
            sqlite3_bind_text(statement, i + 1, bound[i].data, bound[i].size, SQLITE_STATIC);
            break;
        case BOUND_BLOB:
            sqlite3_bind_blob(statement, i + 1, bound[i].data, bound[i].size, SQLITE_STATIC);
            break;
        }
    }
}

/* ---- replay ---- */

struct bare {
    sqlite3 *db;
    sqlite3_stmt *statements[QUERY_COUNT][QUERY_PARTS_MAX];
    int params[QUERY_COUNT][QUERY_PARTS_MAX];
    sqlite3_stmt *begin;
    sqlite3_stmt *commit;
    sqlite3_stmt *rollback;
};

static bool prepare(sqlite3 *db, const char *sql, sqlite3_stmt **out)
{
    return sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT, out, NULL) == SQLITE_OK;
}

static bool bare_prepare(struct bare *bare, const struct recording *recording, sqlite3 *db)
{
    bool good = prepare(db, "begin immediate", &bare->begin) &&
                prepare(db, "commit", &bare->commit) && prepare(db, "rollback", &bare->rollback);
    for (size_t i = 0; good && i < recording->count; i++) {
        enum query_id id = recording->calls[i].query;
        for (int part = 0; good && part < queries[id].part_count; part++) {
            const char *sql = queries[id].parts[part].sqlite;
            if (sql == NULL || sql[0] == 0 || bare->statements[id][part] != NULL)
                continue;
            good = prepare(db, sql, &bare->statements[id][part]);
            if (good)
                bare->params[id][part] = sqlite3_bind_parameter_count(bare->statements[id][part]);
        }
    }
    return good;
}

static void bare_finalize(struct bare *bare)
{
    sqlite3_finalize(bare->begin);
    sqlite3_finalize(bare->commit);
    sqlite3_finalize(bare->rollback);
    for (int id = 0; id < QUERY_COUNT; id++)
        for (int part = 0; part < QUERY_PARTS_MAX; part++)
            sqlite3_finalize(bare->statements[id][part]);
}

static bool step_to_end(sqlite3_stmt *statement)
{
    int code;
    do
        code = sqlite3_step(statement);
    while (code == SQLITE_ROW);
    sqlite3_reset(statement);
    return code == SQLITE_DONE;
}

static bool replay_call(struct bare *bare, const struct recorded *call)
{
    const struct query *query = &queries[call->query];
    if (call->query == QUERY_BEGIN)
        return step_to_end(bare->begin);
    if (call->query == QUERY_COMMIT)
        return step_to_end(bare->commit);
    if (call->query == QUERY_ROLLBACK)
        return step_to_end(bare->rollback);
    for (size_t row = 0; row < call->row_count; row++) {
        for (int part = 0; part < query->part_count; part++) {
            sqlite3_stmt *statement = bare->statements[call->query][part];
            if (statement == NULL)
                continue;
            bind_bound(statement, call->bound + row * (size_t)query->param_count,
                       bare->params[call->query][part]);
            if (!step_to_end(statement))
                return false;
        }
    }
    return true;
}

struct replay {
    const struct recording *recording;
    size_t next; /* call */
    int64_t elapsed_ns;
    struct bare bare;
    struct store *store; /* NULL: bare */
    struct arena scratch;
    uint8_t *affected;
};

static struct replay *replay_new(const struct recording *recording)
{
    struct replay *replay = recording->exhausted ? NULL : calloc(1, sizeof(*replay));
    if (replay == NULL)
        return NULL;
    replay->recording = recording;
    arena_init(&replay->scratch, SCRATCH_BYTES);
    replay->affected = calloc(LIMIT_REPLAY_ROWS, 1);
    if (replay->affected != NULL)
        return replay;
    replay_free(replay);
    return NULL;
}

struct replay *replay_bare(const struct recording *recording, sqlite3 *db)
{
    struct replay *replay = replay_new(recording);
    if (replay == NULL)
        return NULL;
    replay->bare.db = db;
    if (bare_prepare(&replay->bare, recording, db))
        return replay;
    replay_free(replay);
    return NULL;
}

struct replay *replay_store(const struct recording *recording, struct store *store)
{
    struct replay *replay = replay_new(recording);
    if (replay != NULL)
        replay->store = store;
    return replay;
}

void replay_free(struct replay *replay)
{
    if (replay == NULL)
        return;
    bare_finalize(&replay->bare);
    arena_free(&replay->scratch);
    free(replay->affected);
    free(replay);
}

static enum status run_bare(struct replay *replay, size_t end, struct err *err)
{
    for (size_t i = replay->next; i < end; i++)
        if (!replay_call(&replay->bare, &replay->recording->calls[i]))
            return err_set(err, STATUS_INVALID, NULL, "the floor failed: %s",
                           sqlite3_errmsg(replay->bare.db));
    return STATUS_OK;
}

static enum status run_store(struct replay *replay, size_t end, struct err *err)
{
    enum status status = STATUS_OK;
    arena_rewind(&replay->scratch);
    for (size_t i = replay->next; i < end && status == STATUS_OK; i++) {
        const struct recorded *recorded = &replay->recording->calls[i];
        ASSERT(recorded->row_count <= LIMIT_REPLAY_ROWS);
        struct store_call call = {.query = recorded->query,
                                  .params = recorded->params,
                                  .row_count = recorded->row_count,
                                  .row_affected = replay->affected,
                                  .arena = &replay->scratch};
        status = replay->store->call(replay->store, &call, err);
    }
    return status;
}

bool replay_done(const struct replay *replay)
{
    return replay->next == replay->recording->count;
}

enum status replay_transaction(struct replay *replay, struct err *err)
{
    const struct recording *recording = replay->recording;
    size_t end = replay->next;
    while (end < recording->count && recording->calls[end].query != QUERY_COMMIT)
        end++;
    end += end < recording->count;
    int64_t began = real_cpu_ns();
    enum status status =
        replay->store != NULL ? run_store(replay, end, err) : run_bare(replay, end, err);
    replay->elapsed_ns += real_cpu_ns() - began;
    replay->next = end;
    return status;
}

int64_t replay_elapsed_ns(const struct replay *replay)
{
    return replay->elapsed_ns;
}

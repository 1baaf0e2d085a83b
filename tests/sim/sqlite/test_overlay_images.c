/* Images: whatever a transaction did, others see the rows as they were, their reading leaves no
 * trace, and a rollback restores every byte. Random transactions of every kind of query. */
#include "sim/base/prng.h"
#include "sim/sqlite/internal.h"
#include "tests/sim/sqlite/ops.h"
#include <check.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

static struct overlay *overlay;
static struct overlay_session *writer, *reader;
static struct arena arena;
static struct err err;

static enum status run(struct overlay_session *session, const char *line, char out[OPS_TEXT_MAX])
{
    struct op op = op_parse(line);
    struct op_call call;
    arena_rewind(&arena);
    op_build(&op, &arena, &call);
    struct store *store = overlay_session_store(session);
    enum status status = store->call(store, &call.call, &err);
    op_result(&call, status, &err, out);
    return status;
}

static void must(struct overlay_session *session, const char *line)
{
    char out[OPS_TEXT_MAX];
    ck_assert_msg(run(session, line, out) == STATUS_OK, "%s: %s", line, err.message);
}

static void set_up(void)
{
    arena_init(&arena, 64 << 20);
    ck_assert_int_eq(overlay_new(&overlay, &err), STATUS_OK);
    writer = overlay_session_new(overlay, "writer");
    reader = overlay_session_new(overlay, "reader");
    static const char *const lines[] = {"begin",          "tenant 1",       "lockminutes",
                                        "createminute 0", "createminute 1", "lockhours",
                                        "createhour 0",   "commit"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        must(writer, lines[i]);
}

static void tear_down(void)
{
    overlay_session_free(writer);
    overlay_session_free(reader);
    overlay_free(overlay);
    arena_free(&arena);
}

/* Every value of every row, straight from SQLite. */
static uint64_t digest(void)
{
    struct image_buffer all = {0};
    for (uint32_t i = 0; i < overlay->catalog.count; i++) {
        char sql[128];
        sqlite3_stmt *rows;
        snprintf(sql, sizeof sql, "select * from %s", overlay->catalog.tables[i].name);
        ck_assert_int_eq(sqlite3_prepare_v2(overlay->db, sql, -1, &rows, NULL), SQLITE_OK);
        while (sqlite3_step(rows) == SQLITE_ROW)
            for (int j = 0; j < sqlite3_column_count(rows); j++)
                image_put_column(&all, rows, j);
        sqlite3_finalize(rows);
    }
    uint64_t hash = XXH3_64bits(all.data, all.size);
    image_free(&all);
    return hash;
}

/* Every table as a session sees it. */
static void dump(struct overlay_session *session, char out[16 * OPS_TEXT_MAX])
{
    static const char *const tables[] = {"dumpdedup", "dumpstate",   "dumpseen",   "dumproutes",
                                         "dumpwarn",  "dumppending", "dumpminute", "dumphourly",
                                         "dumpdaily", "listminutes"};
    size_t used = 0;
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        char rows[OPS_TEXT_MAX];
        ck_assert_int_eq(run(session, tables[i], rows), STATUS_OK);
        used += (size_t)snprintf(out + used, OPS_TEXT_MAX, "%s\n", rows);
    }
}

static void random_line(struct prng *prng, char out[64])
{
    static const char *const names[] = {
        "record",  "mark",       "restore",    "route",     "minute",      "minute",
        "minute",  "warn",       "seen",       "state",     "claim",       "delhour",
        "delday",  "prunededup", "prunestate", "pruneseen", "pruneroutes", "rollhour",
        "rollday", "drift",      "tenant",     "shared",    "states",      "dumpminute"};
    const char *name = names[prng_below(prng, sizeof names / sizeof *names)];
    int first = (int)prng_below(prng, 5) + (strcmp(name, "claim") == 0);
    int second = 1 + (int)prng_below(prng, 6);
    snprintf(out, 64, "%s %d %d 0", name, first, second);
    if (prng_chance(prng, 1, 25))
        snprintf(out, 64, "purge %d", first % 2);
}

/* Up to 20 random ops; true when one of them failed. */
static bool random_ops(struct prng *prng)
{
    char before[16 * OPS_TEXT_MAX], now[16 * OPS_TEXT_MAX];
    bool failed = false;
    must(reader, "begin");
    dump(reader, before);
    for (int ops = 1 + (int)prng_below(prng, 20); ops > 0 && !failed; ops--) {
        char line[64], out[OPS_TEXT_MAX];
        random_line(prng, line);
        failed = run(writer, line, out) != STATUS_OK;
        if (!prng_chance(prng, 1, 4))
            continue;
        uint64_t mine = digest();
        dump(reader, now);
        ck_assert_msg(strcmp(before, now) == 0, "after %s the reader saw\n%sinstead of\n%s", line,
                      now, before);
        ck_assert_msg(digest() == mine, "after %s a reader left a trace", line);
    }
    must(reader, "commit");
    return failed;
}

START_TEST(images__rollback_restores_every_byte_and_readers_leave_no_trace)
{
    struct prng prng = prng_make((uint64_t)_i + 1, PRNG_WORKLOAD);
    for (int round = 0; round < 60; round++) {
        uint64_t before = digest();
        must(writer, "begin");
        if (random_ops(&prng) || prng_chance(&prng, 1, 2)) {
            must(writer, "rollback");
            ck_assert_msg(digest() == before, "round %d of seed %d", round, _i + 1);
        } else {
            must(writer, "commit");
        }
        ck_assert(overlay_idle(overlay));
        ck_assert_uint_eq(overlay->log.count, 0);
    }
    sqlite3_stmt *check;
    sqlite3_prepare_v2(overlay->db, "pragma integrity_check", -1, &check, NULL);
    ck_assert_int_eq(sqlite3_step(check), SQLITE_ROW);
    ck_assert_str_eq((const char *)sqlite3_column_text(check, 0), "ok");
    sqlite3_finalize(check);
}
END_TEST

/* A partition's rows and its registry row come back together (R-PART-2). */
START_TEST(images__dropped_partition_comes_back)
{
    must(writer, "begin");
    must(writer, "minute 1 1");
    must(writer, "minute 25 2");
    must(writer, "commit");
    uint64_t before = digest();
    must(writer, "begin");
    must(writer, "lockminutes");
    must(writer, "dropminute 1");
    must(writer, "dropminute 0");
    ck_assert(digest() != before);
    must(writer, "rollback");
    ck_assert(digest() == before);
}
END_TEST

START_TEST(images__reset_is_the_empty_schema)
{
    overlay_session_free(writer);
    overlay_session_free(reader);
    ck_assert_int_eq(overlay_reset(overlay, &err), STATUS_OK);
    uint64_t empty = digest();
    writer = overlay_session_new(overlay, "writer");
    reader = overlay_session_new(overlay, "reader");
    must(writer, "begin");
    must(writer, "record 1 1");
    overlay_session_free(writer); /* in the middle of a transaction */
    ck_assert(digest() == empty);
    writer = overlay_session_new(overlay, "writer");
    must(writer, "begin");
    must(writer, "record 1 1");
    must(writer, "commit");
    ck_assert(digest() != empty);
    overlay_session_free(writer);
    overlay_session_free(reader);
    ck_assert_int_eq(overlay_reset(overlay, &err), STATUS_OK);
    ck_assert(digest() == empty);
    writer = overlay_session_new(overlay, "writer");
    reader = overlay_session_new(overlay, "reader");
}
END_TEST

/* The key that a query's header declares is the key of the row that the statement writes. */
START_TEST(images__declared_keys_are_the_keys_written)
{
    static const char *const lines[] = {"record 1 1", "mark 1 1",    "restore 2 1",
                                        "route 1 1",  "minute 1 1",  "warn 1 1",
                                        "seen 1 1",   "state 1 1 0", "tenant 0"};
    bool seen[QUERY_COUNT] = {false};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct op op = op_parse(lines[i]);
        seen[op_query(&op)] = true;
        must(writer, "begin");
        must(writer, lines[i]);
        const struct row_entry *entry = writer->rows.first;
        ck_assert_msg(entry && !entry->next, "%s", lines[i]);
        struct image_buffer row = {0};
        bool found;
        ck_assert(table_get(&overlay->catalog.tables[entry->key.table], &entry->key, &row, &found));
        ck_assert_msg(found, "%s", lines[i]);
        image_free(&row);
        must(writer, "rollback");
    }
    for (int i = 0; i < QUERY_COUNT; i++)
        if (queries[i].kind == QUERY_KIND_INSERT || queries[i].kind == QUERY_KIND_UPSERT)
            ck_assert_msg(seen[i], "%s is not tried", queries[i].name);
}
END_TEST

Suite *overlay_images_suite(void);
Suite *overlay_images_suite(void)
{
    Suite *suite = suite_create("overlay_images");
    TCase *test = tcase_create("images");
    tcase_set_timeout(test, 60);
    tcase_add_checked_fixture(test, set_up, tear_down);
    tcase_add_loop_test(test, images__rollback_restores_every_byte_and_readers_leave_no_trace, 0,
                        8);
    tcase_add_test(test, images__dropped_partition_comes_back);
    tcase_add_test(test, images__reset_is_the_empty_schema);
    tcase_add_test(test, images__declared_keys_are_the_keys_written);
    suite_add_tcase(suite, test);
    return suite;
}

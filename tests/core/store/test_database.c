/* The database file in production, and the conformance suite over it. */
#include "core/store/sqlite/sqlite_store.h"
#include "tests/core/store/conformance.h"
#include <string.h>

static struct sqlite_database *memory;

static struct store *memory_open(void)
{
    ck_ok(sqlite_database_open(":memory:", DATABASE_CREATE, 0, &memory, &err));
    return sqlite_database_store(memory);
}

static void memory_close(void)
{
    sqlite_database_close(memory);
}

static void memory_session_offset(int64_t from_us, int64_t offset_us)
{
    char *sql = sqlite3_mprintf("insert into session_offsets values (%lld, %lld)",
                                (long long)from_us, (long long)offset_us);
    ck_assert_int_eq(sqlite3_exec(sqlite_database_db(memory), sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_free(sql);
}

static const struct store_backend memory_backend = {
    .open = memory_open, .close = memory_close, .session_offset = memory_session_offset};

static void use_memory(void)
{
    conformance_use(&memory_backend);
}

Suite *store_database_suite(void);
Suite *store_database_suite(void)
{
    Suite *suite = suite_create("store_database");
    conformance_add(suite, "memory", use_memory);
    return suite;
}

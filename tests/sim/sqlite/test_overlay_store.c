/* The store over the overlay passes the suite of every store. */
#include "sim/sqlite/overlay.h"
#include "tests/core/store/conformance.h"

static struct overlay *overlay;
static struct overlay_session *session;

static struct store *open_overlay(void)
{
    ck_ok(overlay_new(&overlay, &err));
    session = overlay_session_new(overlay, "a");
    ck_assert_ptr_nonnull(session);
    return overlay_session_store(session);
}

static void close_overlay(void)
{
    overlay_session_free(session);
    overlay_free(overlay);
}

static void session_offset(int64_t from_us, int64_t offset_us)
{
    char *sql = sqlite3_mprintf("insert into session_offsets values (%lld, %lld)",
                                (long long)from_us, (long long)offset_us);
    ck_assert_int_eq(sqlite3_exec(overlay_db(overlay), sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_free(sql);
}

static const struct store_backend backend = {
    .open = open_overlay, .close = close_overlay, .session_offset = session_offset};

static void use_overlay(void)
{
    conformance_use(&backend);
}

Suite *overlay_store_suite(void);
Suite *overlay_store_suite(void)
{
    Suite *suite = suite_create("overlay_store");
    conformance_add(suite, "overlay", use_overlay);
    return suite;
}

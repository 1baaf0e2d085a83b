/* Hours that agree are remembered, and forgotten as soon as a row of them changes (R-ROLL-2, S-14):
 * the drift check over the overlay finds what it would find without a memory. */
#include "core/base/time.h"
#include "core/store/store.h"
#include "sim/sqlite/overlay.h"
#include <check.h>
#include <string.h>

#define DAY     INT64_C(20513) /* 2026-03-01 */
#define HOUR_US (DAY * US_PER_DAY + 10 * US_PER_HOUR)

Suite *agreed_suite(void);

static struct overlay *overlay;
static struct overlay_session *one;
static struct overlay_session *two;
static struct arena arena;
static struct err err;
static const struct uuid tenant = {{7}};

static void good(enum status status)
{
    ck_assert_msg(status == STATUS_OK, "%s", err.message);
}

static struct store *store_of(struct overlay_session *session)
{
    return overlay_session_store(session);
}

static void add_minute(struct store *store, int bucket, int64_t count)
{
    struct minute_row row = {.tenant = tenant,
                             .bucket_start_us = HOUR_US,
                             .service = bytes_of("shop"),
                             .method = bytes_of("GET"),
                             .route = bytes_of("/cart"),
                             .status_code = 200,
                             .count = count};
    row.counts.counts[bucket] = count;
    good(store_begin(store, ROLE_METRICS_WRITER, &err));
    good(store_add_minutes(store, &row, 1, &err));
    good(store_commit(store, &err));
}

static void roll_up(struct store *store)
{
    int64_t rows;
    good(store_begin(store, ROLE_JOBS, &err));
    good(store_delete_hourly_rows(store, &tenant, HOUR_US, &rows, &err));
    good(store_rollup_hour(store, &tenant, HOUR_US, &rows, &err));
    ck_assert_int_eq(rows, 1);
    good(store_commit(store, &err));
}

/* The hours that the check would mark; its marks are rolled back. */
static size_t drifted(struct store *store)
{
    struct mark_row *marks;
    size_t count;
    good(store_begin(store, ROLE_JOBS, &err));
    good(store_mark_drifted_hours(store, HOUR_US - US_PER_HOUR, HOUR_US + US_PER_HOUR, HOUR_US,
                                  true, &arena, &marks, &count, &err));
    store_rollback(store);
    return count;
}

static void setup(void)
{
    bool done;
    arena_init(&arena, 1024 * 1024);
    good(overlay_new(&overlay, &err));
    overlay_attach(overlay, NULL, NULL);
    one = overlay_session_new(overlay, "one");
    two = overlay_session_new(overlay, "two");
    struct store *store = store_of(one);
    good(store_begin(store, ROLE_JOBS, &err));
    good(store_create_partition(store, PARTITION_MINUTE, DAY, &arena, &done, &err));
    good(store_create_partition(store, PARTITION_HOURLY, DAY, &arena, &done, &err));
    good(store_commit(store, &err));
    add_minute(store, 3, 5);
    roll_up(store);
    ck_assert_uint_eq(drifted(store), 0); /* compared, and remembered */
}

static void teardown(void)
{
    overlay_session_free(one);
    overlay_session_free(two);
    overlay_free(overlay);
    arena_free(&arena);
}

START_TEST(agreed__a_new_request_ends_it)
{
    add_minute(store_of(two), 3, 1);
    ck_assert_uint_eq(drifted(store_of(one)), 1);
    roll_up(store_of(one));
    ck_assert_uint_eq(drifted(store_of(one)), 0);
}
END_TEST

START_TEST(agreed__a_lost_hour_ends_it)
{
    int64_t rows;
    struct store *store = store_of(two);
    good(store_begin(store, ROLE_JOBS, &err));
    good(store_delete_hourly_rows(store, &tenant, HOUR_US, &rows, &err));
    good(store_commit(store, &err));
    ck_assert_uint_eq(drifted(store_of(one)), 1);
}
END_TEST

START_TEST(agreed__a_change_rolled_back_leaves_no_drift)
{
    int64_t rows;
    struct store *store = store_of(two);
    good(store_begin(store, ROLE_JOBS, &err));
    good(store_delete_hourly_rows(store, &tenant, HOUR_US, &rows, &err));
    store_rollback(store);
    ck_assert_uint_eq(drifted(store_of(one)), 0);
}
END_TEST

/* While two's change is open, one sees the committed rows, which agree; that must not be
 * remembered, for two commits afterwards. */
START_TEST(agreed__nothing_is_remembered_over_an_open_change)
{
    int64_t rows;
    struct store *store = store_of(two);
    good(store_begin(store, ROLE_JOBS, &err));
    good(store_delete_hourly_rows(store, &tenant, HOUR_US, &rows, &err));
    ck_assert_uint_eq(drifted(store_of(one)), 0);
    good(store_commit(store, &err));
    ck_assert_uint_eq(drifted(store_of(one)), 1);
}
END_TEST

Suite *agreed_suite(void)
{
    Suite *suite = suite_create("agreed");
    TCase *tests = tcase_create("agreed");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, agreed__a_new_request_ends_it);
    tcase_add_test(tests, agreed__a_lost_hour_ends_it);
    tcase_add_test(tests, agreed__a_change_rolled_back_leaves_no_drift);
    tcase_add_test(tests, agreed__nothing_is_remembered_over_an_open_change);
    suite_add_tcase(suite, tests);
    return suite;
}

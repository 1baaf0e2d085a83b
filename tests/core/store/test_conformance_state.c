/* Streams and processes: api.series_state and api.resource_seen. */
#include "tests/core/store/conformance.h"
#include <string.h>

static struct series_state_write state_write(uint8_t series, int64_t start, int64_t last)
{
    struct series_state_write row = {
        .tenant = tenant_of(1),
        .key = {hash_of(series), start},
        .state = {.exists = true, .last_unix_nano = last, .last_count = 6, .last_sum = 0.75},
        .last_seen_at_us = T0_US,
    };
    row.state.last_counts.counts[0] = 2;
    row.state.last_counts.counts[14] = 4;
    return row;
}

static struct series_state_row *states_of(uint8_t series, size_t *count)
{
    struct uuid tenant = tenant_of(1);
    struct sha256 hash = hash_of(series);
    struct series_state_row *rows;
    ck_ok(store_get_series_states(store, &tenant, &hash, 1, &arena, &rows, count, &err));
    return rows;
}

START_TEST(series_states__every_start_time_of_the_series_asked_for) /* R-ID-3 */
{
    struct series_state_write rows[] = {
        state_write(1, -5, 100),
        state_write(1, 7, 200),
        state_write(2, 7, 300),
        state_write(4, 7, 400),
    };
    rows[1].state.baseline = true;
    struct series_state_write other = rows[0];
    other.tenant = tenant_of(2);
    struct sha256 asked[] = {hash_of(1), hash_of(3), hash_of(4)};
    struct uuid tenant = tenant_of(1);
    struct series_state_row *found;
    size_t count;
    begin(ROLE_METRICS_WRITER);
    ck_ok(store_upsert_series_states(store, rows, 4, &count, &err));
    ck_assert_uint_eq(count, 4);
    ck_ok(store_upsert_series_states(store, &other, 1, &count, &err));
    ck_ok(store_get_series_states(store, &tenant, asked, 3, &arena, &found, &count, &err));
    ck_assert_uint_eq(count, 3); /* 1/-5, 1/7, 4/7; series 3 is not there */
    const int wanted[] = {0, 1, 3};
    for (int i = 0; i < 3; i++) {
        const struct series_state_write *row = &rows[wanted[i]];
        ck_assert_mem_eq(&found[i].key.series_hash, &row->key.series_hash, 32);
        ck_assert_int_eq(found[i].key.start_unix_nano, row->key.start_unix_nano);
        ck_assert(found[i].state.exists);
        ck_assert_int_eq(found[i].state.last_unix_nano, row->state.last_unix_nano);
        ck_assert_int_eq(found[i].state.last_count, 6);
        ck_assert_double_eq(found[i].state.last_sum, 0.75);
        ck_assert_mem_eq(&found[i].state.last_counts, &row->state.last_counts,
                         sizeof(struct histogram));
        ck_assert_int_eq(found[i].state.baseline, row->state.baseline);
    }
    int64_t streams;
    ck_ok(store_count_series_states(store, &tenant, &arena, &streams, &err));
    ck_assert_int_eq(streams, 4);
    commit();
}
END_TEST

START_TEST(series_states__many_series_are_asked_for_in_one_go)
{
    enum { N = 2 * LIMIT_CALL_ROWS + 3 };
    struct sha256 asked[N];
    struct series_state_write rows[2 * N];
    struct series_state_row *found;
    size_t count;
    struct uuid tenant = tenant_of(1);
    begin(ROLE_METRICS_WRITER);
    for (int i = 0; i < N; i++) {
        asked[i] = hash_of((uint8_t)(i + 1));
        rows[2 * i] = state_write((uint8_t)(i + 1), 1, i);
        rows[2 * i + 1] = state_write((uint8_t)(i + 1), 2, i);
    }
    ck_ok(store_upsert_series_states(store, rows, 2 * N, &count, &err));
    ck_assert_uint_eq(count, 2 * N); /* over all calls that this took */
    ck_ok(store_get_series_states(store, &tenant, asked, N, &arena, &found, &count, &err));
    ck_assert_uint_eq(count, 2 * N);
    for (int i = 0; i < 2 * N; i++) {
        ck_assert_int_eq(found[i].state.last_unix_nano, i / 2);
        ck_assert_int_eq(found[i].key.start_unix_nano, 1 + i % 2);
    }
    commit();
}
END_TEST

/* S-13: the state is written only where the row is as it was when the delta was judged. */
static const struct {
    bool there; /* a row with last_unix_nano 100 */
    bool guarded;
    bool had_previous;
    int64_t previous;
    int written;
} guards[] = {
    {false, false, false, 0, 1}, /* not guarded: always */
    {true, false, false, 0, 1},
    {true, false, true, 99, 1},
    {false, true, false, 0, 1}, /* judged as new, still not there */
    {true, true, false, 0, 0},  /* judged as new, another writer was first */
    {true, true, true, 100, 1}, /* as it was */
    {true, true, true, 99, 0},  /* another writer moved it on */
    {true, true, true, 101, 0},
    {false, true, true, 100, 1}, /* pruned meanwhile: nobody else has counted */
};

START_TEST(upsert_series_state__writes_only_what_was_judged)
{
    begin(ROLE_METRICS_WRITER);
    size_t written;
    struct series_state_write row = state_write(1, 1, 100);
    if (guards[_i].there)
        ck_ok(store_upsert_series_states(store, &row, 1, &written, &err));
    row.state.last_unix_nano = 200;
    row.guarded = guards[_i].guarded;
    row.had_previous = guards[_i].had_previous;
    row.previous_unix_nano = guards[_i].previous;
    ck_ok(store_upsert_series_states(store, &row, 1, &written, &err));
    ck_assert_int_eq((int)written, guards[_i].written);
    size_t count;
    struct series_state_row *found = states_of(1, &count);
    bool kept = guards[_i].there && !guards[_i].written;
    ck_assert_uint_eq(count, guards[_i].written || kept);
    if (count)
        ck_assert_int_eq(found[0].state.last_unix_nano, kept ? 100 : 200);
    commit();
}
END_TEST

/* Of several rows one lost its race: the number says so, and the others are written. */
START_TEST(upsert_series_state__counts_what_was_written)
{
    struct series_state_write rows[] = {state_write(1, 1, 100), state_write(2, 1, 100),
                                        state_write(3, 1, 100)};
    size_t written;
    begin(ROLE_METRICS_WRITER);
    ck_ok(store_upsert_series_states(store, &rows[1], 1, &written, &err));
    for (int i = 0; i < 3; i++)
        rows[i].guarded = true;
    ck_ok(store_upsert_series_states(store, rows, 3, &written, &err));
    ck_assert_uint_eq(written, 2);
    commit();
}
END_TEST

static struct resource_row *resource_of(uint8_t resource, size_t *count)
{
    struct uuid tenant = tenant_of(1);
    struct process_key key = {hash_of(resource), 5};
    struct resource_row *rows;
    ck_ok(store_get_resources_seen(store, &tenant, &key, 1, &arena, &rows, count, &err));
    return rows;
}

/* first_seen_at stays, last_seen_at is the greatest, the first point the least: in any order (S-1).
 */
START_TEST(touch_resource__merges_in_any_order)
{
    static const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                     {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    static const int64_t seen_at[] = {T0_US + 20, T0_US + 30, T0_US + 10};
    static const int64_t points[] = {300, 100, 200};
    begin(ROLE_METRICS_WRITER);
    for (int i = 0; i < 3; i++) {
        struct resource_write row = {
            tenant_of(1), {hash_of(1), 5}, seen_at[orders[_i][i]], points[orders[_i][i]]};
        ck_ok(store_touch_resources(store, &row, 1, &err));
    }
    size_t count;
    struct resource_row *found = resource_of(1, &count);
    ck_assert_uint_eq(count, 1);
    ck_assert_int_eq(found[0].first_seen_at_us, seen_at[orders[_i][0]]);
    ck_assert_int_eq(found[0].last_seen_at_us, T0_US + 30);
    ck_assert_int_eq(found[0].first_point_unix_nano, 100);
    resource_of(2, &count);
    ck_assert_uint_eq(count, 0);
    commit();
}
END_TEST

START_TEST(resources_seen__absent_ones_are_left_out)
{
    enum { N = LIMIT_CALL_ROWS + 10 };
    struct process_key keys[N];
    begin(ROLE_METRICS_WRITER);
    for (int i = 0; i < N; i++) {
        keys[i] = (struct process_key){hash_of((uint8_t)i), i};
        struct resource_write row = {tenant_of(1), keys[i], T0_US + i, i};
        if (i % 2 == 0)
            ck_ok(store_touch_resources(store, &row, 1, &err));
    }
    struct resource_row *found;
    size_t count;
    struct uuid tenant = tenant_of(1);
    ck_ok(store_get_resources_seen(store, &tenant, keys, N, &arena, &found, &count, &err));
    ck_assert_uint_eq(count, N / 2);
    for (int i = 0; i < N / 2; i++) {
        ck_assert_mem_eq(&found[i].key, &keys[2 * i], sizeof keys[0]);
        ck_assert_int_eq(found[i].first_seen_at_us, T0_US + 2 * i);
    }
    struct uuid other = tenant_of(2);
    ck_ok(store_get_resources_seen(store, &other, keys, N, &arena, &found, &count, &err));
    ck_assert_uint_eq(count, 0);
    commit();
}
END_TEST

void conformance_state(TCase *test)
{
    tcase_add_test(test, series_states__every_start_time_of_the_series_asked_for);
    tcase_add_test(test, series_states__many_series_are_asked_for_in_one_go);
    tcase_add_loop_test(test, upsert_series_state__writes_only_what_was_judged, 0,
                        sizeof guards / sizeof guards[0]);
    tcase_add_test(test, upsert_series_state__counts_what_was_written);
    tcase_add_loop_test(test, touch_resource__merges_in_any_order, 0, 6);
    tcase_add_test(test, resources_seen__absent_ones_are_left_out);
}

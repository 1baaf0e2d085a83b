#include "tests/core/store/conformance.h"
#include <stdio.h>
#include <string.h>

struct store *store;
struct arena arena;
struct err err;
const struct store_backend *conformance_backend;

void conformance_use(const struct store_backend *backend)
{
    conformance_backend = backend;
    arena_init(&arena, 64 * 1024 * 1024);
    store = backend->open();
    ck_assert_ptr_nonnull(store);
}

static void teardown(void)
{
    conformance_backend->close();
    arena_free(&arena);
}

void conformance_add(Suite *suite, const char *backend, void (*setup)(void))
{
    static const struct {
        const char *name;
        void (*add)(TCase *test);
    } parts[] = {
        {"writer", conformance_writer}, {"state", conformance_state},
        {"rollup", conformance_rollup}, {"partitions", conformance_partitions},
        {"errors", conformance_errors},
    };
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        char name[64];
        snprintf(name, sizeof name, "%s %s", backend, parts[i].name);
        TCase *test = tcase_create(name);
        tcase_add_checked_fixture(test, setup, teardown);
        parts[i].add(test);
        suite_add_tcase(suite, test);
    }
}

struct uuid tenant_of(uint8_t last)
{
    return (struct uuid){{0, 0, 0, 0, 0, 0, 0x40, 0, 0x80, 0, 0, 0, 0, 0, 0, last}};
}

struct sha256 hash_of(uint8_t fill)
{
    struct sha256 hash;
    memset(hash.bytes, fill, sizeof hash.bytes);
    return hash;
}

void begin(enum store_role role)
{
    ck_ok(store_begin(store, role, &err));
}

void commit(void)
{
    ck_ok(store_commit(store, &err));
}

void make_partitions(int64_t first_day, int64_t last_day)
{
    begin(ROLE_JOBS);
    bool done;
    for (int64_t day = first_day; day <= last_day; day++) {
        ck_ok(store_create_partition(store, PARTITION_MINUTE, day, &arena, &done, &err));
        int64_t month = month_first_day(month_index_of_day(day));
        ck_ok(store_create_partition(store, PARTITION_HOURLY, month, &arena, &done, &err));
    }
    commit();
}

struct minute_row minute_row(int64_t bucket_start_us, int bucket, int64_t n, double sum)
{
    struct minute_row row = {.tenant = tenant_of(1),
                             .bucket_start_us = bucket_start_us,
                             .service = bytes_of("shop"),
                             .method = bytes_of("GET"),
                             .route = bytes_of("/"),
                             .status_code = 200,
                             .source = SOURCE_METRIC,
                             .sum = sum,
                             .count = n};
    row.counts.counts[bucket - 1] = n;
    return row;
}

void add_minute(struct minute_row row)
{
    ck_ok(store_add_minutes(store, &row, 1, &err));
}

struct minute_row *rows_of(enum read_level level, size_t *count)
{
    struct uuid tenant = tenant_of(1);
    struct minute_row *rows;
    ck_ok(store_read_rows(store, level, &tenant, INT64_MIN, INT64_MAX, &arena, &rows, count, &err));
    return rows;
}

/* One suite over every store: each backend and each decorator must pass it unchanged.
 *
 * A backend gives a store on an empty database, for one session. To run the suite over it, write
 *
 *   static const struct store_backend mine = {.open = ..., .close = ...};
 *   static void use_mine(void) { conformance_use(&mine); }
 *   Suite *mine_store_suite(void) { ... conformance_add(suite, "mine", use_mine); ... }
 *
 * What needs two sessions at once (waiting, skip locked) is the business of the overlay's own
 * tests.
 */
#ifndef TESTS_CORE_STORE_CONFORMANCE_H
#define TESTS_CORE_STORE_CONFORMANCE_H

#include "core/base/time.h"
#include "core/store/store.h"
#include <check.h>

struct store_backend {
    struct store *(*open)(void); /* a session on an empty database; one at a time */
    void (*close)(void);
    /* The session's time zone is UTC + offset from that moment on (A-10 off). */
    void (*session_offset)(int64_t from_us, int64_t offset_us);
};

void conformance_use(const struct store_backend *backend);
void conformance_add(Suite *suite, const char *backend, void (*setup)(void));

/* ---- for the files of the suite ---- */

/* The session, an arena and an err of the running test. */
extern struct store *store;
extern struct arena arena;
extern struct err err;
extern const struct store_backend *conformance_backend;

void conformance_writer(TCase *test);
void conformance_state(TCase *test);
void conformance_rollup(TCase *test);
void conformance_partitions(TCase *test);
void conformance_errors(TCase *test);

/* 2026-03-01T00:00:00Z, a Sunday and the first of a month */
#define DAY0   INT64_C(20513)
#define T0_US  (DAY0 * US_PER_DAY)
#define MINUTE US_PER_MIN
#define HOUR   US_PER_HOUR

struct uuid tenant_of(uint8_t last); /* 00000000-0000-4000-8000-0000000000NN */
struct sha256 hash_of(uint8_t fill);

#define ck_ok(expression)                                                                          \
    do {                                                                                           \
        enum status status_ = (expression);                                                        \
        ck_assert_msg(status_ == STATUS_OK, "%s: %s %s", #expression, err.sqlstate, err.message);  \
    } while (0)
/* Fails with that SQLSTATE, and with the status of its class. */
#define ck_sqlstate(expression, state)                                                             \
    do {                                                                                           \
        err = (struct err){0};                                                                     \
        enum status status_ = (expression);                                                        \
        ck_assert_msg(status_ != STATUS_OK, "%s succeeded", #expression);                          \
        ck_assert_str_eq(err.sqlstate, state);                                                     \
        ck_assert_int_eq(status_, err.status);                                                     \
        ck_assert_int_eq(status_, status_of_sqlstate(state));                                      \
    } while (0)

void begin(enum store_role role);
void commit(void);
/* Commits, and begins as jobs: partitions of DAY0's day and month. */
void make_partitions(int64_t first_day, int64_t last_day);

/* A minute row of tenant 1, service "shop", GET /, 200, metric: n requests in bucket (1..15). */
struct minute_row minute_row(int64_t bucket_start_us, int bucket, int64_t n, double sum);
void add_minute(struct minute_row row);
/* All rows of tenant 1 at a level. */
struct minute_row *rows_of(enum read_level level, size_t *count);

#endif

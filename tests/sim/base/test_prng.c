/* sim/base/prng: known answers, no bias at the edges, independent streams. */
#include "sim/base/prng.h"

#include <check.h>
#include <stdlib.h>

/* The reference implementation (prng.di.unimi.it, xoshiro256starstar.c) started from 1 2 3 4. By
 * hand for the first: rotl(2 * 5, 7) * 9 = 10 * 128 * 9 = 11520; then s[1] becomes 2 ^ (3 ^ 1) = 0:
 * 0. */
START_TEST(prng__is_xoshiro256_starstar)
{
    struct prng prng = {{1, 2, 3, 4}};
    ck_assert_uint_eq(prng_next(&prng), 11520);
    ck_assert_uint_eq(prng_next(&prng), 0);
    ck_assert_uint_eq(prng_next(&prng), 1509978240);
    ck_assert_uint_eq(prng_next(&prng), UINT64_C(1215971899390074240));
}
END_TEST

START_TEST(prng__same_seed_and_stream_same_numbers)
{
    struct prng a = prng_make(42, PRNG_WORKLOAD);
    struct prng b = prng_make(42, PRNG_WORKLOAD);
    for (int i = 0; i < 1000; i++)
        ck_assert_uint_eq(prng_next(&a), prng_next(&b));
}
END_TEST

static int compare_numbers(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

/* 4 streams of 250 neighbouring seeds: 1000 first numbers of 64 bits, none of which is met twice.
 */
START_TEST(prng__streams_and_neighbouring_seeds_differ)
{
    uint64_t seen[1000];
    int count = 0;
    for (uint64_t seed = 0; seed < 250; seed++) {
        for (int stream = PRNG_SCHEDULE; stream <= PRNG_QUEUE; stream++) {
            struct prng prng = prng_make(seed, (enum prng_stream)stream);
            seen[count++] = prng_next(&prng);
        }
    }
    ck_assert_int_eq(count, 1000);
    qsort(seen, 1000, sizeof seen[0], compare_numbers);
    for (int i = 1; i < 1000; i++)
        ck_assert_uint_ne(seen[i - 1], seen[i]);
}
END_TEST

START_TEST(prng_below__stays_below_and_reaches_every_value)
{
    struct prng prng = prng_make(7, PRNG_FAULTS);
    for (uint64_t bound = 1; bound <= 17; bound++) {
        uint32_t met = 0;
        for (int i = 0; i < 2000; i++) {
            uint64_t value = prng_below(&prng, bound);
            ck_assert_uint_lt(value, bound);
            met |= UINT32_C(1) << value;
        }
        ck_assert_uint_eq(met, (UINT32_C(1) << bound) - 1);
    }
    for (int i = 0; i < 100; i++)
        ck_assert_uint_lt(prng_below(&prng, UINT64_MAX), UINT64_MAX);
}
END_TEST

/* 30,000 draws below 3: 10,000 each, standard deviation sqrt(30000 * 1/3 * 2/3) = 82; 500 is 6 of
 * it. (A plain remainder of a masked draw, 0..3 mod 3, would give value 0 15,000 times.) */
START_TEST(prng_below__has_no_bias)
{
    struct prng prng = prng_make(1, PRNG_SCHEDULE);
    int met[3] = {0};
    for (int i = 0; i < 30000; i++)
        met[prng_below(&prng, 3)]++;
    for (int i = 0; i < 3; i++) {
        ck_assert_int_gt(met[i], 9500);
        ck_assert_int_lt(met[i], 10500);
    }
}
END_TEST

START_TEST(prng_chance__0_never_and_all_always)
{
    struct prng prng = prng_make(1, PRNG_SCHEDULE);
    int quarter = 0;
    for (int i = 0; i < 10000; i++) {
        ck_assert(!prng_chance(&prng, 0, 5));
        ck_assert(prng_chance(&prng, 5, 5));
        quarter += prng_chance(&prng, 1, 4);
    }
    /* 2500, standard deviation sqrt(10000 * 1/4 * 3/4) = 43 */
    ck_assert_int_gt(quarter, 2200);
    ck_assert_int_lt(quarter, 2800);
}
END_TEST

Suite *prng_suite(void);
Suite *prng_suite(void)
{
    Suite *suite = suite_create("prng");
    TCase *tcase = tcase_create("prng");
    tcase_add_test(tcase, prng__is_xoshiro256_starstar);
    tcase_add_test(tcase, prng__same_seed_and_stream_same_numbers);
    tcase_add_test(tcase, prng__streams_and_neighbouring_seeds_differ);
    tcase_add_test(tcase, prng_below__stays_below_and_reaches_every_value);
    tcase_add_test(tcase, prng_below__has_no_bias);
    tcase_add_test(tcase, prng_chance__0_never_and_all_always);
    suite_add_tcase(suite, tcase);
    return suite;
}

/* fold_rows() and folded_rows by themselves: order, sums, refusals. What the rollup makes of them
 * is in test_conformance_rollup.c. */
#include "core/store/sqlite/sqlite_store.h"
#include <check.h>
#include <stdio.h>
#include <string.h>

static sqlite3 *db;
static struct err err;

/* Rows for the fold, in the order in which they are inserted. */
static void setup(void)
{
    ck_assert_int_eq(sqlite3_open(":memory:", &db), SQLITE_OK);
    ck_assert_int_eq(sqlite_functions_register(db, &err), STATUS_OK);
    ck_assert_int_eq(sqlite3_exec(db,
                                  "create table rows (service, method, route, status_code, source, "
                                  "bucket_start, counts, sum, count, lossy)",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
}

static void teardown(void)
{
    sqlite3_close(db);
}

#define FOLD                                                                                       \
    "(select fold_rows(service, method, route, status_code, source, bucket_start, counts, sum, "   \
    "count, lossy) from rows)"
#define BUCKETS(n)     "cast(x'" n "' || zeroblob(112) as blob)"
#define ONE            BUCKETS("0100000000000000")
#define TWO            BUCKETS("0200000000000000")
#define MAX            BUCKETS("ffffffffffffff7f")
#define ROW(key, rest) "insert into rows values (" key ", " rest ");"
#define CART           "'shop', 'GET', '/cart', 200, 'metric'"
#define HELP           "'shop', 'GET', '/help', 200, 'metric'"

static void run(const char *sql)
{
    char *message = NULL;
    ck_assert_msg(sqlite3_exec(db, sql, NULL, NULL, &message) == SQLITE_OK, "%s: %s", sql, message);
}

/* The first column of the query's rows, each followed by a space. */
static const char *answer(const char *sql)
{
    static char all[4096];
    size_t used = 0;
    sqlite3_stmt *statement;
    int code;
    ck_assert_msg(sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK, "%s: %s", sql,
                  sqlite3_errmsg(db));
    all[0] = 0;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        const char *text = (const char *)sqlite3_column_text(statement, 0);
        used += (size_t)snprintf(all + used, sizeof all - used, "%s ", text ? text : "null");
        ck_assert_uint_lt(used, sizeof all);
    }
    ck_assert_msg(code == SQLITE_DONE, "%s: %s", sql, sqlite3_errmsg(db));
    sqlite3_finalize(statement);
    return all;
}

/* The SQLSTATE with which the fold of the rows fails. */
static const char *refusal(const char *sql)
{
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);
    while (code == SQLITE_OK || code == SQLITE_ROW)
        code = sqlite3_step(statement);
    ck_assert_msg(code != SQLITE_DONE, "%s succeeded", sql);
    sqlite_error(db, "fold", &err);
    sqlite3_finalize(statement);
    return err.sqlstate;
}

START_TEST(fold__adds_the_rows_of_a_key)
{
    run(ROW(CART, "0, " ONE ", 0.5, 1, 0") ROW(HELP, "0, " TWO ", 8, 2, 0")
            ROW(CART, "60, " TWO ", 0.25, 2, 1"));
    /* /cart: 1 + 2 in bucket 1, 0.5 + 0.25, lossy once is lossy; /help alone */
    ck_assert_str_eq(answer("select route || ':' || buckets_total(counts) || ':' || sum || ':' || "
                            "count || ':' || lossy from folded_rows(" FOLD ")"),
                     "/cart:3:0.75:3:1 /help:2:8.0:2:0 ");
    ck_assert_str_eq(answer("select service || method || status_code || source || "
                            "typeof(status_code) || typeof(counts) from folded_rows(" FOLD
                            ") limit 1"),
                     "shopGET200metricintegerblob ");
}
END_TEST

#define KEY_TEXT                                                                                   \
    "quote(service) || quote(method) || quote(route) || status_code || quote(source) || ':' "

/* SQLite's own group by is the judge. Bucket b holds the keys whose number has bit b, so that
 * totals appear before, between and behind those that are there. A text that begins another is
 * before it. */
START_TEST(fold__gives_what_group_by_gives)
{
    static const char *const keys[] = {
        "'a', 'GET', '', 0, 'metric'",      "'a', 'GET', '', 0, 'span'",
        "'a', 'GET', '', 99, 'metric'",     "'a', 'GET', '', 100, 'metric'",
        "'a', 'GET', '/', 0, 'metric'",     "'a', 'GET', '/a', 0, 'metric'",
        "'a', 'GET', '/ab', 0, 'metric'",   "'a', 'GET', '/b', 0, 'metric'",
        "'a', 'GETS', '', 0, 'metric'",     "'a', 'PUT', '', 0, 'metric'",
        "'aG', 'ET', '', 0, 'metric'",      "'b', 'GET', '', 0, 'metric'",
        "'\xC3\xA9', 'GET', '', 0, 'span'",
    };
    char sql[256];
    for (int bucket = 0; bucket < 4; bucket++)
        for (int i = 0; i < (int)(sizeof keys / sizeof keys[0]); i++) {
            snprintf(sql, sizeof sql, "insert into rows values (%s, %d, " ONE ", %d, 1, %d)",
                     keys[i], bucket, i, i == 3);
            if ((i + 1) >> bucket & 1)
                run(sql);
        }
    char expected[4096];
    snprintf(expected, sizeof expected, "%s",
             answer("select " KEY_TEXT
                    "|| count(*) || ':' || count(*) || ':' || sum(sum) || ':' || "
                    "max(lossy) from rows group by service, method, route, status_code, source "
                    "order by service, method, route, status_code, source"));
    ck_assert_str_eq(answer("select " KEY_TEXT "|| buckets_total(counts) || ':' || count || ':' || "
                            "cast(sum as integer) || ':' || lossy from folded_rows(" FOLD ")"),
                     expected);
    ck_assert_str_eq(answer("select count(*) from folded_rows(" FOLD ")"), "13 ");
}
END_TEST

/* R-ROLL-1. In doubles 1e16 + 1 = 1e16, so the order decides. */
START_TEST(fold__adds_doubles_in_the_order_of_the_rows)
{
    run(ROW(CART, "0, " ONE ", 1, 1, 0") ROW(HELP, "0, " ONE ", 1e16, 1, 0")
            ROW(CART, "1, " ONE ", 1, 1, 0") ROW(HELP, "1, " ONE ", 1, 1, 0")
                ROW(CART, "2, " ONE ", 1e16, 1, 0") ROW(HELP, "2, " ONE ", 1, 1, 0"));
    ck_assert_str_eq(
        answer("select sum = iif(route = '/cart', 1e16 + 2, 1e16) from folded_rows(" FOLD ")"),
        "1 1 ");
}
END_TEST

static const struct {
    const char *rows;
    const char *sqlstate;
} refusals[] = {
    /* another order than the key's: the doubles would add up to other bits (R-ROLL-1) */
    {ROW(CART, "1, " ONE ", 1, 1, 0") ROW(HELP, "0, " ONE ", 1, 1, 0"), "XX000"},
    {ROW(HELP, "0, " ONE ", 1, 1, 0") ROW(CART, "0, " ONE ", 1, 1, 0"), "XX000"},
    {ROW(CART, "0, " ONE ", 1, 1, 0") ROW(CART, "0, " ONE ", 1, 1, 0"), "XX000"},
    /* R-TX-4 */
    {ROW(CART, "0, " MAX ", 1, 1, 0") ROW(CART, "1, " ONE ", 1, 1, 0"), "22003"},
    {ROW(CART, "0, " ONE ", 1, 9223372036854775807, 0") ROW(CART, "1, " ONE ", 1, 1, 0"), "22003"},
    {ROW(CART, "0, " ONE ", 1.7e308, 1, 0") ROW(CART, "1, " ONE ", 1.7e308, 1, 0"), "22003"},
    /* not a histogram: MS "add_buckets" */
    {ROW(CART, "0, zeroblob(112), 1, 1, 0"), "2202E"},
    {ROW(CART, "0, " BUCKETS("ffffffffffffffff") ", 1, 1, 0"), "2202E"},
    {ROW(CART, "0, null, 1, 1, 0"), "2202E"},
};

START_TEST(fold__refuses)
{
    run(refusals[_i].rows);
    ck_assert_str_eq(refusal("select * from folded_rows(" FOLD ")"), refusals[_i].sqlstate);
}
END_TEST

START_TEST(fold__no_rows_are_no_totals)
{
    ck_assert_str_eq(answer("select " FOLD " is null"), "1 ");
    ck_assert_str_eq(answer("select count(*) from folded_rows(" FOLD ")"), "0 ");
    ck_assert_str_eq(answer("select count(*) from folded_rows(null)"), "0 ");
}
END_TEST

START_TEST(folded_rows__takes_nothing_but_a_fold)
{
    ck_assert_str_eq(refusal("select * from folded_rows('text')"), "XX000");
    ck_assert(strstr(err.message, "folded_rows takes what fold_rows gives"));
    run(ROW(CART, "0, " ONE ", 1, 1, 0"));
    /* one byte short, one too many */
    ck_assert_str_eq(
        refusal("select * from folded_rows(substr(" FOLD ", 1, length(" FOLD ") - 1))"), "XX000");
    ck_assert_str_eq(refusal("select * from folded_rows(cast(" FOLD " || x'00' as blob))"),
                     "XX000");
    ck_assert_str_eq(answer("select count(*) from folded_rows(cast(" FOLD " || " FOLD " as blob))"),
                     "2 ");
    ck_assert_str_eq(refusal("select * from folded_rows"), "XX000"); /* no argument */
}
END_TEST

/* A file from anyone may name them in its views. */
START_TEST(fold__is_not_for_schemas)
{
    run("create view totals as select * from folded_rows(null);"
        "create view fold as select " FOLD);
    ck_assert_str_eq(refusal("select * from totals"), "XX000");
    ck_assert(strstr(err.message, "unsafe"));
    ck_assert_str_eq(refusal("select * from fold"), "XX000");
    ck_assert(strstr(err.message, "unsafe"));
}
END_TEST

Suite *store_fold_suite(void);
Suite *store_fold_suite(void)
{
    Suite *suite = suite_create("store_fold");
    TCase *test = tcase_create("fold");
    tcase_add_checked_fixture(test, setup, teardown);
    tcase_add_test(test, fold__adds_the_rows_of_a_key);
    tcase_add_test(test, fold__gives_what_group_by_gives);
    tcase_add_test(test, fold__adds_doubles_in_the_order_of_the_rows);
    tcase_add_loop_test(test, fold__refuses, 0, sizeof refusals / sizeof refusals[0]);
    tcase_add_test(test, fold__no_rows_are_no_totals);
    tcase_add_test(test, folded_rows__takes_nothing_but_a_fold);
    tcase_add_test(test, fold__is_not_for_schemas);
    suite_add_tcase(suite, test);
    return suite;
}

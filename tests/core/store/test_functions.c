/* The SQL functions by themselves: what the queries do not reach. */
#include "core/store/sqlite/sqlite_store.h"
#include <check.h>
#include <string.h>

static sqlite3 *db;
static struct err err;

static void setup(void)
{
    ck_assert_int_eq(sqlite3_open(":memory:", &db), SQLITE_OK);
    ck_assert_int_eq(sqlite_functions_register(db, &err), STATUS_OK);
}

static void teardown(void)
{
    sqlite3_close(db);
}

/* An expression over b(n), 15 buckets with n in the first, and its value as SQLite's quote() gives
 * it, or the SQLSTATE it fails with. */
#define B(n) "cast(x'" n "' || zeroblob(112) as blob)"
#define ONE  B("0100000000000000")
#define MAX  B("ffffffffffffff7f")
#define NEG  B("ffffffffffffffff")

static const struct {
    const char *expression;
    const char *value;
    const char *sqlstate;
} cases[] = {
    /* MS "Histogram contract" */
    {"buckets_total(" ONE ")", "1", NULL},
    {"buckets_total(" MAX ")", "9223372036854775807", NULL},
    {"buckets_total(" NEG ")", "NULL", NULL},
    {"buckets_total(zeroblob(120))", "0", NULL},
    {"buckets_total(zeroblob(112))", "NULL", NULL},
    {"buckets_total(zeroblob(128))", "NULL", NULL},
    {"buckets_total(null)", "NULL", NULL},
    {"add_buckets(" ONE ", zeroblob(120)) = " ONE, "1", NULL},
    {"buckets_total(add_buckets(" ONE ", " ONE "))", "2", NULL},
    {"add_buckets(" MAX ", " ONE ")", NULL, "22003"},
    {"add_buckets(" ONE ", zeroblob(8))", NULL, "2202E"},
    {"add_buckets(" NEG ", " ONE ")", NULL, "2202E"},
    {"add_buckets(null, " ONE ")", "NULL", NULL},
    /* 128 bits, little endian: of bucket 1, then of all */
    {"(select sum_wide(column1) is null from (values (null)))", "1", NULL},
    {"(select length(sum_wide(column1)) from (values (" ONE ")))", "240", NULL},
    {"(select substr(sum_wide(column1), 1, 16) from (values (" ONE "), (null), (" ONE ")))",
     "X'02000000000000000000000000000000'", NULL},
    {"(select substr(sum_wide(column1), 1, 16) from (values (" MAX "), (" MAX "), (" ONE "), (" ONE
     ")))",
     "X'00000000000000000100000000000000'", NULL},
    {"(select wide_total(sum_wide(column1)) from (values (" MAX "), (" MAX "), (cast(zeroblob(112) "
     "|| x'0300000000000000' as blob))))",
     "X'01000000000000000100000000000000'", NULL},
    {"wide_total(null)", "NULL", NULL},
    {"wide_total(zeroblob(120))", "NULL", NULL},
    {"(select sum_wide(column1) from (values (zeroblob(1))))", NULL, "2202E"},
    /* bigint */
    {"add_bigint(9223372036854775806, 1)", "9223372036854775807", NULL},
    {"add_bigint(9223372036854775807, 1)", NULL, "22003"},
    {"add_bigint(-9223372036854775807, -2)", NULL, "22003"},
    {"add_bigint(1, null)", "NULL", NULL},
    {"(select sum_bigint(column1) from (values (1), (null), (2)))", "3", NULL},
    {"(select sum_bigint(column1) from (values (null)))", "NULL", NULL},
    {"(select sum_bigint(column1) from (values (9223372036854775807), (1)))", NULL, "22003"},
    /* doubles */
    {"add_double(0.5, 0.25)", "0.75", NULL},
    {"add_double(1.7e308, 1.7e308)", NULL, "22003"},
    /* days: 2024-02-29 is 19782, 2024-02-01 is 19754; 1969-12-31 is -1, 1969-12-01 is -31 */
    {"month_start(19782)", "19754", NULL},
    {"month_start(19754)", "19754", NULL},
    {"month_start(-1)", "-31", NULL},
    {"month_start(9223372036854775807)", "NULL", NULL},
    {"month_start(null)", "NULL", NULL},
    /* bytes, not characters */
    {"octet_length('')", "0", NULL},
    {"octet_length(-12)", "3", NULL},
    {"octet_length('\xE2\x82\xAC')", "3", NULL},
    /* locks and refusals */
    {"row_locked('rollup_pending', 'a', 1)", "0", NULL},
    {"refuse('55000', 'tenant is not removed')", NULL, "55000"},
    {"refuse('5500', 'x')", NULL, "XX000"},
    {"iif(1, 'kept', refuse('23514', 'no'))", "'kept'", NULL}, /* only where it is asked for */
    {"no_such_function(1)", NULL, "XX000"},
};

START_TEST(function__gives_the_value_or_the_sqlstate)
{
    char *sql = sqlite3_mprintf("select quote(%s)", cases[_i].expression);
    sqlite3_stmt *statement = NULL;
    int rc = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);
    rc = rc == SQLITE_OK ? sqlite3_step(statement) : rc;
    if (cases[_i].sqlstate) {
        ck_assert_msg(rc != SQLITE_ROW, "%s succeeded", sql);
        enum status status = sqlite_error(db, "test", &err);
        ck_assert_str_eq(err.sqlstate, cases[_i].sqlstate);
        ck_assert_int_eq(status, status_of_sqlstate(cases[_i].sqlstate));
    } else {
        ck_assert_msg(rc == SQLITE_ROW, "%s: %s", sql, sqlite3_errmsg(db));
        ck_assert_str_eq((const char *)sqlite3_column_text(statement, 0), cases[_i].value);
    }
    sqlite3_finalize(statement);
    sqlite3_free(sql);
}
END_TEST

/* A file from anyone may name functions in its views: those with an effect are not for it. */
START_TEST(function__refuse_is_not_for_schemas)
{
    ck_assert_int_eq(sqlite3_exec(db, "create view v as select refuse('55000', 'x')", 0, 0, 0),
                     SQLITE_OK);
    ck_assert_int_eq(sqlite3_exec(db, "select * from v", NULL, NULL, NULL), SQLITE_ERROR);
    ck_assert_msg(strstr(sqlite3_errmsg(db), "unsafe"), "%s", sqlite3_errmsg(db));
}
END_TEST

START_TEST(refuse__says_its_message)
{
    ck_assert_int_eq(sqlite3_exec(db, "select refuse('55000', 'not yet: 5 left')", 0, 0, 0),
                     SQLITE_ERROR);
    ck_assert_int_eq(sqlite_error(db, "purge", &err), STATUS_TRANSIENT);
    ck_assert_str_eq(err.message, "not yet: 5 left");
}
END_TEST

Suite *store_functions_suite(void);
Suite *store_functions_suite(void)
{
    Suite *suite = suite_create("store_functions");
    TCase *test = tcase_create("functions");
    tcase_add_checked_fixture(test, setup, teardown);
    tcase_add_loop_test(test, function__gives_the_value_or_the_sqlstate, 0,
                        sizeof cases / sizeof cases[0]);
    tcase_add_test(test, function__refuse_is_not_for_schemas);
    tcase_add_test(test, refuse__says_its_message);
    suite_add_tcase(suite, test);
    return suite;
}

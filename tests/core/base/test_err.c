/* Statuses and errors: what a SQLSTATE decides (MS "Poison messages"). */
#include "core/base/err.h"
#include <check.h>
#include <string.h>

START_TEST(status__class_decides)
{
    static const struct {
        const char *sqlstate;
        enum status status;
    } cases[] = {
        {"00000", STATUS_OK},        {"08006", STATUS_TRANSIENT}, {"40001", STATUS_TRANSIENT},
        {"40P01", STATUS_TRANSIENT}, {"53200", STATUS_TRANSIENT}, {"55P03", STATUS_TRANSIENT},
        {"57014", STATUS_TRANSIENT}, {"58030", STATUS_TRANSIENT}, {"XX000", STATUS_TRANSIENT},
        {"22003", STATUS_DATA},      {"2202E", STATUS_DATA},      {"23514", STATUS_DATA},
        {"25P02", STATUS_REFUSED},   {"42501", STATUS_REFUSED},   {"54000", STATUS_REFUSED},
    };
    const char *sqlstate = cases[_i].sqlstate;
    ck_assert_msg(status_of_sqlstate(sqlstate) == cases[_i].status, "%s gave %s", sqlstate,
                  status_name(status_of_sqlstate(sqlstate)));
}
END_TEST
#define CLASS_CASES 15

START_TEST(status__names_are_distinct)
{
    for (int a = STATUS_OK; a <= STATUS_STOPPED; a++) {
        ck_assert_int_gt((int)strlen(status_name((enum status)a)), 0);
        for (int b = STATUS_OK; b < a; b++)
            ck_assert_str_ne(status_name((enum status)a), status_name((enum status)b));
    }
}
END_TEST

START_TEST(err__sql_takes_status_and_state)
{
    struct err err;
    ck_assert_int_eq(err_sql(&err, "23514", "no partition for %s", "x"), STATUS_DATA);
    ck_assert_int_eq(err.status, STATUS_DATA);
    ck_assert_str_eq(err.sqlstate, "23514");
    ck_assert_str_eq(err.message, "no partition for x");
    ck_assert_str_eq(err.hint, "");
}
END_TEST

START_TEST(err__set_replaces_an_older_error)
{
    struct err err;
    err_sql(&err, "40001", "first");
    err_hint(&err, "try %d", 2);
    ck_assert_str_eq(err.hint, "try 2");
    ck_assert_int_eq(err_set(&err, STATUS_IO, NULL, "second"), STATUS_IO);
    ck_assert_str_eq(err.sqlstate, "");
    ck_assert_str_eq(err.message, "second");
    ck_assert_str_eq(err.hint, "");
}
END_TEST

START_TEST(err__long_text_is_cut_at_the_end_of_its_buffer)
{
    char text[600];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    struct err err;
    err_set(&err, STATUS_INVALID, NULL, "%s", text);
    err_hint(&err, "%s", text);
    ck_assert_uint_eq(strlen(err.message), sizeof err.message - 1);
    ck_assert_uint_eq(strlen(err.hint), sizeof err.hint - 1);
}
END_TEST

START_TEST(err__tail)
{
    ck_assert_str_eq(err_tail("abc", 3), "abc");
    ck_assert_str_eq(err_tail("abcd", 3), "bcd");
    ck_assert_str_eq(err_tail("", 1), "");
    ck_assert_str_eq(err_tail("a\xC3\xA4z", 2), "z"); /* never half a letter */
}
END_TEST

Suite *err_suite(void);
Suite *err_suite(void)
{
    Suite *suite = suite_create("err");
    TCase *tcase = tcase_create("err");
    tcase_add_loop_test(tcase, status__class_decides, 0, CLASS_CASES);
    tcase_add_test(tcase, err__tail);
    tcase_add_test(tcase, status__names_are_distinct);
    tcase_add_test(tcase, err__sql_takes_status_and_state);
    tcase_add_test(tcase, err__set_replaces_an_older_error);
    tcase_add_test(tcase, err__long_text_is_cut_at_the_end_of_its_buffer);
    suite_add_tcase(suite, tcase);
    return suite;
}

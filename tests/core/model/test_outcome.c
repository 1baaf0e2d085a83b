/* Names that stand in tables, traces and expectations. */
#include "core/model/outcome.h"
#include "core/model/point.h"
#include "core/port/ports.h"
#include <check.h>
#include <string.h>

/* R-OUT-1 lists them in this order. */
static const char point_names[] =
    "first_full baseline catch_up delta unchanged reset duplicate out_of_order refused_cap "
    "no_value "
    "rejected_attributes rejected_type rejected_temporality rejected_unit rejected_interval "
    "rejected_too_old rejected_future rejected_shape rejected_overflow rejected_sum "
    "rejected_status ";
static const char message_names[] =
    "applied already_applied dead_validation dead_data_error dead_retries dead_id_conflict "
    "dead_tenant retry ";

START_TEST(outcome__points_are_named_as_listed)
{
    char all[1024] = "";
    for (int i = 0; i < POINT_OUTCOME_COUNT; i++)
        strcat(strcat(all, point_outcome_name((enum point_outcome)i)), " ");
    ck_assert_str_eq(all, point_names);
}
END_TEST

START_TEST(outcome__messages_are_named_as_listed)
{
    char all[1024] = "";
    for (int i = 0; i < MESSAGE_OUTCOME_COUNT; i++)
        strcat(strcat(all, message_outcome_name((enum message_outcome)i)), " ");
    ck_assert_str_eq(all, message_names);
}
END_TEST

START_TEST(outcome__counters_have_names_of_their_own)
{
    ck_assert_str_eq(counter_name(COUNTER_ROLLUP_DRIFTED_HOURS), "rollup_drifted_hours");
    ck_assert_str_eq(counter_name(COUNTER_ROLLUP_ORPHANED_MARKS), "rollup_orphaned_marks");
    for (int a = 0; a < COUNTER_COUNT; a++)
        for (int b = 0; b < a; b++)
            ck_assert_str_ne(counter_name((enum counter)a), counter_name((enum counter)b));
}
END_TEST

START_TEST(outcome__sources_are_the_values_of_the_column)
{
    ck_assert_str_eq(source_name(SOURCE_METRIC), "metric");
    ck_assert_str_eq(source_name(SOURCE_SPAN), "span");
}
END_TEST

Suite *outcome_suite(void);
Suite *outcome_suite(void)
{
    Suite *suite = suite_create("outcome");
    TCase *tcase = tcase_create("outcome");
    tcase_add_test(tcase, outcome__points_are_named_as_listed);
    tcase_add_test(tcase, outcome__messages_are_named_as_listed);
    tcase_add_test(tcase, outcome__counters_have_names_of_their_own);
    tcase_add_test(tcase, outcome__sources_are_the_values_of_the_column);
    suite_add_tcase(suite, tcase);
    return suite;
}

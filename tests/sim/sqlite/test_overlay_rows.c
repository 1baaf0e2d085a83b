/* Rows that another open transaction holds: who waits, for whom, and what comes after
 * (sim/sqlite/README.md; every answer here was PostgreSQL 15's). */
#include "tests/sim/sqlite/stage.h"
#include <check.h>

static struct stage *stage;

static void set_up(void)
{
    stage = stage_new(1);
}

static void tear_down(void)
{
    stage_free(stage);
}

START_TEST(rows__do_nothing_waits_for_an_uncommitted_insert)
{
    stage_play(stage, "a begin: ok\n"
                      "b begin: ok\n"
                      "a mark 1 5: 1\n"
                      "b mark 1 6: waits\n"
                      "a commit: ok\n"
                      "b: 0\n"
                      "b dumppending: 60:5\n"
                      "b commit: ok\n");
}
END_TEST

START_TEST(rows__do_nothing_inserts_after_the_other_rolled_back)
{
    stage_play(stage, "a begin: ok\n"
                      "b begin: ok\n"
                      "a mark 1 5: 1\n"
                      "b mark 1 6: waits\n"
                      "a rollback: ok\n"
                      "b: 1\n"
                      "b commit: ok\n"
                      "a begin: ok\n"
                      "a dumppending: 60:6\n"
                      "a commit: ok\n");
}
END_TEST

START_TEST(rows__do_nothing_on_a_committed_row_takes_no_lock)
{
    stage_play(stage, "a begin: ok\n"
                      "a mark 1 5: 1\n"
                      "a commit: ok\n"
                      "a begin: ok\n"
                      "a mark 1 6: 0\n"
                      "b begin: ok\n"
                      "b claim 5: 60:5\n"
                      "b commit: ok\n"
                      "a dumppending: none\n"
                      "a commit: ok\n");
}
END_TEST

START_TEST(rows__upsert_waits_and_adds_to_the_new_version)
{
    stage_play(stage, "a begin: ok\n"
                      "b begin: ok\n"
                      "c begin: ok\n"
                      "a warn 1 10: 1\n"
                      "b warn 1 5: waits\n"
                      "c warn 2 7: 1\n"
                      "c dumpwarn: 0:lossy_histogram:7\n"
                      "a commit: ok\n"
                      "b: 1\n"
                      "b dumpwarn: 0:coarse_buckets:15\n"
                      "c dumpwarn: 0:coarse_buckets:10 0:lossy_histogram:7\n"
                      "b rollback: ok\n"
                      "c commit: ok\n");
}
END_TEST

Suite *overlay_rows_suite(void);
Suite *overlay_rows_suite(void)
{
    Suite *suite = suite_create("overlay_rows");
    TCase *tcase = tcase_create("rows");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, rows__do_nothing_waits_for_an_uncommitted_insert);
    tcase_add_test(tcase, rows__do_nothing_inserts_after_the_other_rolled_back);
    tcase_add_test(tcase, rows__do_nothing_on_a_committed_row_takes_no_lock);
    tcase_add_test(tcase, rows__upsert_waits_and_adds_to_the_new_version);
    suite_add_tcase(suite, tcase);
    return suite;
}

/* sim/run: what fails a run, and that one line says what broke. */
#include "sim/run/report.h"
#include "tests/sim/run/run_bench.h"
#include <check.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The body stands from line 5 on. */
static const struct {
    const char *body;
    const char *failures;
} runs[] = {
    /* good ones */
    {"writer w1\nat 1m s1 sends 10", ""},
    {"writer w1\nhold w1 before Commit\nat 1m s1 sends 10\nat 2m release w1", ""},
    {"at 1m s1 sends 10\nrun until 2m without draining", ""},
    {"without minute partition 2026-03-08\nwithout hourly partition 2026-06\nwriter w1\n"
     "at 1m s1 sends 10\nexpect counter partitions_created 19",
     ""},
    {"writer w1\nhold w1 before Commit\nat 1m s1 sends 10\nrun until 2m without draining", ""},

    /* an expectation: file, line, what, of whom, expected, got */
    {"writer w1\nat 1m s1 sends 10\nexpect outcome first_full of acme 2",
     "expectation: t.scn:7:1: outcome first_full of acme: expected 2, got 1\n"},
    {"writer w1\nat 1m s1 sends 10\nat 2m expect message applied 2",
     "expectation: t.scn:7:1: message applied: expected 2, got 1\n"},
    {"writer w1\nat 1m s1 sends 10\nexpect dlq of acme 1 reason dead_validation",
     "expectation: t.scn:7:1: dlq of acme reason dead_validation: expected 1, got 0\n"},
    {"writer w1\nat 1m s1 sends 10\nexpect requests minute of acme service \"cart\" GET /a 200 "
     "source "
     "metric from 0s until 1h 11",
     "expectation: t.scn:7:1: requests minute of acme service \"cart\" GET /a 200 source metric "
     "from "
     "0s until 1h: expected 11, got 10\n"},
    {"writer w1\nat 1m s1 sends 10\nexpect sum minute of acme 0.5",
     "expectation: t.scn:7:1: sum minute of acme: expected 0.5, got 0.15625\n"},
    {"writer w1\nat 1m s1 sends 10\nexpect p50 minute of acme >10s",
     "expectation: t.scn:7:1: p50 minute of acme: expected >10s, got 0.017500000000000002\n"},
    {"writer w1\nat 1m s1 sends 10\nexpect warning lossy_histogram of acme 1",
     "expectation: t.scn:7:1: warning lossy_histogram of acme: expected 1, got 0\n"},
    {"writer w1\nat 1m s1 sends 10\nexpect rows series_state 2",
     "expectation: t.scn:7:1: rows series_state: expected 2, got 1\n"},
    {"writer w1\nat 1m s1 sends 10\nexpect pending of acme 0",
     "expectation: t.scn:7:1: pending of acme: expected 0, got 1\n"},
    {"writer w1\nat 1m s1 sends 10\nexpect log error job_failed 1",
     "expectation: t.scn:7:1: log error job_failed: expected 1, got 0\n"},
    {"writer w1\nat 1m s1 sends 10\nexpect counter partitions_created 1",
     "expectation: t.scn:7:1: counter partitions_created: expected 1, got 21\n"},

    /* what is open at the end */
    {"at 1m s1 sends 10\nat 2m s1 sends +5",
     "liveness: at end: 2 message(s) are still queued, the first is 1 \"s1-1\" of acme (waiting): "
     "no "
     "writer runs: start one, or write: run until ... without draining\n"},
    {"writer w1\nat 1m s1 sends 10\nat 2m w1 stops\nat 3m s1 sends +5",
     "liveness: at end: 1 message(s) are still queued, the first is 2 \"s1-2\" of acme (waiting): "
     "no "
     "writer runs: start one, or write: run until ... without draining\n"},
    {"writer w1\nhold w1 before Commit\nat 1m s1 sends 10",
     "liveness: t.scn:6:1: \"hold w1 before Commit\" is never released: at a later time release "
     "w1, or "
     "write: run until ... without draining\n"
     "liveness: at end: 1 message(s) are still queued, the first is 1 \"s1-1\" of acme (waiting): "
     "no "
     "writer got rid of them in an hour: mend that, or write: run until ... without draining\n"},
    {"writer w1\njob rollup every 5m\nhold rollup after Begin\nat 1m s1 sends 10",
     "liveness: t.scn:7:1: \"hold rollup after Begin\" is never released: at a later time release "
     "rollup, or write: run until ... without draining\n"},
    {"writer w1\nhold w1 after Commit nth 2\nat 1m s1 sends 10\nat 30m s1 sends +5\nat 31m w1 "
     "crashes",
     "liveness: at end: 1 message(s) are still queued, the first is 2 \"s1-2\" of acme (waiting): "
     "no "
     "writer runs: start one, or write: run until ... without draining\n"},

    /* faults that never came, or not often enough */
    {"writer w1\ncrash w1 before Commit nth 7\nat 1m s1 sends 10",
     "fault: t.scn:6:1: crash w1 before Commit nth 7: expected once, got never\n"},
    {"writer w1\nfault AddMinute 40001 3 times where \"/b\"\nat 1m s1 sends 10",
     "fault: t.scn:6:1: fault AddMinute 40001 3 times where \"/b\": expected 3 times, got never\n"},
    {"writer w1\nfrom 2m until 3m fault Begin 40001 always\nat 1m s1 sends 10",
     "fault: t.scn:6:1: from 2m until 3m fault Begin 40001 always: expected at least once, got "
     "never\n"},
    {"writer w1\nfrom 1m until 1m5s fault Begin 40001 3 times\nat 1m s1 sends 10",
     "fault: t.scn:6:1: from 1m until 1m5s fault Begin 40001 3 times: expected 3 times, got "
     "once\n"},

    /* events that cannot be */
    {"writer w1\nat 1m s1 sends 10\nat 1m deliver file \"none.pb\" of acme",
     "event: t.scn:7:1: could not open file \"tests/data/none.pb\": No such file or directory\n"},
    {"writer w1\nat 1m s1 sends 10\nat 1m deliver file \"otlp\" of acme",
     "event: t.scn:7:1: cannot read \"tests/data/otlp\": it is a folder, not a file\n"},
    {"without minute partition 2026-03-09\nwriter w1\nat 1m s1 sends 10",
     "event: t.scn:5:1: the partition is not in the initial window: minutes from 7 days back to 7 "
     "ahead, hours from the month 31 days back to 3 ahead\n"},
    {"writer w1\nat 1m s1 sends 10\nat 2m release w1", "event: t.scn:7:1: \"w1\" is not held\n"},
};

START_TEST(run__one_line_says_what_broke)
{
    struct run_bench bench;
    run_bench_play(&bench, runs[_i].body);
    ck_assert_msg(strcmp(run_bench_failures(&bench), runs[_i].failures) == 0,
                  "%s\ngot:\n%sexpected:\n%s", runs[_i].body, run_bench_failures(&bench),
                  runs[_i].failures);
    run_bench_free(&bench);
}
END_TEST

static json_t *json_of(const struct report *report)
{
    char *text = NULL;
    size_t size = 0;
    json_error_t error;
    FILE *out = open_memstream(&text, &size);
    ck_assert_ptr_nonnull(out);
    report_json(out, report, true);
    fclose(out);
    json_t *json = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);
    ck_assert_msg(json != NULL, "%s: %s", error.text, text);
    free(text);
    return json;
}

static void member_is(json_t *object, const char *name, const char *expected)
{
    const char *got = json_string_value(json_object_get(object, name));
    ck_assert_msg(got != NULL && strcmp(got, expected) == 0, "%s: %s", name, got ? got : "(none)");
}

START_TEST(report__json_carries_the_failures_and_how_to_repeat_them)
{
    struct run_bench bench;
    run_bench_play(&bench, "writer w1\nat 1m s1 sends 10\n"
                           "expect requests minute of acme GET \"/\\\"q\" 200 3");
    struct report report = {.scenario = "a b/t\xff.scn",
                            .backend = "sqlite",
                            .seed = 7,
                            .rules_text = "-A-5 +S-8",
                            .verdict = VERDICT_FAIL,
                            .result = &bench.result,
                            .real_ns = 5};
    json_t *json = json_of(&report);
    member_is(json, "name", "a b/t\xef\xbf\xbd.scn");
    member_is(json, "verdict", "fail");
    ck_assert_int_eq(json_integer_value(json_object_get(json, "seed")), 7);
    member_is(json, "repeat",
              "./metersim run \"a b/t\xef\xbf\xbd.scn\" --seed 7 --rules=\"-A-5 +S-8\"");
    ck_assert_int_eq(json_integer_value(json_object_get(json, "failures_left_out")), 0);
    json_t *failures = json_object_get(json, "failures");
    ck_assert_uint_eq(json_array_size(failures), 1);
    json_t *failure = json_array_get(failures, 0);
    member_is(failure, "kind", "expectation");
    member_is(failure, "where", "t.scn:7:1");
    member_is(failure, "cell", "requests minute of acme GET \"/\\\"q\" 200");
    member_is(failure, "expected", "3");
    member_is(failure, "got", "0");
    member_is(failure, "text",
              "t.scn:7:1: requests minute of acme GET \"/\\\"q\" 200: expected 3, got 0");
    json_decref(json);
    run_bench_free(&bench);
}
END_TEST

/* The list of failures is bounded, their number is not hidden. */
START_TEST(report__says_how_many_failures_it_leaves_out)
{
    struct run_bench bench;
    run_bench_play(&bench, "writer w1\nat 1m s1 sends 10");
    for (int i = 0; i < RUN_FAILURES_MAX + 2; i++)
        run_fail(&bench.result, "internal", "", "failure %d", i);
    struct report report = {
        .scenario = "t.scn", .backend = "sqlite", .verdict = VERDICT_FAIL, .result = &bench.result};
    json_t *json = json_of(&report);
    ck_assert_uint_eq(json_array_size(json_object_get(json, "failures")), RUN_FAILURES_MAX);
    ck_assert_int_eq(json_integer_value(json_object_get(json, "failures_left_out")), 2);
    json_decref(json);
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    report_text(out, &report, false);
    fclose(out);
    ck_assert_ptr_nonnull(strstr(text, "  internal: failure 63\n  and 2 more failures\n"
                                       "  repeat: ./metersim run t.scn --seed 0\n"));
    free(text);
    run_bench_free(&bench);
}
END_TEST

Suite *runner_suite(void);
Suite *runner_suite(void)
{
    Suite *suite = suite_create("runner");
    TCase *tcase = tcase_create("run");
    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, run__one_line_says_what_broke, 0,
                        (int)(sizeof(runs) / sizeof(runs[0])));
    tcase_add_test(tcase, report__json_carries_the_failures_and_how_to_repeat_them);
    tcase_add_test(tcase, report__says_how_many_failures_it_leaves_out);
    suite_add_tcase(suite, tcase);
    return suite;
}

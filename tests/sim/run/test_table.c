/* sim/run/table and golden_check: order, and differences that name table, row and column. */
#include "sim/run/golden_check.h"
#include "sim/run/paths.h"
#include "tests/sim/run/run_bench.h"
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct arena arena;

static void set_up(void)
{
    arena_init(&arena, (size_t)16 << 20);
}

static void tear_down(void)
{
    arena_free(&arena);
}

/* Sequences are numbers, every other cell is text: message "10" stands before "9". */
START_TEST(table__sorts_sequences_as_numbers_and_the_rest_as_text)
{
    static const char *const columns[] = {"sequence", "msg_id"};
    static const char *const other[] = {"msg_id", "sequence"};
    static const char *const rows[][2] = {{"10", "a"}, {"9", "c"}, {"100", "b"}, {"2", "d"}};
    struct table *queue = table_new(&arena, "queue", 1, columns, 2);
    struct table *texts = table_new(&arena, "texts", 1, other, 2);
    for (size_t i = 0; i < 4; i++)
        ck_assert(table_add(queue, rows[i]) && table_add(texts, rows[i]));
    table_sort(queue);
    table_sort(texts);
    static const char *const numbers[] = {"2", "9", "10", "100"};
    static const char *const bytewise[] = {"10", "100", "2", "9"};
    for (size_t i = 0; i < 4; i++) {
        ck_assert_str_eq(table_cell(queue, i, 0), numbers[i]);
        ck_assert_str_eq(table_cell(texts, i, 0), bytewise[i]);
    }
}
END_TEST

/* A golden whose rows are 10 and 9 in some order equals a run's 9 and 10; a row that is missing on
 * one side is named with what it holds. */
START_TEST(table__compares_by_sequence)
{
    static const char *const columns[] = {"sequence", "msg_id", "deliveries"};
    struct table *want = table_new(&arena, "queue", 1, columns, 3);
    struct table *have = table_new(&arena, "queue", 1, columns, 3);
    struct table_difference differences[4];
    ck_assert(table_add(want, (const char *const[]){"10", "j", "1"}));
    ck_assert(table_add(want, (const char *const[]){"9", "", "1"}));
    ck_assert(table_add(have, (const char *const[]){"9", "", "1"}));
    ck_assert(table_add(have, (const char *const[]){"10", "j", "1"}));
    struct snapshot expected = {.label = "end", .tables = want, .table_count = 1};
    struct snapshot got = {.label = "end", .tables = have, .table_count = 1};
    ck_assert_uint_eq(tables_compare(&expected, &got, "", &arena, differences, 4), 0);
    ck_assert(table_add(have, (const char *const[]){"11", "", "2"}));
    ck_assert_uint_eq(tables_compare(&expected, &got, "", &arena, differences, 4), 1);
    ck_assert_str_eq(differences[0].table, "queue");
    ck_assert_str_eq(differences[0].key, "11");
    ck_assert_str_eq(differences[0].column, "row");
    ck_assert_str_eq(differences[0].expected, "none");
    ck_assert_str_eq(differences[0].got, "msg_id='' deliveries=2");
}
END_TEST

/* The golden as a run would write it, with some lines changed. */
static const char *failures_against(struct run_bench *bench, const char *from, const char *to)
{
    char *text = NULL;
    size_t size = 0;
    struct golden golden;
    struct err err = {0};
    FILE *out = open_memstream(&text, &size);
    golden_print(out, "t.scn", bench->result.snapshots, bench->result.snapshot_count);
    fclose(out);
    char *at = strstr(text, from);
    ck_assert_ptr_nonnull(at);
    size_t room = size + strlen(to) + 1;
    char *changed = calloc(1, room);
    snprintf(changed, room, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    enum status status =
        golden_parse("t.golden", changed, strlen(changed), &bench->arena, &golden, &err);
    ck_assert_msg(status == STATUS_OK, "%s", err.message);
    golden_check(bench->scenario, &golden, false, &bench->result);
    free(changed);
    free(text);
    return run_bench_failures(bench);
}

static const struct {
    const char *from; /* in the golden */
    const char *to;
    const char *failures;
} changes[] = {
    {"at end", "at end", ""},
    {"first_full  |  1", "first_full  |  2",
     "golden: t.golden: at end, outcomes, row \"acme point first_full\", count: expected 2, got "
     "1\n"},
    {"empty: metrics_hourly metrics_daily", "empty: metrics_daily",
     "golden: t.golden: at end, metrics_hourly: expected no such table, got a table\n"},
    {"empty: ", "empty: metrics_weekly ",
     "golden: t.golden: at end, metrics_weekly: expected a table, got none: the scenario leaves it "
     "out\n"},
    {"at end", "at 2026-03-01T00:10:00Z",
     "golden: t.golden: its moments: expected 2026-03-01T00:10:00Z, got end\n"},
    {"at end", "at 2026-03-01T00:10:00Z\n\nat end",
     "golden: t.golden: its moments: expected 2026-03-01T00:10:00Z, end, got end\n"},
};

START_TEST(golden__names_table_row_and_column)
{
    struct run_bench bench;
    run_bench_play(&bench, "writer w1\nat 1m s1 sends 10");
    const char *failures = failures_against(&bench, changes[_i].from, changes[_i].to);
    ck_assert_msg(strcmp(failures, changes[_i].failures) == 0, "got:\n%sexpected:\n%s", failures,
                  changes[_i].failures);
    run_bench_free(&bench);
}
END_TEST

START_TEST(paths__are_told_from_the_folder_of_scenarios)
{
    static const struct {
        const char *scenario;
        const char *golden;
        const char *data;
        const char *name;
    } paths[] = {
        {"scenarios/a/b.scn", "golden/a/b.golden", "tests/data/x.pb", "scenarios/a/b.scn"},
        {"./scenarios/b.scn", "golden/b.golden", "tests/data/x.pb", "scenarios/b.scn"},
        {"../scenarios/a/b.scn", "../golden/a/b.golden", "../tests/data/x.pb", "scenarios/a/b.scn"},
        {"/x/scenarios/scenarios/b.scn", "/x/scenarios/golden/b.golden",
         "/x/scenarios/tests/data/x.pb", "scenarios/b.scn"},
        {"my-scenarios/b.scn", "my-scenarios/b.golden", "my-scenarios/tests/data/x.pb",
         "my-scenarios/b.scn"},
        {"b.scn", "b.golden", "tests/data/x.pb", "b.scn"},
    };
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        ck_assert_str_eq(path_golden(paths[i].scenario, &arena), paths[i].golden);
        ck_assert_str_eq(path_data(paths[i].scenario, "x.pb", &arena), paths[i].data);
        ck_assert_str_eq(path_name(paths[i].scenario, &arena), paths[i].name);
    }
}
END_TEST

Suite *table_suite(void);
Suite *table_suite(void)
{
    Suite *suite = suite_create("table");
    TCase *tcase = tcase_create("table");
    tcase_set_timeout(tcase, 60);
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, table__sorts_sequences_as_numbers_and_the_rest_as_text);
    tcase_add_test(tcase, table__compares_by_sequence);
    tcase_add_loop_test(tcase, golden__names_table_row_and_column, 0,
                        (int)(sizeof(changes) / sizeof(changes[0])));
    tcase_add_test(tcase, paths__are_told_from_the_folder_of_scenarios);
    suite_add_tcase(suite, tcase);
    return suite;
}

/* Every play of plays/: what overlapping transactions wait for, see and get (sim/sqlite/README.md).
 * PostgreSQL 15 gave the same transcripts (differential/). */
#include "tests/sim/sqlite/plays.h"
#include "tests/sim/sqlite/stage.h"
#include <check.h>

static const char *const paths[] = {
    "tests/sim/sqlite/plays/rows.txt",
    "tests/sim/sqlite/plays/reads.txt",
    "tests/sim/sqlite/plays/locks.txt",
};

static void run_play(const char *path, int index)
{
    struct play_file file = play_file_read(path);
    ck_assert_int_lt(index, (int)file.count);
    struct stage *stage = stage_new(1);
    stage_play(stage, file.plays[index].title, file.plays[index].lines);
    stage_free(stage);
    play_file_free(&file);
}

START_TEST(overlay__rows_are_waited_for_as_on_postgresql)
{
    run_play(paths[0], _i);
}
END_TEST

START_TEST(overlay__reads_see_committed_rows_and_their_own)
{
    run_play(paths[1], _i);
}
END_TEST

START_TEST(overlay__locks_and_deadlocks_are_as_on_postgresql)
{
    run_play(paths[2], _i);
}
END_TEST

static int count(const char *path)
{
    struct play_file file = play_file_read(path);
    int plays = (int)file.count;
    play_file_free(&file);
    return plays;
}

Suite *overlay_plays_suite(void);
Suite *overlay_plays_suite(void)
{
    Suite *suite = suite_create("overlay_plays");
    TCase *test = tcase_create("plays");
    tcase_add_loop_test(test, overlay__rows_are_waited_for_as_on_postgresql, 0, count(paths[0]));
    tcase_add_loop_test(test, overlay__reads_see_committed_rows_and_their_own, 0, count(paths[1]));
    tcase_add_loop_test(test, overlay__locks_and_deadlocks_are_as_on_postgresql, 0,
                        count(paths[2]));
    suite_add_tcase(suite, test);
    return suite;
}

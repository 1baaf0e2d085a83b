/* scenarios/README.md is the reference of the language: its examples parse and are canonical. Those
 * marked "scenario" are whole files; those marked "scn" are one file, one after another. So are all
 * scenarios of the suite. */
#include "sim/limits.h"
#include "tests/sim/scenario/scenario_test.h"
#include <check.h>
#include <glob.h>
#include <string.h>

static struct arena arena;

static void setup(void)
{
    arena_init(&arena, LIMIT_SCENARIO_ARENA);
}

static void teardown(void)
{
    arena_free(&arena);
}

/* The examples with that mark, a blank line between two of them. *count: how many. */
static const char *examples(const char *mark, size_t *count)
{
    size_t size;
    const char *text = text_of_file(&arena, "scenarios/README.md", &size);
    char *all = arena_alloc(&arena, size + 1);
    ck_assert_ptr_nonnull(all);
    size_t length = 0;
    *count = 0;
    for (const char *at = text; (at = strstr(at, mark)) != NULL;) {
        at += strlen(mark);
        const char *end = strstr(at, "```\n");
        ck_assert_ptr_nonnull(end);
        if ((*count)++ > 0)
            all[length++] = '\n';
        memcpy(all + length, at, (size_t)(end - at));
        length += (size_t)(end - at);
        at = end;
    }
    all[length] = '\0';
    return all;
}

static void check_canonical(const char *text)
{
    size_t size;
    const char *printed = scenario_print(parse_good(&arena, text), &arena, &size);
    ck_assert_ptr_nonnull(printed);
    ck_assert_str_eq(printed, text);
}

START_TEST(readme__first_example_is_a_scenario)
{
    size_t count;
    const char *text = examples("```scenario\n", &count);
    ck_assert_uint_eq(count, 1);
    check_canonical(text);
}
END_TEST

START_TEST(readme__pieces_make_one_scenario)
{
    size_t count;
    const char *text = examples("```scn\n", &count);
    ck_assert_uint_gt(count, 5);
    check_canonical(text);
}
END_TEST

/* A kind of statement, event or expectation that the page does not show is not documented. */
START_TEST(readme__shows_every_kind)
{
    size_t count;
    const struct scenario *scenario = parse_good(&arena, examples("```scn\n", &count));
    unsigned items = 0;
    unsigned events = 0;
    unsigned expects = 0;
    unsigned faults = 0;
    for (size_t i = 0; i < scenario->item_count; i++)
        items |= 1U << scenario->items[i].kind;
    for (size_t i = 0; i < scenario->event_count; i++)
        events |= 1U << scenario->events[i].kind;
    for (size_t i = 0; i < scenario->expect_count; i++)
        expects |= 1U << scenario->expects[i].expect.kind;
    expects |= 1U << SCENARIO_EXPECT_PENDING; /* it is shown with a time: an event */
    for (size_t i = 0; i < scenario->fault_count; i++)
        faults |= 1U << scenario->faults[i].kind;
    ck_assert_uint_eq(items, (2U << SCENARIO_ITEM_DERIVE) - 1 - (1U << SCENARIO_ITEM_COMMENT));
    ck_assert_uint_eq(events, (2U << SCENARIO_GOLDEN) - 1);
    ck_assert_uint_eq(expects, (2U << SCENARIO_EXPECT_QUEUE) - 1);
    ck_assert_uint_eq(faults, (1U << FAULT_KIND_COUNT) - 1);
}
END_TEST

START_TEST(suite__every_scenario_is_canonical)
{
    glob_t found;
    ck_assert_int_eq(glob("scenarios/*/*.scn", 0, NULL, &found), 0);
    ck_assert_uint_gt(found.gl_pathc, 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        size_t size;
        arena_rewind(&arena);
        check_canonical(text_of_file(&arena, found.gl_pathv[i], &size));
    }
    globfree(&found);
}
END_TEST

Suite *scenario_readme_suite(void);
Suite *scenario_readme_suite(void)
{
    Suite *suite = suite_create("scenario_readme");
    TCase *tcase = tcase_create("readme");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, readme__first_example_is_a_scenario);
    tcase_add_test(tcase, readme__pieces_make_one_scenario);
    tcase_add_test(tcase, readme__shows_every_kind);
    tcase_add_test(tcase, suite__every_scenario_is_canonical);
    suite_add_tcase(suite, tcase);
    return suite;
}

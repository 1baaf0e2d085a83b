/* Whatever the bytes are: no crash, an error with a place or a scenario that prints canonically. */
#include "sim/base/prng.h"
#include "sim/limits.h"
#include "tests/sim/scenario/scenario_test.h"
#include <check.h>
#include <string.h>

#define MUTANTS 2000

static struct arena arena;

static void setup(void)
{
    arena_init(&arena, LIMIT_SCENARIO_ARENA);
}

static void teardown(void)
{
    arena_free(&arena);
}

/* True when it parsed; what it prints then parses and prints the same. */
static bool holds(const char *text, size_t size)
{
    struct scenario *scenario;
    struct scenario_errors errors;
    enum status status = scenario_parse("x", text, size, &arena, &scenario, &errors);
    if (status != STATUS_OK) {
        ck_assert_int_eq(status, STATUS_INVALID);
        ck_assert_uint_gt(errors.count, 0);
        for (size_t i = 0; i < errors.count; i++) {
            ck_assert_int_gt(errors.errors[i].place.line, 0);
            ck_assert_int_gt(errors.errors[i].place.column, 0);
            ck_assert_str_ne(errors.errors[i].message, "");
        }
        return false;
    }
    size_t printed_size;
    const char *printed = scenario_print(scenario, &arena, &printed_size);
    ck_assert_ptr_nonnull(printed);
    ck_assert_int_eq(scenario_parse("x", printed, printed_size, &arena, &scenario, &errors),
                     STATUS_OK);
    size_t again_size;
    const char *again = scenario_print(scenario, &arena, &again_size);
    ck_assert_ptr_nonnull(again);
    ck_assert_str_eq(again, printed);
    return true;
}

/* Where a line starts at or after a random place. */
static size_t random_line(struct prng *prng, const char *text, size_t size)
{
    const char *end = memchr(text + prng_below(prng, size), '\n', 4000);
    return end && end + 1 < text + size ? (size_t)(end + 1 - text) : 0;
}

/* One small damage, of the kind an editor or a merge makes. Returns the new size. */
static size_t damage(struct prng *prng, char *text, size_t size)
{
    size_t at = prng_below(prng, size);
    size_t line = random_line(prng, text, size);
    size_t length = strcspn(text + line, "\n") + 1;
    switch (prng_below(prng, 5)) {
    case 0: /* another byte */
        text[at] = (char)prng_below(prng, 256);
        return size;
    case 1: /* one byte less */
        memmove(text + at, text + at + 1, size - at);
        return size - 1;
    case 2: /* a word swapped for the one behind it, roughly */
        text[at] = ' ';
        return size;
    case 3: /* a line less */
        if (line + length >= size)
            return size;
        memmove(text + line, text + line + length, size - line - length + 1);
        return size - length;
    default: /* a line twice */
        memmove(text + line + length, text + line, size - line + 1);
        return size + length;
    }
}

START_TEST(mutants__are_refused_or_canonical)
{
    struct arena file;
    arena_init(&file, LIMIT_SCENARIO_ARENA);
    size_t size;
    const char *text = text_of_file(&file, "tests/data/scenario/everything.scn", &size);
    char *copy = arena_alloc(&file, 4 * size);
    ck_assert_ptr_nonnull(copy);
    struct prng prng = prng_make(7, PRNG_WORKLOAD);
    int good = 0;
    for (int i = 0; i < MUTANTS; i++) {
        memcpy(copy, text, size + 1);
        size_t mutant = damage(&prng, copy, size);
        if (prng_chance(&prng, 1, 3))
            mutant = damage(&prng, copy, mutant);
        arena_rewind(&arena);
        good += holds(copy, mutant);
    }
    arena_free(&file);
    /* both ways must have been taken, or the test says nothing */
    ck_assert_int_gt(good, MUTANTS / 20);
    ck_assert_int_lt(good, MUTANTS * 19 / 20);
}
END_TEST

START_TEST(every_prefix__is_refused_or_canonical)
{
    struct arena file;
    arena_init(&file, LIMIT_SCENARIO_ARENA);
    size_t size;
    const char *text = text_of_file(&file, "tests/data/scenario/everything.scn", &size);
    for (size_t cut = 0; cut <= size; cut += 3) {
        arena_rewind(&arena);
        holds(text, cut);
    }
    arena_free(&file);
}
END_TEST

/* A file of one byte, many times; no line end but that of '\n' itself. */
START_TEST(one_byte_file__is_refused)
{
    static char text[100000];
    memset(text, _i, sizeof text);
    ck_assert(!holds(text, sizeof text));
    ck_assert(!holds(text, 0));
    ck_assert(!holds(text, 1));
}
END_TEST

/* piece, over and over, up to size bytes, in a file that is good but for it */
static const char *repeated(const char *head, const char *piece, size_t size)
{
    char *body = arena_alloc(&arena, size + strlen(head) + strlen(piece) + 1);
    ck_assert_ptr_nonnull(body);
    strcpy(body, head);
    size_t at = strlen(head);
    for (; at < size; at += strlen(piece))
        strcpy(body + at, piece);
    return with_body(&arena, body);
}

static const struct {
    const char *head;
    const char *piece;
    size_t size;
} huge[] = {
    {"", "writer w1\n", 900000},
    {"", "at 0s expect queue 0\n", 900000},
    {"", "w ", 900000},
    {"", "    deep\n", 900000},
    {"writer \"", "\\x00", 900000},
    {"series s of acme GET / 200 delta bounds ", "1 ", 30000},
    {"series s of acme GET / 200 delta\nfrom 0s every 1ns s sends", " _x99999", 60000},
    {"series s of acme GET / 200 delta\nfrom 0s every 1ns s sends", " 1x9999", 600},
    {"at 0s deliver bytes \"", "00", 3200000},
    {"", "x", LIMIT_SCENARIO_BYTES + 1},
};

START_TEST(huge_file__is_refused_by_a_limit)
{
    const char *text = repeated(huge[_i].head, huge[_i].piece, huge[_i].size);
    ck_assert(!holds(text, strlen(text)));
}
END_TEST

/* Within the limits: the largest payload that a writer takes, in hex. */
START_TEST(payload_of_a_mebibyte__can_be_written)
{
    const char *text = repeated("at 0s deliver bytes \"", "00", 2 * 1024 * 1024);
    char *closed = arena_alloc(&arena, strlen(text) + 20);
    ck_assert_ptr_nonnull(closed);
    const char *tail = strstr(text, "\nexpect");
    size_t head = (size_t)(tail - text);
    memcpy(closed, text, head);
    strcpy(closed + head, "\" of acme");
    strcat(closed, tail);
    ck_assert(holds(closed, strlen(closed)));
}
END_TEST

Suite *scenario_hostile_suite(void);
Suite *scenario_hostile_suite(void)
{
    Suite *suite = suite_create("scenario_hostile");
    TCase *tcase = tcase_create("hostile");
    tcase_set_timeout(tcase, 60);
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, mutants__are_refused_or_canonical);
    tcase_add_test(tcase, every_prefix__is_refused_or_canonical);
    tcase_add_loop_test(tcase, one_byte_file__is_refused, 0, 256);
    tcase_add_loop_test(tcase, huge_file__is_refused_by_a_limit, 0, sizeof huge / sizeof huge[0]);
    tcase_add_test(tcase, payload_of_a_mebibyte__can_be_written);
    suite_add_tcase(suite, tcase);
    return suite;
}

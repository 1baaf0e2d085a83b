#include "sim/limits.h"
#include "tests/sim/scenario/scenario_test.h"
#include <check.h>
#include <stdio.h>
#include <string.h>

const char *text_of_file(struct arena *arena, const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    ck_assert_msg(file != NULL, "cannot open %s: run the tests from the root", path);
    char *text = arena_alloc(arena, LIMIT_SCENARIO_BYTES + 1);
    ck_assert_ptr_nonnull(text);
    *size = fread(text, 1, LIMIT_SCENARIO_BYTES, file);
    text[*size] = '\0';
    fclose(file);
    return text;
}

const char *with_body(struct arena *arena, const char *body)
{
    static const char head[] = "scenario \"a claim\"\ncites MS\ntenant acme\n";
    static const char tail[] = "\nexpect pending of acme 0\nrun until 1h\nderive\n  None.\n";
    size_t size = sizeof head + strlen(body) + sizeof tail;
    char *text = arena_alloc(arena, size);
    ck_assert_ptr_nonnull(text);
    snprintf(text, size, "%s%s%s", head, body, tail);
    return text;
}

struct scenario *parse_good(struct arena *arena, const char *text)
{
    struct scenario *scenario;
    struct scenario_errors errors;
    enum status status = scenario_parse("x.scn", text, strlen(text), arena, &scenario, &errors);
    char line[600] = "";
    if (errors.count > 0)
        scenario_error_format("x.scn", &errors.errors[0], line, sizeof line);
    ck_assert_msg(status == STATUS_OK, "%s in:\n%s", line, text);
    return scenario;
}

const char *parse_bad(struct arena *arena, const char *text)
{
    struct scenario *scenario;
    struct scenario_errors errors;
    enum status status = scenario_parse("", text, strlen(text), arena, &scenario, &errors);
    ck_assert_msg(status == STATUS_INVALID, "no error in:\n%s", text);
    ck_assert_ptr_null(scenario);
    size_t room = SCENARIO_ERRORS_MAX * 400;
    char *lines = arena_alloc(arena, room);
    ck_assert_ptr_nonnull(lines);
    size_t at = 0;
    for (size_t i = 0; i < errors.count; i++) {
        char line[400];
        scenario_error_format("", &errors.errors[i], line, sizeof line);
        at += (size_t)snprintf(lines + at, room - at, "%s\n", line + 1); /* without ':' */
    }
    return lines;
}

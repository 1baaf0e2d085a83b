/* libFuzzer target: a scenario file. What parses must print, and what is printed must parse and
 * print the same. See README.md. */
#include "core/base/assert.h"
#include "sim/limits.h"
#include "sim/scenario/scenario.h"
#include <string.h>

static void check_errors(const struct scenario_errors *errors)
{
    ASSERT(errors->count > 0 && errors->count <= SCENARIO_ERRORS_MAX);
    for (size_t i = 0; i < errors->count; i++) {
        char line[400];
        ASSERT(errors->errors[i].place.line > 0 && errors->errors[i].place.column > 0);
        size_t size = scenario_error_format("x", &errors->errors[i], line, sizeof line);
        ASSERT(size > 0 && size == strlen(line));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct arena arena; /* kept from run to run: its memory is reused */
    static struct scenario_errors errors;
    if (arena.limit == 0)
        arena_init(&arena, LIMIT_SCENARIO_ARENA);
    arena_rewind(&arena);
    struct scenario *scenario;
    const char *text = (const char *)data;
    enum status status = scenario_parse("x", text, size, &arena, &scenario, &errors);
    if (status != STATUS_OK) {
        ASSERT(scenario == NULL);
        if (status == STATUS_INVALID)
            check_errors(&errors);
        return 0;
    }
    size_t first_size;
    const char *first = scenario_print(scenario, &arena, &first_size);
    if (!first)
        return 0;
    status = scenario_parse("x", first, first_size, &arena, &scenario, &errors);
    ASSERT(status == STATUS_OK || status == STATUS_NO_MEMORY);
    if (status != STATUS_OK)
        return 0;
    size_t second_size;
    const char *second = scenario_print(scenario, &arena, &second_size);
    if (second)
        ASSERT(first_size == second_size && memcmp(first, second, first_size) == 0);
    return 0;
}

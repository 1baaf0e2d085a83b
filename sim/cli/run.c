/* metersim run: scenarios against their goldens. */
#include "sim/cli/cli.h"
#include "sim/run/suite.h"
#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* "7" or "1..20". */
static bool parse_seeds(const char *text, uint64_t *first, uint64_t *last)
{
    int64_t from;
    int64_t until;
    char head[32];
    const char *dots = strstr(text, "..");
    if (dots == NULL) {
        if (!parse_int(text, &from) || from < 0)
            return false;
        *first = *last = (uint64_t)from;
        return true;
    }
    if ((size_t)(dots - text) >= sizeof(head))
        return false;
    memcpy(head, text, (size_t)(dots - text));
    head[dots - text] = 0;
    if (!parse_int(head, &from) || !parse_int(dots + 2, &until) || from < 0 || until < from)
        return false;
    *first = (uint64_t)from;
    *last = (uint64_t)until;
    return true;
}

static enum exit_code code_of(const struct suite_outcome *outcome)
{
    if (outcome->nondeterministic)
        return EXIT_UNSTABLE;
    if (outcome->not_judged)
        return EXIT_MISSING;
    return outcome->failed > 0 ? EXIT_FELL : EXIT_GOOD;
}

static enum exit_code run_suite(struct suite_options *options)
{
    struct backend *backend;
    struct suite_outcome outcome;
    struct err err = {0};
    if (backend_sqlite_new(&backend, &err) != STATUS_OK) {
        complain(&err);
        return EXIT_MISSING;
    }
    if (!options->json) {
        printf("metersim %s  sqlite %s  seed %" PRIu64, METERSIM_VERSION, sqlite3_libversion(),
               options->first_seed);
        if (options->last_seed != options->first_seed)
            printf("..%" PRIu64, options->last_seed);
        printf("%s%s\n", options->rules_text != NULL ? "  rules " : "",
               options->rules_text != NULL ? options->rules_text : "");
    }
    enum status status = suite_run(backend, options, &outcome, &err);
    backend->free(backend);
    if (status != STATUS_OK) {
        complain(&err);
        return status == STATUS_INVALID || status == STATUS_IO ? EXIT_USAGE : EXIT_INTERNAL;
    }
    if (!options->json)
        printf("%zu passed, %zu failed\n", outcome.passed, outcome.failed);
    return code_of(&outcome);
}

enum exit_code command_run(int argc, char **argv)
{
    const char *seeds = "1";
    const char *backend = "sqlite";
    struct suite_options options = {.progress = isatty(STDERR_FILENO)};
    int words;
    const struct option known[] = {
        {"--seed", &seeds, NULL},
        {"--rules", &options.rules_text, NULL},
        {"--trace", &options.trace_path, NULL},
        {"--backend", &backend, NULL},
        {"--update", NULL, &options.update},
        {"--json", NULL, &options.json},
        {"--fail-fast", NULL, &options.fail_fast},
    };
    enum exit_code code =
        options_parse(argc, argv, known, sizeof(known) / sizeof(known[0]), &words);
    if (code != EXIT_GOOD)
        return code;
    options.paths = (const char *const *)argv + 1;
    options.path_count = (size_t)words;
    if (!parse_seeds(seeds, &options.first_seed, &options.last_seed))
        return usage_error(argv[0], "--seed takes a number or a range A..B, not \"%s\"", seeds);
    if (strcmp(backend, "sqlite") != 0)
        return usage_error(argv[0], "unknown backend \"%s\"; this version has sqlite", backend);
    if (options.update && getenv("CI") != NULL)
        return usage_error(argv[0], "--update is refused in CI: a golden is read by a person");
    if (options.rules_text != NULL) {
        struct rules rules = rules_default();
        struct err err = {0};
        if (rules_parse(options.rules_text, strlen(options.rules_text), &rules, &err) !=
            STATUS_OK) {
            complain(&err);
            return EXIT_USAGE;
        }
    }
    return run_suite(&options);
}

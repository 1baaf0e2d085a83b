#include "sim/run/suite.h"

#include "core/base/assert.h"
#include "core/base/time.h"
#include "sim/base/file.h"
#include "sim/base/real_time.h"
#include "sim/run/golden.h"
#include "sim/run/golden_check.h"
#include "sim/run/paths.h"
#include "sim/run/report.h"
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define SUITE_ARENA_BYTES  ((size_t)4096 * 1024 * 1024)
#define SCENARIO_BYTES_MAX ((size_t)4 * 1024 * 1024)
#define SUITE_DEPTH_MAX    16

struct suite_file {
    const char *path;
    struct scenario *scenario;
    struct golden golden;
    bool has_golden;
};

struct suite {
    struct backend *backend;
    const struct suite_options *options;
    struct suite_outcome *outcome;
    struct arena arena;
    struct suite_file *files;
    size_t count;
    size_t capacity;
    bool first_json;
};

/* ---- finding files ---- */

static enum status add_file(struct suite *suite, const char *path, struct err *err)
{
    if (suite->count == suite->capacity) {
        size_t capacity = suite->capacity == 0 ? 64 : suite->capacity * 2;
        struct suite_file *grown = arena_array(&suite->arena, capacity, sizeof(*grown));
        if (grown == NULL)
            return err_set(err, STATUS_NO_MEMORY, NULL, "too many scenarios");
        if (suite->count > 0)
            memcpy(grown, suite->files, suite->count * sizeof(*grown));
        suite->files = grown;
        suite->capacity = capacity;
    }
    const char *kept = arena_copy(&suite->arena, path, strlen(path));
    if (kept == NULL)
        return err_set(err, STATUS_NO_MEMORY, NULL, "too many scenarios");
    suite->files[suite->count++] = (struct suite_file){.path = kept};
    return STATUS_OK;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int not_hidden(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static enum status add_path(struct suite *suite, const char *path, int depth, bool asked,
                            struct err *err)
{
    struct stat status;
    size_t size = strlen(path);
    if (stat(path, &status) != 0) {
        err_set(err, STATUS_INVALID, NULL, "could not open \"%s\": %s", path, strerror(errno));
        err_hint(err,
                 "give a scenario (.scn) or a folder of them, from the root of the source tree");
        return STATUS_INVALID;
    }
    bool is_scenario = size > 4 && strcmp(path + size - 4, ".scn") == 0;
    if (!S_ISDIR(status.st_mode)) {
        if (is_scenario)
            return add_file(suite, path, err);
        if (!asked)
            return STATUS_OK;
        return err_set(err, STATUS_INVALID, NULL, "\"%s\" is no scenario: expected a .scn file",
                       path);
    }
    if (depth > SUITE_DEPTH_MAX)
        return err_set(err, STATUS_INVALID, NULL, "folders are nested too deep at \"%s\"", path);
    struct dirent **entries;
    int found = scandir(path, &entries, not_hidden, by_name);
    if (found < 0)
        return err_set(err, STATUS_INVALID, NULL, "could not read folder \"%s\": %s", path,
                       strerror(errno));
    enum status result = STATUS_OK;
    for (int i = 0; i < found; i++) {
        char inner[1024];
        int written = snprintf(inner, sizeof(inner), "%s%s%s", path,
                               path[size - 1] == '/' ? "" : "/", entries[i]->d_name);
        if (result == STATUS_OK && written > 0 && (size_t)written < sizeof(inner))
            result = add_path(suite, inner, depth + 1, false, err);
        free(entries[i]);
    }
    free(entries);
    return result;
}

static enum status find_files(struct suite *suite, struct err *err)
{
    static const char *const all[] = {"scenarios"};
    const char *const *paths = suite->options->path_count > 0 ? suite->options->paths : all;
    size_t count = suite->options->path_count > 0 ? suite->options->path_count : 1;
    for (size_t i = 0; i < count; i++) {
        size_t before = suite->count;
        enum status status = add_path(suite, paths[i], 0, true, err);
        if (status != STATUS_OK)
            return status;
        if (suite->count == before)
            return err_set(err, STATUS_INVALID, NULL, "no scenario (.scn) in \"%s\"", paths[i]);
    }
    return STATUS_OK;
}

/* ---- reading ---- */

static void print_errors(const char *path, const struct scenario_errors *errors)
{
    char line[600];
    for (size_t i = 0; i < errors->count; i++) {
        scenario_error_format(path, &errors->errors[i], line, sizeof(line));
        fprintf(stderr, "%s\n", line);
    }
    if (errors->more > 0)
        fprintf(stderr, "%s: and %zu more errors\n", path, errors->more);
}

/* Parses every scenario and golden before the first run; prints all errors. */
static bool parse_all(struct suite *suite)
{
    bool good = true;
    for (size_t i = 0; i < suite->count; i++) {
        struct suite_file *file = &suite->files[i];
        struct scenario_errors errors = {0};
        struct bytes text;
        struct err err = {0};
        if (file_read(file->path, SCENARIO_BYTES_MAX, &suite->arena, &text, &err) != STATUS_OK) {
            fprintf(stderr, "metersim: %s\n", err.message);
            good = false;
            continue;
        }
        enum status status = scenario_parse(file->path, (const char *)text.data, text.size,
                                            &suite->arena, &file->scenario, &errors);
        if (status != STATUS_OK) {
            print_errors(file->path, &errors);
            good = false;
        }
        const char *golden = path_golden(file->path, &suite->arena);
        struct stat about;
        if (golden == NULL || (stat(golden, &about) != 0 && errno == ENOENT))
            continue;
        file->has_golden = true;
        status = file_read(golden, SCENARIO_BYTES_MAX * 4, &suite->arena, &text, &err);
        bool unreadable = status != STATUS_OK;
        if (!unreadable)
            status = golden_parse(golden, (const char *)text.data, text.size, &suite->arena,
                                  &file->golden, &err);
        if (unreadable || (status != STATUS_OK && !suite->options->update)) {
            fprintf(stderr, "%s%s\n", unreadable ? "metersim: " : "", err.message);
            good = false;
        }
    }
    return good;
}

/* ---- running ---- */

/* The second run of the same seed must give the same trace; names the first event that differs. */
static bool same_twice(struct suite *suite, struct suite_file *file, struct run_options *options,
                       struct run_result *first, struct err *err)
{
    struct run_result second;
    options->trace = NULL;
    options->keep_trace = false;
    enum status status = run_scenario(suite->backend, file->scenario, options, &second, err);
    bool same = status == STATUS_OK && second.trace_hash == first->trace_hash;
    run_result_free(&second);
    if (same || status != STATUS_OK)
        return same;
    /* once more, twice, keeping the events, to say where they part */
    struct run_result a;
    struct run_result b;
    uint64_t event = 0;
    options->keep_trace = true;
    run_scenario(suite->backend, file->scenario, options, &a, err);
    run_scenario(suite->backend, file->scenario, options, &b, err);
    if (a.trace != NULL && b.trace != NULL && trace_first_difference(a.trace, b.trace, &event)) {
        run_fail(first, "nondeterminism", "", "event %" PRIu64 " of one run: %.300s", event,
                 event < a.trace_events ? trace_kept_line(a.trace, event) : "(none)");
        run_fail(first, "nondeterminism", "", "event %" PRIu64 " of another: %.300s", event,
                 event < b.trace_events ? trace_kept_line(b.trace, event) : "(none)");
    } else {
        run_fail(first, "nondeterminism", "", "two runs of one seed gave different traces");
    }
    run_result_free(&a);
    run_result_free(&b);
    return false;
}

static enum status run_one(struct suite *suite, struct suite_file *file, uint64_t seed,
                           struct err *err)
{
    struct run_options options = {.seed = seed, .rules_text = suite->options->rules_text};
    struct run_result result;
    int64_t began = real_now_ns();
    if (suite->options->trace_path != NULL) {
        options.trace = fopen(suite->options->trace_path, "w");
        if (options.trace == NULL)
            return err_set(err, STATUS_IO, NULL, "could not write \"%s\": %s",
                           suite->options->trace_path, strerror(errno));
    }
    enum status status = run_scenario(suite->backend, file->scenario, &options, &result, err);
    if (options.trace != NULL && fclose(options.trace) != 0 && status == STATUS_OK)
        status = err_set(err, STATUS_IO, NULL, "could not write \"%s\": %s",
                         suite->options->trace_path, strerror(errno));
    enum verdict verdict = VERDICT_NOT_JUDGED;
    if (status == STATUS_OK) {
        golden_check(file->scenario, file->has_golden ? &file->golden : NULL,
                     suite->options->update, &result);
        if (suite->options->update)
            golden_update(file->scenario, &result, suite->options->json ? stderr : stdout);
        verdict = result.failure_count == 0 ? VERDICT_PASS : VERDICT_FAIL;
        if (!same_twice(suite, file, &options, &result, err))
            verdict = VERDICT_NONDETERMINISTIC;
    } else {
        run_fail(&result, "internal", "", "%s", err->message);
    }
    if (verdict == VERDICT_PASS)
        suite->outcome->passed++;
    else
        suite->outcome->failed++;
    suite->outcome->nondeterministic |= verdict == VERDICT_NONDETERMINISTIC;
    suite->outcome->not_judged |= verdict == VERDICT_NOT_JUDGED;
    struct report report = {
        .scenario = file->path,
        .backend = suite->backend->name,
        .seed = seed,
        .rules_text = suite->options->rules_text,
        .verdict = verdict,
        .result = &result,
        .real_ns = real_now_ns() - began,
    };
    if (suite->options->json) {
        report_json(stdout, &report, suite->first_json);
        suite->first_json = false;
    } else {
        report_text(stdout, &report, suite->count == 1);
    }
    run_result_free(&result);
    return status == STATUS_IO ? status : STATUS_OK;
}

enum status suite_run(struct backend *backend, const struct suite_options *options,
                      struct suite_outcome *outcome, struct err *err)
{
    struct suite suite = {
        .backend = backend, .options = options, .outcome = outcome, .first_json = true};
    *outcome = (struct suite_outcome){0};
    arena_init(&suite.arena, SUITE_ARENA_BYTES);
    enum status status = find_files(&suite, err);
    if (status == STATUS_OK && !parse_all(&suite)) {
        outcome->bad_scenario = true;
        status = err_set(err, STATUS_INVALID, NULL, "nothing was run");
    }
    if (status == STATUS_OK && options->trace_path != NULL &&
        (suite.count != 1 || options->first_seed != options->last_seed))
        status = err_set(err, STATUS_INVALID, NULL,
                         "--trace takes one scenario and one seed, these are %zu scenarios",
                         suite.count);
    bool json = status == STATUS_OK && options->json;
    if (json)
        fputs("{\"scenarios\":[", stdout);
    for (size_t i = 0; status == STATUS_OK && i < suite.count; i++) {
        for (uint64_t seed = options->first_seed; status == STATUS_OK; seed++) {
            if (options->progress)
                fprintf(stderr, "\r\033[K%zu/%zu %s", i + 1, suite.count, suite.files[i].path);
            status = run_one(&suite, &suite.files[i], seed, err);
            if (seed == options->last_seed || (options->fail_fast && outcome->failed > 0))
                break;
        }
        if (options->fail_fast && outcome->failed > 0)
            break;
    }
    if (options->progress)
        fputs("\r\033[K", stderr);
    if (json)
        printf("],\"passed\":%zu,\"failed\":%zu}\n", outcome->passed, outcome->failed);
    arena_free(&suite.arena);
    return status;
}

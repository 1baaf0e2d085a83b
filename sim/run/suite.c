#include "sim/run/suite.h"

#include "core/base/assert.h"
#include "core/base/time.h"
#include "sim/base/file.h"
#include "sim/base/real_time.h"
#include "sim/run/golden.h"
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
#define DIFFERENCES_SHOWN  8

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

const char *verdict_name(enum verdict verdict)
{
    static const char *const names[] = {"pass", "fail", "nondeterministic", "not_judged"};
    ASSERT((size_t)verdict < sizeof(names) / sizeof(names[0]));
    return names[verdict];
}

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

const char *suite_golden_path(const char *path, struct arena *arena)
{
    static const char folder[] = "scenarios/";
    char text[1100];
    size_t size = strlen(path);
    ASSERT(size > 4 && strcmp(path + size - 4, ".scn") == 0);
    const char *at = strncmp(path, "./", 2) == 0 ? path + 2 : path;
    const char *rest = NULL; /* behind the last folder of that name */
    for (const char *p = strstr(at, folder); p != NULL; p = strstr(p + 1, folder))
        if (p == at || p[-1] == '/')
            rest = p + strlen(folder);
    if (rest != NULL)
        snprintf(text, sizeof(text), "%.*sgolden/%.*s.golden",
                 (int)(rest - at - (ptrdiff_t)strlen(folder)), at, (int)strlen(rest) - 4, rest);
    else
        snprintf(text, sizeof(text), "%.*s.golden", (int)strlen(at) - 4, at);
    return arena_copy(arena, text, strlen(text));
}

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
        const char *golden = suite_golden_path(file->path, &suite->arena);
        if (golden == NULL ||
            file_read(golden, SCENARIO_BYTES_MAX * 4, &suite->arena, &text, &err) != STATUS_OK)
            continue;
        file->has_golden = true;
        if (golden_parse(golden, (const char *)text.data, text.size, &suite->arena, &file->golden,
                         &err) != STATUS_OK &&
            !suite->options->update) {
            fprintf(stderr, "%s\n", err.message);
            good = false;
        }
    }
    return good;
}

/* ---- judging ---- */

/* What the scenario says its golden does not hold: tables, and table.column. */
static const char *left_out(const struct scenario *scenario, struct arena *arena)
{
    char text[2048];
    size_t used = 0;
    text[0] = 0;
    for (size_t i = 0; i < scenario->golden_rule_count; i++) {
        const struct scenario_golden_rule *rule = &scenario->golden_rules[i];
        int written =
            snprintf(text + used, sizeof(text) - used, "%s%s%s%s", i > 0 ? " " : "", rule->table,
                     rule->column != NULL ? "." : "", rule->column != NULL ? rule->column : "");
        if (written > 0 && used + (size_t)written < sizeof(text))
            used += (size_t)written;
    }
    return arena_copy(arena, text, used);
}

/* The snapshots without what the scenario leaves out, as the golden holds them. */
static void apply_golden_rules(const struct scenario *scenario, struct run_result *result)
{
    for (size_t s = 0; s < result->snapshot_count; s++) {
        struct snapshot *snapshot = &result->snapshots[s];
        size_t kept = 0;
        for (size_t t = 0; t < snapshot->table_count; t++) {
            struct table *table = &snapshot->tables[t];
            bool drop = false;
            for (size_t i = 0; i < scenario->golden_rule_count; i++) {
                const struct scenario_golden_rule *rule = &scenario->golden_rules[i];
                if (strcmp(rule->table, table->name) != 0)
                    continue;
                drop = drop || rule->column == NULL;
                for (size_t c = 0; rule->column != NULL && c < table->column_count; c++)
                    for (size_t row = 0; row < table->row_count; row++)
                        if (strcmp(table->columns[c], rule->column) == 0)
                            table->cells[row * table->column_count + c] = "*";
            }
            if (!drop)
                snapshot->tables[kept++] = *table;
        }
        snapshot->table_count = kept;
    }
}

static void report_differences(struct run_result *result, const char *golden, const char *label,
                               const struct table_difference *differences, size_t count)
{
    for (size_t i = 0; i < count && i < DIFFERENCES_SHOWN; i++)
        run_fail(result, "golden", "%s: at %s, %s, row \"%s\", %s: expected %s, got %s", golden,
                 label, differences[i].table, differences[i].key, differences[i].column,
                 differences[i].expected, differences[i].got);
    if (count > DIFFERENCES_SHOWN)
        run_fail(result, "golden", "%s: at %s, and %zu more cells", golden, label,
                 count - DIFFERENCES_SHOWN);
}

static bool table_sets_differ(const struct snapshot *a, const struct snapshot *b)
{
    if (a->table_count != b->table_count)
        return true;
    for (size_t i = 0; i < a->table_count; i++) {
        bool found = false;
        for (size_t k = 0; k < b->table_count; k++)
            found = found || strcmp(a->tables[i].name, b->tables[k].name) == 0;
        if (!found)
            return true;
    }
    return false;
}

static void compare_golden(struct suite *suite, struct suite_file *file, struct run_result *result)
{
    const char *path = suite_golden_path(file->path, &result->arena);
    const char *without = left_out(file->scenario, &result->arena);
    if (path == NULL || without == NULL) {
        run_fail(result, "internal", "no memory for the golden");
        return;
    }
    if (!file->has_golden) {
        run_fail(result, "golden",
                 suite->options->update ? "%s is new: read every cell of it"
                                        : "%s is not there; --update writes it: read every cell",
                 path);
        return;
    }
    if (file->golden.snapshot_count != result->snapshot_count) {
        run_fail(result, "golden", "%s: expected %zu moments, got %zu", path,
                 file->golden.snapshot_count, result->snapshot_count);
        return;
    }
    for (size_t i = 0; i < result->snapshot_count; i++) {
        struct table_difference differences[DIFFERENCES_SHOWN];
        struct snapshot *want = &file->golden.snapshots[i];
        struct snapshot *have = &result->snapshots[i];
        if (strcmp(want->label, have->label) != 0 || table_sets_differ(want, have)) {
            run_fail(result, "golden", "%s: moment \"%s\" holds other tables than the run's \"%s\"",
                     path, want->label, have->label);
            continue;
        }
        size_t count =
            tables_compare(want, have, without, &result->arena, differences, DIFFERENCES_SHOWN);
        report_differences(result, path, have->label, differences, count);
    }
}

static void make_parents(const char *path)
{
    char text[1100];
    snprintf(text, sizeof(text), "%s", path);
    for (char *c = text + 1; *c != 0; c++) {
        if (*c != '/')
            continue;
        *c = 0;
        mkdir(text, 0777);
        *c = '/';
    }
}

/* Written whole or not at all. */
static bool write_golden(const char *path, const char *scenario, const struct run_result *result)
{
    char temporary[1120];
    make_parents(path);
    snprintf(temporary, sizeof(temporary), "%s.new", path);
    FILE *out = fopen(temporary, "w");
    if (out == NULL)
        return false;
    golden_print(out, scenario, result->snapshots, result->snapshot_count);
    bool good = fflush(out) == 0 && !ferror(out);
    good = fclose(out) == 0 && good;
    if (!good || rename(temporary, path) != 0) {
        remove(temporary);
        return false;
    }
    return true;
}

/* --update: prints the changed cells and writes the file; the failures of kind golden are taken
 * back. */
static void update_golden(struct suite_file *file, struct run_result *result)
{
    const char *path = suite_golden_path(file->path, &result->arena);
    size_t kept = 0;
    size_t golden = 0;
    size_t listed =
        result->failure_count < RUN_FAILURES_MAX ? result->failure_count : RUN_FAILURES_MAX;
    for (size_t i = 0; i < listed; i++) {
        if (strcmp(result->failures[i].kind, "golden") != 0) {
            result->failures[kept++] = result->failures[i];
            continue;
        }
        golden++;
        printf("update %s\n", result->failures[i].text);
    }
    if (golden == 0)
        return;
    result->failure_count = kept;
    if (kept > 0)
        printf("update %s: not written, the run fails otherwise\n", path);
    else if (!write_golden(path, file->path, result))
        run_fail(result, "golden", "could not write %s: %s", path, strerror(errno));
}

/* ---- running ---- */

static void print_result(struct suite *suite, const struct suite_file *file, uint64_t seed,
                         enum verdict verdict, const struct run_result *result, int64_t real_ns)
{
    if (suite->options->json) {
        printf("%s{\"name\":\"%s\",\"backend\":\"%s\",\"seed\":%" PRIu64
               ",\"verdict\":\"%s\",\"trace_hash\":\"%016" PRIx64 "\",\"steps\":%" PRIu64
               ",\"virtual_ns\":%" PRId64 ",\"real_ns\":%" PRId64 "}",
               suite->first_json ? "" : ",", file->path, suite->backend->name, seed,
               verdict_name(verdict), result->trace_hash, result->steps, result->virtual_ns,
               real_ns);
        suite->first_json = false;
    } else if (verdict != VERDICT_PASS || suite->count == 1) {
        printf("%s %s  seed %" PRIu64 "  trace %016" PRIx64 "  %" PRIu64 " steps\n",
               verdict_name(verdict), file->path, seed, result->trace_hash, result->steps);
    }
    FILE *out = suite->options->json ? stderr : stdout;
    size_t shown =
        result->failure_count < RUN_FAILURES_MAX ? result->failure_count : RUN_FAILURES_MAX;
    for (size_t i = 0; i < shown; i++)
        fprintf(out, "  %s: %s\n", result->failures[i].kind, result->failures[i].text);
    if (verdict != VERDICT_PASS)
        fprintf(out, "  repeat: ./metersim run %s --seed %" PRIu64 "%s%s%s\n", file->path, seed,
                suite->options->rules_text != NULL ? " --rules \"" : "",
                suite->options->rules_text != NULL ? suite->options->rules_text : "",
                suite->options->rules_text != NULL ? "\"" : "");
}

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
        run_fail(first, "nondeterminism", "event %" PRIu64 " of one run: %.300s", event,
                 event < a.trace_events ? trace_kept_line(a.trace, event) : "(none)");
        run_fail(first, "nondeterminism", "event %" PRIu64 " of another: %.300s", event,
                 event < b.trace_events ? trace_kept_line(b.trace, event) : "(none)");
    } else {
        run_fail(first, "nondeterminism", "two runs of one seed gave different traces");
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
        apply_golden_rules(file->scenario, &result);
        compare_golden(suite, file, &result);
        if (suite->options->update)
            update_golden(file, &result);
        verdict = result.failure_count == 0 ? VERDICT_PASS : VERDICT_FAIL;
        if (!same_twice(suite, file, &options, &result, err))
            verdict = VERDICT_NONDETERMINISTIC;
    } else {
        run_fail(&result, "internal", "%s", err->message);
    }
    if (verdict == VERDICT_PASS)
        suite->outcome->passed++;
    else
        suite->outcome->failed++;
    suite->outcome->nondeterministic |= verdict == VERDICT_NONDETERMINISTIC;
    suite->outcome->not_judged |= verdict == VERDICT_NOT_JUDGED;
    print_result(suite, file, seed, verdict, &result, real_now_ns() - began);
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
    if (status == STATUS_OK && options->json)
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
    if (options->json && !outcome->bad_scenario && suite.count > 0)
        printf("],\"passed\":%zu,\"failed\":%zu}\n", outcome->passed, outcome->failed);
    arena_free(&suite.arena);
    return status;
}

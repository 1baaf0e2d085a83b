#include "sim/run/golden_check.h"

#include "sim/run/paths.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define DIFFERENCES_SHOWN 8

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
static void leave_out(const struct scenario *scenario, struct run_result *result)
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
    const char *moment = run_text(result, "at %s, ", label);
    for (size_t i = 0; i < count && i < DIFFERENCES_SHOWN; i++)
        run_fail_difference(result, "golden", golden, moment, &differences[i]);
    if (count > DIFFERENCES_SHOWN)
        run_fail(result, "golden", golden, "%sand %zu more cells", moment,
                 count - DIFFERENCES_SHOWN);
}

static bool has_table(const struct snapshot *snapshot, const char *name)
{
    for (size_t i = 0; i < snapshot->table_count; i++)
        if (strcmp(snapshot->tables[i].name, name) == 0)
            return true;
    return false;
}

/* Names each table that only one of the two holds. */
static void compare_table_sets(struct run_result *result, const char *golden,
                               const struct snapshot *want, const struct snapshot *have)
{
    for (size_t i = 0; i < want->table_count; i++)
        if (!has_table(have, want->tables[i].name))
            run_fail_cell(result, "golden", golden,
                          run_text(result, "at %s, %s", want->label, want->tables[i].name),
                          "a table", "none: the scenario leaves it out");
    for (size_t i = 0; i < have->table_count; i++)
        if (!has_table(want, have->tables[i].name))
            run_fail_cell(result, "golden", golden,
                          run_text(result, "at %s, %s", have->label, have->tables[i].name),
                          "no such table", "a table");
}

static const char *labels(struct run_result *result, const struct snapshot *snapshots, size_t count)
{
    const char *text = count == 0 ? "none" : snapshots[0].label;
    for (size_t i = 1; i < count; i++)
        text = run_text(result, "%s, %s", text, snapshots[i].label);
    return text;
}

/* False when the moments are not the same ones: then their tables cannot be compared. */
static bool compare_moments(struct run_result *result, const char *path,
                            const struct golden *golden)
{
    bool same = golden->snapshot_count == result->snapshot_count;
    for (size_t i = 0; same && i < result->snapshot_count; i++)
        same = strcmp(golden->snapshots[i].label, result->snapshots[i].label) == 0;
    if (!same)
        run_fail_cell(result, "golden", path, "its moments",
                      labels(result, golden->snapshots, golden->snapshot_count),
                      labels(result, result->snapshots, result->snapshot_count));
    return same;
}

void golden_check(const struct scenario *scenario, const struct golden *golden, bool update,
                  struct run_result *result)
{
    leave_out(scenario, result);
    const char *path = path_golden(scenario->file, &result->arena);
    const char *without = left_out(scenario, &result->arena);
    if (path == NULL || without == NULL) {
        run_fail(result, "internal", "", "no memory for the golden");
        return;
    }
    if (golden == NULL) {
        run_fail(result, "golden", "",
                 update ? "%s is new: read every cell of it"
                        : "%s is not there; --update writes it: read every cell",
                 path);
        return;
    }
    if (!compare_moments(result, path, golden))
        return;
    for (size_t i = 0; i < result->snapshot_count; i++) {
        struct table_difference differences[DIFFERENCES_SHOWN];
        struct snapshot *want = &golden->snapshots[i];
        struct snapshot *have = &result->snapshots[i];
        compare_table_sets(result, path, want, have);
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

void golden_update(const struct scenario *scenario, struct run_result *result, FILE *out)
{
    const char *path = path_golden(scenario->file, &result->arena);
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
        fprintf(out, "update %s\n", result->failures[i].text);
    }
    if (golden == 0)
        return;
    result->failure_count = kept;
    if (kept > 0)
        fprintf(out, "update %s: not written, the run fails otherwise\n", path);
    else if (!write_golden(path, path_name(scenario->file, &result->arena), result))
        run_fail(result, "golden", path, "could not write it: %s", strerror(errno));
}

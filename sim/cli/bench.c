/* metersim bench: the report of sim/bench. */
#include "sim/bench/bench.h"
#include "sim/base/json.h"
#include "sim/cli/cli.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool missed(const struct bench_row *row)
{
    if (row->target == 0)
        return false;
    return row->target_least ? row->ratio < row->target : row->value > row->target;
}

static void print_text(const struct bench_row *row)
{
    printf("%-44s %12.3f %-13s", row->name, row->value, row->unit);
    if (row->ratio > 0)
        printf(" ratio %.2f", row->ratio);
    if (row->target > 0)
        printf("  %s %.4g: %s", row->target_least ? "at least" : "at most", row->target,
               missed(row) ? "MISSED" : "reached");
    if (row->noise > 0)
        printf("  (noise %.0f %%)", row->noise * 100);
    putchar('\n');
}

static void print_json(const struct bench_row *row, bool first)
{
    printf("%s{\"name\":", first ? "" : ",");
    json_write_text(stdout, row->name);
    printf(",\"value\":%.6g,\"unit\":\"%s\",\"floor\":%.6g,\"ratio\":%.4g,\"noise\":%.4g,"
           "\"missed\":%s}",
           row->value, row->unit, row->floor, row->ratio, row->noise,
           missed(row) ? "true" : "false");
}

static bool wanted(const struct bench *bench, char **names, int count)
{
    for (int i = 0; i < count; i++)
        if (strcmp(bench->name, names[i]) == 0)
            return true;
    return count == 0;
}

static enum exit_code unknown_bench(const char *command, const char *name)
{
    char known[256];
    size_t used = 0;
    for (size_t i = 0; i < bench_count && used < sizeof(known); i++)
        used += (size_t)snprintf(known + used, sizeof(known) - used, " %s", benches[i].name);
    return usage_error(command, "unknown bench \"%s\"; there are:%s", name, known);
}

enum exit_code command_bench(int argc, char **argv)
{
    bool json = false;
    int words;
    struct bench_report report = {.count = 0};
    const struct option known[] = {{"--json", NULL, &json}};
    enum exit_code code = options_parse(argc, argv, known, 1, &words);
    for (int i = 1; code == EXIT_GOOD && i <= words; i++) {
        bool found = false;
        for (size_t b = 0; b < bench_count; b++)
            found = found || strcmp(benches[b].name, argv[i]) == 0;
        if (!found)
            code = unknown_bench(argv[0], argv[i]);
    }
    if (code != EXIT_GOOD)
        return code;
    for (size_t i = 0; i < bench_count && code == EXIT_GOOD; i++) {
        struct err err = {0};
        size_t before = report.count;
        if (!wanted(&benches[i], argv + 1, words))
            continue;
        if (isatty(STDERR_FILENO))
            fprintf(stderr, "\r\033[K%s ...", benches[i].name);
        if (benches[i].run(&report, &err) != STATUS_OK) {
            complain(&err);
            code = EXIT_INTERNAL;
        }
        if (isatty(STDERR_FILENO))
            fputs("\r\033[K", stderr);
        for (size_t row = before; !json && row < report.count; row++)
            print_text(&report.rows[row]);
        fflush(stdout);
    }
    if (json) {
        fputs("{\"rows\":[", stdout);
        for (size_t row = 0; row < report.count; row++)
            print_json(&report.rows[row], row == 0);
        puts("]}");
    }
    for (size_t row = 0; row < report.count && code == EXIT_GOOD; row++)
        if (missed(&report.rows[row]))
            code = EXIT_FELL;
    return code;
}

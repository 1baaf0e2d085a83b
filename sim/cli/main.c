/* The entry: picks a command by its name. */
#include "sim/cli/cli.h"
#include <malloc.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#define HEAP_KEPT_BYTES (32 * 1024 * 1024)

const struct command commands[] = {
    {"run", "[PATH...] [--seed N|A..B] [--rules WORDS] [--update] [--trace FILE] [--json]",
     "runs scenarios and judges them against their goldens", command_run,
     "  PATH          a scenario file or a folder of them; default: scenarios\n"
     "  --seed N      the seed of the schedule, or a range A..B (each scenario once per seed)\n"
     "  --rules W     switches on top of the scenario's, for example \"-A-5 +S-8\", strict, "
     "letter\n"
     "  --update      writes goldens that differ and prints each changed cell; refused in CI\n"
     "  --trace F     the events of the run as JSON lines (one scenario, one seed)\n"
     "  --json        one JSON object instead of text\n"
     "  --fail-fast   stops at the first scenario that does not pass\n"},
    {"ingest", "FILE... --db PATH [--now TIME] [--json]",
     "puts real OTLP exports into the tables and prints what became of them", command_ingest,
     "  FILE          .pb: one OTLP request; .json: one OTLP/JSON request, or one a line\n"
     "  --db PATH     an SQLite database; made when it is not there\n"
     "  --now TIME    the writer's clock, for example 2026-03-01T00:00:00Z; default: the newest "
     "point\n"},
    {"jobs", "--db PATH [--now TIME]", "rollup, partitions and retention, once, over those tables",
     command_jobs, "  --now TIME    default: the newest minute row\n"},
    {"query", "--db PATH [--level minute|hourly|daily] [--from T] [--until T] [filters] [--json]",
     "counts and percentiles over a range, from the tables", command_query,
     "  --tenant UUID --service S --method M --route R --status N --source metric|span   filters\n"
     "  --from, --until   half-open range; default: everything\n"},
    {"bench", "[NAME...] [--json]", "figures and ratios, measured side by side in one run",
     command_bench, ""},
    {"fmt", "FILE... [--check]", "writes scenarios in their canonical form", command_fmt,
     "  --check       only says which files are not, exit 1\n"},
    {"doctor", "", "what this machine has and lacks, with the command that mends it",
     command_doctor, ""},
};
const size_t command_count = sizeof(commands) / sizeof(commands[0]);

static void help(FILE *out)
{
    fputs("metersim: the core of a latency metrics store, and its deterministic simulator\n\n",
          out);
    for (size_t i = 0; i < command_count; i++)
        fprintf(out, "  metersim %s %s\n      %s\n%s", commands[i].name, commands[i].arguments,
                commands[i].summary, commands[i].details);
    fputs("\nexit codes: 0 good, 1 something fell, 2 usage or scenario error, 3 missing or not "
          "judged,\n  4 nondeterminism, 5 internal fault\n",
          out);
}

int main(int argc, char **argv)
{
    /* one thread, and nobody asks how much memory SQLite uses: both cost on every call */
    sqlite3_config(SQLITE_CONFIG_SINGLETHREAD);
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    /* SQLite frees the pages of a statement's temporary tables and takes them again for the next:
     * giving them back to the system in between would cost more than the statement */
    mallopt(M_TRIM_THRESHOLD, HEAP_KEPT_BYTES);
    mallopt(M_MMAP_THRESHOLD, HEAP_KEPT_BYTES);
    if (argc < 2 || strcmp(argv[1], "help") == 0 || strcmp(argv[1], "--help") == 0) {
        help(argc < 2 ? stderr : stdout);
        return argc < 2 ? EXIT_USAGE : EXIT_GOOD;
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("metersim %s\n", METERSIM_VERSION);
        return EXIT_GOOD;
    }
    for (size_t i = 0; i < command_count; i++) {
        if (strcmp(argv[1], commands[i].name) != 0)
            continue;
        for (int k = 2; k < argc && strcmp(argv[k], "--") != 0; k++) {
            if (strcmp(argv[k], "--help") == 0) {
                printf("usage: metersim %s %s\n%s\n%s", commands[i].name, commands[i].arguments,
                       commands[i].summary, commands[i].details);
                return EXIT_GOOD;
            }
        }
        enum exit_code code = commands[i].main(argc - 1, argv + 1);
        if (fflush(stdout) != 0 || ferror(stdout)) {
            fputs("metersim: could not write to standard output\n", stderr);
            return EXIT_INTERNAL;
        }
        return (int)code;
    }
    fprintf(stderr, "metersim: unknown command \"%s\"; there are:", argv[1]);
    for (size_t i = 0; i < command_count; i++)
        fprintf(stderr, " %s", commands[i].name);
    fputs("\nhint: metersim help\n", stderr);
    return EXIT_USAGE;
}

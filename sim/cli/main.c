/* The entry: picks a command by its name. */
#include "sim/cli/cli.h"
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
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
     "  FILE          OTLP metrics: one request in protobuf; or, where the file begins with \"{\", "
     "in\n"
     "                JSON, one request or one a line. Its name does not matter\n"
     "  --db PATH     an SQLite database; made when it is not there. One importer at a time; "
     "files\n"
     "                are taken in the order of their first points, and a later import must not\n"
     "                hold older points: a cumulative point older than its stream is not counted\n"
     "  --now TIME    the writer's clock, for example 2026-03-01T00:00:00Z: points more than 7 "
     "days\n"
     "                before it, or 10 minutes after it, are refused. Default: the newest point;\n"
     "                nothing is imported when the points are more than 7 days apart\n"
     "  --json        one JSON object instead of text\n"
     "  Exit code 1: the rest is imported, but a message or a point was refused or not counted.\n"},
    {"jobs", "--db PATH [--now TIME] [--json]",
     "rollup, partitions and retention, once, over those tables", command_jobs,
     "  --now TIME    default: the newest minute row\n"
     "  --json        one JSON object instead of text\n"},
    {"query", "--db PATH [--level minute|hourly|daily] [--from T] [--until T] [filters] [--json]",
     "counts and percentiles over a range, from the tables; changes nothing", command_query,
     "  --level       hourly is the default; hours that jobs has not rolled up yet are taken from\n"
     "                minutes\n"
     "  --tenant UUID --service S --method M --route R --status N --source metric|span   filters\n"
     "  --from, --until   half-open range, TIME as above; default: everything\n"
     "  --json        one JSON object instead of a table\n"},
    {"bench", "[NAME...] [--json]", "figures and ratios, measured side by side in one run",
     command_bench, ""},
    {"fmt", "FILE... [--check]", "writes scenarios in their canonical form", command_fmt,
     "  --check       only says which files are not, exit 1\n"},
    {"doctor", "", "what a run needs: the libraries it was linked with, and the scenarios",
     command_doctor, "  The packages of a build are looked at, and brought, by make deps.\n"},
};
const size_t command_count = sizeof(commands) / sizeof(commands[0]);

static void help_of(FILE *out, const struct command *command)
{
    fprintf(out, "  metersim %s %s\n      %s\n%s", command->name, command->arguments,
            command->summary, command->details);
}

static void help(FILE *out)
{
    fputs("metersim: the core of a latency metrics store, and its deterministic simulator\n\n",
          out);
    for (size_t i = 0; i < command_count; i++)
        help_of(out, &commands[i]);
    fputs(
        "  metersim help [COMMAND]\n  metersim --version\n"
        "\nexit codes: 0 good, 1 something fell or was refused, 2 usage or input error, 3 missing, "
        "locked or not\n  judged, 4 nondeterminism, 5 internal fault, or the output could not be "
        "written\n",
        out);
}

static const struct command *command_of(const char *name)
{
    for (size_t i = 0; i < command_count; i++)
        if (strcmp(name, commands[i].name) == 0)
            return &commands[i];
    return NULL;
}

static enum exit_code unknown_command(const char *name)
{
    fprintf(stderr, "metersim: unknown command \"%s\"; there are:", name);
    for (size_t i = 0; i < command_count; i++)
        fprintf(stderr, " %s", commands[i].name);
    fputs("\nhint: metersim help\n", stderr);
    return EXIT_USAGE;
}

static bool is_help(const char *word)
{
    return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

static enum exit_code dispatch(int argc, char **argv)
{
    if (argc < 2) {
        help(stderr);
        return EXIT_USAGE;
    }
    const char *name = argv[1];
    if (is_help(name) || (strcmp(name, "help") == 0 && argc == 2)) {
        help(stdout);
        return EXIT_GOOD;
    }
    if (strcmp(name, "--version") == 0) {
        printf("metersim %s\n", METERSIM_VERSION);
        return EXIT_GOOD;
    }
    bool helps = strcmp(name, "help") == 0;
    const struct command *command = command_of(helps ? argv[2] : name);
    if (command == NULL)
        return unknown_command(helps ? argv[2] : name);
    for (int k = 2; k < argc && strcmp(argv[k], "--") != 0; k++)
        helps = helps || is_help(argv[k]);
    if (helps) {
        help_of(stdout, command);
        return EXIT_GOOD;
    }
    return command->main(argc - 1, argv + 1);
}

/* A database or trace opened as descriptor 1 or 2 would get what is printed. What stands in for
 * standard output cannot be written, so that printing fails as it should. */
static void claim_standard_streams(void)
{
    for (int descriptor = 0; descriptor <= 2; descriptor++)
        if (fcntl(descriptor, F_GETFD) < 0)
            open("/dev/null", O_RDONLY);
}

int main(int argc, char **argv)
{
    claim_standard_streams();
    signal(SIGXFSZ, SIG_IGN); /* past ulimit -f: a write that fails, as on a full disk */
    /* one thread, and nobody asks how much memory SQLite uses: both cost on every call */
    sqlite3_config(SQLITE_CONFIG_SINGLETHREAD);
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    /* SQLite frees the pages of a statement's temporary tables and takes them again for the next:
     * giving them back to the system in between would cost more than the statement */
    mallopt(M_TRIM_THRESHOLD, HEAP_KEPT_BYTES);
    mallopt(M_MMAP_THRESHOLD, HEAP_KEPT_BYTES);
    enum exit_code code = dispatch(argc, argv);
    errno = 0;
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr, "metersim: could not write to standard output%s%s\n",
                errno != 0 ? ": " : "", errno != 0 ? strerror(errno) : "");
        return EXIT_INTERNAL;
    }
    return (int)code;
}

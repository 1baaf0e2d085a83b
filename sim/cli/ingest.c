/* metersim ingest: real OTLP exports through the writer, without any simulator. */
#include "core/ingest/ingest.h"
#include "core/base/time.h"
#include "sim/base/file.h"
#include "sim/cli/database.h"
#include <inttypes.h>
#include <stdio.h>

#define FILES_ARENA_BYTES ((size_t)2048 * 1024 * 1024)
#define FILE_BYTES_MAX    ((size_t)64 * 1024 * 1024)

static void print_ingest(const struct counts *counts, const struct ingest_summary *summary,
                         bool json)
{
    char now[TIME_TEXT_SIZE];
    time_format_ns(summary->now_ns, now);
    if (json)
        printf("{\"now\":\"%s\",\"messages\":%zu,\"refused\":%zu,\"message_outcomes\":{", now,
               summary->messages, summary->refused);
    else
        printf("now %s\nmessages %zu\n", now, summary->messages);
    bool first = true;
    for (int i = 0; i < MESSAGE_OUTCOME_COUNT; i++) {
        if (counts->messages[i] == 0)
            continue;
        const char *name = message_outcome_name((enum message_outcome)i);
        if (json)
            printf("%s\"%s\":%" PRIu64, first ? "" : ",", name, counts->messages[i]);
        else
            printf("  message %-22s %" PRIu64 "\n", name, counts->messages[i]);
        first = false;
    }
    if (json)
        fputs("},\"point_outcomes\":{", stdout);
    first = true;
    for (int i = 0; i < POINT_OUTCOME_COUNT; i++) {
        if (counts->points[i] == 0)
            continue;
        const char *name = point_outcome_name((enum point_outcome)i);
        if (json)
            printf("%s\"%s\":%" PRIu64, first ? "" : ",", name, counts->points[i]);
        else
            printf("  point   %-22s %" PRIu64 "\n", name, counts->points[i]);
        first = false;
    }
    if (json)
        printf("},\"skipped_metrics\":%" PRIu64 "}\n", counts->counters[COUNTER_SKIPPED_METRICS]);
    else if (counts->counters[COUNTER_SKIPPED_METRICS] > 0)
        printf("  skipped metrics (not ours)     %" PRIu64 "\n",
               counts->counters[COUNTER_SKIPPED_METRICS]);
}

/* Every file is read before the database is opened: a missing one leaves nothing behind. */
static struct ingest_file *read_files(char **paths, int count, struct arena *arena, struct err *err)
{
    struct ingest_file *files = arena_array(arena, (size_t)count, sizeof(*files));
    if (files == NULL)
        err_set(err, STATUS_NO_MEMORY, NULL, "no memory for %d files", count);
    for (int i = 0; i < count && files != NULL; i++) {
        files[i].name = paths[i];
        if (file_read(paths[i], FILE_BYTES_MAX, arena, &files[i].bytes, err) != STATUS_OK)
            files = NULL;
    }
    return files;
}

static enum exit_code ingest_files(struct store *store, const struct ingest_file *files, int count,
                                   int64_t now_ns, bool json)
{
    struct settings settings = settings_default();
    struct counts counts = counts_make();
    struct log log = log_on_stderr();
    struct ingest_ports ports = {.store = store, .meter = &counts.port, .log = &log};
    struct ingest_summary summary;
    struct err err = {0};
    enum status status =
        ingest(&settings, rules_default(), &ports, files, (size_t)count, now_ns, &summary, &err);
    if (status != STATUS_OK) {
        complain(&err);
        return status == STATUS_INVALID || status == STATUS_IO ? EXIT_USAGE : EXIT_MISSING;
    }
    print_ingest(&counts, &summary, json);
    return summary.refused > 0 || summary.abandoned > 0 ? EXIT_FELL : EXIT_GOOD;
}

enum exit_code command_ingest(int argc, char **argv)
{
    const char *path = NULL;
    const char *now = NULL;
    bool json = false;
    int64_t now_ns = 0;
    int words;
    struct sqlite_database *database;
    const struct option known[] = {
        {"--db", &path, NULL}, {"--now", &now, NULL}, {"--json", NULL, &json}};
    enum exit_code code = options_parse(argc, argv, known, 3, &words);
    if (code == EXIT_GOOD)
        code = option_time(argv[0], "--now", now, &now_ns);
    if (code != EXIT_GOOD)
        return code;
    if (words == 0)
        return usage_error(argv[0], "at least one FILE is required");
    if (path == NULL)
        return usage_error(argv[0], "--db PATH is required");
    struct arena arena;
    struct err err = {0};
    arena_init(&arena, FILES_ARENA_BYTES);
    struct ingest_file *files = read_files(argv + 1, words, &arena, &err);
    if (files == NULL) {
        complain(&err);
        code = EXIT_USAGE;
    } else {
        code = database_open(argv[0], path, DATABASE_CREATE, &database);
    }
    if (code == EXIT_GOOD) {
        code = ingest_files(sqlite_database_store(database), files, words, now_ns, json);
        sqlite_database_close(database);
    }
    arena_free(&arena);
    return code;
}

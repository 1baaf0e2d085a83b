/* metersim ingest: real OTLP exports through the writer, without any simulator. */
#include "core/ingest/ingest.h"
#include "core/base/limits.h"
#include "core/base/time.h"
#include "sim/base/file.h"
#include "sim/cli/database.h"
#include <inttypes.h>
#include <stdio.h>

#define FILES_ARENA_BYTES ((size_t)2048 * 1024 * 1024)
#define FILE_BYTES_MAX    ((size_t)64 * 1024 * 1024)
#define FUTURE_MINUTES    10 /* METRICSWRITER_FUTURE_TOLERANCE, which the importer does not set */

static void print_ingest(int64_t now_ns, const struct counts *counts,
                         const struct ingest_summary *summary, bool json)
{
    char now[TIME_TEXT_SIZE];
    time_format_ns(now_ns, now);
    if (json)
        printf("{\"now\":\"%s\",\"messages\":%zu,\"refused\":%zu,\"abandoned\":%zu,"
               "\"message_outcomes\":{",
               now, summary->messages, summary->refused, summary->abandoned);
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

/* Nothing that the files hold is left out in silence. True when all of it is in the tables. */
static bool tell_what_is_missing(const struct counts *counts, const struct ingest_summary *summary)
{
    uint64_t refused = counts->points[POINT_REFUSED_CAP];
    uint64_t late = counts->points[POINT_OUT_OF_ORDER];
    for (int i = POINT_REJECTED_ATTRIBUTES; i < POINT_OUTCOME_COUNT; i++)
        refused += counts->points[i];
    if (summary->refused > 0)
        fprintf(stderr, "metersim: messages refused, nothing of them is in the tables: %zu\n",
                summary->refused);
    if (summary->abandoned > 0)
        fprintf(
            stderr,
            "metersim: messages that the database did not take in %d tries: %zu\n"
            "hint: see that no other program uses it and its disk has room, then import again\n",
            LIMIT_DELIVERIES, summary->abandoned);
    if (refused > 0)
        fprintf(stderr, "metersim: points refused, not counted: %" PRIu64 "\n", refused);
    if (counts->points[POINT_REJECTED_TOO_OLD] + counts->points[POINT_REJECTED_FUTURE] > 0)
        fprintf(stderr, "hint: points are taken from %d days before --now to %d minutes after it\n",
                LIMIT_POINT_AGE_DAYS, FUTURE_MINUTES);
    if (late > 0)
        fprintf(stderr,
                "metersim: points older than what the database has of their streams, not counted: "
                "%" PRIu64 "\n"
                "hint: one importer, files in the order of time; begin with a new database\n",
                late);
    return refused + late + summary->refused + summary->abandoned == 0;
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

static enum exit_code ingest_plan_into(struct store *store, struct ingest_plan *plan,
                                       int64_t now_ns, bool json)
{
    struct settings settings = settings_default();
    struct counts counts = counts_make();
    struct log log = log_on_stderr();
    struct ingest_ports ports = {.store = store, .meter = &counts.port, .log = &log};
    struct ingest_summary summary;
    struct err err = {0};
    enum status status = ingest(&settings, rules_default(), &ports, plan, now_ns, &summary, &err);
    if (status != STATUS_OK) {
        complain(&err);
        return EXIT_MISSING;
    }
    print_ingest(now_ns, &counts, &summary, json);
    bool whole = tell_what_is_missing(&counts, &summary);
    if (summary.abandoned > 0)
        return EXIT_MISSING;
    return whole ? EXIT_GOOD : EXIT_FELL;
}

/* The plan, and its clock where none is given. Nothing has been made or written when it fails. */
static enum exit_code make_plan(const struct ingest_file *files, int count,
                                struct ingest_plan **plan, int64_t *now_ns)
{
    struct err err = {0};
    enum status status = ingest_plan_new(files, (size_t)count, plan, &err);
    if (status == STATUS_OK && *now_ns == 0) {
        status = ingest_plan_now(*plan, now_ns, &err);
        if (status != STATUS_OK)
            err_hint(&err,
                     "nothing was imported; --now TIME takes the %d days before TIME and "
                     "refuses other points",
                     LIMIT_POINT_AGE_DAYS);
    }
    if (status == STATUS_OK)
        return EXIT_GOOD;
    complain(&err);
    ingest_plan_free(*plan);
    return status == STATUS_INVALID ? EXIT_USAGE : EXIT_MISSING;
}

static enum exit_code ingest_files(const char *command, const char *path,
                                   const struct ingest_file *files, int count, int64_t now_ns,
                                   bool json)
{
    struct sqlite_database *database;
    struct ingest_plan *plan;
    int lock = -1;
    enum exit_code code = make_plan(files, count, &plan, &now_ns);
    if (code != EXIT_GOOD)
        return code;
    code = database_open(command, path, DATABASE_CREATE, &database);
    if (code == EXIT_GOOD) {
        code = database_lock(path, &lock);
        if (code == EXIT_GOOD)
            code = ingest_plan_into(sqlite_database_store(database), plan, now_ns, json);
        sqlite_database_close(database);
        database_unlock(lock);
    }
    ingest_plan_free(plan);
    return code;
}

enum exit_code command_ingest(int argc, char **argv)
{
    const char *path = NULL;
    const char *now = NULL;
    bool json = false;
    int64_t now_ns = 0;
    int words;
    const struct option known[] = {
        {"--db", &path, NULL}, {"--now", &now, NULL}, {"--json", NULL, &json}};
    enum exit_code code = options_parse(argc, argv, known, 3, &words);
    if (code == EXIT_GOOD)
        code = option_now(argv[0], now, &now_ns);
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
    if (files != NULL) {
        code = ingest_files(argv[0], path, files, words, now_ns, json);
    } else {
        complain(&err);
        code = EXIT_USAGE;
    }
    arena_free(&arena);
    return code;
}

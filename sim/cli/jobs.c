/* metersim jobs: rollup, partitions and retention, once, over the tables of a database. */
#include "core/jobs/jobs.h"
#include "core/base/time.h"
#include "sim/cli/database.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define TABLES_ARENA_BYTES ((size_t)2048 * 1024 * 1024)

/* The newest minute row: what "now" means for tables that came from files. */
static enum status newest_minute(struct store *store, int64_t *ns, struct err *err)
{
    struct arena arena;
    arena_init(&arena, TABLES_ARENA_BYTES);
    const struct query *query = &queries[QUERY_DUMP_METRICS_MINUTE];
    struct value *values = NULL;
    size_t rows = 0;
    enum status status = store_begin(store, ROLE_READER, err);
    if (status == STATUS_OK)
        status = store_dump(store, QUERY_DUMP_METRICS_MINUTE, &arena, &values, &rows, err);
    *ns = 0;
    for (int column = 0; column < query->result_count && status == STATUS_OK; column++) {
        if (strcmp(query->results[column].name, "bucket_start") != 0)
            continue;
        for (size_t row = 0; row < rows; row++) {
            int64_t us = values[row * (size_t)query->result_count + (size_t)column].integer;
            if (us > 0 && us <= INT64_MAX / NS_PER_US && us * NS_PER_US > *ns)
                *ns = us * NS_PER_US;
        }
    }
    store_rollback(store);
    arena_free(&arena);
    if (status == STATUS_OK && *ns == 0) {
        err_set(err, STATUS_INVALID, NULL, "the database holds no minute rows");
        err_hint(err, "give --now TIME, or fill it with metersim ingest");
        return STATUS_INVALID;
    }
    return status;
}

static enum status run_jobs(struct store *store, int64_t now_ns, struct counts *counts,
                            struct err *err)
{
    struct settings settings = settings_default();
    struct fixed_clock clock = fixed_clock_make(now_ns);
    struct fence fence = fence_nobody_raises();
    struct log log = log_on_stderr();
    struct job_ports ports = {&clock.port, store, &fence, &counts->port, &log};
    enum status status = settings_set(&settings, "API_MINUTE_RETENTION_DAYS", "30", false, err);
    if (status == STATUS_OK)
        status = settings_set(&settings, "API_HOURLY_RETENTION_MONTHS", "24", false, err);
    struct job *job = status == STATUS_OK ? job_new(&settings, rules_default(), &ports) : NULL;
    if (job == NULL)
        return err_set(err, STATUS_NO_MEMORY, NULL, "no memory for the jobs");
    status = job_rollup(job, err);
    if (status == STATUS_OK)
        status = job_partition(job, err);
    if (status == STATUS_OK)
        status = job_retention(job, err);
    job_free(job);
    return status;
}

static void print_jobs(int64_t now_ns, const struct counts *counts, bool json)
{
    char now[TIME_TEXT_SIZE];
    bool first = true;
    time_format_ns(now_ns, now);
    printf(json ? "{\"now\":\"%s\",\"counters\":{" : "now %s\n", now);
    for (int i = 0; i < COUNTER_COUNT; i++) {
        if (counts->counters[i] == 0)
            continue;
        const char *name = counter_name((enum counter)i);
        if (json)
            printf("%s\"%s\":%" PRIu64, first ? "" : ",", name, counts->counters[i]);
        else
            printf("  %-24s %" PRIu64 "\n", name, counts->counters[i]);
        first = false;
    }
    if (json)
        puts("}}");
    else if (first)
        puts("  nothing to do");
}

enum exit_code command_jobs(int argc, char **argv)
{
    const char *path = NULL;
    const char *now = NULL;
    bool json = false;
    int64_t now_ns = 0;
    int words;
    struct sqlite_database *database;
    struct counts counts = counts_make();
    struct err err = {0};
    const struct option known[] = {
        {"--db", &path, NULL}, {"--now", &now, NULL}, {"--json", NULL, &json}};
    enum exit_code code = options_parse(argc, argv, known, 3, &words);
    if (code == EXIT_GOOD)
        code = option_now(argv[0], now, &now_ns);
    if (code == EXIT_GOOD && words > 0)
        code = usage_error(argv[0], "unexpected word \"%s\"", argv[1]);
    if (code == EXIT_GOOD)
        code = database_open(argv[0], path, DATABASE_WRITE, &database);
    if (code != EXIT_GOOD)
        return code;
    struct store *store = sqlite_database_store(database);
    enum status status = now_ns != 0 ? STATUS_OK : newest_minute(store, &now_ns, &err);
    if (status == STATUS_OK)
        status = run_jobs(store, now_ns, &counts, &err);
    sqlite_database_close(database);
    if (status != STATUS_OK) {
        complain(&err);
        return status == STATUS_INVALID ? EXIT_USAGE : EXIT_MISSING;
    }
    print_jobs(now_ns, &counts, json);
    return EXIT_GOOD;
}

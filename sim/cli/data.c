/* metersim ingest, jobs, query: the core over a real database file, without any simulator. */
#include "core/base/limits.h"
#include "core/base/time.h"
#include "core/ingest/ingest.h"
#include "core/jobs/jobs.h"
#include "core/reader/reader.h"
#include "core/store/sqlite/sqlite_store.h"
#include "sim/cli/cli.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUSY_MS            5000
#define FILES_ARENA_BYTES  ((size_t)2048 * 1024 * 1024)
#define FILE_BYTES_MAX     ((size_t)64 * 1024 * 1024)
#define ANSWER_ARENA_BYTES ((size_t)2048 * 1024 * 1024)

/* ---- ports of a command: counts in memory, a log on stderr, a fence that nobody raises ---- */

struct counts {
    struct meter port;
    uint64_t points[POINT_OUTCOME_COUNT];
    uint64_t messages[MESSAGE_OUTCOME_COUNT];
    uint64_t counters[COUNTER_COUNT];
};

static void count_points(struct meter *port, const struct uuid *tenant, enum point_outcome outcome,
                         uint64_t count)
{
    (void)tenant;
    ((struct counts *)port)->points[outcome] += count;
}

static void count_messages(struct meter *port, const struct uuid *tenant,
                           enum message_outcome outcome, uint64_t count)
{
    (void)tenant;
    ((struct counts *)port)->messages[outcome] += count;
}

static void count_counter(struct meter *port, enum counter counter, uint64_t count)
{
    ((struct counts *)port)->counters[counter] += count;
}

static struct counts counts_make(void)
{
    return (struct counts){
        .port = {.points = count_points, .messages = count_messages, .add = count_counter}};
}

static void log_to_stderr(struct log *port, enum log_level level, const char *event,
                          const char *text)
{
    (void)port;
    if (level != LOG_INFO)
        fprintf(stderr, "metersim: %s: %s: %s\n", level == LOG_ERROR ? "error" : "warning", event,
                text);
}

static enum status fence_always_good(struct fence *fence, struct err *err)
{
    (void)fence;
    (void)err;
    return STATUS_OK;
}

struct fixed_clock {
    struct clock port;
    int64_t now_ns;
};

static int64_t fixed_now(struct clock *port)
{
    return ((struct fixed_clock *)port)->now_ns;
}

static enum exit_code open_database(const char *command, const char *path, bool create,
                                    struct sqlite_database **database)
{
    struct err err = {0};
    if (path == NULL)
        return usage_error(command, "--db PATH is required");
    if (sqlite_database_open(path, create, BUSY_MS, database, &err) != STATUS_OK) {
        complain(&err);
        return EXIT_USAGE;
    }
    return EXIT_GOOD;
}

static enum exit_code parse_time(const char *command, const char *option, const char *text,
                                 int64_t *ns)
{
    if (text == NULL || time_parse_ns(text, strlen(text), ns))
        return EXIT_GOOD;
    return usage_error(command, "%s takes a UTC time such as 2026-03-01T00:00:00Z, not \"%s\"",
                       option, text);
}

/* ---- ingest ---- */

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

static enum exit_code ingest_files(struct store *store, char **paths, int count, int64_t now_ns,
                                   bool json)
{
    struct settings settings = settings_default();
    struct counts counts = counts_make();
    struct log log = {log_to_stderr};
    struct ingest_ports ports = {.store = store, .meter = &counts.port, .log = &log};
    struct ingest_summary summary;
    struct arena arena;
    struct err err = {0};
    arena_init(&arena, FILES_ARENA_BYTES);
    struct ingest_file *files = arena_array(&arena, (size_t)count, sizeof(*files));
    enum status status = files != NULL ? STATUS_OK : STATUS_NO_MEMORY;
    for (int i = 0; i < count && status == STATUS_OK; i++) {
        files[i].name = paths[i];
        status = file_read(paths[i], FILE_BYTES_MAX, &arena, &files[i].bytes, &err);
    }
    enum exit_code code = EXIT_GOOD;
    if (status == STATUS_OK)
        status = ingest(&settings, rules_default(), &ports, files, (size_t)count, now_ns, &summary,
                        &err);
    if (status != STATUS_OK) {
        complain(&err);
        code = status == STATUS_INVALID || status == STATUS_IO ? EXIT_USAGE : EXIT_MISSING;
    } else {
        print_ingest(&counts, &summary, json);
        if (summary.refused > 0 || summary.abandoned > 0)
            code = EXIT_FELL;
    }
    arena_free(&arena);
    return code;
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
        code = parse_time(argv[0], "--now", now, &now_ns);
    if (code != EXIT_GOOD)
        return code;
    if (words == 0)
        return usage_error(argv[0], "at least one FILE is required");
    code = open_database(argv[0], path, true, &database);
    if (code != EXIT_GOOD)
        return code;
    code = ingest_files(sqlite_database_store(database), argv + 1, words, now_ns, json);
    sqlite_database_close(database);
    return code;
}

/* ---- jobs ---- */

/* The newest minute row: what "now" means for tables that came from files. */
static enum status newest_minute(struct store *store, int64_t *ns, struct err *err)
{
    struct arena arena;
    arena_init(&arena, ANSWER_ARENA_BYTES);
    struct store_call call = {.query = QUERY_DUMP_METRICS_MINUTE, .row_count = 1, .arena = &arena};
    const struct query *query = &queries[call.query];
    enum status status = store_begin(store, ROLE_READER, err);
    if (status == STATUS_OK)
        status = store->call(store, &call, err);
    *ns = 0;
    for (int column = 0; column < query->result_count && status == STATUS_OK; column++) {
        if (strcmp(query->results[column].name, "bucket_start") != 0)
            continue;
        for (size_t row = 0; row < call.result_rows; row++) {
            int64_t us = call.results[row * (size_t)query->result_count + (size_t)column].integer;
            if (us * NS_PER_US > *ns)
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
    struct fixed_clock clock = {{fixed_now}, now_ns};
    struct fence fence = {fence_always_good};
    struct log log = {log_to_stderr};
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

enum exit_code command_jobs(int argc, char **argv)
{
    const char *path = NULL;
    const char *now = NULL;
    int64_t now_ns = 0;
    int words;
    struct sqlite_database *database;
    struct counts counts = counts_make();
    struct err err = {0};
    const struct option known[] = {{"--db", &path, NULL}, {"--now", &now, NULL}};
    enum exit_code code = options_parse(argc, argv, known, 2, &words);
    if (code == EXIT_GOOD)
        code = parse_time(argv[0], "--now", now, &now_ns);
    if (code == EXIT_GOOD && words > 0)
        code = usage_error(argv[0], "unexpected word \"%s\"", argv[1]);
    if (code == EXIT_GOOD)
        code = open_database(argv[0], path, false, &database);
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
    for (int i = 0; i < COUNTER_COUNT; i++)
        if (counts.counters[i] > 0)
            printf("%-24s %" PRIu64 "\n", counter_name((enum counter)i), counts.counters[i]);
    return EXIT_GOOD;
}

/* ---- query ---- */

struct question {
    const char *tenant;
    const char *level;
    const char *from;
    const char *until;
    const char *service;
    const char *method;
    const char *route;
    const char *status;
    const char *source;
    bool json;
};

static enum exit_code fill_query(const char *command, const struct question *question,
                                 struct reader_query *query, struct bytes texts[3], int16_t *status,
                                 enum source *source)
{
    static const char *const levels[] = {"minute", "hourly", "daily"};
    int64_t number;
    int64_t from = INT64_MIN;
    int64_t until = INT64_MAX;
    int level = 0;
    while (level < 3 && strcmp(levels[level], question->level) != 0)
        level++;
    if (level == 3)
        return usage_error(command, "--level is minute, hourly or daily, not \"%s\"",
                           question->level);
    query->level = (enum read_level)level;
    enum exit_code code = parse_time(command, "--from", question->from, &from);
    if (code == EXIT_GOOD)
        code = parse_time(command, "--until", question->until, &until);
    if (code != EXIT_GOOD)
        return code;
    query->from_us = question->from != NULL ? time_div(from, NS_PER_US) : INT64_MIN;
    query->until_us = question->until != NULL ? time_div(until, NS_PER_US) : INT64_MAX;
    const char *words[] = {question->service, question->method, question->route};
    const struct bytes **filters[] = {&query->service, &query->method, &query->route};
    for (int i = 0; i < 3; i++) {
        if (words[i] == NULL)
            continue;
        texts[i] = bytes_of(words[i]);
        *filters[i] = &texts[i];
    }
    if (question->status != NULL) {
        if (!parse_int(question->status, &number) || number < 0 || number > 599)
            return usage_error(command, "--status takes a number, not \"%s\"", question->status);
        *status = (int16_t)number;
        query->status_code = status;
    }
    if (question->source != NULL) {
        bool span = strcmp(question->source, "span") == 0;
        if (!span && strcmp(question->source, "metric") != 0)
            return usage_error(command, "--source is metric or span, not \"%s\"", question->source);
        *source = span ? SOURCE_SPAN : SOURCE_METRIC;
        query->source = source;
    }
    return EXIT_GOOD;
}

static const double quantiles[] = {0.5, 0.95, 0.99};
static const char *const quantile_names[] = {"p50", "p95", "p99"};

static void print_group(const char *tenant, const struct reader_group *group, bool json, bool first)
{
    char text[READER_QUANTILE_TEXT];
    struct err err = {0};
    const struct reader_answer *answer = &group->answer;
    char copies[3][LIMIT_ROUTE_BYTES + 1];
    const struct bytes *texts[] = {&group->service, &group->method, &group->route};
    for (int i = 0; i < 3; i++)
        snprintf(copies[i], sizeof(copies[i]), "%.*s", (int)texts[i]->size,
                 texts[i]->size > 0 ? (const char *)texts[i]->data : "");
    if (json) {
        static const char *const names[] = {"service", "method", "route"};
        printf("%s{\"tenant\":\"%s\"", first ? "" : ",", tenant);
        for (int i = 0; i < 3; i++) {
            printf(",\"%s\":", names[i]);
            json_string(copies[i]);
        }
        printf(",\"status\":%d,\"source\":\"%s\",\"requests\":%" PRId64
               ",\"sum_seconds\":%.17g,\"lossy\":%s",
               group->status_code, source_name(group->source), answer->count, answer->sum,
               answer->lossy ? "true" : "false");
    } else {
        printf("%-12s %-7s %-24s %-6d %-6s %8" PRId64 " %-5s", copies[0], copies[1], copies[2],
               group->status_code, source_name(group->source), answer->count,
               answer->lossy ? "lossy" : "");
    }
    for (int i = 0; i < 3; i++) {
        if (reader_quantile_text(answer, quantiles[i], text, &err) != STATUS_OK)
            snprintf(text, sizeof(text), "?");
        if (json) {
            printf(",\"%s\":", quantile_names[i]);
            json_string(text);
        } else {
            printf("  %s %-9s", quantile_names[i], text);
        }
    }
    puts(json ? "}" : "");
}

static enum status tenants_of(struct store *store, struct arena *arena, struct uuid **tenants,
                              size_t *count, struct err *err)
{
    /* no rule makes a row of tenants for a tenant that only sends: they are read from the minutes
     */
    static const enum query_id dumps[] = {QUERY_DUMP_METRICS_MINUTE, QUERY_DUMP_METRICS_HOURLY,
                                          QUERY_DUMP_METRICS_DAILY};
    enum status status = store_begin(store, ROLE_READER, err);
    *count = 0;
    *tenants = NULL;
    for (int d = 0; d < 3 && status == STATUS_OK; d++) {
        struct store_call call = {.query = dumps[d], .row_count = 1, .arena = arena};
        status = store->call(store, &call, err);
        size_t width = (size_t)queries[dumps[d]].result_count;
        for (size_t row = 0; status == STATUS_OK && row < call.result_rows; row++) {
            struct uuid uuid;
            memcpy(uuid.bytes, call.results[row * width].bytes.data, sizeof(uuid.bytes));
            bool known = false;
            for (size_t i = 0; i < *count; i++)
                known = known || uuid_compare(&(*tenants)[i], &uuid) == 0;
            if (known)
                continue;
            struct uuid *grown = arena_array(arena, *count + 1, sizeof(*grown));
            if (grown == NULL)
                return err_set(err, STATUS_NO_MEMORY, NULL, "too many tenants");
            if (*count > 0)
                memcpy(grown, *tenants, *count * sizeof(*grown));
            grown[(*count)++] = uuid;
            *tenants = grown;
        }
    }
    store_rollback(store);
    return status;
}

static enum status answer(struct store *store, struct reader_query *query,
                          const struct question *question, struct err *err)
{
    struct arena arena;
    struct uuid *tenants = &query->tenant;
    size_t count = 1;
    bool first = true;
    arena_init(&arena, ANSWER_ARENA_BYTES);
    enum status status = STATUS_OK;
    if (question->tenant == NULL)
        status = tenants_of(store, &arena, &tenants, &count, err);
    if (question->json)
        fputs("{\"rows\":[", stdout);
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        struct reader_group *groups;
        size_t group_count;
        char tenant[UUID_TEXT_SIZE + 1];
        query->tenant = tenants[i];
        uuid_format(&query->tenant, tenant);
        status = reader_groups(store, query, &arena, &groups, &group_count, err);
        if (status == STATUS_OK && !question->json && group_count > 0)
            printf("tenant %s\n", tenant);
        for (size_t g = 0; status == STATUS_OK && g < group_count; g++) {
            print_group(tenant, &groups[g], question->json, first);
            first = false;
        }
    }
    if (question->json)
        puts("]}");
    else if (first && status == STATUS_OK)
        puts("no rows");
    arena_free(&arena);
    return status;
}

enum exit_code command_query(int argc, char **argv)
{
    const char *path = NULL;
    struct question question = {.level = "hourly"};
    struct reader_query query = {0};
    struct bytes texts[3];
    int16_t status_code;
    enum source source;
    int words;
    struct sqlite_database *database;
    struct err err = {0};
    const struct option known[] = {
        {"--db", &path, NULL},
        {"--tenant", &question.tenant, NULL},
        {"--level", &question.level, NULL},
        {"--from", &question.from, NULL},
        {"--until", &question.until, NULL},
        {"--service", &question.service, NULL},
        {"--method", &question.method, NULL},
        {"--route", &question.route, NULL},
        {"--status", &question.status, NULL},
        {"--source", &question.source, NULL},
        {"--json", NULL, &question.json},
    };
    enum exit_code code =
        options_parse(argc, argv, known, sizeof(known) / sizeof(known[0]), &words);
    if (code == EXIT_GOOD && words > 0)
        code = usage_error(argv[0], "unexpected word \"%s\"", argv[1]);
    if (code == EXIT_GOOD)
        code = fill_query(argv[0], &question, &query, texts, &status_code, &source);
    if (code == EXIT_GOOD && question.tenant != NULL &&
        !uuid_parse(bytes_of(question.tenant), &query.tenant))
        code = usage_error(argv[0], "--tenant takes a uuid, not \"%s\"", question.tenant);
    if (code == EXIT_GOOD)
        code = open_database(argv[0], path, false, &database);
    if (code != EXIT_GOOD)
        return code;
    enum status status = answer(sqlite_database_store(database), &query, &question, &err);
    sqlite_database_close(database);
    if (status != STATUS_OK) {
        complain(&err);
        return EXIT_MISSING;
    }
    return EXIT_GOOD;
}

/* metersim query: counts and percentiles over a range, as a console asks for them. */
#include "core/base/limits.h"
#include "core/base/time.h"
#include "core/reader/reader.h"
#include "sim/base/json.h"
#include "sim/cli/database.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define ANSWER_ARENA_BYTES ((size_t)2048 * 1024 * 1024)

#define QUANTILES 3
static const double quantiles[QUANTILES] = {0.5, 0.95, 0.99};
static const char *const quantile_names[QUANTILES] = {"p50", "p95", "p99"};

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
    enum exit_code code = option_time(command, "--from", question->from, &from);
    if (code == EXIT_GOOD)
        code = option_time(command, "--until", question->until, &until);
    if (code != EXIT_GOOD)
        return code;
    query->from_us = question->from != NULL ? time_div(from, NS_PER_US) : INT64_MIN / NS_PER_US;
    query->until_us = question->until != NULL ? time_div(until, NS_PER_US) : INT64_MAX / NS_PER_US;
    if (query->from_us > query->until_us)
        return usage_error(command, "--from %s is later than --until %s", question->from,
                           question->until);
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

/* The texts of a group that name it, NUL-terminated; nothing stands for an empty one. A database
 * may come from anyone: no control character reaches a terminal. */
struct names {
    char texts[3][LIMIT_ROUTE_BYTES + 1];
};

static struct names names_of(const struct reader_group *group, const char *nothing)
{
    struct names names;
    const struct bytes *texts[] = {&group->service, &group->method, &group->route};
    for (int i = 0; i < 3; i++) {
        struct bytes text = texts[i]->size > 0 ? *texts[i] : bytes_of(nothing);
        snprintf(names.texts[i], sizeof(names.texts[i]), "%.*s", (int)text.size,
                 (const char *)text.data);
        for (char *c = names.texts[i]; *c != 0; c++)
            if ((unsigned char)*c < ' ' || *c == 0x7f)
                *c = '?';
    }
    return names;
}

/* "0.0123 s", ">10 s", "-" for no requests. */
static void quantile_text(const struct reader_answer *answer, double q,
                          char out[READER_QUANTILE_TEXT + 2])
{
    struct err err = {0};
    if (reader_quantile_text(answer, q, out, &err) != STATUS_OK)
        strcpy(out, "?");
    if (out[0] >= '0' && out[0] <= '9')
        strcat(out, " s");
}

static void print_json_group(const char *tenant, const struct reader_group *group, bool first)
{
    static const char *const fields[] = {"service", "method", "route"};
    struct names names = names_of(group, "");
    const struct reader_answer *answer = &group->answer;
    printf("%s{\"tenant\":\"%s\"", first ? "{\"rows\":[" : ",", tenant);
    for (int i = 0; i < 3; i++) {
        printf(",\"%s\":", fields[i]);
        json_write_text(stdout, names.texts[i]);
    }
    printf(",\"status\":%d,\"source\":\"%s\",\"requests\":%" PRId64, group->status_code,
           source_name(group->source), answer->count);
    if (isfinite(answer->sum))
        printf(",\"sum_seconds\":%.17g", answer->sum);
    else
        fputs(",\"sum_seconds\":null", stdout);
    printf(",\"lossy\":%s", answer->lossy ? "true" : "false");
    for (int i = 0; i < QUANTILES; i++) {
        char text[READER_QUANTILE_TEXT + 2];
        quantile_text(answer, quantiles[i], text);
        bool number = text[0] >= '0' && text[0] <= '9';
        printf(",\"%s\":\"%s\",\"%s_seconds\":%.*s", quantile_names[i], text, quantile_names[i],
               number ? (int)strcspn(text, " ") : 4, number ? text : "null");
    }
    putchar('}');
}

static void print_table(const struct reader_group *groups, size_t count)
{
    int widths[3] = {7, 6, 5}; /* of the header's words */
    for (size_t g = 0; g < count; g++) {
        struct names names = names_of(&groups[g], "\"\"");
        for (int i = 0; i < 3; i++)
            if (strlen(names.texts[i]) > (size_t)widths[i])
                widths[i] = (int)strlen(names.texts[i]);
    }
    printf("  %-*s  %-*s  %-*s  status  source  requests  %-12s%-12s%-12scounts\n", widths[0],
           "service", widths[1], "method", widths[2], "route", quantile_names[0], quantile_names[1],
           quantile_names[2]);
    for (size_t g = 0; g < count; g++) {
        const struct reader_group *group = &groups[g];
        struct names names = names_of(group, "\"\"");
        printf("  %-*s  %-*s  %-*s  %-6d  %-6s  %8" PRId64 "  ", widths[0], names.texts[0],
               widths[1], names.texts[1], widths[2], names.texts[2], group->status_code,
               source_name(group->source), group->answer.count);
        for (int i = 0; i < QUANTILES; i++) {
            char text[READER_QUANTILE_TEXT + 2];
            quantile_text(&group->answer, quantiles[i], text);
            printf("%-12s", text);
        }
        puts(group->answer.lossy ? "lossy" : "exact");
    }
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
        struct value *values;
        size_t rows;
        status = store_dump(store, dumps[d], arena, &values, &rows, err);
        size_t width = (size_t)queries[dumps[d]].result_count;
        for (size_t row = 0; status == STATUS_OK && row < rows; row++) {
            struct uuid uuid;
            memcpy(uuid.bytes, values[row * width].bytes.data, sizeof(uuid.bytes));
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
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        struct reader_group *groups;
        size_t group_count;
        char tenant[UUID_TEXT_SIZE + 1];
        query->tenant = tenants[i];
        uuid_format(&query->tenant, tenant);
        status = reader_groups(store, query, &arena, &groups, &group_count, err);
        if (status == STATUS_OK && !question->json && group_count > 0)
            printf("tenant %s\n", tenant);
        for (size_t g = 0; status == STATUS_OK && g < group_count && question->json; g++)
            print_json_group(tenant, &groups[g], first && g == 0);
        if (status == STATUS_OK && group_count > 0) {
            if (!question->json)
                print_table(groups, group_count);
            first = false;
        }
    }
    if (status == STATUS_OK && question->json)
        puts(first ? "{\"rows\":[]}" : "]}"); /* after an error it is no JSON */
    else if (status == STATUS_OK && first)
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
        code = database_open(argv[0], path, DATABASE_READ, &database);
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

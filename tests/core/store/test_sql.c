/* What sql/ says of itself in its headers is true of the schema. */
#include "core/store/sqlite/sqlite_store.h"
#include <check.h>
#include <stdio.h>
#include <string.h>

static sqlite3 *open_empty(void)
{
    sqlite3 *db;
    struct err err = {0};
    ck_assert_int_eq(sqlite3_open(":memory:", &db), SQLITE_OK);
    ck_assert_int_eq(sqlite_functions_register(db, &err), STATUS_OK);
    ck_assert_msg(sqlite_schema_open(db, &err) == STATUS_OK, "%s", err.message);
    return db;
}

#define TABLES_MAX 16

struct tables {
    char names[TABLES_MAX][64];
    int count;
};

static void tables_add(struct tables *tables, const char *name)
{
    for (int i = 0; i < tables->count; i++)
        if (strcmp(tables->names[i], name) == 0)
            return;
    ck_assert_int_lt(tables->count, TABLES_MAX);
    snprintf(tables->names[tables->count++], sizeof tables->names[0], "%s", name);
}

static bool tables_have(const struct tables *tables, const char *name)
{
    for (int i = 0; i < tables->count; i++)
        if (strcmp(tables->names[i], name) == 0)
            return true;
    return false;
}

/* The authorizer tells what a statement really touches. */
static int record_table(void *context, int action, const char *a, const char *b, const char *c,
                        const char *d)
{
    (void)b, (void)c, (void)d;
    bool is_table = action == SQLITE_READ || action == SQLITE_INSERT || action == SQLITE_UPDATE ||
                    action == SQLITE_DELETE;
    if (is_table && a && strncmp(a, "sqlite_", 7) != 0)
        tables_add(context, a);
    return SQLITE_OK;
}

/* Named tables of the schema only: a CTE is not one. */
static bool is_table(sqlite3 *db, const char *name)
{
    return sqlite3_table_column_metadata(db, NULL, name, NULL, NULL, NULL, NULL, NULL, NULL) ==
           SQLITE_OK;
}

static void check_part(sqlite3 *db, const struct query *query, const struct query_part *part)
{
    struct tables real = {0};
    struct tables said = {0};
    sqlite3_stmt *statement = NULL;
    sqlite3_set_authorizer(db, record_table, &real);
    int rc = sqlite3_prepare_v2(db, part->sqlite, -1, &statement, NULL);
    sqlite3_set_authorizer(db, NULL, NULL);
    ck_assert_msg(rc == SQLITE_OK, "%s: %s", query->name, sqlite3_errmsg(db));
    tables_add(&said, part->table);
    char reads[256];
    snprintf(reads, sizeof reads, "%s", part->reads);
    for (char *name = strtok(reads, " "); name; name = strtok(NULL, " "))
        tables_add(&said, name);
    for (int i = 0; i < real.count; i++)
        ck_assert_msg(!is_table(db, real.names[i]) || tables_have(&said, real.names[i]),
                      "%s touches %s and does not say so", query->name, real.names[i]);
    for (int i = 0; i < said.count; i++)
        ck_assert_msg(tables_have(&real, said.names[i]), "%s does not touch %s", query->name,
                      said.names[i]);
    int columns = sqlite3_column_count(statement);
    ck_assert_msg(columns == 0 || query->result_count == 0 || columns == query->result_count,
                  "%s returns %d columns", query->name, columns);
    bool writes = part->kind != QUERY_KIND_READ && part->kind != QUERY_KIND_DDL;
    ck_assert_msg(!writes || !sqlite3_stmt_readonly(statement), "%s does not write", query->name);
    ck_assert_msg(part->kind != QUERY_KIND_READ || sqlite3_stmt_readonly(statement), "%s writes",
                  query->name);
    sqlite3_finalize(statement);
}

START_TEST(sql__every_query_fits_the_schema_and_names_its_tables)
{
    sqlite3 *db = open_empty();
    int statements = 0;
    for (int i = 0; i < QUERY_COUNT; i++)
        for (int part = 0; part < queries[i].part_count; part++)
            if (queries[i].parts[part].sqlite[0]) {
                check_part(db, &queries[i], &queries[i].parts[part]);
                statements++;
            }
    ck_assert_int_gt(statements, 40);
    sqlite3_close(db);
}
END_TEST

/* The overlay finds row locks by these parameters (DESIGN 3): they must be the primary key, or for
 * a read and a delete what its leading columns are compared with. */
START_TEST(sql__keys_are_the_primary_keys_in_order)
{
    sqlite3 *db = open_empty();
    sqlite3_stmt *columns;
    ck_assert_int_eq(sqlite3_prepare_v2(db,
                                        "select name from pragma_table_info(?1) where pk > 0 "
                                        "order by pk",
                                        -1, &columns, NULL),
                     SQLITE_OK);
    int keys = 0;
    for (int i = 0; i < QUERY_COUNT; i++)
        for (int p = 0; p < queries[i].part_count; p++) {
            const struct query_part *part = &queries[i].parts[p];
            if (part->key_count == 0)
                continue;
            keys++;
            sqlite3_reset(columns);
            sqlite3_bind_text(columns, 1, part->table, -1, SQLITE_STATIC);
            bool whole = part->kind == QUERY_KIND_INSERT || part->kind == QUERY_KIND_UPSERT;
            for (int k = 0; k < part->key_count; k++) {
                ck_assert_int_eq(sqlite3_step(columns), SQLITE_ROW);
                const char *column = (const char *)sqlite3_column_text(columns, 0);
                char equal[80];
                snprintf(equal, sizeof equal, "%s = ?%d", column, part->key[k] + 1);
                if (whole)
                    ck_assert_str_eq(queries[i].params[part->key[k]].name, column);
                else
                    ck_assert_msg(strstr(part->sqlite, equal), "%s: no %s", queries[i].name, equal);
            }
            ck_assert_msg(!whole || sqlite3_step(columns) == SQLITE_DONE, "%s: the key is longer",
                          queries[i].name);
        }
    ck_assert_int_ge(keys, 9);
    sqlite3_finalize(columns);
    sqlite3_close(db);
}
END_TEST

static const struct {
    const char *query;
    const char *table; /* must be reached by its key, or by the index named */
    const char *wanted;
} plans[] = {
    {"GetSeriesStates", "series_state", "PRIMARY KEY (tenant_id=? AND series_hash=?)"},
    {"GetResourcesSeen", "resource_seen", "PRIMARY KEY"},
    {"ListRoutes", "route_registry", "PRIMARY KEY (tenant_id=? AND day=?)"},
    {"RollupHour", "metrics_minute", "PRIMARY KEY (tenant_id=? AND bucket_start>? AND"},
    {"RollupDay", "metrics_hourly", "PRIMARY KEY (tenant_id=? AND bucket_start>? AND"},
    {"MarkDriftedHours", "m", "PRIMARY KEY (tenant_id=? AND bucket_start>? AND"},
    {"DropMinutePartition", "metrics_minute", "PRIMARY KEY (tenant_id=? AND bucket_start>? AND"},
    {"DropHourlyPartition", "metrics_hourly", "PRIMARY KEY (tenant_id=? AND bucket_start>? AND"},
    {"ReadMinuteRows", "metrics_minute", "PRIMARY KEY (tenant_id=? AND bucket_start>? AND"},
    {"ClaimRollupHours", "rollup_pending", "rollup_pending_hour ((hour,tenant_id)>(?,?))"},
    {"RollupPendingInDay", "rollup_pending", "rollup_pending_hour (hour>? AND hour<?)"},
};

static const struct query *query_named(const char *name)
{
    for (int i = 0; i < QUERY_COUNT; i++)
        if (strcmp(queries[i].name, name) == 0)
            return &queries[i];
    ck_abort_msg("no query %s", name);
}

START_TEST(sql__ranges_are_reached_by_the_key)
{
    sqlite3 *db = open_empty();
    const struct query *query = query_named(plans[_i].query);
    bool found = false;
    char all[4096] = "";
    for (int part = 0; part < query->part_count; part++) {
        char *explain = sqlite3_mprintf("explain query plan %s", query->parts[part].sqlite);
        sqlite3_stmt *statement;
        ck_assert_int_eq(sqlite3_prepare_v2(db, explain, -1, &statement, NULL), SQLITE_OK);
        while (sqlite3_step(statement) == SQLITE_ROW) {
            const char *line = (const char *)sqlite3_column_text(statement, 3);
            char search[64];
            snprintf(search, sizeof search, "SEARCH %s ", plans[_i].table);
            found |= strstr(line, search) && strstr(line, plans[_i].wanted);
            snprintf(all + strlen(all), sizeof all - strlen(all), "%s\n", line);
        }
        sqlite3_finalize(statement);
        sqlite3_free(explain);
    }
    ck_assert_msg(found, "%s:\n%s", plans[_i].query, all);
    sqlite3_close(db);
}
END_TEST

Suite *store_sql_suite(void);
Suite *store_sql_suite(void)
{
    Suite *suite = suite_create("store_sql");
    TCase *test = tcase_create("sql");
    tcase_add_test(test, sql__every_query_fits_the_schema_and_names_its_tables);
    tcase_add_test(test, sql__keys_are_the_primary_keys_in_order);
    tcase_add_loop_test(test, sql__ranges_are_reached_by_the_key, 0,
                        sizeof plans / sizeof plans[0]);
    suite_add_tcase(suite, test);
    return suite;
}

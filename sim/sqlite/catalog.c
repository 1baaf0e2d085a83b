#include "sim/sqlite/catalog.h"

#include "core/base/assert.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SQL_SIZE 2048

static enum status broken(sqlite3 *db, struct err *err)
{
    return err_set(err, STATUS_INVALID, NULL, "could not read the schema: %s", sqlite3_errmsg(db));
}

static enum status prepare(sqlite3 *db, const char *sql, sqlite3_stmt **out, struct err *err)
{
    if (sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT, out, NULL) != SQLITE_OK)
        return broken(db, err);
    return STATUS_OK;
}

static enum status read_columns(struct table *table, sqlite3 *db, struct err *err)
{
    sqlite3_stmt *rows;
    char sql[SQL_SIZE];
    snprintf(sql, sizeof sql, "select name, pk from pragma_table_info('%s') order by cid",
             table->name);
    enum status status = prepare(db, sql, &rows, err);
    if (status)
        return status;
    while (!status && sqlite3_step(rows) == SQLITE_ROW) {
        int place = sqlite3_column_int(rows, 1); /* in the primary key, from 1; 0: not */
        if (table->column_count == TABLE_COLUMNS_MAX || place > QUERY_KEY_MAX) {
            status = err_set(err, STATUS_INVALID, NULL, "table \"%s\" has too many columns",
                             table->name);
            break;
        }
        if (place > 0)
            table->key[place - 1] = table->column_count;
        if (place > table->key_count)
            table->key_count = place;
        char *name = strdup((const char *)sqlite3_column_text(rows, 0));
        if (!name)
            status = err_set(err, STATUS_NO_MEMORY, NULL, "out of memory");
        table->columns[table->column_count++] = name;
    }
    sqlite3_finalize(rows);
    return status;
}

/* One row and one reason for each thing that the overlay cannot carry. */
static const char check_sql[] =
    "select 'a unique key besides its primary key' from pragma_index_list(?1)"
    " where \"unique\" and origin <> 'pk'"
    " union all select 'a foreign key' from pragma_foreign_key_list(?1)"
    " union all select 'no primary key' where not exists"
    " (select 1 from pragma_table_info(?1) where pk > 0)"
    " union all select 'a hidden rowid' where (select not wr from pragma_table_list where name = ?1"
    "   and schema = 'main') and exists (select 1 from pragma_index_list(?1) where origin = 'pk')";

static enum status check(const struct table *table, sqlite3 *db, struct err *err)
{
    sqlite3_stmt *rows;
    enum status status = prepare(db, check_sql, &rows, err);
    if (status)
        return status;
    sqlite3_bind_text(rows, 1, table->name, -1, SQLITE_STATIC);
    if (sqlite3_step(rows) == SQLITE_ROW)
        status = err_set(err, STATUS_INVALID, NULL, "cannot overlay table \"%s\": it has %s",
                         table->name, (const char *)sqlite3_column_text(rows, 0));
    sqlite3_finalize(rows);
    return status;
}

static void split_columns(struct table *table)
{
    for (int i = 0; i < table->column_count; i++) {
        bool in_key = false;
        for (int j = 0; j < table->key_count; j++)
            in_key |= table->key[j] == i;
        if (!in_key)
            table->rest[table->rest_count++] = i;
    }
}

/* Appends the columns' names, or their comparisons with parameters. */
static void append_columns(char sql[SQL_SIZE], const struct table *table, const int *columns,
                           int count, const char *gap, bool parameters)
{
    for (int i = 0; i < count; i++) {
        size_t used = strlen(sql);
        snprintf(sql + used, SQL_SIZE - used, "%s\"%s\"%s", i > 0 ? gap : "",
                 table->columns[columns[i]], parameters ? " = ?" : "");
    }
}

static enum status prepare_all(struct table *table, sqlite3 *db, struct err *err)
{
    char where[SQL_SIZE] = "";
    char key[SQL_SIZE] = "";
    char rest[SQL_SIZE] = "";
    char marks[SQL_SIZE] = "?";
    char sql[4 * SQL_SIZE];
    append_columns(where, table, table->key, table->key_count, " and ", true);
    append_columns(key, table, table->key, table->key_count, ", ", false);
    append_columns(rest, table, table->rest, table->rest_count, ", ", false);
    for (int i = 1; i < table->column_count; i++)
        strcat(marks, ", ?");
    const char *comma = table->rest_count > 0 ? ", " : "";
    snprintf(sql, sizeof sql, "select %s from \"%s\" where %s", table->rest_count > 0 ? rest : "1",
             table->name, where);
    enum status status = prepare(db, sql, &table->get, err);
    snprintf(sql, sizeof sql, "insert or replace into \"%s\" (%s%s%s) values (%s)", table->name,
             key, comma, rest, marks);
    if (!status)
        status = prepare(db, sql, &table->put, err);
    snprintf(sql, sizeof sql, "delete from \"%s\" where %s", table->name, where);
    if (!status)
        status = prepare(db, sql, &table->remove, err);
    return status;
}

static enum status open_table(struct table *table, sqlite3 *db, struct err *err)
{
    enum status status = read_columns(table, db, err);
    if (!status)
        status = check(table, db, err);
    split_columns(table);
    if (!status)
        status = prepare_all(table, db, err);
    return status;
}

enum status catalog_open(struct catalog *catalog, sqlite3 *db, struct err *err)
{
    sqlite3_stmt *names;
    *catalog = (struct catalog){0};
    enum status status = prepare(db,
                                 "select name from sqlite_schema where type = 'table'"
                                 " and name not like 'sqlite\\_%' escape '\\' order by name",
                                 &names, err);
    if (status)
        return status;
    while (!status && sqlite3_step(names) == SQLITE_ROW) {
        if (catalog->count == TABLES_MAX) {
            status = err_set(err, STATUS_INVALID, NULL, "too many tables");
            break;
        }
        struct table *table = &catalog->tables[catalog->count];
        table->number = catalog->count++;
        table->name = strdup((const char *)sqlite3_column_text(names, 0));
        status = table->name ? open_table(table, db, err)
                             : err_set(err, STATUS_NO_MEMORY, NULL, "out of memory");
    }
    sqlite3_finalize(names);
    if (status)
        catalog_close(catalog);
    return status;
}

void catalog_close(struct catalog *catalog)
{
    for (uint32_t i = 0; i < catalog->count; i++) {
        struct table *table = &catalog->tables[i];
        sqlite3_finalize(table->get);
        sqlite3_finalize(table->put);
        sqlite3_finalize(table->remove);
        free(table->name);
        for (int j = 0; j < table->column_count; j++)
            free(table->columns[j]);
    }
    *catalog = (struct catalog){0};
}

const struct table *catalog_find(const struct catalog *catalog, const char *name, size_t size)
{
    for (uint32_t i = 0; i < catalog->count; i++) {
        const struct table *table = &catalog->tables[i];
        if (strlen(table->name) == size && memcmp(table->name, name, size) == 0)
            return table;
    }
    return NULL;
}

enum status catalog_next(const struct catalog *catalog, const char **names, uint64_t *bit,
                         struct err *err)
{
    size_t size = strcspn(*names, " ");
    const struct table *table = catalog_find(catalog, *names, size);
    if (!table && size > 0)
        return err_set(err, STATUS_INVALID, NULL, "no table \"%.*s\"", (int)size, *names);
    *bit = table ? UINT64_C(1) << table->number : 0;
    *names += size;
    *names += strspn(*names, " ");
    return STATUS_OK;
}

enum status catalog_bit(const struct catalog *catalog, const char *name, uint64_t *bit,
                        struct err *err)
{
    return catalog_next(catalog, &name, bit, err);
}

bool table_get(const struct table *table, const struct row_key *key, struct image_buffer *rest,
               bool *found)
{
    *found = false;
    if (!image_bind(table->get, 1, key->data, table->key_count))
        return false;
    int rc = sqlite3_step(table->get);
    if (rc == SQLITE_ROW) {
        *found = true;
        for (int i = 0; i < table->rest_count; i++)
            image_put_column(rest, table->get, i);
        rc = SQLITE_DONE; /* the key is unique */
    }
    sqlite3_reset(table->get);
    return rc == SQLITE_DONE && !rest->failed;
}

static bool run(sqlite3_stmt *statement)
{
    int rc = sqlite3_step(statement);
    sqlite3_reset(statement);
    return rc == SQLITE_DONE;
}

bool table_put(const struct table *table, const struct row_key *key, const uint8_t *rest)
{
    return image_bind(table->put, 1, key->data, table->key_count) &&
           image_bind(table->put, 1 + table->key_count, rest, table->rest_count) && run(table->put);
}

bool table_remove(const struct table *table, const struct row_key *key)
{
    return image_bind(table->remove, 1, key->data, table->key_count) && run(table->remove);
}

#include "sim/run/table.h"

#include "core/base/assert.h"
#include "core/base/time.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct table *table_new(struct arena *arena, const char *name, size_t key_count,
                        const char *const *columns, size_t column_count)
{
    ASSERT(column_count > 0 && column_count <= TABLE_COLUMNS_MAX);
    ASSERT(key_count <= column_count);
    struct table *table = arena_array(arena, 1, sizeof(*table));
    if (table == NULL)
        return NULL;
    table->name = name;
    table->column_count = column_count;
    table->key_count = key_count;
    for (size_t i = 0; i < column_count; i++)
        table->columns[i] = columns[i];
    table->arena = arena;
    return table;
}

bool table_add(struct table *table, const char *const *cells)
{
    if (table->row_count == table->row_capacity) {
        size_t capacity = table->row_capacity == 0 ? 16 : table->row_capacity * 2;
        const char **grown =
            arena_array(table->arena, capacity * table->column_count, sizeof(*grown));
        if (grown == NULL)
            return false;
        if (table->row_count > 0)
            memcpy(grown, table->cells, table->row_count * table->column_count * sizeof(*grown));
        table->cells = grown;
        table->row_capacity = capacity;
    }
    const char **row = table->cells + table->row_count * table->column_count;
    for (size_t i = 0; i < table->column_count; i++) {
        ASSERT(cells[i] != NULL);
        row[i] = arena_copy(table->arena, cells[i], strlen(cells[i]));
        if (row[i] == NULL)
            return false;
    }
    table->row_count++;
    return true;
}

const char *table_cell(const struct table *table, size_t row, size_t column)
{
    ASSERT(row < table->row_count && column < table->column_count);
    return table->cells[row * table->column_count + column];
}

/* The queue's sequences are numbers, without sign or leading zeros: the shorter is the smaller. */
static int compare_cell(const char *column, const char *a, const char *b)
{
    size_t size_a = strlen(a);
    size_t size_b = strlen(b);
    if (strcmp(column, "sequence") == 0 && size_a != size_b)
        return size_a < size_b ? -1 : 1;
    return strcmp(a, b);
}

static int compare_rows(const struct table *a, size_t row_a, const struct table *b, size_t row_b,
                        size_t columns)
{
    for (size_t i = 0; i < columns; i++) {
        int order = compare_cell(a->columns[i], table_cell(a, row_a, i), table_cell(b, row_b, i));
        if (order != 0)
            return order;
    }
    return 0;
}

/* Insertion by halves: stable, and tables here are already nearly in order. */
void table_sort(struct table *table)
{
    size_t width = table->column_count;
    for (size_t i = 1; i < table->row_count; i++) {
        size_t low = 0;
        size_t high = i;
        while (low < high) {
            size_t middle = low + (high - low) / 2;
            if (compare_rows(table, middle, table, i, width) <= 0)
                low = middle + 1;
            else
                high = middle;
        }
        if (low == i)
            continue;
        const char *row[TABLE_COLUMNS_MAX];
        memcpy(row, table->cells + i * width, width * sizeof(*row));
        memmove(table->cells + (low + 1) * width, table->cells + low * width,
                (i - low) * width * sizeof(*row));
        memcpy(table->cells + low * width, row, width * sizeof(*row));
    }
}

static const char *copy(struct arena *arena, const char *text)
{
    return arena_copy(arena, text, strlen(text));
}

const char *cell_int(struct arena *arena, int64_t value)
{
    char text[24];
    snprintf(text, sizeof(text), "%" PRId64, value);
    return copy(arena, text);
}

const char *cell_double(struct arena *arena, double value)
{
    char text[40];
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, sizeof(text), "%.*g", digits, value);
        bool readable = fabs(value) < 1 || fabs(value) >= 1e15 || strchr(text, 'e') == NULL;
        if (readable && strtod(text, NULL) == value) /* 30, not 3e+01 */
            break;
    }
    return copy(arena, text);
}

const char *cell_time_us(struct arena *arena, int64_t us)
{
    if (us > INT64_MAX / 1000 || us < INT64_MIN / 1000)
        return cell_int(arena, us);
    return cell_time_ns(arena, us * 1000);
}

const char *cell_time_ns(struct arena *arena, int64_t ns)
{
    char text[TIME_TEXT_SIZE];
    time_format_ns(ns, text);
    return copy(arena, text);
}

const char *cell_day(struct arena *arena, int64_t day)
{
    char text[TIME_TEXT_SIZE];
    day_format(day, text);
    return copy(arena, text);
}

const char *cell_text(struct arena *arena, struct bytes text)
{
    return arena_copy(arena, text.data, text.size);
}

const char *cell_buckets(struct arena *arena, const struct histogram *histogram)
{
    char text[HISTOGRAM_BUCKETS * 28];
    size_t used = 0;
    text[0] = 0;
    for (int i = 0; i < HISTOGRAM_BUCKETS; i++) {
        if (histogram->counts[i] == 0)
            continue;
        int written = snprintf(text + used, sizeof(text) - used, "%sb%d:%" PRId64,
                               used > 0 ? " " : "", i + 1, histogram->counts[i]);
        ASSERT(written > 0 && used + (size_t)written < sizeof(text));
        used += (size_t)written;
    }
    return copy(arena, used > 0 ? text : "-");
}

/* True when word stands alone in list. */
static bool listed(const char *list, const char *word)
{
    size_t size = strlen(word);
    for (const char *at = list; at != NULL && (at = strstr(at, word)) != NULL; at += size) {
        bool starts = at == list || at[-1] == ' ';
        bool ends = at[size] == 0 || at[size] == ' ';
        if (starts && ends)
            return true;
    }
    return false;
}

static bool column_left_out(const char *without, const char *table, const char *column)
{
    char name[128];
    snprintf(name, sizeof(name), "%s.%s", table, column);
    return listed(without, name);
}

static const char *join_cells(struct arena *arena, const struct table *table, size_t row,
                              size_t from, size_t until, bool named)
{
    size_t size = 1;
    for (size_t i = from; i < until; i++)
        size += strlen(table->columns[i]) + strlen(table_cell(table, row, i)) + 4;
    char *text = arena_alloc(arena, size);
    size_t used = 0;
    for (size_t i = from; text != NULL && i < until; i++) {
        const char *cell = table_cell(table, row, i);
        int written =
            snprintf(text + used, size - used, "%s%s%s%s", i > from ? " " : "",
                     named ? table->columns[i] : "", named ? "=" : "", cell[0] == 0 ? "''" : cell);
        ASSERT(written > 0 && used + (size_t)written < size);
        used += (size_t)written;
    }
    return text != NULL ? text : "?";
}

const char *table_row_key(const struct table *table, size_t row, struct arena *arena)
{
    size_t count = table->key_count > 0 ? table->key_count : table->column_count;
    return join_cells(arena, table, row, 0, count, false);
}

struct comparison {
    const char *without;
    struct arena *arena;
    struct table_difference *out;
    size_t count;
    size_t max;
};

static void differ(struct comparison *comparison, const struct table *table, size_t row,
                   const char *column, const char *expected, const char *got)
{
    if (comparison->count < comparison->max)
        comparison->out[comparison->count] = (struct table_difference){
            .table = table->name,
            .key = table_row_key(table, row, comparison->arena),
            .column = column,
            .expected = expected,
            .got = got,
        };
    comparison->count++;
}

/* What a missing row holds, or one too many: "count=3 sum=0.5". */
static const char *row_rest(struct comparison *comparison, const struct table *table, size_t row)
{
    if (table->key_count == table->column_count)
        return "a row";
    return join_cells(comparison->arena, table, row, table->key_count, table->column_count, true);
}

static void compare_cells(struct comparison *comparison, const struct table *expected, size_t row_e,
                          const struct table *got, size_t row_g)
{
    for (size_t i = 0; i < expected->column_count; i++) {
        if (column_left_out(comparison->without, expected->name, expected->columns[i]))
            continue;
        for (size_t j = 0; j < got->column_count; j++) {
            if (strcmp(expected->columns[i], got->columns[j]) != 0)
                continue;
            const char *want = table_cell(expected, row_e, i);
            const char *have = table_cell(got, row_g, j);
            if (strcmp(want, have) != 0)
                differ(comparison, expected, row_e, expected->columns[i], want, have);
        }
    }
}

/* Merge by key: both sides are sorted. */
static void compare_table(struct comparison *comparison, struct table *expected, struct table *got)
{
    size_t keys = expected->row_count > 0 ? expected->key_count : got->key_count;
    ASSERT(expected->row_count == 0 || got->row_count == 0 || expected->key_count == keys);
    table_sort(expected);
    table_sort(got);
    size_t e = 0;
    size_t g = 0;
    while (e < expected->row_count || g < got->row_count) {
        int order;
        if (e == expected->row_count)
            order = 1;
        else if (g == got->row_count)
            order = -1;
        else
            order = compare_rows(expected, e, got, g, keys);
        if (order < 0) {
            differ(comparison, expected, e, "row", row_rest(comparison, expected, e), "none");
            e++;
        } else if (order > 0) {
            differ(comparison, got, g, "row", "none", row_rest(comparison, got, g));
            g++;
        } else {
            compare_cells(comparison, expected, e, got, g);
            e++;
            g++;
        }
    }
}

static struct table *find_table(const struct snapshot *snapshot, const char *name)
{
    for (size_t i = 0; i < snapshot->table_count; i++)
        if (strcmp(snapshot->tables[i].name, name) == 0)
            return &snapshot->tables[i];
    return NULL;
}

size_t tables_compare(const struct snapshot *expected, const struct snapshot *got,
                      const char *without, struct arena *arena, struct table_difference *out,
                      size_t max)
{
    struct comparison comparison = {.without = without, .arena = arena, .out = out, .max = max};
    for (size_t i = 0; i < expected->table_count; i++) {
        struct table *table = &expected->tables[i];
        if (listed(without, table->name))
            continue;
        struct table *other = find_table(got, table->name);
        if (other != NULL)
            compare_table(&comparison, table, other);
    }
    return comparison.count;
}

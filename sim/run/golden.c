#include "sim/run/golden.h"

#include "core/base/assert.h"
#include <string.h>

static bool needs_quotes(const char *cell)
{
    if (cell[0] == 0 || cell[0] == ' ' || cell[strlen(cell) - 1] == ' ')
        return true;
    for (const char *c = cell; *c != 0; c++)
        if (*c == '"' || *c == '\\' || *c == '|' || (unsigned char)*c < ' ' ||
            (*c == ' ' && c[1] == ' '))
            return true;
    return false;
}

/* Writes a cell as it stands in the file; returns its width in characters. out NULL: width only. */
static size_t print_cell(FILE *out, const char *cell)
{
    size_t width = 0;
    bool quotes = needs_quotes(cell);
    if (quotes) {
        width++;
        if (out != NULL)
            fputc('"', out);
    }
    for (const char *c = cell; *c != 0; c++) {
        bool control = (unsigned char)*c < ' ';
        bool escape = quotes && (*c == '"' || *c == '\\');
        if (out != NULL && control)
            fprintf(out, "\\u%04x", (unsigned)(unsigned char)*c);
        else if (out != NULL)
            fprintf(out, "%s%c", escape ? "\\" : "", *c);
        if (control)
            width += 6;
        else if (((unsigned char)*c & 0xc0) != 0x80)
            width += escape ? 2 : 1;
    }
    if (quotes) {
        width++;
        if (out != NULL)
            fputc('"', out);
    }
    return width;
}

static void print_row(FILE *out, const struct table *table, const char *const *cells,
                      const size_t *widths)
{
    fputs("  ", out);
    for (size_t i = 0; i < table->column_count; i++) {
        if (i > 0 && i == table->key_count)
            fputs("  |", out);
        if (i > 0)
            fputs("  ", out);
        size_t width = print_cell(out, cells[i]);
        bool last = i + 1 == table->column_count;
        for (; !last && width < widths[i]; width++)
            fputc(' ', out);
    }
    fputc('\n', out);
}

static void print_table(FILE *out, const struct table *table)
{
    size_t widths[TABLE_COLUMNS_MAX];
    for (size_t i = 0; i < table->column_count; i++) {
        widths[i] = print_cell(NULL, table->columns[i]);
        for (size_t row = 0; row < table->row_count; row++) {
            size_t width = print_cell(NULL, table_cell(table, row, i));
            if (width > widths[i])
                widths[i] = width;
        }
    }
    fprintf(out, "\n%s\n", table->name);
    print_row(out, table, table->columns, widths);
    for (size_t row = 0; row < table->row_count; row++)
        print_row(out, table, table->cells + row * table->column_count, widths);
}

void golden_print(FILE *out, const char *scenario, const struct snapshot *snapshots, size_t count)
{
    fprintf(out, "golden of %s\n", scenario);
    for (size_t i = 0; i < count; i++) {
        const struct snapshot *snapshot = &snapshots[i];
        fprintf(out, "\nat %s\n", snapshot->label);
        for (size_t t = 0; t < snapshot->table_count; t++)
            if (snapshot->tables[t].row_count > 0)
                print_table(out, &snapshot->tables[t]);
        bool any = false;
        for (size_t t = 0; t < snapshot->table_count; t++) {
            if (snapshot->tables[t].row_count > 0)
                continue;
            fprintf(out, "%s %s", any ? "" : "\nempty:", snapshot->tables[t].name);
            any = true;
        }
        if (any)
            fputc('\n', out);
    }
}

/* ---- reading ---- */

struct reader {
    const char *file;
    const char *at;
    const char *end;
    int line;
    struct arena *arena;
    struct err *err;
};

static enum status fail(struct reader *reader, const char *line_start, const char *what)
{
    return err_set(reader->err, STATUS_INVALID, NULL, "%s:%d:%d: %s", reader->file, reader->line,
                   (int)(reader->at - line_start) + 1, what);
}

static enum status exhausted(struct reader *reader)
{
    return err_set(reader->err, STATUS_NO_MEMORY, NULL, "%s: the golden is too large",
                   reader->file);
}

/* The next line without its newline; false at the end. */
static bool next_line(struct reader *reader, const char **line, size_t *size)
{
    if (reader->at >= reader->end)
        return false;
    const char *newline = memchr(reader->at, '\n', (size_t)(reader->end - reader->at));
    const char *stop = newline != NULL ? newline : reader->end;
    *line = reader->at;
    *size = (size_t)(stop - reader->at);
    reader->at = newline != NULL ? newline + 1 : reader->end;
    reader->line++;
    return true;
}

/* One cell from *at up to stop, unquoted, into arena. NULL: malformed or exhausted. */
static const char *read_cell(struct arena *arena, const char **at, const char *stop)
{
    const char *c = *at;
    char *text = arena_alloc(arena, (size_t)(stop - c) + 1);
    if (text == NULL)
        return NULL;
    size_t used = 0;
    if (*c != '"') {
        while (c < stop && !(c[0] == ' ' && (c + 1 == stop || c[1] == ' ')))
            text[used++] = *c++;
        text[used] = 0;
        *at = c;
        return text;
    }
    for (c++; c < stop && *c != '"'; c++) {
        if (*c == '\\' && c + 5 < stop && c[1] == 'u') {
            unsigned value = 0;
            for (int i = 2; i < 6; i++) {
                const char *digits = "0123456789abcdef";
                const char *digit = c[i] != 0 ? strchr(digits, c[i]) : NULL;
                if (digit == NULL)
                    return NULL;
                value = value * 16 + (unsigned)(digit - digits);
            }
            if (value == 0 || value >= ' ')
                return NULL;
            text[used++] = (char)value;
            c += 5;
        } else {
            if (*c == '\\' && c + 1 < stop)
                c++;
            text[used++] = *c;
        }
    }
    if (c >= stop)
        return NULL;
    text[used] = 0;
    *at = c + 1;
    return text;
}

/* Splits an indented line into cells; *key_count is where '|' stood. */
static enum status read_cells(struct reader *reader, const char *line, size_t size,
                              const char **cells, size_t *count, size_t *key_count)
{
    const char *at = line;
    const char *stop = line + size;
    *count = 0;
    *key_count = 0;
    for (;;) {
        while (at < stop && *at == ' ')
            at++;
        if (at == stop)
            break;
        if (*at == '|') {
            *key_count = *count;
            at++;
            continue;
        }
        if (*count == TABLE_COLUMNS_MAX)
            return fail(reader, line, "expected fewer columns");
        const char *cell = read_cell(reader->arena, &at, stop);
        if (cell == NULL)
            return fail(reader, line, "expected a cell: text, or \"quoted text\"");
        cells[(*count)++] = cell;
    }
    if (*key_count == 0)
        *key_count = *count;
    return STATUS_OK;
}

static struct table *add_table(struct reader *reader, struct golden *golden, const char *name,
                               size_t size)
{
    struct snapshot *snapshot = &golden->snapshots[golden->snapshot_count - 1];
    struct table *grown =
        arena_array(reader->arena, snapshot->table_count + 1, sizeof(*snapshot->tables));
    if (grown == NULL)
        return NULL;
    if (snapshot->table_count > 0)
        memcpy(grown, snapshot->tables, snapshot->table_count * sizeof(*grown));
    snapshot->tables = grown;
    struct table *table = &grown[snapshot->table_count++];
    table->arena = reader->arena;
    table->name = arena_copy(reader->arena, name, size);
    return table->name != NULL ? table : NULL;
}

static bool add_snapshot(struct reader *reader, struct golden *golden, const char *label,
                         size_t size)
{
    struct snapshot *grown =
        arena_array(reader->arena, golden->snapshot_count + 1, sizeof(*golden->snapshots));
    if (grown == NULL)
        return false;
    if (golden->snapshot_count > 0)
        memcpy(grown, golden->snapshots, golden->snapshot_count * sizeof(*grown));
    golden->snapshots = grown;
    struct snapshot *snapshot = &grown[golden->snapshot_count++];
    snapshot->label = arena_copy(reader->arena, label, size);
    return snapshot->label != NULL;
}

static enum status read_row(struct reader *reader, struct table *table, const char *line,
                            size_t size)
{
    const char *cells[TABLE_COLUMNS_MAX];
    size_t count;
    size_t key_count;
    if (table == NULL)
        return fail(reader, line, "expected a table's name before its rows");
    enum status status = read_cells(reader, line, size, cells, &count, &key_count);
    if (status != STATUS_OK)
        return status;
    if (table->column_count == 0) {
        table->column_count = count;
        table->key_count = key_count;
        for (size_t i = 0; i < count; i++)
            table->columns[i] = cells[i];
        return STATUS_OK;
    }
    if (count != table->column_count)
        return fail(reader, line, "expected one cell for each column of the table");
    return table_add(table, cells) ? STATUS_OK : exhausted(reader);
}

static enum status read_empty(struct reader *reader, struct golden *golden, const char *line,
                              size_t size)
{
    const char *at = line + strlen("empty:");
    const char *stop = line + size;
    while (at < stop) {
        while (at < stop && *at == ' ')
            at++;
        const char *start = at;
        while (at < stop && *at != ' ')
            at++;
        if (at > start && add_table(reader, golden, start, (size_t)(at - start)) == NULL)
            return exhausted(reader);
    }
    return STATUS_OK;
}

enum status golden_parse(const char *file, const char *text, size_t size, struct arena *arena,
                         struct golden *out, struct err *err)
{
    struct reader reader = {
        .file = file, .at = text, .end = text + size, .arena = arena, .err = err};
    struct table *table = NULL;
    const char *line;
    size_t length;
    *out = (struct golden){0};
    if (!next_line(&reader, &line, &length) || length < 10 || memcmp(line, "golden of ", 10) != 0)
        return err_set(err, STATUS_INVALID, NULL, "%s:1:1: expected \"golden of SCENARIO\"", file);
    while (next_line(&reader, &line, &length)) {
        enum status status = STATUS_OK;
        if (length == 0) {
            table = NULL;
        } else if (line[0] == ' ') {
            status = read_row(&reader, table, line, length);
        } else if (length > 3 && memcmp(line, "at ", 3) == 0) {
            if (!add_snapshot(&reader, out, line + 3, length - 3))
                status = exhausted(&reader);
        } else if (out->snapshot_count == 0) {
            status = fail(&reader, line, "expected \"at MOMENT\"");
        } else if (length > 6 && memcmp(line, "empty:", 6) == 0) {
            status = read_empty(&reader, out, line, length);
        } else {
            table = add_table(&reader, out, line, length);
            if (table == NULL)
                status = exhausted(&reader);
        }
        if (status != STATUS_OK)
            return status;
    }
    return STATUS_OK;
}

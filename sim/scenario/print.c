/* The canonical text: blank lines and comments stay, words are spaced by one space, events of a
 * block are aligned behind their times, long statements go on in indented lines. */
#include "core/base/assert.h"
#include "core/base/bytes.h"
#include "core/base/time.h"
#include "sim/scenario/moment.h"
#include "sim/scenario/printer.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS 96 /* where an option goes to the next line */
#define INDENT  4

/* Gaps within a statement in hand; no other control character stands in one. */
#define GAP_OPTION '\x01'
#define GAP_LINE   '\x02'
#define GAP_ALIGN  '\x03'

/* ---- the text ---- */

static bool reserve(struct printer *printer, size_t more)
{
    if (printer->no_memory)
        return false;
    if (printer->capacity - printer->size > more)
        return true;
    size_t capacity = 2 * (printer->capacity + more) + 1024;
    char *text = arena_alloc(printer->arena, capacity);
    if (!text) {
        printer->no_memory = true;
        return false;
    }
    if (printer->size > 0)
        memcpy(text, printer->text, printer->size);
    printer->text = text;
    printer->capacity = capacity;
    return true;
}

static void append(struct printer *printer, const char *data, size_t size)
{
    if (!reserve(printer, size))
        return;
    memcpy(printer->text + printer->size, data, size);
    printer->size += size;
}

/* Starts a word: writes the gap before it. */
static void begin_word(struct printer *printer)
{
    if (printer->gap)
        append(printer, &printer->gap, 1);
    printer->gap = ' ';
}

void printer_option(struct printer *printer)
{
    printer->gap = GAP_OPTION;
}

void printer_line(struct printer *printer)
{
    printer->gap = GAP_LINE;
}

void printer_align(struct printer *printer)
{
    printer->gap = GAP_ALIGN;
}

void printer_join(struct printer *printer)
{
    printer->gap = 0;
}

void printer_part(struct printer *printer)
{
    printer->gap = ' ';
}

/* ---- words ---- */

void printer_put(struct printer *printer, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    ASSERT(size > 0);
    begin_word(printer);
    if (!reserve(printer, (size_t)size + 1))
        return;
    va_start(arguments, format);
    vsnprintf(printer->text + printer->size, (size_t)size + 1, format, arguments);
    va_end(arguments);
    printer->size += (size_t)size;
}

/* The number of bytes of the UTF-8 character at text, 0 when it must be written as \xHH. */
static size_t character(struct bytes text)
{
    for (size_t size = 1; size <= 4 && size <= text.size; size++) {
        if (text_is_storable((struct bytes){text.data, size}))
            return size;
    }
    return 0;
}

void printer_put_text(struct printer *printer, struct bytes text)
{
    begin_word(printer);
    append(printer, "\"", 1);
    for (size_t i = 0; i < text.size;) {
        size_t size = character((struct bytes){text.data + i, text.size - i});
        char escape[8];
        if (text.data[i] == '"' || text.data[i] == '\\')
            append(printer, "\\", 1);
        if (size > 0) {
            append(printer, (const char *)text.data + i, size);
            i += size;
            continue;
        }
        snprintf(escape, sizeof escape, "\\x%02x", text.data[i]);
        append(printer, escape, 4);
        i++;
    }
    append(printer, "\"", 1);
}

void printer_put_string(struct printer *printer, const char *text)
{
    printer_put_text(printer, bytes_of(text));
}

/* What can stand without quotes: a word that the parser reads as one, and not as "-". */
static bool is_word(struct bytes value)
{
    if (value.size == 0 || (value.size == 1 && value.data[0] == '-') || value.data[0] == '#')
        return false;
    for (size_t i = 0; i < value.size; i++) {
        if (value.data[i] <= ' ' || value.data[i] > '~' || value.data[i] == '"')
            return false;
    }
    return true;
}

void printer_put_value(struct printer *printer, struct bytes value)
{
    if (!value.data)
        printer_put(printer, "-");
    else if (is_word(value))
        printer_put(printer, "%.*s", (int)value.size, (const char *)value.data);
    else
        printer_put_text(printer, value);
}

/* The shortest text that reads back as the same double. */
static void number_format(double number, char text[32])
{
    if (isnan(number)) {
        snprintf(text, 32, "nan");
        return;
    }
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, 32, "%.*g", digits, number);
        if (strtod(text, NULL) == number)
            break;
    }
}

void printer_put_number(struct printer *printer, double number)
{
    char text[32];
    number_format(number, text);
    printer_put(printer, "%s", text);
}

void printer_put_double(struct printer *printer, double number)
{
    char text[32];
    number_format(number, text);
    printer_put(printer, "%s%s", text, strspn(text, "-0123456789") == strlen(text) ? ".0" : "");
}

void printer_put_hex(struct printer *printer, struct bytes bytes)
{
    begin_word(printer);
    append(printer, "\"", 1);
    for (size_t i = 0; i < bytes.size; i++) {
        char digits[3];
        hex_format(bytes.data + i, 1, digits);
        append(printer, digits, 2);
    }
    append(printer, "\"", 1);
}

void printer_put_duration(struct printer *printer, int64_t ns)
{
    char text[MOMENT_TEXT_SIZE];
    duration_format(ns < 0 ? -ns : ns, text);
    printer_put(printer, "%s%s", ns < 0 ? "-" : "", text);
}

void printer_put_moment(struct printer *printer, struct moment moment)
{
    char text[MOMENT_TEXT_SIZE];
    moment_format(moment, printer->scenario->start_ns, text);
    printer_put(printer, "%s", text);
}

void printer_put_request(struct printer *printer, const struct scenario_request *request)
{
    printer_put_value(printer, request->method);
    printer_put_value(printer, request->route);
    if (request->status_kind == SCENARIO_STATUS_ABSENT)
        printer_put(printer, "-");
    else if (request->status_kind == SCENARIO_STATUS_INT)
        printer_put(printer, "%lld", (long long)request->status);
    else
        printer_put_text(printer, request->status_text);
}

void printer_put_partition(struct printer *printer, struct scenario_partition partition)
{
    char day[TIME_TEXT_SIZE];
    day_format(partition.first_day, day);
    printer_put(printer, "%s", partition.hourly ? "hourly partition" : "minute partition");
    printer_put(printer, "%.*s", partition.hourly ? 7 : 10, day);
}

const char *printer_tenant(const struct printer *printer, int tenant)
{
    ASSERT(tenant >= 0 && (size_t)tenant < printer->scenario->tenant_count);
    return printer->scenario->tenants[tenant].name;
}

/* ---- layout ---- */

/* Columns a piece of text takes: its characters. */
static size_t width_of(const char *text, size_t size)
{
    size_t width = 0;
    for (size_t i = 0; i < size; i++)
        width += ((unsigned char)text[i] & 0xc0) != 0x80;
    return width;
}

/* The size of the piece up to the next gap that is not a space. */
static size_t piece_size(const char *text, size_t size)
{
    size_t n = 0;
    while (n < size && text[n] != GAP_OPTION && text[n] != GAP_LINE && text[n] != GAP_ALIGN)
        n++;
    return n;
}

static void append_spaces(struct printer *printer, size_t count)
{
    while (count-- > 0)
        append(printer, " ", 1);
}

/* The comment stands behind the first line, where the parser looks for it. */
static void end_line(struct printer *printer, const char **comment)
{
    if (*comment) {
        append(printer, **comment ? "  # " : "  #", **comment ? 4 : 3);
        append(printer, *comment, strlen(*comment));
    }
    *comment = NULL;
    append(printer, "\n", 1);
}

/* Lays out the statement in hand. column: where GAP_ALIGN goes. */
static void lay_out(struct printer *printer, size_t column, const char *comment)
{
    size_t size = printer->size - printer->statement;
    char *raw =
        size > 0 ? arena_copy(printer->arena, printer->text + printer->statement, size) : NULL;
    if (!raw || printer->no_memory) {
        printer->no_memory = true;
        return;
    }
    printer->size = printer->statement;
    size_t width = 0;
    char gap = 0;
    for (size_t at = 0; at < size;) {
        size_t piece = piece_size(raw + at, size - at);
        size_t piece_width = width_of(raw + at, piece);
        if (gap == GAP_LINE || (gap == GAP_OPTION && width + 1 + piece_width > COLUMNS)) {
            end_line(printer, &comment);
            append_spaces(printer, INDENT);
            width = INDENT;
        } else if (gap) {
            size_t spaces = gap == GAP_ALIGN && column > width ? column - width : 1;
            append_spaces(printer, spaces);
            width += spaces;
        }
        append(printer, raw + at, piece);
        width += piece_width;
        at += piece;
        gap = at < size ? raw[at++] : 0;
    }
    end_line(printer, &comment);
}

static void print_derive(struct printer *printer)
{
    const char *text = printer->scenario->derive;
    append(printer, "derive\n", 7);
    while (*text) {
        size_t size = (size_t)(strchr(text, '\n') - text);
        if (size > 0)
            append_spaces(printer, 2);
        append(printer, text, size + 1);
        text += size + 1;
    }
}

static void print_words(struct printer *printer, const struct scenario_item *item)
{
    const struct scenario *scenario = printer->scenario;
    if (item->kind == SCENARIO_ITEM_EVENT) {
        print_event(printer, &scenario->events[item->index]);
    } else if (item->kind == SCENARIO_ITEM_FAULT) {
        print_fault(printer, &scenario->faults[item->index]);
    } else if (item->kind == SCENARIO_ITEM_EXPECT) {
        printer_put(printer, "expect");
        print_expect(printer, &scenario->expects[item->index].expect);
    } else if (item->kind >= SCENARIO_ITEM_TENANT && item->kind <= SCENARIO_ITEM_SERIES) {
        print_declaration(printer, item);
    } else {
        print_header(printer, item);
    }
}

static bool is_timed(const struct scenario *scenario, const struct scenario_item *item)
{
    if (item->kind == SCENARIO_ITEM_FAULT)
        return scenario->faults[item->index].has_from;
    return item->kind == SCENARIO_ITEM_EVENT &&
           scenario->events[item->index].kind != SCENARIO_GOLDEN;
}

/* The column at which a block of timed statements is aligned: two behind the widest time. */
static size_t block_column(struct printer *printer, size_t first)
{
    const struct scenario *scenario = printer->scenario;
    size_t column = 0;
    for (size_t i = first; i < scenario->item_count; i++) {
        const struct scenario_item *item = &scenario->items[i];
        if (!is_timed(scenario, item) || (i > first && item->blank_before))
            break;
        printer->gap = 0;
        print_words(printer, item);
        size_t size = printer->size - printer->statement;
        if (size > 0) {
            const char *text = printer->text + printer->statement;
            size_t width = width_of(text, piece_size(text, size)) + 2;
            column = width > column ? width : column;
        }
        printer->size = printer->statement;
    }
    return column;
}

static void print_item(struct printer *printer, const struct scenario_item *item, size_t column)
{
    if (item->blank_before)
        append(printer, "\n", 1);
    printer->statement = printer->size;
    printer->gap = 0;
    if (item->kind == SCENARIO_ITEM_COMMENT) {
        append(printer, *item->comment ? "# " : "#", *item->comment ? 2 : 1);
        append(printer, item->comment, strlen(item->comment));
        append(printer, "\n", 1);
    } else if (item->kind == SCENARIO_ITEM_DERIVE) {
        print_derive(printer);
    } else {
        print_words(printer, item);
        lay_out(printer, column, item->comment);
    }
}

const char *scenario_print(const struct scenario *scenario, struct arena *arena, size_t *size)
{
    ASSERT(scenario != NULL && arena != NULL && size != NULL);
    struct printer printer = {.scenario = scenario, .arena = arena};
    size_t column = 0;
    for (size_t i = 0; i < scenario->item_count && !printer.no_memory; i++) {
        const struct scenario_item *item = &scenario->items[i];
        bool goes_on = i > 0 && is_timed(scenario, item) && !item->blank_before &&
                       is_timed(scenario, &scenario->items[i - 1]);
        printer.statement = printer.size;
        if (is_timed(scenario, item) && !goes_on)
            column = block_column(&printer, i);
        print_item(&printer, item, column);
    }
    append(&printer, "", 1); /* the NUL */
    if (printer.no_memory)
        return NULL;
    *size = printer.size - 1;
    return printer.text;
}

/* The statement in hand as one line: every gap is a blank. */
static const char *one_line(struct printer *printer)
{
    append(printer, "", 1);
    for (char *c = printer->text; !printer->no_memory && *c != 0; c++)
        if (*c == GAP_OPTION || *c == GAP_LINE || *c == GAP_ALIGN)
            *c = ' ';
    return printer->no_memory ? NULL : printer->text;
}

const char *scenario_print_expected(const struct scenario *scenario,
                                    const struct scenario_expect *expect, struct arena *arena)
{
    struct printer printer = {.scenario = scenario, .arena = arena};
    print_expected(&printer, expect);
    return one_line(&printer);
}

const char *scenario_print_fault(const struct scenario *scenario,
                                 const struct scenario_fault *fault, struct arena *arena)
{
    struct printer printer = {.scenario = scenario, .arena = arena};
    print_fault(&printer, fault);
    return one_line(&printer);
}

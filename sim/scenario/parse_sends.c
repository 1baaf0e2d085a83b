/* Points, and the messages that carry them: sends, message, deliver. */
#include "core/base/assert.h"
#include "sim/limits.h"
#include "sim/scenario/parser.h"
#include <stdio.h>
#include <string.h>

static const char step_hint[] = "for example 10, +5, +5x3, b1:10,b3:5, +b1:2, or _ for a gap";

/* Cuts "x3" off the end of a step; 1 without. False: a number that is none or too large. */
static bool cut_repeat(const char *text, size_t *size, int64_t *repeat)
{
    *repeat = 1;
    const char *x = memchr(text, 'x', *size);
    if (!x)
        return true;
    size_t at = (size_t)(x - text);
    if (!text_to_int(x + 1, *size - at - 1, repeat) || *repeat < 1 ||
        *repeat > LIMIT_SCENARIO_POINTS)
        return false;
    *size = at;
    return true;
}

static bool text_to_count(const char *text, size_t size, uint64_t *count)
{
    uint64_t number = 0;
    for (size_t i = 0; i < size; i++) {
        if (text[i] < '0' || text[i] > '9' || __builtin_mul_overflow(number, 10, &number) ||
            __builtin_add_overflow(number, (uint64_t)(text[i] - '0'), &number))
            return false;
    }
    *count = number;
    return size > 0;
}

/* "b3:5": one bucket and its count. */
static bool text_to_bucket(const char *text, size_t size, struct scenario_bucket *bucket)
{
    const char *colon = memchr(text, ':', size);
    int64_t number;
    if (!colon || size < 4 || text[0] != 'b' ||
        !text_to_int(text + 1, (size_t)(colon - text) - 1, &number) || number < 1 ||
        number > LIMIT_SCENARIO_BOUNDS + 1)
        return false;
    bucket->bucket = (int)number;
    return text_to_count(colon + 1, size - (size_t)(colon - text) - 1, &bucket->count);
}

/* "b1:10,b3:5", ascending. */
static bool read_buckets(struct parser *parser, const char *text, size_t size,
                         struct scenario_step *step)
{
    struct list list = {.item_size = sizeof(struct scenario_bucket)};
    int last = 0;
    for (size_t at = 0; at <= size;) {
        const char *comma = memchr(text + at, ',', size - at);
        size_t length = comma ? (size_t)(comma - text) - at : size - at;
        struct scenario_bucket bucket;
        if (!text_to_bucket(text + at, length, &bucket) || bucket.bucket <= last)
            return false;
        last = bucket.bucket;
        struct scenario_bucket *slot = parser_list_add(parser, &list);
        if (!slot)
            return false;
        *slot = bucket;
        at += length + 1;
    }
    step->buckets = list.items;
    step->bucket_count = list.count;
    return true;
}

static bool check_step(struct parser *parser, const struct scenario_step *step)
{
    const struct scenario_series *series = series_of(parser, step->series);
    if (!series)
        return true;
    bool adds = step->kind == SCENARIO_STEP_INCREASE || step->kind == SCENARIO_STEP_DECREASE;
    if (adds && series->temporality == TEMPORALITY_DELTA)
        return parser_fail(parser, step->place, "write the count of the point itself",
                           "a point of a delta series has no point before it to add to");
    int buckets = (int)series->resource.bounds.count + 1;
    for (size_t i = 0; i < step->bucket_count; i++) {
        if (step->buckets[i].bucket > buckets)
            return parser_fail(parser, step->place, "", "series \"%s\" has %d buckets, not %d",
                               series->name, buckets, step->buckets[i].bucket);
    }
    return true;
}

/* One word: "10", "+5x3", "b1:3,b4:2", "_". */
static bool read_step(struct parser *parser, bool gaps, struct scenario_step *step)
{
    const struct token *token = parser->at;
    step->place = token->place;
    const char *text = token->text;
    size_t size = token->size;
    if (token->kind != TOKEN_WORD || !cut_repeat(text, &size, &step->repeat) || size == 0)
        return parser_fail_expected(parser, "a point", step_hint);
    step->kind = SCENARIO_STEP_COUNT;
    if (gaps && size == 1 && text[0] == '_') {
        step->kind = SCENARIO_STEP_GAP;
        parser->at++;
        return true;
    }
    if (text[0] == '+' || text[0] == '-') {
        step->kind = text[0] == '+' ? SCENARIO_STEP_INCREASE : SCENARIO_STEP_DECREASE;
        text++;
        size--;
    }
    bool buckets = size > 0 && text[0] == 'b';
    if (buckets ? !read_buckets(parser, text, size, step)
                : !text_to_count(text, size, &step->count))
        return !parser->no_memory && parser_fail_expected(parser, "a point", step_hint);
    if (buckets && step->kind == SCENARIO_STEP_COUNT)
        step->kind = SCENARIO_STEP_BUCKETS;
    parser->at++;
    return check_step(parser, step);
}

/* ---- options of a point ---- */

enum { TIME, START, SUM, NO, COUNT, FLAGS, POINT_OPTIONS };

static const char *const point_options[POINT_OPTIONS] = {"time", "start", "sum",
                                                         "no",   "count", "flags"};

static bool is_point_option(const struct parser *parser)
{
    for (size_t i = 0; i < POINT_OPTIONS; i++) {
        if (parser_next_is(parser, point_options[i]))
            return true;
    }
    return false;
}

static bool read_total(struct parser *parser, uint64_t *total)
{
    const struct token *token = parser->at;
    if (token->kind != TOKEN_WORD || !text_to_count(token->text, token->size, total))
        return parser_fail_expected(parser, "a count", "");
    parser->at++;
    return true;
}

static bool parse_point_option(struct parser *parser, int option, struct scenario_step *step)
{
    int64_t flags;
    switch (option) {
    case TIME:
        step->has_time = true;
        return parser_read_moment(parser, &step->time);
    case START:
        step->has_start = true;
        step->start_unknown = parser_accept(parser, "unknown");
        return step->start_unknown || parser_read_moment(parser, &step->start);
    case SUM:
        step->has_sum = true;
        return parser_read_number(parser, "a sum in seconds", &step->sum);
    case NO:
        step->no_sum = true;
        return parser_need(parser, "sum");
    case COUNT:
        step->has_count = true;
        return read_total(parser, &step->total);
    default:
        ASSERT(option == FLAGS);
        step->has_flags = true;
        if (!parser_read_int(parser, "flags", 0, UINT32_MAX, &flags))
            return false;
        step->flags = (uint32_t)flags;
        return true;
    }
}

static bool read_point_options(struct parser *parser, struct scenario_step *step)
{
    uint32_t seen = 0;
    int option;
    while (is_point_option(parser)) {
        struct place place = parser->at->place;
        if (!parser_read_option(parser, "an option of a point", point_options, POINT_OPTIONS, 0,
                                &seen, &option) ||
            !parse_point_option(parser, option, step))
            return false;
        if (step->has_sum && step->no_sum)
            return parser_fail(parser, place, "", "a point has a sum, or no sum");
    }
    return true;
}

/* ---- options of a message ---- */

bool parse_message_option(struct parser *parser, struct scenario_event *event, bool *taken)
{
    *taken = true;
    struct place place = parser->at->place;
    if (parser_accept(parser, "as")) {
        if (event->msg_id_written)
            return parser_fail(parser, place, "", "the id of the message is given twice");
        event->msg_id_written = true;
        return parser_read_string(parser, "the id of the message", &event->msg_id);
    }
    if (parser_accept(parser, "without")) {
        if (event->msg_id_written)
            return parser_fail(parser, place, "", "the id of the message is given twice");
        event->msg_id_written = true;
        event->msg_id = NULL;
        return parser_need(parser, "id");
    }
    bool other = parser_next_is(parser, "stamped");
    if (other || parser_next_is(parser, "unstamped")) {
        if (event->stamp != SCENARIO_STAMP_OWN)
            return parser_fail(parser, place, "", "the stamp of the message is given twice");
        parser->at++;
        event->stamp = other ? SCENARIO_STAMP_OTHER : SCENARIO_STAMP_NONE;
        return !other || parser_read_tenant(parser, &event->stamp_tenant);
    }
    *taken = false;
    return true;
}

static bool read_message_options(struct parser *parser, struct scenario_event *event)
{
    bool taken = true;
    while (taken) {
        if (!parse_message_option(parser, event, &taken))
            return false;
    }
    return true;
}

/* "s1-4" where no id is written. */
static bool give_id(struct parser *parser, const char *prefix, int64_t number, const char **id)
{
    char text[LIMIT_SCENARIO_NAME_BYTES + 24];
    int size = snprintf(text, sizeof text, "%s-%lld", prefix, (long long)number);
    ASSERT(size > 0 && (size_t)size < sizeof text);
    *id = arena_copy(parser->arena, text, (size_t)size);
    parser->no_memory = parser->no_memory || !*id;
    return *id != NULL;
}

static struct series_tail *tail_of(struct parser *parser, int series)
{
    ASSERT(series >= 0 && (size_t)series < parser->tails.count);
    return (struct series_tail *)parser->tails.items + series;
}

/* ---- statements ---- */

/* from M every D NAME sends 10 +5 _ ... */
static bool parse_shorthand(struct parser *parser, struct scenario_event *event)
{
    event->kind = SCENARIO_POINTS;
    struct list steps = {.item_size = sizeof(struct scenario_step)};
    do {
        struct scenario_step step = {.series = event->subject.index};
        if (!read_step(parser, true, &step))
            return false;
        struct scenario_step *slot = parser_list_add(parser, &steps);
        if (!slot)
            return false;
        *slot = step;
    } while (!parser_at_end(parser));
    event->steps = steps.items;
    event->step_count = steps.count;
    if (!expand_points(parser, event))
        return false;
    const char **ids = parser_alloc(parser, event->point_count, sizeof *ids);
    event->msg_ids = ids;
    for (size_t i = 0; ids && i < event->point_count; i++) {
        int64_t number = ++tail_of(parser, event->points[i].series)->messages;
        if (!give_id(parser, event->subject.name, number, &ids[i]))
            return false;
    }
    return ids != NULL;
}

bool parse_sends(struct parser *parser, const struct time_clause *time,
                 struct scenario_event *event)
{
    const struct scenario_series *series = series_of(parser, event->subject.index);
    event->tenant = series ? series->resource.tenant : -1;
    if (time->has_from) {
        if (time->has_until || time->every_ns == 0)
            return parser_fail(parser, time->place,
                               "write: from TIME every DURATION NAME sends 10 +5",
                               "points end with the last that is written");
        return parse_shorthand(parser, event);
    }
    event->kind = SCENARIO_SEND;
    struct scenario_step *step = parser_alloc(parser, 1, sizeof *step);
    if (!step)
        return false;
    step->series = event->subject.index;
    event->steps = step;
    event->step_count = 1;
    if (!read_step(parser, false, step) || !read_point_options(parser, step) ||
        !read_message_options(parser, event))
        return false;
    if (step->repeat != 1)
        return parser_fail(parser, step->place, "write: from TIME every DURATION NAME sends +5x3",
                           "one message at one time carries the point once");
    if (!expand_points(parser, event))
        return false;
    if (!series || event->msg_id_written)
        return true;
    int64_t number = ++tail_of(parser, step->series)->messages;
    return give_id(parser, event->subject.name, number, &event->msg_id);
}

/* message "m-1" of acme [options], then one indented line a point: NAME STEP [options] */
bool parse_message(struct parser *parser, struct scenario_event *event)
{
    event->in_block = true;
    if (parser_next_is(parser, "of")) {
        event->msg_id_written = false;
    } else {
        event->msg_id_written = true;
        if (!parser_read_string(parser, "the id of the message", &event->msg_id))
            return false;
    }
    if (!parser_need(parser, "of") || !parser_read_tenant(parser, &event->tenant) ||
        !read_message_options(parser, event))
        return false;
    struct list steps = {.item_size = sizeof(struct scenario_step)};
    while (!parser_at_end(parser)) {
        struct scenario_step step = {0};
        struct scenario_subject subject;
        if (!parser->at->first_of_line)
            return parser_fail_expected(parser,
                                        "an option of a message, or a point on a line below",
                                        "as \"...\", without id, stamped TENANT, unstamped");
        if (!parser_read_subject(parser, "a series", KIND_BIT(SCENARIO_OF_SERIES), &subject))
            return false;
        step.series = subject.index;
        if (!read_step(parser, false, &step) || !read_point_options(parser, &step))
            return false;
        if (step.repeat != 1)
            return parser_fail(parser, step.place, "", "a message carries the point once");
        struct scenario_step *slot = parser_list_add(parser, &steps);
        if (!slot)
            return false;
        *slot = step;
    }
    event->steps = steps.items;
    event->step_count = steps.count;
    if (!expand_points(parser, event))
        return false;
    return event->msg_id_written || give_id(parser, "message", ++parser->delivered, &event->msg_id);
}

static bool read_hex(struct parser *parser, struct bytes *out)
{
    const struct token *token = parser->at;
    struct bytes text;
    if (!parser_read_text(parser, "bytes in hex", &text))
        return false;
    uint8_t *data = parser_alloc(parser, text.size / 2 + 1, 1);
    if (!data)
        return false;
    for (size_t i = 0; i < text.size; i++) {
        char c = (char)text.data[i];
        int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
        if (digit < 0 || text.size % 2 != 0)
            return parser_fail(parser, token->place, "two of 0-9 a-f for each byte",
                               "the text is not hex");
        data[i / 2] = (uint8_t)(data[i / 2] * 16 + digit);
    }
    *out = (struct bytes){data, text.size / 2};
    return true;
}

/* deliver bytes "0a..." of acme | deliver file "otlp/000.pb" of acme */
bool parse_deliver(struct parser *parser, struct scenario_event *event)
{
    static const char *const words[] = {"bytes", "file"};
    int which;
    if (!parser_read_choice(parser, NULL, words, 2, &which))
        return false;
    event->kind = which == 0 ? SCENARIO_DELIVER_BYTES : SCENARIO_DELIVER_FILE;
    struct place place = parser->at->place;
    if (which == 0 ? !read_hex(parser, &event->bytes)
                   : !parser_read_string(parser, "the path of a file", &event->path))
        return false;
    if (event->path && (event->path[0] == '/' || strstr(event->path, "..")))
        return parser_fail(parser, place, "", "the path must lie below tests/data");
    if (!parser_need(parser, "of") || !parser_read_tenant(parser, &event->tenant) ||
        !read_message_options(parser, event))
        return false;
    if (event->stamp != SCENARIO_STAMP_OWN && event->kind == SCENARIO_DELIVER_BYTES)
        return parser_fail(parser, place, "write the stamp into the bytes",
                           "bytes are delivered as they are");
    return event->msg_id_written || give_id(parser, "message", ++parser->delivered, &event->msg_id);
}

/* The resource that processes and series share; series. */
#include "core/base/assert.h"
#include "core/model/histogram.h"
#include "sim/limits.h"
#include "sim/scenario/parser.h"
#include <string.h>

enum { SERVICE, ATTRIBUTE, SCOPE, METRIC, SOURCE, UNIT, REDACTED, BOUNDS };

const char *const resource_options[RESOURCE_OPTIONS] = {
    "service", "attribute", "scope", "metric", "source", "unit", "redacted", "bounds",
};

void resource_defaults(struct scenario_resource *resource)
{
    resource->bounds =
        (struct scenario_bounds){SCENARIO_BOUNDS_CANONICAL, histogram_bounds, HISTOGRAM_BOUNDS};
}

/* "key" then "text", 7, 0.5, true or false. */
bool parser_read_attribute(struct parser *parser, struct list *attributes)
{
    struct scenario_attribute attribute = {.place = parser->at->place};
    if (!parser_read_text(parser, "the key of an attribute", &attribute.key))
        return false;
    const struct token *token = parser->at;
    if (token->kind == TOKEN_TEXT) {
        attribute.type = SCENARIO_STRING;
        attribute.text = (struct bytes){(const uint8_t *)token->text, token->size};
    } else if (parser_next_is(parser, "true") || parser_next_is(parser, "false")) {
        attribute.type = SCENARIO_BOOL;
        attribute.integer = parser_next_is(parser, "true");
    } else if (token->kind == TOKEN_WORD &&
               text_to_int(token->text, token->size, &attribute.integer)) {
        attribute.type = SCENARIO_INT;
    } else if (token->kind == TOKEN_WORD &&
               text_to_number(token->text, token->size, &attribute.number)) {
        attribute.type = SCENARIO_DOUBLE;
    } else {
        return parser_fail_expected(parser, "the value of an attribute",
                                    "\"text\", 7, 0.5, true or false");
    }
    parser->at++;
    struct scenario_attribute *slot = parser_list_add(parser, attributes);
    if (slot)
        *slot = attribute;
    return slot != NULL;
}

static bool read_bounds_list(struct parser *parser, struct scenario_bounds *bounds)
{
    struct list list = {.item_size = sizeof(double)};
    double bound;
    while (parser->at->kind == TOKEN_WORD &&
           text_to_number(parser->at->text, parser->at->size, &bound)) {
        if (list.count == LIMIT_SCENARIO_BOUNDS)
            return parser_fail(parser, parser->at->place, "", "at most %d bounds",
                               LIMIT_SCENARIO_BOUNDS);
        double *slot = parser_list_add(parser, &list);
        if (!slot)
            return false;
        *slot = bound;
        parser->at++;
    }
    *bounds = (struct scenario_bounds){SCENARIO_BOUNDS_LIST, list.items, list.count};
    return list.count > 0;
}

static bool read_bounds(struct parser *parser, struct scenario_bounds *bounds)
{
    if (parser_accept(parser, "canonical"))
        *bounds =
            (struct scenario_bounds){SCENARIO_BOUNDS_CANONICAL, histogram_bounds, HISTOGRAM_BOUNDS};
    else if (parser_accept(parser, "milliseconds"))
        *bounds =
            (struct scenario_bounds){SCENARIO_BOUNDS_MILLISECONDS, milliseconds_bounds,
                                     sizeof milliseconds_bounds / sizeof milliseconds_bounds[0]};
    else if (parser_accept(parser, "none"))
        *bounds = (struct scenario_bounds){SCENARIO_BOUNDS_NONE, NULL, 0};
    else if (!read_bounds_list(parser, bounds))
        return !parser->no_memory &&
               parser_fail_expected(parser, "bounds",
                                    "canonical, milliseconds, none, or numbers in seconds");
    return true;
}

bool parse_resource_option(struct parser *parser, int option, struct scenario_resource *resource,
                           struct list *attributes)
{
    int source;
    switch (option) {
    case SERVICE:
        return parser_read_text(parser, "the name of a service", &resource->service);
    case ATTRIBUTE:
        return parser_read_attribute(parser, attributes);
    case SCOPE:
        resource->has_scope = true;
        resource->scope_version = bytes_of("");
        return parser_read_text(parser, "the name of a scope", &resource->scope_name) &&
               (parser->at->kind != TOKEN_TEXT ||
                parser_read_text(parser, "the version of a scope", &resource->scope_version));
    case METRIC:
        return parser_read_text(parser, "the name of a metric", &resource->metric);
    case SOURCE:
        if (!parser_read_choice(parser, NULL, source_names, 2, &source))
            return false;
        resource->source = source == 0 ? SOURCE_METRIC : SOURCE_SPAN;
        return true;
    case UNIT:
        return parser_read_text(parser, "a unit", &resource->unit);
    case REDACTED:
        resource->redacted = true;
        return true;
    default:
        ASSERT(option == BOUNDS);
        return read_bounds(parser, &resource->bounds);
    }
}

/* ---- series ---- */

enum {
    START,
    TEMPORALITY_CUMULATIVE_WORD,
    TEMPORALITY_DELTA_WORD,
    UNSPECIFIED,
    TYPE,
    POINT,
    SERIES_OPTIONS
};

static bool parse_series_option(struct parser *parser, int option, struct scenario_series *series,
                                struct list *attributes)
{
    int type;
    switch (option) {
    case START:
        if (parser_accept(parser, "unknown"))
            return true;
        series->start_kind = SCENARIO_START_AT;
        return parser_read_moment(parser, &series->start);
    case TEMPORALITY_CUMULATIVE_WORD:
        series->temporality = TEMPORALITY_CUMULATIVE;
        return true;
    case TEMPORALITY_DELTA_WORD:
        series->temporality = TEMPORALITY_DELTA;
        return true;
    case UNSPECIFIED:
        series->temporality = 0;
        return true;
    case TYPE:
        if (!parser_read_choice(parser, "a type of metric", type_names, 5, &type))
            return false;
        series->type = (unsigned)type;
        return true;
    default:
        ASSERT(option == POINT);
        return parser_need(parser, "attribute") && parser_read_attribute(parser, attributes);
    }
}

static bool check_series(struct parser *parser, const struct scenario_series *series, uint32_t seen)
{
    uint32_t temporality = seen & 0xe; /* cumulative, delta, unspecified */
    if (temporality == 0 || (temporality & (temporality - 1)) != 0)
        return parser_fail(parser, series->place, "add one of cumulative, delta, unspecified",
                           "the series \"%s\" needs one temporality", series->name);
    if (series->temporality == TEMPORALITY_CUMULATIVE && !(seen & 1))
        return parser_fail(parser, series->place, "for example: start -2h, or: start unknown",
                           "the cumulative series \"%s\" needs a start", series->name);
    return true;
}

bool parse_series(struct parser *parser, struct scenario_item *item)
{
    item->kind = SCENARIO_ITEM_SERIES;
    item->index = parser->series.count;
    struct name *name = parser_declare(parser, SCENARIO_OF_SERIES, item->index);
    struct series_tail *tail = name ? parser_list_add(parser, &parser->tails) : NULL;
    if (!tail)
        return false;
    *tail = (struct series_tail){0};
    struct scenario_series series = {.place = item->place, .name = name->name};
    uint32_t seen = 0;
    if (!parser_need(parser, "of") || !parser_read_tenant(parser, &series.resource.tenant))
        return false;
    resource_defaults(&series.resource);
    if (parser_accept(parser, resource_options[SERVICE])) {
        seen |= UINT32_C(1) << (SERIES_OPTIONS + SERVICE);
        if (!parser_read_text(parser, "the name of a service", &series.resource.service))
            return false;
    }
    if (!parser_read_request(parser, &series.request))
        return false;
    const char *options[SERIES_OPTIONS + RESOURCE_OPTIONS] = {"start",       "cumulative", "delta",
                                                              "unspecified", "type",       "point"};
    memcpy(options + SERIES_OPTIONS, resource_options, RESOURCE_OPTIONS * sizeof *options);
    uint32_t repeatable = UINT32_C(1) << POINT | RESOURCE_REPEATABLE << SERIES_OPTIONS;
    struct list of_resource = {.item_size = sizeof(struct scenario_attribute)};
    struct list of_points = {.item_size = sizeof(struct scenario_attribute)};
    int option;
    while (!parser_at_end(parser)) {
        if (!parser_read_option(parser, "an option of a series", options,
                                SERIES_OPTIONS + RESOURCE_OPTIONS, repeatable, &seen, &option))
            return false;
        bool read = option < SERIES_OPTIONS
                        ? parse_series_option(parser, option, &series, &of_points)
                        : parse_resource_option(parser, option - SERIES_OPTIONS, &series.resource,
                                                &of_resource);
        if (!read)
            return false;
    }
    series.resource.attributes = of_resource.items;
    series.resource.attribute_count = of_resource.count;
    series.attributes = of_points.items;
    series.attribute_count = of_points.count;
    if (!check_series(parser, &series, seen))
        return false;
    struct scenario_series *slot = parser_list_add(parser, &parser->series);
    if (!slot)
        return false;
    *slot = series;
    parser_declared(parser, series.name);
    return true;
}

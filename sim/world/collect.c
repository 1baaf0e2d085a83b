#include "sim/world/collect.h"

#include "core/base/assert.h"
#include "core/base/limits.h"
#include <string.h>

#define INVALID     "{invalid}"
#define LONG_TAIL   "/{long}"
#define REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

static int hex_digit(uint8_t byte)
{
    if (byte >= '0' && byte <= '9')
        return byte - '0';
    if (byte >= 'a' && byte <= 'f')
        return byte - 'a' + 10;
    if (byte >= 'A' && byte <= 'F')
        return byte - 'A' + 10;
    return -1;
}

/* Percent-decodes into out (as large as segment); a % that no two hex digits follow stays. */
static struct bytes decode(struct bytes segment, uint8_t *out)
{
    size_t size = 0;
    for (size_t i = 0; i < segment.size; i++) {
        int high = -1, low = -1;
        if (segment.data[i] == '%' && i + 2 < segment.size) {
            high = hex_digit(segment.data[i + 1]);
            low = hex_digit(segment.data[i + 2]);
        }
        bool escape = high >= 0 && low >= 0;
        out[size++] = escape ? (uint8_t)(high * 16 + low) : segment.data[i];
        i += escape ? 2 : 0;
    }
    return (struct bytes){out, size};
}

static bool segment_is_good(struct bytes segment, uint8_t *scratch)
{
    return text_is_storable(segment) && text_is_storable(decode(segment, scratch));
}

static size_t segment_size(struct bytes rest)
{
    const uint8_t *slash = memchr(rest.data, '/', rest.size);
    return slash ? (size_t)(slash - rest.data) : rest.size;
}

static struct bytes cut_long(struct bytes route, uint8_t *data)
{
    if (route.size <= COLLECT_ROUTE_BYTES)
        return route;
    size_t tail = strlen(LONG_TAIL);
    size_t keep = COLLECT_ROUTE_BYTES - tail;
    while (keep > 0 && data[keep] != '/')
        keep--;
    memcpy(data + keep, LONG_TAIL, tail);
    return (struct bytes){data, keep + tail};
}

struct bytes collect_route(struct bytes route, struct arena *arena)
{
    ASSERT(arena);
    if (!route.data)
        return route;
    /* a segment of n bytes and its slash become at most 9 + 1 */
    uint8_t *out = arena_alloc(arena, 10 * (route.size + 1));
    uint8_t *scratch = arena_alloc(arena, route.size + 1);
    if (!out || !scratch)
        return (struct bytes){0};
    size_t size = 0;
    bool changed = false;
    for (size_t at = 0; at <= route.size;) {
        struct bytes segment = {route.data + at, route.size - at};
        segment.size = segment_size(segment);
        bool good = segment_is_good(segment, scratch);
        struct bytes put = good ? segment : bytes_of(INVALID);
        if (put.size > 0)
            memcpy(out + size, put.data, put.size);
        size += put.size;
        at += segment.size;
        if (at < route.size)
            out[size++] = '/';
        at++;
        changed = changed || !good;
    }
    if (!changed && route.size <= COLLECT_ROUTE_BYTES)
        return route;
    return cut_long((struct bytes){out, size}, out);
}

/* Bytes of the storable rune that text begins with; 0: there is none. */
static size_t rune_size(struct bytes text)
{
    for (size_t size = 1; size <= 4 && size <= text.size; size++)
        if (text_is_storable((struct bytes){text.data, size}))
            return size;
    return 0;
}

struct bytes collect_service(struct bytes service, struct arena *arena)
{
    ASSERT(arena);
    if (!service.data || (text_is_storable(service) && service.size <= LIMIT_SERVICE_BYTES))
        return service;
    uint8_t *out = arena_alloc(arena, LIMIT_SERVICE_BYTES);
    if (!out)
        return (struct bytes){0};
    size_t size = 0;
    for (size_t at = 0; at < service.size;) {
        struct bytes rune = {service.data + at,
                             rune_size((struct bytes){service.data + at, service.size - at})};
        at += rune.size > 0 ? rune.size : 1;
        if (rune.size == 0)
            rune = bytes_of(REPLACEMENT);
        if (size + rune.size > LIMIT_SERVICE_BYTES)
            break;
        memcpy(out + size, rune.data, rune.size);
        size += rune.size;
    }
    return (struct bytes){out, size};
}

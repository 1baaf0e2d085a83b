#include "sim/scenario/moment.h"
#include "core/base/assert.h"
#include "core/base/time.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define DURATION_MAX (INT64_C(200) * 365 * NS_PER_DAY)
#define MOMENT_MAX   (INT64_C(230) * 365 * NS_PER_DAY) /* within the year 2199 */

struct unit {
    const char *name;
    int64_t ns;
};

static const struct unit units[] = {
    {"d", NS_PER_DAY}, {"h", NS_PER_HOUR}, {"m", NS_PER_MIN}, {"s", NS_PER_S},
    {"ms", NS_PER_MS}, {"us", NS_PER_US},  {"ns", 1},
};
#define UNIT_COUNT (sizeof units / sizeof units[0])

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* "30m" at text[*at]: a number and its unit. */
static bool term_parse(const char *text, size_t size, size_t *at, int64_t *ns)
{
    int64_t number = 0;
    size_t i = *at;
    size_t digits = i;
    for (; i < size && is_digit(text[i]); i++) {
        if (__builtin_mul_overflow(number, 10, &number) ||
            __builtin_add_overflow(number, text[i] - '0', &number))
            return false;
    }
    if (i == digits)
        return false;
    size_t name = i;
    while (i < size && text[i] >= 'a' && text[i] <= 'z')
        i++;
    for (size_t u = 0; u < UNIT_COUNT; u++) {
        size_t length = strlen(units[u].name);
        if (i - name == length && memcmp(text + name, units[u].name, length) == 0) {
            *at = i;
            return !__builtin_mul_overflow(number, units[u].ns, ns) && *ns <= DURATION_MAX;
        }
    }
    return false;
}

/* "1h30m" at text[*at], up to a sign or the end. */
static bool terms_parse(const char *text, size_t size, size_t *at, int64_t *ns)
{
    int64_t sum = 0;
    do {
        int64_t term;
        if (!term_parse(text, size, at, &term))
            return false;
        sum += term;
        if (sum > DURATION_MAX)
            return false;
    } while (*at < size && text[*at] != '+' && text[*at] != '-');
    *ns = sum;
    return true;
}

bool duration_parse(const char *text, size_t size, int64_t *ns)
{
    ASSERT(ns != NULL);
    size_t at = 0;
    return terms_parse(text, size, &at, ns) && at == size;
}

static bool relative_parse(const char *text, size_t size, int64_t *ns)
{
    size_t at = 0;
    int64_t sum = 0;
    do {
        bool minus = at < size && text[at] == '-';
        if (at < size && (minus || (text[at] == '+' && at > 0)))
            at++;
        int64_t part;
        if (!terms_parse(text, size, &at, &part))
            return false;
        sum += minus ? -part : part;
        if (sum > DURATION_MAX || sum < -DURATION_MAX)
            return false;
    } while (at < size);
    *ns = sum;
    return true;
}

static bool is_absolute(const char *text, size_t size)
{
    return size >= 10 && is_digit(text[0]) && text[4] == '-' && text[7] == '-';
}

bool moment_parse(const char *text, size_t size, int64_t start_ns, struct moment *moment)
{
    ASSERT(moment != NULL);
    if (is_absolute(text, size)) {
        bool far = memcmp(text, "1970", 4) < 0 || memcmp(text, "2199", 4) > 0;
        moment->absolute = true;
        return !far && time_parse_ns(text, size, &moment->ns);
    }
    int64_t ns;
    if (!relative_parse(text, size, &ns))
        return false;
    moment->absolute = false;
    moment->ns = start_ns + ns;
    return moment->ns >= 0 && moment->ns <= MOMENT_MAX;
}

/* Returns the length; out has room for any duration. */
static size_t units_format(int64_t ns, char *out, size_t room)
{
    ASSERT(ns >= 0);
    if (ns == 0)
        return (size_t)snprintf(out, room, "0s");
    size_t size = 0;
    for (size_t u = 0; u < UNIT_COUNT; u++) {
        int64_t number = ns / units[u].ns;
        ns %= units[u].ns;
        if (number > 0)
            size +=
                (size_t)snprintf(out + size, room - size, "%" PRId64 "%s", number, units[u].name);
        ASSERT(size < room);
    }
    return size;
}

void duration_format(int64_t ns, char out[MOMENT_TEXT_SIZE])
{
    units_format(ns, out, MOMENT_TEXT_SIZE);
}

/* "-3h+123ns": whole seconds first, so that the small part is never hidden in nines. */
static void relative_format(int64_t ns, char out[MOMENT_TEXT_SIZE])
{
    int64_t fraction = ns - time_floor(ns, NS_PER_S);
    size_t size = 0;
    if (ns < 0)
        out[size++] = '-';
    if (ns >= 0 || ns > -NS_PER_S || fraction % NS_PER_MS == 0) {
        units_format(ns < 0 ? -ns : ns, out + size, MOMENT_TEXT_SIZE - size);
        return;
    }
    size += units_format(fraction - ns, out + size, MOMENT_TEXT_SIZE - size);
    out[size++] = '+';
    units_format(fraction, out + size, MOMENT_TEXT_SIZE - size);
}

void moment_format(struct moment moment, int64_t start_ns, char out[MOMENT_TEXT_SIZE])
{
    if (moment.absolute)
        time_format_ns(moment.ns, out);
    else
        relative_format(moment.ns - start_ns, out);
}

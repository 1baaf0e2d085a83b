/* Counted bytes, UTF-8, UUIDs and hex. */
#include "core/base/bytes.h"
#include "core/base/assert.h"
#include <string.h>

struct bytes bytes_of(const char *string)
{
    ASSERT(string);
    return (struct bytes){(const uint8_t *)string, strlen(string)};
}

bool bytes_equal(struct bytes a, struct bytes b)
{
    return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

int bytes_compare(struct bytes a, struct bytes b)
{
    size_t common = a.size < b.size ? a.size : b.size;
    int order = common ? memcmp(a.data, b.data, common) : 0;
    if (order != 0)
        return order;
    return (a.size > b.size) - (a.size < b.size);
}

/* Reads one UTF-8 character at data (left >= 1 bytes). Its length, or 0 when it is malformed. */
static size_t utf8_read(const uint8_t *data, size_t left, uint32_t *code)
{
    uint8_t lead = data[0];
    if (lead < 0x80) {
        *code = lead;
        return 1;
    }
    size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    if (lead < 0xc2 || lead > 0xf4 || length > left)
        return 0;
    uint32_t value = lead & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if ((data[i] & 0xc0) != 0x80)
            return 0;
        value = value << 6 | (data[i] & 0x3f);
    }
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    bool surrogate = value >= 0xd800 && value <= 0xdfff;
    if (value < smallest[length] || value > 0x10ffff || surrogate)
        return 0;
    *code = value;
    return length;
}

bool text_is_storable(struct bytes text)
{
    ASSERT(text.data || text.size == 0);
    for (size_t at = 0; at < text.size;) {
        uint32_t code;
        size_t length = utf8_read(text.data + at, text.size - at, &code);
        if (length == 0)
            return false;
        if (code < 0x20 || (code >= 0x7f && code <= 0x9f))
            return false;
        at += length;
    }
    return true;
}

int uuid_compare(const struct uuid *a, const struct uuid *b)
{
    return memcmp(a->bytes, b->bytes, sizeof a->bytes);
}

static int hex_digit(uint8_t character)
{
    if (character >= '0' && character <= '9')
        return character - '0';
    if (character >= 'a' && character <= 'f')
        return character - 'a' + 10;
    if (character >= 'A' && character <= 'F')
        return character - 'A' + 10;
    return -1;
}

/* The 36-character form: 8-4-4-4-12, a dash before these bytes. */
static bool uuid_dash_before(size_t byte)
{
    return byte == 4 || byte == 6 || byte == 8 || byte == 10;
}

bool uuid_parse(struct bytes text, struct uuid *out)
{
    ASSERT(out);
    if (text.size != UUID_TEXT_SIZE)
        return false;
    struct uuid uuid;
    size_t at = 0;
    for (size_t byte = 0; byte < sizeof uuid.bytes; byte++) {
        if (uuid_dash_before(byte) && text.data[at++] != '-')
            return false;
        int high = hex_digit(text.data[at]);
        int low = hex_digit(text.data[at + 1]);
        if (high < 0 || low < 0)
            return false;
        uuid.bytes[byte] = (uint8_t)(high << 4 | low);
        at += 2;
    }
    ASSERT(at == UUID_TEXT_SIZE);
    *out = uuid;
    return true;
}

void uuid_format(const struct uuid *uuid, char out[UUID_TEXT_SIZE + 1])
{
    ASSERT(uuid && out);
    size_t at = 0;
    for (size_t byte = 0; byte < sizeof uuid->bytes; byte++) {
        if (uuid_dash_before(byte))
            out[at++] = '-';
        hex_format(&uuid->bytes[byte], 1, out + at);
        at += 2;
    }
    ASSERT(at == UUID_TEXT_SIZE);
}

void hex_format(const uint8_t *data, size_t size, char *out)
{
    static const char digits[] = "0123456789abcdef";
    ASSERT(data || size == 0);
    ASSERT(out);
    for (size_t i = 0; i < size; i++) {
        out[2 * i] = digits[data[i] >> 4];
        out[2 * i + 1] = digits[data[i] & 15];
    }
    out[2 * size] = '\0';
}

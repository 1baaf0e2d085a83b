#include "core/store/sqlite/codec.h"
#include "core/base/assert.h"
#include <endian.h>
#include <string.h>

void buckets_encode(const struct histogram *histogram, uint8_t out[BUCKETS_BLOB_SIZE])
{
    ASSERT(histogram && out);
    for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
        uint64_t bits = htole64((uint64_t)histogram->counts[i]);
        memcpy(out + i * sizeof bits, &bits, sizeof bits);
    }
}

bool buckets_decode(const void *blob, size_t size, struct histogram *out)
{
    ASSERT(out);
    if (!blob || size != BUCKETS_BLOB_SIZE)
        return false;
    const uint8_t *bytes = blob;
    int64_t signs = 0;
    for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
        uint64_t bits;
        memcpy(&bits, bytes + i * sizeof bits, sizeof bits);
        out->counts[i] = (int64_t)le64toh(bits);
        signs |= out->counts[i];
    }
    return signs >= 0;
}

/* Length of the valid sequence at text[0..size), 0 when there is none (Unicode table 3-7). */
static size_t sequence_size(const uint8_t *text, size_t size)
{
    uint8_t lead = text[0];
    if (lead < 0x80)
        return lead != 0;
    size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    if (lead < 0xC2 || lead > 0xF4 || length > size)
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((text[i] & 0xC0) != 0x80)
            return 0;
    bool overlong = (lead == 0xE0 && text[1] < 0xA0) || (lead == 0xF0 && text[1] < 0x90);
    bool surrogate = lead == 0xED && text[1] > 0x9F;
    bool too_high = lead == 0xF4 && text[1] > 0x8F;
    return overlong || surrogate || too_high ? 0 : length;
}

bool text_is_valid(struct bytes text)
{
    ASSERT(text.data || text.size == 0);
    for (size_t at = 0; at < text.size;) {
        uint64_t eight = 0;
        if (text.size - at >= sizeof eight) {
            memcpy(&eight, text.data + at, sizeof eight);
            /* eight ASCII bytes, none of them NUL: the usual case */
            uint64_t zeros = (eight - UINT64_C(0x0101010101010101)) & ~eight;
            if (((eight | zeros) & UINT64_C(0x8080808080808080)) == 0) {
                at += sizeof eight;
                continue;
            }
        }
        size_t length = sequence_size(text.data + at, text.size - at);
        if (length == 0)
            return false;
        at += length;
    }
    return true;
}

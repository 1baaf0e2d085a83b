#include "sim/base/json.h"

#include "core/base/bytes.h"
#include <stdint.h>
#include <string.h>

/* The number of bytes of the UTF-8 character at text; 0: there is none. C1 controls count. */
static size_t character(const char *text)
{
    const uint8_t *data = (const uint8_t *)text;
    if (data[0] == 0xc2 && data[1] >= 0x80 && data[1] < 0xa0)
        return 2;
    size_t rest = strnlen(text, 4);
    for (size_t size = 1; size <= rest; size++)
        if (text_is_storable((struct bytes){data, size}))
            return size;
    return 0;
}

void json_write_text(FILE *out, const char *text)
{
    fputc('"', out);
    while (*text != 0) {
        unsigned char c = (unsigned char)*text;
        size_t size = character(text);
        if (c == '"' || c == '\\')
            fprintf(out, "\\%c", c);
        else if (c < ' ' || c == 0x7f)
            fprintf(out, "\\u%04x", (unsigned)c);
        else if (size > 0)
            fwrite(text, 1, size, out);
        else
            fputs("\\ufffd", out);
        text += size > 0 ? size : 1;
    }
    fputc('"', out);
}

/* Files to messages: format and JSON lines. */
#include "core/ingest/split.h"
#include <string.h>

enum payload_format ingest_format(struct bytes file)
{
    bool json = file.size > 0 && (file.data[0] == '{' || file.data[0] == '[');
    return json ? PAYLOAD_JSON : PAYLOAD_PROTOBUF;
}

/* The object that opens at the first byte ends with the last one. Looks at braces and strings only;
 * whether it is JSON is for the decoder. */
static bool is_one_object(struct bytes line)
{
    size_t depth = 0;
    bool in_string = false;
    for (size_t i = 0; i < line.size; i++) {
        uint8_t byte = line.data[i];
        if (in_string) {
            if (byte == '\\')
                i++;
            else if (byte == '"')
                in_string = false;
        } else if (byte == '"') {
            in_string = true;
        } else if (byte == '{') {
            depth++;
        } else if (byte == '}') {
            if (depth == 0)
                return false;
            depth--;
            if (depth == 0)
                return i + 1 == line.size;
        }
    }
    return false;
}

static bool is_blank(struct bytes line)
{
    for (size_t i = 0; i < line.size; i++)
        if (!strchr(" \t\r", line.data[i]) || line.data[i] == 0)
            return false;
    return true;
}

bool ingest_next_line(struct bytes *rest, struct bytes *line)
{
    while (rest->size > 0) {
        const uint8_t *end = memchr(rest->data, '\n', rest->size);
        size_t size = end ? (size_t)(end - rest->data) : rest->size;
        *line = (struct bytes){rest->data, size};
        size_t taken = end ? size + 1 : size;
        rest->data += taken;
        rest->size -= taken;
        if (line->size > 0 && line->data[line->size - 1] == '\r')
            line->size--;
        if (!is_blank(*line))
            return true;
    }
    return false;
}

bool ingest_is_lines(struct bytes file)
{
    struct bytes rest = file;
    struct bytes line;
    struct bytes second;
    return file.size > 0 && file.data[0] == '{' && ingest_next_line(&rest, &line) &&
           is_one_object(line) && ingest_next_line(&rest, &second);
}

/* Files to messages: format and JSON lines. */
#ifndef CORE_INGEST_SPLIT_H
#define CORE_INGEST_SPLIT_H

#include "core/base/bytes.h"
#include "core/otlp/message.h"

/* JSON starts with '{' or '[', which no protobuf request does: as tags they would open the groups
 * 15 and 11. No other byte can tell: a line feed, a space and a tab are tags too. */
enum payload_format ingest_format(struct bytes file);

/* True when the first line is a whole JSON object and more follows: one message a line. Any other
 * file, also pretty-printed JSON, is one message. */
bool ingest_is_lines(struct bytes file);

/* Takes the next line that is not blank off *rest; false when none is left. A carriage return at
 * its end is not part of it. */
bool ingest_next_line(struct bytes *rest, struct bytes *line);

#endif

/* What the collector does to text, so that it produces only storable values (MS "Poison messages"
 * 1). Results are in arena, or the very bytes given when nothing changes; data NULL: out of memory.
 */
#ifndef SIM_WORLD_COLLECT_H
#define SIM_WORLD_COLLECT_H

#include "core/base/arena.h"
#include "core/base/bytes.h"

#define COLLECT_ROUTE_BYTES 512

/* routenorm rule set 2. A segment that is not storable text, as it stands or percent-decoded,
 * becomes {invalid}. A route over 512 bytes is cut after the last whole segment that leaves room
 * for /{long}. */
struct bytes collect_route(struct bytes route, struct arena *arena);

/* tenantguard. Bytes that are not UTF-8 and control characters become U+FFFD; the result is cut to
 * LIMIT_SERVICE_BYTES on a rune boundary. */
struct bytes collect_service(struct bytes service, struct arena *arena);

#endif

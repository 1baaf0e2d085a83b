/* "Did you mean": the known name nearest to a mistyped one.
 *
 * Legal order: nearest_begin, nearest_offer for each known name, nearest_name.
 * Distance is the number of characters added, left out, changed, or swapped with their neighbour.
 * Among equally near names the one offered first wins.
 */
#ifndef CORE_BASE_NEAREST_H
#define CORE_BASE_NEAREST_H

#include "core/base/bytes.h"

struct nearest {
    struct bytes word; /* what was typed; must outlive the search */
    const char *name;
    size_t distance;
};

struct nearest nearest_begin(struct bytes word);
/* name must outlive the search. Names and words over 64 bytes are not compared. */
void nearest_offer(struct nearest *nearest, const char *name);
/* NULL when no name is near: more than half of the typed characters would have to change. */
const char *nearest_name(const struct nearest *nearest);

#endif

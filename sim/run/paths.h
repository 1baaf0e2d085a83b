/* Where the files beside a scenario are, from whatever folder it is run.
 *
 *   <root>scenarios/poison/x.scn  ─►  <root>golden/poison/x.golden, <root>tests/data/...
 *   elsewhere/x.scn               ─►  elsewhere/x.golden, elsewhere/tests/data/...
 *
 * The root is told by the last folder `scenarios` on the path as it is given, else on the path
 * without links and from the root of the file system: `cd scenarios/poison; metersim run x.scn`.
 */
#ifndef SIM_RUN_PATHS_H
#define SIM_RUN_PATHS_H

#include "core/base/arena.h"

/* All into arena; NULL: exhausted. */
const char *path_golden(const char *scenario, struct arena *arena);
/* name: below tests/data. */
const char *path_data(const char *scenario, const char *name, struct arena *arena);
/* The scenario as a golden names it: "scenarios/poison/x.scn"; elsewhere as it is given. */
const char *path_name(const char *scenario, struct arena *arena);

#endif

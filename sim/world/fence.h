/* Fences: one epoch for the writers' durable consumer and one for each kind of job (R-FENCE-1).
 *
 * A holder remembers the epoch it started under. Raising an epoch makes every older holder stale at
 * its next check; those that start afterwards are good. Each check passes the fault seam as step
 * Fence.
 */
#ifndef SIM_WORLD_FENCE_H
#define SIM_WORLD_FENCE_H

#include "core/port/ports.h"
#include "sim/fault/fault.h"

enum fence_kind { FENCE_WRITERS, FENCE_ROLLUP, FENCE_PARTITION, FENCE_RETENTION, FENCE_KIND_COUNT };

/* "writers", "rollup", "partition", "retention". */
const char *fence_kind_name(enum fence_kind kind);

/* The epochs of a run; all zero is the first. */
struct fences {
    uint64_t epoch[FENCE_KIND_COUNT];
};

/* Holders of older epochs are stale from now on. */
void fences_raise(struct fences *fences, enum fence_kind kind);

struct fence_holder {
    struct fence port;
    const struct fences *fences;
    enum fence_kind kind;
    uint64_t epoch;
    struct seam *seam;        /* NULL: no faults */
    struct store *seam_store; /* names the actor to the seam */
};

/* Starts under the current epoch. No free: it owns nothing. Call it again when the actor restarts.
 */
void fence_holder_init(struct fence_holder *holder, const struct fences *fences,
                       enum fence_kind kind, struct seam *seam, struct store *seam_store);

#endif

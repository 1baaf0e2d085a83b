#include "sim/world/fence.h"

#include "core/base/assert.h"
#include <inttypes.h>

const char *fence_kind_name(enum fence_kind kind)
{
    static const char *const names[FENCE_KIND_COUNT] = {"writers", "rollup", "partition",
                                                        "retention"};
    ASSERT(kind < FENCE_KIND_COUNT);
    return names[kind];
}

void fences_raise(struct fences *fences, enum fence_kind kind)
{
    ASSERT(fences && kind < FENCE_KIND_COUNT);
    fences->epoch[kind]++;
}

static enum status check(struct fence *port, struct err *err)
{
    struct fence_holder *holder = (struct fence_holder *)port;
    enum status status = STATUS_OK;
    if (holder->seam)
        status = seam_enter(holder->seam, holder->seam_store, "Fence", err);
    if (status != STATUS_OK)
        return status;
    uint64_t epoch = holder->fences->epoch[holder->kind];
    ASSERT(epoch >= holder->epoch);
    if (epoch != holder->epoch)
        status = err_set(err, STATUS_STALE, NULL,
                         "cannot go on: epoch %" PRIu64 " of the %s fence is over, it is %" PRIu64,
                         holder->epoch, fence_kind_name(holder->kind), epoch);
    if (holder->seam)
        status = seam_leave(holder->seam, holder->seam_store, "Fence", status, err);
    return status;
}

void fence_holder_init(struct fence_holder *holder, const struct fences *fences,
                       enum fence_kind kind, struct seam *seam, struct store *seam_store)
{
    ASSERT(holder && fences && kind < FENCE_KIND_COUNT);
    *holder = (struct fence_holder){
        .port = {check},
        .fences = fences,
        .kind = kind,
        .epoch = fences->epoch[kind],
        .seam = seam,
        .seam_store = seam_store,
    };
}

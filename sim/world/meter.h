/* Collects what core counts: outcomes of points and messages a tenant, counters, and judgements.
 *
 *   core ─► struct meter (one an actor) ─► struct meters (one a run) ─► expectations
 *                │ judged
 *                └─ kept until the commit really happens ─► truth (accounting identity)
 *
 * Outcomes are counted when core reports them, which it does when a commit is known (R-OUT-1). A
 * judgement is different: it is told inside the transaction, and it must reach the truth exactly
 * when that transaction commits, also when the reply is lost or the actor dies right after. So each
 * actor's real store (below the fault seam) is wrapped by meter_store_new, which sees the commit
 * itself.
 */
#ifndef SIM_WORLD_METER_H
#define SIM_WORLD_METER_H

#include "core/port/ports.h"
#include "core/store/call.h"
#include "sim/sched/sched.h"
#include "sim/world/names.h"
#include <stdio.h>

struct truth;
struct meters;

/* truth: told of committed judgements, purges and dropped partitions; NULL: nobody is. sched: for
 * the time of the commit; NULL: 0. */
struct meters *meters_new(struct truth *truth, struct sched *sched);
void meters_free(struct meters *meters);

/* The port of one actor; freed with meters. NULL: out of memory. */
struct meter *meter_new(struct meters *meters);
/* Wraps the real store of the meter's actor; freed with meters. inner must live as long as it is
 * called. An actor that restarts gets a new pair. */
struct store *meter_store_new(struct meter *meter, struct store *inner);

/* tenant NULL: all of them. */
uint64_t meters_points(const struct meters *meters, const struct uuid *tenant,
                       enum point_outcome outcome);
uint64_t meters_messages(const struct meters *meters, const struct uuid *tenant,
                         enum message_outcome outcome);
uint64_t meters_counter(const struct meters *meters, enum counter counter);

/* R-OUT-1: outcomes are reported for what was committed, once. Fewer than were committed only when
 * an actor did not learn of its commit (a lost reply, a crash). Writes a line for each that is
 * wrong, and returns their number. Needs the truth. */
size_t meters_check(const struct meters *meters, struct names *names, FILE *out);

/* Tenants met, sorted by uuid. */
const struct uuid *meters_tenants(const struct meters *meters, size_t *count);

#endif

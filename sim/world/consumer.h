/* A writer's side of the queue as core's port, through the fault seam: steps Pull, Ack, Retry,
 * Dead.
 *
 * Legal order: consumer_new, then from its actor any of the port's calls, then consumer_free. A
 * delivery that was not settled when the next pull begins is given up: it comes again after its ack
 * wait. A crash of the actor: consumer_crashed (the deliveries stay in flight until their ack wait
 * passes).
 */
#ifndef SIM_WORLD_CONSUMER_H
#define SIM_WORLD_CONSUMER_H

#include "core/port/ports.h"
#include "sim/fault/fault.h"
#include "sim/world/queue.h"

/* seam NULL: no faults, no trace, and then seam_store is not used. NULL: out of memory. */
struct consumer *consumer_new(struct queue *queue, struct seam *seam, struct store *seam_store);
void consumer_free(struct consumer *consumer);

/* pull gives STATUS_STOPPED from now on; wakes an actor that waits in it. */
void consumer_stop(struct consumer *consumer);
/* The actor is dead. The consumer may then be used by its successor. */
void consumer_crashed(struct consumer *consumer);

#endif

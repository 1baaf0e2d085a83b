/* The inside of a run, shared by the files of sim/run: everything that lives while one scenario
 * runs. */
#ifndef SIM_RUN_STAGE_H
#define SIM_RUN_STAGE_H

#include "core/jobs/jobs.h"
#include "core/writer/writer.h"
#include "sim/fault/fault.h"
#include "sim/run/agenda.h"
#include "sim/run/commit_log.h"
#include "sim/run/run.h"
#include "sim/world/collector.h"
#include "sim/world/consumer.h"
#include "sim/world/fence.h"
#include "sim/world/log.h"
#include "sim/world/meter.h"
#include "sim/world/names.h"
#include "sim/world/process.h"
#include "sim/world/publisher.h"
#include "sim/world/queue.h"
#include "sim/world/series.h"
#include "sim/world/truth.h"
#include "sim/world/vclock.h"

struct stage;

/* What a writer and a job have in common: a connection with its decorators, a clock, an actor.
 *
 *   core ─► seam (faults, trace) ─► meter store (judgements) ─► commit log ─► session
 */
struct connection {
    struct stage *stage;
    const char *name;
    struct actor *actor; /* NULL: not running */
    struct backend_session *session;
    struct store *log_store;
    struct meter *meter;
    struct store *metered;
    struct store *seam_store;
    struct vclock clock;
    struct fence_holder fence;
    bool dead; /* it crashed; what it owned is given back at its next start or at the end */
};

struct writer_actor {
    struct connection connection;
    struct consumer *consumer;
    struct writer *writer;
};

struct job_actor {
    struct connection connection;
    const struct scenario_job *plan;
    struct job *job;
    bool idle;    /* waits for its next run */
    bool due;     /* asked to run */
    bool stopped; /* does not run when its period comes */
};

/* api.purge_tenant as the control plane calls it: an actor, because it waits for open writers. */
struct purge_actor {
    struct connection connection;
    struct job *job;
    struct uuid tenant;
    bool keep_aggregates;
    struct purge_actor *next;
};

struct stage {
    const struct scenario *scenario;
    const struct run_options *options;
    struct run_result *result;
    struct rules rules;
    struct backend *backend;
    struct sched *sched;
    struct trace *trace;
    struct seam *seam;
    struct agenda agenda;
    struct queue *queue;
    struct names *names;
    struct truth *truth;
    struct meters *meters;
    struct log_book log;
    struct fences fences;
    struct commit_log commits;
    struct arena arena; /* of the run */
    struct writer_actor *writers;
    struct job_actor *jobs;
    struct purge_actor *purges;
    struct collector **collectors; /* the scenario's, then the default one */
    size_t collector_count;
    struct process **processes; /* replicas in a row, see process_first */
    size_t process_count;
    size_t *process_first; /* scenario process -> index of its first replica */
    struct series **series;
    struct series_maker maker;
    bool maker_ready;
    struct publisher *publisher;
    struct uuid *tenants; /* scenario tenant -> uuid */
    bool failed_hard;     /* the world could not go on: see the result's failures */
};

/* actors.c: writers and jobs. start: a new process of that name. */
bool writer_start(struct writer_actor *writer);
void writer_stop(struct writer_actor *writer); /* finishes its batch, then ends */
void writer_crash(struct writer_actor *writer);
bool job_start(struct job_actor *job);
void job_stop(struct job_actor *job);
void job_crash(struct job_actor *job);
void job_wake(struct job_actor *job); /* asks for one run */
void purge_start(struct stage *stage, const struct uuid *tenant, bool keep_aggregates);
void connection_close(struct connection *connection);
/* The initial partitions, but those that the scenario leaves out; at once, outside of actors. */
enum status stage_create_window(struct stage *stage, struct err *err);
void actors_free(struct stage *stage);
/* True while a job or a purge is in the middle of a run. */
bool job_busy(const struct job_actor *job);
bool jobs_busy(const struct stage *stage);

/* world.c: builds what the scenario declares. */
enum status stage_build(struct stage *stage, struct err *err);
void stage_tear_down(struct stage *stage);
void stage_convert_request(const struct scenario_request *from, struct bytes error_type,
                           struct request *to);

/* messages.c: one event each. */
void stage_send(struct stage *stage, const struct scenario_event *event);
void stage_deliver(struct stage *stage, const struct scenario_event *event);
void stage_send_again(struct stage *stage, const struct scenario_event *event);
/* Puts each point of a row on the agenda. False: out of memory. */
bool stage_schedule_points(struct stage *stage, const struct scenario_event *event);

/* events.c: what an event could not do is a failure of the run, at the place where it is written.
 */
void stage_event_done(struct stage *stage, const struct scenario_event *event, enum status status,
                      const struct err *err);
/* Puts the scenario's events, periods and faults on the agenda. */
void stage_schedule(struct stage *stage);

/* run.c: "file:line:column", for a failure. */
const char *stage_where(struct stage *stage, struct place place);

/* snapshot.c: every table now. label: "end", "20m". */
enum status stage_snapshot(struct stage *stage, const char *label, struct err *err);
/* The newest snapshot's tables without keeping it (expectations at a moment). */
enum status stage_tables(struct stage *stage, struct arena *arena, struct snapshot *out,
                         struct err *err);

/* expect.c: judges one expectation now. */
void stage_expect(struct stage *stage, const struct scenario_expect *expect, struct place place);

/* invariants.c: what must hold after every run (DESIGN 6). */
void stage_check_invariants(struct stage *stage);
/* What is open at the end of a run that drains: who is held, waits, or lies in the queue. */
void stage_check_left_open(struct stage *stage);
/* reference.c: replays the commit log in the naive model and compares. */
void stage_check_reference(struct stage *stage);

#endif

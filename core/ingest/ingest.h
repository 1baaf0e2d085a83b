/* The importer: real OTLP payloads into the tables, through the same writer that serves the queue.
 *
 *   ingest_plan_new -> [ingest_plan_now] -> ingest -> ingest_plan_free
 *
 * Each file is one message, JSON lines one a line. Files are taken in the order of their first
 * points: a cumulative point that comes after a newer one of its stream is not counted (R-PT-1),
 * and a shell sorts 10.pb before 2.pb. Lines stay in the order of their file. A message's id is the
 * SHA-256 of its bytes in lower-case hex, so importing the same file twice is harmless
 * (already_applied). Its tenant is the one its first resource names (scf.tenant.id). Core reads no
 * file: the caller hands in buffers.
 */
#ifndef CORE_INGEST_INGEST_H
#define CORE_INGEST_INGEST_H

#include "core/base/rules.h"
#include "core/base/settings.h"
#include "core/port/ports.h"
#include "core/store/store.h"

struct ingest_file {
    const char *name;   /* for the log */
    struct bytes bytes; /* protobuf, or JSON when the first byte is '{' or '[' */
};

struct ingest_ports {
    struct store *store;
    struct meter *meter; /* outcomes of points and messages */
    struct log *log;     /* "message_refused": file, message and reason of every dead letter */
};

struct ingest_summary {
    size_t messages;  /* in all files */
    size_t refused;   /* dead letters: nothing of them is in the tables */
    size_t abandoned; /* still refused for the moment after 5 deliveries; import again */
};

/* The messages of the files, looked at and put in order; nothing is written. The files must outlive
 * it. */
struct ingest_plan;
/* STATUS_INVALID: not one message can be read; err names the first and says why. Also too many
 * messages. STATUS_NO_MEMORY. */
enum status ingest_plan_new(const struct ingest_file *files, size_t file_count,
                            struct ingest_plan **out, struct err *err);
void ingest_plan_free(struct ingest_plan *plan);

/* The clock of an import that is made as of then: its newest point. STATUS_INVALID when no message
 * has a point, or when the oldest is more than 7 days before: R-DEC-5 would refuse good points for
 * one wrong clock, and a message that was applied without them is not applied again. */
enum status ingest_plan_now(const struct ingest_plan *plan, int64_t *now_ns, struct err *err);

/* now_ns: the writer's clock, above 0, which decides the window of points and partitions (R-DEC-5).
 * Makes the initial partitions of that window (MS "Partitions"), then applies every message, once
 * for a plan. settings: the retention keys may be unset. STATUS_OK also when messages were refused
 * or abandoned: see the summary. Other errors: the partitions could not be made, or out of memory;
 * what was committed before stays. */
enum status ingest(const struct settings *settings, struct rules rules,
                   const struct ingest_ports *ports, struct ingest_plan *plan, int64_t now_ns,
                   struct ingest_summary *summary, struct err *err);

#endif

/* The writer: pulls a batch, applies it in one transaction, acknowledges after the commit.
 *
 *   pull -> decode -> fence -> [ dedup tenant resources states caps routes | hour locks minutes marks
 *   states resources warnings ] -> commit -> ack / retry / dead
 *
 * MS "Writer", "Poison messages", "Writer state bounds"; R-PT, R-FIRST, R-CAP, R-TX, R-Q, R-OUT.
 * Blocks in port calls and knows no simulator. One writer is one thread or one actor.
 */
#ifndef CORE_WRITER_WRITER_H
#define CORE_WRITER_WRITER_H

#include "core/base/rules.h"
#include "core/base/settings.h"
#include "core/otlp/message.h"
#include "core/port/ports.h"
#include "core/store/store.h"

struct writer_ports {
    struct clock *clock;
    struct store *store;
    struct consumer *consumer;
    struct fence *fence;
    struct meter *meter;
    struct log *log;
};

struct writer;

/* format: of the payloads it will be given (the queue carries protobuf; the importer also JSON).
 * NULL when out of memory. The ports must outlive it. */
struct writer *writer_new(const struct settings *settings, struct rules rules,
                          const struct writer_ports *ports, enum payload_format format);
void writer_free(struct writer *writer);

/* One batch: pull, apply, acknowledge. *pulled: deliveries taken (0: nothing was there).
 * STATUS_OK also when the batch was put back for retry: that is an outcome, not an error.
 * STATUS_STALE: this writer's epoch is over; stop calling. Other errors: the consumer itself failed. */
enum status writer_run_once(struct writer *writer, size_t *pulled, struct err *err);

#endif

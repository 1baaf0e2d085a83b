/* The importer: real OTLP payloads into the tables, through the same writer that serves the queue.
 *
 * Each file is one message, JSON lines one a line, in the order given. A message's id is the
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
    const char *name;   /* for the log; "-" for standard input */
    struct bytes bytes; /* protobuf, or JSON when the first byte is '{' */
};

struct ingest_ports {
    struct store *store;
    struct meter *meter; /* outcomes of points and messages */
    struct log *log;     /* "message_refused": file, message and reason of every dead letter */
};

struct ingest_summary {
    int64_t now_ns;   /* the clock that was used */
    size_t messages;  /* in all files */
    size_t refused;   /* dead letters: nothing of them is in the tables */
    size_t abandoned; /* still refused for the moment after 5 deliveries; import again */
};

/* now_ns: the writer's clock, which decides the window of points and partitions (R-DEC-5); 0 takes
 * the newest point of the input. Makes the initial partitions of that window (MS "Partitions"),
 * then applies every message. settings: the retention keys may be unset. STATUS_OK also when
 * messages were refused or abandoned: see the summary. STATUS_INVALID: now_ns is 0 and no file has
 * a point. Other errors: the partitions could not be made, or out of memory; what was committed
 * before stays. */
enum status ingest(const struct settings *settings, struct rules rules,
                   const struct ingest_ports *ports, const struct ingest_file *files,
                   size_t file_count, int64_t now_ns, struct ingest_summary *summary,
                   struct err *err);

#endif

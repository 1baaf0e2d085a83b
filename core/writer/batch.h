/* The writer's own insides: one batch and the messages in it.
 *
 *   writer.c      pull, decode, dead-letter what fails its checks, hand slices on
 *   split.c       how much of a slice one transaction may hold
 *   poison.c      whole slice in one transaction; if refused, each message alone
 *   transaction.c the phases of one transaction, in the order of MS (work.h)
 *   settle.c      ack, retry or dead letter, and the counters, once the fate is known
 *
 * Lifetimes: `pull` holds the deliveries of one batch, `slice` the decoded messages of one slice,
 * `tx` all that one transaction needs. Each is rewound when its span begins anew.
 */
#ifndef CORE_WRITER_BATCH_H
#define CORE_WRITER_BATCH_H

#include "core/base/limits.h"
#include "core/writer/writer.h"

/* What poison.c must remember between batches: was another message applied lately (R-Q-3)? */
struct guard {
    uint8_t newest_id[LIMIT_MSG_ID_BYTES]; /* the message applied last */
    size_t newest_id_size;                 /* 0: none yet */
    int64_t newest_ns;
    bool has_other; /* a message with another id was applied, at */
    int64_t other_ns;
};

struct writer {
    struct settings settings;
    struct rules rules;
    struct writer_ports ports;
    enum payload_format format;
    struct decoder *decoder;
    struct sha256_hasher *hasher;
    struct arena pull;
    struct arena slice;
    struct arena tx;
    struct guard guard;
};

/* One delivery on its way through the batch. */
struct entry {
    const struct delivery *delivery;
    struct message message; /* when it was decoded */
    bool decided;           /* outcome is final; what is left is to settle it */
    bool settled;
    enum message_outcome outcome; /* within a transaction: what it will be once that commits */
    struct err err;               /* why, for a dead letter or a retry */
};

/* ---- split.c ---- */

/* How many of the entries, from the first one on, one transaction may hold: 1..count. */
size_t split_hours(struct writer *writer, const struct entry *entries, size_t count);

/* ---- transaction.c ---- */

/* Applies every undecided entry, in queue order, in one transaction; on STATUS_OK all are decided
 * and their points are counted. A removed tenant costs a rollback: its messages are dead_tenant and
 * the others are applied without them (R-TX-7). On any other status the undecided ones are as
 * before, nothing of them is stored (or, after 08006 at Commit, all of it may be), and err says
 * why. */
enum status transaction_apply(struct writer *writer, struct entry *entries, size_t count,
                              struct err *err);

/* ---- poison.c ---- */

/* Applies and settles entries: transaction_apply, and what MS "Poison messages" says when it is
 * refused. STATUS_OK, STATUS_STALE or STATUS_STOPPED (the undecided ones are put back), or the
 * consumer's error (the others were settled all the same). */
enum status poison_apply(struct writer *writer, struct entry *entries, size_t count,
                         struct err *err);

void guard_applied(struct guard *guard, struct bytes msg_id, int64_t now_ns);
/* A message other than msg_id was applied by this writer in the last 10 minutes. */
bool guard_met(const struct guard *guard, struct bytes msg_id, int64_t now_ns);

/* ---- settle.c ---- */

/* Decides an entry: outcome and the reason (NULL: none). */
void entry_decide(struct entry *entry, enum message_outcome outcome, const struct err *why);

/* Acknowledges, puts back or dead-letters decided entries that are not settled yet, in order, and
 * counts their outcomes. The first error of the consumer is returned, after all were tried. */
enum status settle(struct writer *writer, struct entry *entries, size_t count, struct err *err);

/* Decides every undecided entry as a retry and settles all. */
enum status settle_put_back(struct writer *writer, struct entry *entries, size_t count,
                            const struct err *why, struct err *err);

/* 10 20 40 80 80 ... s by the queue's delivery count (R-Q-1). */
int64_t backoff_ns(int deliveries);

#endif

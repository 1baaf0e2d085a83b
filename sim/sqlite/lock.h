/* The lock table: what PostgreSQL's lock manager does, for one process. Transaction ids, row turns,
 * advisory locks and relations are all locks here, with one queue rule and one deadlock rule.
 *
 *   transaction  held X by its transaction; whoever must wait for its end asks for S
 *   turn         X, the first in line for one committed version of a row (PostgreSQL's tuple lock)
 *   advisory     S or X, by the 64-bit id
 *   relation     S by whoever touched a table that is or was locked, X by lock table
 *
 * A request is granted when it conflicts neither with holders nor with requests ahead of it; a
 * release grants from the head of the queue (PostgreSQL: ProcSleep, ProcLockWakeup). Lists keep the
 * order of arrival; nothing depends on an address.
 */
#ifndef SIM_SQLITE_LOCK_H
#define SIM_SQLITE_LOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum lock_space { LOCK_TRANSACTION, LOCK_TURN, LOCK_ADVISORY, LOCK_RELATION };
enum lock_mode { LOCK_SHARED = 1, LOCK_EXCLUSIVE = 2 }; /* bits of lock_hold.modes */

struct lock_tag {
    enum lock_space space;
    uint32_t table;     /* TURN: the table's number */
    uint64_t id;        /* transaction, advisory id, table's number, or hash of the row's key */
    uint64_t version;   /* TURN: 0 for the row's committed version of now */
    const uint8_t *key; /* TURN: the row's key; copied */
    size_t key_size;
};

struct lock;
struct lock_hold {
    struct lock *lock;
    struct locker *locker;
    unsigned modes;
    struct lock_hold *next;        /* of the lock, in order of arrival */
    struct lock_hold *locker_next; /* of the locker, newest first */
};

/* One that holds and waits: a session. Zero is a locker without locks. */
struct locker {
    struct lock_hold *holds;
    struct lock *waits_for; /* NULL: it does not wait */
    enum lock_mode wait_mode;
    struct locker *queue_next;
    bool granted; /* its wait ended; the caller clears it */
    uint64_t visit;
};

struct lock_table;
struct lock_table *lock_table_new(void); /* NULL: out of memory */
void lock_table_free(struct lock_table *table);
/* Forgets every lock. No locker may be used afterwards without zeroing it. */
void lock_table_clear(struct lock_table *table);

enum lock_answer {
    LOCK_GRANTED,
    LOCK_BLOCKED,     /* queued: waits_for is set until it is granted or lock_abandon */
    LOCK_UNAVAILABLE, /* it would have to wait and may not; also behind a conflicting waiter */
    LOCK_FULL,        /* out of LIMIT_LOCKS or of memory: 53200 */
};
/* Granted again at once when the locker already holds this mode. */
enum lock_answer lock_acquire(struct lock_table *table, struct locker *locker,
                              const struct lock_tag *tag, enum lock_mode mode, bool wait);
/* Gives one lock back, in all modes; nothing when it is not held. */
void lock_release(struct lock_table *table, struct locker *locker, const struct lock_tag *tag);
/* Gives back the turns it holds, retired ones too. */
void lock_release_turns(struct lock_table *table, struct locker *locker);
void lock_release_all(struct lock_table *table, struct locker *locker);
/* Leaves the queue it waits in, if any. */
void lock_abandon(struct lock_table *table, struct locker *locker);

/* The row has a new committed version: turns for the old one stay, new requests start a new queue.
 * Cheap when no turn is held. */
void lock_turn_retire(struct lock_table *table, const struct lock_tag *turn);
bool lock_turns_held(const struct lock_table *table);

/* True when locker waits, directly or through others, for itself. Holders and the conflicting
 * requests ahead count, as in pg_blocking_pids. */
bool lock_deadlocked(struct lock_table *table, struct locker *locker);

/* True when a wait was ended since the last call: some locker's granted was set. */
bool lock_take_granted(struct lock_table *table);

#endif

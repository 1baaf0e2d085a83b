/* What the files of this folder share. Others include overlay.h.
 *
 *   overlay.c   connection, reset, sessions        step.c    one statement, by its kind
 *   session.c   begin, commit, rollback, waits     range.c   deletes row by row
 *   repair.c    old images in and out again        select.c  insert ... select in two steps
 *   hook.c      the preupdate hook                 agreed.c  hours that need no comparison
 *   catalog, row_log, image, lock: see their headers
 */
#ifndef SIM_SQLITE_INTERNAL_H
#define SIM_SQLITE_INTERNAL_H

#include "sim/sqlite/agreed.h"
#include "sim/sqlite/catalog.h"
#include "sim/sqlite/image.h"
#include "sim/sqlite/lock.h"
#include "sim/sqlite/overlay.h"
#include "sim/sqlite/row_log.h"

/* A row that a statement is about to change, and what others did to it since the statement began.
 */
struct target {
    struct row_key key;
    size_t offset; /* of the key in targets.bytes while that still grows */
    bool changed;  /* it has a new committed version since the statement began */
    bool moved;    /* the same, since its turn was asked for */
    bool gone;     /* the version that the statement saw was deleted */
    bool in_turn;  /* the session holds the row's turn */
};
struct targets {
    struct target *items;
    size_t count;
    size_t capacity;
    struct image_buffer bytes;
};

struct overlay_session {
    struct sqlite_exec exec; /* first: a session is an exec */
    struct overlay *overlay;
    struct overlay_session *next; /* in order of creation */
    struct store *store;
    char *actor;

    bool open;            /* in a transaction */
    uint64_t transaction; /* its number */
    struct row_list rows;
    uint64_t touched;   /* tables read or written: held in access share or more until the end */
    uint64_t exclusive; /* tables held in access exclusive mode */

    struct locker locker;
    struct actor *waiter; /* the actor that waits, or has not run since; NULL when none does */
    bool ready;           /* its wait ended */
    uint64_t cuts;        /* connections cut so far */
    struct targets targets;
    struct image_buffer key; /* of the statement that runs */
    struct uuid uuid;        /* of uuid_text */
    bool has_uuid;
    char uuid_text[UUID_TEXT_SIZE + 1];
};

/* What the preupdate hook does with a row. */
enum hook_mode {
    HOOK_OFF,     /* nothing: a read, or images on the move */
    HOOK_KEYED,   /* logs the one row whose key is known */
    HOOK_LOG,     /* logs the row, whichever it is */
    HOOK_COLLECT, /* adds its key to the session's targets */
};
struct hook {
    enum hook_mode mode;
    struct overlay_session *session;
    struct row_key key;      /* KEYED */
    struct row_entry *entry; /* KEYED: the session's entry for it, NULL while there is none */
    const char *table_name;  /* SQLite's pointer for the last table, and what it means */
    const struct table *table;
    struct image_buffer scratch;
    bool failed;   /* out of memory */
    bool conflict; /* a row that another transaction holds was changed */
};

/* What is known about a part of a query, found once. */
struct split;
#define PLAN_TABLES_MAX 8
struct plan {
    const struct query_part *part;
    const struct table *table; /* NULL: none */
    uint64_t reads;            /* tables whose rows are seen, not only addressed by the key */
    bool keyed;                /* INSERT, UPSERT: the key is known from the parameters */
    uint64_t touches;
    uint64_t order[PLAN_TABLES_MAX]; /* its bits in the order of PostgreSQL's locks: target first */
    int table_count;
    struct split *split; /* in two halves, made when first needed */
};
/* The rows that a statement may look at. */
struct scope {
    uint64_t tables;
    uint32_t table;        /* of this one only rows whose key begins with the prefix */
    const uint8_t *prefix; /* bytes of a key (image.h) */
    size_t prefix_size;    /* 0: all rows */
};
#define PLAN_SLOTS 512 /* a power of two, more than twice the parts of all queries */

struct repair_item {
    const struct row_entry *entry;
    size_t offset; /* of the new image in bytes */
    bool found;    /* false: no row now */
};
struct repair {
    struct repair_item *items;
    size_t count;
    size_t capacity;
    struct image_buffer bytes;
};

struct overlay {
    sqlite3 *db;
    struct sqlite_statements *statements;
    struct catalog catalog;
    struct plan plans[PLAN_SLOTS];
    sqlite3_stmt *savepoint, *back, *release;

    struct sched *sched;
    struct overlay_events events;

    struct overlay_session *sessions;
    uint64_t transactions; /* begun so far */
    uint64_t exclusive;    /* tables locked in access exclusive mode */
    struct row_log log;
    struct lock_table *locks;
    struct hook hook;
    struct repair repair;
    struct agreed agreed;
    const struct table *minute_table; /* whose changes end an agreement */
    const struct table *hourly_table;
    bool broken; /* an image could not be moved: only overlay_reset helps */
};

/* ---- session.c ---- */
extern const struct sqlite_exec_ops session_ops;
/* Undoes and releases; nothing when no transaction is open. */
void session_undo(struct overlay_session *session);
/* 08006. */
enum status session_lost(const struct overlay_session *session, struct err *err);
/* Takes a lock, waiting for it; *waited is set when it did. 40P01 when that closes a cycle, 55P03
 * when nobody may wait, 08006 when the connection was cut meanwhile. */
enum status session_lock(struct overlay_session *session, const struct lock_tag *tag,
                         enum lock_mode mode, bool *waited, struct err *err);
/* Waits for the end of another session's transaction. */
enum status session_wait_for(struct overlay_session *session, struct overlay_session *other,
                             bool *waited, struct err *err);
/* Tells those whose wait has ended, in order of creation. After every release. */
void session_wake_granted(struct overlay *overlay);

/* ---- step.c ---- */
enum status session_step(struct sqlite_exec *exec, struct sqlite_step *step, struct err *err);
/* Runs a statement to its end with the hook in mode, calling row for its rows; *changes may be
 * NULL. */
enum status statement_run(struct overlay_session *session, sqlite3_stmt *statement,
                          const struct sqlite_step *step, enum hook_mode mode, int64_t *changes,
                          struct err *err);
/* What the step may look at: plan->reads, of its own table the rows with the key given. Points into
 * the session's key buffer. */
struct scope scope_of(struct overlay_session *session, const struct plan *plan,
                      const struct sqlite_step *step);
/* Has another open transaction an entry in the scope's table, changed or locked? */
bool foreign_entries(const struct overlay_session *session, const struct scope *scope);

/* How a statement treats a row that another transaction holds. */
enum claim_mode {
    CLAIM_INSERT, /* insert: waits for a change, not for a lock */
    CLAIM_UPSERT, /* insert ... on conflict do update */
    CLAIM_DELETE, /* waits in line; gone when the version it saw was deleted */
};
/* Waits until no other transaction holds the row. target->gone may be set by CLAIM_DELETE. */
enum status row_claim(struct overlay_session *session, struct target *target, enum claim_mode mode,
                      bool *waited, struct err *err);
/* Gives the turn of the row back, if it was taken. After the row's change. */
void row_claimed(struct overlay_session *session, const struct target *target);
/* The session's own entry for the row, or a new one that only locks it; NULL: out of memory. */
struct row_entry *row_lock(struct overlay_session *session, const struct row_key *key);
/* An upsert that found its row and left it alone has locked it all the same. */
enum status row_lock_untouched(struct overlay_session *session, const struct plan *plan,
                               const struct row_key *key, struct err *err);

/* ---- range.c, select.c ---- */
enum status range_delete(struct overlay_session *session, const struct plan *plan,
                         struct sqlite_step *step, struct err *err);
enum status insert_select(struct overlay_session *session, struct plan *plan,
                          struct sqlite_step *step, struct err *err);
void split_free(struct split *split);

/* ---- hook.c ---- */
void hook_install(struct overlay *overlay);
bool targets_add(struct targets *targets, uint32_t table, const uint8_t *key, size_t size);
void targets_clear(struct targets *targets);
void targets_free(struct targets *targets);
/* Row keys point into the buffer once it no longer grows. */
void targets_settle(struct targets *targets);

/* ---- repair.c ---- */
/* Puts the old images of other transactions' rows in the scope in place, if there are any. */
void repair_begin(struct overlay_session *session, const struct scope *scope);
/* Puts the new images back. */
void repair_end(struct overlay *overlay);
/* Writes the session's old images for good. */
void repair_undo(struct overlay_session *session);
enum status overlay_broken(struct overlay *overlay, struct err *err);

#endif

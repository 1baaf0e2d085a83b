#include "sim/sqlite/lock.h"

#include "core/base/assert.h"
#include "sim/limits.h"
#include <stdlib.h>
#include <string.h>

#define BUCKETS 1024 /* a power of two */

struct lock {
    struct lock_tag tag; /* key points behind the struct */
    struct lock_hold *holds;
    struct locker *queue;
    struct lock *bucket_next;
    uint8_t key[];
};

struct lock_table {
    struct lock *buckets[BUCKETS];
    struct lock_hold *free_holds;
    size_t lock_count;
    size_t turn_count;
    uint64_t retired; /* the last version given to a retired turn */
    uint64_t visit;
    bool granted;
};

struct lock_table *lock_table_new(void)
{
    return calloc(1, sizeof(struct lock_table));
}

void lock_table_clear(struct lock_table *table)
{
    for (size_t i = 0; i < BUCKETS; i++) {
        while (table->buckets[i]) {
            struct lock *lock = table->buckets[i];
            table->buckets[i] = lock->bucket_next;
            while (lock->holds) {
                struct lock_hold *hold = lock->holds;
                lock->holds = hold->next;
                hold->next = table->free_holds;
                table->free_holds = hold;
            }
            free(lock);
        }
    }
    table->lock_count = table->turn_count = 0;
    table->granted = false;
}

void lock_table_free(struct lock_table *table)
{
    if (!table)
        return;
    lock_table_clear(table);
    while (table->free_holds) {
        struct lock_hold *hold = table->free_holds;
        table->free_holds = hold->next;
        free(hold);
    }
    free(table);
}

static struct lock **bucket_of(struct lock_table *table, const struct lock_tag *tag)
{
    uint64_t mix = tag->id ^ ((uint64_t)tag->space << 56) ^ ((uint64_t)tag->table << 40);
    mix *= UINT64_C(0x9E3779B97F4A7C15);
    return &table->buckets[mix >> 54];
}

static bool tag_equal(const struct lock_tag *a, const struct lock_tag *b)
{
    return a->space == b->space && a->id == b->id && a->table == b->table &&
           a->version == b->version && a->key_size == b->key_size &&
           (a->key_size == 0 || memcmp(a->key, b->key, a->key_size) == 0);
}

static struct lock *find(const struct lock_table *table, const struct lock_tag *tag)
{
    struct lock *lock = *bucket_of((struct lock_table *)table, tag);
    while (lock && !tag_equal(&lock->tag, tag))
        lock = lock->bucket_next;
    return lock;
}

static struct lock *find_or_add(struct lock_table *table, const struct lock_tag *tag)
{
    struct lock *lock = find(table, tag);
    if (lock)
        return lock;
    if (table->lock_count >= LIMIT_LOCKS)
        return NULL;
    lock = malloc(sizeof *lock + tag->key_size);
    if (!lock)
        return NULL;
    struct lock **bucket = bucket_of(table, tag);
    *lock = (struct lock){.tag = *tag, .bucket_next = *bucket};
    lock->tag.key = lock->key;
    if (tag->key_size > 0)
        memcpy(lock->key, tag->key, tag->key_size);
    *bucket = lock;
    table->lock_count++;
    table->turn_count += tag->space == LOCK_TURN;
    return lock;
}

static void drop_if_unused(struct lock_table *table, struct lock *lock)
{
    if (lock->holds || lock->queue)
        return;
    struct lock **link = bucket_of(table, &lock->tag);
    while (*link != lock)
        link = &(*link)->bucket_next;
    *link = lock->bucket_next;
    ASSERT(table->lock_count > 0);
    table->lock_count--;
    table->turn_count -= lock->tag.space == LOCK_TURN;
    free(lock);
}

static bool modes_conflict(unsigned modes, enum lock_mode mode)
{
    return (modes & LOCK_EXCLUSIVE) != 0 || (mode == LOCK_EXCLUSIVE && modes != 0);
}

static struct lock_hold *hold_of(const struct lock *lock, const struct locker *locker)
{
    struct lock_hold *hold = lock->holds;
    while (hold && hold->locker != locker)
        hold = hold->next;
    return hold;
}

/* Does somebody else hold it in a mode that conflicts? */
static bool held_against(const struct lock *lock, const struct locker *locker, enum lock_mode mode)
{
    for (const struct lock_hold *hold = lock->holds; hold; hold = hold->next)
        if (hold->locker != locker && modes_conflict(hold->modes, mode))
            return true;
    return false;
}

static unsigned queued_modes(const struct lock *lock)
{
    unsigned modes = 0;
    for (const struct locker *waiter = lock->queue; waiter; waiter = waiter->queue_next)
        modes |= waiter->wait_mode;
    return modes;
}

static bool grant(struct lock_table *table, struct lock *lock, struct locker *locker,
                  enum lock_mode mode)
{
    struct lock_hold *hold = hold_of(lock, locker);
    if (hold) {
        hold->modes |= mode;
        return true;
    }
    hold = table->free_holds;
    if (hold)
        table->free_holds = hold->next;
    else
        hold = malloc(sizeof *hold);
    if (!hold)
        return false;
    *hold = (struct lock_hold){
        .lock = lock, .locker = locker, .modes = mode, .locker_next = locker->holds};
    struct lock_hold **tail = &lock->holds;
    while (*tail)
        tail = &(*tail)->next;
    *tail = hold;
    locker->holds = hold;
    return true;
}

/* The place in the queue: the end, but one who already holds the lock goes before the first request
 * that has to wait for him. *at_once: nothing ahead of that place, and no holder, is in the way. */
static struct locker **queue_place(struct lock *lock, const struct locker *locker,
                                   enum lock_mode mode, bool *at_once)
{
    const struct lock_hold *mine = hold_of(lock, locker);
    unsigned ahead = 0;
    struct locker **place = &lock->queue;
    *at_once = false;
    for (; *place; place = &(*place)->queue_next) {
        if (mine && modes_conflict(mine->modes, (*place)->wait_mode)) {
            *at_once = !modes_conflict(ahead, mode) && !held_against(lock, locker, mode);
            return place;
        }
        ahead |= (*place)->wait_mode;
    }
    return place;
}

enum lock_answer lock_acquire(struct lock_table *table, struct locker *locker,
                              const struct lock_tag *tag, enum lock_mode mode, bool wait)
{
    ASSERT(!wait || (!locker->waits_for && !locker->granted));
    ASSERT(mode == LOCK_SHARED || mode == LOCK_EXCLUSIVE);
    struct lock *lock = find_or_add(table, tag);
    if (!lock)
        return LOCK_FULL;
    const struct lock_hold *mine = hold_of(lock, locker);
    if (mine && (mine->modes & mode) != 0)
        return LOCK_GRANTED;
    bool at_once = !modes_conflict(queued_modes(lock), mode) && !held_against(lock, locker, mode);
    struct locker **place = NULL;
    if (!at_once && !wait) {
        drop_if_unused(table, lock);
        return LOCK_UNAVAILABLE;
    }
    if (!at_once)
        place = queue_place(lock, locker, mode, &at_once);
    if (at_once) {
        bool done = grant(table, lock, locker, mode);
        drop_if_unused(table, lock);
        return done ? LOCK_GRANTED : LOCK_FULL;
    }
    locker->waits_for = lock;
    locker->wait_mode = mode;
    locker->queue_next = *place;
    *place = locker;
    return LOCK_BLOCKED;
}

/* Grants from the head of the queue what conflicts neither with holders nor with those still ahead.
 */
static void grant_queue(struct lock_table *table, struct lock *lock)
{
    unsigned ahead = 0;
    struct locker **link = &lock->queue;
    while (*link) {
        struct locker *waiter = *link;
        if (modes_conflict(ahead, waiter->wait_mode) ||
            held_against(lock, waiter, waiter->wait_mode) ||
            !grant(table, lock, waiter, waiter->wait_mode)) {
            ahead |= waiter->wait_mode;
            link = &waiter->queue_next;
            continue;
        }
        *link = waiter->queue_next;
        waiter->queue_next = NULL;
        waiter->waits_for = NULL;
        waiter->granted = true;
        table->granted = true;
    }
}

/* Takes hold out of its lock's list; its locker's list is the caller's. */
static void give_back(struct lock_table *table, struct lock_hold *hold)
{
    struct lock *lock = hold->lock;
    struct lock_hold **link = &lock->holds;
    while (*link != hold)
        link = &(*link)->next;
    *link = hold->next;
    hold->next = table->free_holds;
    table->free_holds = hold;
    grant_queue(table, lock);
    drop_if_unused(table, lock);
}

void lock_release(struct lock_table *table, struct locker *locker, const struct lock_tag *tag)
{
    for (struct lock_hold **link = &locker->holds; *link; link = &(*link)->locker_next) {
        struct lock_hold *hold = *link;
        if (!tag_equal(&hold->lock->tag, tag))
            continue;
        *link = hold->locker_next;
        give_back(table, hold);
        return;
    }
}

void lock_release_turns(struct lock_table *table, struct locker *locker)
{
    struct lock_hold **link = &locker->holds;
    while (*link) {
        struct lock_hold *hold = *link;
        if (hold->lock->tag.space != LOCK_TURN) {
            link = &hold->locker_next;
            continue;
        }
        *link = hold->locker_next;
        give_back(table, hold);
    }
}

void lock_release_all(struct lock_table *table, struct locker *locker)
{
    ASSERT(!locker->waits_for);
    while (locker->holds) {
        struct lock_hold *hold = locker->holds;
        locker->holds = hold->locker_next;
        give_back(table, hold);
    }
}

void lock_abandon(struct lock_table *table, struct locker *locker)
{
    struct lock *lock = locker->waits_for;
    locker->granted = false;
    if (!lock)
        return;
    struct locker **link = &lock->queue;
    while (*link != locker)
        link = &(*link)->queue_next;
    *link = locker->queue_next;
    locker->queue_next = NULL;
    locker->waits_for = NULL;
    grant_queue(table, lock);
    drop_if_unused(table, lock);
}

void lock_turn_retire(struct lock_table *table, const struct lock_tag *turn)
{
    ASSERT(turn->space == LOCK_TURN && turn->version == 0);
    struct lock *lock = table->turn_count > 0 ? find(table, turn) : NULL;
    if (lock)
        lock->tag.version = ++table->retired;
}

bool lock_turns_held(const struct lock_table *table)
{
    return table->turn_count > 0;
}

/* Depth-first from locker over everyone it waits for; true when that reaches target. */
static bool reaches(struct lock_table *table, struct locker *locker, const struct locker *target)
{
    const struct lock *lock = locker->waits_for;
    if (!lock || locker->visit == table->visit)
        return false;
    locker->visit = table->visit;
    for (const struct lock_hold *hold = lock->holds; hold; hold = hold->next) {
        if (hold->locker == locker || !modes_conflict(hold->modes, locker->wait_mode))
            continue;
        if (hold->locker == target || reaches(table, hold->locker, target))
            return true;
    }
    for (struct locker *ahead = lock->queue; ahead != locker; ahead = ahead->queue_next) {
        if (!modes_conflict(ahead->wait_mode, locker->wait_mode))
            continue;
        if (ahead == target || reaches(table, ahead, target))
            return true;
    }
    return false;
}

bool lock_deadlocked(struct lock_table *table, struct locker *locker)
{
    table->visit++;
    return reaches(table, locker, locker);
}

bool lock_take_granted(struct lock_table *table)
{
    bool granted = table->granted;
    table->granted = false;
    return granted;
}

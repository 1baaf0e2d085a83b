/* Memory by lifetime: one arena a process, one a batch (rewound). There is no free for one piece.
 *
 * Legal order: arena_init, then any of alloc/mark/rewind, then arena_free.
 * Exhaustion is an error that the caller handles (hostile input), not a crash.
 */
#ifndef CORE_BASE_ARENA_H
#define CORE_BASE_ARENA_H

#include <stddef.h>

struct arena_chunk;

struct arena {
    struct arena_chunk *head; /* the chunk in use, newest first */
    size_t used;              /* bytes handed out */
    size_t limit;             /* bytes that may be handed out */
};

/* limit: the most bytes that may be handed out at once. Allocates nothing yet. */
void arena_init(struct arena *arena, size_t limit);

/* Gives all memory back. The arena may be used again after arena_init. */
void arena_free(struct arena *arena);

/* Forgets all pieces; keeps the newest (largest) chunk for reuse. Pointers into it are dead. */
void arena_rewind(struct arena *arena);

/* size bytes, aligned to 16, not zeroed; NULL when the limit or the machine is exhausted. */
void *arena_alloc(struct arena *arena, size_t size);

/* count * size bytes, zeroed; NULL also when the product overflows. */
void *arena_array(struct arena *arena, size_t count, size_t size);

/* A copy of size bytes with a NUL behind it; NULL when exhausted. */
void *arena_copy(struct arena *arena, const void *data, size_t size);

#endif

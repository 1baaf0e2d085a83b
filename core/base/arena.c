/* A chain of chunks, newest first, each at least as large as the one before it:
 *
 *   arena.head -> [ header | pieces ... | free ] -> [ header | pieces ... ] -> NULL
 *
 * Pieces are cut from the newest chunk only. Under AddressSanitizer the free part of a chunk is
 * poisoned, so that a pointer kept over a rewind is found.
 */
#include "core/base/arena.h"
#include "core/base/assert.h"
#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__)
#define ARENA_POISON 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ARENA_POISON 1
#endif
#endif

#ifdef ARENA_POISON
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(address, size)   ((void)(address), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#endif

#define PIECE_ALIGN    16
#define CHUNK_MIN      ((size_t)16 * 1024)
#define CHUNK_GROW_MAX ((size_t)8 * 1024 * 1024) /* doubling stops here */

struct arena_chunk {
    struct arena_chunk *older;
    size_t size; /* bytes behind the header */
    size_t used;
    alignas(PIECE_ALIGN) unsigned char data[];
};

void arena_init(struct arena *arena, size_t limit)
{
    ASSERT(arena);
    *arena = (struct arena){.limit = limit};
}

static void chunk_free(struct arena_chunk *chunk)
{
    ASAN_UNPOISON_MEMORY_REGION(chunk->data, chunk->size);
    free(chunk);
}

void arena_free(struct arena *arena)
{
    ASSERT(arena);
    for (struct arena_chunk *chunk = arena->head, *older; chunk; chunk = older) {
        older = chunk->older;
        chunk_free(chunk);
    }
    *arena = (struct arena){0};
}

void arena_rewind(struct arena *arena)
{
    ASSERT(arena);
    arena->used = 0;
    if (!arena->head)
        return;
    for (struct arena_chunk *chunk = arena->head->older, *older; chunk; chunk = older) {
        older = chunk->older;
        chunk_free(chunk);
    }
    arena->head->older = NULL;
    arena->head->used = 0;
    ASAN_POISON_MEMORY_REGION(arena->head->data, arena->head->size);
}

/* A new head with room for need bytes; false when the machine has no more. */
static bool chunk_add(struct arena *arena, size_t need)
{
    size_t size = CHUNK_MIN;
    if (arena->head) {
        size_t doubled = arena->head->size * 2;
        size_t grown = doubled < CHUNK_GROW_MAX ? doubled : CHUNK_GROW_MAX;
        size = arena->head->size > grown ? arena->head->size : grown;
    }
    if (size < need)
        size = need;
    if (size > SIZE_MAX - sizeof(struct arena_chunk))
        return false;
    struct arena_chunk *chunk = malloc(sizeof *chunk + size);
    if (!chunk)
        return false;
    chunk->older = arena->head;
    chunk->size = size;
    chunk->used = 0;
    ASAN_POISON_MEMORY_REGION(chunk->data, size);
    arena->head = chunk;
    return true;
}

void *arena_alloc(struct arena *arena, size_t size)
{
    ASSERT(arena);
    ASSERT(arena->used <= arena->limit);
    if (size > SIZE_MAX - PIECE_ALIGN)
        return NULL;
    size_t piece = size == 0 ? PIECE_ALIGN : (size + PIECE_ALIGN - 1) / PIECE_ALIGN * PIECE_ALIGN;
    if (piece > arena->limit - arena->used)
        return NULL;
    if (!arena->head || piece > arena->head->size - arena->head->used)
        if (!chunk_add(arena, piece))
            return NULL;
    unsigned char *data = arena->head->data + arena->head->used;
    arena->head->used += piece;
    arena->used += piece;
    ASAN_UNPOISON_MEMORY_REGION(data, size);
    return data;
}

void *arena_array(struct arena *arena, size_t count, size_t size)
{
    size_t total;
    if (__builtin_mul_overflow(count, size, &total))
        return NULL;
    void *data = arena_alloc(arena, total);
    if (data)
        memset(data, 0, total);
    return data;
}

void *arena_copy(struct arena *arena, const void *data, size_t size)
{
    ASSERT(data || size == 0);
    if (size == SIZE_MAX)
        return NULL;
    unsigned char *copy = arena_alloc(arena, size + 1);
    if (!copy)
        return NULL;
    if (size)
        memcpy(copy, data, size);
    copy[size] = '\0';
    return copy;
}

#include "sim/base/heap.h"

#include "core/base/assert.h"
#include <stdlib.h>

static bool before(const struct heap_item *a, const struct heap_item *b)
{
    if (a->time_ns != b->time_ns)
        return a->time_ns < b->time_ns;
    return a->sequence < b->sequence;
}

static bool grow(struct heap *heap)
{
    size_t capacity = heap->capacity ? 2 * heap->capacity : 64;
    struct heap_item *items = realloc(heap->items, capacity * sizeof *items);
    if (!items)
        return false;
    heap->items = items;
    heap->capacity = capacity;
    return true;
}

void heap_init(struct heap *heap)
{
    *heap = (struct heap){0};
}

void heap_free(struct heap *heap)
{
    free(heap->items);
    heap_init(heap);
}

bool heap_push(struct heap *heap, int64_t time_ns, void *payload, void *argument)
{
    if (heap->count == heap->capacity && !grow(heap))
        return false;
    struct heap_item item = {time_ns, heap->next_sequence++, payload, argument};
    size_t hole = heap->count++;
    while (hole > 0) {
        size_t parent = (hole - 1) / 2;
        if (!before(&item, &heap->items[parent]))
            break;
        heap->items[hole] = heap->items[parent];
        hole = parent;
    }
    heap->items[hole] = item;
    return true;
}

const struct heap_item *heap_peek(const struct heap *heap)
{
    return heap->count > 0 ? &heap->items[0] : NULL;
}

struct heap_item heap_pop(struct heap *heap)
{
    ASSERT(heap->count > 0);
    struct heap_item top = heap->items[0];
    struct heap_item last = heap->items[--heap->count];
    size_t hole = 0;
    for (;;) {
        size_t child = 2 * hole + 1;
        if (child >= heap->count)
            break;
        if (child + 1 < heap->count && before(&heap->items[child + 1], &heap->items[child]))
            child++;
        if (!before(&heap->items[child], &last))
            break;
        heap->items[hole] = heap->items[child];
        hole = child;
    }
    if (heap->count > 0)
        heap->items[hole] = last;
    return top;
}

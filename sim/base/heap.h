/* A binary heap of timers, ordered by (time, sequence): equal times come out in order of insertion. */
#ifndef SIM_BASE_HEAP_H
#define SIM_BASE_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct heap_item {
    int64_t time_ns;
    uint64_t sequence; /* given by heap_push */
    void *payload;
    void *argument;
};

struct heap {
    struct heap_item *items;
    size_t count;
    size_t capacity;
    uint64_t next_sequence;
};

void heap_init(struct heap *heap);
void heap_free(struct heap *heap);
/* False when out of memory. */
bool heap_push(struct heap *heap, int64_t time_ns, void *payload, void *argument);
const struct heap_item *heap_peek(const struct heap *heap); /* NULL when empty */
struct heap_item heap_pop(struct heap *heap);               /* count > 0 */

#endif

#include "sim/ref/list.h"

#include "core/base/assert.h"
#include <stdlib.h>
#include <string.h>

void *must_alloc(size_t size)
{
    void *memory = calloc(1, size > 0 ? size : 1);
    ASSERT(memory);
    return memory;
}

struct bytes must_copy(struct bytes bytes)
{
    uint8_t *data = must_alloc(bytes.size + 1);
    if (bytes.size > 0)
        memcpy(data, bytes.data, bytes.size);
    return (struct bytes){data, bytes.size};
}

void *list_add(struct list *list, const void *item, size_t size)
{
    if (list->count == list->capacity) {
        list->capacity = list->capacity > 0 ? 2 * list->capacity : 16;
        list->items = realloc(list->items, list->capacity * size);
        ASSERT(list->items);
    }
    void *place = (char *)list->items + list->count++ * size;
    memcpy(place, item, size);
    return place;
}

void list_remove(struct list *list, size_t n, size_t size)
{
    ASSERT(n < list->count);
    char *place = (char *)list->items + n * size;
    list->count--;
    memmove(place, place + size, (list->count - n) * size);
}

void list_free(struct list *list)
{
    free(list->items);
    *list = (struct list){0};
}

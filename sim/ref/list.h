/* A list that grows, and memory that ends the simulator when there is none. Private to sim/ref. */
#ifndef SIM_REF_LIST_H
#define SIM_REF_LIST_H

#include "core/base/bytes.h"
#include <stddef.h>

struct list {
    void *items;
    size_t count;
    size_t capacity;
};

/* size bytes, zeroed. Never NULL. */
void *must_alloc(size_t size);
/* A copy with a NUL behind it. */
struct bytes must_copy(struct bytes bytes);

/* Appends a copy of item (size bytes) and returns it; it moves when the list grows again. */
void *list_add(struct list *list, const void *item, size_t size);
/* Takes item n out; the others keep their order. */
void list_remove(struct list *list, size_t n, size_t size);
void list_free(struct list *list);

/* for (each(item, list)): item walks over the items of its own type. */
#define LIST_EACH(item, list)                                                                      \
    (item) = (list)->items;                                                                        \
    (item) && (item) != (__typeof__(item))(list)->items + (list)->count;                           \
    (item)++

#endif

#include "sim/base/array.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_CAPACITY 16

bool array_reserve(void *array_pointer, size_t count, size_t *capacity, size_t item_size)
{
    if (count < *capacity)
        return true;
    size_t grown_capacity = *capacity ? 2 * *capacity : FIRST_CAPACITY;
    void *old;
    memcpy(&old, array_pointer, sizeof(old));
    void *grown = realloc(old, grown_capacity * item_size);
    if (!grown)
        return false;
    memcpy(array_pointer, &grown, sizeof(grown));
    *capacity = grown_capacity;
    return true;
}

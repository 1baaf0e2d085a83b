/* Arrays that grow. */
#ifndef SIM_BASE_ARRAY_H
#define SIM_BASE_ARRAY_H

#include <stdbool.h>
#include <stddef.h>

/* Room for one item more: array_pointer points to the array's pointer, which may move. False, and
 * nothing changed, when out of memory. */
bool array_reserve(void *array_pointer, size_t count, size_t *capacity, size_t item_size);

#endif

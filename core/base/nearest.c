/* Edit distance with swaps of neighbours, three rows of the table at a time. */
#include "core/base/nearest.h"
#include "core/base/assert.h"
#include <stdint.h>
#include <string.h>

#define WORD_MAX 64

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t distance_of(struct bytes a, struct bytes b)
{
    ASSERT(a.size <= WORD_MAX && b.size <= WORD_MAX);
    size_t rows[3][WORD_MAX + 1];
    size_t *before = rows[0], *above = rows[1], *row = rows[2];
    for (size_t j = 0; j <= b.size; j++)
        row[j] = j;
    for (size_t i = 1; i <= a.size; i++) {
        size_t *oldest = before;
        before = above;
        above = row;
        row = oldest;
        row[0] = i;
        for (size_t j = 1; j <= b.size; j++) {
            size_t changed = above[j - 1] + (a.data[i - 1] != b.data[j - 1]);
            row[j] = least(changed, least(above[j], row[j - 1]) + 1);
            bool swapped =
                i > 1 && j > 1 && a.data[i - 1] == b.data[j - 2] && a.data[i - 2] == b.data[j - 1];
            if (swapped)
                row[j] = least(row[j], before[j - 2] + 1);
        }
    }
    return row[b.size];
}

struct nearest nearest_begin(struct bytes word)
{
    return (struct nearest){.word = word, .distance = SIZE_MAX};
}

void nearest_offer(struct nearest *nearest, const char *name)
{
    ASSERT(nearest && name);
    struct bytes offered = bytes_of(name);
    if (nearest->word.size > WORD_MAX || offered.size > WORD_MAX)
        return;
    size_t distance = distance_of(nearest->word, offered);
    if (distance < nearest->distance) {
        nearest->name = name;
        nearest->distance = distance;
    }
}

const char *nearest_name(const struct nearest *nearest)
{
    ASSERT(nearest);
    bool near = nearest->name && nearest->distance <= (nearest->word.size + 1) / 2;
    return near ? nearest->name : NULL;
}

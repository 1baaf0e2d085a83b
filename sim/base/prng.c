/* xoshiro256** (Blackman and Vigna, public domain algorithm), its state filled by splitmix64. */
#include "sim/base/prng.h"

#include "core/base/assert.h"

static uint64_t splitmix(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static uint64_t rotate_left(uint64_t x, int bits)
{
    return (x << bits) | (x >> (64 - bits));
}

struct prng prng_make(uint64_t seed, enum prng_stream stream)
{
    /* the stream is mixed in after one round, so that (seed, stream) pairs do not line up */
    uint64_t state = seed;
    state = splitmix(&state) ^ (uint64_t)stream * UINT64_C(0xd1342543de82ef95);
    struct prng prng;
    for (int i = 0; i < 4; i++)
        prng.state[i] = splitmix(&state);
    return prng;
}

uint64_t prng_next(struct prng *prng)
{
    uint64_t *s = prng->state;
    uint64_t result = rotate_left(s[1] * 5, 7) * 9;
    uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate_left(s[3], 45);
    return result;
}

uint64_t prng_below(struct prng *prng, uint64_t bound)
{
    ASSERT(bound > 0);
    /* the smallest mask that holds bound - 1; a draw above it is thrown away, so none is favoured
     */
    uint64_t mask = bound - 1;
    for (int shift = 1; shift < 64; shift *= 2)
        mask |= mask >> shift;
    for (;;) {
        uint64_t draw = prng_next(prng) & mask;
        if (draw < bound)
            return draw;
    }
}

bool prng_chance(struct prng *prng, uint32_t numerator, uint32_t denominator)
{
    ASSERT(denominator > 0);
    ASSERT(numerator <= denominator);
    return prng_below(prng, denominator) < numerator;
}

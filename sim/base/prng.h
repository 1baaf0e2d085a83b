/* Random numbers from one seed, in independent streams: a new fault never shifts the workload.
 * xoshiro256** seeded by splitmix64 over (seed, stream). Integers only.
 */
#ifndef SIM_BASE_PRNG_H
#define SIM_BASE_PRNG_H

#include <stdbool.h>
#include <stdint.h>

enum prng_stream { PRNG_SCHEDULE = 1, PRNG_WORKLOAD, PRNG_FAULTS, PRNG_QUEUE };

struct prng {
    uint64_t state[4];
};

struct prng prng_make(uint64_t seed, enum prng_stream stream);
uint64_t prng_next(struct prng *prng);
/* 0..bound-1, without bias; bound > 0. */
uint64_t prng_below(struct prng *prng, uint64_t bound);
/* True numerator times out of denominator. */
bool prng_chance(struct prng *prng, uint32_t numerator, uint32_t denominator);

#endif

/* SHA-256 through libcrypto. A hasher holds the fetched algorithm and one context: fetching it a
 * second time costs as much as the hash. One hasher a thread (or actor); not shared.
 */
#ifndef CORE_BASE_SHA256_H
#define CORE_BASE_SHA256_H

#include "core/base/bytes.h"

struct sha256 {
    uint8_t bytes[32];
};

struct sha256_hasher;

/* NULL when libcrypto cannot give SHA-256. The caller frees it. */
struct sha256_hasher *sha256_hasher_new(void);
void sha256_hasher_free(struct sha256_hasher *hasher);

/* The hash of size bytes. Cannot fail on a hasher that was made. */
void sha256_of(struct sha256_hasher *hasher, const void *data, size_t size, struct sha256 *out);

int sha256_compare(const struct sha256 *a, const struct sha256 *b);

#endif

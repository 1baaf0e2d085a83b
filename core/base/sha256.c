/* SHA-256 through libcrypto's EVP interface: one fetched algorithm and one context, used again. */
#include "core/base/sha256.h"
#include "core/base/assert.h"
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>

struct sha256_hasher {
    EVP_MD *algorithm;
    EVP_MD_CTX *context;
};

struct sha256_hasher *sha256_hasher_new(void)
{
    struct sha256_hasher *hasher = calloc(1, sizeof *hasher);
    if (!hasher)
        return NULL;
    hasher->algorithm = EVP_MD_fetch(NULL, "SHA256", NULL);
    hasher->context = EVP_MD_CTX_new();
    if (!hasher->algorithm || !hasher->context ||
        EVP_MD_get_size(hasher->algorithm) != (int)sizeof(struct sha256) ||
        EVP_DigestInit_ex2(hasher->context, hasher->algorithm, NULL) != 1) {
        sha256_hasher_free(hasher);
        return NULL;
    }
    return hasher;
}

void sha256_hasher_free(struct sha256_hasher *hasher)
{
    if (!hasher)
        return;
    EVP_MD_CTX_free(hasher->context);
    EVP_MD_free(hasher->algorithm);
    free(hasher);
}

void sha256_of(struct sha256_hasher *hasher, const void *data, size_t size, struct sha256 *out)
{
    ASSERT(hasher && out);
    ASSERT(data || size == 0);
    unsigned int written = 0;
    /* a NULL algorithm starts again with the one the context has */
    bool done = EVP_DigestInit_ex2(hasher->context, NULL, NULL) == 1 &&
                EVP_DigestUpdate(hasher->context, data, size) == 1 &&
                EVP_DigestFinal_ex(hasher->context, out->bytes, &written) == 1;
    ASSERT(done);
    ASSERT(written == sizeof out->bytes);
}

int sha256_compare(const struct sha256 *a, const struct sha256 *b)
{
    return memcmp(a->bytes, b->bytes, sizeof a->bytes);
}

/* Who a stream and a process are (R-ID-1..3). The encoding is pinned by test vectors, because it
 * outlives the process: stored hashes must still match after an upgrade.
 *
 * All integers are big endian. `str(x)` is a 4-byte length and the bytes.
 *
 *   attribute    str(key) type:1 value
 *                type 0 absent: nothing           4 double: 8 bytes IEEE 754
 *                     1 string: str               5 array: str of the raw OTLP bytes
 *                     2 bool: 1 byte, 0 or 1      6 kvlist: str of the raw OTLP bytes
 *                     3 int: 8 bytes, two's       7 bytes: str
 *                       complement
 *   attributes   4-byte count, then each attribute, sorted by key bytes (keys are unique)
 *   resource     "metersim.resource.1" NUL  attributes (all but keys that begin with "scf.")
 *   series       "metersim.series.1" NUL  tenant:16  resource_hash:32
 *                [S-3: str(scope name) str(scope version)]  str(metric name)  attributes
 *
 * A resource may repeat a key (the OTLP specification forbids it, some SDKs do it): equal keys are
 * then ordered by their encoded bytes, so that the order of attributes never matters.
 */
#ifndef CORE_MODEL_IDENTITY_H
#define CORE_MODEL_IDENTITY_H

#include "core/base/arena.h"
#include "core/base/rules.h"
#include "core/base/sha256.h"

enum attribute_type {
    ATTRIBUTE_ABSENT = 0,
    ATTRIBUTE_STRING = 1,
    ATTRIBUTE_BOOL = 2,
    ATTRIBUTE_INT = 3,
    ATTRIBUTE_DOUBLE = 4,
    ATTRIBUTE_ARRAY = 5,
    ATTRIBUTE_KVLIST = 6,
    ATTRIBUTE_BYTES = 7,
};

struct attribute {
    struct bytes key;
    enum attribute_type type;
    struct bytes bytes; /* string, bytes; raw OTLP encoding of array and kvlist */
    int64_t integer;    /* int; bool as 0 or 1 */
    double number;      /* double */
};

struct attributes {
    const struct attribute *items;
    size_t count;
};

/* The attribute with that key (the first, when repeated), or NULL. */
const struct attribute *attributes_find(struct attributes attributes, const char *key);

/* True when a key occurs twice. Uses scratch for a sorted index.
 * STATUS_NO_MEMORY when the arena is exhausted. */
enum status attributes_repeated(struct attributes attributes, struct arena *scratch, bool *repeated,
                                struct err *err);

/* Errors: STATUS_NO_MEMORY only. scratch holds the sorted copy and the encoding. */
enum status identity_resource(struct sha256_hasher *hasher, struct attributes resource,
                              struct arena *scratch, struct sha256 *out, struct err *err);

struct series_identity {
    const struct uuid *tenant;
    const struct sha256 *resource_hash;
    struct bytes scope_name;
    struct bytes scope_version;
    struct bytes metric_name;
    struct attributes attributes;
};

/* S-3 decides whether the scope is part of it. */
enum status identity_series(struct sha256_hasher *hasher, const struct series_identity *identity,
                            struct rules rules, struct arena *scratch, struct sha256 *out,
                            struct err *err);

/* R-TX-3: first 8 bytes, big endian as a signed int64, of SHA-256 over
 * "metersim.hour.1" NUL tenant:16 hour:8, hour = unix microseconds of its start. */
int64_t identity_hour_lock(struct sha256_hasher *hasher, const struct uuid *tenant,
                           int64_t hour_us);
/* The same over "metersim.day.1" NUL tenant:16 day:8 (days since 1970; R-ROLL-1, S-10). */
int64_t identity_day_lock(struct sha256_hasher *hasher, const struct uuid *tenant, int64_t day);
/* The same over "metersim.tenant.1" NUL tenant:16 (R-TX-7, S-11). */
int64_t identity_tenant_lock(struct sha256_hasher *hasher, const struct uuid *tenant);

#endif

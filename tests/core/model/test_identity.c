/* Identity (R-ID-1..3, R-TX-3). The expected hashes were computed apart from this program, with a
 * few lines of Python over hashlib and struct, from the byte layout of identity.h. They outlive the
 * process (R-ID-2): a change here orphans every stored stream. */
#include "core/model/identity.h"
#include <check.h>
#include <string.h>

static struct arena arena;
static struct sha256_hasher *hasher;
static struct err err;

static void setup(void)
{
    arena_init(&arena, 1 << 20);
    hasher = sha256_hasher_new();
    ck_assert_ptr_nonnull(hasher);
}

static void teardown(void)
{
    sha256_hasher_free(hasher);
    arena_free(&arena);
}

#define TEXT(k, v)                                                                                 \
    {                                                                                              \
        .key = {(const uint8_t *)(k), sizeof(k) - 1}, .type = ATTRIBUTE_STRING, .bytes = {         \
            (const uint8_t *)(v),                                                                  \
            sizeof(v) - 1                                                                          \
        }                                                                                          \
    }
#define RAW(k, t, v)                                                                               \
    {                                                                                              \
        .key = {(const uint8_t *)(k), sizeof(k) - 1}, .type = (t), .bytes = {                      \
            (const uint8_t *)(v),                                                                  \
            sizeof(v) - 1                                                                          \
        }                                                                                          \
    }
#define INT(k, v)                                                                                  \
    {                                                                                              \
        .key = {(const uint8_t *)(k), sizeof(k) - 1}, .type = ATTRIBUTE_INT, .integer = (v)        \
    }
#define BOOL(k, v)                                                                                 \
    {                                                                                              \
        .key = {(const uint8_t *)(k), sizeof(k) - 1}, .type = ATTRIBUTE_BOOL, .integer = (v)       \
    }
#define DOUBLE(k, v)                                                                               \
    {                                                                                              \
        .key = {(const uint8_t *)(k), sizeof(k) - 1}, .type = ATTRIBUTE_DOUBLE, .number = (v)      \
    }
#define ABSENT(k)                                                                                  \
    {                                                                                              \
        .key = {(const uint8_t *)(k), sizeof(k) - 1}, .type = ATTRIBUTE_ABSENT                     \
    }
#define SET(array) ((struct attributes){(array), sizeof(array) / sizeof((array)[0])})

static const struct attribute shop[] = {TEXT("service.name", "shop"), INT("process.pid", 4711)};

static const char *hex_of(const struct sha256 *hash)
{
    static char hex[65];
    hex_format(hash->bytes, sizeof hash->bytes, hex);
    return hex;
}

static struct sha256 resource(struct attributes attributes)
{
    struct sha256 hash;
    ck_assert_int_eq(identity_resource(hasher, attributes, &arena, &hash, &err), STATUS_OK);
    return hash;
}

static bool same(struct sha256 a, struct sha256 b)
{
    return sha256_compare(&a, &b) == 0;
}

/* sha256("metersim.resource.1" 00 | 00000000) */
START_TEST(identity_resource__no_attributes)
{
    struct sha256 hash = resource((struct attributes){NULL, 0});
    ck_assert_str_eq(hex_of(&hash),
                     "0eb540ff35e68e550c233542ad29634a8dc39d797d90c10b1bbf62100c4c952a");
}
END_TEST

/* ... | 00000002 | 0000000b "process.pid" 03 0000000000001267
 *                | 0000000c "service.name" 01 00000004 "shop" */
START_TEST(identity_resource__pinned)
{
    struct sha256 hash = resource(SET(shop));
    ck_assert_str_eq(hex_of(&hash),
                     "6e8d5c0c39702060c20439e7896cb30744a92afac45dd725ca5ffc553cfc9cac");
}
END_TEST

/* 00000008 | "a.string" 01 00000001 "x" | "b.bool" 02 01 | "c.int" 03 fffffffffffffffe
 * | "d.double" 04 3fe0000000000000 | "e.array" 05 00000005 0a030a0161 | "f.kvlist" 06 00000000
 * | "g.bytes" 07 00000002 00ff | "z.absent" 00, each key with its 4-byte length */
START_TEST(identity_resource__every_type_pinned)
{
    const struct attribute items[] = {
        ABSENT("z.absent"),
        TEXT("a.string", "x"),
        BOOL("b.bool", 1),
        INT("c.int", -2),
        DOUBLE("d.double", 0.5),
        RAW("e.array", ATTRIBUTE_ARRAY, "\x0a\x03\x0a\x01\x61"),
        RAW("f.kvlist", ATTRIBUTE_KVLIST, ""),
        RAW("g.bytes", ATTRIBUTE_BYTES, "\x00\xff"),
    };
    struct sha256 hash = resource(SET(items));
    ck_assert_str_eq(hex_of(&hash),
                     "36694889d07e8cec52a58f6ef134edbd70bbc2f2674d2f7b9444758cb0ccc129");
}
END_TEST

/* A repeated key is ordered by its encoding: (k, 01, "a") (k, 01, "b") (k, 03, 1). */
START_TEST(identity_resource__repeated_keys_in_any_order)
{
    const struct attribute one[] = {TEXT("k", "b"), TEXT("k", "a"), INT("k", 1)};
    const struct attribute two[] = {INT("k", 1), TEXT("k", "a"), TEXT("k", "b")};
    struct sha256 hash = resource(SET(one));
    ck_assert_str_eq(hex_of(&hash),
                     "f6e2ac94f229cbf7ff928637b984a0afe688e7b30183fa73b23fea1731ce0766");
    ck_assert(same(hash, resource(SET(two))));
}
END_TEST

START_TEST(identity_resource__order_never_matters)
{
    const struct attribute turned[] = {shop[1], shop[0]};
    ck_assert(same(resource(SET(shop)), resource(SET(turned))));
}
END_TEST

/* R-ID-1: all but the attributes that begin with "scf.", the stamps of the collector. */
START_TEST(identity_resource__stamps_of_the_collector_do_not_count)
{
    const struct attribute stamped[] = {shop[0], TEXT("scf.tenant.id", "x"), shop[1],
                                        BOOL("scf.redacted", 1)};
    const struct attribute near_miss[] = {shop[0], shop[1], TEXT("scf", "x")};
    ck_assert(same(resource(SET(shop)), resource(SET(stamped))));
    ck_assert(!same(resource(SET(shop)), resource(SET(near_miss))));
}
END_TEST

/* R-ID-1: absent and empty differ, int 200 and string "200" differ, and so on. */
START_TEST(identity_resource__each_value_is_told_apart)
{
    const struct attribute values[][1] = {
        {ABSENT("k")},
        {TEXT("k", "")},
        {TEXT("k", "200")},
        {INT("k", 200)},
        {INT("k", -200)},
        {INT("k", 1)},
        {BOOL("k", 1)},
        {BOOL("k", 0)},
        {DOUBLE("k", 200.0)},
        {DOUBLE("k", 0.0)},
        {DOUBLE("k", -0.0)},
        {RAW("k", ATTRIBUTE_BYTES, "200")},
        {RAW("k", ATTRIBUTE_ARRAY, "")},
        {RAW("k", ATTRIBUTE_KVLIST, "")},
        {ABSENT("k2")},
    };
    size_t count = sizeof values / sizeof values[0];
    for (size_t a = 0; a < count; a++) {
        for (size_t b = 0; b < a; b++)
            ck_assert(!same(resource(SET(values[a])), resource(SET(values[b]))));
        ck_assert(!same(resource(SET(values[a])), resource((struct attributes){NULL, 0})));
    }
}
END_TEST

/* Lengths keep neighbours apart: {"a": "bc"} is not {"ab": "c"}, nor is a pair one longer text. */
START_TEST(identity_resource__boundaries_are_part_of_it)
{
    const struct attribute a[] = {TEXT("a", "bc")};
    const struct attribute b[] = {TEXT("ab", "c")};
    const struct attribute c[] = {TEXT("a", "b"), TEXT("c", "d")};
    const struct attribute d[] = {TEXT("a", "bcd")};
    ck_assert(!same(resource(SET(a)), resource(SET(b))));
    ck_assert(!same(resource(SET(c)), resource(SET(d))));
}
END_TEST

static const struct attribute cart[] = {TEXT("http.route", "/cart"),
                                        TEXT("http.request.method", "GET"),
                                        INT("http.response.status_code", 200)};
static const struct uuid acme = {{0x0a, 0, 0, 0, 0, 0, 0x40, 0, 0x80, 0, 0, 0, 0, 0, 0, 1}};

static struct sha256 series(struct series_identity identity, const char *rules_text)
{
    struct rules rules = rules_default();
    ck_assert_int_eq(rules_parse(rules_text, strlen(rules_text), &rules, &err), STATUS_OK);
    struct sha256 hash;
    ck_assert_int_eq(identity_series(hasher, &identity, rules, &arena, &hash, &err), STATUS_OK);
    return hash;
}

static struct series_identity cart_series(const struct sha256 *resource_hash)
{
    return (struct series_identity){
        .tenant = &acme,
        .resource_hash = resource_hash,
        .scope_name = bytes_of("io.http"),
        .scope_version = bytes_of("1.2"),
        .metric_name = bytes_of("http.server.request.duration"),
        .attributes = SET(cart),
    };
}

/* "metersim.series.1" 00 | tenant:16 | resource_hash:32 | [00000007 "io.http" 00000003 "1.2"]
 * | 0000001c "http.server.request.duration" | 00000003 | method, status_code 03 ..c8, route */
START_TEST(identity_series__pinned_with_and_without_scope)
{
    struct sha256 process = resource(SET(shop));
    struct sha256 scoped = series(cart_series(&process), "+S-3");
    ck_assert_str_eq(hex_of(&scoped),
                     "99c8bd5cc28454f05003a2ab90cb532bc3a7aa1e854346d33e917df92c06a43f");
    struct sha256 letter = series(cart_series(&process), "-S-3");
    ck_assert_str_eq(hex_of(&letter),
                     "7127cd719ea70c8836e8bf7d00052bd24bdba2663ab2c913bb03c0b1dcb5cb83");
}
END_TEST

/* S-3: two scopes of one process are two streams; by the letter of MS they are one. */
START_TEST(identity_series__scope_counts_with_s3_only)
{
    struct sha256 process = resource(SET(shop));
    struct series_identity one = cart_series(&process);
    struct series_identity two = one;
    two.scope_version = bytes_of("1.3");
    ck_assert(!same(series(one, "+S-3"), series(two, "+S-3")));
    ck_assert(same(series(one, "-S-3"), series(two, "-S-3")));
}
END_TEST

START_TEST(identity_series__every_part_counts)
{
    const struct attribute failed[] = {cart[0], cart[1], cart[2], TEXT("error.type", "500")};
    const struct attribute stamped[] = {cart[0], cart[1], cart[2], TEXT("scf.x", "1")};
    struct uuid other = acme;
    other.bytes[15] = 2;
    struct sha256 process = resource(SET(shop));
    struct sha256 no_process = resource((struct attributes){NULL, 0});
    struct series_identity parts[7];
    for (size_t i = 0; i < 7; i++)
        parts[i] = cart_series(&process);
    parts[1].tenant = &other;
    parts[2].resource_hash = &no_process;
    parts[3].scope_name = bytes_of("io.http2");
    parts[4].metric_name = bytes_of("http.server.duration");
    parts[5].attributes = SET(failed);  /* R-ID-1: error.type counts too */
    parts[6].attributes = SET(stamped); /* stamps are left out of the resource alone */
    for (size_t a = 0; a < 7; a++)
        for (size_t b = 0; b < a; b++)
            ck_assert(!same(series(parts[a], "+S-3"), series(parts[b], "+S-3")));
}
END_TEST

START_TEST(identity__exhausted_arena_is_an_error)
{
    struct arena small;
    struct sha256 hash = resource(SET(shop));
    struct series_identity identity = cart_series(&hash);
    bool repeated;
    for (size_t limit = 0; limit < 200; limit += 16) {
        arena_init(&small, limit);
        enum status status =
            identity_series(hasher, &identity, rules_default(), &small, &hash, &err);
        ck_assert_int_eq(status, STATUS_NO_MEMORY);
        arena_free(&small);
    }
    arena_init(&small, 16);
    ck_assert_int_eq(identity_resource(hasher, SET(shop), &small, &hash, &err), STATUS_NO_MEMORY);
    ck_assert_int_eq(attributes_repeated(SET(cart), &small, &repeated, &err), STATUS_NO_MEMORY);
    arena_free(&small);
}
END_TEST

START_TEST(attributes__repeated_and_find)
{
    const struct attribute twice[] = {cart[0], cart[1], TEXT("http.route", "/x")};
    bool repeated;
    ck_assert_int_eq(attributes_repeated(SET(cart), &arena, &repeated, &err), STATUS_OK);
    ck_assert(!repeated);
    ck_assert_int_eq(attributes_repeated(SET(twice), &arena, &repeated, &err), STATUS_OK);
    ck_assert(repeated);
    ck_assert_ptr_eq(attributes_find(SET(twice), "http.route"), &twice[0]);
    ck_assert_ptr_null(attributes_find(SET(twice), "http.rout"));
}
END_TEST

/* R-TX-3, the first 8 bytes of sha256(domain 00 tenant:16 [number:8]), big endian, signed.
 * 2026-03-10T12:00Z is 1773144000 s; its day is 20522. */
START_TEST(identity__lock_ids_pinned)
{
    int64_t hour_us = INT64_C(1773144000000000);
    ck_assert_int_eq(identity_hour_lock(hasher, &acme, hour_us), INT64_C(-3705257021929300251));
    ck_assert_int_eq(identity_hour_lock(hasher, &acme, INT64_C(-3600000000)),
                     INT64_C(2912674968817742029));
    ck_assert_int_eq(identity_day_lock(hasher, &acme, 20522), INT64_C(4894090507804640422));
    ck_assert_int_eq(identity_tenant_lock(hasher, &acme), INT64_C(-77134240731617054));
}
END_TEST

Suite *identity_suite(void);
Suite *identity_suite(void)
{
    Suite *suite = suite_create("identity");
    TCase *tcase = tcase_create("identity");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, identity_resource__no_attributes);
    tcase_add_test(tcase, identity_resource__pinned);
    tcase_add_test(tcase, identity_resource__every_type_pinned);
    tcase_add_test(tcase, identity_resource__repeated_keys_in_any_order);
    tcase_add_test(tcase, identity_resource__order_never_matters);
    tcase_add_test(tcase, identity_resource__stamps_of_the_collector_do_not_count);
    tcase_add_test(tcase, identity_resource__each_value_is_told_apart);
    tcase_add_test(tcase, identity_resource__boundaries_are_part_of_it);
    tcase_add_test(tcase, identity_series__pinned_with_and_without_scope);
    tcase_add_test(tcase, identity_series__scope_counts_with_s3_only);
    tcase_add_test(tcase, identity_series__every_part_counts);
    tcase_add_test(tcase, identity__exhausted_arena_is_an_error);
    tcase_add_test(tcase, attributes__repeated_and_find);
    tcase_add_test(tcase, identity__lock_ids_pinned);
    suite_add_tcase(suite, tcase);
    return suite;
}

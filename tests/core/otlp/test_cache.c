/* The identity cache (cache.h) changes nothing but the time, and is bounded. */
#include "core/base/limits.h"
#include "core/otlp/cache.h"
#include "tests/core/otlp/otlp_build.h"
#include <xxhash.h>

static struct message decoded_by(struct decoder *decoder, struct bytes payload, struct uuid owner)
{
    struct message_input input = input_of(payload);
    struct message message;
    struct err err = {0};
    input.tenant = owner;
    enum status status = message_decode(decoder, &input, &build_arena, &message, &err);
    ck_assert_msg(status == STATUS_OK, "%s", err.message);
    return message;
}

static const struct point *only_point(struct bytes payload)
{
    struct message message = decoded_payload(payload);
    ck_assert_uint_eq(message.good_count, 1);
    return &message.points[0];
}

static int series_compare(const struct point *a, const struct point *b)
{
    return sha256_compare(&a->series_hash, &b->series_hash);
}

START_TEST(cache__a_warm_decoder_says_what_a_fresh_one_says)
{
    struct settings settings = settings_default();
    static const char *const routes[] = {"/a", "/b", "/a", "/{other}", ""};
    for (int round = 0; round < 3; round++) {
        for (int64_t code = 99; code < 103; code++) { /* 99 is refused each time */
            struct bytes points[5];
            for (size_t i = 0; i < 5; i++) {
                struct point_spec spec = point_good();
                spec.attributes[0] = pair_text("http.route", text(routes[i]));
                spec.attributes[1] = pair_int("http.response.status_code", code);
                points[i] = point_encode(&spec);
            }
            struct decoder *fresh = decoder_new(&settings, rules_default());
            struct message warm = decoded_by(build_decoder, request_of(points, 5), tenant());
            struct message cold = decoded_by(fresh, request_of(points, 5), tenant());
            ck_assert_uint_eq(warm.good_count, code == 99 ? 0 : 5);
            ck_assert_uint_eq(warm.good_count, cold.good_count);
            for (size_t i = 0; i < 5; i++) {
                ck_assert_int_eq(warm.points[i].refusal, cold.points[i].refusal);
                ck_assert_int_eq(series_compare(&warm.points[i], &cold.points[i]), 0);
                ck_assert(bytes_equal(warm.points[i].route, cold.points[i].route));
                ck_assert_int_eq(warm.points[i].status_code, cold.points[i].status_code);
            }
            decoder_free(fresh);
        }
    }
}
END_TEST

START_TEST(cache__tenants_scopes_metrics_and_resources_are_kept_apart)
{
    static const char other_text[] = "00000000-0000-0000-0000-000000000001";
    struct point_spec spec = point_good();
    struct bytes point = point_encode(&spec);
    struct bytes data = histogram(TEMPORALITY_DELTA, &point, 1);
    struct bytes metrics = field_bytes(2, metric(METRIC_NAME, "s", 9, data));
    struct bytes spans = field_bytes(2, metric(SPAN_NAME, "s", 9, data));
    struct bytes stamp = field_bytes(1, pair_text("scf.tenant.id", text(other_text)));
    struct bytes service = field_bytes(1, pair_text("service.name", text("shop")));
    struct bytes instance = field_bytes(1, pair_text("service.instance.id", text("2")));
    struct uuid other;
    ck_assert(uuid_parse(text(other_text), &other));
    struct message messages[] = {
        decoded_payload(request(attributes_good(), metrics)),
        decoded_by(build_decoder, request(JOIN(service, stamp), metrics), other),
        decoded_payload(request(attributes_good(), spans)),
        decoded_payload(request(JOIN(attributes_good(), instance), metrics)),
        decoded_payload(field_bytes(1, JOIN(field_bytes(1, attributes_good()),
                                            field_bytes(2, scope("lib", "2", metrics))))),
        /* the same bytes of name and version in a row */
        decoded_payload(field_bytes(1, JOIN(field_bytes(1, attributes_good()),
                                            field_bytes(2, scope("lib1", "", metrics))))),
    };
    size_t count = sizeof messages / sizeof *messages;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < i; k++)
            ck_assert_int_ne(series_compare(&messages[i].points[0], &messages[k].points[0]), 0);
}
END_TEST

/* One KeyValue that holds two encodings in a row is the second one; it must not be mistaken for two
 * attributes, though the bytes are the same. */
START_TEST(cache__where_an_attribute_ends_is_part_of_the_key)
{
    struct bytes a = pair_text("http.route", text("/a"));
    struct bytes b = pair_text("http.request.method", text("GET"));
    struct point_spec two = point_good();
    struct point_spec one = point_good();
    two.attributes[0] = a;
    two.attributes[1] = b;
    one.attributes[0] = JOIN(a, b);
    for (int round = 0; round < 2; round++) {
        const struct point *with_two = only_point(request_of_spec(&two));
        const struct point *with_one = only_point(request_of_spec(&one));
        ck_assert(bytes_equal(with_two->route, text("/a")));
        ck_assert_uint_eq(with_one->route.size, 0);
        ck_assert(bytes_equal(with_one->method, text("GET")));
        ck_assert_int_ne(series_compare(with_one, with_two), 0);
    }
}
END_TEST

/* Text may hold NUL: the sizes in the key tell ("a", "b....c") from ("a....b", "c"). */
START_TEST(cache__where_a_scope_name_ends_is_part_of_the_key)
{
    static const char joined[] = "a\0\0\0\0b\0\0\0\0c";
    struct point_spec spec = point_good();
    struct bytes point = point_encode(&spec);
    struct bytes metrics =
        field_bytes(2, metric(METRIC_NAME, "s", 9, histogram(TEMPORALITY_DELTA, &point, 1)));
    const struct point *points[2];
    for (size_t i = 0; i < 2; i++) {
        size_t name_size = i == 0 ? 1 : 6;
        struct bytes name = raw(joined, name_size);
        struct bytes version = raw(joined + name_size + 4, 7 - name_size);
        struct bytes scope_bytes = JOIN(field_bytes(1, name), field_bytes(2, version));
        points[i] = only_point(
            field_bytes(1, JOIN(field_bytes(1, attributes_good()),
                                field_bytes(2, JOIN(field_bytes(1, scope_bytes), metrics)))));
    }
    ck_assert_int_ne(series_compare(points[0], points[1]), 0);
}
END_TEST

/* R-ID-1: order never matters, though the cache knows the two orders as two keys. */
START_TEST(cache__order_of_attributes_never_matters)
{
    struct point_spec forward = point_good();
    struct point_spec backward = point_good();
    forward.attributes[0] = backward.attributes[1] = pair_int("a", 1);
    forward.attributes[1] = backward.attributes[0] = pair_text("b", text("x"));
    for (int round = 0; round < 2; round++)
        ck_assert_int_eq(series_compare(only_point(request_of_spec(&forward)),
                                        only_point(request_of_spec(&backward))),
                         0);
}
END_TEST

START_TEST(cache__a_bad_text_is_refused_every_time)
{
    struct point_spec spec = point_good();
    spec.attributes[0] = pair_text("http.route", text("/\n"));
    for (int round = 0; round < 3; round++)
        assert_dead(request_of_spec(&spec), "control character");
    spec.attributes[0] = text("\xff"); /* no KeyValue at all */
    for (int round = 0; round < 3; round++)
        assert_dead(request_of_spec(&spec), "malformed protobuf");
}
END_TEST

/* Texts of a message are its own: they outlive what the decoder remembers. */
START_TEST(cache__texts_outlive_the_decoder)
{
    struct settings settings = settings_default();
    struct decoder *decoder = decoder_new(&settings, rules_default());
    struct point_spec spec = point_good();
    spec.attributes[0] = pair_text("http.route", text("/cart/{id}"));
    (void)decoded_by(decoder, request_of_spec(&spec), tenant());
    struct message warm = decoded_by(decoder, request_of_spec(&spec), tenant());
    decoder_free(decoder);
    ck_assert(bytes_equal(warm.points[0].route, text("/cart/{id}")));
    ck_assert(bytes_equal(warm.points[0].service, text("shop")));
}
END_TEST

static struct bytes numbered_key(uint64_t number, size_t size, uint8_t *buffer)
{
    memset(buffer, 'k', size);
    memcpy(buffer, &number, sizeof number);
    return (struct bytes){.data = buffer, .size = size};
}

static void put_numbered(struct otlp_cache *cache, uint64_t number, size_t size, uint8_t *buffer)
{
    struct point_facts facts = {.method = text("GET"), .status_code = 200};
    memcpy(facts.hash.bytes, &number, sizeof number);
    struct bytes key = numbered_key(number, size, buffer);
    if (otlp_cache_find(cache, key) == NULL)
        otlp_cache_put(cache, key, &facts);
}

static bool find_numbered(const struct otlp_cache *cache, uint64_t number, size_t size,
                          uint8_t *buffer)
{
    const struct point_facts *facts = otlp_cache_find(cache, numbered_key(number, size, buffer));
    if (facts == NULL)
        return false;
    uint64_t found = 0;
    memcpy(&found, facts->hash.bytes, sizeof found);
    ck_assert_uint_eq(found, number);
    ck_assert(bytes_equal(facts->method, text("GET")));
    return true;
}

/* By count with small keys, by bytes with large ones; never a wrong answer, and the last is there.
 */
START_TEST(cache__is_bounded)
{
    static const struct {
        size_t size;
        uint64_t count;
    } rows[] = {{16, 3 * LIMIT_CACHE_ENTRIES}, {1000000, 100}};
    struct otlp_cache cache;
    size_t size = rows[_i].size;
    uint8_t *buffer = malloc(size);
    ck_assert_ptr_nonnull(buffer);
    otlp_cache_init(&cache);
    ck_assert(!find_numbered(&cache, 1, size, buffer));
    for (uint64_t number = 0; number < rows[_i].count; number++) {
        put_numbered(&cache, number, size, buffer);
        ck_assert(find_numbered(&cache, number, size, buffer));
        ck_assert_uint_le(cache.entry_count, LIMIT_CACHE_ENTRIES);
        ck_assert_uint_le(cache.arena.used, LIMIT_CACHE_BYTES);
        ck_assert_uint_le(cache.slot_count, 2 * LIMIT_CACHE_ENTRIES);
    }
    uint64_t kept = 0;
    for (uint64_t number = 0; number < rows[_i].count; number++)
        kept += find_numbered(&cache, number, size, buffer);
    ck_assert_uint_gt(kept, 0);
    ck_assert_uint_lt(kept, rows[_i].count);
    otlp_cache_free(&cache);
    free(buffer);
}
END_TEST

/* XXH3 multiplies the halves of each 16 bytes after an XOR with a known constant, so that anyone
 * can write keys with equal hashes: a first half equal to the constant makes the second one vanish.
 */
static struct bytes colliding_key(uint64_t number, uint8_t buffer[32])
{
    static const uint8_t constant[8] = {0xb8, 0xfe, 0x6c, 0x39, 0x23, 0xa4, 0x4b, 0xbe};
    memset(buffer, 'k', 32);
    memcpy(buffer, constant, sizeof constant);
    memcpy(buffer + 8, &number, sizeof number);
    return (struct bytes){.data = buffer, .size = 32};
}

START_TEST(cache__keys_whose_hashes_collide_are_told_apart)
{
    uint8_t one[32];
    uint8_t two[32];
    struct otlp_cache cache;
    struct bytes keys[] = {colliding_key(1, one), colliding_key(2, two)};
    ck_assert_uint_eq(XXH3_64bits(one, 32), XXH3_64bits(two, 32));
    otlp_cache_init(&cache);
    otlp_cache_put(&cache, keys[0], &(struct point_facts){.status_code = 201});
    ck_assert_ptr_null(otlp_cache_find(&cache, keys[1]));
    otlp_cache_put(&cache, keys[1], &(struct point_facts){.status_code = 202});
    ck_assert_int_eq(otlp_cache_find(&cache, keys[0])->status_code, 201);
    ck_assert_int_eq(otlp_cache_find(&cache, keys[1])->status_code, 202);
    /* a flood of them: the newest is known, the others push each other out */
    for (uint64_t number = 3; number < 1000; number++) {
        struct bytes key = colliding_key(number, one);
        struct point_facts facts = {.status_code = (int16_t)number};
        ck_assert_ptr_null(otlp_cache_find(&cache, key));
        otlp_cache_put(&cache, key, &facts);
        ck_assert_int_eq(otlp_cache_find(&cache, key)->status_code, (int)number);
    }
    ck_assert_uint_le(cache.entry_count, 8); /* the slots that a look-up visits */
    ck_assert_uint_le(cache.slot_count, 64); /* and no growth: a flood must not buy memory */
    otlp_cache_free(&cache);
}
END_TEST

/* What does not fit at all is simply not remembered. */
START_TEST(cache__an_entry_above_the_bound_is_forgotten)
{
    struct otlp_cache cache;
    size_t size = LIMIT_CACHE_BYTES + 1;
    uint8_t *buffer = malloc(size);
    ck_assert_ptr_nonnull(buffer);
    otlp_cache_init(&cache);
    put_numbered(&cache, 1, size, buffer);
    ck_assert(!find_numbered(&cache, 1, size, buffer));
    put_numbered(&cache, 2, 16, buffer);
    ck_assert(find_numbered(&cache, 2, 16, buffer));
    otlp_cache_free(&cache);
    free(buffer);
}
END_TEST

/* Without memory for a key there is no key, and so no entry. */
START_TEST(cache__no_memory_for_a_key)
{
    struct uuid owner = tenant();
    struct sha256 resource = {{0}};
    struct otlp_scope no_scope = {0};
    struct otlp_metric no_metric = {0};
    struct otlp_attributes none = {0};
    struct arena arena;
    arena_init(&arena, 64); /* 16 + 32 bytes and five sizes of 4 are 68 */
    ck_assert_uint_eq(otlp_cache_key(&owner, &resource, &no_scope, &no_metric, &none, &arena).size,
                      0);
    arena.limit = 80;
    ck_assert_uint_eq(otlp_cache_key(&owner, &resource, &no_scope, &no_metric, &none, &arena).size,
                      68);
    arena_free(&arena);
}
END_TEST

/* As many streams as a small fleet has are all remembered. */
START_TEST(cache__ten_thousand_streams_stay)
{
    uint8_t buffer[64];
    struct otlp_cache cache;
    otlp_cache_init(&cache);
    for (uint64_t number = 0; number < 10000; number++)
        put_numbered(&cache, number, sizeof buffer, buffer);
    uint64_t kept = 0;
    for (uint64_t number = 0; number < 10000; number++)
        kept += find_numbered(&cache, number, sizeof buffer, buffer);
    /* at most half of the slots are in use; a hundredth may have pushed each other out */
    ck_assert_uint_ge(kept, 9900);
    otlp_cache_free(&cache);
}
END_TEST

Suite *otlp_cache_suite(void);
Suite *otlp_cache_suite(void)
{
    Suite *suite = suite_create("otlp_cache");
    TCase *tests = tcase_create("otlp_cache");
    tcase_set_timeout(tests, 60);
    tcase_add_checked_fixture(tests, build_open, build_close);
    tcase_add_test(tests, cache__a_warm_decoder_says_what_a_fresh_one_says);
    tcase_add_test(tests, cache__no_memory_for_a_key);
    tcase_add_test(tests, cache__tenants_scopes_metrics_and_resources_are_kept_apart);
    tcase_add_test(tests, cache__where_an_attribute_ends_is_part_of_the_key);
    tcase_add_test(tests, cache__where_a_scope_name_ends_is_part_of_the_key);
    tcase_add_test(tests, cache__keys_whose_hashes_collide_are_told_apart);
    tcase_add_test(tests, cache__order_of_attributes_never_matters);
    tcase_add_test(tests, cache__a_bad_text_is_refused_every_time);
    tcase_add_test(tests, cache__texts_outlive_the_decoder);
    tcase_add_loop_test(tests, cache__is_bounded, 0, 2);
    tcase_add_test(tests, cache__an_entry_above_the_bound_is_forgotten);
    tcase_add_test(tests, cache__no_memory_for_a_key);
    tcase_add_test(tests, cache__ten_thousand_streams_stay);
    suite_add_tcase(suite, tests);
    return suite;
}

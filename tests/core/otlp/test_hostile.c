/* Hostile input (R-DEC-1, STYLE "Memory"): whatever comes, the answer is a status, within the
 * bounds of limits.h. The sanitizer build is where these tests bite. */
#include "core/base/limits.h"
#include "core/otlp/pb.h"
#include "core/otlp/request.h"
#include "tests/core/otlp/otlp_build.h"
#include <pthread.h>

/* Decodes anything; returns the status and checks what must hold for any input. */
static enum status survive(struct bytes payload, enum payload_format format)
{
    struct message_input input = input_of(payload);
    struct message message;
    struct arena arena;
    struct err err = {0};
    input.format = format;
    arena_init(&arena, (size_t)LIMIT_DECODE_BASE_BYTES + LIMIT_DECODE_FACTOR * payload.size);
    enum status status = message_decode(build_decoder, &input, &arena, &message, &err);
    ck_assert(status == STATUS_OK || status == STATUS_INVALID || status == STATUS_NO_MEMORY);
    if (status == STATUS_OK) {
        ck_assert_uint_le(message.good_count, message.point_count);
        for (size_t i = 0; i < message.point_count; i++)
            ck_assert_int_eq(i < message.good_count,
                             message.points[i].refusal == POINT_OUTCOME_COUNT);
    } else {
        ck_assert_uint_eq(message.point_count, 0);
        ck_assert_int_eq(err.status, status);
        ck_assert_uint_gt(strlen(err.message), 0);
    }
    arena_free(&arena);
    return status;
}

static const struct {
    const char *path;
    enum payload_format format;
} exports[] = {{"tests/data/otlp/cum-pb/004.pb", PAYLOAD_PROTOBUF},
               {"tests/data/otlp/cum-msdefaults-pb/004.pb", PAYLOAD_PROTOBUF},
               {"tests/data/otlp/cum-json/004.json", PAYLOAD_JSON}};

START_TEST(hostile__truncated_at_every_byte)
{
    struct bytes whole = file_read(exports[_i].path);
    ck_assert_int_eq(survive(whole, exports[_i].format), STATUS_OK);
    for (size_t size = 0; size < whole.size; size++) {
        /* a copy of its own, so that a read behind the end is found */
        uint8_t *cut = malloc(size > 0 ? size : 1);
        ck_assert_ptr_nonnull(cut);
        memcpy(cut, whole.data, size);
        enum status status = survive((struct bytes){.data = cut, .size = size}, exports[_i].format);
        /* the one request field covers the whole file, so no cut is a request but the empty one */
        bool is_empty_request = size == 0 && exports[_i].format == PAYLOAD_PROTOBUF;
        ck_assert_int_eq(status, is_empty_request ? STATUS_OK : STATUS_INVALID);
        free(cut);
    }
}
END_TEST

static uint32_t random_next(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33);
}

/* One to four changes: a bit, a byte, a swap, a cut, or a piece copied over another. */
static size_t mutate(uint8_t *data, size_t size, uint64_t *random)
{
    for (uint32_t left = 1 + random_next(random) % 4; left > 0 && size > 1; left--) {
        size_t at = random_next(random) % size;
        size_t from = random_next(random) % size;
        size_t length = 1 + random_next(random) % 64;
        switch (random_next(random) % 5) {
        case 0:
            data[at] = (uint8_t)(data[at] ^ (1u << random_next(random) % 8));
            break;
        case 1:
            data[at] = (uint8_t)random_next(random);
            break;
        case 2:
            data[at] = data[from];
            break;
        case 3:
            length = length < size - at ? length : size - at;
            memmove(data + at, data + at + length, size - at - length);
            size -= length;
            break;
        default:
            length = length < size - at ? length : size - at;
            length = length < size - from ? length : size - from;
            memmove(data + at, data + from, length);
            break;
        }
    }
    return size;
}

START_TEST(hostile__mutations_of_real_exports)
{
    struct bytes whole = file_read(exports[_i].path);
    uint64_t random = 20260310;
    size_t statuses[2] = {0};
    for (int round = 0; round < 4000; round++) {
        uint8_t *copy = malloc(whole.size);
        ck_assert_ptr_nonnull(copy);
        memcpy(copy, whole.data, whole.size);
        size_t size = mutate(copy, whole.size, &random);
        enum status status =
            survive((struct bytes){.data = copy, .size = size}, exports[_i].format);
        statuses[status == STATUS_OK]++;
        free(copy);
    }
    ck_assert_uint_gt(statuses[0], 100); /* both ways are walked */
    ck_assert_uint_gt(statuses[1], 100);
}
END_TEST

/* An attribute of 100,000 arrays inside each other, as a whole request. */
static struct bytes nested_attribute(size_t depth)
{
    /* ArrayValue { 1: AnyValue { 5: ArrayValue ... } }, built from the inside by sizes: level k
     * holds level k - 1 in two sized fields. */
    uint8_t *data = arena_alloc(&build_arena, 16 * depth);
    uint8_t *end = data + 16 * depth;
    uint8_t *at = end;
    for (size_t level = 0; level < 2 * depth; level++) {
        struct bytes size = varint((uint64_t)(end - at));
        at -= size.size;
        memcpy(at, size.data, size.size);
        *--at = level % 2 == 0 ? 0x2a : 0x0a; /* 5 array_value, 1 values */
    }
    return (struct bytes){.data = at, .size = (size_t)(end - at)};
}

START_TEST(hostile__nesting_of_100000_levels_is_only_bytes)
{
    struct bytes value = field_bytes(5, nested_attribute(100000));
    ck_assert_uint_gt(value.size, 400000);
    struct point_spec spec = point_good();
    spec.attributes[0] = pair(text("deep"), value);
    ck_assert_int_eq(survive(request_of_spec(&spec), PAYLOAD_PROTOBUF), STATUS_OK);
    ck_assert_uint_eq(decoded_payload(request_of_spec(&spec)).good_count, 1);
}
END_TEST

START_TEST(hostile__lengths_that_lie)
{
    static const uint64_t lies[] = {
        1, 7, 8, 1 << 20, INT32_MAX, UINT32_MAX, (uint64_t)UINT32_MAX + 1, INT64_MAX, UINT64_MAX};
    /* fields of a data point: counts, bounds (packed), attributes; and of the levels above */
    static const uint32_t point_fields[] = {6, 7, 9, 15};
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        for (size_t k = 0; k < sizeof point_fields / sizeof *point_fields; k++) {
            struct bytes point = JOIN(varint(point_fields[k] << 3 | 2), varint(lies[i]));
            ck_assert_int_eq(survive(request_of(&point, 1), PAYLOAD_PROTOBUF), STATUS_INVALID);
        }
        struct bytes top = JOIN(varint(1 << 3 | 2), varint(lies[i]));
        ck_assert_int_eq(survive(top, PAYLOAD_PROTOBUF), STATUS_INVALID);
        struct bytes metric_lie =
            request(attributes_good(), JOIN(varint(2 << 3 | 2), varint(lies[i])));
        ck_assert_int_eq(survive(metric_lie, PAYLOAD_PROTOBUF), STATUS_INVALID);
    }
}
END_TEST

START_TEST(hostile__packed_sizes_that_are_no_multiple_of_8)
{
    for (uint32_t field = 6; field <= 7; field++)
        for (size_t size = 1; size < 8; size++) {
            struct bytes point = field_bytes(field, filled('x', size));
            ck_assert_int_eq(survive(request_of(&point, 1), PAYLOAD_PROTOBUF), STATUS_INVALID);
        }
}
END_TEST

START_TEST(hostile__malformed_data_of_each_kind)
{
    static const uint32_t data_fields[] = {5, 7, 9, 10, 11};
    for (size_t i = 0; i < sizeof data_fields / sizeof *data_fields; i++) {
        struct bytes data = metric(METRIC_NAME, "s", data_fields[i], text("\x0a\x05"));
        ck_assert_int_eq(
            survive(request(attributes_good(), field_bytes(2, data)), PAYLOAD_PROTOBUF),
            STATUS_INVALID);
        data = metric(METRIC_NAME, "s", data_fields[i], text("")); /* no points at all */
        ck_assert_uint_eq(
            decoded_payload(request(attributes_good(), field_bytes(2, data))).point_count, 0);
    }
    struct bytes attribute = field_bytes(1, text("\xff")); /* a KeyValue that is none */
    ck_assert_int_eq(survive(request(attribute, text("")), PAYLOAD_PROTOBUF), STATUS_INVALID);
    struct message_facts found;
    struct err err = {0};
    ck_assert_int_eq(
        message_peek(request(attribute, text("")), PAYLOAD_PROTOBUF, &build_arena, &found, &err),
        STATUS_INVALID);
}
END_TEST

/* OTLP says packed, a protobuf parser must take both, and in pieces. */
START_TEST(hostile__unpacked_and_split_buckets_are_read)
{
    struct point_spec spec = point_good();
    spec.count_count = 0;
    spec.bound_count = 0;
    struct bytes point = JOIN(point_encode(&spec), field_fixed64(6, 3), field_double(7, 0.25),
                              field_bytes(6, fixed64(4)));
    struct message message = decoded_payload(request_of(&point, 1));
    ck_assert_uint_eq(message.good_count, 1);
    ck_assert_int_eq(message.points[0].histogram.counts[6], 3);
    ck_assert_int_eq(message.points[0].histogram.counts[14], 4);
}
END_TEST

START_TEST(hostile__wrong_wire_types)
{
    struct bytes rows[] = {
        field_varint(1, 5), field_fixed64(1, 5), text("\x0b"), /* group start */
        text("\x0c"),                                          /* group end */
        text("\x0d"),       text("\x0f"),        text("\x00"), /* field number 0 */
        text("\x80"),       filled('\x80', 20),  filled('\xff', 20)};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        ck_assert_int_ne(survive(rows[i], PAYLOAD_PROTOBUF), STATUS_NO_MEMORY);
}
END_TEST

/* Two bytes on the wire that ask for a struct each, over and over, at each level. 1 MiB of them
 * must end at the memory bound or be decoded within it. */
START_TEST(hostile__amplification_is_bounded)
{
    struct bytes empty_resources = filled('\0', LIMIT_PAYLOAD_BYTES);
    for (size_t i = 0; i < empty_resources.size; i += 2)
        ((uint8_t *)(uintptr_t)empty_resources.data)[i] = 0x0a; /* field 1, size 0 */
    ck_assert_int_eq(survive(empty_resources, PAYLOAD_PROTOBUF), STATUS_NO_MEMORY);

    struct bytes inner = {.data = empty_resources.data, .size = LIMIT_PAYLOAD_BYTES - 256};
    struct bytes attributes = request(inner, text("")); /* empty attributes */
    struct bytes points =
        request(attributes_good(), field_bytes(2, metric(METRIC_NAME, "s", 9, inner)));
    struct bytes gauges =
        request(attributes_good(), field_bytes(2, metric(METRIC_NAME, "s", 5, inner)));
    ck_assert_int_ne(survive(attributes, PAYLOAD_PROTOBUF), STATUS_OK);
    ck_assert_int_eq(survive(points, PAYLOAD_PROTOBUF), STATUS_NO_MEMORY);
    ck_assert_int_eq(survive(gauges, PAYLOAD_PROTOBUF), STATUS_NO_MEMORY);
}
END_TEST

/* A singular submessage that is sent again is merged: the work must not grow with the square. */
START_TEST(hostile__repeated_singular_submessages)
{
    struct bytes piece = field_bytes(1, field_bytes(1, text(""))); /* Resource, one attribute */
    struct bytes all = {.data = NULL};
    uint8_t *data = arena_alloc(&build_arena, 100000 * piece.size);
    for (size_t i = 0; i < 100000; i++)
        memcpy(data + i * piece.size, piece.data, piece.size);
    all = (struct bytes){.data = data, .size = 100000 * piece.size};
    ck_assert_int_eq(survive(field_bytes(1, all), PAYLOAD_PROTOBUF), STATUS_NO_MEMORY);
}
END_TEST

START_TEST(hostile__zeros)
{
    size_t size = (size_t)64 * 1024 * 1024;
    struct bytes zeros = filled('\0', size);
    assert_dead(zeros, "the most is");
    for (zeros.size = LIMIT_PAYLOAD_BYTES; zeros.size > 0; zeros.size /= 2) {
        ck_assert_int_eq(survive(zeros, PAYLOAD_PROTOBUF), STATUS_INVALID); /* field number 0 */
        ck_assert_int_eq(survive(zeros, PAYLOAD_JSON), STATUS_INVALID);
    }
}
END_TEST

/* The largest message that makes sense is far below the bound: 1 MiB of minimal good points. */
START_TEST(hostile__dense_good_message_fits)
{
    struct point_spec spec = point_good();
    spec.count_count = spec.bound_count = 0;
    spec.has_sum = false;
    struct bytes point = field_bytes(1, point_encode(&spec)); /* times and count: 29 bytes */
    size_t count = (LIMIT_PAYLOAD_BYTES - 1024) / point.size;
    uint8_t *data = arena_alloc(&build_arena, count * point.size);
    for (size_t i = 0; i < count; i++)
        memcpy(data + i * point.size, point.data, point.size);
    struct bytes points = {.data = data, .size = count * point.size};
    struct bytes histogram_data = JOIN(points, field_varint(2, 2));
    struct message message = decoded_payload(
        request(attributes_good(), field_bytes(2, metric(METRIC_NAME, "s", 9, histogram_data))));
    ck_assert_uint_eq(message.good_count, count);
}
END_TEST

/* A decoder that met a hostile message decodes the next one as if nothing had been. */
START_TEST(hostile__decoder_goes_on)
{
    struct bytes good = file_read(exports[0].path);
    struct bytes bad = filled('\x0a', LIMIT_PAYLOAD_BYTES);
    for (int round = 0; round < 3; round++) {
        ck_assert_int_ne(survive(bad, PAYLOAD_PROTOBUF), STATUS_OK);
        ck_assert_int_eq(survive(good, PAYLOAD_PROTOBUF), STATUS_OK);
    }
}
END_TEST

/* An arena that is exhausted at any point of the decoding is an error, never a crash. */
START_TEST(hostile__every_memory_limit)
{
    struct bytes whole = file_read(exports[_i].path);
    struct message_input input = input_of(whole);
    enum status last = STATUS_NO_MEMORY;
    input.format = exports[_i].format;
    for (size_t limit = 0; limit < 64 * 1024; limit += 16) {
        struct otlp_request request_tree;
        struct message message;
        struct err err = {0};
        struct arena arena;
        arena_init(&arena, limit);
        last = otlp_request_decode(whole, input.format, &arena, &request_tree, &err);
        ck_assert(last == STATUS_OK || last == STATUS_NO_MEMORY);
        arena_rewind(&arena);
        if (limit < 8 * 1024) /* the caller's arena holds only points and texts */
            ck_assert_int_ne(message_decode(build_decoder, &input, &arena, &message, &err),
                             STATUS_INVALID);
        arena_free(&arena);
    }
    ck_assert_int_eq(last, STATUS_OK); /* 64 KiB were enough in the end */
}
END_TEST

START_TEST(hostile__attributes_at_every_memory_limit)
{
    struct bytes items[3] = {pair_text("a", text("x")), pair_int("b", 1), text("")};
    struct otlp_attributes encoded = {.items = items, .count = 3};
    enum status last = STATUS_OK;
    for (size_t limit = 0; limit < 4096; limit += 16) {
        struct arena arena;
        struct attributes decoded_attributes;
        struct err err = {0};
        arena_init(&arena, limit);
        last = otlp_attributes_decode(&encoded, &arena, &decoded_attributes, &err);
        ck_assert_int_eq(last, limit < 1024 && last != STATUS_OK ? STATUS_NO_MEMORY : STATUS_OK);
        ck_assert(limit > 0 || last == STATUS_NO_MEMORY);
        arena_free(&arena);
    }
    ck_assert_int_eq(last, STATUS_OK);
}
END_TEST

static void *decode_on_small_stack(void *argument)
{
    const struct bytes *payload = argument;
    struct message_input input = input_of(*payload);
    struct message message;
    struct err err = {0};
    struct arena arena;
    arena_init(&arena, 64 * 1024 * 1024);
    static enum status status;
    status = message_decode(build_decoder, &input, &arena, &message, &err);
    arena_free(&arena);
    return &status;
}

/* Coroutines have 256 KiB; decoding takes a fraction of it, at any depth. */
START_TEST(hostile__stack_of_64_kib_is_enough)
{
    struct point_spec spec = point_good();
    spec.attributes[0] = pair(text("deep"), field_bytes(5, nested_attribute(100000)));
    struct bytes payload = request_of_spec(&spec);
    pthread_attr_t attributes;
    pthread_t thread;
    void *status = NULL;
    ck_assert_int_eq(pthread_attr_init(&attributes), 0);
    ck_assert_int_eq(pthread_attr_setstacksize(&attributes, 64 * 1024), 0);
    ck_assert_int_eq(pthread_create(&thread, &attributes, decode_on_small_stack, &payload), 0);
    ck_assert_int_eq(pthread_join(thread, &status), 0);
    ck_assert_int_eq(*(enum status *)status, STATUS_OK);
    pthread_attr_destroy(&attributes);
}
END_TEST

Suite *otlp_hostile_suite(void);
Suite *otlp_hostile_suite(void)
{
    Suite *suite = suite_create("otlp_hostile");
    TCase *tests = tcase_create("otlp_hostile");
    tcase_set_timeout(tests, 120);
    tcase_add_checked_fixture(tests, build_open, build_close);
    tcase_add_loop_test(tests, hostile__truncated_at_every_byte, 0, 3);
    tcase_add_loop_test(tests, hostile__mutations_of_real_exports, 0, 3);
    tcase_add_test(tests, hostile__nesting_of_100000_levels_is_only_bytes);
    tcase_add_test(tests, hostile__lengths_that_lie);
    tcase_add_test(tests, hostile__packed_sizes_that_are_no_multiple_of_8);
    tcase_add_test(tests, hostile__malformed_data_of_each_kind);
    tcase_add_test(tests, hostile__unpacked_and_split_buckets_are_read);
    tcase_add_test(tests, hostile__wrong_wire_types);
    tcase_add_test(tests, hostile__amplification_is_bounded);
    tcase_add_test(tests, hostile__repeated_singular_submessages);
    tcase_add_test(tests, hostile__zeros);
    tcase_add_test(tests, hostile__dense_good_message_fits);
    tcase_add_test(tests, hostile__decoder_goes_on);
    tcase_add_loop_test(tests, hostile__every_memory_limit, 0, 3);
    tcase_add_test(tests, hostile__attributes_at_every_memory_limit);
    tcase_add_test(tests, hostile__stack_of_64_kib_is_enough);
    suite_add_tcase(suite, tests);
    return suite;
}

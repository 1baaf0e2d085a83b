/* OTLP requests for tests, written on the wire by hand: an encoder that shares nothing with the
 * code under test, and that can also write what no library would.
 *
 * All memory is `build_arena`; a suite makes it in its fixture (build_open, build_close).
 */
#ifndef TESTS_CORE_OTLP_OTLP_BUILD_H
#define TESTS_CORE_OTLP_OTLP_BUILD_H

#include "core/base/time.h"
#include "core/otlp/message.h"
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TENANT_TEXT "6f1c2c9e-7a51-4d0e-9d55-0a5d0c5b7b11"
/* 2026-03-10T12:00:00Z */
#define T0_NS INT64_C(1773144000000000000)

static struct arena build_arena;
static struct decoder *build_decoder;

static inline void build_open(void)
{
    struct settings settings = settings_default();
    arena_init(&build_arena, (size_t)512 * 1024 * 1024);
    build_decoder = decoder_new(&settings, rules_default());
    ck_assert_ptr_nonnull(build_decoder);
}

static inline void build_close(void)
{
    decoder_free(build_decoder);
    arena_free(&build_arena);
}

static inline struct bytes text(const char *string)
{
    return bytes_of(string);
}

static inline struct bytes raw(const char *data, size_t size)
{
    return (struct bytes){.data = (const uint8_t *)data, .size = size};
}

/* size times the same byte */
static inline struct bytes filled(char byte, size_t size)
{
    uint8_t *data = arena_alloc(&build_arena, size);
    ck_assert_ptr_nonnull(data);
    memset(data, byte, size);
    return (struct bytes){.data = data, .size = size};
}

static inline struct bytes join_array(const struct bytes *parts, size_t count)
{
    size_t size = 0;
    for (size_t i = 0; i < count; i++)
        size += parts[i].size;
    uint8_t *data = arena_alloc(&build_arena, size + 1);
    ck_assert_ptr_nonnull(data);
    size_t at = 0;
    for (size_t i = 0; i < count; i++) {
        if (parts[i].size > 0)
            memcpy(data + at, parts[i].data, parts[i].size);
        at += parts[i].size;
    }
    return (struct bytes){.data = data, .size = size};
}

#define JOIN(...)                                                                                  \
    join_array((const struct bytes[]){__VA_ARGS__},                                                \
               sizeof((const struct bytes[]){__VA_ARGS__}) / sizeof(struct bytes))

static inline struct bytes varint(uint64_t value)
{
    uint8_t *data = arena_alloc(&build_arena, 10);
    size_t size = 0;
    do {
        data[size++] = (uint8_t)((value & 0x7f) | (value > 0x7f ? 0x80 : 0));
        value >>= 7;
    } while (value > 0);
    return (struct bytes){.data = data, .size = size};
}

static inline struct bytes fixed64(uint64_t value)
{
    uint8_t *data = arena_alloc(&build_arena, 8);
    for (int i = 0; i < 8; i++)
        data[i] = (uint8_t)(value >> (8 * i));
    return (struct bytes){.data = data, .size = 8};
}

static inline uint64_t double_bits(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline struct bytes field_varint(uint32_t field, uint64_t value)
{
    return JOIN(varint(field << 3), varint(value));
}

static inline struct bytes field_fixed64(uint32_t field, uint64_t value)
{
    return JOIN(varint(field << 3 | 1), fixed64(value));
}

static inline struct bytes field_double(uint32_t field, double value)
{
    return field_fixed64(field, double_bits(value));
}

static inline struct bytes field_bytes(uint32_t field, struct bytes value)
{
    return JOIN(varint(field << 3 | 2), varint(value.size), value);
}

/* KeyValue */
static inline struct bytes pair(struct bytes key, struct bytes any_value)
{
    return JOIN(field_bytes(1, key), field_bytes(2, any_value));
}

static inline struct bytes pair_text(const char *key, struct bytes value)
{
    return pair(text(key), field_bytes(1, value));
}

static inline struct bytes pair_int(const char *key, int64_t value)
{
    return pair(text(key), field_varint(3, (uint64_t)value));
}

static inline struct bytes pair_bool(const char *key, bool value)
{
    return pair(text(key), field_varint(2, value ? 1 : 0));
}

/* Each item in a field of its own. */
static inline struct bytes repeat(uint32_t field, const struct bytes *items, size_t count)
{
    struct bytes all = {0};
    for (size_t i = 0; i < count; i++)
        all = JOIN(all, field_bytes(field, items[i]));
    return all;
}

#define POINT_ATTRIBUTES_MAX 8

/* A histogram data point; a zero field is left out, as proto3 does. */
struct point_spec {
    uint64_t start;
    uint64_t time;
    uint64_t count;
    bool has_sum;
    double sum;
    uint32_t flags;
    const uint64_t *counts;
    size_t count_count;
    const double *bounds;
    size_t bound_count;
    struct bytes attributes[POINT_ATTRIBUTES_MAX]; /* KeyValues, up to the first empty one */
};

static inline struct bytes point_encode(const struct point_spec *spec)
{
    struct bytes counts = {0};
    struct bytes bounds = {0};
    struct bytes all = {0};
    for (size_t i = 0; i < POINT_ATTRIBUTES_MAX && spec->attributes[i].size > 0; i++)
        all = JOIN(all, field_bytes(9, spec->attributes[i]));
    for (size_t i = 0; i < spec->count_count; i++)
        counts = JOIN(counts, fixed64(spec->counts[i]));
    for (size_t i = 0; i < spec->bound_count; i++)
        bounds = JOIN(bounds, fixed64(double_bits(spec->bounds[i])));
    if (spec->start > 0)
        all = JOIN(all, field_fixed64(2, spec->start));
    if (spec->time > 0)
        all = JOIN(all, field_fixed64(3, spec->time));
    if (spec->count > 0)
        all = JOIN(all, field_fixed64(4, spec->count));
    if (spec->has_sum)
        all = JOIN(all, field_double(5, spec->sum));
    if (counts.size > 0)
        all = JOIN(all, field_bytes(6, counts));
    if (bounds.size > 0)
        all = JOIN(all, field_bytes(7, bounds));
    if (spec->flags > 0)
        all = JOIN(all, field_varint(10, spec->flags));
    return all;
}

/* Two buckets over one bound, 3 + 4 requests, good in every respect: T0, age one minute. */
static inline struct point_spec point_good(void)
{
    static const uint64_t counts[] = {3, 4};
    static const double bounds[] = {0.25};
    return (struct point_spec){.start = (uint64_t)(T0_NS - NS_PER_MIN),
                               .time = (uint64_t)T0_NS,
                               .count = 7,
                               .has_sum = true,
                               .sum = 1.5,
                               .counts = counts,
                               .count_count = 2,
                               .bounds = bounds,
                               .bound_count = 1};
}

#define METRIC_NAME "http.server.request.duration"
#define SPAN_NAME   "scf.http.server.request.duration.from_spans"

static inline struct bytes histogram(int32_t temporality, const struct bytes *points, size_t count)
{
    return JOIN(repeat(1, points, count), field_varint(2, (uint64_t)(int64_t)temporality));
}

/* data_field: 5 gauge, 7 sum, 9 histogram, 10 exponential histogram, 11 summary */
static inline struct bytes metric(const char *name, const char *unit, uint32_t data_field,
                                  struct bytes data)
{
    return JOIN(field_bytes(1, text(name)), field_bytes(3, text(unit)),
                field_bytes(data_field, data));
}

static inline struct bytes scope(const char *name, const char *version, struct bytes metrics)
{
    return JOIN(field_bytes(1, JOIN(field_bytes(1, text(name)), field_bytes(2, text(version)))),
                metrics);
}

/* metrics: joined field_bytes(2, metric(...)); attributes: joined field_bytes(1, pair(...)) */
static inline struct bytes request(struct bytes attributes, struct bytes metrics)
{
    return field_bytes(
        1, JOIN(field_bytes(1, attributes), field_bytes(2, scope("lib", "1", metrics))));
}

static inline struct bytes attributes_good(void)
{
    return JOIN(field_bytes(1, pair_text("service.name", text("shop"))),
                field_bytes(1, pair_text("scf.tenant.id", text(TENANT_TEXT))));
}

/* A whole cumulative request of one metric of ours with these points. */
static inline struct bytes request_of(const struct bytes *points, size_t count)
{
    return request(attributes_good(),
                   field_bytes(2, metric(METRIC_NAME, "s", 9,
                                         histogram(TEMPORALITY_CUMULATIVE, points, count))));
}

static inline struct bytes request_of_spec(const struct point_spec *spec)
{
    struct bytes point = point_encode(spec);
    return request_of(&point, 1);
}

static inline struct uuid tenant(void)
{
    struct uuid uuid;
    ck_assert(uuid_parse(text(TENANT_TEXT), &uuid));
    return uuid;
}

static inline struct message_input input_of(struct bytes payload)
{
    return (struct message_input){.payload = payload,
                                  .format = PAYLOAD_PROTOBUF,
                                  .msg_id = text("collector-1"),
                                  .tenant = tenant(),
                                  .now_ns = T0_NS};
}

/* A payload that must decode. */
static inline struct message decoded(const struct message_input *input)
{
    struct message message;
    struct err err = {0};
    enum status status = message_decode(build_decoder, input, &build_arena, &message, &err);
    ck_assert_msg(status == STATUS_OK, "%s", err.message);
    return message;
}

static inline struct message decoded_payload(struct bytes payload)
{
    struct message_input input = input_of(payload);
    return decoded(&input);
}

/* A payload that must be refused as a whole, with this in the error. */
static inline void assert_dead(struct bytes payload, const char *reason)
{
    struct message_input input = input_of(payload);
    struct message message;
    struct err err = {0};
    enum status status = message_decode(build_decoder, &input, &build_arena, &message, &err);
    ck_assert_int_eq(status, STATUS_INVALID);
    ck_assert_int_eq(err.status, STATUS_INVALID);
    ck_assert_msg(strstr(err.message, reason) != NULL, "\"%s\" is not in \"%s\"", reason,
                  err.message);
}

/* What became of the only point of a payload: POINT_OUTCOME_COUNT when it is good. */
static inline enum point_outcome outcome_of(struct bytes payload)
{
    struct message message = decoded_payload(payload);
    ck_assert_uint_eq(message.point_count, 1);
    ck_assert_uint_eq(message.good_count, message.points[0].refusal == POINT_OUTCOME_COUNT);
    return message.points[0].refusal;
}

#define assert_outcome(payload, expected)                                                          \
    do {                                                                                           \
        enum point_outcome outcome_ = outcome_of(payload);                                         \
        ck_assert_msg(outcome_ == (expected), "outcome is %d, expected %d", (int)outcome_,         \
                      (int)(expected));                                                            \
    } while (0)

static inline struct bytes file_read(const char *path)
{
    FILE *file = fopen(path, "rb");
    ck_assert_msg(file != NULL, "cannot open \"%s\" (tests run from the root of the tree)", path);
    uint8_t *data = arena_alloc(&build_arena, 1024 * 1024);
    struct bytes bytes = {.data = data, .size = fread(data, 1, 1024 * 1024, file)};
    fclose(file);
    return bytes;
}

#endif

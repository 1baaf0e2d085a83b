/* sim/ref against core/otlp: captured exports, whole and damaged, are judged alike as messages, and
 * their points are refused and identified alike (R-DEC, R-ID). */
#include "core/otlp/message.h"
#include "sim/base/prng.h"
#include "tests/sim/ref/model.h"

#define PAYLOAD_MAX (256 * 1024)

static const char *const captures[] = {"cum-pb", "delta-pb", "cum-msdefaults-pb", "cum-json"};

static uint8_t payload[PAYLOAD_MAX];
static struct model m;
static struct arena arena;
static struct decoder *decoder;
static struct uuid tenant;
static int64_t now_ns;

static void setup(void)
{
    m = (struct model){0};
    model_open(&m, "");
    arena_init(&arena, (size_t)256 * 1024 * 1024);
    decoder = decoder_new(&m.settings, rules_default());
    ck_assert_ptr_nonnull(decoder);
    tenant = test_uuid(ACME);
}

static void teardown(void)
{
    decoder_free(decoder);
    arena_free(&arena);
    model_close(&m);
}

/* The capture's number n; 0 when there is none. */
static size_t load(const char *capture, int n)
{
    char path[128];
    snprintf(path, sizeof path, "tests/data/otlp/%s/%03d.%s", capture, n,
             strstr(capture, "json") ? "json" : "pb");
    FILE *file = fopen(path, "rb");
    if (!file)
        return 0;
    size_t size = fread(payload, 1, sizeof payload, file);
    ck_assert_uint_lt(size, sizeof payload);
    fclose(file);
    return size;
}

static void partitions_around(int64_t ns)
{
    for (int64_t day = ns / NS_PER_DAY - 8; day <= ns / NS_PER_DAY + 8; day++)
        ref_partition_created(m.ref, REF_MINUTE, day);
}

/* ---- one payload on both sides ---- */

static bool has_state(const struct point *point)
{
    const struct ref_series_row *rows;
    size_t count = ref_series_state(m.ref, &rows);
    for (size_t i = 0; i < count; i++)
        if (memcmp(rows[i].series_hash, point->series_hash.bytes, 32) == 0 &&
            rows[i].start_unix_nano == point->start_unix_nano)
            return true;
    return false;
}

/* How many points of the model's last message had that outcome. */
static size_t model_points(enum point_outcome outcome)
{
    const char *const *names;
    size_t count = ref_last_points(m.ref, &names);
    size_t met = 0;
    for (size_t i = 0; i < count; i++)
        met += strcmp(names[i], point_outcome_name(outcome)) == 0;
    return met;
}

static bool both_refuse_alike(const struct message *message)
{
    size_t refused[POINT_OUTCOME_COUNT + 1] = {0};
    for (size_t i = 0; i < message->point_count; i++)
        refused[message->points[i].refusal]++;
    for (int outcome = POINT_NO_VALUE; outcome < POINT_OUTCOME_COUNT; outcome++)
        if (refused[outcome] != model_points((enum point_outcome)outcome))
            return false;
    return true;
}

/* True when the message is good; asserts that both agree on it and on every point. */
static bool judge_both(size_t size, enum payload_format format, const char *what)
{
    static int serial;
    char id[32];
    snprintf(id, sizeof id, "m-%d", ++serial);
    struct message_input input = {.payload = {payload, size},
                                  .format = format,
                                  .msg_id = bytes_of(id),
                                  .tenant = tenant,
                                  .now_ns = now_ns};
    struct message message;
    struct err err = {0};
    enum status status = message_decode(decoder, &input, &arena, &message, &err);
    struct ref_message told = {.tenant = tenant,
                               .msg_id = input.msg_id,
                               .payload = input.payload,
                               .format = format == PAYLOAD_JSON ? REF_JSON : REF_PROTOBUF};
    bool good = ref_validate(m.ref, &told) == REF_APPLIED;
    ck_assert_msg(good == (status == STATUS_OK), "%s: the model says %s, the decoder %s", what,
                  good ? "good" : ref_reason(m.ref), err.message);
    if (good) {
        ref_begin(m.ref, now_ns, NULL);
        enum ref_fate fate = ref_apply(m.ref, &told);
        ref_commit(m.ref);
        ck_assert_msg(fate == REF_APPLIED || fate == REF_OVERFLOW, "%s: %s", what,
                      ref_reason(m.ref));
        ck_assert_msg(both_refuse_alike(&message), "%s: other points are refused", what);
        for (size_t i = 0; i < message.good_count; i++)
            ck_assert_msg(message.points[i].temporality == TEMPORALITY_DELTA ||
                              has_state(&message.points[i]),
                          "%s: point %zu is another stream", what, i);
    }
    arena_rewind(&arena);
    return good;
}

static int64_t newest(size_t size, enum payload_format format)
{
    struct message_facts facts;
    struct err err = {0};
    ck_assert_int_eq(message_peek((struct bytes){payload, size}, format, &arena, &facts, &err),
                     STATUS_OK);
    arena_rewind(&arena);
    return facts.newest_ns;
}

START_TEST(ref__captured_exports_are_read_alike)
{
    int files = 0;
    for (size_t c = 0; c < sizeof captures / sizeof captures[0]; c++) {
        enum payload_format format = strstr(captures[c], "json") ? PAYLOAD_JSON : PAYLOAD_PROTOBUF;
        for (int n = 0; n < 100; n++) {
            size_t size = load(captures[c], n);
            if (size == 0)
                break;
            now_ns = newest(size, format);
            partitions_around(now_ns);
            ck_assert_msg(judge_both(size, format, captures[c]), "%s %d", captures[c], n);
            files++;
        }
    }
    ck_assert_int_ge(files, 10);
}
END_TEST

/* Bytes changed, cut off, or repeated, at random; times outside the partitions are out of the
 * window. */
static size_t damage(struct prng *prng, size_t size)
{
    for (uint64_t times = prng_below(prng, 3) + 1; times > 0 && size > 16; times--) {
        size_t at = prng_below(prng, size);
        switch (prng_below(prng, 4)) {
        case 0:
            payload[at] = (uint8_t)prng_next(prng);
            break;
        case 1:
            payload[at] ^= (uint8_t)(1 << prng_below(prng, 8));
            break;
        case 2:
            size = at + 1;
            break;
        default:
            memmove(payload + at, payload + at + 1, size - at - 1);
            size--;
        }
    }
    return size;
}

START_TEST(ref__damaged_exports_are_read_alike)
{
    const char *rounds_text = getenv("METERSIM_TEST_SEEDS");
    int rounds = rounds_text ? atoi(rounds_text) : 300;
    int good = 0;
    struct prng prng = prng_make(11, PRNG_WORKLOAD);
    for (int round = 0; round < rounds; round++) {
        const char *capture = captures[prng_below(&prng, 4)];
        enum payload_format format = strstr(capture, "json") ? PAYLOAD_JSON : PAYLOAD_PROTOBUF;
        size_t size = load(capture, (int)prng_below(&prng, 2));
        if (size == 0)
            continue;
        now_ns = newest(size, format);
        partitions_around(now_ns);
        char what[64];
        snprintf(what, sizeof what, "%s round %d", capture, round);
        good += judge_both(damage(&prng, size), format, what);
    }
    ck_assert_int_gt(good, rounds / 20);
    ck_assert_int_lt(good, rounds - rounds / 20);
}
END_TEST

/* JSON values of every type, and as protobuf what the JSON encoder must make of them: one stream.
 */
START_TEST(ref__values_of_every_type_are_identified_alike__R_ID_1)
{
    static const char *const values[] = {
        "{\"stringValue\":\"x\"}",
        "{\"stringValue\":\"\"}",
        "{\"boolValue\":true}",
        "{\"boolValue\":false}",
        "{\"intValue\":\"-7\"}",
        "{\"intValue\":200}",
        "{\"doubleValue\":1.5}",
        "{\"doubleValue\":\"NaN\"}",
        "{\"bytesValue\":\"AAEC/w==\"}",
        "{\"arrayValue\":{\"values\":[{\"stringValue\":\"a\"},{\"intValue\":\"-1\"},{}]}}",
        "{\"arrayValue\":{}}",
        "{\"kvlistValue\":{\"values\":[{\"key\":\"k\",\"value\":{\"boolValue\":false}},"
        "{\"key\":\"\",\"value\":{\"doubleValue\":0}},"
        "{\"key\":\"n\",\"value\":{\"arrayValue\":{\"values\":[{\"bytesValue\":\"\"}]}}}]}}",
        "{}"};
    now_ns = T0_NS;
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        int size = snprintf(
            (char *)payload, sizeof payload,
            "{\"resourceMetrics\":[{\"resource\":{\"attributes\":[{\"key\":\"scf.tenant.id\","
            "\"value\":{\"stringValue\":\"" ACME "\"}},{\"key\":\"r\",\"value\":%s}]},"
            "\"scopeMetrics\":[{\"metrics\":[{\"name\":\"http.server.request.duration\","
            "\"unit\":\"s\",\"histogram\":{\"aggregationTemporality\":2,\"dataPoints\":[{"
            "\"attributes\":[{\"key\":\"p\",\"value\":%s}],\"startTimeUnixNano\":\"%lld\","
            "\"timeUnixNano\":\"%lld\",\"count\":\"1\",\"bucketCounts\":[\"1\"]}]}}]}]}]}",
            values[i], values[i], (long long)T0_NS - 1000, (long long)T0_NS);
        ck_assert_msg(judge_both((size_t)size, PAYLOAD_JSON, values[i]), "%s", values[i]);
    }
    const struct ref_series_row *rows;
    ck_assert_uint_eq(ref_series_state(m.ref, &rows), sizeof values / sizeof values[0]);
}
END_TEST

Suite *ref_decode_suite(void);
Suite *ref_decode_suite(void)
{
    Suite *suite = suite_create("ref_decode");
    TCase *tcase = tcase_create("ref_decode");
    tcase_set_timeout(tcase, 600);
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, ref__captured_exports_are_read_alike);
    tcase_add_test(tcase, ref__damaged_exports_are_read_alike);
    tcase_add_test(tcase, ref__values_of_every_type_are_identified_alike__R_ID_1);
    suite_add_tcase(suite, tcase);
    return suite;
}

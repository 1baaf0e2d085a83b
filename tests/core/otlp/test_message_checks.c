/* R-DEC-3, MS "Metric tables" (checkText): what condemns a message as a whole. */
#include "core/base/limits.h"
#include "tests/core/otlp/otlp_build.h"

/* The three texts that become columns, and where each stands. */
static const struct column {
    const char *key;
    size_t size_max;
    bool of_resource;
} columns[] = {
    {"service.name", 128, true}, {"http.request.method", 16, false}, {"http.route", 1024, false}};
#define COLUMN_COUNT 3

/* A good request but for one attribute; 1 point, of a metric of ours with the given data field. */
static struct bytes request_with(const struct column *column, struct bytes attribute)
{
    struct point_spec spec = point_good();
    struct bytes attributes = field_bytes(1, pair_text("scf.tenant.id", text(TENANT_TEXT)));
    if (column->of_resource)
        attributes = JOIN(field_bytes(1, attribute), attributes);
    else
        spec.attributes[0] = attribute;
    struct bytes point = point_encode(&spec);
    return request(attributes, field_bytes(2, metric(METRIC_NAME, "s", 9,
                                                     histogram(TEMPORALITY_DELTA, &point, 1))));
}

static struct bytes column_value(const struct column *column, const struct point *point)
{
    if (column->of_resource)
        return point->service;
    return strcmp(column->key, "http.route") == 0 ? point->route : point->method;
}

START_TEST(message_checks__text_is_kept_byte_for_byte)
{
    static const char *const values[] = {"",
                                         "a",
                                         " ",
                                         "\x7e",
                                         "\xc2\xa0",
                                         "caf\xc3\xa9",
                                         "\xe2\x82\xac",
                                         "\xf0\x9f\x98\x80",
                                         "\xef\xbf\xbd",
                                         "\xf4\x8f\xbf\xbf",
                                         "\xed\x9f\xbf",
                                         "\xee\x80\x80"};
    const struct column *column = &columns[_i];
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        struct message message =
            decoded_payload(request_with(column, pair_text(column->key, text(values[i]))));
        ck_assert_uint_eq(message.good_count, 1);
        ck_assert(bytes_equal(column_value(column, &message.points[0]), text(values[i])));
    }
}
END_TEST

START_TEST(message_checks__absent_text_is_empty)
{
    const struct column *column = &columns[_i];
    struct message message =
        decoded_payload(request_with(column, pair_text("other", text("value"))));
    ck_assert_uint_eq(message.good_count, 1);
    ck_assert_uint_eq(column_value(column, &message.points[0]).size, 0);
}
END_TEST

START_TEST(message_checks__limits_are_bytes_not_characters)
{
    const struct column *column = &columns[_i];
    /* all limits are even: size_max bytes are size_max / 2 two-byte characters */
    struct bytes two_byte = text("");
    for (size_t i = 0; i < column->size_max / 2; i++)
        two_byte = JOIN(two_byte, text("\xc3\xa9"));
    struct bytes at_limit[] = {filled('x', column->size_max), two_byte};
    for (size_t i = 0; i < 2; i++) {
        struct bytes payload = request_with(column, pair_text(column->key, at_limit[i]));
        ck_assert_uint_eq(decoded_payload(payload).good_count, 1);
        struct bytes above = JOIN(at_limit[i], text("x"));
        assert_dead(request_with(column, pair_text(column->key, above)), "the most is");
    }
}
END_TEST

START_TEST(message_checks__control_characters)
{
    /* Unicode Cc: U+0000..001F, U+007F..009F. B11: NUL is not the end of a text. */
    const struct column *column = &columns[_i];
    for (uint32_t code = 0; code < 0xa0; code++) {
        char encoded[2] = {(char)code, 0};
        size_t size = 1;
        if (code >= 0x20 && code < 0x7f)
            continue;
        if (code >= 0x80) {
            encoded[0] = (char)(0xc0 | code >> 6);
            encoded[1] = (char)(0x80 | (code & 0x3f));
            size = 2;
        }
        struct bytes value = JOIN(text("/a"), raw(encoded, size), text("b"));
        assert_dead(request_with(column, pair_text(column->key, value)), "control character");
    }
}
END_TEST

START_TEST(message_checks__malformed_utf8)
{
    static const struct {
        const char *bytes;
        size_t size;
    } rows[] = {{"\x80", 1},             /* a continuation alone */
                {"\xc3", 1},             /* cut short */
                {"\xc3(", 2},            /* no continuation */
                {"\xc0\xaf", 2},         /* overlong "/" */
                {"\xe0\x80\xaf", 3},     /* overlong "/" */
                {"\xf0\x80\x80\xaf", 4}, /* overlong "/" */
                {"\xc0\x80", 2},         /* overlong NUL */
                {"\xed\xa0\x80", 3},     /* surrogate U+D800 */
                {"\xed\xbf\xbf", 3},     /* surrogate U+DFFF */
                {"\xf4\x90\x80\x80", 4}, /* U+110000 */
                {"\xf5\x80\x80\x80", 4}, /* above any code point */
                {"\xff", 1},
                {"\xfe", 1}};
    const struct column *column = &columns[_i];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct bytes value = JOIN(text("/"), raw(rows[i].bytes, rows[i].size));
        assert_dead(request_with(column, pair_text(column->key, value)), "not UTF-8");
    }
}
END_TEST

START_TEST(message_checks__text_of_another_type)
{
    const struct column *column = &columns[_i];
    struct bytes key = text(column->key);
    struct bytes values[] = {pair_int(column->key, 1),
                             pair_bool(column->key, true),
                             pair(key, field_double(4, 1)),
                             pair(key, field_bytes(5, text(""))),
                             pair(key, field_bytes(6, text(""))),
                             pair(key, field_bytes(7, text("GET"))),
                             pair(key, text("")),  /* AnyValue without a value */
                             field_bytes(1, key)}; /* no AnyValue */
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        assert_dead(request_with(column, values[i]), "is not a string");
}
END_TEST

/* Every value of a repeated key is checked; the order of attributes cannot hide one. */
START_TEST(message_checks__repeated_text_is_checked_each_time)
{
    struct point_spec spec = point_good();
    spec.attributes[0] = pair_text("http.route", text("/a"));
    spec.attributes[1] = pair_text("http.route", text("/\x01"));
    assert_dead(request_of_spec(&spec), "control character");
    struct bytes attributes = JOIN(attributes_good(), field_bytes(1, pair_int("service.name", 1)));
    assert_dead(request(attributes, text("")), "is not a string");
    attributes = JOIN(attributes_good(), field_bytes(1, pair_text("service.name", text("b"))));
    spec = point_good();
    struct bytes point = point_encode(&spec);
    struct message message = decoded_payload(request(
        attributes,
        field_bytes(2, metric(METRIC_NAME, "s", 9, histogram(TEMPORALITY_DELTA, &point, 1)))));
    ck_assert(bytes_equal(message.points[0].service, text("shop"))); /* the first */
}
END_TEST

START_TEST(message_checks__come_before_point_checks)
{
    /* one point is refused (flag), another is good: the message is dead all the same */
    struct point_spec specs[] = {point_good(), point_good()};
    specs[0].flags = 1;
    specs[0].attributes[0] = pair_text("http.route", text("/\n"));
    struct bytes points[] = {point_encode(&specs[1]), point_encode(&specs[0])};
    assert_dead(request_of(points, 2), "point 1: attribute \"http.route\"");
    /* a point of the wrong type is checked too */
    struct bytes gauge = field_bytes(1, field_bytes(7, pair_int("http.request.method", 1)));
    assert_dead(request(attributes_good(), field_bytes(2, metric(METRIC_NAME, "s", 5, gauge))),
                "point 0: attribute \"http.request.method\"");
}
END_TEST

START_TEST(message_checks__metrics_of_other_names_are_not_checked)
{
    struct point_spec spec = point_good();
    spec.attributes[0] = pair_text("http.route", text("/\n"));
    struct bytes point = point_encode(&spec);
    struct message message = decoded_payload(
        request(attributes_good(),
                field_bytes(2, metric("other", "s", 9, histogram(TEMPORALITY_DELTA, &point, 1)))));
    ck_assert_uint_eq(message.skipped_metrics, 1);
}
END_TEST

START_TEST(message_checks__other_attributes_are_only_bytes)
{
    struct point_spec spec = point_good();
    spec.attributes[0] = pair(text("\xff\x01"), field_bytes(1, text("\xfe\n")));
    spec.attributes[1] = pair_text("long", filled('x', 5000));
    ck_assert_uint_eq(decoded_payload(request_of_spec(&spec)).good_count, 1);
}
END_TEST

START_TEST(message_checks__tenant)
{
    const struct {
        struct bytes attribute;
        const char *reason;
    } rows[] = {
        {pair_text("scf.tenant", text(TENANT_TEXT)), "is missing"},
        {pair_int("scf.tenant.id", 1), "is not a uuid"},
        {pair_text("scf.tenant.id", text("")), "is not a uuid"},
        {pair_text("scf.tenant.id", text("6f1c2c9e7a514d0e9d550a5d0c5b7b11")), "is not a uuid"},
        {pair_text("scf.tenant.id", text("{" TENANT_TEXT "}")), "is not a uuid"},
        {pair_text("scf.tenant.id", text(TENANT_TEXT " ")), "is not a uuid"},
        {pair(text("scf.tenant.id"), field_bytes(7, text(TENANT_TEXT))), "is not a uuid"},
        {pair_text("scf.tenant.id", text("6f1c2c9e-7a51-4d0e-9d55-0a5d0c5b7b12")),
         "the subject's tenant is " TENANT_TEXT},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_dead(request(field_bytes(1, rows[i].attribute), text("")), rows[i].reason);
    /* either case is the same uuid */
    struct bytes upper = pair_text("scf.tenant.id", text("6F1C2C9E-7A51-4D0E-9D55-0A5D0C5B7B11"));
    ck_assert_uint_eq(decoded_payload(request(field_bytes(1, upper), text(""))).point_count, 0);
}
END_TEST

START_TEST(message_checks__every_resource_carries_the_tenant)
{
    struct bytes good = request(attributes_good(), text(""));
    assert_dead(JOIN(good, field_bytes(1, text(""))), "resource 1: attribute \"scf.tenant.id\"");
    struct bytes other = pair_text("scf.tenant.id", text("00000000-0000-0000-0000-000000000001"));
    /* stamped twice with different tenants */
    struct bytes twice = JOIN(attributes_good(), field_bytes(1, other));
    assert_dead(request(twice, text("")), "resource 0");
    assert_dead(JOIN(good, request(field_bytes(1, other), text(""))), "resource 1");
}
END_TEST

START_TEST(message_checks__message_id)
{
    const struct {
        struct bytes msg_id;
        const char *reason; /* NULL: good */
    } rows[] = {{text("x"), NULL},
                {filled('x', 256), NULL},
                {text("caf\xc3\xa9"), NULL},
                {text(""), "is missing"},
                {filled('x', 257), "the most is 256"},
                {text("a\nb"), "control character"},
                {text("\xff"), "not UTF-8"}};
    struct point_spec spec = point_good();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct message_input input = input_of(request_of_spec(&spec));
        struct message message;
        struct err err = {0};
        input.msg_id = rows[i].msg_id;
        enum status status = message_decode(build_decoder, &input, &build_arena, &message, &err);
        ck_assert_int_eq(status, rows[i].reason == NULL ? STATUS_OK : STATUS_INVALID);
        if (rows[i].reason != NULL)
            ck_assert_ptr_nonnull(strstr(err.message, rows[i].reason));
    }
}
END_TEST

/* R-DEC-1: 1 MiB is accepted, one byte more is not. Filler: an unknown field of the request. */
START_TEST(message_checks__payload_size)
{
    struct point_spec spec = point_good();
    struct bytes payload = request_of_spec(&spec);
    size_t filler = LIMIT_PAYLOAD_BYTES - payload.size - 4; /* key 1 byte, size 3 bytes */
    struct bytes at_limit = JOIN(payload, field_bytes(15, filled('x', filler)));
    ck_assert_uint_eq(at_limit.size, 1024 * 1024);
    ck_assert_uint_eq(decoded_payload(at_limit).good_count, 1);
    assert_dead(JOIN(payload, field_bytes(15, filled('x', filler + 1))), "the most is 1048576");
}
END_TEST

Suite *otlp_message_checks_suite(void);
Suite *otlp_message_checks_suite(void)
{
    Suite *suite = suite_create("otlp_message_checks");
    TCase *tests = tcase_create("message_checks");
    tcase_add_checked_fixture(tests, build_open, build_close);
    tcase_add_loop_test(tests, message_checks__text_is_kept_byte_for_byte, 0, COLUMN_COUNT);
    tcase_add_loop_test(tests, message_checks__absent_text_is_empty, 0, COLUMN_COUNT);
    tcase_add_loop_test(tests, message_checks__limits_are_bytes_not_characters, 0, COLUMN_COUNT);
    tcase_add_loop_test(tests, message_checks__control_characters, 0, COLUMN_COUNT);
    tcase_add_loop_test(tests, message_checks__malformed_utf8, 0, COLUMN_COUNT);
    tcase_add_loop_test(tests, message_checks__text_of_another_type, 0, COLUMN_COUNT);
    tcase_add_test(tests, message_checks__repeated_text_is_checked_each_time);
    tcase_add_test(tests, message_checks__come_before_point_checks);
    tcase_add_test(tests, message_checks__metrics_of_other_names_are_not_checked);
    tcase_add_test(tests, message_checks__other_attributes_are_only_bytes);
    tcase_add_test(tests, message_checks__tenant);
    tcase_add_test(tests, message_checks__every_resource_carries_the_tenant);
    tcase_add_test(tests, message_checks__message_id);
    tcase_add_test(tests, message_checks__payload_size);
    suite_add_tcase(suite, tests);
    return suite;
}

/* Text checks (R-DEC-3), UUIDs, byte order, SHA-256. */
#include "core/base/bytes.h"
#include "core/base/sha256.h"
#include <check.h>
#include <string.h>

/* R-DEC-3: valid UTF-8 and no character of Unicode's Cc, so C1 too. */
static const struct {
    const char *bytes;
    size_t size;
    bool storable;
} texts[] = {
    {"", 0, true},
    {"/cart/{id}", 10, true},
    {"\xc3\xa9", 2, true},          /* U+00E9 */
    {"\xc2\xa0", 2, true},          /* U+00A0: the first after C1 */
    {"\xe2\x82\xac", 3, true},      /* U+20AC */
    {"\xed\x9f\xbf", 3, true},      /* U+D7FF: the last before the surrogates */
    {"\xee\x80\x80", 3, true},      /* U+E000 */
    {"\xef\xbf\xbf", 3, true},      /* U+FFFF: a noncharacter, still valid UTF-8 */
    {"\xf0\x90\x80\x80", 4, true},  /* U+10000 */
    {"\xf4\x8f\xbf\xbf", 4, true},  /* U+10FFFF */
    {"/a\0b", 4, false},            /* NUL (case B11) */
    {"\x1f", 1, false},             /* the last of C0 */
    {"\x7f", 1, false},             /* DEL */
    {"\xc2\x80", 2, false},         /* U+0080: the first of C1 */
    {"\xc2\x9f", 2, false},         /* U+009F: the last of C1 */
    {"\xc0\x80", 2, false},         /* overlong NUL */
    {"\xc1\xbf", 2, false},         /* overlong DEL */
    {"\xe0\x9f\xbf", 3, false},     /* overlong U+07FF */
    {"\xf0\x8f\xbf\xbf", 4, false}, /* overlong U+FFFF */
    {"\xed\xa0\x80", 3, false},     /* U+D800 */
    {"\xed\xbf\xbf", 3, false},     /* U+DFFF */
    {"\xf4\x90\x80\x80", 4, false}, /* U+110000 */
    {"\xf5\x80\x80\x80", 4, false}, /* no such lead byte */
    {"\x80", 1, false},             /* a lone continuation */
    {"\xff", 1, false},
    {"a\xc3", 2, false}, /* cut inside a character */
    {"\xe2\x82", 2, false},
    {"\xf0\x9f\x98", 3, false},
    {"\xc3\x28", 2, false}, /* no continuation byte */
};
#define TEXT_COUNT ((int)(sizeof texts / sizeof texts[0]))

START_TEST(text__storable_is_utf8_without_control_characters)
{
    struct bytes text = {(const uint8_t *)texts[_i].bytes, texts[_i].size};
    ck_assert_int_eq(text_is_storable(text), texts[_i].storable);
}
END_TEST

START_TEST(bytes__order_is_bytewise_then_by_length)
{
    ck_assert_int_lt(bytes_compare(bytes_of("a"), bytes_of("b")), 0);
    ck_assert_int_lt(bytes_compare(bytes_of("a"), bytes_of("aa")), 0);
    ck_assert_int_lt(bytes_compare(bytes_of("Z"), bytes_of("a")), 0);
    ck_assert_int_gt(bytes_compare(bytes_of("\xc3\xa9"), bytes_of("z")), 0); /* unsigned */
    ck_assert_int_eq(bytes_compare(bytes_of("x"), bytes_of("x")), 0);
    ck_assert_int_lt(bytes_compare((struct bytes){NULL, 0}, bytes_of("a")), 0);
    ck_assert(bytes_equal((struct bytes){NULL, 0}, bytes_of("")));
    ck_assert(!bytes_equal(bytes_of("a"), bytes_of("b")));
}
END_TEST

START_TEST(uuid__both_cases_parse_and_print_in_lower_case)
{
    struct uuid uuid;
    char text[UUID_TEXT_SIZE + 1];
    ck_assert(uuid_parse(bytes_of("0A1B2C3D-4e5f-6789-abCD-ef0123456789"), &uuid));
    ck_assert_uint_eq(uuid.bytes[0], 0x0a);
    ck_assert_uint_eq(uuid.bytes[15], 0x89);
    uuid_format(&uuid, text);
    ck_assert_str_eq(text, "0a1b2c3d-4e5f-6789-abcd-ef0123456789");
}
END_TEST

START_TEST(uuid__other_forms_are_refused)
{
    static const char *const forms[] = {
        "",
        "0a1b2c3d4e5f6789abcdef0123456789",
        "{0a1b2c3d-4e5f-6789-abcd-ef0123456789}",
        "0a1b2c3d-4e5f-6789-abcd-ef012345678",
        "0a1b2c3d-4e5f-6789-abcd-ef01234567890",
        "0a1b2c3d-4e5f-6789-abcd-ef012345678g",
        "0a1b2c3d-4e5f-6789-abcd+ef0123456789",
        "0a1b2c3-d4e5f-6789-abcd-ef0123456789",
        " a1b2c3d-4e5f-6789-abcd-ef0123456789",
    };
    struct uuid uuid;
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++)
        ck_assert_msg(!uuid_parse(bytes_of(forms[i]), &uuid), "accepted %s", forms[i]);
}
END_TEST

/* FIPS 180-2, appendix B: the digests of "abc" and of the 56-byte message; and of no bytes. */
START_TEST(sha256__published_vectors)
{
    static const struct {
        const char *text;
        const char *hex;
    } vectors[] = {
        {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
    };
    struct sha256_hasher *hasher = sha256_hasher_new();
    ck_assert_ptr_nonnull(hasher);
    for (int round = 0; round < 2; round++) { /* a hasher is used again and again */
        for (size_t i = 0; i < 3; i++) {
            struct sha256 hash;
            char hex[65];
            sha256_of(hasher, vectors[i].text, strlen(vectors[i].text), &hash);
            hex_format(hash.bytes, sizeof hash.bytes, hex);
            ck_assert_str_eq(hex, vectors[i].hex);
        }
    }
    sha256_hasher_free(hasher);
    sha256_hasher_free(NULL);
}
END_TEST

Suite *bytes_suite(void);
Suite *bytes_suite(void)
{
    Suite *suite = suite_create("bytes");
    TCase *tcase = tcase_create("bytes");
    tcase_add_loop_test(tcase, text__storable_is_utf8_without_control_characters, 0, TEXT_COUNT);
    tcase_add_test(tcase, bytes__order_is_bytewise_then_by_length);
    tcase_add_test(tcase, uuid__both_cases_parse_and_print_in_lower_case);
    tcase_add_test(tcase, uuid__other_forms_are_refused);
    tcase_add_test(tcase, sha256__published_vectors);
    suite_add_tcase(suite, tcase);
    return suite;
}

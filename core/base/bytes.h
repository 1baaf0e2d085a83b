/* Counted bytes and text, and UUIDs. Nothing here owns memory. */
#ifndef CORE_BASE_BYTES_H
#define CORE_BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Text is bytes that were checked to be UTF-8 (text_is_storable). data may be NULL when size 0. */
struct bytes {
    const uint8_t *data;
    size_t size;
};

struct uuid {
    uint8_t bytes[16];
};

#define UUID_TEXT_SIZE 36

/* The bytes of a C string, without its NUL. */
struct bytes bytes_of(const char *string);
bool bytes_equal(struct bytes a, struct bytes b);
/* <0, 0, >0: unsigned bytewise, the shorter first (the order of collation "C"). */
int bytes_compare(struct bytes a, struct bytes b);

/* Valid UTF-8 (no surrogates, no overlong forms, at most U+10FFFF) and no control character
 * (Unicode Cc: U+0000-001F, U+007F-009F). R-DEC-3, MS "Metric tables" (checkText). */
bool text_is_storable(struct bytes text);

int uuid_compare(const struct uuid *a, const struct uuid *b);
/* The 36-character form, either case; false for anything else (R-DEC-3). */
bool uuid_parse(struct bytes text, struct uuid *out);
/* Writes 36 lower-case characters and a NUL. */
void uuid_format(const struct uuid *uuid, char out[UUID_TEXT_SIZE + 1]);

/* Lower-case hex, 2 * size characters and a NUL. */
void hex_format(const uint8_t *data, size_t size, char *out);

#endif

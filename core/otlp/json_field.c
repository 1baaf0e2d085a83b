/* The scalar half of the OTLP/JSON mapping; see json_field.h. */
#include "core/otlp/json_field.h"
#include "core/base/assert.h"
#include <math.h>
#include <string.h>

json_t *otlp_json_member(const json_t *object, const char *name)
{
    ASSERT(json_is_object(object));
    json_t *member = json_object_get(object, name);
    return json_is_null(member) ? NULL : member;
}

enum status otlp_json_error(const char *name, const char *what, struct err *err)
{
    return err_set(err, STATUS_INVALID, NULL, "cannot decode OTLP/JSON: \"%s\" is not %s", name,
                   what);
}

enum status otlp_json_array(const json_t *object, const char *name, const json_t **out,
                            size_t *count, struct err *err)
{
    *out = otlp_json_member(object, name);
    *count = 0;
    if (*out == NULL)
        return STATUS_OK;
    if (!json_is_array(*out))
        return otlp_json_error(name, "an array", err);
    *count = json_array_size(*out);
    return STATUS_OK;
}

enum status otlp_json_objects(const json_t *object, const char *name, const json_t **out,
                              size_t *count, struct err *err)
{
    enum status status = otlp_json_array(object, name, out, count, err);
    for (size_t i = 0; status == STATUS_OK && i < *count; i++)
        if (!json_is_object(json_array_get(*out, i)))
            status = otlp_json_error(name, "an array of objects", err);
    return status;
}

enum status otlp_json_object(const json_t *object, const char *name, const json_t **out,
                             struct err *err)
{
    *out = otlp_json_member(object, name);
    if (*out != NULL && !json_is_object(*out))
        return otlp_json_error(name, "an object", err);
    return STATUS_OK;
}

enum status otlp_json_text(const json_t *object, const char *name, struct bytes *out,
                           struct err *err)
{
    const json_t *member = otlp_json_member(object, name);
    if (member == NULL)
        return STATUS_OK;
    if (!json_is_string(member))
        return otlp_json_error(name, "a string", err);
    out->data = (const uint8_t *)json_string_value(member);
    out->size = json_string_length(member);
    return STATUS_OK;
}

/* A decimal number with an optional sign, all of it; its size without the sign in *magnitude. */
static bool decimal_parse(struct bytes text, bool *negative, uint64_t *magnitude)
{
    size_t at = 0;
    *negative = text.size > 0 && text.data[0] == '-';
    if (*negative)
        at = 1;
    if (at == text.size)
        return false;
    *magnitude = 0;
    for (; at < text.size; at++) {
        if (text.data[at] < '0' || text.data[at] > '9')
            return false;
        uint64_t digit = (uint64_t)(text.data[at] - '0');
        if (__builtin_mul_overflow(*magnitude, (uint64_t)10, magnitude) ||
            __builtin_add_overflow(*magnitude, digit, magnitude))
            return false;
    }
    return true;
}

/* Sign and size of an integer written as number, string, or as a float without a fraction. */
static bool integer_parse(const json_t *value, bool *negative, uint64_t *magnitude)
{
    if (json_is_string(value))
        return decimal_parse((struct bytes){.data = (const uint8_t *)json_string_value(value),
                                            .size = json_string_length(value)},
                             negative, magnitude);
    if (json_is_integer(value)) {
        int64_t integer = (int64_t)json_integer_value(value);
        *negative = integer < 0;
        *magnitude = *negative ? 0 - (uint64_t)integer : (uint64_t)integer;
        return true;
    }
    if (!json_is_real(value))
        return false;
    double real = json_real_value(value);
    if (real != floor(real) || fabs(real) > 9007199254740992.0) /* 2^53: exact up to here */
        return false;
    *negative = real < 0;
    *magnitude = (uint64_t)fabs(real);
    return true;
}

enum status otlp_json_u64(const json_t *value, const char *name, uint64_t *out, struct err *err)
{
    bool negative = false;
    uint64_t magnitude = 0;
    if (!integer_parse(value, &negative, &magnitude) || (negative && magnitude > 0))
        return otlp_json_error(name, "an unsigned 64-bit integer", err);
    *out = magnitude;
    return STATUS_OK;
}

enum status otlp_json_i64(const json_t *value, const char *name, int64_t *out, struct err *err)
{
    bool negative = false;
    uint64_t magnitude = 0;
    if (!integer_parse(value, &negative, &magnitude) ||
        magnitude > (uint64_t)INT64_MAX + (negative ? 1 : 0))
        return otlp_json_error(name, "a signed 64-bit integer", err);
    *out = negative ? (int64_t)(0 - magnitude) : (int64_t)magnitude;
    return STATUS_OK;
}

/* A string that holds a JSON number, as the mapping allows. */
static bool double_parse(const json_t *text, double *out)
{
    json_t *number = json_loadb(json_string_value(text), json_string_length(text),
                                JSON_DECODE_ANY | JSON_DECODE_INT_AS_REAL, NULL);
    bool is_number = json_is_real(number);
    if (is_number)
        *out = json_real_value(number);
    json_decref(number);
    return is_number;
}

enum status otlp_json_double(const json_t *value, const char *name, double *out, struct err *err)
{
    if (json_is_number(value)) {
        *out = json_number_value(value);
        return STATUS_OK;
    }
    const char *text = json_string_value(value);
    if (text != NULL && strcmp(text, "NaN") == 0)
        *out = NAN;
    else if (text != NULL && strcmp(text, "Infinity") == 0)
        *out = INFINITY;
    else if (text != NULL && strcmp(text, "-Infinity") == 0)
        *out = -INFINITY;
    else if (text == NULL || json_string_length(value) > 64 || !double_parse(value, out))
        return otlp_json_error(name, "a number", err);
    return STATUS_OK;
}

enum status otlp_json_enum(const json_t *object, const char *name, const char *const *names,
                           int32_t name_count, int32_t *out, struct err *err)
{
    const json_t *member = otlp_json_member(object, name);
    if (member == NULL)
        return STATUS_OK;
    const char *text = json_string_value(member);
    for (int32_t i = 0; text != NULL && i < name_count; i++)
        if (strcmp(text, names[i]) == 0) {
            *out = i;
            return STATUS_OK;
        }
    int64_t number = 0;
    if (text != NULL || otlp_json_i64(member, name, &number, err) != STATUS_OK ||
        number < INT32_MIN || number > INT32_MAX)
        return otlp_json_error(name, "a known enum", err);
    *out = (int32_t)number;
    return STATUS_OK;
}

static int base64_digit(uint8_t byte)
{
    if (byte >= 'A' && byte <= 'Z')
        return byte - 'A';
    if (byte >= 'a' && byte <= 'z')
        return byte - 'a' + 26;
    if (byte >= '0' && byte <= '9')
        return byte - '0' + 52;
    if (byte == '+' || byte == '-')
        return 62;
    return byte == '/' || byte == '_' ? 63 : -1;
}

enum status otlp_json_base64(const json_t *value, const char *name, struct arena *arena,
                             struct bytes *out, struct err *err)
{
    if (!json_is_string(value))
        return otlp_json_error(name, "a base64 string", err);
    const uint8_t *text = (const uint8_t *)json_string_value(value);
    size_t size = json_string_length(value);
    for (int padding = 0; padding < 2 && size > 0 && text[size - 1] == '='; padding++)
        size--;
    uint8_t *bytes = arena_alloc(arena, size / 4 * 3 + 3);
    if (bytes == NULL)
        return err_set(err, STATUS_NO_MEMORY, NULL, "cannot decode OTLP/JSON: memory exhausted");
    uint32_t bits = 0;
    int bit_count = 0;
    *out = (struct bytes){.data = bytes};
    for (size_t i = 0; i < size; i++) {
        int digit = base64_digit(text[i]);
        if (digit < 0)
            return otlp_json_error(name, "a base64 string", err);
        bits = (bits << 6 | (uint32_t)digit) & 0xffffff;
        bit_count += 6;
        if (bit_count >= 8) {
            bit_count -= 8;
            bytes[out->size++] = (uint8_t)(bits >> bit_count);
        }
    }
    return size % 4 == 1 ? otlp_json_error(name, "a base64 string", err) : STATUS_OK;
}

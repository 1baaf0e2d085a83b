/* Fields of OTLP/JSON objects, by the protobuf JSON mapping: 64-bit integers as string or number,
 * enums as number or name, bytes as base64, non-finite doubles as strings, null the same as absent,
 * unknown fields ignored. Each reader leaves *out alone when the field is absent.
 */
#ifndef CORE_OTLP_JSON_FIELD_H
#define CORE_OTLP_JSON_FIELD_H

#include "core/base/arena.h"
#include "core/base/bytes.h"
#include "core/base/err.h"
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* The member, or NULL when absent or null. object must be an object. */
json_t *otlp_json_member(const json_t *object, const char *name);

/* STATUS_INVALID: 'cannot decode OTLP/JSON: "name" is not WHAT'. */
enum status otlp_json_error(const char *name, const char *what, struct err *err);

/* An array member (NULL and 0 when absent) whose elements are all objects. */
enum status otlp_json_objects(const json_t *object, const char *name, const json_t **out,
                              size_t *count, struct err *err);
/* An array member of any elements. */
enum status otlp_json_array(const json_t *object, const char *name, const json_t **out,
                            size_t *count, struct err *err);
/* An object member (NULL when absent). */
enum status otlp_json_object(const json_t *object, const char *name, const json_t **out,
                             struct err *err);
/* The bytes of a string member, owned by the json value. */
enum status otlp_json_text(const json_t *object, const char *name, struct bytes *out,
                           struct err *err);
enum status otlp_json_enum(const json_t *object, const char *name, const char *const *names,
                           int32_t name_count, int32_t *out, struct err *err);

/* One value; name is only for the error. value must not be NULL. */
enum status otlp_json_u64(const json_t *value, const char *name, uint64_t *out, struct err *err);
enum status otlp_json_i64(const json_t *value, const char *name, int64_t *out, struct err *err);
enum status otlp_json_double(const json_t *value, const char *name, double *out, struct err *err);
/* base64, standard or URL alphabet, padded or not; memory of the arena. */
enum status otlp_json_base64(const json_t *value, const char *name, struct arena *arena,
                             struct bytes *out, struct err *err);

#endif

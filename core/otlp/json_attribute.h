/* An OTLP/JSON attribute to the bytes of its protobuf encoding (see request.h for why). The
 * encoding is the one every protobuf library writes, so that a JSON payload and a protobuf payload
 * of the same content get the same hashes, arrays and key-value lists included.
 */
#ifndef CORE_OTLP_JSON_ATTRIBUTE_H
#define CORE_OTLP_JSON_ATTRIBUTE_H

#include "core/otlp/json_field.h"
#include "core/otlp/request.h"

/* The member "attributes" of an object. Memory of *out is the arena's.
 * Recurses with the nesting of the value; the caller has bounded it (LIMIT_JSON_DEPTH). */
enum status otlp_json_attributes(const json_t *object, struct arena *arena,
                                 struct otlp_attributes *out, struct err *err);

#endif

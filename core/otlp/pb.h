/* protobuf-c on an arena: unpacking allocates from the arena and never frees. */
#ifndef CORE_OTLP_PB_H
#define CORE_OTLP_PB_H

#include "core/base/arena.h"
#include "core/base/err.h"
#include "core/model/identity.h"
#include "core/otlp/request.h"
#include <protobuf-c/protobuf-c.h>

struct pb_allocator {
    ProtobufCAllocator base;
    struct arena *arena;
    bool exhausted; /* an allocation was refused: NULL from unpack means memory, not bad bytes */
};

void otlp_pb_init(struct pb_allocator *allocator, struct arena *arena);

/* The error of an unpack that gave NULL: STATUS_NO_MEMORY or STATUS_INVALID. */
enum status otlp_pb_error(const struct pb_allocator *allocator, const char *what, struct err *err);

/* Decodes encoded KeyValues, in their order. Memory of *out is the arena's. */
enum status otlp_attributes_decode(const struct otlp_attributes *encoded, struct arena *arena,
                                   struct attributes *out, struct err *err);

#endif

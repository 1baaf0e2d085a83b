/* Names of sources, as they stand in the tables. */
#include "core/model/point.h"
#include "core/base/assert.h"

const char *source_name(enum source source)
{
    ASSERT(source == SOURCE_METRIC || source == SOURCE_SPAN);
    return source == SOURCE_METRIC ? "metric" : "span";
}

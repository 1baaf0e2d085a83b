/* Statuses and the SQLSTATE classes behind them (MS "Poison messages"). */
#include "core/base/status.h"
#include "core/base/assert.h"
#include <string.h>

const char *status_name(enum status status)
{
    static const char *const names[] = {
        [STATUS_OK] = "ok",
        [STATUS_TRANSIENT] = "transient",
        [STATUS_DATA] = "data",
        [STATUS_REFUSED] = "refused",
        [STATUS_STALE] = "stale",
        [STATUS_INVALID] = "invalid",
        [STATUS_NO_MEMORY] = "no_memory",
        [STATUS_IO] = "io",
        [STATUS_STOPPED] = "stopped",
    };
    ASSERT((size_t)status < sizeof names / sizeof names[0]);
    return names[status];
}

enum status status_of_sqlstate(const char *sqlstate)
{
    static const char transient[][3] = {"08", "40", "53", "55", "57", "58", "XX"};
    ASSERT(sqlstate && strlen(sqlstate) == 5);
    if (!strcmp(sqlstate, "00000"))
        return STATUS_OK;
    if (!strncmp(sqlstate, "22", 2) || !strncmp(sqlstate, "23", 2))
        return STATUS_DATA;
    for (size_t i = 0; i < sizeof transient / sizeof transient[0]; i++)
        if (!strncmp(sqlstate, transient[i], 2))
            return STATUS_TRANSIENT;
    return STATUS_REFUSED;
}

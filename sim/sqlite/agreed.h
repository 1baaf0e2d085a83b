/* Hours whose hourly rows are known to agree with their minutes, so that the drift check (R-ROLL-2)
 * need not add up the same 24 hours every five minutes.
 *
 * Proved, not assumed: an hour is remembered only when the two sums were compared and equal while
 * no open transaction had touched a row (what was compared is then what is committed), and it is
 * forgotten when the preupdate hook tells of any change to a minute or hourly row of it, committed
 * or not. Undoing a change brings the compared rows back, and the hour was forgotten before. A
 * direct-mapped table: an hour that loses its place is only compared again.
 */
#ifndef SIM_SQLITE_AGREED_H
#define SIM_SQLITE_AGREED_H

#include "core/base/bytes.h"
#include <sqlite3.h>

#define AGREED_SLOTS 4096 /* a power of two */

struct agreed_hour {
    bool known;
    char tenant[UUID_TEXT_SIZE];
    int64_t hour_us;
};

struct agreed {
    struct agreed_hour *hours; /* AGREED_SLOTS */
    size_t count;
};

bool agreed_init(struct agreed *agreed); /* false: out of memory */
void agreed_free(struct agreed *agreed);
void agreed_clear(struct agreed *agreed);
bool agreed_known(const struct agreed *agreed, const char *tenant, int64_t hour_us);
void agreed_remember(struct agreed *agreed, const char *tenant, int64_t hour_us);
/* A row of that tenant and bucket_start changes. tenant: UUID_TEXT_SIZE characters. */
void agreed_forget(struct agreed *agreed, const char *tenant, int64_t bucket_start_us);

struct overlay;
/* hour_agreed(tenant_id, hour) and hour_agrees(tenant_id, hour, by_minute, by_hour) over it. */
int agreed_register(struct overlay *overlay);

#endif

#include "sim/sqlite/agreed.h"

#include "core/base/assert.h"
#include "core/base/time.h"
#include "sim/sqlite/internal.h"
#include <stdlib.h>
#include <string.h>

bool agreed_init(struct agreed *agreed)
{
    agreed->count = 0;
    agreed->hours = calloc(AGREED_SLOTS, sizeof(*agreed->hours));
    return agreed->hours != NULL;
}

void agreed_free(struct agreed *agreed)
{
    free(agreed->hours);
    *agreed = (struct agreed){0};
}

void agreed_clear(struct agreed *agreed)
{
    if (agreed->count == 0)
        return;
    memset(agreed->hours, 0, AGREED_SLOTS * sizeof(*agreed->hours));
    agreed->count = 0;
}

/* The end of a uuid is its random part. */
static struct agreed_hour *slot_of(const struct agreed *agreed, const char *tenant, int64_t hour_us)
{
    uint64_t mix;
    memcpy(&mix, tenant + UUID_TEXT_SIZE - sizeof(mix), sizeof(mix));
    mix = (mix ^ (uint64_t)(hour_us / US_PER_HOUR)) * UINT64_C(0x9E3779B97F4A7C15);
    return &agreed->hours[mix >> 52 & (AGREED_SLOTS - 1)];
}

static bool is(const struct agreed_hour *hour, const char *tenant, int64_t hour_us)
{
    return hour->known && hour->hour_us == hour_us &&
           memcmp(hour->tenant, tenant, UUID_TEXT_SIZE) == 0;
}

bool agreed_known(const struct agreed *agreed, const char *tenant, int64_t hour_us)
{
    return agreed->count > 0 && is(slot_of(agreed, tenant, hour_us), tenant, hour_us);
}

void agreed_remember(struct agreed *agreed, const char *tenant, int64_t hour_us)
{
    struct agreed_hour *hour = slot_of(agreed, tenant, hour_us);
    agreed->count += !hour->known;
    *hour = (struct agreed_hour){.known = true, .hour_us = hour_us};
    memcpy(hour->tenant, tenant, UUID_TEXT_SIZE);
}

void agreed_forget(struct agreed *agreed, const char *tenant, int64_t bucket_start_us)
{
    if (agreed->count == 0)
        return;
    int64_t hour_us = time_floor(bucket_start_us, US_PER_HOUR);
    struct agreed_hour *hour = slot_of(agreed, tenant, hour_us);
    if (!is(hour, tenant, hour_us))
        return;
    hour->known = false;
    agreed->count--;
}

/* The tenant's text and the hour of a call; false when the values are of another kind. */
static bool key_of(sqlite3_value **values, const char **tenant, int64_t *hour_us)
{
    *tenant = (const char *)sqlite3_value_text(values[0]);
    *hour_us = sqlite3_value_int64(values[1]);
    return *tenant != NULL && sqlite3_value_bytes(values[0]) == UUID_TEXT_SIZE;
}

static void hour_agreed(sqlite3_context *context, int count, sqlite3_value **values)
{
    const struct overlay *overlay = sqlite3_user_data(context);
    const char *tenant;
    int64_t hour_us;
    ASSERT(count == 2);
    bool known =
        key_of(values, &tenant, &hour_us) && agreed_known(&overlay->agreed, tenant, hour_us);
    sqlite3_result_int(context, known);
}

static void hour_agrees(sqlite3_context *context, int count, sqlite3_value **values)
{
    struct overlay *overlay = sqlite3_user_data(context);
    const char *tenant;
    int64_t hour_us;
    ASSERT(count == 4);
    const void *minute = sqlite3_value_blob(values[2]);
    const void *hour = sqlite3_value_blob(values[3]);
    int size = sqlite3_value_bytes(values[2]);
    bool equal = minute != NULL && hour != NULL && size == sqlite3_value_bytes(values[3]) &&
                 memcmp(minute, hour, (size_t)size) == 0;
    if (equal && overlay->log.count == 0 && key_of(values, &tenant, &hour_us))
        agreed_remember(&overlay->agreed, tenant, hour_us);
    sqlite3_result_int(context, equal);
}

int agreed_register(struct overlay *overlay)
{
    int code = sqlite3_create_function(overlay->db, "hour_agreed", 2, SQLITE_UTF8, overlay,
                                       hour_agreed, NULL, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_create_function(overlay->db, "hour_agrees", 4, SQLITE_UTF8, overlay,
                                       hour_agrees, NULL, NULL);
    return code;
}

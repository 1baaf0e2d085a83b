/* Reads the tables for truth_check through the store port, as role jobs (MS "Rights"). */
#include "core/base/assert.h"
#include "core/base/time.h"
#include "sim/world/truth_state.h"
#include <stdlib.h>
#include <string.h>

/* all of time that a partition can hold */
#define READ_UNTIL_US (100000 * US_PER_DAY)

struct reading {
    const struct truth *truth;
    struct store *store;
    struct arena *arena;
    struct minute_row *minutes;
    size_t minute_count;
    struct truth_state *states;
    size_t state_count;
};

static enum status no_memory(struct err *err)
{
    return err_set(err, STATUS_NO_MEMORY, NULL, "could not read the tables: out of memory");
}

static int hash_compare(const void *a, const void *b)
{
    return sha256_compare(a, b); /* equal hashes are interchangeable */
}

/* The series of a tenant, sorted, each once. */
static struct sha256 *series_of(const struct reading *reading, const struct uuid *tenant,
                                size_t *count)
{
    const struct truth *truth = reading->truth;
    struct sha256 *hashes = arena_array(reading->arena, truth->stream_count + 1, sizeof(*hashes));
    *count = 0;
    if (!hashes)
        return NULL;
    size_t used = 0;
    for (size_t i = 0; i < truth->stream_count; i++)
        if (uuid_compare(&truth->streams[i]->tenant, tenant) == 0)
            hashes[used++] = truth->streams[i]->series_hash;
    qsort(hashes, used, sizeof(*hashes), hash_compare);
    for (size_t i = 0; i < used; i++)
        if (*count == 0 || sha256_compare(&hashes[*count - 1], &hashes[i]) != 0)
            hashes[(*count)++] = hashes[i];
    return hashes;
}

/* a and b one after the other, in arena; a when there is no b. */
static void *concatenate(struct arena *arena, void *a, size_t a_count, const void *b,
                         size_t b_count, size_t size)
{
    if (b_count == 0 && a)
        return a;
    char *all = arena_array(arena, a_count + b_count + 1, size);
    if (!all)
        return NULL;
    if (a_count > 0)
        memcpy(all, a, a_count * size);
    if (b_count > 0)
        memcpy(all + a_count * size, b, b_count * size);
    return all;
}

static enum status read_minutes(struct reading *reading, const struct uuid *tenant, struct err *err)
{
    struct minute_row *rows = NULL;
    size_t count = 0;
    enum status status = store_read_rows(reading->store, READ_MINUTE, tenant, 0, READ_UNTIL_US,
                                         reading->arena, &rows, &count, err);
    if (status != STATUS_OK)
        return status;
    reading->minutes = concatenate(reading->arena, reading->minutes, reading->minute_count, rows,
                                   count, sizeof(*rows));
    reading->minute_count += count;
    return reading->minutes ? STATUS_OK : no_memory(err);
}

static enum status read_states(struct reading *reading, const struct uuid *tenant, struct err *err)
{
    size_t series_count = 0, count = 0;
    struct sha256 *series = series_of(reading, tenant, &series_count);
    struct series_state_row *rows = NULL;
    if (!series)
        return no_memory(err);
    if (series_count == 0)
        return STATUS_OK;
    enum status status = store_get_series_states(reading->store, tenant, series, series_count,
                                                 reading->arena, &rows, &count, err);
    if (status != STATUS_OK)
        return status;
    struct truth_state *states = arena_array(reading->arena, count + 1, sizeof(*states));
    if (!states)
        return no_memory(err);
    for (size_t i = 0; i < count; i++)
        states[i] = (struct truth_state){
            .tenant = *tenant,
            .key = rows[i].key,
            .last_unix_nano = rows[i].state.last_unix_nano,
            .last_count = rows[i].state.last_count,
        };
    reading->states = concatenate(reading->arena, reading->states, reading->state_count, states,
                                  count, sizeof(*states));
    reading->state_count += count;
    return reading->states ? STATUS_OK : no_memory(err);
}

/* Each tenant at the first of its streams. */
static bool is_first_of_tenant(const struct truth *truth, size_t number)
{
    for (size_t i = 0; i < number; i++)
        if (uuid_compare(&truth->streams[i]->tenant, &truth->streams[number]->tenant) == 0)
            return false;
    return true;
}

enum status truth_read_tables(const struct truth *truth, struct store *store, struct arena *arena,
                              struct truth_tables *tables, struct err *err)
{
    ASSERT(truth && store && arena && tables);
    struct reading reading = {.truth = truth, .store = store, .arena = arena};
    enum status status = store_begin(store, ROLE_JOBS, err);
    if (status != STATUS_OK)
        return status;
    for (size_t i = 0; i < truth->stream_count && status == STATUS_OK; i++) {
        const struct uuid *tenant = &truth->streams[i]->tenant;
        if (!is_first_of_tenant(truth, i))
            continue;
        status = read_minutes(&reading, tenant, err);
        if (status == STATUS_OK)
            status = read_states(&reading, tenant, err);
    }
    store_rollback(store);
    *tables = (struct truth_tables){
        .minutes = reading.minutes,
        .minute_count = reading.minute_count,
        .states = reading.states,
        .state_count = reading.state_count,
    };
    return status;
}

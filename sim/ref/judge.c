/* One cumulative point at a time: R-PT-1 to R-PT-6, R-FIRST-1 to R-FIRST-7, the stream cap. */
#include "sim/ref/model.h"

#include <string.h>

#define SECOND INT64_C(1000000000)
#define HOUR   (3600 * SECOND)

static bool is_of_stream(const struct ref_series_row *row, const struct uuid *tenant,
                         const struct point *point)
{
    return same_tenant(&row->tenant, tenant) && row->start_unix_nano == point->start &&
           memcmp(row->series_hash, point->series_hash, 32) == 0;
}

/* The stream's state; one that was pruned after the open transaction had read it comes back. */
static struct ref_series_row *find_state(struct ref *ref, const struct uuid *tenant,
                                         const struct point *point)
{
    struct ref_series_row *row;
    for (LIST_EACH(row, &ref->states))
        if (is_of_stream(row, tenant, point))
            return row;
    const struct pruned_state *pruned;
    for (LIST_EACH(pruned, &ref->pruned_states))
        if (is_of_stream(&pruned->row, tenant, point) && pruned->until > ref->view.states)
            return list_add(&ref->states, &pruned->row, sizeof pruned->row);
    return NULL;
}

static struct ref_resource_row *find_resource(const struct ref *ref, const struct uuid *tenant,
                                              const struct point *point)
{
    struct ref_resource_row *row;
    for (LIST_EACH(row, &ref->resources))
        if (same_tenant(&row->tenant, tenant) && row->start_unix_nano == point->start &&
            memcmp(row->resource_hash, point->resource_hash, 32) == 0)
            return row;
    return NULL;
}

static bool at_stream_cap(const struct ref *ref, const struct uuid *tenant)
{
    int64_t streams = 0;
    const struct ref_series_row *row;
    for (LIST_EACH(row, &ref->states))
        streams +=
            same_tenant(&row->tenant, tenant) && was_seen(ref, row->since, ref->view.streams);
    return rules_on(ref->rules, RULE_A6) && streams >= ref->settings.series_per_tenant_max;
}

/* ---- R-FIRST: the first point of a stream ---- */

/* The earliest point of the process in resource_seen, as the open transaction read it. False: none.
 */
static bool earliest_met(const struct ref *ref, const struct uuid *tenant,
                         const struct point *point, int64_t *earliest)
{
    bool met = false;
    const struct meeting *meeting;
    for (LIST_EACH(meeting, &ref->meetings)) {
        if (!same_tenant(&meeting->tenant, tenant) || meeting->start_unix_nano != point->start ||
            memcmp(meeting->resource_hash, point->resource_hash, 32) != 0 ||
            !was_seen(ref, meeting->since, ref->view.processes))
            continue;
        if (!met || meeting->time < *earliest)
            *earliest = meeting->time;
        met = true;
    }
    return met;
}

/* R-FIRST-2: the earliest point of the process met so far, stored or in this message. */
static bool process_is_known(const struct ref *ref, const struct uuid *tenant,
                             const struct point *point, const struct list *points)
{
    int64_t earliest = point->time;
    bool met = earliest_met(ref, tenant, point, &earliest);
    if (!rules_on(ref->rules, RULE_S1))
        return met;
    const struct point *other;
    for (LIST_EACH(other, points))
        if (other->cumulative && other->start == point->start && other->time < earliest &&
            memcmp(other->resource_hash, point->resource_hash, 32) == 0)
            earliest = other->time;
    return point->time - earliest >= SECOND;
}

/* R-FIRST-6 (S-5) and R-FIRST-7 (S-6) */
static bool known_process_is_suspect(const struct ref *ref, const struct uuid *tenant,
                                     const struct point *point)
{
    int64_t today = day_of(ref->now_us);
    if (rules_on(ref->rules, RULE_S5) &&
        overflow_at_begin(ref, tenant, today) + overflow_at_begin(ref, tenant, today - 1) > 0)
        return true;
    const struct ref_resource_row *row = find_resource(ref, tenant, point);
    return rules_on(ref->rules, RULE_S6) && row &&
           row->first_seen_at_us <= ref->now_us - 7 * MICROS_PER_DAY;
}

/* first_full or baseline, and whether a baseline may catch up. */
static enum outcome judge_first(const struct ref *ref, const struct uuid *tenant,
                                const struct point *point, const struct list *points,
                                bool *may_catch_up)
{
    int64_t age = point->time - point->start;
    *may_catch_up = false;
    if (rules_on(ref->rules, RULE_S12) && age == 0) /* R-FIRST-3 */
        return BASELINE;
    if (process_is_known(ref, tenant, point, points)) /* R-FIRST-2 */
        return known_process_is_suspect(ref, tenant, point) ? BASELINE : FIRST_FULL;
    if (age < ref->settings.first_point_threshold_ns) /* R-FIRST-1 */
        return FIRST_FULL;
    *may_catch_up = rules_on(ref->rules, RULE_A5);
    if (rules_on(ref->rules, RULE_S2) && age > HOUR) /* R-FIRST-5 */
        *may_catch_up = false;
    return BASELINE;
}

/* ---- R-PT: every later point ---- */

static bool fell(const struct ref_series_row *state, const struct point *point)
{
    for (int i = 0; i < REF_BUCKETS; i++)
        if (point->counts[i] < state->last_counts[i])
            return true;
    return point->count < state->last_count;
}

static enum outcome judge_next(const struct ref_series_row *state, const struct point *point)
{
    if (point->time < state->last_unix_nano) /* R-PT-1 */
        return OUT_OF_ORDER;
    if (point->time == state->last_unix_nano)
        return DUPLICATE;
    if (fell(state, point)) /* R-PT-2 */
        return RESET;
    int64_t first_age = state->last_unix_nano - state->start_unix_nano;
    int64_t gap = point->time - state->last_unix_nano;
    if (state->baseline && first_age <= 2 * (__int128)gap) /* R-PT-3 */
        return CATCH_UP;
    return point->count > state->last_count ? DELTA : UNCHANGED; /* R-PT-4 */
}

/* ---- what a point adds ---- */

static struct contribution whole(const struct point *point)
{
    struct contribution adds = {.count = point->count, .sum = point->sum};
    memcpy(adds.counts, point->counts, sizeof adds.counts);
    return adds;
}

static struct contribution difference(const struct ref_series_row *state, const struct point *point)
{
    struct contribution adds = {.count = point->count - state->last_count};
    for (int i = 0; i < REF_BUCKETS; i++)
        adds.counts[i] = point->counts[i] - state->last_counts[i];
    if (point->has_sum && point->sum > state->last_sum) /* R-PT-2, R-PT-6 */
        adds.sum = point->sum - state->last_sum;
    return adds;
}

/* The point becomes the stream's last one. */
static void store_state(struct ref *ref, struct ref_series_row *state, const struct point *point,
                        bool baseline)
{
    state->last_unix_nano = point->time;
    state->last_count = point->count;
    memcpy(state->last_counts, point->counts, sizeof state->last_counts);
    if (point->has_sum) /* R-PT-6 */
        state->last_sum = point->sum;
    state->last_seen_at_us = ref->now_us;
    state->baseline = baseline;
}

static void touch_process(struct ref *ref, const struct uuid *tenant, const struct point *point)
{
    struct ref_resource_row *row = find_resource(ref, tenant, point);
    if (!row) {
        struct ref_resource_row new_row = {.tenant = *tenant,
                                           .start_unix_nano = point->start,
                                           .first_seen_at_us = ref->now_us,
                                           .first_point_unix_nano = point->time};
        memcpy(new_row.resource_hash, point->resource_hash, 32);
        row = list_add(&ref->resources, &new_row, sizeof new_row);
    }
    row->last_seen_at_us = ref->now_us;
    int64_t earliest;
    if (earliest_met(ref, tenant, point, &earliest) && earliest <= point->time)
        return;
    struct meeting meeting = {.tenant = *tenant,
                              .start_unix_nano = point->start,
                              .time = point->time,
                              .since = ref->view.transaction};
    memcpy(meeting.resource_hash, point->resource_hash, 32);
    list_add(&ref->meetings, &meeting, sizeof meeting);
    if (point->time < row->first_point_unix_nano)
        row->first_point_unix_nano = point->time;
}

static struct contribution judge_cumulative(struct ref *ref, const struct uuid *tenant,
                                            struct point *point, const struct list *points)
{
    struct contribution adds = {0};
    struct ref_series_row *state = find_state(ref, tenant, point);
    if (state) {
        point->outcome = judge_next(state, point);
        if (point->outcome == OUT_OF_ORDER || point->outcome == DUPLICATE)
            return adds;
        if (point->outcome == CATCH_UP)
            adds = whole(point);
        else if (point->outcome == DELTA)
            adds = difference(state, point);
        store_state(ref, state, point, false);
    } else if (at_stream_cap(ref, tenant)) {
        point->outcome = REFUSED_CAP;
        return adds;
    } else {
        bool may_catch_up;
        point->outcome = judge_first(ref, tenant, point, points, &may_catch_up);
        if (point->outcome == FIRST_FULL)
            adds = whole(point);
        struct ref_series_row row = {
            .tenant = *tenant, .start_unix_nano = point->start, .since = ref->view.transaction};
        memcpy(row.series_hash, point->series_hash, 32);
        store_state(ref, &row, point, point->outcome == BASELINE && may_catch_up);
        list_add(&ref->states, &row, sizeof row);
    }
    touch_process(ref, tenant, point); /* R-PT-5 */
    return adds;
}

struct contribution judge(struct ref *ref, const struct uuid *tenant, struct point *point,
                          const struct list *points)
{
    if (point->cumulative)
        return judge_cumulative(ref, tenant, point, points);
    point->outcome = point->count > 0 ? DELTA : UNCHANGED;
    return whole(point);
}

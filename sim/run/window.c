#include "sim/run/window.h"

#include "core/base/assert.h"

/* The partition's place in scenario.missing; missing_count: it is not left out. */
static size_t find_missing(const struct scenario *scenario, bool hourly, int64_t first_day)
{
    size_t i = 0;
    for (; i < scenario->missing_count; i++) {
        const struct scenario_missing *missing = &scenario->missing[i];
        if (!missing->all && missing->partition.hourly == hourly &&
            missing->partition.first_day == first_day)
            break;
    }
    return i;
}

static enum status window_call(struct store *store, struct store_call *call, struct err *err)
{
    struct window *window = (struct window *)store;
    const struct scenario *scenario = window->stage->scenario;
    bool hourly = call->query == QUERY_CREATE_HOURLY_PARTITION;
    if (!hourly && call->query != QUERY_CREATE_MINUTE_PARTITION)
        return window->inner->call(window->inner, call, err);
    ASSERT(call->row_count == 1 && queries[call->query].result_count == 1);
    size_t missing = find_missing(scenario, hourly, call->params[0].integer);
    if (missing == scenario->missing_count)
        return window->inner->call(window->inner, call, err);
    if (window->asked != NULL)
        window->asked[missing] = true;
    call->results = arena_array(call->arena, 1, sizeof(*call->results));
    if (call->results == NULL)
        return err_set(err, STATUS_NO_MEMORY, NULL, "no memory for the initial partitions");
    call->result_rows = 1;
    call->results[0].integer = 0; /* not created */
    return STATUS_OK;
}

void window_init(struct window *window, struct stage *stage, struct store *inner)
{
    ASSERT(window && stage && inner);
    *window = (struct window){.store = {.call = window_call}, .inner = inner, .stage = stage};
    window->asked =
        arena_array(&stage->arena, stage->scenario->missing_count + 1, sizeof(*window->asked));
}

void window_check(const struct window *window)
{
    struct stage *stage = window->stage;
    for (size_t i = 0; window->asked != NULL && i < stage->scenario->missing_count; i++) {
        const struct scenario_missing *missing = &stage->scenario->missing[i];
        if (!missing->all && !window->asked[i])
            run_fail(stage->result, "event", stage_where(stage, missing->place),
                     "the partition is not in the initial window: minutes from 7 days back to 7 "
                     "ahead, hours from the month 31 days back to 3 ahead");
    }
}

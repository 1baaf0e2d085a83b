/* What must hold after every run, whatever the scenario (DESIGN 6): one family a function. */
#include "sim/run/stage.h"

#include "core/base/assert.h"
#include "core/base/time.h"
#include "core/store/store.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SCRATCH_BYTES ((size_t)1024 * 1024 * 1024)

/* conservation: the accounting identity (R-OUT-2), one line each that does not add up */
static void conservation(struct stage *stage, struct store *store, struct arena *scratch)
{
    struct truth_tables tables;
    struct err err = {0};
    char *text = NULL;
    size_t size = 0;
    if (truth_read_tables(stage->truth, store, scratch, &tables, &err) != STATUS_OK) {
        run_fail(stage->result, "accounting", "", "could not read the tables: %s", err.message);
        return;
    }
    FILE *lines = open_memstream(&text, &size);
    if (lines == NULL) {
        run_fail(stage->result, "internal", "", "no memory for the accounting identity");
        return;
    }
    truth_check(stage->truth, &tables, stage->queue, lines);
    meters_check(stage->meters, stage->names, lines);
    fclose(lines);
    for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n"))
        run_fail(stage->result, "accounting", "", "%s", line);
    free(text);
}

struct sums {
    struct histogram counts;
    int64_t count;
};

static bool same(const struct sums *a, const struct sums *b)
{
    return a->count == b->count && memcmp(&a->counts, &b->counts, sizeof(a->counts)) == 0;
}

/* Modulo 2^64: the total of rows that fit need not. */
static void add(int64_t *sum, int64_t more)
{
    *sum = (int64_t)((uint64_t)*sum + (uint64_t)more);
}

static void add_rows(const struct minute_row *rows, size_t count, int64_t from_us, int64_t until_us,
                     struct sums *sums)
{
    for (size_t i = 0; i < count; i++) {
        if (rows[i].bucket_start_us < from_us || rows[i].bucket_start_us >= until_us)
            continue;
        for (int b = 0; b < HISTOGRAM_BUCKETS; b++)
            add(&sums->counts.counts[b], rows[i].counts.counts[b]);
        add(&sums->count, rows[i].count);
    }
}

struct rows {
    struct minute_row *rows;
    size_t count;
};

static bool has_time(const struct rows *rows, int64_t from_us, int64_t until_us)
{
    for (size_t i = 0; i < rows->count; i++)
        if (rows->rows[i].bucket_start_us >= from_us && rows->rows[i].bucket_start_us < until_us)
            return true;
    return false;
}

static bool pending_in(const int64_t *hours, size_t count, int64_t from_us, int64_t until_us)
{
    for (size_t i = 0; i < count; i++)
        if (hours[i] >= from_us && hours[i] < until_us)
            return true;
    return false;
}

static void not_covered(struct stage *stage, const struct uuid *tenant, const char *table,
                        int64_t from_us, const struct sums *low, const struct sums *high)
{
    struct run_result *result = stage->result;
    bool count = low->count != high->count;
    char at[TIME_TEXT_SIZE];
    time_format_ns(from_us * NS_PER_US, at);
    const char *expected =
        count ? cell_int(&result->arena, low->count) : cell_buckets(&result->arena, &low->counts);
    const char *got =
        count ? cell_int(&result->arena, high->count) : cell_buckets(&result->arena, &high->counts);
    run_fail_cell(result, "invariant", "without a pending mark a level equals the one below",
                  run_text(result, "%s, rows \"%s %s\", %s", table,
                           names_of_tenant(stage->names, tenant), at, count ? "count" : "counts"),
                  expected != NULL ? expected : "?", got != NULL ? got : "?");
}

/* A coarse row covers the fine rows of its span, where nothing is pending and the fine rows are all
 * still there. */
static void covers(struct stage *stage, const struct uuid *tenant, const char *table,
                   const struct rows *coarse, const struct rows *fine, int64_t span_us,
                   const int64_t *pending, size_t pending_count)
{
    for (size_t i = 0; i < fine->count; i++) {
        int64_t from = time_floor(fine->rows[i].bucket_start_us, span_us);
        bool first = i == 0 || time_floor(fine->rows[i - 1].bucket_start_us, span_us) != from;
        if (!first || pending_in(pending, pending_count, from, from + span_us))
            continue;
        struct sums low = {0};
        struct sums high = {0};
        add_rows(fine->rows, fine->count, from, from + span_us, &low);
        add_rows(coarse->rows, coarse->count, from, from + span_us, &high);
        if (same(&low, &high))
            continue;
        not_covered(stage, tenant, table, from, &low, &high);
    }
}

static enum status read_level(struct store *store, enum read_level level, const struct uuid *tenant,
                              struct arena *scratch, struct rows *out, struct err *err)
{
    return store_read_rows(store, level, tenant, INT64_MIN, INT64_MAX, scratch, &out->rows,
                           &out->count, err);
}

/* hourly = minutes, daily = hours, where nothing is pending (R-ROLL-1) */
static void rolled_up(struct stage *stage, struct store *store, struct arena *scratch)
{
    for (size_t i = 0; i < stage->scenario->tenant_count; i++) {
        const struct uuid *tenant = &stage->tenants[i];
        struct rows minutes;
        struct rows hours;
        struct rows days;
        int64_t *pending;
        size_t pending_count;
        struct err err = {0};
        if (read_level(store, READ_MINUTE, tenant, scratch, &minutes, &err) != STATUS_OK ||
            read_level(store, READ_HOURLY, tenant, scratch, &hours, &err) != STATUS_OK ||
            read_level(store, READ_DAILY, tenant, scratch, &days, &err) != STATUS_OK ||
            store_read_pending(store, tenant, INT64_MIN, INT64_MAX, scratch, &pending,
                               &pending_count, &err) != STATUS_OK) {
            run_fail(stage->result, "invariant", "", "could not read the tables: %s", err.message);
            return;
        }
        covers(stage, tenant, "metrics_hourly", &hours, &minutes, US_PER_HOUR, pending,
               pending_count);
        /* a month that retention dropped leaves days without hours; days are kept for ever */
        if (has_time(&hours, INT64_MIN, INT64_MAX))
            covers(stage, tenant, "metrics_daily", &days, &hours, US_PER_DAY, pending,
                   pending_count);
    }
}

/* caps: the routes a service and day, {other} not among them, stay within the bound of one writer;
 * several writers may overshoot by what they admit at once (R-TX-8) */
static void caps(struct stage *stage, const struct snapshot *end)
{
    size_t writers = stage->scenario->writer_count > 0 ? stage->scenario->writer_count : 1;
    int64_t bound = stage->scenario->settings.routes_max * (int64_t)writers;
    for (size_t t = 0; t < end->table_count; t++) {
        const struct table *table = &end->tables[t];
        if (strcmp(table->name, "route_registry") != 0)
            continue;
        int64_t routes = 0;
        for (size_t row = 0; row < table->row_count; row++) {
            bool same_service = row > 0;
            for (size_t i = 0; i < 3 && same_service; i++)
                same_service =
                    strcmp(table_cell(table, row, i), table_cell(table, row - 1, i)) == 0;
            routes = same_service ? routes : 0;
            routes += strcmp(table_cell(table, row, 3), "{other}") != 0;
            if (routes > bound)
                run_fail_cell(stage->result, "invariant", "routes stay within their cap",
                              run_text(stage->result, "route_registry, rows \"%s %s %s\"",
                                       table_cell(table, row, 0), table_cell(table, row, 1),
                                       table_cell(table, row, 2)),
                              run_text(stage->result, "at most %" PRId64, bound),
                              run_text(stage->result, "%" PRId64, routes));
        }
    }
}

/* dedup: an acknowledged message that was applied has its dedup row until it is 8 days old; a dead
 * letter has none (R-Q-2) */
static void dedup(struct stage *stage, const struct snapshot *end)
{
    for (size_t t = 0; t < end->table_count; t++) {
        const struct table *table = &end->tables[t];
        if (strcmp(table->name, "ingest_dedup") != 0)
            continue;
        for (size_t i = 0; i < queue_dead_count(stage->queue); i++) {
            const struct queue_dead_letter *dead = queue_dead_letter_at(stage->queue, i);
            if (dead->reason == MESSAGE_DEAD_ID_CONFLICT)
                continue; /* the row is the other tenant's */
            if (queue_came_back(queue_message_at(stage->queue, dead->sequence)))
                continue; /* its letter is there, but nobody knew: it was judged once more */
            /* the same id may have been applied as another message */
            uint64_t newest = queue_find(stage->queue, dead->msg_id);
            bool other =
                newest != dead->sequence || queue_message_at(stage->queue, newest)->previous != 0;
            for (size_t row = 0; row < table->row_count && !other; row++)
                if (bytes_equal(bytes_of(table_cell(table, row, 0)), dead->msg_id))
                    run_fail_cell(stage->result, "invariant", "a dead letter leaves no dedup row",
                                  run_text(stage->result, "ingest_dedup, row \"%s\" of tenant %s",
                                           table_cell(table, row, 0), table_cell(table, row, 1)),
                                  "none", "a row");
        }
    }
}

/* time: every stored time lies inside the run (no wall clock, R-FIRST-4); bucket_start is a floor
 */
static void virtual_time(struct stage *stage, const struct snapshot *end)
{
    static const char *const columns[] = {"first_seen_at", "last_seen_at", "applied_at",
                                          "marked_at", "created_at"};
    int64_t from = stage->scenario->start_ns;
    int64_t until = sched_now_ns(stage->sched);
    for (size_t t = 0; t < end->table_count; t++) {
        const struct table *table = &end->tables[t];
        for (size_t i = 0; i < table->column_count; i++) {
            bool wanted = false;
            for (size_t k = 0; k < sizeof(columns) / sizeof(columns[0]); k++)
                wanted = wanted || strcmp(table->columns[i], columns[k]) == 0;
            for (size_t row = 0; wanted && row < table->row_count; row++) {
                const char *cell = table_cell(table, row, i);
                int64_t at;
                if (!time_parse_ns(cell, strlen(cell), &at) || at < from || at > until)
                    run_fail_cell(stage->result, "invariant", "a stored time lies inside the run",
                                  run_text(stage->result, "%s, row \"%s\", %s", table->name,
                                           table_row_key(table, row, &stage->result->arena),
                                           table->columns[i]),
                                  "a time of the run", cell);
            }
        }
    }
}

/* liveness: nothing is open at the end of a run that drains */

#define OPEN_HINT "or write: run until ... without draining"

static void check_held(struct stage *stage, const char *actor)
{
    size_t number;
    if (!seam_held_by(stage->seam, actor, &number))
        return;
    const struct scenario_fault *fault = &stage->scenario->faults[number];
    const char *text = scenario_print_fault(stage->scenario, fault, &stage->result->arena);
    run_fail(stage->result, "liveness", stage_where(stage, fault->place),
             "\"%s\" is never released: at a later time release %s, " OPEN_HINT,
             text != NULL ? text : "?", actor);
}

static const char *writers_hint(const struct stage *stage)
{
    for (size_t i = 0; i < stage->scenario->writer_count; i++)
        if (stage->writers[i].connection.actor != NULL)
            return "no writer got rid of them in an hour: mend that";
    return "no writer runs: start one";
}

static void check_queue(struct stage *stage)
{
    size_t depth = queue_depth(stage->queue);
    uint64_t first = 1;
    if (depth == 0)
        return;
    while (queue_message_at(stage->queue, first)->state == QUEUE_ACKNOWLEDGED)
        first++;
    const struct queue_message *message = queue_message_at(stage->queue, first);
    run_fail(stage->result, "liveness", "at end",
             "%zu message(s) are still queued, the first is %" PRIu64
             " \"%.*s\" of %s (%s): %s, " OPEN_HINT,
             depth, first, (int)message->msg_id.size,
             message->msg_id.data != NULL ? (const char *)message->msg_id.data : "",
             names_of_tenant(stage->names, &message->tenant), queue_state_name(message->state),
             writers_hint(stage));
}

void stage_check_left_open(struct stage *stage)
{
    const struct scenario *scenario = stage->scenario;
    for (size_t i = 0; i < scenario->writer_count; i++)
        check_held(stage, scenario->writers[i].name);
    for (size_t i = 0; i < scenario->job_count; i++) {
        const struct scenario_job *job = &scenario->jobs[i];
        check_held(stage, job->name);
        if (job_busy(&stage->jobs[i]) && !seam_is_held(stage->seam, job->name))
            run_fail(stage->result, "liveness", stage_where(stage, job->place),
                     "%s is in the middle of a run at the end: let it end, " OPEN_HINT, job->name);
    }
    for (const struct purge_actor *purge = stage->purges; purge != NULL; purge = purge->next)
        if (purge->connection.actor != NULL)
            run_fail(stage->result, "liveness", "at end",
                     "the purge of %s still waits: let the writers end, " OPEN_HINT,
                     names_of_tenant(stage->names, &purge->tenant));
    for (size_t i = 0; i < stage->collector_count; i++)
        if (collector_delays(stage->collectors[i]))
            run_fail(stage->result, "liveness", "at end",
                     "a collector has not published everything: its delay is longer than an "
                     "hour, " OPEN_HINT);
    check_queue(stage);
}

void stage_check_invariants(struct stage *stage)
{
    struct run_result *result = stage->result;
    struct arena scratch;
    struct err err = {0};
    arena_init(&scratch, SCRATCH_BYTES);
    struct backend_session *session = stage->backend->session_new(stage->backend, "invariants");
    if (session == NULL || result->snapshot_count == 0) {
        run_fail(result, "internal", "", "could not check the invariants");
    } else {
        const struct snapshot *end = &result->snapshots[result->snapshot_count - 1];
        struct store *store = stage->backend->session_store(session);
        conservation(stage, store, &scratch);
        if (store_begin(store, ROLE_READER, &err) == STATUS_OK) {
            rolled_up(stage, store, &scratch);
            store_rollback(store);
        } else {
            run_fail(result, "internal", "", "could not check the invariants: %s", err.message);
        }
        caps(stage, end);
        dedup(stage, end);
        virtual_time(stage, end);
    }
    if (session != NULL)
        stage->backend->session_free(session);
    arena_free(&scratch);
}

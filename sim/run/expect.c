/* Expectations: what a scenario claims in line, judged against the world and the tables. */
#include "sim/run/stage.h"

#include "core/base/assert.h"
#include "core/base/time.h"
#include "core/reader/reader.h"
#include "sim/run/dump.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct judging {
    struct stage *stage;
    const struct scenario_expect *expect;
    struct place place;
    struct arena scratch;
};

/* What was counted is said in the words of the scenario: "requests hourly of acme GET /cart 200".
 */
static void fell(struct judging *judging, const char *expected, const char *got)
{
    struct stage *stage = judging->stage;
    const char *what = scenario_print_expected(stage->scenario, judging->expect, &judging->scratch);
    run_fail_cell(stage->result, "expectation", stage_where(stage, judging->place),
                  what != NULL ? what : "?", expected, got);
}

static void compare_count(struct judging *judging, int64_t got)
{
    char expected_text[32];
    char got_text[32];
    if (got == judging->expect->count)
        return;
    snprintf(expected_text, sizeof(expected_text), "%" PRId64, judging->expect->count);
    snprintf(got_text, sizeof(got_text), "%" PRId64, got);
    fell(judging, expected_text, got_text);
}

static const struct uuid *tenant_of(struct judging *judging)
{
    int tenant = judging->expect->tenant;
    return tenant >= 0 ? &judging->stage->tenants[tenant] : NULL;
}

static void expect_dlq(struct judging *judging)
{
    const struct scenario_expect *expect = judging->expect;
    const struct uuid *tenant = tenant_of(judging);
    int64_t got = 0;
    for (size_t i = 0; i < queue_dead_count(judging->stage->queue); i++) {
        const struct queue_dead_letter *letter = queue_dead_letter_at(judging->stage->queue, i);
        bool wanted = !expect->has_reason || letter->reason == expect->message;
        if (wanted && (tenant == NULL || uuid_compare(&letter->tenant, tenant) == 0))
            got++;
    }
    compare_count(judging, got);
}

/* Rows, or the sum of a column, of a snapshot's table; of one tenant or all. */
static void expect_table(struct judging *judging, const char *name, const char *filter_column,
                         const char *filter, const char *sum_column)
{
    struct snapshot snapshot;
    struct err err = {0};
    const struct uuid *tenant = tenant_of(judging);
    const char *tenant_text =
        tenant != NULL ? names_of_tenant(judging->stage->names, tenant) : NULL;
    if (stage_tables(judging->stage, &judging->scratch, &snapshot, &err) != STATUS_OK) {
        fell(judging, "readable tables", err.message);
        return;
    }
    int64_t got = 0;
    for (size_t t = 0; t < snapshot.table_count; t++) {
        const struct table *table = &snapshot.tables[t];
        if (strcmp(table->name, name) != 0)
            continue;
        for (size_t row = 0; row < table->row_count; row++) {
            bool wanted = true;
            int64_t value = 1;
            for (size_t i = 0; i < table->column_count; i++) {
                const char *column = table->columns[i];
                const char *cell = table_cell(table, row, i);
                bool is_tenant = strcmp(column, "tenant_id") == 0 || strcmp(column, "tenant") == 0;
                if (tenant_text != NULL && is_tenant && strcmp(cell, tenant_text) != 0)
                    wanted = false;
                if (filter != NULL && strcmp(column, filter_column) == 0 &&
                    strcmp(cell, filter) != 0)
                    wanted = false;
                if (sum_column != NULL && strcmp(column, sum_column) == 0)
                    value = strtoll(cell, NULL, 10);
            }
            got += wanted ? value : 0;
        }
    }
    compare_count(judging, got);
}

static bool matches_digits(double got, double expected, const char *text)
{
    const char *point = strchr(text, '.');
    double unit = 1;
    for (const char *c = point != NULL ? point + 1 : ""; *c >= '0' && *c <= '9'; c++)
        unit /= 10;
    return fabs(got - expected) <= unit * 0.5000001;
}

static void expect_quantile(struct judging *judging, const struct reader_answer *answer)
{
    const struct scenario_expect *expect = judging->expect;
    struct err err = {0};
    double got;
    bool empty;
    char got_text[64];
    if (histogram_quantile(expect->q, &answer->counts, &got, &empty, &err) != STATUS_OK) {
        fell(judging, "a quantile", err.message);
        return;
    }
    if (empty)
        snprintf(got_text, sizeof(got_text), "none");
    else if (isinf(got))
        snprintf(got_text, sizeof(got_text), ">10s");
    else
        snprintf(got_text, sizeof(got_text), "%.17g", got);
    bool good = false;
    const char *expected = expect->number_text;
    switch (expect->answer) {
    case SCENARIO_QUANTILE_NONE:
        expected = "none";
        good = empty;
        break;
    case SCENARIO_QUANTILE_OPEN:
        expected = ">10s";
        good = !empty && isinf(got);
        break;
    case SCENARIO_QUANTILE_NUMBER:
        good = !empty && !isinf(got) && matches_digits(got, expect->number, expect->number_text);
        break;
    }
    if (!good)
        fell(judging, expected, got_text);
}

/* Percentiles as a console is told them (R-READ-1), requests and sums as they are stored. */
static bool ask(struct judging *judging, struct reader_answer *answer)
{
    const struct scenario_selector *selector = &judging->expect->selector;
    static const enum read_level levels[] = {READ_MINUTE, READ_HOURLY, READ_DAILY};
    struct stage *stage = judging->stage;
    struct reader_query query = {
        .tenant = stage->tenants[selector->tenant],
        .level = levels[selector->level],
        .stored = judging->expect->kind != SCENARIO_EXPECT_QUANTILE,
        .from_us =
            selector->has_range ? time_div(selector->from.ns, NS_PER_US) : INT64_MIN / NS_PER_US,
        .until_us =
            selector->has_range ? time_div(selector->until.ns, NS_PER_US) : INT64_MAX / NS_PER_US,
    };
    struct bytes method = selector->request.method;
    struct bytes route = selector->request.route;
    int16_t status = (int16_t)selector->request.status;
    if (selector->has_service)
        query.service = &selector->service;
    if (selector->has_request) {
        query.method = &method;
        query.route = &route;
        if (selector->request.status_kind != SCENARIO_STATUS_INT)
            status = 0;
        query.status_code = &status;
    }
    if (selector->has_source)
        query.source = &selector->source;
    struct backend_session *session = stage->backend->session_new(stage->backend, "console");
    struct err err = {0};
    enum status result = STATUS_NO_MEMORY;
    if (session != NULL)
        result = reader_sum(stage->backend->session_store(session), &query, &judging->scratch,
                            answer, &err);
    if (session != NULL)
        stage->backend->session_free(session);
    if (result != STATUS_OK)
        fell(judging, "an answer", err.message);
    return result == STATUS_OK;
}

static void expect_selected(struct judging *judging)
{
    const struct scenario_expect *expect = judging->expect;
    struct reader_answer answer;
    if (!ask(judging, &answer))
        return;
    if (expect->kind == SCENARIO_EXPECT_REQUESTS) {
        compare_count(judging, answer.count);
    } else if (expect->kind == SCENARIO_EXPECT_QUANTILE) {
        expect_quantile(judging, &answer);
    } else if (!matches_digits(answer.sum, expect->number, expect->number_text)) {
        char got[40];
        snprintf(got, sizeof(got), "%.17g", answer.sum);
        fell(judging, expect->number_text, got);
    }
}

void stage_expect(struct stage *stage, const struct scenario_expect *expect, struct place place)
{
    static const size_t scratch_bytes = (size_t)256 * 1024 * 1024;
    struct judging judging = {.stage = stage, .expect = expect, .place = place};
    arena_init(&judging.scratch, scratch_bytes);
    switch (expect->kind) {
    case SCENARIO_EXPECT_OUTCOME:
        compare_count(&judging,
                      (int64_t)meters_points(stage->meters, tenant_of(&judging), expect->outcome));
        break;
    case SCENARIO_EXPECT_MESSAGE:
        compare_count(&judging, (int64_t)meters_messages(stage->meters, tenant_of(&judging),
                                                         expect->message));
        break;
    case SCENARIO_EXPECT_DLQ:
        expect_dlq(&judging);
        break;
    case SCENARIO_EXPECT_ROWS:
        expect_table(&judging, expect->name, NULL, NULL, NULL);
        break;
    case SCENARIO_EXPECT_WARNING:
        expect_table(&judging, "ingest_warnings", "kind", expect->name, "count");
        break;
    case SCENARIO_EXPECT_PENDING:
        expect_table(&judging, "rollup_pending", NULL, NULL, NULL);
        break;
    case SCENARIO_EXPECT_REQUESTS:
    case SCENARIO_EXPECT_SUM:
    case SCENARIO_EXPECT_QUANTILE:
        expect_selected(&judging);
        break;
    case SCENARIO_EXPECT_LOG:
        compare_count(&judging,
                      (int64_t)log_book_count(&stage->log, expect->log_level, expect->name));
        break;
    case SCENARIO_EXPECT_COUNTER:
        compare_count(&judging, (int64_t)meters_counter(stage->meters, expect->counter));
        break;
    case SCENARIO_EXPECT_QUEUE:
        compare_count(&judging, (int64_t)queue_depth(stage->queue));
        break;
    }
    arena_free(&judging.scratch);
}

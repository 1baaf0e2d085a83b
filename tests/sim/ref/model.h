/* The model in a test's hand. Times are seconds after T0 = 2026-03-10T12:00:00Z, as in the writer's
 * tests, whose points and encoder these tests use.
 *
 *   struct model m; model_open(&m, "-A-5");
 *   APPLY(&m, {.start = 0, .time = 60, .n = 10}, {...});     one message, one transaction
 *   ck_assert_int_eq(model_minute(&m, 1), 10);
 *   model_close(&m);
 */
#ifndef TESTS_SIM_REF_MODEL_H
#define TESTS_SIM_REF_MODEL_H

#include "sim/ref/ref.h"
#include "tests/core/writer/harness.h"
#include <stdio.h>

#define T0_DAY (T0_NS / NS_PER_DAY)

struct model {
    struct ref *ref;
    struct settings settings;
    int64_t now_s;               /* the writer's clock; an hour after T0 */
    int serial;                  /* of message ids */
    const struct ref_view *view; /* NULL: nobody else is open */
};

static inline void model_open(struct model *m, const char *rules_text)
{
    struct err err = {0};
    struct rules rules = rules_default();
    ck_assert_int_eq(rules_parse(rules_text, strlen(rules_text), &rules, &err), STATUS_OK);
    if (!m->settings.routes_max)
        m->settings = settings_default();
    m->settings.minute_retention_days = 8;
    m->settings.hourly_retention_months = 24;
    m->ref = ref_new(&m->settings, rules);
    m->now_s = 3600;
    for (int64_t day = T0_DAY - 8; day <= T0_DAY + 8; day++)
        ref_partition_created(m->ref, REF_MINUTE, day);
    ref_partition_created(m->ref, REF_HOURLY, day_of_civil(2026, 3, 1));
}

static inline void model_close(struct model *m)
{
    ref_free(m->ref);
}

static inline enum ref_fate model_apply_as(struct model *m, const char *id, const char *tenant,
                                           const struct test_point *points, size_t count)
{
    size_t size;
    uint8_t *payload = test_request(tenant, points, count, &size);
    struct ref_message message = {
        .tenant = test_uuid(tenant), .msg_id = bytes_of(id), .payload = {payload, size}};
    ref_begin(m->ref, T0_NS + m->now_s * NS_PER_S, m->view);
    enum ref_fate fate = ref_apply(m->ref, &message);
    ref_commit(m->ref);
    free(payload);
    return fate;
}

static inline void model_apply(struct model *m, const struct test_point *points, size_t count)
{
    char id[32];
    snprintf(id, sizeof id, "collector-%d", ++m->serial);
    enum ref_fate fate = model_apply_as(m, id, ACME, points, count);
    ck_assert_msg(fate == REF_APPLIED, "%s", ref_reason(m->ref));
}

#define APPLY(m, ...)                                                                              \
    model_apply(m, (const struct test_point[]){__VA_ARGS__},                                       \
                sizeof((const struct test_point[]){__VA_ARGS__}) / sizeof(struct test_point))

/* Requests in the minute that starts `minute` minutes after T0. */
static inline int64_t model_minute(struct model *m, int64_t minute)
{
    const struct ref_metric_row *rows;
    size_t count = ref_metrics_minute(m->ref, &rows);
    int64_t requests = 0;
    for (size_t i = 0; i < count; i++)
        if (rows[i].bucket_start_us == T0_NS / 1000 + minute * US_PER_MIN)
            requests += rows[i].count;
    return requests;
}

static inline int64_t model_total(struct model *m)
{
    const struct ref_metric_row *rows;
    size_t count = ref_metrics_minute(m->ref, &rows);
    int64_t requests = 0;
    for (size_t i = 0; i < count; i++)
        requests += rows[i].count;
    return requests;
}

/* Requests in a canonical bucket, 1-based. */
static inline int64_t model_bucket(struct model *m, int bucket)
{
    const struct ref_metric_row *rows;
    size_t count = ref_metrics_minute(m->ref, &rows);
    int64_t requests = 0;
    for (size_t i = 0; i < count; i++)
        requests += rows[i].counts[bucket - 1];
    return requests;
}

static inline double model_sum(struct model *m)
{
    const struct ref_metric_row *rows;
    size_t count = ref_metrics_minute(m->ref, &rows);
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += rows[i].sum;
    return sum;
}

static inline uint64_t model_outcome(struct model *m, const char *outcome)
{
    const struct ref_outcome_row *rows;
    size_t count = ref_outcomes(m->ref, &rows);
    for (size_t i = 0; i < count; i++)
        if (strcmp(rows[i].outcome, outcome) == 0)
            return rows[i].count;
    return 0;
}

static inline int64_t model_warning(struct model *m, const char *kind)
{
    const struct ref_warning_row *rows;
    size_t count = ref_ingest_warnings(m->ref, &rows);
    int64_t total = 0;
    for (size_t i = 0; i < count; i++)
        if (strcmp(rows[i].kind, kind) == 0)
            total += rows[i].count;
    return total;
}

#endif

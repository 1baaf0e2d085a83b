/* Readers (R-READ-1): sums over half-open ranges, pending hours from minutes, quantiles of summed
 * buckets. The tables are filled as a writer and a rollup would. */
#include "core/reader/reader.h"
#include "tests/core/jobs/jobs_fixture.h"

static struct reader_query range(enum read_level level, int64_t from_us, int64_t until_us)
{
    return (struct reader_query){
        .tenant = jobs_tenant(ACME), .level = level, .from_us = from_us, .until_us = until_us};
}

static struct reader_answer answer_of(struct jobs_fixture *f, struct reader_query query)
{
    struct reader_answer answer;
    enum status status = reader_sum(f->inner, &query, &f->arena, &answer, &f->err);
    ck_assert_msg(status == STATUS_OK, "%s %s", f->err.sqlstate, f->err.message);
    return answer;
}

static int64_t count_of(struct jobs_fixture *f, enum read_level level, int64_t from_us,
                        int64_t until_us)
{
    return answer_of(f, range(level, from_us, until_us)).count;
}

/* 1 at 09:00, 2 at 09:59, 4 at 10:00, all rolled; then 8 late at 09:30, pending. */
static struct jobs_fixture *with_pending(void)
{
    struct jobs_fixture *f = jobs_fixture_new("");
    jobs_partitions(f, -1, 1);
    jobs_minute(f, ACME, at(9, 0), 1, 0.5);
    jobs_minute(f, ACME, at(9, 59), 2, 0.25);
    jobs_minute(f, ACME, at(10, 0), 4, 2);
    jobs_minute(f, ZETA, at(9, 0), 100, 9);
    jobs_ok(f, job_rollup);
    jobs_minute(f, ACME, at(9, 30), 8, 4);
    return f;
}

START_TEST(reader__ranges_are_half_open)
{
    struct jobs_fixture *f = with_pending();
    ck_assert_int_eq(count_of(f, READ_MINUTE, at(9, 0), at(10, 0)), 11);
    ck_assert_int_eq(count_of(f, READ_MINUTE, at(9, 0), at(10, 1)), 15);
    ck_assert_int_eq(count_of(f, READ_MINUTE, at(9, 1), at(10, 0)), 10);
    ck_assert_int_eq(count_of(f, READ_MINUTE, at(9, 0), at(9, 0)), 0);
    ck_assert_int_eq(count_of(f, READ_HOURLY, at(10, 0), at(11, 0)), 4);
    ck_assert_int_eq(count_of(f, READ_HOURLY, at(9, 1), at(10, 0)), 0); /* 09:00 starts before */
    jobs_fixture_free(f);
}
END_TEST

/* MS rights table, 00021: hourly and daily answers read pending hours from minutes. */
START_TEST(reader__pending_hours_come_from_minutes)
{
    struct jobs_fixture *f = with_pending();
    ck_assert_int_eq(jobs_count_at(f, READ_HOURLY, ACME, at(9, 0)), 3); /* as it stands */
    struct reader_answer hours = answer_of(f, range(READ_HOURLY, at(0, 0), at(24, 0)));
    ck_assert_int_eq(hours.count, 15);
    ck_assert_int_eq(hours.counts.counts[2], 15);
    ck_assert_double_eq(hours.sum, 6.75);
    ck_assert_int_eq(count_of(f, READ_HOURLY, at(9, 0), at(10, 0)), 11);
    ck_assert_int_eq(count_of(f, READ_DAILY, at(0, 0), at(24, 0)), 15);
    jobs_fixture_free(f);
}
END_TEST

/* The same answer before and after the rollup has come by. */
START_TEST(reader__answers_do_not_change_with_the_rollup)
{
    struct jobs_fixture *f = with_pending();
    jobs_minute(f, ACME, at(30, 0), 16, 1); /* a day with no row yet */
    struct reader_answer before[3], after[3];
    for (int level = READ_MINUTE; level <= READ_DAILY; level++)
        before[level] = answer_of(f, range((enum read_level)level, at(-24, 0), at(48, 0)));
    jobs_ok(f, job_rollup);
    for (int level = READ_MINUTE; level <= READ_DAILY; level++) {
        after[level] = answer_of(f, range((enum read_level)level, at(-24, 0), at(48, 0)));
        ck_assert_int_eq(before[level].count, 31);
        ck_assert_int_eq(after[level].count, 31);
        ck_assert_double_eq(before[level].sum, after[level].sum);
        ck_assert_mem_eq(&before[level].counts, &after[level].counts, sizeof after[level].counts);
    }
    jobs_fixture_free(f);
}
END_TEST

/* a pending hour without minutes has lost them; what was rolled up before stands. */
START_TEST(reader__pending_hour_without_minutes_keeps_its_rows)
{
    struct jobs_fixture *f = with_pending();
    jobs_drop_minutes(f, 0);
    ck_assert_int_eq(count_of(f, READ_HOURLY, at(0, 0), at(24, 0)), 7);
    ck_assert_int_eq(count_of(f, READ_DAILY, at(0, 0), at(24, 0)), 7);
    jobs_fixture_free(f);
}
END_TEST

/* Rows of two services, two routes, a status and a source. */
static void put_dimensions(struct jobs_fixture *f)
{
    static const struct {
        const char *service, *route;
        int16_t status_code;
        enum source source;
        int64_t n;
        bool lossy;
    } rows[] = {
        {"pay", "/a", 200, SOURCE_METRIC, 1, false},   {"shop", "/a", 200, SOURCE_METRIC, 2, false},
        {"shop", "/a", 200, SOURCE_SPAN, 4, true},     {"shop", "/a", 500, SOURCE_METRIC, 8, false},
        {"shop", "/b", 200, SOURCE_METRIC, 16, false},
    };
    jobs_partitions(f, 0, 0);
    for (int minute = 0; minute < 2; minute++) {
        struct minute_row written[5];
        for (size_t i = 0; i < 5; i++) {
            written[i] = (struct minute_row){.tenant = jobs_tenant(ACME),
                                             .bucket_start_us = at(9, minute),
                                             .service = bytes_of(rows[i].service),
                                             .method = bytes_of("GET"),
                                             .route = bytes_of(rows[i].route),
                                             .status_code = rows[i].status_code,
                                             .source = rows[i].source,
                                             .sum = 0.5,
                                             .count = rows[i].n,
                                             .lossy = rows[i].lossy && minute == 1};
            written[i].counts.counts[0] = rows[i].n;
        }
        ck_assert_int_eq(store_begin(f->inner, ROLE_METRICS_WRITER, &f->err), STATUS_OK);
        ck_assert_int_eq(store_add_minutes(f->inner, written, 5, &f->err), STATUS_OK);
        ck_assert_int_eq(store_commit(f->inner, &f->err), STATUS_OK);
    }
}

START_TEST(reader__filters)
{
    struct jobs_fixture *f = jobs_fixture_new("");
    put_dimensions(f);
    struct bytes shop = bytes_of("shop"), get = bytes_of("GET"), a = bytes_of("/a");
    int16_t failed = 500;
    enum source metric = SOURCE_METRIC;
    struct reader_query query = range(READ_MINUTE, at(9, 0), at(10, 0));
    ck_assert_int_eq(answer_of(f, query).count, 62);
    query.service = &shop;
    ck_assert_int_eq(answer_of(f, query).count, 60);
    ck_assert(answer_of(f, query).lossy);
    query.route = &a;
    ck_assert_int_eq(answer_of(f, query).count, 28);
    query.source = &metric;
    ck_assert_int_eq(answer_of(f, query).count, 20);
    ck_assert(!answer_of(f, query).lossy);
    query.status_code = &failed;
    query.method = &get;
    ck_assert_int_eq(answer_of(f, query).count, 16);
    query.method = &a;
    ck_assert_int_eq(answer_of(f, query).count, 0);
    jobs_fixture_free(f);
}
END_TEST

/* MS: metric and span rows are never merged. */
START_TEST(reader__groups_in_the_order_of_their_dimensions)
{
    static const int64_t counts[] = {2, 4, 8, 16, 32};
    struct jobs_fixture *f = jobs_fixture_new("");
    put_dimensions(f);
    struct reader_query query = range(READ_MINUTE, at(9, 0), at(10, 0));
    struct reader_group *groups;
    size_t count;
    ck_assert_int_eq(reader_groups(f->inner, &query, &f->arena, &groups, &count, &f->err),
                     STATUS_OK);
    ck_assert_uint_eq(count, 5);
    for (size_t i = 0; i < count; i++) {
        ck_assert_int_eq(groups[i].answer.count, counts[i]);
        ck_assert_double_eq(groups[i].answer.sum, 1);
        ck_assert_int_eq(groups[i].answer.lossy, i == 2);
    }
    ck_assert(bytes_equal(groups[0].service, bytes_of("pay")));
    ck_assert_int_eq(groups[2].source, SOURCE_SPAN);
    ck_assert_int_eq(groups[3].status_code, 500);
    ck_assert(bytes_equal(groups[4].route, bytes_of("/b")));
    jobs_fixture_free(f);
}
END_TEST

START_TEST(reader__no_rows_is_an_empty_answer)
{
    struct jobs_fixture *f = jobs_fixture_new("");
    struct reader_query query = range(READ_DAILY, at(0, 0), at(24, 0));
    struct reader_answer answer = answer_of(f, query);
    char text[READER_QUANTILE_TEXT];
    struct reader_group *groups;
    size_t count;
    ck_assert_int_eq(answer.count, 0);
    ck_assert_int_eq(reader_quantile_text(&answer, 0.5, text, &f->err), STATUS_OK);
    ck_assert_str_eq(text, "-");
    ck_assert_int_eq(reader_groups(f->inner, &query, &f->arena, &groups, &count, &f->err),
                     STATUS_OK);
    ck_assert_uint_eq(count, 0);
    jobs_fixture_free(f);
}
END_TEST

/* Percentiles are never averaged: 90 fast requests in one minute and 10 above 10 s in another have
 * p90 at the fast bucket's bound and p91 in the open bucket (C20). */
START_TEST(reader__quantile_of_the_summed_buckets)
{
    struct jobs_fixture *f = jobs_fixture_new("");
    jobs_partitions(f, 0, 0);
    jobs_minute_unmarked(f, ACME, at(9, 0), 1, 90, 0.1);
    jobs_minute_unmarked(f, ACME, at(9, 1), 15, 10, 200);
    struct reader_answer answer = answer_of(f, range(READ_MINUTE, at(9, 0), at(10, 0)));
    char text[READER_QUANTILE_TEXT];
    ck_assert_int_eq(reader_quantile_text(&answer, 0.9, text, &f->err), STATUS_OK);
    ck_assert_str_eq(text, "0.005");
    ck_assert_int_eq(reader_quantile_text(&answer, 0.91, text, &f->err), STATUS_OK);
    ck_assert_str_eq(text, ">10 s");
    ck_assert_int_eq(reader_quantile_text(&answer, 1.5, text, &f->err), STATUS_DATA);
    ck_assert_str_eq(f->err.sqlstate, "22023");
    jobs_fixture_free(f);
}
END_TEST

/* Sums above int64 are an error, not a wrapped number (22003). */
START_TEST(reader__overflow_is_an_error)
{
    struct jobs_fixture *f = jobs_fixture_new("");
    jobs_partitions(f, 0, 0);
    jobs_minute_unmarked(f, ACME, at(9, 0), 1, INT64_MAX, 1);
    jobs_minute_unmarked(f, ACME, at(9, 1), 2, 1, 1);
    struct reader_query query = range(READ_MINUTE, at(9, 0), at(10, 0));
    struct reader_answer answer;
    ck_assert_int_eq(reader_sum(f->inner, &query, &f->arena, &answer, &f->err), STATUS_DATA);
    ck_assert_str_eq(f->err.sqlstate, "22003");
    jobs_fixture_free(f);
}
END_TEST

Suite *reader_suite(void);
Suite *reader_suite(void)
{
    Suite *suite = suite_create("reader");
    TCase *tcase = tcase_create("reader");
    tcase_add_test(tcase, reader__ranges_are_half_open);
    tcase_add_test(tcase, reader__pending_hours_come_from_minutes);
    tcase_add_test(tcase, reader__answers_do_not_change_with_the_rollup);
    tcase_add_test(tcase, reader__pending_hour_without_minutes_keeps_its_rows);
    tcase_add_test(tcase, reader__filters);
    tcase_add_test(tcase, reader__groups_in_the_order_of_their_dimensions);
    tcase_add_test(tcase, reader__no_rows_is_an_empty_answer);
    tcase_add_test(tcase, reader__quantile_of_the_summed_buckets);
    tcase_add_test(tcase, reader__overflow_is_an_error);
    suite_add_tcase(suite, tcase);
    return suite;
}

/* What a console asks of the tables: counts and percentiles over a range (R-READ-1).
 *
 * Percentiles are quantiles of summed buckets, never averaged. Hourly and daily answers take the
 * pending hours from minutes (MS rights table, 00021).
 */
#ifndef CORE_READER_READER_H
#define CORE_READER_READER_H

#include "core/store/store.h"

struct reader_query {
    struct uuid tenant;
    enum read_level level;
    int64_t from_us; /* half-open */
    int64_t until_us;
    bool stored; /* the level's rows as they are, also where an hour is pending */
    /* filters; NULL matches all */
    const struct bytes *service;
    const struct bytes *method;
    const struct bytes *route;
    const int16_t *status_code;
    const enum source *source;
};

struct reader_answer {
    struct histogram counts;
    int64_t count;
    double sum;
    bool lossy; /* any row was */
};

/* One answer over all matching rows. Runs in a transaction of its own (role reader). */
enum status reader_sum(struct store *store, const struct reader_query *query, struct arena *arena,
                       struct reader_answer *answer, struct err *err);

struct reader_group {
    struct bytes service;
    struct bytes method;
    struct bytes route;
    int16_t status_code;
    enum source source;
    struct reader_answer answer;
};
/* One answer per (service, method, route, status, source), in that order. */
enum status reader_groups(struct store *store, const struct reader_query *query,
                          struct arena *arena, struct reader_group **groups, size_t *count,
                          struct err *err);

/* Text of a quantile: seconds with %.6g, ">10 s" for the open bucket, "-" for no requests. */
#define READER_QUANTILE_TEXT 32
enum status reader_quantile_text(const struct reader_answer *answer, double q,
                                 char out[READER_QUANTILE_TEXT], struct err *err);

#endif

/* The model's insides. Private to sim/ref.
 *
 * Every table is a list of rows without order; looking a row up is a walk. The accessors sort.
 */
#ifndef SIM_REF_MODEL_H
#define SIM_REF_MODEL_H

#include "sim/ref/calendar.h"
#include "sim/ref/message.h"

enum warning { /* in the order of their names */
               CARDINALITY_OVERFLOW,
               COARSE_BUCKETS,
               LOSSY_HISTOGRAM,
               SECRET_IN_PATH,
               SPAN_DERIVED,
               WARNING_COUNT
};
extern const char *const warning_names[WARNING_COUNT];

struct ref {
    struct settings settings;
    struct rules rules;

    struct list minutes;           /* struct ref_metric_row */
    struct list hours;             /* the same */
    struct list days;              /* the same */
    struct list states;            /* struct ref_series_row */
    struct list pruned_states;     /* struct pruned_state */
    struct list resources;         /* struct ref_resource_row */
    struct list meetings;          /* struct meeting: how their first points came down */
    struct list dedup;             /* struct ref_dedup_row */
    struct list routes;            /* struct ref_route_row */
    struct list warnings;          /* struct ref_warning_row */
    struct list overflows;         /* struct overflow: what its cardinality_overflow is made of */
    struct list marks;             /* struct ref_mark_row */
    struct list outcomes;          /* struct outcome_count */
    struct list removed;           /* struct uuid: tenants */
    struct list minute_partitions; /* int64_t: the day */
    struct list hourly_partitions; /* int64_t: the first day of the month */

    struct list texts;        /* uint8_t *: the texts of rows */
    struct list outcome_rows; /* struct ref_outcome_row, for the accessor */
    char reason[200];

    /* the open transaction */
    bool open;
    int64_t now_ns;
    int64_t now_us;
    struct ref_view view;
    size_t overflows_at_begin; /* of the list; behind them are its own */
    struct list batch;       /* struct ref_metric_row: what it adds to the minutes, one row a key */
    struct list last_points; /* const char *: outcomes of the last message */
};

/* A point of a process that was earlier than all before it. */
struct meeting {
    struct uuid tenant;
    uint8_t resource_hash[32];
    int64_t start_unix_nano;
    int64_t time;
    uint64_t since;
};

struct pruned_state {
    struct ref_series_row row;
    uint64_t until; /* the transaction that took it away */
};

struct overflow {
    struct uuid tenant;
    int64_t day;
    int64_t count;
    uint64_t since;
};

/* Whether the open transaction saw what another (or itself) wrote. seen: a number of its view. */
bool was_seen(const struct ref *ref, uint64_t since, uint64_t seen);

struct outcome_count {
    struct uuid tenant;
    enum outcome outcome;
    uint64_t count;
};

/* A copy of the text that lives as long as the model. */
struct bytes keep_text(struct ref *ref, struct bytes text);

bool same_tenant(const struct uuid *a, const struct uuid *b);
bool tenant_is_removed(const struct ref *ref, const struct uuid *tenant);
bool partition_exists(const struct list *partitions, int64_t first_day);
/* All but the bucket start. */
bool same_dimensions(const struct ref_metric_row *a, const struct ref_metric_row *b);
struct ref_metric_row *find_metric_row(const struct list *rows, const struct ref_metric_row *key);
/* row += more. False when a count or the sum overflows; row is then half changed. */
bool add_to_metric_row(struct ref_metric_row *row, const struct ref_metric_row *more);
/* By the key of the tables: tenant, time, ... */
void sort_metric_rows(struct list *rows);
struct ref_mark_row *find_mark(const struct list *marks, const struct uuid *tenant,
                               int64_t hour_us);
/* Marks the hour unless it is marked (do nothing on conflict). */
void add_mark(struct ref *ref, const struct uuid *tenant, int64_t hour_us, int64_t marked_at_us);

/* What one good point adds, before the caps. */
struct contribution {
    int64_t counts[REF_BUCKETS];
    int64_t count;
    double sum;
};

/* sim/ref/judge.c: R-PT-1..6, R-FIRST-1..7, the stream cap of R-CAP-1. Sets point->outcome, stores
 * the stream's state and touches its process. points: all of the message. */
struct contribution judge(struct ref *ref, const struct uuid *tenant, struct point *point,
                          const struct list *points);

/* R-FIRST-6: as the open transaction read it, without what it adds itself. */
int64_t overflow_at_begin(const struct ref *ref, const struct uuid *tenant, int64_t day);
/* R-WARN-1 */
void add_warning(struct ref *ref, const struct uuid *tenant, int64_t day, enum warning warning,
                 int64_t count);

#endif

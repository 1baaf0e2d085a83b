/* switch: what it costs that the next statement is another open transaction's.
 *
 * The same rows are changed in the same order twice: by two transactions in turn, and by one that
 * has them all. All rows are open already: the difference is the switches'.
 */
#include "sim/bench/bench.h"

#include "core/store/store.h"
#include "sim/sqlite/overlay.h"
#include <stdlib.h>

#define SIDES              2
#define SWITCH_STATEMENTS  1000 /* of one measurement */
#define SWITCH_REPETITIONS 41
#define STRIDE             7919 /* a prime: all over the table */
#define ROWS_MAX           10000

static const int open_rows[] = {10, ROWS_MAX}; /* of each side */
#define SIZES (sizeof(open_rows) / sizeof(open_rows[0]))

/* A database, and its open transactions: two, or one in the place of both. */
struct bed {
    struct overlay *overlay;
    struct overlay_session *sessions[SIDES];
    int session_count;
};

static struct store *store_of(const struct bed *bed, int side)
{
    return overlay_session_store(bed->sessions[side % bed->session_count]);
}

static enum status touch_row(const struct bed *bed, int side, int number, struct err *err)
{
    struct resource_write row = {.first_point_unix_nano = 1};
    row.key.resource_hash.bytes[0] = (uint8_t)(number >> 8);
    row.key.resource_hash.bytes[1] = (uint8_t)number;
    row.key.resource_hash.bytes[2] = (uint8_t)side;
    return store_touch_resources(store_of(bed, side), &row, 1, err);
}

/* A pass over all rows in transactions that stay open, or are committed. */
static enum status fill(const struct bed *bed, int count, bool commit, struct err *err)
{
    enum status status = STATUS_OK;
    for (int i = 0; i < bed->session_count && status == STATUS_OK; i++)
        status = store_begin(store_of(bed, i), ROLE_METRICS_WRITER, err);
    for (int i = 0; i < SIDES * count && status == STATUS_OK; i++)
        status = touch_row(bed, i % SIDES, i / SIDES, err);
    for (int i = 0; commit && i < bed->session_count && status == STATUS_OK; i++)
        status = store_commit(store_of(bed, i), err);
    return status;
}

/* Committed rows first, so that the open ones have an old image. */
static enum status bed_open(struct bed *bed, int session_count, int count, struct err *err)
{
    *bed = (struct bed){.session_count = session_count};
    enum status status = overlay_new(&bed->overlay, err);
    for (int i = 0; i < session_count && status == STATUS_OK; i++) {
        bed->sessions[i] = overlay_session_new(bed->overlay, "bench");
        if (bed->sessions[i] == NULL)
            status = err_set(err, STATUS_NO_MEMORY, NULL, "no memory for a session");
    }
    if (status == STATUS_OK)
        status = fill(bed, count, true, err);
    return status == STATUS_OK ? fill(bed, count, false, err) : status;
}

static void bed_close(struct bed *bed)
{
    for (int i = 0; i < SIDES; i++)
        if (bed->sessions[i] != NULL)
            overlay_session_free(bed->sessions[i]);
    overlay_free(bed->overlay);
}

static enum status touch_all(const struct bed *bed, int count, double *elapsed_us, struct err *err)
{
    enum status status = STATUS_OK;
    int64_t began = real_cpu_ns();
    for (int i = 0; i < SWITCH_STATEMENTS && status == STATUS_OK; i++)
        status = touch_row(bed, i % SIDES, i / SIDES * STRIDE % count, err);
    *elapsed_us = (double)(real_cpu_ns() - began) / 1000;
    return status;
}

static enum status measure(struct bench_report *report, const char *name, int count,
                           struct err *err)
{
    struct bed beds[SIDES] = {{NULL, {NULL, NULL}, 1}, {NULL, {NULL, NULL}, 1}};
    double elapsed_us[SIDES]; /* one transaction, two */
    double statement[SWITCH_REPETITIONS];
    double more[SWITCH_REPETITIONS];
    double noise;
    enum status status = STATUS_OK;
    for (int i = 0; i < SIDES && status == STATUS_OK; i++)
        status = bed_open(&beds[i], i + 1, count, err);
    for (int i = 0; i < SWITCH_REPETITIONS && status == STATUS_OK; i++) {
        int first = i % 2; /* who is measured first changes */
        status = touch_all(&beds[first], count, &elapsed_us[first], err);
        if (status == STATUS_OK)
            status = touch_all(&beds[1 - first], count, &elapsed_us[1 - first], err);
        statement[i] = elapsed_us[0] / SWITCH_STATEMENTS;
        more[i] = (elapsed_us[1] - elapsed_us[0]) / SWITCH_STATEMENTS;
    }
    for (int i = 0; i < SIDES; i++)
        bed_close(&beds[i]);
    if (status != STATUS_OK)
        return status;
    bench_add(report, (struct bench_row){
                          .name = name,
                          .value = bench_median(more, SWITCH_REPETITIONS, &noise),
                          .unit = "us",
                          .floor = bench_median(statement, SWITCH_REPETITIONS, &noise),
                          .target = 0.5,
                      });
    return STATUS_OK;
}

/* Moving the images of 10,000 rows out and in would be some 10 ms a switch. */
enum status bench_switch(struct bench_report *report, struct err *err)
{
    static const char *const names[SIZES] = {"switch with 10 open rows each",
                                             "switch with 10,000 open rows each"};
    enum status status = STATUS_OK;
    for (size_t i = 0; i < SIZES && status == STATUS_OK; i++)
        status = measure(report, names[i], open_rows[i], err);
    return status;
}

/* The test ports of the jobs. See jobs_fixture.h. */
#include "tests/core/jobs/jobs_fixture.h"
#include <stdio.h>
#include <stdlib.h>

#define FIXTURE_OF(member, pointer)                                                                \
    ((struct jobs_fixture *)((char *)(pointer)-offsetof(struct jobs_fixture, member)))

/* ---- ports ---- */

static int64_t clock_now_ns(struct clock *clock)
{
    return FIXTURE_OF(clock, clock)->now_ns;
}

static enum status fence_check(struct fence *fence, struct err *err)
{
    struct jobs_fixture *f = FIXTURE_OF(fence, fence);
    f->fence_checks++;
    if (f->stale_after > 0 && f->fence_checks >= f->stale_after)
        return err_set(err, STATUS_STALE, NULL, "a newer epoch was raised");
    return STATUS_OK;
}

static void meter_add(struct meter *meter, enum counter counter, uint64_t count)
{
    FIXTURE_OF(meter, meter)->counters[counter] += count;
}

static void log_write(struct log *log, enum log_level level, const char *event, const char *text)
{
    struct jobs_fixture *f = FIXTURE_OF(log, log);
    ck_assert_int_eq(level, LOG_ERROR);
    size_t used = strlen(f->logged);
    snprintf(f->logged + used, sizeof f->logged - used, "%s %s\n", event, text);
}

/* ---- the seam ---- */

static enum status give(struct store_call *call, int64_t first, int64_t second, struct err *err)
{
    call->results = arena_array(call->arena, 2, sizeof *call->results);
    if (!call->results)
        return err_set(err, STATUS_NO_MEMORY, NULL, "out of memory");
    call->results[0].integer = first;
    call->results[1].integer = second;
    call->result_rows = 1;
    return STATUS_OK;
}

static bool fault_strikes(struct jobs_fixture *f, const struct store_call *call)
{
    if (f->fault.times == 0 || f->fault.query != call->query)
        return false;
    if (f->fault.skip > 0) {
        f->fault.skip--;
        return false;
    }
    f->fault.times--;
    return true;
}

static enum status seam_call(struct store *store, struct store_call *call, struct err *err)
{
    struct jobs_fixture *f = FIXTURE_OF(seam, store);
    ck_assert_uint_lt(f->call_count, CALL_MAX);
    f->first_param[f->call_count] = call->params ? call->params[0].integer : 0;
    f->calls[f->call_count++] = call->query;
    if (fault_strikes(f, call))
        return err_sql(err, f->fault.sqlstate, "the test says so");
    if (call->query == QUERY_TRY_LOCK_ROLLUP_HOUR && f->held_hour_us != 0 &&
        call->params[2].integer == f->held_hour_us)
        return give(call, 0, 0, err);
    if (call->query == QUERY_SESSION_DAY && f->session_until_us != 0)
        return give(call, f->session_from_us, f->session_until_us, err);
    return f->inner->call(f->inner, call, err);
}

/* ---- making ---- */

struct jobs_fixture *jobs_fixture_new(const char *rules)
{
    struct jobs_fixture *f = calloc(1, sizeof *f);
    ck_assert_ptr_nonnull(f);
    f->settings = settings_default();
    f->rules = rules_default();
    f->now_ns = T0_NS;
    ck_assert_int_eq(rules_parse(rules, strlen(rules), &f->rules, &f->err), STATUS_OK);
    ck_assert_int_eq(settings_set(&f->settings, "API_MINUTE_RETENTION_DAYS", "8", false, &f->err),
                     STATUS_OK);
    ck_assert_int_eq(
        settings_set(&f->settings, "API_HOURLY_RETENTION_MONTHS", "24", false, &f->err), STATUS_OK);
    f->clock.now_ns = clock_now_ns;
    f->fence.check = fence_check;
    f->meter.add = meter_add;
    f->log.write = log_write;
    f->seam.call = seam_call;
    arena_init(&f->arena, 64 << 20);
    ck_assert_int_eq(sqlite_database_open(":memory:", DATABASE_CREATE, 0, &f->database, &f->err), STATUS_OK);
    f->inner = sqlite_database_store(f->database);
    return f;
}

void jobs_fixture_free(struct jobs_fixture *f)
{
    arena_free(&f->arena);
    sqlite_database_close(f->database);
    free(f);
}

void jobs_forget(struct jobs_fixture *f)
{
    memset(f->counters, 0, sizeof f->counters);
    f->logged[0] = '\0';
    f->call_count = 0;
    f->fence_checks = 0;
}

enum status jobs_run(struct jobs_fixture *f, enum status (*run)(struct job *job, struct err *err))
{
    struct job_ports ports = {&f->clock, &f->seam, &f->fence, &f->meter, &f->log};
    struct job *job = job_new(&f->settings, f->rules, &ports);
    ck_assert_ptr_nonnull(job);
    f->err = (struct err){0};
    enum status status = run(job, &f->err);
    job_free(job);
    return status;
}

void jobs_ok(struct jobs_fixture *f, enum status (*run)(struct job *job, struct err *err))
{
    enum status status = jobs_run(f, run);
    ck_assert_msg(status == STATUS_OK, "%s %s %s", status_name(status), f->err.sqlstate,
                  f->err.message);
}

/* ---- the tables, from behind the seam ---- */

#define OK(call)                                                                                   \
    do {                                                                                           \
        enum status status_ = (call);                                                              \
        ck_assert_msg(status_ == STATUS_OK, "%s: %s %s", #call, f->err.sqlstate, f->err.message);  \
    } while (0)

int64_t at(int64_t hour, int64_t minute)
{
    return T0_DAY * US_PER_DAY + hour * US_PER_HOUR + minute * US_PER_MIN;
}

struct uuid jobs_tenant(int number)
{
    struct uuid tenant = {{0x0a, 0, 0, 0, 0, 0, 0x40, 0, 0x80}};
    tenant.bytes[14] = (uint8_t)(number >> 8);
    tenant.bytes[15] = (uint8_t)number;
    return tenant;
}

void jobs_partitions(struct jobs_fixture *f, int64_t from, int64_t until)
{
    bool done;
    OK(store_begin(f->inner, ROLE_JOBS, &f->err));
    for (int64_t day = T0_DAY + from; day <= T0_DAY + until; day++) {
        int64_t month = month_first_day(month_index_of_day(day));
        OK(store_create_partition(f->inner, PARTITION_MINUTE, day, &f->arena, &done, &f->err));
        OK(store_create_partition(f->inner, PARTITION_HOURLY, month, &f->arena, &done, &f->err));
    }
    OK(store_commit(f->inner, &f->err));
}

void jobs_drop_minutes(struct jobs_fixture *f, int64_t day)
{
    bool done;
    OK(store_begin(f->inner, ROLE_JOBS, &f->err));
    OK(store_drop_partition(f->inner, PARTITION_MINUTE, T0_DAY + day, &f->arena, &done, &f->err));
    ck_assert(done);
    OK(store_commit(f->inner, &f->err));
}

void jobs_minute_unmarked(struct jobs_fixture *f, int tenant, int64_t minute_us, int bucket,
                          int64_t n, double sum)
{
    struct minute_row row = {
        .tenant = jobs_tenant(tenant),
        .bucket_start_us = minute_us,
        .service = bytes_of("shop"),
        .method = bytes_of("GET"),
        .route = bytes_of("/cart"),
        .status_code = 200,
        .source = SOURCE_METRIC,
        .sum = sum,
        .count = n,
    };
    row.counts.counts[bucket - 1] = n;
    OK(store_begin(f->inner, ROLE_METRICS_WRITER, &f->err));
    OK(store_add_minutes(f->inner, &row, 1, &f->err));
    OK(store_commit(f->inner, &f->err));
}

void jobs_mark(struct jobs_fixture *f, int tenant, int64_t hour_us, int64_t marked_at_us)
{
    struct mark_row mark = {.hour_us = hour_us, .tenant = jobs_tenant(tenant), marked_at_us};
    OK(store_begin(f->inner, ROLE_METRICS_WRITER, &f->err));
    OK(store_mark_rollup_pending(f->inner, &mark, 1, &f->err));
    OK(store_commit(f->inner, &f->err));
}

void jobs_minute(struct jobs_fixture *f, int tenant, int64_t minute_us, int64_t n, double sum)
{
    jobs_minute_unmarked(f, tenant, minute_us, 3, n, sum);
    jobs_mark(f, tenant, time_floor(minute_us, US_PER_HOUR), f->now_ns / NS_PER_US);
}

struct minute_row *jobs_rows(struct jobs_fixture *f, enum read_level level, int tenant,
                             size_t *count)
{
    struct minute_row *rows;
    struct uuid id = jobs_tenant(tenant);
    OK(store_begin(f->inner, ROLE_READER, &f->err));
    OK(store_read_rows(f->inner, level, &id, 0, 2 * T0_US, &f->arena, &rows, count, &f->err));
    OK(store_commit(f->inner, &f->err));
    return rows;
}

int64_t jobs_count_at(struct jobs_fixture *f, enum read_level level, int tenant, int64_t start_us)
{
    size_t count;
    const struct minute_row *rows = jobs_rows(f, level, tenant, &count);
    int64_t found = -1;
    for (size_t i = 0; i < count; i++) {
        if (rows[i].bucket_start_us == start_us) {
            ck_assert_int_eq(found, -1);
            found = rows[i].count;
        }
    }
    return found;
}

size_t jobs_table(struct jobs_fixture *f, enum query_id dump, struct value **values)
{
    struct value *ignored;
    size_t count;
    OK(store_begin(f->inner, ROLE_JOBS, &f->err));
    OK(store_dump(f->inner, dump, &f->arena, values ? values : &ignored, &count, &f->err));
    OK(store_commit(f->inner, &f->err));
    return count;
}

size_t jobs_calls(const struct jobs_fixture *f, enum query_id query)
{
    size_t count = 0;
    for (size_t i = 0; i < f->call_count; i++)
        count += f->calls[i] == query;
    return count;
}

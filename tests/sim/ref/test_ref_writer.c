/* sim/ref against core/writer: two implementations of the rules, random messages, equal tables. */
#include "sim/base/prng.h"
#include "tests/core/writer/harness.h"
#include "tests/sim/ref/compare.h"

#include <stdio.h>

#define BATCHES 12

static struct prng prng;
static struct harness *h;
static struct ref *ref;

static uint64_t pick(uint64_t bound)
{
    return prng_below(&prng, bound);
}

/* ---- random messages ---- */

static const char *const processes[] = {"p1", "p2", "p3"};
static const char *const services[] = {"shop", "shop", "pay", "", "{other}"};
static const char *const routes[] = {"/cart", "/pay", "/a/b", "", "{other}"};
static const double two_bounds[] = {0.1, 1};
static const double finer_bounds[] = {0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.2, 0.25,
                                      0.5,   0.75, 1,     2.5,  5,     7.5, 10};

/* How often each outcome came out over all seeds: a generator that never makes one proves nothing.
 */
static uint64_t met[POINT_OUTCOME_COUNT];

/* What a stream counted so far, roughly: most points grow, some fall. */
static uint64_t served[3][4];
static uint64_t counts[16][16];

static struct test_point random_point(int slot)
{
    size_t process = pick(3), kind = pick(4);
    int64_t start = (int64_t)pick(3) * 1000 - 3000;
    struct test_point point = {
        .start = start,
        .time = h->now_s - (int64_t)pick(400),
        .time_ns = pick(4) ? 0 : (int64_t)pick(NS_PER_S),
        .process = processes[process],
        .service = services[pick(5)],
        .route = routes[kind],
        .status = pick(2) ? 200 : 404,
        .delta = pick(5) == 0,
        .span = pick(6) == 0,
        .redacted = pick(8) == 0,
        .no_sum = pick(6) == 0,
        .sum = (double)pick(1000) / 7,
        .bucket = (int)pick(15) + 1,
    };
    if (pick(4) == 0)
        point.route = routes[pick(5)];
    served[process][kind] += pick(4) ? pick(20) : 0;
    point.n = pick(12) ? served[process][kind] : pick(served[process][kind] + 1);
    switch (pick(12)) {
    case 0:
        point.no_buckets = true;
        break;
    case 1:
    case 2:
        memset(counts[slot], 0, sizeof counts[slot]);
        counts[slot][pick(3)] = point.n;
        point.counts = counts[slot];
        point.count_count = 3;
        point.bounds = two_bounds;
        point.bound_count = 2;
        break;
    case 3:
        memset(counts[slot], 0, sizeof counts[slot]);
        counts[slot][pick(16)] = point.n;
        point.counts = counts[slot];
        point.count_count = 16;
        point.bounds = finer_bounds;
        point.bound_count = 15;
        break;
    case 4:
        point.time = point.start; /* unknown start, or the interval is empty */
        break;
    case 5: /* one that is refused */
        switch (pick(6)) {
        case 0:
            point.flags = 1;
            break;
        case 1:
            point.time = point.start - 1;
            break;
        case 2:
            point.time = h->now_s + 601 + (int64_t)pick(3) - 1;
            break;
        case 3:
            point.time = h->now_s - 7 * DAY_S - (int64_t)pick(2);
            point.start = point.time - 5;
            break;
        case 4:
            point.count = point.n + 1;
            break;
        default:
            point.status = 99;
        }
        break;
    default:
        break;
    }
    return point;
}

static void send_random(int serial)
{
    struct test_point points[8];
    size_t count = pick(7) + 1;
    for (size_t i = 0; i < count; i++)
        points[i] = random_point((int)i);
    if (count > 1 && pick(4) == 0)
        points[1] = points[0]; /* the same point twice */
    char id[32];
    snprintf(id, sizeof id, "c-%d", pick(10) && serial > 0 ? serial : serial / 2);
    h->tenant = pick(5) ? ACME : ZETA;
    send_points(h, id, points, count);
}

/* ---- one batch on both sides ---- */

static bool is_in_store(struct bytes msg_id, const struct uuid *tenant)
{
    struct arena arena;
    struct err err = {0};
    struct uuid stored;
    bool found;
    arena_init(&arena, 1024 * 1024);
    ck_assert_int_eq(store_begin(h->inner, ROLE_READER, &err), STATUS_OK);
    ck_assert_int_eq(
        store_get_ingest_message_tenant(h->inner, msg_id, &arena, &found, &stored, &err),
        STATUS_OK);
    store_rollback(h->inner);
    arena_free(&arena);
    return found && uuid_compare(&stored, tenant) == 0;
}

/* What the batch newly applied, told to the model in queue order. */
static void run_both(size_t from)
{
    bool known[MESSAGES_MAX] = {false};
    for (size_t i = from; i < h->message_count; i++)
        known[i] = is_in_store(h->messages[i].delivery.msg_id, &h->messages[i].delivery.tenant);
    run(h);
    ref_begin(ref, T0_NS + h->now_s * NS_PER_S, NULL);
    for (size_t i = from; i < h->message_count; i++) {
        const struct delivery *delivery = &h->messages[i].delivery;
        bool repeats = known[i];
        for (size_t j = from; j < i; j++)
            repeats = repeats || bytes_equal(h->messages[j].delivery.msg_id, delivery->msg_id);
        if (repeats || !is_in_store(delivery->msg_id, &delivery->tenant))
            continue;
        struct ref_message message = {
            .tenant = delivery->tenant, .msg_id = delivery->msg_id, .payload = delivery->payload};
        enum ref_fate fate = ref_apply(ref, &message);
        ck_assert_msg(fate == REF_APPLIED, "%s: %s", ref_fate_name(fate), ref_reason(ref));
    }
    ref_commit(ref);
}

static void compare_outcomes(uint64_t seed)
{
    const struct ref_outcome_row *rows;
    size_t count = ref_outcomes(ref, &rows);
    for (int outcome = 0; outcome < POINT_OUTCOME_COUNT; outcome++) {
        uint64_t expected = 0;
        for (size_t i = 0; i < count; i++)
            if (strcmp(rows[i].outcome, point_outcome_name((enum point_outcome)outcome)) == 0)
                expected += rows[i].count;
        met[outcome] += expected;
        ck_assert_msg(h->points[outcome] == expected, "seed %llu: %s: model %llu, writer %llu",
                      (unsigned long long)seed, point_outcome_name((enum point_outcome)outcome),
                      (unsigned long long)expected, (unsigned long long)h->points[outcome]);
    }
}

static void run_seed(uint64_t seed)
{
    static const char *const switches[] = {"",     "strict", "letter", "-A-5", "-A-6", "-A-12",
                                           "-A-8", "-S-1",   "+S-5",   "+S-6", "-S-12"};
    prng = prng_make(seed, PRNG_WORKLOAD);
    memset(served, 0, sizeof served);
    h = harness_new(switches[pick(sizeof switches / sizeof switches[0])]);
    h->now_s = 1000;
    if (pick(2)) {
        h->settings.series_per_tenant_max = (int64_t)pick(8) + 1;
        h->settings.routes_max = (int64_t)pick(3) + 1;
        h->settings.services_max = (int64_t)pick(3) + 1;
    }
    ref = ref_new(&h->settings, h->rules);
    for (int64_t day = T0_NS / NS_PER_DAY - 8; day <= T0_NS / NS_PER_DAY + 8; day++)
        ref_partition_created(ref, REF_MINUTE, day);
    int serial = 0;
    for (int batch = 0; batch < BATCHES; batch++) {
        size_t from = h->message_count;
        for (uint64_t left = pick(5) + 1; left > 0; left--)
            send_random(serial++);
        run_both(from);
        const char *difference = compare_tables(ref, h->inner);
        ck_assert_msg(difference[0] == '\0', "seed %llu batch %d: %s", (unsigned long long)seed,
                      batch, difference);
        h->now_s += pick(20) ? (int64_t)pick(300) : 2 * DAY_S + (int64_t)pick(DAY_S);
        if (h->now_s > 6 * DAY_S)
            h->now_s = 6 * DAY_S;
    }
    compare_outcomes(seed);
    ref_free(ref);
    harness_free(h);
}

START_TEST(ref__random_batches_give_the_writers_tables)
{
    const char *count = getenv("METERSIM_TEST_SEEDS");
    uint64_t seeds = count ? strtoull(count, NULL, 10) : 60;
    for (uint64_t seed = 1; seed <= seeds; seed++)
        run_seed(seed);
    for (int outcome = 0; outcome < POINT_OUTCOME_COUNT; outcome++) {
        bool made = outcome != POINT_REJECTED_ATTRIBUTES && outcome != POINT_REJECTED_TYPE &&
                    outcome != POINT_REJECTED_TEMPORALITY && outcome != POINT_REJECTED_UNIT &&
                    outcome != POINT_REJECTED_OVERFLOW && outcome != POINT_REJECTED_SUM;
        ck_assert_msg(!made || met[outcome] > 0, "%s was never met",
                      point_outcome_name((enum point_outcome)outcome));
    }
}
END_TEST

Suite *ref_writer_suite(void);
Suite *ref_writer_suite(void)
{
    Suite *suite = suite_create("ref_writer");
    TCase *tcase = tcase_create("ref_writer");
    tcase_set_timeout(tcase, 600);
    tcase_add_test(tcase, ref__random_batches_give_the_writers_tables);
    suite_add_tcase(suite, tcase);
    return suite;
}

/* The point rule as one table: each case is a run of points, judged one after the other as a writer
 * would, with streams and processes remembered between them.
 *
 * Times are seconds after T0 = 2026-03-10T12:00:00Z. A stream is a letter and its start time, a
 * process is a start time. `known` cases begin with a point that is marked as already stored.
 */
#include "core/base/time.h"
#include "core/model/point_rule.h"
#include <check.h>
#include <math.h>
#include <string.h>

#define T0    (INT64_C(1773144000) * NS_PER_S)
#define S     NS_PER_S
#define NOSUM (-1.0) /* the point has no sum */

struct step {
    char stream;
    int64_t start, time; /* ns after T0 */
    int64_t n;           /* requests, in bucket 5 unless buckets says otherwise */
    enum point_outcome outcome;
    int64_t counted;
    double sum, counted_sum;
    struct {
        size_t bucket;
        int64_t n;
    } buckets[4];  /* 1-based; bucket 0 ends the list */
    bool stored;   /* not judged: the state before the case */
    bool flagged;  /* state.baseline afterwards */
    bool overflow; /* process_view.tenant_overflowed */
    bool long_ago; /* process_view.first_seen_long_ago */
};

struct rule_case {
    const char *name;
    const char *rules;    /* on top of the default */
    struct step steps[7]; /* a stream of 0 ends the list */
};

#define KNOWN     .stored = true
#define OUT(o, c) .outcome = POINT_##o, .counted = (c)

static const struct rule_case cases[] = {
    /* R-PT-1 */
    {"R-PT-1 older point: nothing changes (A22)",
     "",
     {{'s', 0, 0, 10, KNOWN},
      {'s', 0, 120 * S, 30, OUT(DELTA, 20)},
      {'s', 0, 60 * S, 20, OUT(OUT_OF_ORDER, 0)},
      {'s', 0, 180 * S, 40, OUT(DELTA, 10)}}},
    {"R-PT-1 same time is a duplicate whatever its value",
     "",
     {{'s', 0, 60 * S, 10, KNOWN},
      {'s', 0, 60 * S, 99, OUT(DUPLICATE, 0)},
      {'s', 0, 60 * S, 3, OUT(DUPLICATE, 0)},
      {'s', 0, 120 * S, 12, OUT(DELTA, 2)}}},
    {"R-PT-1 one ns earlier is late, one ns later is next",
     "",
     {{'s', 0, 60 * S, 10, KNOWN},
      {'s', 0, 60 * S - 1, 11, OUT(OUT_OF_ORDER, 0)},
      {'s', 0, 60 * S + 1, 12, OUT(DELTA, 2)}}},
    {"R-PT-1 a duplicate keeps the baseline flag (A19)",
     "",
     {{'s', 0, 300 * S, 40, OUT(BASELINE, 0), .flagged = true},
      {'s', 0, 300 * S, 40, OUT(DUPLICATE, 0), .flagged = true},
      {'s', 0, 600 * S, 70, OUT(CATCH_UP, 70)}}},
    {"R-PT-1 a late point keeps the baseline flag",
     "",
     {{'s', 0, 300 * S, 40, OUT(BASELINE, 0), .flagged = true},
      {'s', 0, 299 * S, 39, OUT(OUT_OF_ORDER, 0), .flagged = true},
      {'s', 0, 600 * S, 70, OUT(CATCH_UP, 70)}}},
    {"R-PT-1 sorted points of one message (A23)",
     "",
     {{'s', 0, 60 * S, 10, OUT(FIRST_FULL, 10)},
      {'s', 0, 120 * S, 20, OUT(DELTA, 10)},
      {'s', 0, 180 * S, 30, OUT(DELTA, 10)}}},
    /* R-PT-2 */
    {"R-PT-2 total fell (A01)",
     "",
     {{'s', -7200 * S, 0, 10, OUT(BASELINE, 0), .flagged = true},
      {'s', -7200 * S, 60 * S, 20, OUT(DELTA, 10)},
      {'s', -7200 * S, 120 * S, 5, OUT(RESET, 0)},
      {'s', -7200 * S, 180 * S, 15, OUT(DELTA, 10)}}},
    {"R-PT-2 equal total, one bucket smaller (A03)",
     "",
     {{'s', 0, 0, 5, KNOWN, .buckets = {{1, 3}, {2, 2}}},
      {'s', 0, 60 * S, 5, OUT(RESET, 0), .buckets = {{1, 2}, {2, 3}}},
      {'s', 0, 120 * S, 6, OUT(DELTA, 1), .buckets = {{1, 3}, {2, 3}}}}},
    {"R-PT-2 bounds changed: a bucket fell though the total grew (A26)",
     "",
     {{'s', 0, 0, 10, KNOWN, .buckets = {{10, 5}, {14, 5}}},
      {'s', 0, 60 * S, 12, OUT(RESET, 0), .buckets = {{7, 6}, {12, 6}}},
      {'s', 0, 120 * S, 13, OUT(DELTA, 1), .buckets = {{7, 7}, {12, 6}}}}},
    {"R-PT-2 a reset clears the baseline flag",
     "",
     {{'s', 0, 300 * S, 40, OUT(BASELINE, 0), .flagged = true},
      {'s', 0, 600 * S, 30, OUT(RESET, 0)},
      {'s', 0, 900 * S, 70, OUT(DELTA, 40)}}},
    {"R-PT-2 a fallen sum is no reset, and adds no sum",
     "",
     {{'s', 0, 0, 10, KNOWN, .sum = 5},
      {'s', 0, 60 * S, 12, OUT(DELTA, 2), .sum = 4},
      {'s', 0, 120 * S, 14, OUT(DELTA, 2), .sum = 4.5, .counted_sum = 0.5}}},
    {"R-PT-2 from int64's largest to 0 never wraps",
     "",
     {{'s', 0, 0, INT64_MAX, KNOWN},
      {'s', 0, 60 * S, 0, OUT(RESET, 0)},
      {'s', 0, 120 * S, INT64_MAX, OUT(DELTA, INT64_MAX)}}},
    /* R-PT-3 */
    {"R-PT-3 five-minute exporter catches up once (A17)",
     "",
     {{'s', 0, 300 * S, 40, OUT(BASELINE, 0), .sum = 4, .flagged = true},
      {'s', 0, 600 * S, 70, OUT(CATCH_UP, 70), .sum = 7, .counted_sum = 7},
      {'s', 0, 900 * S, 75, OUT(DELTA, 5), .sum = 7.5, .counted_sum = 0.5}}},
    {"R-PT-3 with A-5 off the first interval is lost",
     "-A-5",
     {{'s', 0, 300 * S, 40, OUT(BASELINE, 0)},
      {'s', 0, 600 * S, 70, OUT(DELTA, 30)},
      {'s', 0, 900 * S, 75, OUT(DELTA, 5)}}},
    {"R-PT-3 age of exactly twice the gap catches up",
     "",
     {{'s', 0, 600 * S, 40, OUT(BASELINE, 0), .flagged = true},
      {'s', 0, 900 * S, 70, OUT(CATCH_UP, 70)}}},
    {"R-PT-3 age one ns above twice the gap does not",
     "",
     {{'s', 0, 600 * S + 1, 40, OUT(BASELINE, 0), .flagged = true},
      {'s', 0, 900 * S + 1, 70, OUT(DELTA, 30)}}},
    {"R-PT-3 odd age of twice the gap less one ns catches up",
     "",
     {{'s', 0, 600 * S - 1, 40, OUT(BASELINE, 0), .flagged = true},
      {'s', 0, 900 * S - 1, 70, OUT(CATCH_UP, 70)}}},
    {"R-PT-3 a process that ran for a day keeps its baseline (A13)",
     "",
     {{'s', -86400 * S, 0, 9000, OUT(BASELINE, 0), .flagged = true},
      {'s', -86400 * S, 60 * S, 9012, OUT(DELTA, 12)}}},
    {"R-PT-3 the largest times do not overflow",
     "",
     {{'s', INT64_MIN / 2, INT64_MAX / 4 - T0, 1, OUT(BASELINE, 0), .flagged = true},
      {'s', INT64_MIN / 2, INT64_MAX - T0, 3, OUT(CATCH_UP, 3)}}},
    /* R-PT-4 */
    {"R-PT-4 nothing new: unchanged, but the time moves on",
     "",
     {{'s', 0, 0, 10, KNOWN},
      {'s', 0, 60 * S, 10, OUT(UNCHANGED, 0)},
      {'s', 0, 60 * S, 10, OUT(DUPLICATE, 0)},
      {'s', 0, 120 * S, 11, OUT(DELTA, 1)}}},
    {"R-PT-4 a baseline that does not catch up and did not move",
     "",
     {{'s', -86400 * S, 0, 9, OUT(BASELINE, 0), .flagged = true},
      {'s', -86400 * S, 60 * S, 9, OUT(UNCHANGED, 0)}}},
    /* R-PT-6 */
    {"R-PT-6 sum absent, then there (A33)",
     "",
     {{'s', 0, 60 * S, 10, OUT(FIRST_FULL, 10), .sum = NOSUM},
      {'s', 0, 120 * S, 15, OUT(DELTA, 5), .sum = 4, .counted_sum = 4}}},
    {"R-PT-6 an absent sum leaves the stored one",
     "",
     {{'s', 0, 0, 10, KNOWN, .sum = 3},
      {'s', 0, 60 * S, 12, OUT(DELTA, 2), .sum = NOSUM},
      {'s', 0, 120 * S, 14, OUT(DELTA, 2), .sum = 4, .counted_sum = 1}}},
    {"R-PT-6 an absent sum at a reset leaves the stored one",
     "",
     {{'s', 0, 0, 10, KNOWN, .sum = 3},
      {'s', 0, 60 * S, 2, OUT(RESET, 0), .sum = NOSUM},
      {'s', 0, 120 * S, 4, OUT(DELTA, 2), .sum = 3.5, .counted_sum = 0.5}}},
    /* R-FIRST-1 */
    {"R-FIRST-1 young process (A14)",
     "",
     {{'s', 0, 60 * S, 50, OUT(FIRST_FULL, 50), .sum = 5, .counted_sum = 5}}},
    {"R-FIRST-1 strictly younger than the threshold: one ns below",
     "",
     {{'s', 0, 120 * S - 1, 50, OUT(FIRST_FULL, 50)}}},
    {"R-FIRST-1 exactly the threshold is a baseline",
     "",
     {{'s', 0, 120 * S, 50, OUT(BASELINE, 0), .flagged = true}}},
    {"R-FIRST-1 short jobs of equal value (A10)",
     "",
     {{'s', 0, 10 * S, 1, OUT(FIRST_FULL, 1)},
      {'s', 600 * S, 610 * S, 1, OUT(FIRST_FULL, 1)},
      {'s', 1200 * S, 1210 * S, 1, OUT(FIRST_FULL, 1)},
      {'s', 1800 * S, 1810 * S, 1, OUT(FIRST_FULL, 1)},
      {'s', 2400 * S, 2410 * S, 1, OUT(FIRST_FULL, 1)}}},
    {"R-FIRST-1 replicas with equal attributes (A07)",
     "",
     {{'s', -100000 * S, 0, 1855, KNOWN},
      {'s', -99000 * S, 0, 1834, KNOWN},
      {'s', -100000 * S, 30 * S, 1855, OUT(UNCHANGED, 0)},
      {'s', -99000 * S, 36 * S, 1834, OUT(UNCHANGED, 0)},
      {'s', -100000 * S, 90 * S, 1860, OUT(DELTA, 5)},
      {'s', -99000 * S, 96 * S, 1836, OUT(DELTA, 2)}}},
    {"R-FIRST-1 starts within one microsecond are two streams (A50)",
     "",
     {{'s', 123, 60 * S, 5, OUT(FIRST_FULL, 5)}, {'s', 456, 60 * S, 7, OUT(FIRST_FULL, 7)}}},
    /* R-FIRST-2, S-1 */
    {"R-FIRST-2 a new stream of a followed process counts (A11)",
     "",
     {{'a', 0, 60 * S, 10, OUT(FIRST_FULL, 10)},
      {'a', 0, 1740 * S, 300, OUT(DELTA, 290)},
      {'a', 0, 1800 * S, 310, OUT(DELTA, 10)},
      {'b', 0, 1800 * S, 1, OUT(FIRST_FULL, 1)}}},
    {"R-FIRST-2 one export split over messages is history (A12)",
     "",
     {{'a', -10800 * S, 0, 5000, OUT(BASELINE, 0), .flagged = true},
      {'b', -10800 * S, 0, 3000, OUT(BASELINE, 0), .flagged = true}}},
    {"R-FIRST-2 with S-1 off the second half counts three hours at once",
     "-S-1",
     {{'a', -10800 * S, 0, 5000, OUT(BASELINE, 0), .flagged = true},
      {'b', -10800 * S, 0, 3000, OUT(FIRST_FULL, 3000)}}},
    {"R-FIRST-2 one ns short of a second is the same export",
     "",
     {{'a', -10800 * S, 0, 5000, OUT(BASELINE, 0), .flagged = true},
      {'b', -10800 * S, S - 1, 3000, OUT(BASELINE, 0), .flagged = true},
      {'c', -10800 * S, S, 20, OUT(FIRST_FULL, 20)}}},
    {"R-FIRST-2 a point before the first met is not known",
     "",
     {{'a', -10800 * S, 60 * S, 5000, OUT(BASELINE, 0), .flagged = true},
      {'b', -10800 * S, 0, 3000, OUT(BASELINE, 0), .flagged = true}}},
    {"R-FIRST-2 another start time is another process",
     "",
     {{'a', -10800 * S, 0, 5000, OUT(BASELINE, 0), .flagged = true},
      {'b', -10801 * S, 60 * S, 3000, OUT(BASELINE, 0), .flagged = true}}},
    /* R-FIRST-3, S-12 */
    {"R-FIRST-3 a point of no duration contributes nothing (A05)",
     "",
     {{'s', 0, 0, 1256, OUT(BASELINE, 0)}, {'s', 0, 60 * S, 1276, OUT(DELTA, 20)}}},
    {"R-FIRST-3 with S-12 off it counts by its age of 0",
     "-S-12",
     {{'s', 0, 0, 1256, OUT(FIRST_FULL, 1256)}, {'s', 0, 60 * S, 1276, OUT(DELTA, 20)}}},
    {"R-FIRST-3 holds for a process that is seen, too",
     "-S-1",
     {{'a', 0, 0, 5, OUT(BASELINE, 0)}, {'b', 0, 0, 7, OUT(BASELINE, 0)}}},
    {"R-FIRST-3 start = 0 is a huge age",
     "",
     {{'s', -T0, 0, 100, OUT(BASELINE, 0), .flagged = true},
      {'s', -T0, 3600 * S, 130, OUT(DELTA, 30)}}},
    /* R-FIRST-5, S-2 */
    {"R-FIRST-5 the letter counts three hours after an outage of two",
     "-S-2",
     {{'s', -10800 * S, 0, 300, OUT(BASELINE, 0), .flagged = true},
      {'s', -10800 * S, 7200 * S, 500, OUT(CATCH_UP, 500)}}},
    {"R-FIRST-5 with S-2 on it keeps its baseline",
     "+S-2",
     {{'s', -10800 * S, 0, 300, OUT(BASELINE, 0)},
      {'s', -10800 * S, 7200 * S, 500, OUT(DELTA, 200)}}},
    {"R-FIRST-5 an age of exactly one hour catches up",
     "+S-2",
     {{'s', -3600 * S, 0, 300, OUT(BASELINE, 0), .flagged = true},
      {'s', -3600 * S, 3600 * S, 500, OUT(CATCH_UP, 500)}}},
    {"R-FIRST-5 one ns above one hour does not",
     "+S-2",
     {{'s', -3600 * S - 1, 0, 300, OUT(BASELINE, 0)},
      {'s', -3600 * S - 1, 3600 * S, 500, OUT(DELTA, 200)}}},
    {"R-FIRST-5 asked again where the flag is from before the switch",
     "+S-2",
     {{'s', -10800 * S, 0, 300, KNOWN, .flagged = true},
      {'s', -10800 * S, 7200 * S, 500, OUT(DELTA, 200)}}},
    /* R-FIRST-6, S-5 */
    {"R-FIRST-6 the letter counts a stream that was refused for hours",
     "-S-5",
     {{'a', -10800 * S, 0, 10, KNOWN},
      {'b', -10800 * S, 3600 * S, 900, OUT(FIRST_FULL, 900), .overflow = true}}},
    {"R-FIRST-6 with S-5 on it starts from a baseline that never catches up",
     "+S-5",
     {{'a', -10800 * S, 0, 10, KNOWN},
      {'b', -10800 * S, 3600 * S, 900, OUT(BASELINE, 0), .overflow = true},
      {'b', -10800 * S, 90000 * S, 907, OUT(DELTA, 7), .overflow = true}}},
    {"R-FIRST-6 an unseen young process still counts",
     "+S-5",
     {{'s', 0, 60 * S, 50, OUT(FIRST_FULL, 50), .overflow = true}}},
    {"R-FIRST-6 without an overflow nothing changes",
     "+S-5",
     {{'a', -10800 * S, 0, 10, KNOWN}, {'b', -10800 * S, 3600 * S, 9, OUT(FIRST_FULL, 9)}}},
    /* R-FIRST-7, S-6 */
    {"R-FIRST-7 the letter counts a pruned stream's history again",
     "-S-6",
     {{'a', -900000 * S, 0, 10, KNOWN},
      {'b', -900000 * S, 60 * S, 900, OUT(FIRST_FULL, 900), .long_ago = true}}},
    {"R-FIRST-7 with S-6 on it starts from a baseline that never catches up",
     "+S-6",
     {{'a', -900000 * S, 0, 10, KNOWN},
      {'b', -900000 * S, 60 * S, 900, OUT(BASELINE, 0), .long_ago = true},
      {'b', -900000 * S, 990000 * S, 905, OUT(DELTA, 5), .long_ago = true}}},
    {"R-FIRST-7 a process seen for less than 7 days counts",
     "+S-6",
     {{'a', -10800 * S, 0, 10, KNOWN}, {'b', -10800 * S, 60 * S, 9, OUT(FIRST_FULL, 9)}}},
};
#define CASE_COUNT ((int)(sizeof cases / sizeof cases[0]))

/* ---- a writer of seven points ---- */

struct memory {
    struct {
        char stream;
        int64_t start;
        struct stream_state state;
    } streams[8];
    size_t stream_count;
    struct {
        int64_t start;
        int64_t first_point;
    } processes[8];
    size_t process_count;
};

static struct stream_state *stream_of(struct memory *memory, const struct step *step)
{
    for (size_t i = 0; i < memory->stream_count; i++)
        if (memory->streams[i].stream == step->stream && memory->streams[i].start == step->start)
            return &memory->streams[i].state;
    size_t new = memory->stream_count++;
    memory->streams[new].stream = step->stream;
    memory->streams[new].start = step->start;
    return &memory->streams[new].state;
}

static struct process_view view_of(const struct memory *memory, const struct step *step)
{
    struct process_view view = {.tenant_overflowed = step->overflow,
                                .first_seen_long_ago = step->long_ago};
    for (size_t i = 0; i < memory->process_count; i++) {
        if (memory->processes[i].start == step->start) {
            view.seen = true;
            view.first_point_unix_nano = memory->processes[i].first_point;
        }
    }
    return view;
}

static void touch(struct memory *memory, const struct step *step)
{
    for (size_t i = 0; i < memory->process_count; i++) {
        if (memory->processes[i].start == step->start) {
            if (T0 + step->time < memory->processes[i].first_point)
                memory->processes[i].first_point = T0 + step->time;
            return;
        }
    }
    memory->processes[memory->process_count].start = step->start;
    memory->processes[memory->process_count++].first_point = T0 + step->time;
}

static struct point point_of(const struct step *step)
{
    struct point point = {
        .refusal = POINT_OUTCOME_COUNT,
        .temporality = TEMPORALITY_CUMULATIVE,
        .start_unix_nano = T0 + step->start,
        .time_unix_nano = T0 + step->time,
        .count = step->n,
        .has_sum = step->sum >= 0,
        .sum = step->sum >= 0 ? step->sum : 0,
    };
    if (step->buckets[0].bucket == 0)
        point.histogram.counts[4] = step->n;
    for (size_t i = 0; i < 4 && step->buckets[i].bucket != 0; i++)
        point.histogram.counts[step->buckets[i].bucket - 1] = step->buckets[i].n;
    return point;
}

static struct stream_state stored_state(const struct point *point, bool baseline)
{
    return (struct stream_state){
        .exists = true,
        .last_unix_nano = point->time_unix_nano,
        .last_count = point->count,
        .last_sum = point->sum,
        .last_counts = point->histogram,
        .baseline = baseline,
    };
}

/* What holds for every verdict, whatever the case. */
static void check_always(const struct point *point, const struct stream_state *before,
                         const struct point_verdict *verdict)
{
    int64_t total;
    struct err err;
    ck_assert_int_eq(histogram_total(&verdict->counts, &total, &err), STATUS_OK);
    ck_assert_int_eq(total, verdict->count);
    ck_assert(verdict->sum >= 0);
    bool passed_over =
        verdict->outcome == POINT_DUPLICATE || verdict->outcome == POINT_OUT_OF_ORDER;
    ck_assert_int_eq(verdict->state_changed, !passed_over);
    if (passed_over)
        return;
    ck_assert(verdict->next.exists);
    ck_assert_int_eq(verdict->next.last_unix_nano, point->time_unix_nano);
    ck_assert_int_eq(verdict->next.last_count, point->count);
    ck_assert_mem_eq(&verdict->next.last_counts, &point->histogram, sizeof point->histogram);
    double kept = before->exists ? before->last_sum : 0;
    ck_assert_double_eq(verdict->next.last_sum, point->has_sum ? point->sum : kept);
}

static void run_step(const struct rule_case *run, size_t number, struct memory *memory,
                     struct rules rules)
{
    const struct step *step = &run->steps[number];
    struct stream_state *state = stream_of(memory, step);
    struct point point = point_of(step);
    if (step->stored) {
        *state = stored_state(&point, step->flagged);
        touch(memory, step);
        return;
    }
    struct process_view view = view_of(memory, step);
    struct point_verdict verdict;
    point_rule(&point, state, &view, 120 * S, rules, &verdict);
    ck_assert_msg(verdict.outcome == step->outcome, "%s, step %zu: %s, not %s", run->name, number,
                  point_outcome_name(verdict.outcome), point_outcome_name(step->outcome));
    ck_assert_msg(verdict.count == step->counted, "%s, step %zu: counted %lld, not %lld", run->name,
                  number, (long long)verdict.count, (long long)step->counted);
    ck_assert_msg(verdict.sum == step->counted_sum, "%s, step %zu: sum %g, not %g", run->name,
                  number, verdict.sum, step->counted_sum);
    check_always(&point, state, &verdict);
    if (verdict.state_changed) {
        *state = verdict.next;
        touch(memory, step);
    }
    ck_assert_msg(state->baseline == step->flagged, "%s, step %zu: baseline is %d", run->name,
                  number, state->baseline);
}

START_TEST(point_rule__cases)
{
    const struct rule_case *run = &cases[_i];
    struct rules rules = rules_default();
    struct err err;
    struct memory memory = {0};
    ck_assert_int_eq(rules_parse(run->rules, strlen(run->rules), &rules, &err), STATUS_OK);
    for (size_t i = 0; i < 7 && run->steps[i].stream != 0; i++)
        run_step(run, i, &memory, rules);
}
END_TEST

/* R-PT-4: the delta is taken bucket by bucket; R-PT-3: a catch-up adds the whole point. */
START_TEST(point_rule__delta_and_catch_up_by_bucket)
{
    struct step first = {'s', 0, 300 * S, 4, .buckets = {{1, 3}, {15, 1}}, .sum = 12};
    struct step second = {'s', 0, 360 * S, 9, .buckets = {{1, 3}, {6, 4}, {15, 2}}, .sum = 30};
    struct point before = point_of(&first);
    struct point point = point_of(&second);
    struct stream_state state = stored_state(&before, false);
    struct process_view view = {0};
    struct point_verdict verdict;
    point_rule(&point, &state, &view, 120 * S, rules_default(), &verdict);
    ck_assert_int_eq(verdict.outcome, POINT_DELTA);
    ck_assert_int_eq(verdict.counts.counts[0], 0);
    ck_assert_int_eq(verdict.counts.counts[5], 4);
    ck_assert_int_eq(verdict.counts.counts[14], 1);
    ck_assert_double_eq(verdict.sum, 18);
    state.baseline = true;
    point.time_unix_nano += 90 * S; /* gap 150 s, age 300 s */
    point_rule(&point, &state, &view, 120 * S, rules_default(), &verdict);
    ck_assert_int_eq(verdict.outcome, POINT_CATCH_UP);
    ck_assert_mem_eq(&verdict.counts, &point.histogram, sizeof point.histogram);
    ck_assert_double_eq(verdict.sum, 30);
}
END_TEST

/* A stored state whose total disagrees with its buckets still gives a count that is the sum of its
 * buckets, and never a negative one. */
START_TEST(point_rule__total_that_disagrees_with_its_buckets)
{
    struct step step = {.stream = 's', .time = 60 * S, .n = 5};
    struct point point = point_of(&step);
    struct stream_state state = stored_state(&point, false);
    struct process_view view = {0};
    struct point_verdict verdict;
    state.last_unix_nano -= S;
    state.last_count = 6;
    point_rule(&point, &state, &view, 120 * S, rules_default(), &verdict);
    ck_assert_int_eq(verdict.outcome, POINT_RESET);
    ck_assert_int_eq(verdict.count, 0);
    state.last_count = 4;
    point_rule(&point, &state, &view, 120 * S, rules_default(), &verdict);
    ck_assert_int_eq(verdict.outcome, POINT_UNCHANGED);
    ck_assert_int_eq(verdict.count, 0);
}
END_TEST

Suite *point_rule_suite(void);
Suite *point_rule_suite(void)
{
    Suite *suite = suite_create("point_rule");
    TCase *tcase = tcase_create("point_rule");
    tcase_add_loop_test(tcase, point_rule__cases, 0, CASE_COUNT);
    tcase_add_test(tcase, point_rule__delta_and_catch_up_by_bucket);
    tcase_add_test(tcase, point_rule__total_that_disagrees_with_its_buckets);
    suite_add_tcase(suite, tcase);
    return suite;
}

#include "sim/world/meter.h"

#include "core/base/assert.h"
#include "sim/limits.h"
#include "sim/world/truth.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* What one tenant was counted. */
struct tally {
    struct uuid tenant;
    uint64_t points[POINT_OUTCOME_COUNT];
    uint64_t judged[POINT_OUTCOME_COUNT]; /* in transactions that committed */
    uint64_t messages[MESSAGE_OUTCOME_COUNT];
};

struct meters {
    struct sched *sched;
    struct truth *truth;
    struct tally *tallies; /* sorted by tenant */
    size_t tally_count;
    size_t tally_capacity;
    struct uuid *tenants; /* for meters_tenants */
    uint64_t counters[COUNTER_COUNT];
    uint64_t
        untold; /* commits whose outcomes were not reported: their actor did not learn of them */
    struct actor_meter *first; /* all of them, to be freed */
};

/* What the open transaction will have done when it commits. */
enum deed_kind { DEED_JUDGED, DEED_PURGED, DEED_DROPPED_DAY, DEED_PRUNED };

struct deed {
    enum deed_kind kind;
    /* JUDGED: copies, texts in the actor's arena */
    struct delivery delivery;
    struct point point;
    struct judgement judgement;
    struct uuid tenant;    /* PURGED */
    int64_t day_or_before; /* DROPPED_DAY; PRUNED: before_us */
};

struct actor_meter {
    struct meter port;
    struct store store; /* the wrapped one; inner is NULL until it is made */
    struct store *inner;
    struct meters *meters;
    struct deed *deeds;
    size_t deed_count;
    size_t deed_capacity;
    struct arena arena; /* texts of the open transaction's deeds */
    bool awaits_report; /* the last commit had judgements, and no outcome was reported since */
    struct actor_meter *next;
};

struct meters *meters_new(struct truth *truth, struct sched *sched)
{
    struct meters *meters = calloc(1, sizeof(*meters));
    if (!meters)
        return NULL;
    meters->truth = truth;
    meters->sched = sched;
    return meters;
}

void meters_free(struct meters *meters)
{
    if (!meters)
        return;
    while (meters->first) {
        struct actor_meter *meter = meters->first;
        meters->first = meter->next;
        free(meter->deeds);
        arena_free(&meter->arena);
        free(meter);
    }
    free(meters->tallies);
    free(meters->tenants);
    free(meters);
}

/* ---- counts ---- */

/* Where the tenant is, or belongs. */
static size_t tally_place(const struct meters *meters, const struct uuid *tenant, bool *found)
{
    size_t low = 0, high = meters->tally_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = uuid_compare(&meters->tallies[middle].tenant, tenant);
        if (order == 0) {
            *found = true;
            return middle;
        }
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    *found = false;
    return low;
}

static struct tally *tally_of(struct meters *meters, const struct uuid *tenant)
{
    bool found;
    size_t place = tally_place(meters, tenant, &found);
    if (found)
        return &meters->tallies[place];
    if (meters->tally_count == meters->tally_capacity) {
        size_t capacity = meters->tally_capacity ? 2 * meters->tally_capacity : 8;
        struct tally *tallies = realloc(meters->tallies, capacity * sizeof(*tallies));
        if (!tallies)
            return NULL;
        meters->tallies = tallies;
        struct uuid *tenants = realloc(meters->tenants, capacity * sizeof(*tenants));
        if (!tenants)
            return NULL;
        meters->tenants = tenants;
        meters->tally_capacity = capacity;
    }
    memmove(&meters->tallies[place + 1], &meters->tallies[place],
            (meters->tally_count - place) * sizeof(struct tally));
    memmove(&meters->tenants[place + 1], &meters->tenants[place],
            (meters->tally_count - place) * sizeof(struct uuid));
    meters->tallies[place] = (struct tally){.tenant = *tenant};
    meters->tenants[place] = *tenant;
    meters->tally_count++;
    return &meters->tallies[place];
}

static struct actor_meter *of_port(struct meter *port)
{
    ASSERT(port);
    return (struct actor_meter *)port;
}

static void points(struct meter *port, const struct uuid *tenant, enum point_outcome outcome,
                   uint64_t count)
{
    ASSERT(tenant && outcome < POINT_OUTCOME_COUNT);
    of_port(port)->awaits_report = false;
    struct tally *tally = tally_of(of_port(port)->meters, tenant);
    if (tally)
        tally->points[outcome] += count;
}

static void messages(struct meter *port, const struct uuid *tenant, enum message_outcome outcome,
                     uint64_t count)
{
    ASSERT(tenant && outcome < MESSAGE_OUTCOME_COUNT);
    struct tally *tally = tally_of(of_port(port)->meters, tenant);
    if (tally)
        tally->messages[outcome] += count;
}

static void add(struct meter *port, enum counter counter, uint64_t count)
{
    ASSERT(counter < COUNTER_COUNT);
    of_port(port)->meters->counters[counter] += count;
}

uint64_t meters_points(const struct meters *meters, const struct uuid *tenant,
                       enum point_outcome outcome)
{
    ASSERT(meters && outcome < POINT_OUTCOME_COUNT);
    uint64_t total = 0;
    for (size_t i = 0; i < meters->tally_count; i++)
        if (!tenant || uuid_compare(&meters->tallies[i].tenant, tenant) == 0)
            total += meters->tallies[i].points[outcome];
    return total;
}

uint64_t meters_messages(const struct meters *meters, const struct uuid *tenant,
                         enum message_outcome outcome)
{
    ASSERT(meters && outcome < MESSAGE_OUTCOME_COUNT);
    uint64_t total = 0;
    for (size_t i = 0; i < meters->tally_count; i++)
        if (!tenant || uuid_compare(&meters->tallies[i].tenant, tenant) == 0)
            total += meters->tallies[i].messages[outcome];
    return total;
}

uint64_t meters_counter(const struct meters *meters, enum counter counter)
{
    ASSERT(meters && counter < COUNTER_COUNT);
    return meters->counters[counter];
}

const struct uuid *meters_tenants(const struct meters *meters, size_t *count)
{
    *count = meters->tally_count;
    return meters->tenants;
}

size_t meters_check(const struct meters *meters, struct names *names, FILE *out)
{
    ASSERT(meters && names && out);
    size_t failures = 0;
    bool all_told = meters->untold == 0;
    for (const struct actor_meter *meter = meters->first; meter; meter = meter->next)
        all_told = all_told && !meter->awaits_report;
    for (size_t i = 0; i < meters->tally_count; i++) {
        const struct tally *tally = &meters->tallies[i];
        for (int outcome = 0; outcome < POINT_OUTCOME_COUNT; outcome++) {
            uint64_t told = tally->points[outcome], judged = tally->judged[outcome];
            if (told == judged || (told < judged && !all_told))
                continue;
            failures++;
            (void)fprintf(out,
                          "tenant \"%s\": %" PRIu64 " point(s) reported as %s, but %" PRIu64
                          " committed\n",
                          names_of_tenant(names, &tally->tenant), told,
                          point_outcome_name((enum point_outcome)outcome), judged);
        }
    }
    return failures;
}

/* ---- deeds of the open transaction ---- */

static struct deed *deed_new(struct actor_meter *meter, enum deed_kind kind)
{
    if (meter->deed_count == meter->deed_capacity) {
        size_t capacity = meter->deed_capacity ? 2 * meter->deed_capacity : 64;
        struct deed *grown = realloc(meter->deeds, capacity * sizeof(*grown));
        if (!grown)
            return NULL;
        meter->deeds = grown;
        meter->deed_capacity = capacity;
    }
    struct deed *deed = &meter->deeds[meter->deed_count++];
    deed->kind = kind;
    return deed;
}

static struct bytes keep(struct actor_meter *meter, struct bytes text)
{
    return (struct bytes){
        arena_copy(&meter->arena, text.data ? text.data : (const uint8_t *)"", text.size),
        text.size};
}

static void judged(struct meter *port, const struct judgement *judgement)
{
    struct actor_meter *meter = of_port(port);
    if (!meter->meters->truth)
        return;
    struct deed *deed = deed_new(meter, DEED_JUDGED);
    if (!deed)
        return;
    deed->delivery = *judgement->delivery;
    deed->point = *judgement->point;
    deed->judgement = *judgement;
    if (judgement->counted > 0) {
        deed->point.method = keep(meter, judgement->point->method);
        deed->judgement.service = keep(meter, judgement->service);
        deed->judgement.route = keep(meter, judgement->route);
    }
}

static void forget(struct actor_meter *meter)
{
    meter->deed_count = 0;
    arena_rewind(&meter->arena);
}

static void tally_judged(struct actor_meter *meter, const struct judgement *judgement)
{
    struct tally *tally = tally_of(meter->meters, &judgement->delivery->tenant);
    meter->awaits_report = true;
    if (tally)
        tally->judged[judgement->outcome]++;
}

static void tell(struct actor_meter *meter)
{
    struct truth *truth = meter->meters->truth;
    int64_t now = meter->meters->sched ? sched_now_ns(meter->meters->sched) : 0;
    for (size_t i = 0; i < meter->deed_count; i++) {
        struct deed *deed = &meter->deeds[i];
        switch (deed->kind) {
        case DEED_JUDGED:
            deed->judgement.delivery = &deed->delivery;
            deed->judgement.point = &deed->point;
            truth_judged(truth, &deed->judgement, now);
            tally_judged(meter, &deed->judgement);
            break;
        case DEED_PURGED:
            truth_purged(truth, &deed->tenant);
            break;
        case DEED_DROPPED_DAY:
            truth_dropped_day(truth, deed->day_or_before);
            break;
        case DEED_PRUNED:
            truth_pruned(truth, deed->day_or_before);
            break;
        }
    }
    forget(meter);
}

/* A call that succeeded below the seam. */
static void observe(struct actor_meter *meter, const struct store_call *call)
{
    struct deed *deed = NULL;
    switch (call->query) {
    case QUERY_BEGIN:
        meter->meters->untold += meter->awaits_report;
        meter->awaits_report = false;
        forget(meter);
        break;
    case QUERY_ROLLBACK:
        forget(meter);
        break;
    case QUERY_COMMIT:
        tell(meter);
        break;
    case QUERY_PURGE_TENANT:
        if ((deed = deed_new(meter, DEED_PURGED)) != NULL)
            memcpy(deed->tenant.bytes, call->params[0].bytes.data, sizeof(deed->tenant.bytes));
        break;
    case QUERY_DROP_MINUTE_PARTITION:
        if ((deed = deed_new(meter, DEED_DROPPED_DAY)) != NULL)
            deed->day_or_before = call->params[0].integer;
        break;
    case QUERY_PRUNE_SERIES_STATE:
        if ((deed = deed_new(meter, DEED_PRUNED)) != NULL)
            deed->day_or_before = call->params[0].integer;
        break;
    default:
        break;
    }
}

static enum status observed_call(struct store *store, struct store_call *call, struct err *err)
{
    struct actor_meter *meter =
        (struct actor_meter *)(void *)((char *)store - offsetof(struct actor_meter, store));
    enum status status = meter->inner->call(meter->inner, call, err);
    if (status == STATUS_OK && meter->meters->truth)
        observe(meter, call);
    return status;
}

struct meter *meter_new(struct meters *meters)
{
    ASSERT(meters);
    struct actor_meter *meter = calloc(1, sizeof(*meter));
    if (!meter)
        return NULL;
    meter->port =
        (struct meter){.judged = judged, .points = points, .messages = messages, .add = add};
    meter->meters = meters;
    meter->next = meters->first;
    meters->first = meter;
    arena_init(&meter->arena, LIMIT_WORLD_BYTES);
    return &meter->port;
}

struct store *meter_store_new(struct meter *port, struct store *inner)
{
    struct actor_meter *meter = of_port(port);
    ASSERT(inner && !meter->inner);
    meter->inner = inner;
    meter->store.call = observed_call;
    return &meter->store;
}

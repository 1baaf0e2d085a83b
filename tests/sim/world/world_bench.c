#include "world_bench.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

void world_bench_set_up(struct world_bench *bench,
                        void (*change)(struct process_config *process,
                                       struct collector_config *collector))
{
    struct err err;
    memset(bench, 0, sizeof(*bench));
    struct queue_config queue = queue_config_default();
    queue.keep_acknowledged = true;
    bench->sched = sched_new(1, WORLD_START);
    bench->queue = queue_new(&queue, bench->sched, NULL);
    bench->names = names_new();
    bench->truth = truth_new(bench->names);
    ck_assert_int_eq(series_maker_init(&bench->maker, rules_default(), bench->names, &err),
                     STATUS_OK);
    bench->publisher = publisher_new(bench->queue, bench->truth, &bench->maker);
    bench->settings = settings_default();
    bench->decoder = decoder_new(&bench->settings, rules_default());
    arena_init(&bench->arena, 64 << 20);
    ck_assert(names_tenant_uuid("acme", &bench->tenant));
    names_add_tenant(bench->names, &bench->tenant, "acme");
    struct collector_config collector = {.name = "c1", .batch_exports = 1};
    struct process_config process = {
        .name = "shop-1",
        .telemetry = {.tenant = bench->tenant,
                      .service = bytes_of("shop"),
                      .bounds = histogram_bounds,
                      .bound_count = HISTOGRAM_BOUNDS},
        .export_every_ns = NS_PER_MIN,
        .temporality = TEMPORALITY_CUMULATIVE,
    };
    if (change)
        change(&process, &collector);
    bench->collector = collector_new(&collector, bench->publisher, bench->sched);
    bench->process = process_new(&process, &bench->maker, bench->truth, bench->collector);
    ck_assert_ptr_nonnull(bench->process);
    process_start(bench->process, WORLD_START, WORLD_START);
}

void world_bench_tear_down(struct world_bench *bench)
{
    process_free(bench->process);
    collector_free(bench->collector);
    publisher_free(bench->publisher);
    series_maker_free(&bench->maker);
    decoder_free(bench->decoder);
    truth_free(bench->truth);
    names_free(bench->names);
    sched_free(bench->sched);
    queue_free(bench->queue);
    arena_free(&bench->arena);
}

int64_t world_at(int64_t seconds)
{
    return WORLD_START + seconds * NS_PER_S;
}

void world_serve(struct world_bench *bench, int64_t seconds, const char *route, int64_t times)
{
    struct err err;
    struct request request = {
        .method = bytes_of("GET"),
        .route = bytes_of(route),
        .status_kind = REQUEST_STATUS_INT,
        .status = 200,
    };
    ck_assert_int_eq(
        process_serve(bench->process, world_at(seconds), &request, 20 * NS_PER_MS, times, &err),
        STATUS_OK);
}

void world_export(struct world_bench *bench, int64_t seconds)
{
    struct err err;
    ck_assert_int_eq(process_export(bench->process, world_at(seconds), &err), STATUS_OK);
}

struct message world_decode(struct world_bench *bench, uint64_t sequence)
{
    struct err err;
    const struct queue_message *stored = queue_message_at(bench->queue, sequence);
    ck_assert_ptr_nonnull(stored);
    struct message_input input = {
        .payload = stored->payload,
        .msg_id = stored->msg_id,
        .tenant = stored->tenant,
        .now_ns = WORLD_START + NS_PER_DAY,
    };
    struct message message;
    enum status status = message_decode(bench->decoder, &input, &bench->arena, &message, &err);
    ck_assert_msg(status == STATUS_OK, "message %d: %s", (int)sequence, err.message);
    return message;
}

/* The accounting identity (R-OUT-2): the books of truth_state.h against each other and the tables.
 */
#include "core/base/assert.h"
#include "core/base/time.h"
#include "sim/world/truth_state.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

struct check {
    struct truth *truth;
    struct queue *queue;
    FILE *out;
    size_t failures;
    struct index applied_ids; /* (tenant, message id) of messages that were applied */
};

static const char *tenant_name(const struct check *check, const struct uuid *tenant)
{
    return names_of_tenant(check->truth->names, tenant);
}

static void begin_stream_line(struct check *check, const struct truth_stream *stream)
{
    check->failures++;
    (void)fprintf(check->out, "tenant \"%s\" series \"%s\" start %" PRIu64 ": ",
                  tenant_name(check, &stream->tenant), stream->name, stream->start_unix_nano);
}

/* ---- streams ---- */

static void check_cumulative(struct check *check, const struct truth_stream *stream)
{
    int64_t served = (int64_t)stream->served;
    int64_t absorbed = truth_add(stream->absorbed_baseline, stream->absorbed_reset);
    int64_t open = truth_add(served, -stream->last_value);
    int64_t explained = truth_add(truth_add(stream->counted, open), absorbed);
    explained = truth_add(explained, -stream->forgotten);
    bool closed = served == explained;
    if (closed && (!stream->live || open >= 0))
        return;
    begin_stream_line(check, stream);
    (void)fprintf(check->out,
                  "served %" PRId64 ", but counted %" PRId64 " + open %" PRId64
                  " (SDK value %" PRId64 " - last accepted %" PRId64 ") + baseline %" PRId64
                  " + reset %" PRId64 " - forgotten by retention %" PRId64 " = %" PRId64 "\n",
                  served, stream->counted, open, served, stream->last_value,
                  stream->absorbed_baseline, stream->absorbed_reset, stream->forgotten, explained);
}

static void check_delta(struct check *check, const struct truth_stream *stream)
{
    if (stream->sent + stream->lost <= stream->served)
        return;
    begin_stream_line(check, stream);
    (void)fprintf(check->out,
                  "served %" PRIu64 ", but sent %" PRIu64 " + lost in crashed processes %" PRIu64
                  "\n",
                  stream->served, stream->sent, stream->lost);
}

/* ---- messages ---- */

struct id_key {
    struct uuid tenant;
    struct bytes id;
};

static bool id_equal(const void *context, size_t number, const void *key)
{
    const struct check *check = context;
    const struct id_key *wanted = key;
    const struct queue_message *message = queue_message_at(check->queue, number + 1);
    return bytes_equal(message->msg_id, wanted->id) &&
           uuid_compare(&message->tenant, &wanted->tenant) == 0;
}

static size_t find_applied_id(struct check *check, const struct queue_message *message)
{
    struct id_key key = {message->tenant, message->msg_id};
    uint64_t hash = XXH3_64bits(key.id.data ? key.id.data : (const uint8_t *)"", key.id.size);
    return index_find(&check->applied_ids, hash, id_equal, check, &key);
}

static void index_applied(struct check *check)
{
    const struct truth *truth = check->truth;
    for (size_t i = 0; i < truth->message_count; i++) {
        const struct queue_message *message = queue_message_at(check->queue, i + 1);
        if (truth->messages[i].judgements == 0 || !message || !message->msg_id.data ||
            find_applied_id(check, message) != INDEX_NONE)
            continue;
        uint64_t hash = XXH3_64bits(message->msg_id.data, message->msg_id.size);
        if (!index_add(&check->applied_ids, hash, i))
            check->truth->exhausted = true;
    }
}

static void message_line(struct check *check, uint64_t sequence,
                         const struct queue_message *message, const char *what)
{
    check->failures++;
    (void)fprintf(check->out, "tenant \"%s\" message %" PRIu64 " \"%.*s\" (%s%s): %s",
                  tenant_name(check, &message->tenant), sequence, (int)message->msg_id.size,
                  message->msg_id.data ? (const char *)message->msg_id.data : "",
                  queue_state_name(message->state), message->dead ? ", in the DLQ" : "", what);
}

/* A repetition of the same bytes under a new sequence is applied with any of them. */
static bool is_repetition(struct check *check, const struct truth_message *book,
                          const struct queue_message *message)
{
    if (book->first && check->truth->messages[book->first - 1].judgements > 0)
        return true;
    return message->msg_id.data && find_applied_id(check, message) != INDEX_NONE;
}

static void check_applied(struct check *check, uint64_t sequence, const struct truth_message *book,
                          const struct queue_message *message)
{
    if (message->dead && !queue_came_back(message))
        message_line(check, sequence, message, "applied and dead-lettered\n");
    if (book->judgements != book->point_count) {
        message_line(check, sequence, message, "");
        (void)fprintf(check->out, "%zu point(s) sent, but %" PRIu64 " judged\n", book->point_count,
                      book->judgements);
    }
    bool named = book->refusals > 0 ? book->delta_judged <= book->delta_sent
                                    : book->delta_judged == book->delta_sent;
    if (named && book->delta_counted == book->delta_judged)
        return;
    uint64_t judged = book->delta_judged;
    message_line(check, sequence, message, "");
    (void)fprintf(check->out,
                  "sent %" PRIu64 " delta request(s), but counted %" PRIu64 " + refused %" PRIu64
                  " (%" PRIu64 " refused point(s))\n",
                  book->delta_sent, book->delta_counted,
                  book->delta_sent > judged ? book->delta_sent - judged : 0, book->refusals);
}

static void check_message(struct check *check, uint64_t sequence)
{
    const struct truth_message *book = &check->truth->messages[sequence - 1];
    const struct queue_message *message = queue_message_at(check->queue, sequence);
    if (!book->known || !message)
        return;
    if (book->judgements > 0)
        check_applied(check, sequence, book, message);
    else if (message->state == QUEUE_ACKNOWLEDGED && !message->dead && book->point_count > 0 &&
             !is_repetition(check, book, message))
        message_line(check, sequence, message,
                     "acknowledged, but neither applied nor dead-lettered\n");
}

/* ---- row groups ---- */

static void add_rows(struct check *check, const struct truth_tables *tables)
{
    struct truth *truth = check->truth;
    for (size_t i = 0; i < truth->cell_count; i++)
        truth->cells[i].in_table = 0;
    for (size_t i = 0; i < tables->minute_count; i++) {
        const struct minute_row *row = &tables->minutes[i];
        struct truth_cell key = {
            .tenant = row->tenant,
            .day = time_div(row->bucket_start_us, US_PER_DAY),
            .service = row->service,
            .method = row->method,
            .route = row->route,
            .status_code = row->status_code,
            .source = row->source,
        };
        struct truth_cell *cell = truth_cell_of(truth, &key);
        if (cell)
            cell->in_table = truth_add(cell->in_table, row->count);
        else
            truth->exhausted = true;
    }
}

static void check_cell(struct check *check, const struct truth_cell *cell)
{
    if (cell->counted == cell->in_table)
        return;
    char day[TIME_TEXT_SIZE];
    day_format(cell->day, day);
    check->failures++;
    (void)fprintf(check->out,
                  "tenant \"%s\" rows of %s \"%.*s\" \"%.*s\" \"%.*s\" %d %s: counted %" PRId64
                  ", but the table has %" PRId64 "\n",
                  tenant_name(check, &cell->tenant), day, (int)cell->service.size,
                  (const char *)cell->service.data, (int)cell->method.size,
                  (const char *)cell->method.data, (int)cell->route.size,
                  (const char *)cell->route.data, cell->status_code, source_name(cell->source),
                  cell->counted, cell->in_table);
}

/* ---- states ---- */

static void check_state(struct check *check, const struct truth_state *state, bool *seen)
{
    const struct truth_stream *stream =
        truth_find_stream(check->truth, &state->tenant, &state->key.series_hash,
                          (uint64_t)state->key.start_unix_nano, TEMPORALITY_CUMULATIVE);
    if (!stream || !stream->accepted) {
        check->failures++;
        (void)fprintf(check->out,
                      "tenant \"%s\" series \"%s\" start %" PRId64
                      ": a series_state row, but no point was accepted\n",
                      tenant_name(check, &state->tenant),
                      names_of(check->truth->names, &state->key.series_hash),
                      state->key.start_unix_nano);
        return;
    }
    seen[stream->number] = true;
    if (state->last_unix_nano == stream->last_unix_nano && state->last_count == stream->last_value)
        return;
    begin_stream_line(check, stream);
    (void)fprintf(check->out,
                  "last accepted %" PRId64 " at %" PRId64 ", but series_state has %" PRId64
                  " at %" PRId64 "\n",
                  stream->last_value, stream->last_unix_nano, state->last_count,
                  state->last_unix_nano);
}

static void check_states(struct check *check, const struct truth_tables *tables)
{
    const struct truth *truth = check->truth;
    bool *seen = calloc(truth->stream_count + 1, sizeof(*seen));
    if (!seen) {
        check->truth->exhausted = true;
        return;
    }
    for (size_t i = 0; i < tables->state_count; i++)
        check_state(check, &tables->states[i], seen);
    for (size_t i = 0; i < truth->stream_count; i++) {
        const struct truth_stream *stream = truth->streams[i];
        if (seen[i] || !stream->accepted || truth_may_be_pruned(truth, stream))
            continue;
        begin_stream_line(check, stream);
        (void)fprintf(check->out, "last accepted %" PRId64 ", but it has no series_state row\n",
                      stream->last_value);
    }
    free(seen);
}

/* ---- all of it ---- */

static void check_breaches(struct check *check)
{
    const struct truth *truth = check->truth;
    for (size_t i = 0; i < truth->breach_count; i++)
        (void)fprintf(check->out, "%s\n", truth->breaches[i]);
    check->failures += truth->breach_count + truth->breach_more;
    if (truth->breach_more > 0)
        (void)fprintf(check->out, "and %zu more when they were judged\n", truth->breach_more);
}

size_t truth_check(struct truth *truth, const struct truth_tables *tables, struct queue *queue,
                   FILE *out)
{
    ASSERT(truth && tables && out);
    struct check check = {.truth = truth, .queue = queue, .out = out};
    check_breaches(&check);
    for (size_t i = 0; i < truth->stream_count; i++) {
        if (truth->streams[i]->temporality == TEMPORALITY_DELTA)
            check_delta(&check, truth->streams[i]);
        else
            check_cumulative(&check, truth->streams[i]);
    }
    if (queue) {
        index_applied(&check);
        for (uint64_t sequence = 1; sequence <= truth->message_count; sequence++)
            check_message(&check, sequence);
        index_free(&check.applied_ids);
    }
    add_rows(&check, tables);
    for (size_t i = 0; i < truth->cell_count; i++)
        check_cell(&check, &truth->cells[i]);
    check_states(&check, tables);
    if (truth->exhausted) {
        check.failures++;
        (void)fprintf(out, "the accounting ran out of memory: nothing is proven\n");
    }
    return check.failures;
}

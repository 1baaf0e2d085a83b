/* Which messages of the batch are new, and whose tenant still exists.
 *
 * The dedup row is inserted, never looked up first: two writers with the same message meet at its
 * key, and the second waits for the first (MS `RecordIngestMessage`).
 */
#include "core/base/assert.h"
#include "core/model/identity.h"
#include "core/writer/work.h"
#include <stdlib.h>

struct claim {
    struct bytes msg_id;
    size_t order; /* of its entry in work.entries */
};

static int compare_claims(const void *a, const void *b)
{
    const struct claim *x = a;
    const struct claim *y = b;
    int order = bytes_compare(x->msg_id, y->msg_id);
    return order ? order : (x->order > y->order) - (x->order < y->order);
}

/* A message whose id was taken before, by the message of `owner`: applied already, or not the same
 * message at all (S-7). */
static void decide_taken(const struct work *work, struct entry *entry, const struct uuid *owner)
{
    entry->outcome = MESSAGE_ALREADY_APPLIED;
    if (!rules_on(work->writer->rules, RULE_S7) || uuid_compare(owner, &entry->message.tenant) == 0)
        return;
    char id[UUID_TEXT_SIZE + 1];
    uuid_format(owner, id);
    entry->outcome = MESSAGE_DEAD_ID_CONFLICT;
    entry->err = (struct err){0};
    err_set(&entry->err, STATUS_INVALID, NULL, "message id belongs to tenant \"%s\"", id);
}

/* All claims of one id, in queue order: the first is new when its row was inserted, the others and
 * those of an id that was there are taken. */
static enum status decide_claims(struct work *work, const struct claim *claims, size_t count,
                                 bool inserted, struct err *err)
{
    struct entry *first = work->entries[claims[0].order];
    struct uuid owner = first->message.tenant;
    if (inserted) {
        work->is_new[claims[0].order] = true;
        first->outcome = MESSAGE_APPLIED;
    } else if (rules_on(work->writer->rules, RULE_S7)) {
        bool found = false;
        enum status status = store_get_ingest_message_tenant(
            work->writer->ports.store, claims[0].msg_id, work->arena, &found, &owner, err);
        if (status != STATUS_OK)
            return status;
        if (!found) /* retention took it in between */
            return err_sql(err, "40001", "could not read the message id: it was just removed");
    }
    for (size_t i = inserted ? 1 : 0; i < count; i++)
        decide_taken(work, work->entries[claims[i].order], &owner);
    return STATUS_OK;
}

enum status dedup_record(struct work *work, struct err *err)
{
    ASSERT(work->entry_count >= 1);
    struct claim *claims;
    struct ingest_message_row *rows;
    size_t *firsts;
    uint8_t *inserted;
    size_t n = work->entry_count;
    enum status status = work_array(work, n, sizeof *claims, &claims, err);
    if (status == STATUS_OK)
        status = work_array(work, n, sizeof *rows, &rows, err);
    if (status == STATUS_OK)
        status = work_array(work, n + 1, sizeof *firsts, &firsts, err);
    if (status == STATUS_OK)
        status = work_array(work, n, sizeof *inserted, &inserted, err);
    if (status != STATUS_OK)
        return status;
    for (size_t i = 0; i < n; i++)
        claims[i] = (struct claim){work->entries[i]->delivery->msg_id, i};
    qsort(claims, n, sizeof *claims, compare_claims);
    size_t row_count = 0;
    for (size_t i = 0; i < n; i++) {
        if (i > 0 && bytes_equal(claims[i].msg_id, claims[i - 1].msg_id))
            continue;
        firsts[row_count] = i;
        rows[row_count++] = (struct ingest_message_row){
            claims[i].msg_id, work->entries[claims[i].order]->message.tenant, work->now_us};
    }
    firsts[row_count] = n;
    status =
        store_record_ingest_messages(work->writer->ports.store, rows, row_count, inserted, err);
    for (size_t r = 0; r < row_count && status == STATUS_OK; r++)
        status = decide_claims(work, claims + firsts[r], firsts[r + 1] - firsts[r],
                               inserted[r] != 0, err);
    return status;
}

static int compare_entries_by_tenant(const void *a, const void *b)
{
    const struct entry *x = *(struct entry *const *)a;
    const struct entry *y = *(struct entry *const *)b;
    return uuid_compare(&x->message.tenant, &y->message.tenant);
}

/* The distinct tenants of the new messages. */
static enum status collect_tenants(struct work *work, struct err *err)
{
    struct entry **sorted;
    size_t n = 0;
    enum status status = work_array(work, work->entry_count, sizeof *sorted, &sorted, err);
    if (status == STATUS_OK)
        status = work_array(work, work->entry_count, sizeof *work->tenants, &work->tenants, err);
    if (status != STATUS_OK)
        return status;
    for (size_t i = 0; i < work->entry_count; i++)
        if (work->is_new[i])
            sorted[n++] = work->entries[i];
    qsort(sorted, n, sizeof(struct entry *), compare_entries_by_tenant);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || compare_entries_by_tenant(&sorted[i - 1], &sorted[i]) != 0)
            work->tenants[work->tenant_count++].id = sorted[i]->message.tenant;
    return STATUS_OK;
}

/* Final at once: a removed tenant stays removed, and nothing of the message may be kept. */
static void decide_removed(struct work *work, const struct uuid *tenant)
{
    char id[UUID_TEXT_SIZE + 1];
    uuid_format(tenant, id);
    struct err why = {0};
    err_set(&why, STATUS_INVALID, NULL, "tenant \"%s\" is removed", id);
    for (size_t i = 0; i < work->entry_count; i++)
        if (work->is_new[i] && uuid_compare(&work->entries[i]->message.tenant, tenant) == 0)
            entry_decide(work->entries[i], MESSAGE_DEAD_TENANT, &why);
    work->tenant_removed = true;
}

enum status dedup_lock_tenants(struct work *work, struct err *err)
{
    enum status status = collect_tenants(work, err);
    if (!rules_on(work->writer->rules, RULE_S11))
        return status;
    for (size_t t = 0; t < work->tenant_count && status == STATUS_OK; t++) {
        const struct uuid *id = &work->tenants[t].id;
        int64_t lock = identity_tenant_lock(work->writer->hasher, id);
        bool removed = false;
        status = store_lock_tenant(work->writer->ports.store, id, lock, work->arena, &removed, err);
        if (status == STATUS_OK && removed)
            decide_removed(work, id);
    }
    return status;
}

/* Store calls as short lines of text, for plays (stage.h) and for the differential tool.
 *
 *   begin  commit  rollback
 *   record K           RecordIngestMessage of message K             insert ... do nothing
 *   mark K T           MarkRollupPending of hour K                  insert ... do nothing
 *   restore K T        RestoreRollupMark, the same
 *   route K            RegisterRoute of route K                     insert ... do nothing
 *   minute K B         AddMinute: one request in bucket B, first minute of hour K      upsert
 *   warn K N           AddIngestWarning: N of kind K                                   upsert
 *   seen K T           TouchResource of process K at T                                 upsert
 *   state K T P        UpsertSeriesState of stream K to time T; judged from time P, 0: none; upsert
 *   claim N            ClaimRollupHours, up to N                    delete ... skip locked
 *   delhour K  delday  DeleteHourlyRows, DeleteDailyRows            delete of a range
 *   prunededup T  prunestate T  pruneseen T  pruneroutes D          delete of rows before T, D
 *   purge N            PurgeTenant, N 1: keeps the aggregates       deletes
 *   tenant N           SetTenant to active (0) or removed (1)       upsert
 *   removed            LockTenant                                   advisory lock 99, read
 *   rollhour K  rollday  drift T                                    insert ... select
 *   shared L  exclusive L  try L                                    advisory locks
 *   lockminutes  lockhours  createminute D  dropminute D  listminutes    partitions
 *   states K           GetSeriesStates of stream K                  read
 *   dumpdedup dumpstate dumpseen dumproutes dumpwarn dumppending dumpminute dumphourly dumpdaily
 *
 * There is one tenant; hour K is K hours after OPS_BASE_US, time T minutes after it, day D days. A
 * result is the rows affected, or "ok", or its rows: columns joined by colons, times and days
 * relative to the base, constant columns left out; or the SQLSTATE.
 */
#ifndef TESTS_SIM_SQLITE_OPS_H
#define TESTS_SIM_SQLITE_OPS_H

#include "core/store/store.h"

#define OPS_DAY      INT64_C(20454) /* 2026-01-01 */
#define OPS_BASE_US  (OPS_DAY * 86400 * 1000000)
#define OPS_TEXT_MAX 4096

struct op {
    const struct op_kind *kind;
    int64_t args[3];
};

/* A call with the memory of its parameters. */
struct op_call {
    struct store_call call;
    struct value params[QUERY_COLUMNS_MAX];
    uint8_t hash[32];
    char text[64];
    struct histogram buckets;
};

/* Parses "mark 1 5"; stops the test on anything else. Missing arguments are 0. */
struct op op_parse(const char *text);
void op_print(const struct op *op, char out[64]);
const char *op_name(const struct op *op);
enum query_id op_query(const struct op *op);
void op_build(const struct op *op, struct arena *arena, struct op_call *out);
/* "ok", the rows affected, the rows of the result, or the SQLSTATE. */
void op_result(const struct op_call *call, enum status status, const struct err *err,
               char out[OPS_TEXT_MAX]);

#endif

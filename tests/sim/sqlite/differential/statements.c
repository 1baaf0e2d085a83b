/* The ops as PostgreSQL statements. A statement uses $1..$3 as bigints; it answers with a count,
 * with rows of one text column, or with nothing ("ok"). */
#include "tests/sim/sqlite/differential/statements.h"

#include <stddef.h>

const struct statement statements[] = {
    {"begin", ANSWER_OK, "begin"},
    {"commit", ANSWER_OK, "commit"},
    {"rollback", ANSWER_OK, "rollback"},
    {"record", ANSWER_COUNT,
     "insert into ingest_dedup values ('n' || $1, $2) on conflict do nothing"},
    {"mark", ANSWER_COUNT,
     "insert into rollup_pending values ($1 * 60, $2) on conflict do nothing"},
    {"route", ANSWER_COUNT,
     "insert into route_registry values ($2, 'n' || $1) on conflict do nothing"},
    {"minute", ANSWER_COUNT,
     "insert into metrics_minute values ($1 * 60, one($2), $2, 1) on conflict (bucket) do update "
     "set counts = add_buckets(metrics_minute.counts, excluded.counts), "
     "sum = metrics_minute.sum + excluded.sum, count = metrics_minute.count + excluded.count"},
    {"warn", ANSWER_COUNT,
     "insert into ingest_warnings values (kind_of($1), $2) on conflict (kind) do update "
     "set count = ingest_warnings.count + excluded.count"},
    {"seen", ANSWER_COUNT,
     "insert into resource_seen values ($1, $2, $2, $2) on conflict (hash) do update "
     "set last_seen_at = greatest(resource_seen.last_seen_at, excluded.last_seen_at), "
     "first_point = least(resource_seen.first_point, excluded.first_point)"},
    {"state", ANSWER_COUNT,
     "insert into series_state values ($1, $2, $2) "
     "on conflict (hash) do update "
     "set last_unix_nano = excluded.last_unix_nano, last_seen_at = excluded.last_seen_at "
     "where $3 <> 0 and series_state.last_unix_nano = $3"},
    {"claim", ANSWER_ROWS,
     "with d as (delete from rollup_pending where hour in (select hour from rollup_pending "
     "order by hour limit $1 for update skip locked) returning hour, marked_at) "
     "select hour || ':' || marked_at from d order by hour"},
    {"delhour", ANSWER_COUNT, "delete from metrics_hourly where bucket = $1 * 60"},
    {"delday", ANSWER_COUNT, "delete from metrics_daily where bucket = 0"},
    {"prunededup", ANSWER_COUNT, "delete from ingest_dedup where applied_at < $1 and msg_id >= ''"},
    {"prunestate", ANSWER_COUNT, "delete from series_state where last_seen_at < $1 and hash >= 0"},
    {"pruneseen", ANSWER_COUNT, "delete from resource_seen where last_seen_at < $1 and hash >= 0"},
    {"pruneroutes", ANSWER_COUNT, "delete from route_registry where day < $1 and day >= 0"},
    {"purge", ANSWER_OK, "select purge_tenant($1)"},
    {"tenant", ANSWER_COUNT,
     "insert into tenants values (1, case $1 when 0 then 'active' else 'removed' end) "
     "on conflict (tenant_id) do update set status = excluded.status"},
    {"removed", ANSWER_ROWS, "select tenant_is_removed()::text"},
    {"rollhour", ANSWER_COUNT,
     "insert into metrics_hourly select bucket, counts, sum, count from metrics_minute "
     "where bucket >= $1 * 60 and bucket < $1 * 60 + 60"},
    {"rollday", ANSWER_COUNT,
     "insert into metrics_daily select 0, sum_buckets(counts), sum(sum order by bucket), "
     "sum(count) "
     "from metrics_hourly where bucket >= 0 and bucket < 1440 having count(*) > 0"},
    {"drift", ANSWER_ROWS,
     "with i as (insert into rollup_pending select m.bucket, $1 from metrics_minute m "
     "where m.bucket < 600 "
     "and not exists (select 1 from rollup_pending p where p.hour = m.bucket) "
     "and m.counts is distinct from (select h.counts from metrics_hourly h "
     "where h.bucket = m.bucket) order by m.bucket on conflict do nothing "
     "returning hour, marked_at) select hour || ':' || marked_at from i order by hour"},
    {"shared", ANSWER_OK, "select pg_advisory_xact_lock_shared($1)"},
    {"exclusive", ANSWER_OK, "select pg_advisory_xact_lock($1)"},
    {"try", ANSWER_ROWS, "select pg_try_advisory_xact_lock($1)::int::text"},
    {"lockminutes", ANSWER_OK, "lock table metrics_minute in access exclusive mode nowait"},
    {"lockhours", ANSWER_OK, "lock table metrics_hourly in access exclusive mode nowait"},
    {"createminute", ANSWER_ROWS, "select create_minute($1)::text"},
    {"dropminute", ANSWER_ROWS, "select drop_minute($1)::text"},
    {"listminutes", ANSWER_ROWS, "select d::text from minute_days() d order by d"},
    {"states", ANSWER_ROWS,
     "select '#' || hash || ':' || last_unix_nano from series_state where hash = $1"},
    {"dumpdedup", ANSWER_ROWS,
     "select msg_id || ':' || applied_at from ingest_dedup order by msg_id"},
    {"dumpstate", ANSWER_ROWS,
     "select '#' || hash || ':' || last_unix_nano || ':' || last_seen_at from series_state "
     "order by hash"},
    {"dumpseen", ANSWER_ROWS,
     "select '#' || hash || ':' || first_seen_at || ':' || last_seen_at || ':' || first_point "
     "from resource_seen order by hash"},
    {"dumproutes", ANSWER_ROWS,
     "select day || ':' || route || ':0' from route_registry order by day, route"},
    {"dumpwarn", ANSWER_ROWS,
     "select '0:' || kind || ':' || count from ingest_warnings order by kind"},
    {"dumppending", ANSWER_ROWS,
     "select hour || ':' || marked_at from rollup_pending order by hour"},
    {"dumpminute", ANSWER_ROWS,
     "select bucket || ':/:' || show_buckets(counts) || ':' || sum || ':' || count "
     "from metrics_minute order by bucket"},
    {"dumphourly", ANSWER_ROWS,
     "select bucket || ':/:' || show_buckets(counts) || ':' || sum || ':' || count "
     "from metrics_hourly order by bucket"},
    {"dumpdaily", ANSWER_ROWS,
     "select bucket || ':/:' || show_buckets(counts) || ':' || sum || ':' || count "
     "from metrics_daily order by bucket"},
};
const int statement_count = sizeof statements / sizeof *statements;

-- The writer's queries (MS "Queries", writerq), in the order of its transaction.

-- Dedup by Nats-Msg-Id; 0 rows = already applied. The time is bound, never now() (R-FIRST-4).
-- name: RecordIngestMessage :execrows
-- params: msg_id text, tenant_id uuid, applied_at time
-- part: insert ingest_dedup
-- key: msg_id
insert into ingest_dedup (msg_id, tenant_id, applied_at)
values (:msg_id, :tenant_id, :applied_at)
on conflict do nothing;

-- Whose message it was (S-7).
-- name: GetIngestMessageTenant :many
-- params: msg_id text
-- returns: tenant_id uuid
-- part: read ingest_dedup
-- key: msg_id
select tenant_id from ingest_dedup where msg_id = :msg_id;

-- Purge takes the lock exclusively, so the answer holds until the end of the transaction (S-11).
-- name: LockTenant :one
-- params: tenant_id uuid, lock int
-- returns: removed bool
-- part: shared
-- part: read tenants
select exists (select 1 from tenants where tenant_id = :tenant_id and status = 'removed');

-- name: GetResourcesSeen :many
-- params: tenant_id uuid, resource_hash bytes, start_unix_nano int
-- returns: resource_hash bytes, start_unix_nano int, first_seen_at time, last_seen_at time,
-- returns: first_point_unix_nano int
-- part: read resource_seen
-- key: tenant_id resource_hash start_unix_nano
select resource_hash, start_unix_nano, first_seen_at, last_seen_at, first_point_unix_nano
from resource_seen
where tenant_id = :tenant_id and resource_hash = :resource_hash
  and start_unix_nano = :start_unix_nano;

-- Every start time of a series: replicas with equal attributes are streams of their own.
-- name: GetSeriesStates :many
-- params: tenant_id uuid, series_hash bytes
-- returns: series_hash bytes, start_unix_nano int, last_unix_nano int, last_count int,
-- returns: last_sum float, last_counts buckets, baseline bool
-- part: read series_state
-- key: tenant_id series_hash
select series_hash, start_unix_nano, last_unix_nano, last_count, last_sum, last_counts, baseline
from series_state
where tenant_id = :tenant_id and series_hash = :series_hash
order by start_unix_nano;

-- name: CountSeriesStates :one
-- params: tenant_id uuid
-- returns: count int
-- part: read series_state
-- key: tenant_id
select count(*) from series_state where tenant_id = :tenant_id;

-- name: GetCapWarnings :one
-- params: tenant_id uuid, from_day date, until_day date
-- returns: count int
-- part: read ingest_warnings
-- key: tenant_id
select coalesce(sum_bigint(count), 0)
from ingest_warnings
where tenant_id = :tenant_id and day between :from_day and :until_day
  and kind = 'cardinality_overflow';

-- name: ListRoutes :many
-- params: tenant_id uuid, day date
-- returns: service text, route text
-- part: read route_registry
-- key: tenant_id day
select service, route from route_registry
where tenant_id = :tenant_id and day = :day
order by service, route;

-- 0 rows = admitted before.
-- name: RegisterRoute :execrows
-- params: tenant_id uuid, day date, service text, route text, created_at time
-- part: insert route_registry
-- key: tenant_id day service route
insert into route_registry (tenant_id, day, service, route, created_at)
values (:tenant_id, :day, :service, :route, :created_at)
on conflict do nothing;

-- Shared with other writers; the rollup takes it exclusively (A-2). PostgreSQL computes the lock
-- from tenant and hour, with the same result (R-TX-3).
-- name: LockRollupHour :exec
-- params: lock int, tenant_id uuid, hour time
-- part: shared

-- Adds a delta to its minute. The day is a floor division, also before 1970.
-- name: AddMinute :batchexec
-- params: tenant_id uuid, bucket_start time, service text, method text, route text,
-- params: status_code int, source text, counts buckets, sum float, count int, lossy bool
-- part: upsert metrics_minute
-- key: tenant_id bucket_start service method route status_code source
-- reads: minute_partitions
insert into metrics_minute (tenant_id, bucket_start, service, method, route, status_code, source,
                            counts, sum, count, lossy)
values (:tenant_id,
        iif(exists (select 1 from minute_partitions
                    where day = :bucket_start / 86400000000 - (:bucket_start % 86400000000 < 0)),
            :bucket_start,
            refuse('23514', 'no partition of relation "metrics_minute" found for row')),
        :service, :method, :route, :status_code, :source, :counts, :sum, :count, :lossy)
on conflict (tenant_id, bucket_start, service, method, route, status_code, source) do update
set counts = add_buckets(counts, excluded.counts),
    sum = add_double(sum, excluded.sum),
    count = add_bigint(count, excluded.count),
    lossy = lossy or excluded.lossy;

-- name: MarkRollupPending :batchexec
-- params: tenant_id uuid, hour time, marked_at time
-- part: insert rollup_pending
-- key: tenant_id hour
insert into rollup_pending (tenant_id, hour, marked_at)
values (:tenant_id, :hour, :marked_at)
on conflict do nothing;

-- Guarded (S-13): only where the row still is what the delta was judged from, 0 rows otherwise. A
-- row that retention took away meanwhile is written anew: nobody has counted in between.
-- name: UpsertSeriesState :batchexec
-- params: tenant_id uuid, series_hash bytes, start_unix_nano int, last_unix_nano int,
-- params: last_count int, last_sum float, last_counts buckets, last_seen_at time, baseline bool,
-- params: guarded bool, had_previous bool, previous_unix_nano int
-- part: upsert series_state
-- key: tenant_id series_hash start_unix_nano
insert into series_state (tenant_id, series_hash, start_unix_nano, last_unix_nano, last_count,
                          last_sum, last_counts, last_seen_at, baseline)
values (:tenant_id, :series_hash, :start_unix_nano, :last_unix_nano, :last_count,
        :last_sum, :last_counts, :last_seen_at, :baseline)
on conflict (tenant_id, series_hash, start_unix_nano) do update
set last_unix_nano = excluded.last_unix_nano,
    last_count = excluded.last_count,
    last_sum = excluded.last_sum,
    last_counts = excluded.last_counts,
    last_seen_at = excluded.last_seen_at,
    baseline = excluded.baseline
where not :guarded or (:had_previous and last_unix_nano = :previous_unix_nano);

-- Keeps first_seen_at; the earliest point met stays the earliest in any order of arrival (S-1).
-- name: TouchResource :batchexec
-- params: tenant_id uuid, resource_hash bytes, start_unix_nano int, seen_at time,
-- params: first_point_unix_nano int
-- part: upsert resource_seen
-- key: tenant_id resource_hash start_unix_nano
insert into resource_seen (tenant_id, resource_hash, start_unix_nano, first_seen_at, last_seen_at,
                           first_point_unix_nano)
values (:tenant_id, :resource_hash, :start_unix_nano, :seen_at, :seen_at, :first_point_unix_nano)
on conflict (tenant_id, resource_hash, start_unix_nano) do update
set last_seen_at = max(last_seen_at, excluded.last_seen_at),
    first_point_unix_nano = min(first_point_unix_nano, excluded.first_point_unix_nano);

-- name: AddIngestWarning :exec
-- params: tenant_id uuid, day date, kind text, count int
-- part: upsert ingest_warnings
-- key: tenant_id day kind
insert into ingest_warnings (tenant_id, day, kind, count)
values (:tenant_id, :day, :kind, :count)
on conflict (tenant_id, day, kind) do update
set count = add_bigint(count, excluded.count);

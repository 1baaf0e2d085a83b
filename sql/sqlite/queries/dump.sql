-- Whole tables in the order of their keys, for goldens and comparisons.

-- name: DumpMetricsMinute :many
-- returns: tenant_id uuid, bucket_start time, service text, method text, route text,
-- returns: status_code int, source text, counts buckets, sum float, count int, lossy bool
-- part: read metrics_minute
select tenant_id, bucket_start, service, method, route, status_code, source,
       counts, sum, count, lossy
from metrics_minute
order by tenant_id, bucket_start, service, method, route, status_code, source;

-- name: DumpMetricsHourly :many
-- returns: tenant_id uuid, bucket_start time, service text, method text, route text,
-- returns: status_code int, source text, counts buckets, sum float, count int, lossy bool
-- part: read metrics_hourly
select tenant_id, bucket_start, service, method, route, status_code, source,
       counts, sum, count, lossy
from metrics_hourly
order by tenant_id, bucket_start, service, method, route, status_code, source;

-- name: DumpMetricsDaily :many
-- returns: tenant_id uuid, bucket_start time, service text, method text, route text,
-- returns: status_code int, source text, counts buckets, sum float, count int, lossy bool
-- part: read metrics_daily
select tenant_id, bucket_start, service, method, route, status_code, source,
       counts, sum, count, lossy
from metrics_daily
order by tenant_id, bucket_start, service, method, route, status_code, source;

-- name: DumpSeriesState :many
-- returns: tenant_id uuid, series_hash bytes, start_unix_nano int, last_unix_nano int,
-- returns: last_count int, last_sum float, last_counts buckets, last_seen_at time, baseline bool
-- part: read series_state
select tenant_id, series_hash, start_unix_nano, last_unix_nano, last_count, last_sum, last_counts,
       last_seen_at, baseline
from series_state
order by tenant_id, series_hash, start_unix_nano;

-- name: DumpResourceSeen :many
-- returns: tenant_id uuid, resource_hash bytes, start_unix_nano int, first_seen_at time,
-- returns: last_seen_at time, first_point_unix_nano int
-- part: read resource_seen
select tenant_id, resource_hash, start_unix_nano, first_seen_at, last_seen_at,
       first_point_unix_nano
from resource_seen
order by tenant_id, resource_hash, start_unix_nano;

-- name: DumpIngestDedup :many
-- returns: msg_id text, tenant_id uuid, applied_at time
-- part: read ingest_dedup
select msg_id, tenant_id, applied_at from ingest_dedup order by msg_id;

-- name: DumpRouteRegistry :many
-- returns: tenant_id uuid, day date, service text, route text, created_at time
-- part: read route_registry
select tenant_id, day, service, route, created_at from route_registry
order by tenant_id, day, service, route;

-- name: DumpIngestWarnings :many
-- returns: tenant_id uuid, day date, kind text, count int
-- part: read ingest_warnings
select tenant_id, day, kind, count from ingest_warnings order by tenant_id, day, kind;

-- name: DumpRollupPending :many
-- returns: tenant_id uuid, hour time, marked_at time
-- part: read rollup_pending
select tenant_id, hour, marked_at from rollup_pending order by tenant_id, hour;

-- name: DumpTenants :many
-- returns: tenant_id uuid, status text
-- part: read tenants
select tenant_id, status from tenants order by tenant_id;

-- Partitions are listed by ListMinutePartitions and ListHourlyPartitions.

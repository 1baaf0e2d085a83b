-- What a console reads of one tenant (R-READ-1): half-open ranges, in the order of the key.

-- name: ReadMinuteRows :many
-- params: tenant_id uuid, from_time time, until_time time
-- returns: bucket_start time, service text, method text, route text, status_code int, source text,
-- returns: counts buckets, sum float, count int, lossy bool
-- part: read metrics_minute
-- key: tenant_id
select bucket_start, service, method, route, status_code, source, counts, sum, count, lossy
from metrics_minute
where tenant_id = :tenant_id and bucket_start >= :from_time and bucket_start < :until_time
order by bucket_start, service, method, route, status_code, source;

-- name: ReadHourlyRows :many
-- params: tenant_id uuid, from_time time, until_time time
-- returns: bucket_start time, service text, method text, route text, status_code int, source text,
-- returns: counts buckets, sum float, count int, lossy bool
-- part: read metrics_hourly
-- key: tenant_id
select bucket_start, service, method, route, status_code, source, counts, sum, count, lossy
from metrics_hourly
where tenant_id = :tenant_id and bucket_start >= :from_time and bucket_start < :until_time
order by bucket_start, service, method, route, status_code, source;

-- name: ReadDailyRows :many
-- params: tenant_id uuid, from_time time, until_time time
-- returns: bucket_start time, service text, method text, route text, status_code int, source text,
-- returns: counts buckets, sum float, count int, lossy bool
-- part: read metrics_daily
-- key: tenant_id
select bucket_start, service, method, route, status_code, source, counts, sum, count, lossy
from metrics_daily
where tenant_id = :tenant_id and bucket_start >= :from_time and bucket_start < :until_time
order by bucket_start, service, method, route, status_code, source;

-- Hours whose hourly and daily rows are not up to date yet (migration 00021).
-- name: ReadPending :many
-- params: tenant_id uuid, from_time time, until_time time
-- returns: hour time
-- part: read rollup_pending
-- key: tenant_id
select hour from rollup_pending
where tenant_id = :tenant_id and hour >= :from_time and hour < :until_time
order by hour;

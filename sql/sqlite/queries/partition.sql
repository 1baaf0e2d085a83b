-- The partition functions (MS "Partitions"): registry rows here. Days and first days of months are
-- days since 1970. "done" is false when there was nothing to do.

-- name: LockMinutePartitions :exec
-- part: relation metrics_minute

-- name: LockHourlyPartitions :exec
-- part: relation metrics_hourly

-- name: CreateMinutePartition :one
-- params: day date
-- returns: done bool
-- part: ddl minute_partitions
select not exists (select 1 from minute_partitions where day = :day);
-- part: ddl minute_partitions
insert into minute_partitions (day) values (:day) on conflict do nothing;

-- name: CreateHourlyPartition :one
-- params: month date
-- returns: done bool
-- part: ddl hourly_partitions
select not exists (select 1 from hourly_partitions where month = :month);
-- part: ddl hourly_partitions
insert into hourly_partitions (month) values (:month) on conflict do nothing;

-- Rows go with their partition. The tenants are found by jumping from one to the next.
-- name: DropMinutePartition :one
-- params: day date
-- returns: done bool
-- part: ddl minute_partitions
select exists (select 1 from minute_partitions where day = :day);
-- part: ddl minute_partitions
delete from minute_partitions where day = :day;
-- part: ddl metrics_minute
with recursive tenant (tenant_id) as (
    select min(tenant_id) from metrics_minute
    union all
    select (select min(m.tenant_id) from metrics_minute m where m.tenant_id > tenant.tenant_id)
    from tenant where tenant.tenant_id is not null)
delete from metrics_minute
where tenant_id in (select tenant_id from tenant)
  and bucket_start >= :day * 86400000000 and bucket_start < (:day + 1) * 86400000000;

-- A month is at most 31 days long; the start of the next one is computed, not assumed.
-- name: DropHourlyPartition :one
-- params: month date
-- returns: done bool
-- part: ddl hourly_partitions
select exists (select 1 from hourly_partitions where month = :month);
-- part: ddl hourly_partitions
delete from hourly_partitions where month = :month;
-- part: ddl metrics_hourly
with recursive tenant (tenant_id) as (
    select min(tenant_id) from metrics_hourly
    union all
    select (select min(m.tenant_id) from metrics_hourly m where m.tenant_id > tenant.tenant_id)
    from tenant where tenant.tenant_id is not null)
delete from metrics_hourly
where tenant_id in (select tenant_id from tenant)
  and bucket_start >= :month * 86400000000
  and bucket_start < month_start(:month + 31) * 86400000000;

-- name: ListMinutePartitions :many
-- returns: day date
-- part: read minute_partitions
select day from minute_partitions order by day;

-- name: ListHourlyPartitions :many
-- returns: month date
-- part: read hourly_partitions
select month from hourly_partitions order by month;

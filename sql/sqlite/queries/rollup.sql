-- The rollup's queries (MS "Queries", jobsq).

-- Deletes and returns the next marks after the cursor, oldest hour first (R-ROLL-3). row_locked is
-- "skip locked": true for a mark that another open transaction has written.
-- name: ClaimRollupHours :many
-- params: after_hour time, after_tenant_id uuid, limit int
-- returns: tenant_id uuid, hour time, marked_at time
-- part: claim rollup_pending
delete from rollup_pending
where (tenant_id, hour) in (
    select tenant_id, hour from rollup_pending
    where (hour, tenant_id) > (:after_hour, :after_tenant_id)
      and not row_locked('rollup_pending', tenant_id, hour)
    order by hour, tenant_id
    limit :limit)
returning tenant_id, hour, marked_at;

-- The same for one named hour: those that the drift check marked are claimed once more.
-- name: ClaimMarkedHour :many
-- params: tenant_id uuid, hour time
-- returns: tenant_id uuid, hour time, marked_at time
-- part: claim rollup_pending
delete from rollup_pending
where tenant_id = :tenant_id and hour = :hour
  and not row_locked('rollup_pending', tenant_id, hour)
returning tenant_id, hour, marked_at;

-- Fails, instead of waiting, while a writer has the hour open (A-2).
-- name: TryLockRollupHour :one
-- params: lock int, tenant_id uuid, hour time
-- returns: granted bool
-- part: try

-- name: RestoreRollupMark :exec
-- params: tenant_id uuid, hour time, marked_at time
-- part: insert rollup_pending
-- key: tenant_id hour
insert into rollup_pending (tenant_id, hour, marked_at)
values (:tenant_id, :hour, :marked_at)
on conflict do nothing;

-- Hours that have minute rows and whose hourly rows disagree with them, by the 15 totals (S-14) or
-- by the request count; "is not" is true as well when there is no hourly row. Those of a whole hour
-- may be above int64 though each of its rows fits: they are wide. One subquery an hour, a range of
-- the key, is six times as fast as grouping the window. The tenants are found by jumping from one
-- to the next, because the table is ordered by tenant first.
-- name: MarkDriftedHours :many
-- params: from_hour time, until time, marked_at time, by_buckets bool
-- returns: tenant_id uuid, hour time, marked_at time
-- part: select_in rollup_pending
-- reads: metrics_minute metrics_hourly
insert into rollup_pending (tenant_id, hour, marked_at)
with recursive
    tenant (tenant_id) as (
        select min(tenant_id) from metrics_minute
        union all
        select (select min(m.tenant_id) from metrics_minute m where m.tenant_id > tenant.tenant_id)
        from tenant where tenant.tenant_id is not null),
    hour (hour) as (
        select :from_hour where :from_hour < :until
        union all
        select hour.hour + 3600000000 from hour where hour.hour + 3600000000 < :until),
    total (tenant_id, hour, by_minute, by_hour) as materialized (
        select t.tenant_id, h.hour,
               (select sum_wide(m.counts) from metrics_minute m
                where m.tenant_id = t.tenant_id and m.bucket_start >= h.hour
                  and m.bucket_start < h.hour + 3600000000),
               (select sum_wide(m.counts) from metrics_hourly m
                where m.tenant_id = t.tenant_id and m.bucket_start = h.hour)
        from tenant t cross join hour h
        where t.tenant_id is not null
          and not hour_agreed(t.tenant_id, h.hour)
          and not exists (select 1 from rollup_pending p
                          where p.tenant_id = t.tenant_id and p.hour = h.hour))
select tenant_id, hour, :marked_at from total
where by_minute is not null
  and iif(:by_buckets, not hour_agrees(tenant_id, hour, by_minute, by_hour),
          wide_total(by_minute) is not wide_total(by_hour))
on conflict do nothing
returning tenant_id, hour, marked_at;

-- Two runners would otherwise both delete and insert the day (S-10).
-- name: LockRollupDay :exec
-- params: lock int
-- part: exclusive

-- Delete and insert are two queries: one statement cannot do both to one key.
-- name: DeleteHourlyRows :execrows
-- params: tenant_id uuid, hour time
-- part: delete metrics_hourly
-- key: tenant_id hour
delete from metrics_hourly where tenant_id = :tenant_id and bucket_start = :hour;

-- Grouped by service, method, route, status_code and source; sums of doubles in time order, so that
-- the same minutes give the same bits (R-ROLL-1). fold_rows does in one pass what "group by" would
-- sort for (core/store/sqlite/fold.c).
-- name: RollupHour :execrows
-- params: tenant_id uuid, hour time
-- part: select_in metrics_hourly
-- reads: metrics_minute hourly_partitions
insert into metrics_hourly (tenant_id, bucket_start, service, method, route, status_code, source,
                            counts, sum, count, lossy)
select :tenant_id,
       iif(exists (select 1 from hourly_partitions
                   where month = month_start(:hour / 86400000000 - (:hour % 86400000000 < 0))),
           :hour,
           refuse('23514', 'no partition of relation "metrics_hourly" found for row')),
       service, method, route, status_code, source, counts, sum, count, lossy
from folded_rows((
    select fold_rows(service, method, route, status_code, source, bucket_start, counts, sum, count,
                     lossy)
    from metrics_minute
    where tenant_id = :tenant_id and bucket_start >= :hour and bucket_start < :hour + 3600000000));

-- name: DeleteDailyRows :execrows
-- params: tenant_id uuid, day_start time
-- part: delete metrics_daily
-- key: tenant_id day_start
delete from metrics_daily where tenant_id = :tenant_id and bucket_start = :day_start;

-- The caller says which hours make the day: 24 of them, or the session's calendar day (A-10 off).
-- name: RollupDay :execrows
-- params: tenant_id uuid, day_start time, from_time time, until_time time
-- part: select_in metrics_daily
-- reads: metrics_hourly
insert into metrics_daily (tenant_id, bucket_start, service, method, route, status_code, source,
                           counts, sum, count, lossy)
select :tenant_id, :day_start, service, method, route, status_code, source, counts, sum, count,
       lossy
from folded_rows((
    select fold_rows(service, method, route, status_code, source, bucket_start, counts, sum, count,
                     lossy)
    from metrics_hourly
    where tenant_id = :tenant_id and bucket_start >= :from_time and bucket_start < :until_time));

-- date_trunc('day', at) in the session's zone, and the next midnight. A local midnight becomes UTC
-- as on PostgreSQL: one that the clock skips by the offset before, one that comes twice by the
-- later.
-- name: SessionDay :one
-- params: at time
-- returns: from_time time, until_time time
-- part: read session_offsets
with local (midnight) as (
    select (:at + o) / 86400000000 * 86400000000
           - ((:at + o) % 86400000000 < 0) * 86400000000
    from (select coalesce((select offset_us from session_offsets where from_us <= :at
                           order by from_us desc limit 1), 0) as o))
select midnight - coalesce((select offset_us from session_offsets
                            where from_us <= midnight - offset_us
                            order by from_us desc limit 1), 0),
       midnight + 86400000000
           - coalesce((select offset_us from session_offsets
                       where from_us <= midnight + 86400000000 - offset_us
                       order by from_us desc limit 1), 0)
from local;

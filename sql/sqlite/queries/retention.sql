-- Retention (MS "Jobs tasks", "State and bookkeeping tables"). Cutoffs are exclusive: rows before
-- them go.

-- An expired day with pending hours waits for the rollup.
-- name: RollupPendingInDay :one
-- params: day date
-- returns: pending bool
-- part: read rollup_pending
select exists (select 1 from rollup_pending
               where hour >= :day * 86400000000 and hour < (:day + 1) * 86400000000);

-- name: PruneIngestDedup :execrows
-- params: before time
-- part: delete ingest_dedup
delete from ingest_dedup where applied_at < :before;

-- name: PruneSeriesState :execrows
-- params: before time
-- part: delete series_state
delete from series_state where last_seen_at < :before;

-- name: PruneResourceSeen :execrows
-- params: before time
-- part: delete resource_seen
delete from resource_seen where last_seen_at < :before;

-- name: PruneRouteRegistry :execrows
-- params: before_day date
-- part: delete route_registry
delete from route_registry where day < :before_day;

-- The control plane (MS "Tenant purge").

-- name: SetTenant :exec
-- params: tenant_id uuid, status text
-- part: upsert tenants
-- key: tenant_id
insert into tenants (tenant_id, status) values (:tenant_id, :status)
on conflict (tenant_id) do update set status = excluded.status;

-- ingest_dedup stays: a message still queued must not be applied again.
-- name: PurgeTenant :exec
-- params: tenant_id uuid, lock int, keep_aggregates bool
-- part: exclusive
-- part: read tenants
select refuse('55000', 'tenant is not removed')
where not exists (select 1 from tenants where tenant_id = :tenant_id and status = 'removed');
-- part: delete metrics_minute
-- key: tenant_id
delete from metrics_minute where tenant_id = :tenant_id;
-- part: delete series_state
-- key: tenant_id
delete from series_state where tenant_id = :tenant_id;
-- part: delete resource_seen
-- key: tenant_id
delete from resource_seen where tenant_id = :tenant_id;
-- part: delete route_registry
-- key: tenant_id
delete from route_registry where tenant_id = :tenant_id;
-- part: delete rollup_pending
-- key: tenant_id
delete from rollup_pending where tenant_id = :tenant_id;
-- part: delete metrics_hourly
-- key: tenant_id
delete from metrics_hourly where tenant_id = :tenant_id and not :keep_aggregates;
-- part: delete metrics_daily
-- key: tenant_id
delete from metrics_daily where tenant_id = :tenant_id and not :keep_aggregates;
-- part: delete ingest_warnings
-- key: tenant_id
delete from ingest_warnings where tenant_id = :tenant_id and not :keep_aggregates;

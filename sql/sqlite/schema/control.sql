-- cp.tenants, as much of the control plane as the core asks for (MS "Tenant purge").
create table tenants (
    tenant_id text not null primary key,
    status    text not null check (status in ('active', 'removed'))
) strict, without rowid;

-- What PostgreSQL takes from the session's time zone (A-10 off): from that moment on, local time is
-- UTC plus the offset. No row means UTC.
create table session_offsets (
    from_us   integer not null primary key,
    offset_us integer not null check (abs(offset_us) < 86400000000)
) strict, without rowid;

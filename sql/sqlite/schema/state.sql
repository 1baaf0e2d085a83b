-- MS "State and bookkeeping tables".

create table series_state (
    tenant_id       text    not null,
    series_hash     blob    not null check (length(series_hash) = 32),
    start_unix_nano integer not null,
    last_unix_nano  integer not null,
    last_count      integer not null check (last_count >= 0),
    last_sum        real    not null,
    last_counts     blob    not null check (buckets_total(last_counts) is not null),
    last_seen_at    integer not null,
    baseline        integer not null check (baseline in (0, 1)),
    primary key (tenant_id, series_hash, start_unix_nano)
) strict, without rowid;

create table resource_seen (
    tenant_id             text    not null,
    resource_hash         blob    not null check (length(resource_hash) = 32),
    start_unix_nano       integer not null,
    first_seen_at         integer not null,
    last_seen_at          integer not null,
    first_point_unix_nano integer not null, -- ours: the earliest point met (S-1)
    primary key (tenant_id, resource_hash, start_unix_nano)
) strict, without rowid;

create table ingest_dedup (
    msg_id     text    not null primary key check (octet_length(msg_id) between 1 and 256),
    tenant_id  text    not null,
    applied_at integer not null
) strict, without rowid;

create table route_registry (
    tenant_id  text    not null,
    day        integer not null,
    service    text    not null,
    route      text    not null,
    created_at integer not null,
    primary key (tenant_id, day, service, route)
) strict, without rowid;

create table ingest_warnings (
    tenant_id text    not null,
    day       integer not null,
    kind      text    not null check (kind in ('cardinality_overflow', 'coarse_buckets',
                                               'lossy_histogram', 'secret_in_path',
                                               'span_derived')),
    count     integer not null check (count > 0),
    primary key (tenant_id, day, kind)
) strict, without rowid;

create table rollup_pending (
    tenant_id text    not null,
    hour      integer not null check (hour % 3600000000 = 0),
    marked_at integer not null,
    primary key (tenant_id, hour)
) strict, without rowid;

-- The rollup walks the marks by hour, retention asks for those of a day (R-ROLL-3, R-RET-1).
create index rollup_pending_hour on rollup_pending (hour, tenant_id);

-- MS "Metric tables": minutes, hours and days have one shape.
-- Types: tenant_id is the uuid's 36 lower-case characters, times are microseconds UTC, counts are
-- 15 bigints of 8 bytes, little endian. The functions are core/store/sqlite/functions.c's; a shell
-- without them can read these tables but not write them. buckets_total is null for anything but
-- 15 buckets without a negative one, hence "is".
-- Without a rowid the rows lie in the order of the key, so that an hour is one range.

create table metrics_minute (
    tenant_id    text    not null,
    bucket_start integer not null check (bucket_start % 60000000 = 0),
    service      text    not null check (octet_length(service) <= 128),
    method       text    not null check (octet_length(method) <= 16),
    route        text    not null check (octet_length(route) <= 1024),
    status_code  integer not null check (status_code = 0 or status_code between 100 and 599),
    source       text    not null check (source in ('metric', 'span')),
    counts       blob    not null,
    sum          real    not null,
    count        integer not null,
    lossy        integer not null check (lossy in (0, 1)),
    primary key (tenant_id, bucket_start, service, method, route, status_code, source),
    check (buckets_total(counts) is count)
) strict, without rowid;

create table metrics_hourly (
    tenant_id    text    not null,
    bucket_start integer not null check (bucket_start % 3600000000 = 0),
    service      text    not null check (octet_length(service) <= 128),
    method       text    not null check (octet_length(method) <= 16),
    route        text    not null check (octet_length(route) <= 1024),
    status_code  integer not null check (status_code = 0 or status_code between 100 and 599),
    source       text    not null check (source in ('metric', 'span')),
    counts       blob    not null,
    sum          real    not null,
    count        integer not null,
    lossy        integer not null check (lossy in (0, 1)),
    primary key (tenant_id, bucket_start, service, method, route, status_code, source),
    check (buckets_total(counts) is count)
) strict, without rowid;

create table metrics_daily (
    tenant_id    text    not null,
    bucket_start integer not null check (bucket_start % 86400000000 = 0),
    service      text    not null check (octet_length(service) <= 128),
    method       text    not null check (octet_length(method) <= 16),
    route        text    not null check (octet_length(route) <= 1024),
    status_code  integer not null check (status_code = 0 or status_code between 100 and 599),
    source       text    not null check (source in ('metric', 'span')),
    counts       blob    not null,
    sum          real    not null,
    count        integer not null,
    lossy        integer not null check (lossy in (0, 1)),
    primary key (tenant_id, bucket_start, service, method, route, status_code, source),
    check (buckets_total(counts) is count)
) strict, without rowid;

-- Partitions do not exist here, only their bounds: a day, and a month's first day (days since
-- 1970). A row outside of them is refused by the query that inserts it, with 23514 (MS
-- "Partitions").
create table minute_partitions (
    day integer not null primary key
) strict, without rowid;

create table hourly_partitions (
    month integer not null primary key check (month is month_start(month))
) strict, without rowid;

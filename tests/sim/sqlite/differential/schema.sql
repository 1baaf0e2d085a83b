-- The tables and queries of the differential tool on PostgreSQL 15: the shapes of sql/sqlite, one
-- tenant, times as minutes, no types that do not matter for waiting. Statement NAME takes the op's
-- arguments $1..$3 as bigint (unused ones too) and answers in the form of ops.h.

create table tenants (tenant_id int primary key, status text not null);
create table ingest_dedup (msg_id text primary key, applied_at bigint not null);
create table resource_seen (hash bigint primary key, first_seen_at bigint, last_seen_at bigint,
                            first_point bigint);
create table series_state (hash bigint primary key, last_unix_nano bigint, last_seen_at bigint);
create table route_registry (day bigint, route text, primary key (day, route));
create table ingest_warnings (kind text primary key, count bigint not null);
create table rollup_pending (hour bigint primary key, marked_at bigint not null);
create table metrics_minute (bucket bigint primary key, counts bigint[] not null,
                             sum double precision, count bigint) partition by range (bucket);
create table metrics_hourly (bucket bigint primary key, counts bigint[] not null,
                             sum double precision, count bigint);
create table metrics_daily (bucket bigint primary key, counts bigint[] not null,
                            sum double precision, count bigint);

create function one(bucket bigint) returns bigint[] language sql immutable as
    $$ select array_agg((i = $1)::int::bigint order by i) from generate_series(0, 14) i $$;
create function add_buckets(a bigint[], b bigint[]) returns bigint[] language sql immutable as
    $$ select array_agg(a[i] + b[i] order by i) from generate_series(1, 15) i $$;
create aggregate sum_buckets(bigint[]) (sfunc = add_buckets, stype = bigint[],
    initcond = '{0,0,0,0,0,0,0,0,0,0,0,0,0,0,0}');
create function show_buckets(counts bigint[]) returns text language sql immutable as
    $$ select coalesce(string_agg('[' || i - 1 || ':' || counts[i] || ']', '' order by i), '')
       from generate_series(1, 15) i where counts[i] > 0 $$;
create function kind_of(k bigint) returns text language sql immutable as
    $$ select (array['cardinality_overflow', 'coarse_buckets', 'lossy_histogram', 'secret_in_path',
                     'span_derived'])[k % 5 + 1] $$;

-- Volatile: each statement inside sees what was committed before it, so the read comes after the wait.
create function tenant_is_removed() returns int language plpgsql as $$
begin
    perform pg_advisory_xact_lock_shared(99);
    return (select exists (select 1 from tenants where status = 'removed'))::int;
end $$;
create function purge_tenant(keep bigint) returns void language plpgsql as $$
begin
    perform pg_advisory_xact_lock(99);
    if not exists (select 1 from tenants where status = 'removed') then
        raise exception 'tenant is not removed' using errcode = '55000';
    end if;
    delete from metrics_minute where bucket >= 0;
    delete from series_state where hash >= 0;
    delete from resource_seen where hash >= 0;
    delete from route_registry where day >= 0;
    delete from rollup_pending where hour >= 0;
    if keep = 0 then
        delete from metrics_hourly where bucket >= 0;
        delete from metrics_daily where bucket >= 0;
        delete from ingest_warnings where kind >= '';
    end if;
end $$;
create function minute_days() returns setof int language sql stable as
    $$ select substr(c.relname, 16)::int from pg_inherits i join pg_class c on c.oid = i.inhrelid
       where i.inhparent = 'metrics_minute'::regclass and c.relkind = 'r' $$;
create function create_minute(day bigint) returns int language plpgsql as $$
begin
    if exists (select 1 from minute_days() d where d = day) then
        return 0;
    end if;
    execute format('create table metrics_minute_%s partition of metrics_minute '
                   'for values from (%s) to (%s)', day, day * 1440, (day + 1) * 1440);
    return 1;
end $$;
create function drop_minute(day bigint) returns int language plpgsql as $$
begin
    if not exists (select 1 from minute_days() d where d = day) then
        return 0;
    end if;
    execute format('drop table metrics_minute_%s', day);
    return 1;
end $$;

-- Plays in files start from two partitions and an active tenant, random ones from some rows.
create function reset_to(days int) returns void language plpgsql as $$
begin
    truncate tenants, ingest_dedup, resource_seen, series_state, route_registry, ingest_warnings,
        rollup_pending, metrics_minute, metrics_hourly, metrics_daily;
    perform drop_minute(d) from minute_days() d where d >= days;
    perform create_minute(d) from generate_series(0, days - 1) d;
    insert into tenants values (1, 'active');
end $$;
create function reset_empty() returns void language sql as $$ select reset_to(2) $$;
create function reset_rows() returns void language plpgsql as $$
begin
    perform reset_to(1);
    insert into rollup_pending values (60, 1), (120, 2);
    insert into metrics_minute values (60, one(1), 1, 1);
    insert into metrics_hourly values (60, one(1), 1, 1);
    insert into ingest_warnings values (kind_of(1), 5);
    insert into ingest_dedup values ('n1', 1), ('n2', 2);
    insert into resource_seen values (1, 1, 1, 1), (2, 2, 2, 2);
    insert into series_state values (1, 1, 1), (2, 2, 2);
    insert into route_registry values (0, 'n1');
end $$;

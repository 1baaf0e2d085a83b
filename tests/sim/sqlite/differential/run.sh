#!/bin/bash
# usage: run.sh FIRST_SEED LAST_SEED [MIX]     random plays on both
#        run.sh plays                          the plays of ../plays on PostgreSQL
# Builds the tool, starts a private PostgreSQL 15 (unix socket only, in a folder under /tmp that is
# removed at the end) and plays. Run as root it becomes "postgres" for the server.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../../.." && pwd)
bin=${PG_BIN:-/usr/lib/postgresql/15/bin}
mode=${MODE:-release}
[ "${1-}" != plays ] || set -- plays "$here"/../plays/*.txt
[ $# -ge 2 ] || { echo "usage: $0 FIRST_SEED LAST_SEED [MIX], or $0 plays" >&2; exit 2; }
[ -x "$bin/postgres" ] || { echo "no PostgreSQL in $bin; set PG_BIN" >&2; exit 3; }

cd "$root"
tool=build/$mode/differential
sources=$(ls sim/sqlite/*.c sim/sched/*.c sim/base/*.c tests/sim/sqlite/{ops,plays}.c)
objects=$(for source in $sources; do echo "build/$mode/${source%.c}.o"; done)
make -s -j2 MODE="$mode" "build/$mode/libcore.a" $objects
gcc -std=c11 -D_GNU_SOURCE -O2 -g -Wall -Wextra -Werror -Wshadow -Wconversion -I. -I"build/$mode" \
    -I"${PG_INCLUDE:-/usr/include/postgresql}" -o "$tool" "$here"/*.c \
    $objects "build/$mode/libcore.a" \
    -lpq -lsqlite3 -lcrypto -lprotobuf-c -ljansson -lxxhash -lm

folder=$(mktemp -d /tmp/differential.XXXXXX)
as_owner() { if [ "$(id -u)" = 0 ]; then runuser -u postgres -- "$@"; else "$@"; fi; }
stop() { as_owner "$bin/pg_ctl" -D "$folder/data" -m immediate stop >/dev/null 2>&1 || true
         rm -rf "$folder"; }
trap stop EXIT
[ "$(id -u)" != 0 ] || chown postgres "$folder"
as_owner "$bin/initdb" -D "$folder/data" -U sim --no-sync --locale=C -E UTF8 --auth=trust >/dev/null
as_owner "$bin/pg_ctl" -D "$folder/data" -w -l "$folder/log" -o "-F -c listen_addresses= \
    -c unix_socket_directories=$folder -c autovacuum=off -c deadlock_timeout=1h -c jit=off \
    -c full_page_writes=off -c synchronous_commit=off -c checkpoint_timeout=1d" start >/dev/null
"$bin/psql" -q -v ON_ERROR_STOP=1 -h "$folder" -U sim -d postgres -f "$here/schema.sql"
"$tool" "host=$folder user=sim dbname=postgres" "$@"

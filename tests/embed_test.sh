#!/usr/bin/env bash
# sql/embed.awk refuses every malformed query file, naming file and line, and takes the good one, under
# every awk at hand. Usage: tests/embed_test.sh
set -u
export LC_ALL=C
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
mkdir -p "$tmp/sqlite/queries" "$tmp/postgres/queries"
file=$tmp/sqlite/queries/a.sql
failed=0

good='-- name: AddMinute :batchexec
-- params: tenant_id uuid, day date
-- part: upsert metrics_minute
-- key: tenant_id day
insert into metrics_minute (tenant_id, day) values (:tenant_id, :day) -- why
on conflict (tenant_id, day) do update set day = excluded.day;'

refused() { # expected "LINE: words", awk program...
    local expected=$1 out
    shift
    if out=$("$@" 2>&1 >/dev/null); then
        echo "embed: accepted what must fail: $expected"
        failed=1
    elif ! grep -qF ":$expected" <<<"$out"; then
        echo "embed: expected \"$expected\", got \"$out\""
        failed=1
    fi
}

for awk in mawk gawk original-awk; do
    command -v $awk >/dev/null || continue
    embed() { $awk -f sql/embed.awk -v mode=source "$@"; }

    echo "$good" >"$file"
    embed "$file" >"$tmp/good.c" || { echo "embed: $awk refused a good file"; failed=1; }
    grep -qF 'values (?1, ?2)' "$tmp/good.c" || { echo "embed: $awk lost the parameters"; failed=1; }
    grep -qF '.key = {0, 1}' "$tmp/good.c" || { echo "embed: $awk lost the key"; failed=1; }
    grep -qF 'why' "$tmp/good.c" && { echo "embed: $awk kept a comment"; failed=1; }

    # each line: a sed command that breaks the good file | where and what it must say
    while IFS='|' read -r edit expected; do
        sed -E "$edit" <<<"$good" >"$file"
        refused "$expected" embed "$file"
    done <<'CASES'
s/^-- name: AddMinute/-- name: addMinute/|1: expected "-- name: QueryName :annotation"
s/:batchexec/:batch/|1: unknown annotation ":batch"
s/:batchexec/:many/|1: :many needs "-- returns:"
1d|1: "params:" before the first
s/^-- params/-- parms/|2: unknown header "parms:"
s/day date/day data/|2: unknown type "data"
s/day date/day/|2: expected "name type"
s/day date/tenant_id uuid/|2: parameter "tenant_id" stands twice
s/day date/day date, hour time/|1: parameter "hour" is not used
s/part: upsert/part: merge/|3: expected "-- part: kind [table]"
s/part: upsert metrics_minute/part: upsert/|3: upsert needs a table
s/part: upsert metrics_minute/part: tx metrics_minute/|3: tx has no table
s/part: upsert/part: ddl/|3: ddl has no key
s/key: tenant_id day/key: tenant_id hour/|4: key column "hour" is not a parameter
s/^-- key.*/--/|3: upsert needs a "-- key:"
s/part: upsert metrics_minute/part: try/|3: try has no SQL in this dialect
s/:day\)/:hour)/|5: ":hour" is not a parameter
s/^insert/INSERT/|5: SQL is written in lower case
s/-- why/'/|5: a quoted string must end on its line
s/ -- why/;/|6: a part holds one statement
s/excluded.day;/excluded.day/|3: the part has no statement
3,4d|3: SQL before "-- part:"
CASES

    { echo "$good"; echo; echo "$good"; } >"$file"
    refused '8: query "AddMinute" stands twice' embed "$file"

    # two dialects: the same queries with the same columns
    echo "$good" >"$file"
    other=$tmp/postgres/queries/a.sql
    echo "$good" >"$other"
    embed "$other" "$file" >/dev/null || { echo "embed: $awk refused two dialects"; failed=1; }
    sed 's/AddMinute/AddHour/' <<<"$good" >>"$other"
    refused '7: query "AddHour" has no text in dialect sqlite' embed "$other" "$file"
    sed 's/day date/day time/' <<<"$good" >"$other"
    refused '1: query "AddMinute" is :batchexec (tenant_id uuid, day' embed "$other" "$file"
    cp "$file" "$tmp/a.sql"
    refused '1: a query file lies in sql/sqlite/queries' embed "$tmp/a.sql"
    rm -f "$other"
done

[ $failed -eq 0 ] && echo "embed: every planted breach was found"
exit $failed

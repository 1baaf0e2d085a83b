#!/usr/bin/env bash
# The command line as a user meets it: real exports against their truth, wrong input, exit codes.
# Usage: tests/cli.sh METERSIM      Last line: "cli: N passed, N failed".
set -u
export LC_ALL=C
unset CI
metersim=$(realpath "$1")
root=$(pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
mkfifo "$tmp/pipe"
passed=0
failed=0

ok() { passed=$((passed + 1)); }
bad() {
    failed=$((failed + 1))
    echo "FAILED $1"
    [ -s "$tmp/err" ] && tail -n 5 "$tmp/err"
    return 0
}
# expect NAME EXIT_CODE PATTERN COMMAND...: the code, and the pattern somewhere in the output
expect() {
    local name=$1 code=$2 pattern=$3
    shift 3
    "$@" >"$tmp/out" 2>"$tmp/err" </dev/null
    local got=$?
    if [ $got -ne "$code" ]; then
        bad "$name: exit $got, expected $code"
    elif [ -n "$pattern" ] && ! cat "$tmp/out" "$tmp/err" | grep -qE -- "$pattern"; then
        bad "$name: nothing says \"$pattern\""
    else
        ok
    fi
}

# "GET /cart 200" 245 per line, from a truth file and from the tables
truth_of() { sed -nE 's/^ *"([A-Z]+ [^"]+)": ([0-9]+),?$/\1 \2/p' "$1" | sort; }
answer_of() { awk '$5 == "metric" { print $2, $3, $4, $6 }' "$1" | sort; }

for folder in cum-pb cum-json delta-pb cum-msdefaults-pb; do
    data=tests/data/otlp/$folder
    db=$tmp/$folder.sqlite
    expect "ingest $folder" 0 "message applied +5" "$metersim" ingest "$data"/0*.* --db "$db"
    truth_of "$data/truth.json" >"$tmp/truth"
    for level in minute hourly daily; do
        [ $level = hourly ] && expect "jobs $folder" 0 "rollup_hours" "$metersim" jobs --db "$db"
        "$metersim" query --db "$db" --level $level >"$tmp/answer" 2>"$tmp/err"
        answer_of "$tmp/answer" >"$tmp/got"
        if [ -s "$tmp/truth" ] && diff "$tmp/truth" "$tmp/got" >"$tmp/err"; then
            ok
        else
            bad "$folder $level rows against truth.json"
        fi
    done
    expect "ingest $folder twice is harmless" 0 "message already_applied +5" \
        "$metersim" ingest "$data"/0*.* --db "$db"
    "$metersim" query --db "$db" --level minute >"$tmp/answer" 2>"$tmp/err"
    answer_of "$tmp/answer" >"$tmp/got"
    diff "$tmp/truth" "$tmp/got" >"$tmp/err" && ok || bad "$folder after a second import"
    lossy=$(grep -c lossy "$tmp/answer")
    rows=$(wc -l <"$tmp/got")
    case $folder in
    cum-msdefaults-pb) [ "$lossy" -eq "$rows" ] && ok || bad "$folder is lossy in every row" ;;
    *) [ "$lossy" -eq 0 ] && ok || bad "$folder is exact in every row" ;;
    esac
done
expect "query names its columns" 0 "service +method +route +status +source +requests +p50 +p95 +p99 +counts" \
    "$metersim" query --db "$tmp/cum-pb.sqlite"
expect "query answers percentiles with their unit" 0 "POST +/pay +200 +metric +263 +0\.06[0-9]* s +0\.4[0-9]* s" \
    "$metersim" query --db "$tmp/cum-pb.sqlite"
expect "query filters" 0 "POST +/pay +200" "$metersim" query --db "$tmp/cum-pb.sqlite" --route /pay
expect "query of a range that ends before it begins" 2 "is later than --until" \
    "$metersim" query --db "$tmp/cum-pb.sqlite" --from 2026-12-01T00:00:00Z --until 2026-11-01T00:00:00Z
expect "version" 0 "metersim [0-9]" "$metersim" --version
expect "query of nothing" 0 "no rows" "$metersim" query --db "$tmp/cum-pb.sqlite" --route /nowhere
expect "query as JSON" 0 '^\{"rows":\[\{"tenant":"[0-9a-f-]{36}".*"requests":245,.*"p50":"0\.[0-9]+ s","p50_seconds":0\.[0-9]+,.*\]\}$' \
    "$metersim" query --db "$tmp/cum-pb.sqlite" --json
expect "query of nothing as JSON" 0 '^\{"rows":\[\]\}$' "$metersim" query --db "$tmp/cum-pb.sqlite" --route /nowhere --json
expect "jobs as JSON" 0 '^\{"now":"20[^"]*Z","counters":\{.*\}\}$' "$metersim" jobs --db "$tmp/cum-pb.sqlite" --json

# query changes nothing, and a database at rest is one file
mkdir "$tmp/still"
cp "$tmp/cum-pb.sqlite" "$tmp/still/a.sqlite"
sha256sum "$tmp/still"/* >"$tmp/before"
expect "query" 0 "POST" "$metersim" query --db "$tmp/still/a.sqlite"
sha256sum "$tmp/still"/* >"$tmp/after"
cmp "$tmp/before" "$tmp/after" && [ "$(wc -l <"$tmp/after")" -eq 1 ] && ok || bad "query changed a file or left one"
: >"$tmp/still/empty"
for command in query jobs; do
    expect "$command of an empty file" 2 "empty, not a metersim database" "$metersim" $command --db "$tmp/still/empty"
done
[ -s "$tmp/still/empty" ] && bad "an empty file was filled" || ok
for what in "$tmp/pipe" /dev/zero; do
    for command in query jobs "ingest tests/data/otlp/cum-pb/000.pb"; do
        # shellcheck disable=SC2086
        expect "$command --db $what" 2 "it is a device or a pipe" timeout 10 "$metersim" $command --db "$what"
    done
done

# wrong input: what, where, what now
expect "no command" 2 "exit codes" "$metersim"
expect "unknown command" 2 'unknown command "runn"' "$metersim" runn
expect "help" 0 "metersim ingest" "$metersim" help
expect "help of one" 0 "half-open" "$metersim" help query
expect "help of an unknown one" 2 'unknown command "nothing"' "$metersim" help nothing
expect "unknown option" 2 'did you mean "--seed"' "$metersim" run --sed 1
expect "option without value" 2 "needs a value" "$metersim" run --seed
expect "bad seed" 2 "A\.\.B" "$metersim" run --seed x
expect "unknown rule" 2 "A-77" "$metersim" run --rules=-A-77
expect "missing scenario" 2 "could not open" "$metersim" run "$tmp/none.scn"
expect "folder without scenarios" 2 "no scenario" "$metersim" run "$tmp"
expect "ingest without files" 2 "FILE is required" "$metersim" ingest --db "$tmp/x.sqlite"
expect "ingest without database" 2 "--db PATH is required" "$metersim" ingest x.pb
expect "ingest of a missing file" 2 "could not open file" "$metersim" ingest "$tmp/none.pb" --db "$tmp/x.sqlite"
[ -e "$tmp/x.sqlite" ] && bad "a failed ingest left a database" || ok
expect "bad time" 2 "UTC time" "$metersim" jobs --db "$tmp/cum-pb.sqlite" --now tomorrow
for now in 1970-01-01T00:00:00Z 1969-12-31 0001-01-01 9999-12-31; do
    expect "jobs at $now" 2 "--now takes a (UTC )?time" "$metersim" jobs --db "$tmp/cum-pb.sqlite" --now $now
    expect "ingest at $now" 2 "--now takes a (UTC )?time" \
        "$metersim" ingest tests/data/otlp/cum-pb/000.pb --db "$tmp/x.sqlite" --now $now
done
expect "jobs on a missing database" 2 "" "$metersim" jobs --db "$tmp/none.sqlite"
[ -e "$tmp/none.sqlite" ] && bad "jobs made a database that was not there" || ok
expect "query on a missing database" 2 "" "$metersim" query --db "$tmp/none.sqlite"
printf 'this is no database, but a text of more than sixteen bytes' >"$tmp/text.sqlite"
expect "a file that is no database" 2 "not a database" "$metersim" query --db "$tmp/text.sqlite"
printf 'a note\n' >"$tmp/note.txt"
expect "a short text as database" 2 "not a database" \
    "$metersim" ingest tests/data/otlp/cum-pb/000.pb --db "$tmp/note.txt"
[ "$(cat "$tmp/note.txt")" = "a note" ] && ok || bad "a short text was overwritten"
head -c 20000 "$tmp/cum-pb.sqlite" >"$tmp/damaged.sqlite"
expect "a damaged database" 2 "damaged.sqlite\" is damaged: " "$metersim" query --db "$tmp/damaged.sqlite" --json
[ -s "$tmp/out" ] && bad "a damaged database gave JSON" || ok
expect "a folder as database" 2 "" "$metersim" query --db "$tmp"
printf '\377\377\377\377' >"$tmp/garbage.pb"
expect "garbage is refused with a reason" 2 "garbage.pb\": .*malformed protobuf" \
    "$metersim" ingest "$tmp/garbage.pb" --db "$tmp/y.sqlite"
printf '{"resourceMetrics":[' >"$tmp/cut.json"
expect "a cut JSON file is refused with a reason" 2 "cut.json\": .*malformed JSON at line 1" \
    "$metersim" ingest "$tmp/cut.json" --db "$tmp/y.sqlite"
head -c 1048577 /dev/zero >"$tmp/large.pb"
expect "a large file is refused with a reason" 2 "large.pb\": .*it has 1048577 bytes, the most is 1048576" \
    "$metersim" ingest "$tmp/large.pb" --db "$tmp/y.sqlite"
cp tests/data/otlp/cum-pb/000.pb "$tmp/good.pb"
expect "garbage beside good files" 1 "message dead_validation +1" \
    "$metersim" ingest "$tmp/good.pb" "$tmp/garbage.pb" --db "$tmp/z.sqlite"
for folder in cum-pb delta-pb; do
    printf '{"foo":1}' >"$tmp/foreign.json"
    for what in "$tmp/foreign.json" tests/data/otlp/$folder/truth.json "$tmp/still/empty"; do
        expect "ingest of $what" 2 "file \"$what\": it (is empty|holds no OTLP metrics)" \
            "$metersim" ingest "$what" --db "$tmp/foreign.sqlite"
    done
done
expect "ingest of strangers" 2 "is empty" "$metersim" ingest "$tmp/still/empty" "$tmp/foreign.json" --db "$tmp/foreign.sqlite"
[ -e "$tmp/foreign.sqlite" ] && bad "refused files left a database" || ok

# the clock: one point from 2100 must not make the good ones too old
point() { # NANOSECONDS
    printf '{"resourceMetrics":[{"resource":{"attributes":[{"key":"scf.tenant.id","value":{"stringValue":'
    printf '"6f1c2c9e-7a51-4d0e-9d55-0a5d0c5b7b11"}}]},"scopeMetrics":[{"metrics":[{"name":'
    printf '"http.server.request.duration","unit":"s","histogram":{"aggregationTemporality":1,"dataPoints":'
    printf '[{"startTimeUnixNano":1,"timeUnixNano":%s,"count":1,"sum":1,"bucketCounts":[1]}]}}]}]}]}\n' "$1"
}
point 4102444800000000000 >"$tmp/2100.json"
point 1773144000000000000 >"$tmp/2026.json" # 2026-03-10T12:00:00Z
expect "one point from 2100" 2 "from 2026-03-10T12:00:00Z .*2026.json.* to 2100-01-01T00:00:00Z .*2100.json" \
    "$metersim" ingest "$tmp/2100.json" "$tmp/2026.json" --db "$tmp/w.sqlite"
grep -q -- "hint: nothing was imported; --now TIME" "$tmp/err" && ok || bad "one point from 2100: no hint"
[ -e "$tmp/w.sqlite" ] && bad "one point from 2100 left a database" || ok
expect "a refused point is exit 1" 1 "points refused, not counted: 1" \
    "$metersim" ingest "$tmp/2100.json" "$tmp/2026.json" --db "$tmp/w.sqlite" --now 2026-03-10T12:00:00Z
grep -q "rejected_future *1" "$tmp/out" && ok || bad "a refused point is not among the outcomes"
expect "the good point is there" 0 "metric +1 " "$metersim" query --db "$tmp/w.sqlite"

# the order: as the shell sorts, backwards, is no matter within an import; across imports it is told
data=tests/data/otlp/cum-pb
expect "files backwards" 0 "message applied +5" \
    "$metersim" ingest $data/004.pb $data/003.pb $data/002.pb $data/001.pb $data/000.pb --db "$tmp/back.sqlite"
"$metersim" query --db "$tmp/back.sqlite" >"$tmp/answer" 2>"$tmp/err"
truth_of $data/truth.json >"$tmp/truth"
answer_of "$tmp/answer" | diff "$tmp/truth" - >"$tmp/err" && ok || bad "files backwards against truth.json"
expect "newer files first" 0 "" "$metersim" ingest $data/003.pb --db "$tmp/late.sqlite"
expect "older points afterwards" 1 "points older than what the database has of their streams, not counted: [1-9]" \
    "$metersim" ingest $data/002.pb --db "$tmp/late.sqlite"

# one importer: the first is stopped in the middle of its log by a pipe that nobody empties
for _ in $(seq 3000); do echo '{}'; done >"$tmp/log.jsonl"
cat $data/../cum-json/000.json >>"$tmp/log.jsonl"
exec 8<>"$tmp/pipe"
"$metersim" ingest "$tmp/log.jsonl" --db "$tmp/one.sqlite" >"$tmp/first" 2>&8 &
first=$!
read -r -N 1 -u 8 # it has the lock
expect "a second importer" 3 "another metersim ingest is writing" \
    "$metersim" ingest $data/000.pb --db "$tmp/one.sqlite"
expect "query beside an importer" 0 "no rows" "$metersim" query --db "$tmp/one.sqlite"
cat <&8 >/dev/null &
drain=$!
wait $first
[ $? -eq 1 ] && grep -q "applied  *1$" "$tmp/first" && ok || bad "the first importer"
kill $drain
exec 8>&-
# who listens may hang up: the import ends all the same
"$metersim" ingest "$tmp/log.jsonl" --db "$tmp/hung.sqlite" 2>&1 >/dev/null | head -n 1 >/dev/null
expect "an import whose listener hung up" 0 "GET" "$metersim" query --db "$tmp/hung.sqlite"
[ "$(ls "$tmp" | grep -cE 'sqlite-(wal|shm|journal)')" -eq 0 ] && ok || bad "a database at rest is not one file"
said=$(ulimit -f 16 && exec "$metersim" ingest $data/000.pb --db "$tmp/small.sqlite" 2>&1)
[ $? -eq 3 ] && [[ $said = *"too large"*"hint: make room"* ]] && ok || bad "ingest past the size limit: $said"

# scenarios: every error of a file in one go, nothing is run
cat >"$tmp/bad.scn" <<'S'
scenario "two errors"
start soon
tenant acme
writer w1
at 0s nobody starts
run until 1m
derive
  nothing.
S
expect "scenario error one" 2 "bad.scn:2:[0-9]+: " "$metersim" run "$tmp/bad.scn"
grep -qE "bad.scn:5:[0-9]+: " "$tmp/err" && ok || bad "scenario error two in the same go"
expect "trace wants one scenario" 2 "--trace takes one" "$metersim" run --trace "$tmp/t" scenarios
# the golden of a scenario is found from whatever way leads to it
for path in "$root/scenarios/time" scenarios/../scenarios/time; do
    expect "run $path" 0 "[1-9][0-9]* passed, 0 failed" "$metersim" run "$path"
done
CI=1 expect "update is refused in CI" 2 "refused in CI" env CI=1 "$metersim" run --update
cd "$tmp" || exit 1
expect "doctor outside the tree" 3 "root of the source tree" "$metersim" doctor
cd "$root" || exit 1
expect "doctor" 0 "sqlite .*good" "$metersim" doctor
"$metersim" run --json scenarios/first-point >"$tmp/out" 2>"$tmp/err"
grep -qE '"scenarios":\[\{"name":"scenarios/first-point/.*"trace_hash":"[0-9a-f]{16}"' "$tmp/out" && ok || bad "run --json"
# output that nobody gets: never a silent success, and never into a file that took its place
for command in help "help run" --version "query --help" doctor "run scenarios/time" \
    "query --db $tmp/cum-pb.sqlite" "query --json --db $tmp/cum-pb.sqlite" "jobs --db $tmp/cum-pb.sqlite"; do
    for stream in /dev/full closed; do
        if [ $stream = closed ]; then
            # shellcheck disable=SC2086
            "$metersim" $command 2>"$tmp/err" >&-
        else
            # shellcheck disable=SC2086
            "$metersim" $command 2>"$tmp/err" >$stream
        fi
        code=$?
        [ $code -eq 5 ] && grep -q "could not write to standard output: " "$tmp/err" && ok ||
            bad "$command with stdout $stream: exit $code"
    done
done

# what is no file is never waited for
for what in "$tmp/pipe" /dev/zero /dev/stdin "$tmp"; do
    expect "fmt $what" 2 "it is a (pipe|device|folder), not a file" timeout 10 "$metersim" fmt --check "$what"
    expect "ingest $what" 2 "it is a (pipe|device|folder), not a file" \
        timeout 10 "$metersim" ingest "$what" --db "$tmp/x.sqlite"
done
[ -e "$tmp/x.sqlite" ] && bad "a refused input left a database" || ok

# fmt: the file itself, with its rights, through a link; a file size limit leaves it as it was
sed 's/^start/start  /' scenarios/catch-up/five-minute-exporter.scn >"$tmp/loose.scn"
chmod 640 "$tmp/loose.scn"
ln -s loose.scn "$tmp/link.scn"
cp "$tmp/loose.scn" "$tmp/loose.before"
said=$(ulimit -f 0 && exec "$metersim" fmt "$tmp/link.scn" 2>&1)
[ $? -eq 2 ] && [[ $said = *"File too large"* ]] && cmp -s "$tmp/loose.scn" "$tmp/loose.before" && ok ||
    bad "fmt past the size limit"
expect "fmt" 0 "" "$metersim" fmt "$tmp/link.scn"
[ -L "$tmp/link.scn" ] && [ "$(stat -c %a "$tmp/loose.scn")" = 640 ] &&
    cmp -s "$tmp/loose.scn" scenarios/catch-up/five-minute-exporter.scn && ok || bad "fmt through a link"
cat >"$tmp/fails.scn" <<'S'
scenario "an expectation that falls"
cites R-PT-1
tenant acme
series s1 of acme service "cart" GET /a 200 start 0s cumulative
writer w1
at 1m s1 sends 10
run until 2m
expect outcome first_full of acme 2
derive
  nothing.
S
expect "a failure names file, line and what was counted" 1 \
    "fails.scn:8:1: outcome first_full of acme: expected 2, got 1" "$metersim" run "$tmp/fails.scn"
expect "run --json has the failures" 1 \
    '"seed":3,"verdict":"fail".*"failures":\[\{"kind":"expectation","where":"[^"]*fails.scn:8:1","cell":"outcome first_full of acme","expected":"2","got":"1","text":"[^"]*"\}.*"repeat":"./metersim run [^"]*/fails.scn --seed 3"\}\],"passed":0,"failed":1\}' \
    "$metersim" run --json --seed 3 "$tmp/fails.scn"
[ -s "$tmp/err" ] && bad "run --json says its failures once" || ok
sed 's/^cites R-PT-1/cites R-PT-1 R-PT-99/' "$tmp/fails.scn" >"$tmp/cites.scn"
expect "run: an unknown rule" 2 'cites.scn:2:14: unknown rule id "R-PT-99"' "$metersim" run "$tmp/cites.scn"
expect "fmt: an unknown rule" 2 'cites.scn:2:14: unknown rule id "R-PT-99"' "$metersim" fmt --check "$tmp/cites.scn"
# captured files and the golden are found from whatever folder a scenario is run
for where in "$root/scenarios" "$root/scenarios/poison" "$tmp"; do
    cd "$where" || exit 1
    case $PWD in
    */scenarios) path=poison/cleaned-routes-are-one-stream.scn ;;
    */poison) path=cleaned-routes-are-one-stream.scn ;;
    *) path=$root/scenarios/poison/cleaned-routes-are-one-stream.scn ;;
    esac
    expect "run from $PWD" 0 "1 passed, 0 failed" "$metersim" run "$path"
done
cd "$root" || exit 1
# a captured file or a golden that is no file
mkdir -p "$tmp/tree/scenarios" "$tmp/tree/golden" "$tmp/tree/tests/data"
sed -e 's/^at 1m.*/at 1m deliver file "pipe.pb" of acme/' -e '/^series/d' "$tmp/fails.scn" >"$tmp/tree/scenarios/x.scn"
mkfifo "$tmp/tree/tests/data/pipe.pb"
expect "a pipe as captured file" 1 'x.scn:5:1: cannot read ".*pipe.pb": it is a pipe' \
    timeout 10 "$metersim" run "$tmp/tree/scenarios/x.scn"
mkfifo "$tmp/tree/golden/x.golden"
expect "a pipe as golden" 2 'cannot read ".*x.golden": it is a pipe' \
    timeout 10 "$metersim" run "$tmp/tree/scenarios/x.scn"
"$metersim" run >/dev/full 2>"$tmp/err"
[ $? -eq 5 ] && ok || bad "a full disk under stdout is exit 5"
echo "cli: $passed passed, $failed failed"
[ $failed -eq 0 ]

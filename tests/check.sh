#!/usr/bin/env bash
# make check: every check, quiet when good, and "N passed, N failed" as the last line.
# Usage: tests/check.sh BUILD CC     BUILD: folder with unit, libcore.a, metersim
set -u
export LC_ALL=C
build=$1
cc=$2
passed=0
failed=0
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
say() { [ -t 2 ] && printf '\r\033[K%s' "$1" >&2; return 0; }

# one check = one command; its output is shown only when it fails
check() { # name, command...
    local name=$1
    shift
    say "$name ..."
    if "$@" >"$tmp/out" 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        say ""
        echo "FAILED $name"
        tail -n 60 "$tmp/out"
    fi
}
# a check that counts for itself: its last line is "...N passed, N failed"
check_counted() {
    local name=$1 status line
    shift
    say "$name ..."
    "$@" >"$tmp/out" 2>&1
    status=$?
    line=$(grep -oE '[0-9]+ passed, [0-9]+ failed' "$tmp/out" | tail -n 1)
    if [ -z "$line" ] || { [ $status -ne 0 ] && [ "${line#*, }" = "0 failed" ]; }; then
        failed=$((failed + 1))
        say ""
        echo "FAILED $name (exit $status)"
        tail -n 60 "$tmp/out"
        return
    fi
    passed=$((passed + ${line%% passed*}))
    local bad=${line#*, }
    bad=${bad% failed}
    failed=$((failed + bad))
    if [ "$bad" -gt 0 ]; then
        say ""
        echo "FAILED $name"
        grep -vE '^(pass|ok) ' "$tmp/out" | tail -n 120
    fi
}

check "layers" bash tests/layers.sh . "$build/libcore.a"
check "layers finds planted breaches" bash tests/layers_test.sh "$cc"
check "rule ids" bash tests/rule_ids.sh .
check "rule ids finds planted breaches" bash tests/rule_ids_test.sh
check "sql/embed.awk finds planted breaches" bash tests/embed_test.sh
check "headers compile alone" bash tests/headers.sh "$build" "$cc"
check_counted "unit" "$build/unit"
check_counted "scenarios" "$build/metersim" run
check_counted "command line" bash tests/cli.sh "$build/metersim"
say ""
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]

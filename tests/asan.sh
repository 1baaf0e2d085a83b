#!/bin/bash
# Every unit suite in a process of its own. Check forks for every test, and forking a sanitized
# process takes the longer the more results it already holds: all in one takes ten times as long.
# usage: tests/asan.sh UNIT
set -euo pipefail
unit=$1
suites=$("$unit" --list)
passed=0
failed=()
for suite in $suites; do
    [ -t 2 ] && printf '\r\033[K%s' "$suite" >&2
    if out=$(CK_VERBOSITY=minimal "$unit" "$suite" 2>&1); then
        passed=$((passed + 1))
    else
        failed+=("$suite")
        printf '%s\n' "$out" | tail -n 40
    fi
done
[ -t 2 ] && printf '\r\033[K' >&2
echo "asan: $passed suites passed, ${#failed[@]} failed${failed[*]:+: ${failed[*]}}"
[ "${#failed[@]}" -eq 0 ] && [ "$passed" -gt 0 ]

#!/usr/bin/env bash
# make mutants: planted defects, each of which a scenario or a unit test must catch.
#
# tests/mutants/NAME.patch: first lines "rule: ID...", "defect: what is wrong", perhaps "suite: NAME" (the
# unit suite that must catch it), then a unified diff (-p1). Each
# is applied to a copy of the tree, what depends on it is built again, and the scenarios are run, then
# the unit tests; the first that fails kills it. A patch that no longer applies, or builds nothing new,
# is an error, not a kill. A rule of core/CONTRACT.md whose defect nobody planted is listed.
# Usage: tests/mutants.sh [NAME...]      Last line: "mutants: N passed, N failed".
set -u
export LC_ALL=C
root=$(pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
passed=0
failed=0
make --no-print-directory -j2 MODE=debug build/debug/unit build/debug/metersim >/dev/null || exit 1
mkdir -p "$tmp/tree/build"
cp -a Makefile core sim sql tests scenarios golden README.md "$tmp/tree/"
cp -a build/debug "$tmp/tree/build/"

build() {
    make --no-print-directory -j2 MODE=debug "build/debug/$1" >"$tmp/out" 2>&1
}

# One mutant in its own copy: prints "killed by ..." or what went wrong.
judge() {
    local patch=$1 tree=$tmp/mutant
    rm -rf "$tree"
    cp -a "$tmp/tree" "$tree"
    cd "$tree" || return 1
    if ! patch -p1 --no-backup-if-mismatch -s <"$patch" >"$tmp/out" 2>&1; then
        echo "does not apply: $(head -n 1 "$tmp/out")"
        return 1
    fi
    local suite
    suite=$(sed -n 's/^suite: //p' "$patch" | head -n 1)
    if ! build metersim; then
        echo "does not build: $(grep -a -m 1 error "$tmp/out")"
        return 1
    fi
    if ! timeout 120 build/debug/metersim run --fail-fast >"$tmp/out" 2>&1; then
        echo "killed by $(grep -a -m 1 -oE '^(fail|nondeterministic|not_judged) [^ ]+' "$tmp/out" || tail -n 1 "$tmp/out")"
        return 0
    fi
    if ! build unit; then
        echo "does not build: $(grep -a -m 1 error "$tmp/out")"
        return 1
    fi
    if cmp -s build/debug/unit "$tmp/tree/build/debug/unit"; then
        echo "changes nothing that is built"
        return 1
    fi
    # the suite named in the patch first: the whole takes longer
    for which in $suite ""; do
        if ! CK_VERBOSITY=normal timeout 400 build/debug/unit $which >"$tmp/out" 2>&1; then
            echo "killed by unit $(grep -a -m 1 -oE ':[FE]:[^:]+:[^:]+' "$tmp/out" | cut -d: -f4)"
            return 0
        fi
    done
    echo "SURVIVED"
    return 1
}

names=("$@")
[ ${#names[@]} -gt 0 ] || mapfile -t names < <(cd tests/mutants && ls -- *.patch | sed 's/\.patch$//')
for name in "${names[@]}"; do
    patch=$root/tests/mutants/$name.patch
    [ -t 2 ] && printf '\r\033[K%s ...' "$name" >&2
    verdict=$(judge "$patch")
    if [ $? -eq 0 ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
    fi
    [ -t 2 ] && printf '\r\033[K' >&2
    printf '%-32s %-10s %s\n' "$name" "$(sed -n 's/^rule: //p' "$patch" | head -n 1)" "$verdict"
done
if [ $# -eq 0 ]; then
    missing=
    for id in $(grep -oE '^- \*\*(R-[A-Z]+-[0-9]+|[AS]-[0-9]+)\*\*' core/CONTRACT.md | tr -d '*' | cut -c3-); do
        grep -qE "^rule: .*\b$id\b" tests/mutants/*.patch || missing="$missing $id"
    done
    if [ -n "$missing" ]; then
        echo "no defect is planted for:$missing"
        failed=$((failed + 1))
    fi
fi
echo "mutants: $passed passed, $failed failed"
[ $failed -eq 0 ] && [ $passed -gt 0 ]

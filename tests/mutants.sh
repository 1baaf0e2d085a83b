#!/usr/bin/env bash
# make mutants: planted defects, each of which a scenario or a unit test must catch.
#
# tests/mutants/README.md says what a patch looks like. Each is applied to one copy of the tree and
# taken back after its judgement; only what it touches is built again. The scenarios run first, then
# the suite that the patch names, then every suite; the first that fails kills the mutant. An error,
# not a kill: a patch that no longer applies or builds, one that changes nothing that is built, a
# run that takes too long. A rule of core/CONTRACT.md for which no defect is planted fails the run.
#
# Usage: tests/mutants.sh [NAME...]      Last line: "mutants: N passed, N failed".
set -uo pipefail
export LC_ALL=C CK_VERBOSITY=normal
root=$(pwd)
metersim=build/debug/metersim
unit=build/debug/unit
limit=300 # seconds for one run or build
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

build() {
    timeout "$limit" make --no-print-directory -j2 MODE=debug "$1" >"$tmp/out" 2>&1
}

# Runs the arguments. 0: all is well; 1: a test failed, or the program died; 2: it took too long.
run() {
    timeout -k 5 "$limit" "$@" >"$tmp/out" 2>&1
    case $? in
    0) return 0 ;;
    124 | 137) return 2 ;;
    *) return 1 ;;
    esac
}

# What is built, without what only says where: two equal programs of two directories are equal.
essence() {
    strip -R .note.gnu.build-id -o "$tmp/essence" "$1" && sha256sum <"$tmp/essence"
}

# The first failure in $tmp/out: a scenario, a unit test, or how the program died.
first_failure() {
    grep -a -m 1 -oE '^(fail|nondeterministic|not_judged) [^ ]+' "$tmp/out" ||
        grep -a -m 1 -oE ':[FE]:[^:]*:[^:]+' "$tmp/out" | sed 's/^.*:/unit /' ||
        grep -a . "$tmp/out" | tail -n 1 | grep . || echo "a crash"
}

# One step of a judgement: builds the program and runs it. 0: killed, or an error that ends the
# judgement, told on stdout ("killed by ..." is the only good end); 1: it survived this step.
step() {
    local program=$1
    shift
    if ! build "$program"; then
        echo "does not build: $(grep -a -m 1 -E 'error|Error' "$tmp/out")"
        return 0
    fi
    run "$program" "$@"
    case $? in
    0) return 1 ;;
    1) echo "killed by $(first_failure)" ;;
    *) echo "took more than $limit s: $program $*" ;;
    esac
}

# The patched tree, through all steps.
judge_planted() {
    local suite
    step "$metersim" run --fail-fast && return
    if [ "$(essence "$metersim")" = "$original" ]; then
        echo "changes nothing that is built"
        return
    fi
    suite=$(sed -n 's/^suite: //p' "$1")
    [ -z "$suite" ] || ! step "$unit" "$suite" || return
    step "$unit" || echo "SURVIVED"
}

judge() {
    cd "$tmp/tree" || return
    if ! patch -p1 --dry-run -s <"$1" >"$tmp/out" 2>&1; then
        echo "does not apply: $(grep -a -m 1 -E 'FAILED|find' "$tmp/out")"
        return
    fi
    patch -p1 --no-backup-if-mismatch -s <"$1"
    judge_planted "$1"
    patch -p1 --no-backup-if-mismatch -s -R <"$1"
}

list_unplanted() {
    local id
    for id in $(grep -oE '^- \*\*(R-[A-Z]+-[0-9]+|[AS]-[0-9]+)\*\*' core/CONTRACT.md | tr -d '*' | cut -c3-); do
        grep -qE "^rule: (.* )?$id( |$)" tests/mutants/*.patch || printf ' %s' "$id"
    done
}

for program in "$metersim" "$unit"; do
    build "$program" || { cat "$tmp/out"; exit 1; }
done
# without a defect all is well, else every kill is doubtful; for a few names the scenarios are enough
if ! run "$metersim" run || { [ $# -eq 0 ] && ! run "$unit"; }; then
    echo "fails without any defect: $(first_failure)"
    exit 1
fi
mkdir -p "$tmp/tree/build"
cp -a Makefile README.md core sim sql tests scenarios golden "$tmp/tree/"
cp -a build/debug "$tmp/tree/build/"
original=$(essence "$metersim")

names=("$@")
[ ${#names[@]} -gt 0 ] || mapfile -t names < <(cd tests/mutants && ls -- *.patch | sed 's/\.patch$//')
passed=0
failed=0
for name in "${names[@]}"; do
    patch=$root/tests/mutants/$name.patch
    [ ! -t 2 ] || printf '\r\033[K%s ...' "$name" >&2
    verdict=$(judge "$patch")
    [ ! -t 2 ] || printf '\r\033[K' >&2
    case $verdict in
    "killed by "*) passed=$((passed + 1)) ;;
    *) failed=$((failed + 1)) ;;
    esac
    printf '%-32s %-18s %s\n' "$name" "$(sed -n 's/^rule: //p' "$patch")" "$verdict"
done
if [ $# -eq 0 ]; then
    unplanted=$(list_unplanted)
    if [ -n "$unplanted" ]; then
        echo "rules without a planted defect:$unplanted"
        failed=$((failed + 1))
    fi
fi
echo "mutants: $passed passed, $failed failed"
[ $failed -eq 0 ] && [ $passed -gt 0 ]

#!/usr/bin/env bash
# The layer check itself must be able to fail: each planted breach has to be found.
# Usage: tests/layers_test.sh CC
set -u
cc=${1:-gcc}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
failed=0
expect_breach() { # name, command...
    local name=$1
    shift
    if "$@" >"$tmp/out" 2>&1; then
        echo "layers_test: $name was not found"
        failed=1
    fi
}
plant() {
    rm -rf "$tmp/tree"
    mkdir -p "$tmp/tree/core/base" "$tmp/tree/core/model"
    printf '%s\n' "$2" >"$tmp/tree/$1"
}
plant core/model/clean.c '#include "core/base/err.h"'
bash tests/layers.sh "$tmp/tree" >"$tmp/out" || { echo "layers_test: a clean tree was refused"; failed=1; }
plant core/model/breach.c '#include "sim/sched/sched.h"'
expect_breach "core including sim" bash tests/layers.sh "$tmp/tree"
plant core/base/breach.c '#include "core/model/point.h"'
expect_breach "base including model" bash tests/layers.sh "$tmp/tree"
library() {
    printf '%s\n' "$1" >"$tmp/x.c"
    "$cc" -c -o "$tmp/x.o" "$tmp/x.c" && rm -f "$tmp/x.a" && ar rcs "$tmp/x.a" "$tmp/x.o"
}
rm -rf "$tmp/tree" && mkdir -p "$tmp/tree/core"
library '#include <time.h>
time_t now(void); time_t now(void) { return time(0); }'
expect_breach "core reading the clock" bash tests/layers.sh "$tmp/tree" "$tmp/x.a"
library 'int counter; int next(void); int next(void) { return ++counter; }'
expect_breach "a mutable global" bash tests/layers.sh "$tmp/tree" "$tmp/x.a"
library 'int twice(int x); int twice(int x) { return 2 * x; }'
bash tests/layers.sh "$tmp/tree" "$tmp/x.a" || { echo "layers_test: a clean library was refused"; failed=1; }
exit $failed

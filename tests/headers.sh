#!/usr/bin/env bash
# Every header compiles alone, so that it can be read and included first.
# Usage: tests/headers.sh BUILD CC
set -u
build=$1
cc=$2
failed=0
while read -r header; do
    "$cc" -std=c11 -D_GNU_SOURCE -DSQLITE_ENABLE_PREUPDATE_HOOK -Wall -Wextra -Werror -I. -I"$build" \
        -fsyntax-only -x c "$header" || failed=1
done < <(find core sim tests -name '*.h' | sort)
exit $failed

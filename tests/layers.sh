#!/usr/bin/env bash
# Proves the layers (core/README.md): what a folder of core may include, that core never includes
# sim, calls no clock, environment, file or random source, and has no mutable globals.
# Usage: tests/layers.sh [ROOT] [LIBCORE]    ROOT: a source tree, default "."; LIBCORE: libcore.a,
# "" skips the part on symbols. Prints each breach as "file:line: what" and exits 1.
set -u
export LC_ALL=C
root=${1:-.}
lib=${2-}
breaches=0
breach() {
    echo "layers: $*"
    breaches=$((breaches + 1))
}

# folder: folders whose headers it may include
allowed() {
    case "$1" in
    core/base) echo "core/base" ;;
    core/model) echo "core/base core/model" ;;
    core/port) echo "core/base core/model core/port" ;;
    core/otlp) echo "core/base core/model core/otlp gen" ;;
    core/store) echo "core/base core/model core/store gen" ;;
    core/reader) echo "core/base core/model core/store core/reader" ;;
    core/jobs) echo "core/base core/model core/port core/store core/jobs" ;;
    core/writer) echo "core/base core/model core/otlp core/port core/store core/writer" ;;
    core/ingest) echo "core/base core/model core/otlp core/port core/store core/writer core/jobs core/ingest" ;;
    *) echo "" ;;
    esac
}

while IFS=: read -r file line text; do
    path=${file#"$root"/}
    folder=$(echo "$path" | cut -d/ -f1,2)
    target=$(echo "$text" | sed -n 's/^#include "\(.*\)"$/\1/p')
    target_folder=$(echo "$target" | cut -d/ -f1,2)
    case "$target" in gen/*) target_folder=gen ;; esac
    ok=
    for good in $(allowed "$folder"); do
        [ "$good" = "$target_folder" ] && ok=1
    done
    [ -n "$ok" ] || breach "$path:$line: $folder must not include \"$target\""
done < <(grep -rnE --include='*.[ch]' '^#include "' "$root/core")

# every header compiles alone is the compiler's business (make headers); here: symbols
banned='^(time|gettimeofday|clock_gettime|clock|localtime|localtime_r|mktime|strftime|getenv|secure_getenv|rand|random|srand|srandom|rand_r|drand48|getrandom|arc4random|RAND_bytes|fopen|fopen64|open|open64|openat|creat|read|write|socket|connect|system|popen|fork|sleep|usleep|nanosleep|setlocale|printf|puts|strerror)(@.*)?$'
if [ -n "$lib" ]; then
    while read -r member symbol; do
        echo "$symbol" | grep -qE "$banned" && breach "$member calls $symbol"
    done < <(nm -A -u "$lib" 2>/dev/null | sed -E 's/^[^:]*:([^:]*):? +U +/\1 /')
    while read -r member section size; do
        breach "$member has $size bytes of mutable globals in $section"
    done < <(size -A "$lib" | awk '/ex / || /:$/ { member = $1 } $1 ~ /^\.(data|bss|tdata|tbss)$/ && $2 > 0 { print member, $1, $2 }')
fi

if [ "$breaches" -gt 0 ]; then
    echo "layers: $breaches breaches; core/README.md says what may include what"
    exit 1
fi

#!/bin/bash
# Seed corpora of the fuzzers, one folder a target, from the data of the tests.
# usage: corpus.sh FOLDER      an existing folder is added to, nothing is removed
set -eu
out=$1
mkdir -p "$out/protobuf" "$out/json" "$out/scenario"
for file in tests/data/otlp/*/*.pb; do
    cp "$file" "$out/protobuf/$(basename "$(dirname "$file")")-$(basename "$file")"
done
for file in tests/data/otlp/*/[0-9]*.json; do
    cp "$file" "$out/json/$(basename "$(dirname "$file")")-$(basename "$file")"
done
cp tests/data/scenario/*.scn "$out/scenario/"
for file in scenarios/*/*.scn; do
    if [ -e "$file" ]; then
        cp "$file" "$out/scenario/$(basename "$(dirname "$file")")-$(basename "$file")"
    fi
done

#!/bin/bash
# Seed corpora of the fuzzers, one folder a target, from the data of the tests.
# usage: corpus.sh FOLDER      an existing folder is added to, nothing is removed
set -eu
out=$1
mkdir -p "$out/protobuf" "$out/json"
for file in tests/data/otlp/*/*.pb; do
    cp "$file" "$out/protobuf/$(basename "$(dirname "$file")")-$(basename "$file")"
done
for file in tests/data/otlp/*/[0-9]*.json; do
    cp "$file" "$out/json/$(basename "$(dirname "$file")")-$(basename "$file")"
done

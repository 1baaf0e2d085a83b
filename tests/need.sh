#!/usr/bin/env bash
# Says which Debian packages are missing and brings them, or stops with the command.
# Usage: tests/need.sh PACKAGE...      NO_DEPS=1: never install
set -u
missing=
for package in "$@"; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q '^install ok installed$' ||
        missing="$missing $package"
done
[ -z "$missing" ] && exit 0
if ! command -v apt-get >/dev/null; then
    echo "missing:$missing (Debian's names; this machine has no apt-get, install their like)" >&2
    exit 3
fi
command="apt-get install -y --no-install-recommends$missing"
if [ "$(id -u)" -ne 0 ] || [ -n "${NO_DEPS:-}" ]; then
    echo "missing:$missing" >&2
    echo "run as root: $command" >&2
    exit 3
fi
echo "missing:$missing; installing them ($command)" >&2
export DEBIAN_FRONTEND=noninteractive
$command >/dev/null 2>&1 || { apt-get update -q >/dev/null 2>&1 && $command >/dev/null; } || {
    echo "could not install:$missing" >&2
    exit 3
}

#!/usr/bin/env bash
# Every rule id that is cited resolves in core/CONTRACT.md, and every rule there is cited by a test or
# a scenario. Ids: R-NAME-n, A-n, S-n. A definition is a line "- **ID** ..." of the contract.
# Usage: tests/rule_ids.sh [ROOT]
set -u
export LC_ALL=C
cd "${1:-.}" || exit 1
contract=core/CONTRACT.md
ids='\b(R-[A-Z]+-[0-9]+|[AS]-[0-9]+)\b'
failed=0
defined=$(grep -oE '^- \*\*(R-[A-Z]+-[0-9]+|[AS]-[0-9]+)\*\*' "$contract" | tr -d '*' | cut -c3- | sort)
doubles=$(echo "$defined" | uniq -d)
[ -z "$doubles" ] || { echo "rule_ids: defined twice in $contract: $doubles"; failed=1; }
# text in quotes is a test's input, not a citation
while IFS=: read -r file line id; do
    if ! echo "$defined" | grep -qx -- "$id"; then
        echo "rule_ids: $file:$line: $id is not in $contract"
        failed=1
    fi
done < <(find core sim sql tests scenarios README.md -name '*.c' -o -name '*.h' -o -name '*.md' \
    -o -name '*.sql' -o -name '*.scn' -o -name '*.proto' -o -name '*.patch' | sort |
    while read -r file; do
        sed -E 's/"([^"\\]|\\.)*"//g' "$file" | grep -noE "$ids" | sed "s|^|$file:|"
    done)
# ranges such as R-PT-1..6 cite only their first id; they are prose
cited=$(grep -rhoE "$ids" tests scenarios --include='*.c' --include='*.scn' | sort -u)
for id in $defined; do
    if ! echo "$cited" | grep -qx -- "$id"; then
        echo "rule_ids: $id of $contract is cited by no test and no scenario"
        failed=1
    fi
done
exit $failed

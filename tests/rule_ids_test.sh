#!/usr/bin/env bash
# The check of rule ids must be able to fail: an unknown id, a rule without a test, a double.
set -u
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
failed=0
tree() { # contract lines, test text
    rm -rf "$tmp/t"
    mkdir -p "$tmp/t"/{core,sim,sql,tests,scenarios}
    printf '%s\n' "$1" >"$tmp/t/core/CONTRACT.md"
    printf '%s\n' "$2" >"$tmp/t/tests/test_x.c"
    : >"$tmp/t/README.md"
}
tree '- **R-PT-1** a rule' '/* R-PT-1 */'
bash tests/rule_ids.sh "$tmp/t" || { echo "rule_ids_test: a good tree was refused"; failed=1; }
tree '- **R-PT-1** a rule' '/* R-PT-1 R-PT-99 */'
bash tests/rule_ids.sh "$tmp/t" >/dev/null && { echo "rule_ids_test: unknown id not found"; failed=1; }
tree '- **R-PT-1** a rule
- **R-PT-2** another' '/* R-PT-1 */'
bash tests/rule_ids.sh "$tmp/t" >/dev/null && { echo "rule_ids_test: untested rule not found"; failed=1; }
tree '- **R-PT-1** a rule
- **R-PT-1** again' '/* R-PT-1 */'
bash tests/rule_ids.sh "$tmp/t" >/dev/null && { echo "rule_ids_test: double not found"; failed=1; }
exit $failed

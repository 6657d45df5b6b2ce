#!/usr/bin/env bash
# fuzz.sh TIME: run every fuzz target of the tree for TIME each.
set -euo pipefail
cd "$(dirname "$0")/.."
time=${1:-30s}
grep -rl --include='*_test.go' '^func Fuzz' . | sort | while read -r file; do
	grep -oE '^func Fuzz[A-Za-z0-9_]*' "$file" | cut -d' ' -f2 | while read -r target; do
		echo "fuzz: $(dirname "$file") $target"
		go test "$(dirname "$file")" -run '^$' -fuzz "^$target\$" -fuzztime "$time" -fuzzminimizetime 10x >/tmp/fuzz.$$ 2>&1 </dev/null || { cat /tmp/fuzz.$$; exit 1; }
	done
done
rm -f /tmp/fuzz.$$

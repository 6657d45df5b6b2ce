#!/usr/bin/env bash
# fuzz.sh TIME: run every fuzz target of the tree for TIME each, as the packages themselves list them; and random GPU programs, interpreted and translated, as long.
set -euo pipefail
cd "$(dirname "$0")/.."
time=${1:-30s}
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# Only packages with a target are compiled.
grep -rl --include='*_test.go' '^func Fuzz' . | xargs -n1 dirname | sort -u | while read -r pkg; do
	go test "$pkg" -list '^Fuzz' >"$log" </dev/null || { cat "$log"; exit 1; }
	mapfile -t targets < <(grep '^Fuzz' "$log")
	for target in "${targets[@]}"; do
		echo "fuzz: $pkg $target"
		go test "$pkg" -run '^$' -fuzz "^$target\$" -fuzztime "$time" -fuzzminimizetime 10x >"$log" 2>&1 </dev/null || { cat "$log"; exit 1; }
	done
done
echo "fuzz: ./simgpu/exec TestRandomPrograms"
go test ./simgpu/exec -run '^TestRandomPrograms$' -random-for "$time" -v >"$log" 2>&1 </dev/null || { cat "$log"; exit 1; }

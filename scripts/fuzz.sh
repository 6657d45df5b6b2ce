#!/usr/bin/env bash
# fuzz.sh TIME [keep] [PACKAGE...]: run every fuzz target of the tree, or of these packages, for TIME each, as the packages themselves list them; without packages
# also random GPU programs, interpreted and translated, as long.
# With keep, what was found is added to the corpus of each target (testdata/fuzz beside it), with which every run begins and which go test runs, too.
set -euo pipefail
cd "$(dirname "$0")/.."
time=${1:-30s}
shift || true
keep=
if [ "${1:-}" = keep ]; then
	keep=yes
	shift
fi
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# most is how many inputs of a target are kept, and how large they may be: go test runs them all, each time.
most=16 large=4k

# save PACKAGE TARGET: the inputs that were found last reach deepest.
save() {
	local found corpus=$1/testdata/fuzz/$2 have
	found=$(go env GOCACHE)/fuzz/$(go list "$1")/$2
	[ -d "$found" ] || return 0
	mkdir -p "$corpus"
	have=$(find "$corpus" -type f | wc -l)
	find "$found" -type f -size "-$large" -printf '%T@ %p\n' | sort -rn | cut -d' ' -f2- |
		awk -v n="$((most - have))" 'NR <= n' | xargs -r cp -t "$corpus" # head would end the pipe before it is empty, and with it this script
	rmdir --ignore-fail-on-non-empty "$corpus"
}

packages() {
	if [ $# -gt 0 ]; then
		printf '%s\n' "$@"
	else # only those with a target are compiled
		grep -rl --include='*_test.go' '^func Fuzz' . | xargs -n1 dirname | sort -u
	fi
}

packages "$@" | while read -r pkg; do
	go test "$pkg" -list '^Fuzz' >"$log" </dev/null || { cat "$log"; exit 1; }
	mapfile -t targets < <(grep '^Fuzz' "$log")
	for target in "${targets[@]}"; do
		echo "fuzz: $pkg $target"
		go test "$pkg" -run '^$' -fuzz "^$target\$" -fuzztime "$time" -fuzzminimizetime 10x >"$log" 2>&1 </dev/null || { cat "$log"; exit 1; }
		[ -z "$keep" ] || save "$pkg" "$target"
	done
done
[ $# = 0 ] || exit 0
echo "fuzz: ./simgpu/exec TestRandomPrograms"
go test ./simgpu/exec -run '^TestRandomPrograms$' -random-for "$time" -v >"$log" 2>&1 </dev/null || { cat "$log"; exit 1; }

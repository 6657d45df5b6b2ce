#!/usr/bin/env bash
# platforms.sh: what is promised for every platform holds to each, without C: the types,
# the tests' too, and go vet finds nothing. Others, FreeBSD say, are not promised. The client
# packages are compiled for each. Of each system one is compiled whole, and the programs linked:
# what differs between processors is below them, but for the simulator, which is promised for
# Linux alone.
set -euo pipefail
cd "$(dirname "$0")/.."
export GOFLAGS="${GOFLAGS-} -trimpath" # as what is given out: both use what is compiled once

everywhere=(./smi/... ./smiremote/... ./hipremote ./internal/dialing ./internal/localsmi)
programs=(./exporter/... ./cmd/smi-remote/... ./cmd/gpu-exporter)

check=$(mktemp)
trap 'rm -f "$check"' EXIT
go build -o "$check" ./internal/platforms
for p in linux/amd64 linux/arm64 windows/amd64 windows/arm64 darwin/amd64 darwin/arm64; do
	printf '%s\n' "$p"
	packages=("${everywhere[@]}" "${programs[@]}")
	compiled=()
	case $p in
	linux/arm64)
		packages+=(./simgpu/...)
		compiled=(./wire "${everywhere[@]}")
		;;
	windows/amd64 | darwin/arm64) compiled=(./wire "${everywhere[@]}" "${programs[@]}") ;;
	windows/arm64 | darwin/amd64) compiled=(./wire ./smiremote ./hipremote) ;; # what others' programs are built with
	esac
	"$check" "$p" "${packages[@]}"
	[ ${#compiled[@]} = 0 ] || CGO_ENABLED=0 GOOS=${p%/*} GOARCH=${p#*/} go build "${compiled[@]}"
done

#!/usr/bin/env bash
# platforms.sh: what is promised for every platform builds for each of them, without C,
# and go vet finds nothing. Others, FreeBSD say, are not promised. Programs that run
# anywhere are held to one other platform of each system: what differs between
# processors is below them.
set -euo pipefail
cd "$(dirname "$0")/.."
export GOFLAGS="${GOFLAGS-} -trimpath" # as what is given out: both use what is compiled once

everywhere=(./smi/... ./smiremote/... ./hipremote ./internal/dialing ./internal/localsmi)
programs=(./exporter/... ./cmd/smi-remote/... ./cmd/gpu-exporter)

for p in linux/amd64 linux/arm64 windows/amd64 windows/arm64 darwin/amd64 darwin/arm64; do
	packages=("${everywhere[@]}")
	case $p in
	windows/amd64 | darwin/arm64) packages+=("${programs[@]}") ;;
	esac
	printf '%s\n' "$p"
	export CGO_ENABLED=0 GOOS=${p%/*} GOARCH=${p#*/}
	go build ./wire "${packages[@]}"
	go vet "${packages[@]}"
	# The tests of wire are about what it does on Linux and with its sockets.
	(cd wire && go list -f '{{join .GoFiles "\n"}}' . | xargs go vet)
done

#!/usr/bin/env bash
# check_go_install.sh DIRECTORY: puts this commit into a module proxy of files in DIRECTORY, and has go install make the programs from
# there, as strangers do.
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p "$1"
to=$(cd "$1" && pwd)
version=v0.0.0-$(TZ=UTC git show -s --date=format-local:%Y%m%d%H%M%S --abbrev=12 --format=%cd-%h)
git clone -q . "$to/clone"
(cd "$to/clone" && go run scripts/modproxy.go "$to/proxy" "$version")
cd "$to"
GOPROXY="file://$to/proxy,$(go env GOPROXY)" GONOSUMDB=github.com/rocwire/rocwire GOFLAGS=-modcacherw GOMODCACHE="$to/mod" GOBIN="$to/bin" \
	go install github.com/rocwire/rocwire/cmd/{smi-remote,gpu-exporter,hip-worker,hip-session}@"$version"
for p in smi-remote gpu-exporter hip-worker hip-session; do
	[ "$(bin/$p --version)" = "$p $version" ] || {
		echo "check_go_install: $p says $(bin/$p --version), not $version" >&2
		exit 1
	}
done
ls -l bin
rm -rf "$to/mod"

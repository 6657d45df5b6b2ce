#!/bin/sh
# Prints what Go programs and libraries are linked with, for go build -ldflags: the version that they tell. It is ROCWIRE_VERSION, or what git says of the tree: a tag, commits since and
# whether anything is not committed; where there is no tag, the commit as Go's module system names it. With ROCWIRE_RELEASE nothing that depends on where the tree lies is in what is
# linked, and the go command links it anew each time.
set -eu
cd "$(dirname "$0")/.."
version=${ROCWIRE_VERSION-}
if [ -z "$version" ]; then
	version=$(git describe --tags --match 'v[0-9]*' --dirty 2>/dev/null) ||
		version=$(TZ=UTC git show -s --date=format-local:%Y%m%d%H%M%S --abbrev=12 --format=v0.0.0-%cd-%h 2>/dev/null)$(git diff --quiet HEAD 2>/dev/null || echo +dirty) ||
		version=
fi
case $version in
v*) printf '%s' "${ROCWIRE_RELEASE:+-buildid= }-X github.com/rocwire/rocwire/internal/version.stamp=$version" ;;
*) ;; # no repository: what the go command knows holds
esac

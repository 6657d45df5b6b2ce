#!/usr/bin/env bash
# chart.sh VERSION DIRECTORY: the Helm chart of that version (v1.2.3, as scripts/ldflags.sh says it) as an archive, as helm package
# makes it, but the same each time.
set -euo pipefail
version=${1#v}
out=$(mkdir -p "$2" && cd "$2" && pwd)
cd "$(dirname "$0")/../deploy/helm"
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
cp -r rocwire "$stage/"
sed -i -e "s/^version: .*/version: $version/" -e "s/^appVersion: .*/appVersion: \"$1\"/" "$stage/rocwire/Chart.yaml"
chmod -R u=rwX,go=rX "$stage/rocwire"
tar -C "$stage" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@${SOURCE_DATE_EPOCH:-0}" -c rocwire | gzip -9n >"$out/rocwire-$version.tgz"

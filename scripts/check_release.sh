#!/usr/bin/env bash
# check_release.sh: what release.sh makes is the same when it is made again elsewhere, its packages do in a clean Debian 12 what
# check_packages.sh asks of them, and go install works from a module proxy that has this commit. Needs root, debootstrap, and ten minutes.
set -euo pipefail
cd "$(dirname "$0")/.."
temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT

[ -z "$(git status --porcelain)" ] || {
	echo "check_release: commit first: what is committed is what is made again elsewhere" >&2
	exit 1
}
for n in one two; do
	git clone -q . "$temp/$n"
	"$temp/$n/scripts/release.sh" "$temp/$n.dist"
done
cmp "$temp/one.dist/SHA256SUMS" "$temp/two.dist/SHA256SUMS"
scripts/check_packages.sh "$temp/one.dist"
scripts/check_go_install.sh "$temp/go"
echo "check_release: all well"

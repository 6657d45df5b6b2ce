#!/usr/bin/env bash
# fetch_debian.sh TREE PACKAGE...
#
# Downloads packages of Debian's unstable suite and unpacks them into TREE,
# without installing anything: the programs in it run with TREE's own loader.
# What is there already is not fetched again.
#
# The mirror is DEBIAN_MIRROR, or the one that this machine's apt uses for Debian,
# or http://deb.debian.org/debian.
set -euo pipefail

if [ $# -lt 2 ]; then
	sed -n '2,8p' "$0" | sed 's/^# \{0,1\}//' >&2
	exit 2
fi
tree=$1
shift
state=$tree/.apt
mkdir -p "$state/lists/partial" "$state/cache/archives/partial" "$state/done"

missing=()
for p in "$@"; do
	[ -e "$state/done/$p" ] || missing+=("$p")
done
[ ${#missing[@]} -gt 0 ] || exit 0

mirror=${DEBIAN_MIRROR:-$(cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources 2>/dev/null |
	grep -v '^ *#' | grep -oE 'https?://[^ ]+/debian/?( |$)' | head -n 1 | tr -d ' ' || true)}
mirror=${mirror:-http://deb.debian.org/debian}

echo "deb $mirror sid main" >"$state/sources.list"
apt=(-o "Dir::Etc::sourcelist=$(realpath "$state/sources.list")" -o Dir::Etc::sourceparts=/dev/null
	-o "Dir::State=$(realpath "$state")" -o "Dir::State::lists=$(realpath "$state/lists")"
	-o Dir::State::status=/dev/null -o "Dir::Cache=$(realpath "$state/cache")"
	-o APT::Architecture=amd64 -o APT::Architectures=amd64
	-o Acquire::Check-Valid-Until=false -o APT::Sandbox::User=root -o Acquire::Languages=none)

echo "fetch_debian: reading the package list of sid" >&2
apt-get "${apt[@]}" -qq update
for p in "${missing[@]}"; do
	echo "fetch_debian: $p" >&2
	(cd "$state/cache" && apt-get "${apt[@]}" -qq download "$p")
	deb=$(find "$state/cache" -maxdepth 1 -name "${p}_*.deb" | head -n 1)
	dpkg-deb -x "$deb" "$tree"
	rm -f "$deb"
	: >"$state/done/$p"
done

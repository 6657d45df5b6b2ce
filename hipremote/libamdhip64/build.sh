#!/bin/sh
# Builds the drop-in HIP runtime library.
#
#   build.sh DIRECTORY    writes DIRECTORY/libamdhip64.so.6, and the link
#                         libamdhip64.so to it for programs that are linked with -lamdhip64
#
# The library has AMD's SONAME and symbol versions and exports nothing else: the
# linker gets both from here, because Go's c-shared mode knows neither.
set -eu
out=$1
mkdir -p "$out"
out=$(cd "$out" && pwd)
cd "$(dirname "$0")"
root=$(cd ../.. && pwd)
flags="'-Wl,--version-script=$root/hipabi/zz_libamdhip64.map' -Wl,-soname,libamdhip64.so.6 -Wl,--no-undefined-version -Wl,-z,now"
CGO_ENABLED=1 "${GO:-go}" build -trimpath -buildmode=c-shared -ldflags "-s -w -extldflags \"$flags\"" -o "$out/.libamdhip64.new" .
rm -f "$out/.libamdhip64.h"
mv "$out/.libamdhip64.new" "$out/libamdhip64.so.6"
ln -sf libamdhip64.so.6 "$out/libamdhip64.so"

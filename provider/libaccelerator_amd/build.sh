#!/bin/sh
# Builds the library that a TensorFusion hypervisor loads for AMD cards.
#
#   build.sh DIRECTORY    writes libaccelerator_amd.so into DIRECTORY
#
# It exports the functions of accelerator.h and virtualgpu.h and nothing else.
set -eu
out=$1
mkdir -p "$out"
out=$(cd "$out" && pwd)
cd "$(dirname "$0")"
here=$(pwd)

# -Bsymbolic: names as short as Snapshot are this library's own here, whatever else the
# host has loaded.
stamp=$(../../scripts/ldflags.sh)
flags="'-Wl,--version-script=$here/libaccelerator_amd.map' -Wl,-soname,libaccelerator_amd.so -Wl,-Bsymbolic -Wl,-z,now"
CGO_ENABLED=1 "${GO:-go}" build -trimpath -buildmode=c-shared -ldflags "-s -w $stamp -extldflags \"$flags\"" -o "$out/.libaccelerator_amd.new" .
rm -f "$out/.libaccelerator_amd.h"
mv "$out/.libaccelerator_amd.new" "$out/libaccelerator_amd.so"

#!/bin/sh
# Builds the drop-in libraries.
#
#   build.sh DIRECTORY    writes into DIRECTORY
#       librocwire.so       everything; exports only its tables of functions
#       libamdhip64.so.6    HIP: AMD's SONAME, symbols and versions, and nothing else
#       libamdhip64.so.7    the same as HIP 7 has it
#       libamd_smi.so.27    AMD SMI, likewise
#     and the links libamdhip64.so and libamd_smi.so to .6 and .27, for programs
#     that are linked with -lamdhip64 or -lamd_smi.
#
# The two small libraries find librocwire.so beside themselves. The linker gives each
# its name and its versions from here: Go's c-shared mode knows neither.
set -eu
out=$1
mkdir -p "$out"
out=$(cd "$out" && pwd)
cd "$(dirname "$0")"
root=$(cd .. && pwd)

flags="'-Wl,--version-script=$root/librocwire/librocwire.map' -Wl,-soname,librocwire.so -Wl,-z,now"
CGO_ENABLED=1 "${GO:-go}" build -trimpath -buildmode=c-shared -ldflags "-s -w -extldflags \"$flags\"" -o "$out/.librocwire.new" .
rm -f "$out/.librocwire.h"
mv "$out/.librocwire.new" "$out/librocwire.so"

# stub SONAME SOURCE MAP
stub() {
	# shellcheck disable=SC2016 # $ORIGIN is for the dynamic linker
	"${CC:-cc}" -shared -nostdlib -Wl,-soname,"$1" -Wl,--version-script="$3" -Wl,--no-undefined-version -Wl,-z,defs -Wl,-z,now -Wl,-z,noexecstack \
		-Wl,--enable-new-dtags,-rpath,'$ORIGIN' -s -o "$out/.$1.new" "$2" "$out/librocwire.so"
	mv "$out/.$1.new" "$out/$1"
	ln -sf "$1" "$out/${1%.so.*}.so"
}
stub libamdhip64.so.7 stubs/zz_libamdhip64_next.S "$root/hipabi/zz_libamdhip64_next.map"
stub libamdhip64.so.6 stubs/zz_libamdhip64.S "$root/hipabi/zz_libamdhip64.map"
stub libamd_smi.so.27 stubs/zz_libamd_smi.S "$root/smiabi/zz_libamd_smi.map"

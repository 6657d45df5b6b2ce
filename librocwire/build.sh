#!/bin/sh
# Builds the drop-in libraries.
#
#   build.sh DIRECTORY    writes into DIRECTORY
#       librocwire.so       everything; exports only its tables of functions
#       libamdhip64.so.6    HIP: AMD's SONAME, symbols and versions, and nothing else
#       libamdhip64.so.7    the same as HIP 7 has it
#       libamd_smi.so.27    AMD SMI, likewise
#       librocm_smi64.so.1  ROCm SMI, the older interface, in front of AMD SMI's
#       hsa/libhsa-runtime64.so.1    HSA, likewise, for AMD's own HIP and OpenCL runtimes:
#                           in a folder that only who wants it has in his search path
#     and the links libamdhip64.so and libamd_smi.so to .6 and .27, for programs
#     that are linked with -lamdhip64 or -lamd_smi.
#
# The small libraries find librocwire.so beside themselves, or one folder up. The linker gives each
# its name and its versions from here: Go's c-shared mode knows neither.
set -eu
out=$1
mkdir -p "$out"
out=$(cd "$out" && pwd)
cd "$(dirname "$0")"
root=$(cd .. && pwd)

progress=
[ ! -t 2 ] || progress=-v # the first time takes minutes
stamp=$(../scripts/ldflags.sh)
flags="'-Wl,--version-script=$root/librocwire/librocwire.map' -Wl,-soname,librocwire.so -Wl,-z,now"
CGO_ENABLED=1 "${GO:-go}" build $progress -trimpath -buildmode=c-shared -ldflags "-s -w $stamp -extldflags \"$flags\"" -o "$out/.librocwire.new" .
rm -f "$out/.librocwire.h"
mv "$out/.librocwire.new" "$out/librocwire.so"

# stub SONAME MAP SOURCE..., in $dir
dir=
stub() {
	name=$1 map=$2
	shift 2
	# shellcheck disable=SC2016 # $ORIGIN is for the dynamic linker
	"${CC:-cc}" -shared -fPIC -O2 -Wall -Wextra -Werror -I"$root/hip/include" -Wl,-soname,"$name" -Wl,--version-script="$map" \
		-Wl,--no-undefined-version -Wl,-z,defs -Wl,-z,now -Wl,-z,noexecstack -Wl,--enable-new-dtags,-rpath,'$ORIGIN:$ORIGIN/..' \
		-s -o "$out/.$name.new" "$@" stubs/lazy.c -ldl -lpthread
	mv "$out/.$name.new" "$out/$dir$name"
	ln -sf "$name" "$out/$dir${name%.so.*}.so"
}
stub libamdhip64.so.7 "$root/hipabi/zz_libamdhip64_next.map" stubs/zz_libamdhip64_next.S stubs/hip.c stubs/errors.c "$root/hipabi/zz_errors.c"
stub libamdhip64.so.6 "$root/hipabi/zz_libamdhip64.map" stubs/zz_libamdhip64.S stubs/hip.c stubs/errors.c "$root/hipabi/zz_errors.c"
stub libamd_smi.so.27 "$root/smiabi/zz_libamd_smi.map" stubs/zz_libamd_smi.S stubs/plain.c
# The older interface is C, in front of jumps to AMD SMI's functions that nobody else sees.
stub librocm_smi64.so.1 "$root/librocwire/rsmi/rsmi.map" -I"$root/smiabi/include" -Istubs -fvisibility=hidden rsmi/*.c rsmi/smi.S stubs/plain.c
dir=hsa/
mkdir -p "$out/hsa"
stub libhsa-runtime64.so.1 "$root/hsaabi/zz_libhsa_runtime64.map" stubs/zz_libhsa_runtime64.S stubs/plain.c stubs/debug.c

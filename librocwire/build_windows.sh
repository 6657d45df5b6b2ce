#!/bin/sh
# Builds the drop-in libraries for Windows, on any system with mingw-w64.
#
#   build_windows.sh DIRECTORY    writes into DIRECTORY
#       rocwire.dll        everything; exports its tables of functions, for the others
#       amdhip64_6.dll     HIP, by AMD's name and with AMD's exports
#       amdhip64_7.dll     the same as HIP 7 has it
#       amd_smi.dll        AMD SMI, likewise
#       NAME.lib, libNAME.dll.a    import libraries of those three, for MSVC (and clang,
#                          which hipcc is there) and for mingw
#
# The three small libraries open rocwire.dll, which lies beside them, when they are first called.
set -eu
out=$1
mkdir -p "$out"
out=$(cd "$out" && pwd)
cd "$(dirname "$0")"
root=$(cd .. && pwd)
tools=${MINGW-x86_64-w64-mingw32-}
temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT

GOOS=windows GOARCH=amd64 CGO_ENABLED=1 CC="${tools}gcc" "${GO:-go}" build -trimpath -buildmode=c-shared \
	-ldflags "-s -w $(../scripts/ldflags.sh) -extldflags '-static -Wl,--dynamicbase,--high-entropy-va'" -o "$temp/rocwire.dll" .
mv "$temp/rocwire.dll" "$out/"

# stub NAME SOURCE...
stub() {
	name=$1
	shift
	"${tools}gcc" -shared -static-libgcc -O2 -Wall -Wextra -Werror -Wno-cast-function-type -I"$root/hip/include" -s -Wl,--dynamicbase,--high-entropy-va \
		-Wl,--output-def,"$temp/$name.def" -Wl,--out-implib,"$out/lib$name.dll.a" -o "$temp/$name.dll" "$@" stubs/lazy_windows.c
	"${DLLTOOL:-llvm-dlltool-19}" -m i386:x86-64 -D "$name.dll" -d "$temp/$name.def" -l "$out/$name.lib"
	mv "$temp/$name.dll" "$out/"
}
stub amdhip64_7 stubs/zz_libamdhip64_next.S stubs/hip_windows.c stubs/errors.c "$root/hipabi/zz_errors.c"
stub amdhip64_6 stubs/zz_libamdhip64.S stubs/hip_windows.c stubs/errors.c "$root/hipabi/zz_errors.c"
stub amd_smi stubs/zz_libamd_smi.S stubs/smi_windows.c

#!/bin/sh
# Builds the drop-in libraries for macOS: on a Mac with Xcode's tools, or elsewhere with
# CC a compiler for it, and GOARCH.
#
#   build_darwin.sh DIRECTORY    writes into DIRECTORY
#       librocwire.dylib        everything; exports only its tables of functions
#       libamdhip64.6.dylib     HIP, with AMD's symbols and nothing else
#       libamdhip64.7.dylib     the same as HIP 7 has it
#       libamd_smi.27.dylib     AMD SMI, likewise
#     and the links libamdhip64.dylib and libamd_smi.dylib to .6 and .27.
#
# Their install names begin with @rpath: a program is linked with -Wl,-rpath,DIRECTORY.
# The three small libraries find librocwire.dylib beside themselves.
set -eu
out=$1
mkdir -p "$out"
out=$(cd "$out" && pwd)
cd "$(dirname "$0")"
root=$(cd .. && pwd)
temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT
cc=${CC:-cc}

flags='-Wl,-install_name,@rpath/librocwire.dylib -Wl,-exported_symbol,_rocwire_hip_* -Wl,-exported_symbol,_rocwire_smi_*'
GOOS=darwin CGO_ENABLED=1 CC=$cc "${GO:-go}" build -trimpath -buildmode=c-shared -ldflags "-s -w $(../scripts/ldflags.sh) -extldflags '$flags'" -o "$temp/librocwire.dylib" .
mv "$temp/librocwire.dylib" "$out/"

# stub NAME VERSION MAP SOURCE... The map is the one for ELF: its names are all there is.
stub() {
	name=$1 version=$2 map=$3
	shift 3
	file=$name.$version.dylib
	sed -n 's/^[[:space:]]*\([A-Za-z_][A-Za-z0-9_]*\);$/_\1/p' "$map" >"$temp/$file.exports"
	"$cc" -dynamiclib -O2 -Wall -Wextra -Werror -I"$root/hip/include" -Wl,-install_name,"@rpath/$file" -Wl,-compatibility_version,"$version" \
		-Wl,-current_version,"$version" -Wl,-exported_symbols_list,"$temp/$file.exports" -Wl,-x -o "$temp/$file" "$@" stubs/lazy.c
	mv "$temp/$file" "$out/"
	ln -sf "$file" "$out/$name.dylib"
}
stub libamdhip64 7 "$root/hipabi/zz_libamdhip64_next.map" stubs/zz_libamdhip64_next.S stubs/hip.c stubs/errors.c "$root/hipabi/zz_errors.c"
stub libamdhip64 6 "$root/hipabi/zz_libamdhip64.map" stubs/zz_libamdhip64.S stubs/hip.c stubs/errors.c "$root/hipabi/zz_errors.c"
stub libamd_smi 27 "$root/smiabi/zz_libamd_smi.map" stubs/zz_libamd_smi.S stubs/plain.c

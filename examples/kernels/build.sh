#!/bin/sh
# Compiles every kernel source of this folder for gfx90a, gfx942, gfx950 and gfx1100, and at -O2 for gfx1100's waves of 64 lanes.
#
#   build.sh [OUT]    writes OUT/gfx90a/*.co and so on (OUT: this folder)
#
# Needs clang-19 and lld-19, and for gfx950, which clang-19 does not know, LLVM 21's llc: an installed
# llc-21, or that of ROCWIRE_SID. CLANG names another compiler.
set -eu
out=${1:-$(dirname "$0")}
mkdir -p "$out"
out=$(cd "$out" && pwd)
cd "$(dirname "$0")"
clang=${CLANG:-clang-19}

sid=${ROCWIRE_SID:-${XDG_CACHE_HOME:-$HOME/.cache}/rocwire/sid}
if command -v llc-21 >/dev/null; then
    llc() { llc-21 "$@"; }
else
    llc() { "$sid/usr/lib64/ld-linux-x86-64.so.2" --library-path "$sid/usr/lib/x86_64-linux-gnu" "$sid/usr/lib/llvm-21/bin/llc" "$@"; }
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# compile950 SOURCE OBJECT LEVEL FLAGS...: clang makes LLVM's language as for gfx942, without what it says of the GPU.
compile950() {
    source=$1 object=$2 level=$3
    shift 3
    "$clang" -x hip --cuda-device-only --no-gpu-bundle-output --offload-arch=gfx942 \
        -nogpulib -nogpuinc -ffp-contract=off -fno-ident -fuse-cuid=none -Wall -Werror \
        -munsafe-fp-atomics -emit-llvm -S "$level" "$@" "$source.hip" -o "$work/ll"
    sed -i -E 's/"target-(cpu|features)"="[^"]*"//g' "$work/ll"
    llc "$level" -mcpu=gfx950 -filetype=obj "$work/ll" -o "$work/o"
    mkdir -p "$out/gfx950"
    ld.lld-19 -shared --no-undefined "$work/o" -o "$out/gfx950/$object.co"
    chmod 644 "$out/gfx950/$object.co"
}

# compile_for ARCH FOLDER SOURCE OBJECT LEVEL FLAGS...
compile_for() {
    arch=$1 folder=$2 source=$3 object=$4
    shift 4
    mkdir -p "$out/$folder"
    "$clang" -x hip --cuda-device-only --no-gpu-bundle-output --offload-arch="$arch" \
        -nogpulib -nogpuinc -ffp-contract=off -fno-ident -fuse-cuid=none -Wall -Werror \
        -munsafe-fp-atomics "$@" "$source.hip" -o "$out/$folder/$object.co"
    chmod 644 "$out/$folder/$object.co"
}

# compile SOURCE OBJECT LEVEL FLAGS...
compile() {
    compile950 "$@"
    for arch in gfx90a gfx942 gfx1100; do
        compile_for "$arch" "$arch" "$@"
    done
}

for file in *.hip; do
    name=${file%.hip}
    case $name in
    buffered) compile "$name" "$name" -O2 -mprintf-kind=buffered ;;
    *) compile "$name" "$name" -O2; compile_for gfx1100 gfx1100-wave64 "$name" "$name" -O2 -mwavefrontsize64 ;;
    esac
done

# The same sources as other optimisation levels write them.
for name in saxpy reduce histogram arith_float arith_int control scratch calls memory variables lanes; do
    compile "$name" "${name}_O0" -O0
done
for name in control scratch calls arith_float; do
    compile "$name" "${name}_O1" -O1
done
for name in matmul mandelbrot memory lanes random; do
    compile "$name" "${name}_O3" -O3
done

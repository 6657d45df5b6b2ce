#!/bin/sh
# Compiles every kernel source of this folder for gfx90a and gfx942.
#
#   build.sh [OUT]    writes OUT/gfx90a/*.co and OUT/gfx942/*.co (OUT: this folder)
#
# Needs clang-19 and lld-19 only. CLANG names another compiler.
set -eu
out=${1:-$(dirname "$0")}
mkdir -p "$out"
out=$(cd "$out" && pwd)
cd "$(dirname "$0")"
clang=${CLANG:-clang-19}

# compile SOURCE OBJECT FLAGS...
compile() {
    source=$1 object=$2
    shift 2
    for arch in gfx90a gfx942; do
        mkdir -p "$out/$arch"
        "$clang" -x hip --cuda-device-only --no-gpu-bundle-output --offload-arch="$arch" \
            -nogpulib -nogpuinc -ffp-contract=off -fno-ident -fuse-cuid=none -Wall -Werror \
            -munsafe-fp-atomics "$@" "$source.hip" -o "$out/$arch/$object.co"
        chmod 644 "$out/$arch/$object.co"
    done
}

for file in *.hip; do
    name=${file%.hip}
    case $name in
    buffered) compile "$name" "$name" -O2 -mprintf-kind=buffered ;;
    *) compile "$name" "$name" -O2 ;;
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

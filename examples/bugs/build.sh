#!/bin/sh
# Compiles bugs.hip for gfx90a, gfx942 and gfx1100, with lines: build.sh [OUT] writes OUT/*.co (OUT: this folder).
set -eu
out=${1:-$(dirname "$0")}
mkdir -p "$out"
out=$(cd "$out" && pwd)
cd "$(dirname "$0")"
for arch in gfx90a gfx942 gfx1100; do
    "${CLANG:-clang-19}" -x hip --cuda-device-only --no-gpu-bundle-output --offload-arch="$arch" -nogpulib -nogpuinc \
        -fno-ident -fuse-cuid=none -Wall -Wno-uninitialized -Wno-sometimes-uninitialized -Wno-conditional-uninitialized -Wno-cast-align -munsafe-fp-atomics \
        -O2 -gline-tables-only -fdebug-compilation-dir=. bugs.hip -o "$out/$arch.co"
    chmod 644 "$out/$arch.co"
done

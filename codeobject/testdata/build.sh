#!/bin/sh
# Makes the code objects of this folder again. Needs clang-19, lld-19, llvm-19
# and clang-tools-19 (clang-offload-bundler-19).
set -eu
cd "$(dirname "$0")"

# compile TARGET OBJECT FLAGS...
compile() {
    target=$1 object=$2
    shift 2
    clang-19 -x hip --cuda-device-only --no-gpu-bundle-output --offload-arch="$target" -nogpulib -nogpuinc -O2 \
        -fno-ident -fuse-cuid=none -Wno-unknown-warning-option "$@" -o "$object.co"
}

# One source, all code object versions and all settings of features.
for version in 4 5 6; do
    compile gfx90a "args_gfx90a_v$version" -mcode-object-version=$version args.hip
done
compile gfx942 args_gfx942_v5 -mcode-object-version=5 args.hip
compile gfx90a:xnack+ feature_gfx90a_xnack_on feature.hip
compile gfx90a:xnack- feature_gfx90a_xnack_off feature.hip
compile gfx90a:sramecc+:xnack- feature_gfx90a_both feature.hip
compile gfx90a feature_gfx90a feature.hip
compile gfx942 feature_gfx942 feature.hip
compile gfx9-generic feature_gfx9-generic -mcode-object-version=6 feature.hip

# Bundles: the host's empty entry first, as hipcc writes it.
bundle() {
    out=$1
    shift
    clang-offload-bundler-19 -type=o \
        -targets=host-x86_64-unknown-linux-gnu,hipv4-amdgcn-amd-amdhsa--gfx90a:xnack+,hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-,hipv4-amdgcn-amd-amdhsa--gfx942 \
        -input=/dev/null -input=feature_gfx90a_xnack_on.co -input=feature_gfx90a_xnack_off.co -input=feature_gfx942.co \
        -output="$out" "$@"
}
bundle bundle.hipfb
bundle bundle_aligned.hipfb -bundle-align=4096
bundle bundle_compressed.hipfb -compress

# Assembly: notes of their own, relocations, an undefined symbol.
assemble() {
    llvm-mc-19 -triple=amdgcn-amd-amdhsa -mcpu="$1" -filetype=obj "$2.s" -o "$2.o"
    shift
    name=$1
    shift
    ld.lld-19 -shared "$@" "$name.o" -o "$name.co"
    rm "$name.o"
}
assemble gfx90a two_notes
assemble gfx942 relocs
assemble gfx942 undefined -z undefs
llvm-mc-19 -triple=amdgcn-amd-amdhsa -mcpu=gfx942 -filetype=obj relocs.s -o relocatable.o

# The machine number of every processor that this LLVM knows.
llvm-mc-19 -triple=amdgcn-amd-amdhsa -mcpu=help /dev/null 2>&1 |
    sed -n 's/^ *\(gfx[0-9a-z-]*\) .*/\1/p' | sort -u | while read -r cpu; do
    echo | llvm-mc-19 -triple=amdgcn-amd-amdhsa -mcpu="$cpu" -filetype=obj -o machine.o - 2>/dev/null || continue
    flags=$(od -An -tx4 -j48 -N4 machine.o | tr -d ' ')
    [ "$flags" = 00000000 ] || printf '%s %s\n' "$cpu" "$flags"
done >machines.txt
rm machine.o
chmod 644 ./*.co ./*.hipfb ./*.o

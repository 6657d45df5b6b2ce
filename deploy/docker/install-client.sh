#!/bin/sh
# install-client.sh FOLDER: puts the remote libraries into a folder that a pod's
# containers share, and the list that has their programs load them first.
set -eu
to=${1:-/tensor-fusion}
from=${ROCWIRE_LIBRARIES:-/build/lib}
mkdir -p "$to"
for lib in librocwire.so libamdhip64.so.6 libamdhip64.so.7 libamd_smi.so.27 librocm_smi64.so.1; do
	# A program that starts now must find the old file or the new one, never half of it.
	cp "$from/$lib" "$to/.$lib.new"
	mv "$to/.$lib.new" "$to/$lib"
done
ln -sfn libamdhip64.so.6 "$to/libamdhip64.so"
ln -sfn libamd_smi.so.27 "$to/libamd_smi.so"
ln -sfn librocm_smi64.so.1 "$to/librocm_smi64.so"
printf '%s\n' "$to/libamdhip64.so.6" >"$to/.ld.so.preload.new"
mv "$to/.ld.so.preload.new" "$to/ld.so.preload"
echo "installed in $to: $(cd "$to" && echo lib*)"

#!/usr/bin/env bash
# as_if_amdgpu.sh COMMAND [ARGUMENT...]
#
# Runs COMMAND as if this machine's kernel had the amdgpu driver loaded: AMD's
# amd-smi looks for /sys/module/amdgpu/initstate before it asks its library
# anything, and a machine that only uses another machine's GPUs has no such file;
# rocminfo looks for /dev/kfd besides.
# Nothing on the machine is changed, and no privilege is needed.
#
# The files are shown to COMMAND alone, in a mount namespace of its own; where the
# kernel or a container allows none, the first by a small preloaded library (needs
# a C compiler). Where the driver is loaded, COMMAND is simply run.
set -eu

file=/sys/module/amdgpu/initstate
if [ $# -eq 0 ]; then
	sed -n '2,12p' "$0" | sed 's/^# \{0,1\}//' >&2
	exit 2
fi
if [ -e "$file" ]; then
	exec "$@"
fi
if [ "${AS_IF_AMDGPU:-namespace}" = namespace ] && unshare -Urm true 2>/dev/null; then
	# shellcheck disable=SC2016
	exec unshare -Urm sh -c '
		mount -t tmpfs none /sys/module && mkdir /sys/module/amdgpu && echo live >/sys/module/amdgpu/initstate || exit 125
		if ! [ -e /dev/kfd ]; then # all that is in /dev, and that
			kept=$(mktemp -d) && mount --rbind /dev "$kept" && mount -t tmpfs none /dev || exit 125
			for f in "$kept"/*; do
				to=/dev/${f##*/}
				if [ -L "$f" ]; then
					cp -P "$f" "$to"
				elif [ -d "$f" ]; then
					mkdir "$to" && mount --rbind "$f" "$to"
				else
					: >"$to" && mount --bind "$f" "$to"
				fi
			done 2>/dev/null
			umount -l "$kept" && rmdir "$kept"
			: >/dev/kfd
		fi
		exec "$@"' sh "$@"
fi

# The library is built once; the name says for which user and source.
source=$(dirname "$0")/as_if_amdgpu.c
cache=${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/rocwire
shim=$cache/as_if_amdgpu.so
if [ ! -e "$shim" ] || [ "$source" -nt "$shim" ]; then
	mkdir -p "$cache"
	"${CC:-cc}" -O1 -shared -fPIC -o "$shim.$$" "$source" -ldl
	mv "$shim.$$" "$shim"
	echo live >"$cache/initstate"
fi
export AS_IF_AMDGPU_INITSTATE="$cache/initstate"
export LD_PRELOAD="$shim${LD_PRELOAD:+:$LD_PRELOAD}"
exec "$@"

#!/usr/bin/env bash
# node.sh DIR GROUP LOGS
#
# Runs a node of Kubernetes, containerd and kubelet as DIR says it, until its own
# input ends, as it does with whoever started it, however that ends. They are in
# namespaces of processes and mounts: with these all that they started and mounted
# goes. Then their control groups, which are below GROUP, and DIR are removed.
set -euo pipefail
dir=$1 group=$2 logs=$3

# The control groups' file systems: one of version 2, or one for each controller.
mapfile -t groups < <(awk -v group="$group" '$3 == "cgroup2" && $2 == "/sys/fs/cgroup" || $3 == "cgroup" {print $2 "/" group}' /proc/mounts)

if [ "${4-}" != inside ]; then
	trap : INT TERM HUP # what is left is removed in any case
	for g in "${groups[@]}"; do
		mkdir "$g"
		if [ -e "$g/cgroup.controllers" ]; then
			sed 's/[a-z_]*/+&/g' "$g/../cgroup.controllers" >"$g/../cgroup.subtree_control"
		fi
	done
	unshare --mount --propagation private --pid --fork --kill-child --mount-proc bash "$0" "$dir" "$group" "$logs" inside || true
	find /sys/fs/cgroup -depth -type d -path "*/$group*" -exec rmdir {} +
	rm -rf --one-file-system "$dir"
	exit
fi

exec 3<&0
cat <&3 >/dev/null &
for at in /run /var/log; do
	mount -t tmpfs tmpfs "$at"
done
# A kubelet sets these. What it is to see is its own.
for name in vm/overcommit_memory vm/panic_on_oom kernel/panic kernel/panic_on_oops kernel/keys/root_maxkeys kernel/keys/root_maxbytes; do
	own=/run/${name//\//.}
	cat "/proc/sys/$name" >"$own"
	mount --bind "$own" "/proc/sys/$name"
done
ctr=(ctr --address "$dir/containerd.sock" --namespace k8s.io)
containerd --config "$dir/containerd.toml" >"$logs/containerd.log" 2>&1 &
started=$!
until "${ctr[@]}" version >/dev/null 2>&1; do
	kill -0 "$started"
	sleep 0.1
done
for image in "$dir"/images/*.tar; do
	"${ctr[@]}" images import --local --snapshotter native "$image"
done
"$dir/kubelet" --config "$dir/kubelet.json" --kubeconfig "$dir/kubeconfig" --hostname-override "$(cat "$dir/name")" --root-dir "$dir/k" --cert-dir "$dir/certificates" >"$logs/kubelet.log" 2>&1 &
wait -n # for its input or one of these to end

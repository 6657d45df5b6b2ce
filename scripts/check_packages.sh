#!/usr/bin/env bash
# check_packages.sh DIRECTORY: the .deb packages of DIRECTORY install into a clean Debian 12, a worker starts from there and runs a HIP
# program, and nothing is left when they are purged; with rpm's tools the same of the .rpm packages, if there are any. Needs root, debootstrap and,
# for those, rpm.
set -euo pipefail
cd "$(dirname "$0")/.."
packages=$(cd "$1" && pwd)
temp=$(mktemp -d)
worker=
end() {
	[ -z "$worker" ] || kill "$worker" 2>/dev/null || true
	umount "$temp/tree/proc" 2>/dev/null || true
	rm -rf --one-file-system "$temp"
}
trap end EXIT
step() { printf '\n=== %s\n' "$*"; }
fail() {
	echo "check_packages: $*" >&2
	exit 1
}

step "a clean Debian 12"
base=${XDG_CACHE_HOME:-$HOME/.cache}/rocwire/bookworm.tar
if [ ! -e "$base" ]; then
	mkdir -p "$(dirname "$base")"
	debootstrap --variant=minbase bookworm "$temp/base" "${DEBIAN_MIRROR:-http://deb.debian.org/debian}"
	rm -rf "$temp"/base/var/cache/apt/archives/*.deb
	tar -C "$temp/base" -cf "$base.new" .
	mv "$base.new" "$base"
	rm -rf "$temp/base"
fi
tree=$temp/tree
mkdir "$tree"
tar -C "$tree" -xf "$base"
mount -t proc proc "$tree/proc"
# What is in it, but for what dpkg itself keeps.
files() { (cd "$tree" && find . -xdev \( -path ./proc -o -path ./var/lib/dpkg -o -path ./var/log -o -path ./tmp -o -path ./var/cache/ldconfig \) -prune -o -print | sort); }
files >"$temp/before"

# installed: what the packages bring is there, and nothing more.
installed() {
	[ ! -e "$tree/etc/ld.so.conf.d/rocwire.conf" ] || fail "the search path of every program is changed"
	chroot "$tree" test -s /usr/lib/systemd/system/hip-worker.service
	for p in hip-worker hip-session smi-remote gpu-exporter rocwire-slurm rocwire-dra; do
		chroot "$tree" sh -c "PATH=\$PATH:/usr/lib/rocwire; $p --version"
		zcat "$tree/usr/share/man/man1/$p.1.gz" | grep -q '^\.SH DESCRIPTION' || fail "$p has no manual"
	done
	for p in hip-worker smi-remote gpu-exporter rocwire-slurm rocwire-dra; do
		chroot "$tree" bash -n "/usr/share/bash-completion/completions/$p"
	done
}

step "installed"
cp "$packages"/*.deb "$tree/tmp/"
chroot "$tree" sh -c 'dpkg -i /tmp/*.deb'
installed

# serves: a worker from the tree runs hello_hip from there.
serves() {
	step "a worker from there runs hello_hip from there"
	rm -f "$tree/tmp/port"
	"${CC:-cc}" -Ihip/include examples/hello_hip/hello_hip.c -o "$tree/tmp/hello_hip" "$tree/usr/lib/rocwire/libamdhip64.so.6" -Wl,-rpath-link,"$tree/usr/lib/rocwire" -lm
	chroot "$tree" hip-worker --config /etc/rocwire/worker.yaml --backend sim --port 0 --metrics-addr 127.0.0.1:0 --port-file /tmp/port >"$temp/log" 2>&1 &
	worker=$!
	for _ in $(seq 600); do
		[ ! -s "$tree/tmp/port" ] || break
		kill -0 "$worker" 2>/dev/null || fail "the worker ended: $(cat "$temp/log")"
		sleep 0.1
	done
	chroot "$tree" env TF_WORKER_HOST=127.0.0.1 TF_WORKER_PORT="$(cat "$tree/tmp/port")" LD_LIBRARY_PATH=/usr/lib/rocwire /tmp/hello_hip
	chroot "$tree" smi-remote --host 127.0.0.1 --port "$(cat "$tree/tmp/port")" list
	kill "$worker"
	wait "$worker" || fail "the worker did not end in order: $(cat "$temp/log")"
	worker=
}
serves

step "purged"
chroot "$tree" dpkg --purge rocwire-worker rocwire-client rocwire-exporter rocwire-dra libaccelerator-amd
files >"$temp/after"
diff "$temp/before" "$temp/after" || fail "something is left"

compgen -G "$packages/*.rpm" >/dev/null || exit 0

step "the same with RPM"
rpm=(rpm --root "$tree" --define '_dbpath /tmp/rpm')
cp "$packages"/*.rpm "$tree/tmp/"
"${rpm[@]}" --initdb
"${rpm[@]}" -i --nodeps "$tree"/tmp/*.rpm # Debian's files are of no RPM
installed
"${rpm[@]}" -V rocwire-worker rocwire-client rocwire-exporter rocwire-dra libaccelerator-amd
serves

step "erased"
"${rpm[@]}" -e rocwire-worker rocwire-client rocwire-exporter rocwire-dra libaccelerator-amd
files >"$temp/after"
diff "$temp/before" "$temp/after" || fail "something is left"

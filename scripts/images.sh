#!/usr/bin/env bash
# images.sh [NAME...]: builds the container images of deploy/docker/NAME.Dockerfile, or all of them, with buildah, and starts in each
# what it is for: a worker and an exporter that are asked, a HIP program, the folders that TensorFusion's pods take libraries from.
#
# No registry is asked: the images that they begin with are made here, with debootstrap (Debian 13 where Ubuntu 24.04 is named), this
# machine's Go, and a stand-in for AMD's ROCm, which is the remote libraries. So what is built shows that the files are right; what is given out
# is built with `docker build`, as each file says. Needs root, buildah, debootstrap and Go; the first time some ten minutes.
# Images stay in ${XDG_CACHE_HOME:-~/.cache}/rocwire/images (IMAGES_ROOT), which buildah --root reads.
set -euo pipefail
cd "$(dirname "$0")/.."
cache=${XDG_CACHE_HOME:-$HOME/.cache}/rocwire
store=${IMAGES_ROOT:-$cache/images}
mirror=${DEBIAN_MIRROR:-http://deb.debian.org/debian}
version=$(scripts/ldflags.sh)
version=${version##*=}
names=("$@")
[ ${#names[@]} -gt 0 ] || names=(worker exporter load client dra provider tensorfusion-worker)
for n in "${names[@]}"; do
	[ -e "deploy/docker/$n.Dockerfile" ] || {
		echo "images: there is no deploy/docker/$n.Dockerfile; there are: $(cd deploy/docker && echo ./*.Dockerfile | sed 's/\.\///g; s/\.Dockerfile//g')" >&2
		exit 2
	}
done

mkdir -p "$store"
exec 9>"$store/rocwire.lock"
flock 9 # two at once would take each other's file systems away
temp=$(mktemp -d)
pids=()
containers=()
b() { buildah --root "$store" --runroot "$temp/run" "$@"; }
end() {
	for p in "${pids[@]}"; do kill -- -"$p" 2>/dev/null || true; done
	for c in "${containers[@]}"; do b rm "$c" >/dev/null 2>&1 || true; done
	rm -rf --one-file-system "$temp"
}
trap end EXIT
n=0 of=$((${#names[@]} * 2 + 3))
step() { n=$((n + 1)) && printf '[%d/%d] %s  %s\n' "$n" "$of" "$(date +%T)" "$*"; }
fail() {
	echo "images: $*" >&2
	tail -n 30 "$temp"/*.log >&2 || true
	exit 1
}
# quietly COMMAND...: what it says is shown if it fails.
quietly() { "$@" >"$temp/command.log" 2>&1 || fail "${*:1:6} failed"; }
# beside LOG COMMAND...: runs it meanwhile, in a group of processes of its own, which ends with this script.
beside() {
	local log=$1
	shift
	set -m
	"$@" >"$log" 2>&1 9>&- &
	set +m
	pids+=("$!")
}
have() { b inspect --type image "$1" >/dev/null 2>&1; }

# debian NAME SUITE: an image of a minimal Debian.
debian() {
	local tar=$cache/$2.tar
	if [ ! -e "$tar" ]; then
		quietly debootstrap --variant=minbase "$2" "$temp/$2" "$mirror"
		rm -rf "$temp/$2"/var/cache/apt/archives/*.deb
		tar -C "$temp/$2" -cf "$tar.new" .
		mv "$tar.new" "$tar"
		rm -rf "${temp:?}/$2"
	fi
	local c
	c=$(b from scratch)
	b add -q "$c" "$tar" / >/dev/null
	b config --cmd bash --env PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$c"
	b commit -q --rm "$c" "$1" >/dev/null
}

step "Debian 12, and 13 for what is built on Ubuntu"
debian12=docker.io/library/debian:bookworm-slim ubuntu=docker.io/library/ubuntu:24.04 golang=docker.io/library/golang:1.26-bookworm
have "$debian12" || debian "$debian12" bookworm
case " ${names[*]} " in *" tensorfusion-worker "*) have "$ubuntu" || debian "$ubuntu" trixie ;; esac

step "Go's image"
if ! have "$golang"; then
	c=$(b from --pull-never "$debian12")
	quietly b run --isolation chroot "$c" -- sh -c 'apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends ca-certificates g++ gcc git libc6-dev make pkg-config && rm -rf /var/lib/apt/lists/*'
	quietly b add "$c" "$(go env GOROOT)" /usr/local/go
	# Behind a proxy it is as this machine is.
	b config --env GOPATH=/go --env PATH=/go/bin:/usr/local/go/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin --env GOTOOLCHAIN=local --env GOFLAGS=-trimpath \
		--env GOPROXY="$(go env GOPROXY)" --env GOSUMDB="$(go env GOSUMDB)" "$c"
	[ ! -e /etc/ssl/certs/ca-certificates.crt ] || b add -q "$c" /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt >/dev/null
	quietly b commit --rm "$c" "$golang"
fi

step "what is committed, as the folder they are built from"
git clone -q . "$temp/src"

built() { printf 'rocwire/%s:%s' "$1" "$(printf %s "${version:-dev}" | tr -c 'A-Za-z0-9._-' _)"; }
for name in "${names[@]}"; do
	step "$name: built"
	case $version in *dirty | '') ;; *) ! have "$(built "$name")" || continue ;; esac # from this commit
	more=()
	if [ "$name" = tensorfusion-worker ]; then
		# A ROCm whose libamdhip64 and libamd_smi are the remote ones, from a server on this machine.
		mkdir -p "$temp/rocm/bin" "$temp/rocm/include" "$temp/www"
		librocwire/build.sh "$temp/rocm/lib"
		tar -C "$temp/rocm" -czf "$temp/www/therock-dist-linux-gfx94X-dcgpu-7.10.0.tar.gz" bin include lib
		go build -o "$temp/serve" scripts/serve.go
		beside "$temp/served" "$temp/serve" "$temp/www"
		while [ ! -s "$temp/served" ]; do kill -0 "${pids[-1]}" && sleep 0.1; done
		more=(--build-arg "ROCM_URL=$(cat "$temp/served")")
	fi
	# What was compiled and fetched before is used again.
	quietly b bud --isolation chroot --pull-never --layers=false -v "$(go env GOMODCACHE):/go/pkg/mod" -v "$(go env GOCACHE):/root/.cache/go-build" \
		--build-arg "ROCWIRE_VERSION=$version" "${more[@]}" -t "$(built "$name")" -f "$temp/src/deploy/docker/$name.Dockerfile" "$temp/src"
	b images --noheading --format '{{.Name}}:{{.Tag}}' | grep "/rocwire/$name:" | grep -vxF "localhost/$(built "$name")" | while read -r old; do b rmi "$old" >/dev/null; done || true
done

# of NAME: a container of the image, which is in $c.
of() {
	c=$(b from --pull-never "$(built "$1")")
	containers+=("$c")
}
# entry: what the container's image starts, a word a line.
entry() { b inspect --type container --format '{{range .OCIv1.Config.Entrypoint}}{{println .}}{{end}}' "$c" | sed '/^$/d'; }
run() { b run --isolation chroot "$@"; }
# serving NAME FILE: until the program of the container has written its port to FILE in $temp/shared.
serving() {
	for _ in $(seq 600); do
		[ ! -s "$temp/shared/$2" ] || return 0
		kill -0 "${pids[-1]}" 2>/dev/null || fail "$1 ended"
		sleep 0.1
	done
	fail "$1 has no port"
}
mkdir "$temp/shared"
chmod 777 "$temp/shared"
shared=(-v "$temp/shared:/shared")

# worker ENTRY...: the worker of the container $c, without a card and for this machine alone; its port goes to $port.
worker() {
	rm -f "$temp/shared/port"
	beside "$temp/worker.log" run "${shared[@]}" "$c" -- "$@" --port 0 --port-file /shared/port --metrics-addr 127.0.0.1:0
	serving "the worker" port
	port=$(cat "$temp/shared/port")
}
hello=(env LD_LIBRARY_PATH=/build/lib TF_WORKER_HOST=127.0.0.1)

for name in "${names[@]}"; do
	step "$name: started"
	of "$name"
	mapfile -t entry < <(entry)
	case $name in
	worker)
		worker "${entry[@]/0.0.0.0/127.0.0.1}" --backend sim
		run "$c" -- smi-remote --host 127.0.0.1 --port "$port" list
		sim=$port
		;;
	exporter)
		[ -n "${sim-}" ] || fail "the exporter needs a worker: images.sh worker exporter"
		beside "$temp/exporter.log" run "$c" -- "${entry[@]}" --listen 127.0.0.1:0 --worker "127.0.0.1:$sim" --host here
		for _ in $(seq 600); do
			url=$(grep -oE 'http://127[^ ]*' "$temp/exporter.log" | head -n 1 || true)
			[ -z "$url" ] || break
			kill -0 "${pids[-1]}" 2>/dev/null || fail "the exporter ended"
			sleep 0.1
		done
		for _ in $(seq 600); do
			if curl -fsS "${url%/metrics}/metrics" >"$temp/metrics" 2>"$temp/curl.log" && grep '^gpu_info' "$temp/metrics"; then break; fi
			sleep 0.1
		done
		grep -q '^gpu_info' "$temp/metrics" || fail "the exporter tells of no card"
		;;
	load)
		[ -n "${sim-}" ] || fail "the program needs a worker: images.sh worker load"
		run "$c" -- "${hello[@]}" TF_WORKER_PORT="$sim" /build/examples/hello_hip
		;;
	client)
		run "${shared[@]}" "$c" -- "${entry[@]}" /shared/tensor-fusion
		[ "$(cat "$temp/shared/tensor-fusion/ld.so.preload")" = /shared/tensor-fusion/libamdhip64.so.6 ] || fail "no list of what is loaded first"
		;;
	dra)
		run "$c" -- "${entry[@]}" --version
		run "${shared[@]}" "$c" -- /install-client.sh /shared/dra
		;;
	provider)
		mkdir "$temp/shared/provider"
		run -v "$temp/shared/provider:/run/tensor-fusion" "$c" -- sh -c "$(b inspect --type container --format '{{index .OCIv1.Config.Cmd 2}}' "$c")"
		ls "$temp/shared/provider/lib/libaccelerator_amd.so" "$temp/shared/provider/metadata.yaml"
		;;
	tensorfusion-worker)
		# Its own settings want a cluster's keys and tokens. A session's boundary keeps the stand-in from asking the other worker: it starts.
		[ -n "${sim-}" ] || fail "its stand-in for ROCm needs a worker: images.sh worker tensorfusion-worker"
		worker env ROCWIRE_WORKER_CONFIG= TF_WORKER_HOST=127.0.0.1 TF_WORKER_PORT="$sim" "${entry[0]}" --listen 127.0.0.1 --backend rocm
		grep listening "$temp/worker.log"
		;;
	esac
done
echo "images: all well, in $store"
b images --filter reference=rocwire --format '{{.Name}}:{{.Tag}}  {{.Size}}' || true

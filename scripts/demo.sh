#!/usr/bin/env bash
# demo.sh: the main job on the simulated GPU. A worker with one simulated card, a
# C program on the remote libamdhip64.so.6, and what the worker's telemetry says
# of it. Uses what `make build` made; leaves nothing behind.
set -euo pipefail
cd "$(dirname "$0")/.."

dir=$(mktemp -d)
pids=()
cleanup() {
	for p in "${pids[@]}"; do kill "$p" 2>/dev/null || true; done
	wait 2>/dev/null || true
	rm -rf "$dir"
}
trap cleanup EXIT
fail() {
	echo "demo: $*" >&2
	[ ! -s "$dir/worker.log" ] || tail -n 20 "$dir/worker.log" >&2
	exit 1
}
title() { printf '\n\033[1m%s\033[0m\n' "$*"; }
run() { printf '$ %s\n' "$*"; "$@"; }

# wait_for WHAT COMMAND...: until the command succeeds, 20 s at most.
wait_for() {
	local what=$1
	shift
	for _ in $(seq 200); do
		if "$@" 2>/dev/null; then return; fi
		sleep 0.1
	done
	fail "$what did not happen within 20 s"
}
port_of() { sed -n "s/.*$1\\([0-9][0-9]*\\).*/\\1/p" "$dir/worker.out" | head -n 1; }

title "A worker with one simulated MI300X (gfx942), on free loopback ports"
printf '$ hip-worker --backend sim --sim-arch gfx942 --port 0 --metrics-addr 127.0.0.1:0 &\n'
bin/hip-worker --backend sim --sim-arch gfx942 --port 0 --metrics-addr 127.0.0.1:0 >"$dir/worker.out" 2>"$dir/worker.log" &
pids+=($!)
wait_for "the worker's start" grep -q listening "$dir/worker.out"
cat "$dir/worker.out"
export TF_WORKER_HOST=127.0.0.1
TF_WORKER_PORT=$(port_of "hip-worker listening.* port ")
metrics=$(port_of "metrics at .*:")
export TF_WORKER_PORT
if [ -z "$TF_WORKER_PORT" ] || [ -z "$metrics" ]; then
	fail "the worker did not say where it listens"
fi

title "A C program, built by gcc, runs its kernel there"
run build/examples/hello_hip || fail "hello_hip failed"

title "What the worker tells while a longer kernel runs"
printf '$ hello_hip --spin 6 &\n'
build/examples/hello_hip --spin 6 >"$dir/spin.out" 2>&1 &
pids+=($!)
busy() { bin/smi-remote processes --json | grep -q hello_hip; }
wait_for "the program's appearance among the processes" busy
sleep 1.5
run bin/smi-remote list
run bin/smi-remote metrics
run bin/smi-remote processes

title "Call latency, from the worker's /metrics"
calls='hip_rpc_duration_seconds_(count|sum).*"hip(Memcpy|ModuleLaunchKernel|DeviceSynchronize)"'
printf '$ curl -s http://127.0.0.1:%s/metrics | grep -E '"'%s'"'\n' "$metrics" "$calls"
# What the client's side of calls took, it tells with a later one or when it ends.
latency() {
	exec 3<>"/dev/tcp/127.0.0.1/$metrics"
	printf 'GET /metrics HTTP/1.0\r\nHost: localhost\r\n\r\n' >&3
	cat <&3 >"$dir/metrics"
	exec 3>&-
	[ "$(grep -cE "^$calls" "$dir/metrics")" = 12 ] # count and sum of three calls on two sides
}
wait_for "the latency of calls in /metrics" latency
grep -E "^$calls" "$dir/metrics"
wait "${pids[1]}" || { cat "$dir/spin.out"; fail "hello_hip --spin failed"; }
title "Done."

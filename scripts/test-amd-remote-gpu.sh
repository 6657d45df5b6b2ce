#!/usr/bin/env bash
# test-amd-remote-gpu.sh [OPTIONS]
#
# Tries remote AMD GPUs under TensorFusion, in the cluster that kubectl speaks with: what
# test-amd-cluster.sh tries, and a program in a pod without a GPU that uses one of the
# pool's through a worker.
#
#   --namespace NAME   of TensorFusion (tensor-fusion-sys)
#   --pool NAME        of remote GPUs (amd-remote)
#   --image IMAGE      of a HIP program that ends with exit code 0 (rocwire/load:dev)
#   --timeout SECONDS  for each step (300)
#   --keep             leave the test's pod there
#
# Exit codes: 0 all is well, 1 something is not, 2 wrong usage.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=scripts/cluster_steps.sh
. "$here/cluster_steps.sh"

pool=amd-remote image=rocwire/load:dev
options "namespace pool image timeout" "$@"
common_steps "$pool"
run_program "$pool" false "$image"
step "a worker served it"
workers=$(get pods -n "$namespace" -l tensor-fusion.ai/component=worker -o name)
[ -n "$workers" ] || workers=$(get pods -A -l tensor-fusion.ai/component=worker -o name)
[ -n "$workers" ] || fail "there is no worker's pod"
ok "$(count "$workers") workers"
finished

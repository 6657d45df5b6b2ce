#!/usr/bin/env bash
# test-amd-cluster.sh [OPTIONS]
#
# Tries a TensorFusion installation with AMD GPUs, in the cluster that kubectl speaks with:
# nodes and their label, the operator, provider and pool, hypervisors, GPUs with their
# figures, and a program on a GPU of its own node.
#
#   --namespace NAME   of TensorFusion (tensor-fusion-sys)
#   --pool NAME        of GPUs on their own node (amd-shared)
#   --image IMAGE      of a HIP program that ends with exit code 0 (rocwire/load:dev)
#   --timeout SECONDS  for each step (300)
#   --install CHART    first install or upgrade the chart with our values (needs helm)
#   --keep             leave the test's pod there
#
# Exit codes: 0 all is well, 1 something is not, 2 wrong usage.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=scripts/cluster_steps.sh
. "$here/cluster_steps.sh"

pool=amd-shared image=rocwire/load:dev install=''
options "namespace pool image timeout install" "$@"
if [ -n "$install" ]; then
	step "the chart is installed"
	command -v helm >/dev/null || fail "helm is needed for --install"
	helm upgrade --install "$namespace" "$install" -n "$namespace" --create-namespace -f "$here/../deploy/tensorfusion/values-amd.yaml" --wait --timeout "${timeout}s" >&2 || fail "helm did not install $install"
	kubectl apply -f "$here/../deploy/tensorfusion/providerconfig.yaml" -f "$here/../deploy/tensorfusion/cluster.yaml" >&2 || fail "our resources are not taken"
	ok
fi
common_steps "$pool"
run_program "$pool" true "$image"
finished

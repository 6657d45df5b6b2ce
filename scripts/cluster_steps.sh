#!/usr/bin/env bash
# What the tests of a cluster share; they read it in.

# shellcheck disable=SC2034 # of who reads this in
namespace=tensor-fusion-sys timeout=300 keep=''
program="$(basename "$0" .sh)" what='' pod=''

die() {
	echo "$program: $1" >&2
	exit "${2:-1}"
}
wrong() { die "$1 (see --help)" 2; }
step() { what=$1; }
ok() { printf 'ok    %s%s\n' "$what" "${1:+: $1}"; }
fail() {
	printf 'FAIL  %s\n' "$what"
	die "$1"
}
count() { printf '%s' "$1" | grep -c . || true; }

# get asks kubectl; it says nothing where there is nothing.
get() { kubectl get --ignore-not-found "$@" || fail "kubectl get $* failed"; }

# options NAMES ARGUMENTS...: sets the variables that options with a value are named
# after. The help is the comment at the script's begin.
options() {
	local names=" $1 "
	shift
	while [ $# -gt 0 ]; do
		case $1 in
		-h | --help)
			sed -n '2,/^# Exit codes/s/^# \{0,1\}//p' "$0"
			exit 0
			;;
		--keep) keep=1 ;;
		*)
			[[ $1 == --* && $names == *" ${1#--} "* ]] || wrong "unknown option $1"
			[ $# -ge 2 ] || wrong "$1 needs a value"
			printf -v "${1#--}" '%s' "$2"
			shift
			;;
		esac
		shift
	done
	[[ $timeout =~ ^[1-9][0-9]*$ ]] || wrong "--timeout $timeout is no number of seconds"
	command -v kubectl >/dev/null || die "kubectl is needed"
}

# waits_for WHAT COMMAND...: runs it until it says something.
waits_for() {
	local end=$((SECONDS + timeout)) said
	local for=$1
	shift
	until said=$("$@") && [ -n "$said" ]; do
		[ $SECONDS -lt $end ] || fail "$for did not appear within $timeout s"
		sleep "${ROCWIRE_TEST_PAUSE:-5}"
	done
	printf '%s' "$said"
}

ready_pool() { case $(get gpupool "$1" -o "jsonpath={.status.phase}") in Running | Ready) echo yes ;; esac; }
amd_gpus() { get gpus -o 'jsonpath={range .items[?(@.status.vendor=="AMD")]}{.metadata.name}{"\n"}{end}'; }

# common_steps POOL: everything up to the first program.
common_steps() {
	step "the cluster answers"
	kubectl version >/dev/null || fail "kubectl reaches no cluster"
	ok
	step "nodes carry amdgpu.com/gpu.present=true"
	local nodes
	nodes=$(get nodes -l amdgpu.com/gpu.present=true -o name)
	[ -n "$nodes" ] || fail "no node does: kubectl label node NAME amdgpu.com/gpu.present=true"
	ok "$(count "$nodes")"
	step "the operator runs"
	kubectl wait --for=condition=ready pod -l tensor-fusion.ai/component=operator -n "$namespace" --timeout="${timeout}s" >/dev/null || fail "its pod is not ready in namespace $namespace"
	ok
	step "there is a ProviderConfig for AMD"
	[ -n "$(get providerconfigs -o 'jsonpath={.items[?(@.spec.vendor=="AMD")].metadata.name}')" ] || fail "apply deploy/tensorfusion/providerconfig.yaml"
	ok
	step "pool $1 runs"
	waits_for "a running pool $1" ready_pool "$1" >/dev/null
	ok
	step "the hypervisors run"
	kubectl wait --for=condition=ready pod -l tensor-fusion.ai/component=hypervisor -A --timeout="${timeout}s" >/dev/null || fail "kubectl logs -l tensor-fusion.ai/component=hypervisor -A says why"
	ok
	step "AMD GPUs were found"
	local gpus
	gpus=$(waits_for "a GPU of AMD" amd_gpus)
	ok "$(count "$gpus")"
}

# run_program POOL LOCAL IMAGE: a pod that uses a GPU, until it ends.
run_program() {
	step "a program runs on a GPU of $1"
	pod=rocwire-test-$$
	[ -n "$keep" ] || trap 'kubectl delete pod "$pod" --ignore-not-found --wait=false >/dev/null' EXIT
	kubectl apply -f - >/dev/null <<-POD || fail "the pod is not taken"
		apiVersion: v1
		kind: Pod
		metadata:
		  name: $pod
		  labels: {tensor-fusion.ai/enabled: "true"}
		  annotations:
		    tensor-fusion.ai/vendor: AMD
		    tensor-fusion.ai/gpupool: $1
		    tensor-fusion.ai/isolation: shared
		    tensor-fusion.ai/is-local-gpu: "$2"
		    tensor-fusion.ai/inject-container: program
		    tensor-fusion.ai/tflops-request: "10"
		    tensor-fusion.ai/tflops-limit: "100"
		    tensor-fusion.ai/vram-request: 1Gi
		    tensor-fusion.ai/vram-limit: 4Gi
		spec:
		  restartPolicy: Never
		  containers:
		    - name: program
		      image: "$3"
		      command: [/build/examples/hello_hip]
		      env:
		        - {name: TF_WORKER_TLS_CA, value: /etc/rocwire/ca/ca.crt}
		        - {name: TF_WORKER_TLS_SERVER_NAME, value: tensorfusion-worker}
		        - {name: TF_WORKER_TOKEN_FILE, value: /etc/rocwire/token/token}
		      volumeMounts:
		        - {name: rocwire-ca, mountPath: /etc/rocwire/ca, readOnly: true}
		        - {name: rocwire-token, mountPath: /etc/rocwire/token, readOnly: true}
		  volumes:
		    - {name: rocwire-ca, configMap: {name: rocwire-ca}}
		    - name: rocwire-token
		      projected:
		        defaultMode: 0444
		        sources:
		          - serviceAccountToken: {audience: rocwire, expirationSeconds: 3600, path: token}
	POD
	local phase
	phase=$(waits_for "the end of pod $pod" ended "$pod")
	if [ "$phase" != Succeeded ]; then
		kubectl logs "$pod" -c program --tail=20 >&2 || true
		fail "the program failed"
	fi
	ok "$(kubectl logs "$pod" -c program --tail=1)"
}

ended() {
	case $(get pod "$1" -o 'jsonpath={.status.phase}') in
	Succeeded) echo Succeeded ;;
	Failed) echo Failed ;;
	esac
}

finished() { echo "all is well"; }

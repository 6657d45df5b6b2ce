package deploy

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// kubectl is a stand-in: it notes what it is asked and applies, and answers from the
// environment what a test wants a cluster to be like.
const kubectl = `#!/bin/sh
echo "$*" >>"$STATE/asked"
case "$*" in
version*) [ -z "$NO_CLUSTER" ] || exit 1 ;;
"get"*" nodes "*) [ -n "$NO_LABEL" ] || echo node/a ;;
"get"*providerconfigs*) [ -n "$NO_PROVIDER" ] || printf amd-provider ;;
"get"*gpupool*) # runs when it is asked for the second time
	[ -e "$STATE/pool" ] && printf Running
	: >"$STATE/pool" ;;
"get"*gpus*) [ -n "$NO_GPUS" ] || printf 'gpu-1\ngpu-2\n' ;;
"get"*" pod "*) printf %s "${PHASE-Succeeded}" ;;
"get"*" pods "*) [ -n "$NO_WORKER" ] || echo pod/worker ;;
wait*operator*) [ -z "$NO_OPERATOR" ] || exit 1 ;;
wait*) ;;
"apply -f -"*) cat >"$STATE/pod.yaml" ;;
logs*) echo PASSED ;;
esac
`

func TestClusterScripts(t *testing.T) {
	for _, script := range []string{"test-amd-cluster.sh", "test-amd-remote-gpu.sh"} {
		remote := strings.Contains(script, "remote")
		for name, c := range map[string]struct {
			env, args []string
			code      int
			says      string
		}{
			"all is well":      {nil, nil, 0, "all is well"},
			"another pool":     {nil, []string{"--pool", "mine", "--image", "me/x:1", "--keep"}, 0, "pool mine runs"},
			"no cluster":       {[]string{"NO_CLUSTER=1"}, nil, 1, "FAIL  the cluster answers"},
			"no label":         {[]string{"NO_LABEL=1"}, nil, 1, "kubectl label node"},
			"no operator":      {[]string{"NO_OPERATOR=1"}, nil, 1, "FAIL  the operator runs"},
			"no provider":      {[]string{"NO_PROVIDER=1"}, nil, 1, "providerconfig.yaml"},
			"no GPUs":          {[]string{"NO_GPUS=1"}, []string{"--timeout", "1"}, 1, "did not appear within 1 s"},
			"program fails":    {[]string{"PHASE=Failed"}, nil, 1, "the program failed"},
			"program hangs":    {[]string{"PHASE=Running"}, []string{"--timeout", "1"}, 1, "did not appear"},
			"unknown option":   {nil, []string{"--nonsense"}, 2, "--help"},
			"option's value":   {nil, []string{"--pool"}, 2, "--help"},
			"no timeout":       {nil, []string{"--timeout", "soon"}, 2, "no number"},
			"the help":         {nil, []string{"--help"}, 0, "Exit codes"},
			"no worker's pods": {[]string{"NO_WORKER=1"}, nil, map[bool]int{true: 1}[remote], map[bool]string{true: "no worker's pod", false: "all is well"}[remote]},
		} {
			t.Run(script+"/"+name, func(t *testing.T) {
				state := t.TempDir()
				if err := os.WriteFile(filepath.Join(state, "kubectl"), []byte(kubectl), 0o755); err != nil {
					t.Fatal(err)
				}
				env := append([]string{"STATE=" + state, "PATH=" + state + ":" + os.Getenv("PATH"), "ROCWIRE_TEST_PAUSE=0.01"}, c.env...)
				code, out := run(t, env, "../scripts/"+script, c.args...)
				if code != c.code || !strings.Contains(out, c.says) {
					t.Fatalf("exit %d:\n%s", code, out)
				}
				if code != 0 || name == "the help" {
					return
				}
				pod, err := os.ReadFile(filepath.Join(state, "pod.yaml"))
				if err != nil {
					t.Fatal(err)
				}
				local, pool := `is-local-gpu: "true"`, "gpupool: amd-shared"
				if remote {
					local, pool = `is-local-gpu: "false"`, "gpupool: amd-remote"
				}
				if name == "another pool" {
					pool = "gpupool: mine"
				}
				if !strings.HasPrefix(string(pod), "apiVersion: v1\n") || !strings.Contains(string(pod), local) || !strings.Contains(string(pod), pool) {
					t.Errorf("the pod:\n%s", pod)
				}
				asked, err := os.ReadFile(filepath.Join(state, "asked"))
				if err != nil {
					t.Fatal(err)
				}
				if deleted := strings.Contains(string(asked), "delete pod rocwire-test-"); deleted == (name == "another pool") {
					t.Errorf("the pod was deleted: %v", deleted)
				}
			})
		}
	}
}

// TestInstallChart: the chart comes with our values, and our resources after it.
func TestInstallChart(t *testing.T) {
	state := t.TempDir()
	for name, script := range map[string]string{"kubectl": kubectl, "helm": "#!/bin/sh\necho \"helm $*\" >>\"$STATE/asked\"\nexit ${HELM_EXIT-0}\n"} {
		if err := os.WriteFile(filepath.Join(state, name), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	env := []string{"STATE=" + state, "PATH=" + state + ":" + os.Getenv("PATH"), "ROCWIRE_TEST_PAUSE=0.01"}
	if code, out := run(t, env, "../scripts/test-amd-cluster.sh", "--install", "tensor-fusion/tensor-fusion"); code != 0 {
		t.Fatalf("exit %d:\n%s", code, out)
	}
	b, err := os.ReadFile(filepath.Join(state, "asked"))
	if err != nil {
		t.Fatal(err)
	}
	asked := string(b)
	chart, ours := strings.Index(asked, "helm upgrade --install tensor-fusion-sys tensor-fusion/tensor-fusion -n tensor-fusion-sys"), strings.Index(asked, "apply -f ")
	if chart < 0 || ours < chart || !strings.Contains(asked, "values-amd.yaml") || !strings.Contains(asked, "providerconfig.yaml") {
		t.Errorf("%s", asked)
	}
	if code, out := run(t, append(env, "HELM_EXIT=1"), "../scripts/test-amd-cluster.sh", "--install", "x"); code != 1 || !strings.Contains(out, "helm did not install x") {
		t.Errorf("exit %d:\n%s", code, out)
	}
}

// TestInstallClient: what the client's init container leaves is a folder that programs
// load from, and installing again changes nothing but the files.
func TestInstallClient(t *testing.T) {
	from, to := t.TempDir(), filepath.Join(t.TempDir(), "tensor-fusion")
	for _, lib := range []string{"librocwire.so", "libamdhip64.so.6", "libamdhip64.so.7", "libamd_smi.so.27", "librocm_smi64.so.1"} {
		if err := os.WriteFile(filepath.Join(from, lib), []byte(lib), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		if code, out := run(t, []string{"ROCWIRE_LIBRARIES=" + from}, "docker/install-client.sh", to); code != 0 || !strings.Contains(out, "librocwire.so") {
			t.Fatalf("exit %d: %s", code, out)
		}
		if got := left(t, to); got != "ld.so.preload libamd_smi.so libamd_smi.so.27 libamdhip64.so libamdhip64.so.6 libamdhip64.so.7 librocm_smi64.so librocm_smi64.so.1 librocwire.so" {
			t.Errorf("%q", got)
		}
		if b, err := os.ReadFile(filepath.Join(to, "ld.so.preload")); err != nil || string(b) != to+"/libamdhip64.so.6\n" {
			t.Errorf("%q, %v", b, err)
		}
		if b, err := os.ReadFile(filepath.Join(to, "libamdhip64.so")); err != nil || string(b) != "libamdhip64.so.6" {
			t.Errorf("%q, %v", b, err)
		}
	}
	if code, _ := run(t, []string{"ROCWIRE_LIBRARIES=" + t.TempDir()}, "docker/install-client.sh", filepath.Join(t.TempDir(), "x")); code == 0 {
		t.Error("installed nothing without an error")
	}
}

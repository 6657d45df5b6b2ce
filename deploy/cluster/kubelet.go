package cluster

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
)

// KubeletOptions are what a node is to have.
type KubeletOptions struct {
	// Address is the node's, and its name: one of loopback, of its own.
	Address string
	// Images are archives that Image made, of what pods of the node may run. None can be pulled.
	Images []string
}

// Kubelet is a node that runs until the test ends.
type Kubelet struct {
	// Name is the node's.
	Name string
	// Root is the kubelet's folder, which is /var/lib/kubelet elsewhere.
	Root string
	// CDI is the folder where the container runtime looks for CDI files.
	CDI string
}

//go:embed node.sh
var nodeScript []byte

// Kubelet starts a node: a real kubelet and containerd with runc, in namespaces of mounts and processes and control groups of their own. Pods have the network of
// this machine, hostNetwork, or none. What is left of the node is removed when the test ends, also when it is killed. The test is skipped where there is
// something missing.
func (c *Cluster) Kubelet(t testing.TB, o KubeletOptions) *Kubelet {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("needs root: containers are made of mounts")
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	cache, err := os.UserCacheDir()
	must(err)
	programs := filepath.Join(cmp.Or(os.Getenv("ROCWIRE_SID"), filepath.Join(cache, "rocwire", "sid")), "usr", "bin") // of Debian's packages
	if _, err := os.Stat(filepath.Join(programs, "containerd")); err != nil {
		t.Skip("needs containerd of Debian's sid (scripts/fetch_debian.sh $ROCWIRE_SID containerd)")
	}
	runc, err := exec.LookPath("runc")
	if err != nil {
		t.Skip("needs runc (apt-get install runc)")
	}
	program, err := Build(t.Context(), kubelet, os.Stderr)
	must(err)

	dir, err := os.MkdirTemp("", "node-") // paths of sockets are short
	must(err)
	in := func(name string) string { return filepath.Join(dir, name) }
	k := &Kubelet{Name: o.Address, Root: in("k"), CDI: in("cdi")}
	for _, name := range []string{"bin", "cdi", "cni", "images", "k"} {
		must(os.Mkdir(in(name), 0o755))
	}
	for _, name := range []string{"containerd", "containerd-shim-runc-v2", "ctr"} { // other programs that may lie there are for another C library
		must(os.Symlink(filepath.Join(programs, name), in("bin/"+name)))
	}
	must(os.Symlink(program, in("kubelet")))
	must(os.WriteFile(in("name"), []byte(o.Address), 0o600))
	must(os.WriteFile(in("node.sh"), nodeScript, 0o600))
	for i, image := range append(o.Images, pause(t)) {
		must(os.Symlink(image, in(fmt.Sprintf("images/%d.tar", i))))
	}
	config, err := os.ReadFile(c.KubeconfigFor(t, "system:node:"+o.Address, "system:nodes"))
	must(err)
	must(os.WriteFile(in("kubeconfig"), config, 0o600))
	c.ca.write(t, in("ca"))
	sign(t, c.ca, o.Address, nil, net.ParseIP(o.Address)).write(t, in("server"))

	// Nothing is done for networks of pods, which the runtime has to be told.
	must(os.WriteFile(in("cni/none.conflist"), []byte(`{"cniVersion": "1.0.0", "name": "none", "plugins": [{"type": "loopback"}]}`), 0o600))
	must(os.WriteFile(in("containerd.toml"), fmt.Appendf(nil, `version = 3
root = '%[1]s/containerd'
state = '/run/containerd'
disabled_plugins = ['io.containerd.nri.v1.nri']
[grpc]
address = '%[1]s/containerd.sock'
[plugins.'io.containerd.internal.v1.opt']
path = '%[1]s/opt'
[plugins.'io.containerd.cri.v1.images']
snapshotter = 'native'
pinned_images = {sandbox = '%[2]s'}
[plugins.'io.containerd.cri.v1.runtime']
cdi_spec_dirs = ['%[1]s/cdi']
restrict_oom_score_adj = true # root may not have CAP_SYS_RESOURCE
cni = {conf_dir = '%[1]s/cni', bin_dirs = ['%[1]s/cni']}
[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc]
runtime_type = 'io.containerd.runc.v2'
options = {BinaryName = '%[3]s'}
`, dir, pauseImage, runc), 0o600))

	_, port, err := net.SplitHostPort(Address(t))
	must(err)
	number, err := strconv.Atoi(port)
	must(err)
	group := filepath.Base(dir)
	settings, err := json.Marshal(map[string]any{
		"apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration",
		"address": o.Address, "port": number, "healthzPort": 0,
		"tlsCertFile": in("server.crt"), "tlsPrivateKeyFile": in("server.key"),
		"authentication":           map[string]any{"anonymous": map[string]any{"enabled": false}, "webhook": map[string]any{"enabled": false}, "x509": map[string]any{"clientCAFile": in("ca.crt")}},
		"authorization":            map[string]any{"mode": "AlwaysAllow"}, // of whom that authority knows
		"containerRuntimeEndpoint": "unix://" + in("containerd.sock"),
		"cgroupDriver":             "cgroupfs", "cgroupRoot": "/" + group, "failCgroupV1": false, "enforceNodeAllocatable": []string{},
		"failSwapOn": false, "makeIPTablesUtilChains": false, "resolvConf": "", "volumePluginDir": in("volumes"),
		// How full this machine is is nobody's business.
		"evictionHard": map[string]any{"memory.available": "0%", "nodefs.available": "0%", "nodefs.inodesFree": "0%", "imagefs.available": "0%"}, "imageGCHighThresholdPercent": 100,
	})
	must(err)
	must(os.WriteFile(in("kubelet.json"), settings, 0o600))

	logs := t.TempDir()
	log, err := os.Create(filepath.Join(logs, "node.log"))
	must(err)
	defer log.Close()
	cmd := exec.Command("bash", in("node.sh"), dir, group, logs)
	cmd.Env = append(os.Environ(), "PATH="+in("bin")+":"+os.Getenv("PATH"))
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // whoever ends the test ends it by its input
	end, err := cmd.StdinPipe()
	must(err)
	must(cmd.Start())
	done := make(chan struct{})
	var failed error
	go func() {
		failed = cmd.Wait()
		close(done)
	}()
	t.Cleanup(sync.OnceFunc(func() {
		select {
		case <-done:
			t.Errorf("node %s ended before the test", k.Name)
		default:
		}
		_ = end.Close()
		<-done
		if failed != nil {
			t.Errorf("node %s: %v", k.Name, failed)
		}
		if !t.Failed() {
			return
		}
		for _, name := range []string{"node", "containerd", "kubelet"} {
			if b, err := os.ReadFile(filepath.Join(logs, name+".log")); err == nil {
				lines := strings.SplitAfter(string(b), "\n")
				t.Logf("the end of what %s of node %s says:\n%s", name, k.Name, strings.Join(lines[max(0, len(lines)-60):], ""))
			}
		}
	}))
	k.ready(t, c, done)
	return k
}

// ready waits until the node says that it is.
func (k *Kubelet) ready(t testing.TB, c *Cluster, ended <-chan struct{}) {
	t.Helper()
	over := errors.New("it has ended")
	err := wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, 5*time.Minute, true, func(ctx context.Context) (bool, error) {
		select {
		case <-ended:
			return false, over
		default:
		}
		n, err := c.Client.CoreV1().Nodes().Get(ctx, k.Name, metav1.GetOptions{})
		if err != nil {
			return false, nil // it registers itself
		}
		for _, condition := range n.Status.Conditions {
			if condition.Type == corev1.NodeReady {
				return condition.Status == corev1.ConditionTrue, nil
			}
		}
		return false, nil
	})
	if err != nil {
		t.Fatalf("node %s does not become ready: %v", k.Name, err)
	}
}

const pauseImage = "localhost/pause:1"

// pause is the image of pods' sandboxes.
func pause(t testing.TB) string {
	t.Helper()
	root := t.TempDir()
	Pause(t, filepath.Join(root, "pause"))
	return Image(t, pauseImage, root, "/pause")
}

// Pause builds the program that waits until it is to end, which needs nothing else of an image.
func Pause(t testing.TB, path string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-o", path, "github.com/rocwire/rocwire/deploy/cluster/pause")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

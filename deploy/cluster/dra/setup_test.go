package dra

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/restmapper"

	"github.com/rocwire/rocwire/deploy/cluster"
)

const (
	top       = "../../.." // of the repository
	namespace = "default"
)

// site is a cluster with workers, which are on no node of it, and the publisher of their cards.
type site struct {
	*cluster.Cluster
	dir     string // of programs and what they write
	workers [2]*worker
	env     []string // of the driver's commands
	image   string   // an archive of image
}

// worker is one with two simulated cards.
type worker struct {
	address string
	start   func() (stop func())
	stop    func()
}

// newSite skips the test where the programs of containers cannot be run.
func newSite(t *testing.T) *site {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("needs root: containers are made of mounts")
	}
	if testing.Short() {
		t.Skip("builds everything: not with -short")
	}
	c := cluster.Start(t, cluster.Options{Scheduler: true, Controllers: true, Flags: map[string][]string{
		// It can miss what a pod waits for, a claim that is made or one that is given back, and looks again for itself after five minutes: its own
		// TestPreQueueingHint_PodNotYetIndexed says so.
		"kube-scheduler": {"--pod-max-in-unschedulable-pods-duration=30s"},
	}})
	s := &site{Cluster: c, dir: t.TempDir()}
	s.build(t)
	s.makeImage(t)
	token := s.run(t, "hip-worker", "token", "new", "dra", "--out", s.dir+"/token")
	write(t, s.dir+"/tokens.yaml", "tokens:\n"+strings.Replace(token, "- hip", "- issue", 1))
	s.run(t, "hip-worker", "keys", "init", "--dir", s.dir+"/keys")
	config := "workers:\n"
	for i, arch := range []string{"gfx90a", "gfx942"} {
		w := &worker{address: cluster.Address(t)}
		_, port, _ := net.SplitHostPort(w.address)
		w.start = func() func() {
			return s.daemon(t, nil, "hip-worker", "--backend", "sim", "--sim-arch", arch, "--sim-cards", "2", "--sim-memory", "1G", "--port", port, "--token-file", s.dir+"/tokens.yaml",
				"--issued-tokens", fmt.Sprintf("%s/issued%d.json", s.dir, i), "--tls-cert", s.dir+"/keys/server.crt", "--tls-key", s.dir+"/keys/server.key")
		}
		w.stop = w.start()
		s.workers[i] = w
		config += fmt.Sprintf("  w%d: {address: \"rocwire://%s\", token-file: token, tls: {ca: keys/ca.crt}}\n", i, w.address)
	}
	write(t, s.dir+"/config.yaml", config)
	s.env = []string{"ROCWIRE_CONFIG=" + s.dir + "/config.yaml"}
	s.apply(t, "apiVersion: v1\nkind: Namespace\nmetadata: {name: rocwire}\n---\n"+read(t, top+"/deploy/dra/kubernetes.yaml"))
	s.daemon(t, s.env, "rocwire-dra", "publish", "--interval", "200ms", "--kubeconfig", s.account(t, "rocwire-dra-publisher"))
	return s
}

// account is the kubeconfig of one of the driver's service accounts, with the rights that the manifest gives it and no others.
func (s *site) account(t *testing.T, name string) string {
	t.Helper()
	return s.KubeconfigFor(t, "system:serviceaccount:rocwire:"+name, "system:serviceaccounts", "system:serviceaccounts:rocwire")
}

// programs are those of containers, from their sources.
var programs = map[string]string{"hello_hip": "examples/hello_hip/hello_hip.c", "takes": "deploy/cluster/dra/testdata/takes.c"}

// build makes our programs and the library, and those of containers, as make does.
func (s *site) build(t *testing.T) {
	t.Helper()
	fmt.Fprintln(os.Stderr, "dra: building rocwire's programs and library: minutes, where they were never built")
	todo := [][]string{
		{"go", "build", "-trimpath", "-o", s.dir + "/", "./cmd/hip-worker", "./cmd/hip-session", "./cmd/rocwire-dra"},
		{"sh", "librocwire/build.sh", s.dir + "/lib"},
	}
	for name, source := range programs {
		todo = append(todo, []string{"cc", "-O2", "-Ihip/include", source, "-o", filepath.Join(s.dir, name), s.dir + "/lib/libamdhip64.so.6", "-lm"})
	}
	for _, args := range todo {
		c := exec.CommandContext(t.Context(), args[0], args[1:]...)
		c.Dir = top
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
}

// run runs one of our programs to its end.
func (s *site) run(t *testing.T, name string, args ...string) string {
	t.Helper()
	var stderr bytes.Buffer
	c := exec.CommandContext(t.Context(), filepath.Join(s.dir, name), args...)
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, &stderr)
	}
	return string(out)
}

// daemon starts one of our programs, and ends it with the test, or before.
func (s *site) daemon(t *testing.T, env []string, name string, args ...string) (stop func()) {
	t.Helper()
	log := new(log)
	c := exec.Command(filepath.Join(s.dir, name), args...)
	c.Env = append(os.Environ(), env...)
	c.Stdout, c.Stderr = log, log
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	stop = sync.OnceFunc(func() {
		_ = c.Process.Signal(syscall.SIGTERM)
		if err := c.Wait(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if args[0] == "node" && strings.Contains(log.String(), "level=ERROR") { // where a kubelet asks for what the driver does not have
			t.Errorf("%s %v has trouble", name, args)
		}
		if t.Failed() {
			t.Logf("%s %v says:\n%s", name, args, log)
		}
	})
	t.Cleanup(stop)
	return stop
}

// log is what a program says, read while it does.
type log struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *log) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(b)
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// apply creates what manifests say.
func (s *site) apply(t *testing.T, manifests string) {
	t.Helper()
	groups, err := restmapper.GetAPIGroupResources(discovery.NewDiscoveryClientForConfigOrDie(s.Config))
	if err != nil {
		t.Fatal(err)
	}
	mapper, client := restmapper.NewDiscoveryRESTMapper(groups), dynamic.NewForConfigOrDie(s.Config)
	create := func(o *unstructured.Unstructured) {
		t.Helper()
		m, err := mapper.RESTMapping(schema.GroupKind{Group: o.GroupVersionKind().Group, Kind: o.GetKind()}, o.GroupVersionKind().Version)
		if err != nil {
			t.Fatal(err)
		}
		r := dynamic.ResourceInterface(client.Resource(m.Resource))
		if m.Scope.Name() == meta.RESTScopeNameNamespace {
			r = client.Resource(m.Resource).Namespace(cmp.Or(o.GetNamespace(), namespace))
		}
		if _, err := r.Create(t.Context(), o, metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict}); err != nil {
			t.Fatalf("%s %s: %v", o.GetKind(), o.GetName(), err)
		}
	}
	d := yaml.NewYAMLOrJSONDecoder(strings.NewReader(manifests), 4096)
	for {
		o := new(unstructured.Unstructured)
		if err := d.Decode(&o.Object); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
		create(o)
	}
}

// eventually waits until it is so.
func eventually(t *testing.T, what string, so func(context.Context) bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute) // for ever, of a test that is to say what it waited for
	defer cancel()
	if err := wait.PollUntilContextCancel(ctx, 50*time.Millisecond, true, func(ctx context.Context) (bool, error) { return so(ctx), nil }); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

package dra

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/opencontainers/runtime-spec/specs-go"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	corev1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	drapb "k8s.io/kubelet/pkg/apis/dra/v1"
	registerapi "k8s.io/kubelet/pkg/apis/pluginregistration/v1"
	"tags.cncf.io/container-device-interface/pkg/cdi"
)

// kubelet does on a node what the real one does with claims and a container runtime with CDI.
type kubelet struct {
	drapb.DRAPluginClient
	site *site
	node string
	dir  string
}

// newKubelet adds a node with the driver on it.
func (s *site) newKubelet(t *testing.T, node string) *kubelet {
	t.Helper()
	s.Node(t, node, map[string]string{"kubernetes.io/hostname": node})
	dir, err := os.MkdirTemp("", "dra-") // paths of sockets are short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	for _, name := range []string{"registry", "state", "cdi"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	s.daemon(t, s.env, "rocwire-dra", "node", "--node-name", node, "--state", dir+"/state", "--registry", dir+"/registry", "--cdi", dir+"/cdi", "--library", s.dir+"/lib",
		"--kubeconfig", s.account(t, "rocwire-dra-node"))
	k := &kubelet{site: s, node: node, dir: dir}
	dial := func(path string) *grpc.ClientConn {
		conn, err := grpc.NewClient("passthrough:"+path, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", path)
		}))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		return conn
	}
	var sockets []string
	eventually(t, "the driver registers", func(context.Context) bool {
		sockets, _ = filepath.Glob(dir + "/registry/*.sock")
		return len(sockets) == 1
	})
	r := registerapi.NewRegistrationClient(dial(sockets[0]))
	var info *registerapi.PluginInfo
	eventually(t, "the driver says who it is", func(ctx context.Context) bool {
		info, err = r.GetInfo(ctx, &registerapi.InfoRequest{})
		return err == nil
	})
	if info.Type != registerapi.DRAPlugin || info.Name != "rocwire.io" || !slices.Contains(info.SupportedVersions, drapb.DRAPluginService) {
		t.Fatalf("%+v", info)
	}
	if _, err := r.NotifyRegistrationStatus(t.Context(), &registerapi.RegistrationStatus{PluginRegistered: true}); err != nil {
		t.Fatal(err)
	}
	k.DRAPluginClient = drapb.NewDRAPluginClient(dial(info.Endpoint))
	return k
}

// running is a pod on a node whose claims are prepared.
type running struct {
	k        *kubelet
	pod      *corev1.Pod
	claims   map[string]*drapb.Claim // by the pod's name for it
	prepared map[string]*drapb.NodePrepareResourceResponse
}

// admit waits until the scheduler has given the node a pod, and prepares its claims.
func (k *kubelet) admit(t *testing.T, name string) *running {
	t.Helper()
	r := &running{k: k, claims: map[string]*drapb.Claim{}}
	pods, claims := k.site.Client.CoreV1().Pods(namespace), k.site.Client.ResourceV1().ResourceClaims(namespace)
	eventually(t, "pod "+name+" is scheduled to "+k.node, func(ctx context.Context) bool {
		p, err := pods.Get(ctx, name, metav1.GetOptions{})
		r.pod = p
		return err == nil && p.Spec.NodeName == k.node
	})
	q := &drapb.NodePrepareResourcesRequest{}
	for _, c := range r.pod.Spec.ResourceClaims {
		of := c.ResourceClaimName
		for _, s := range r.pod.Status.ResourceClaimStatuses {
			if s.Name == c.Name {
				of = s.ResourceClaimName
			}
		}
		claim, err := claims.Get(t.Context(), *of, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(claim.Status.ReservedFor, func(u resourceapi.ResourceClaimConsumerReference) bool { return u.UID == r.pod.UID }) {
			t.Errorf("claim %s is not reserved for pod %s", claim.Name, name)
		}
		r.claims[c.Name] = &drapb.Claim{Namespace: namespace, Name: claim.Name, Uid: string(claim.UID)}
		q.Claims = append(q.Claims, r.claims[c.Name])
	}
	a, err := k.NodePrepareResources(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	r.prepared = a.Claims
	for uid, p := range a.Claims {
		if p.Error != "" {
			t.Fatalf("claim %s: %s", uid, p.Error)
		}
	}
	return r
}

// output runs a program in the pod's first container: with the edits of its claims' CDI devices, by the library that container runtimes use, and as its user.
func (r *running) output(t *testing.T, program ...string) (string, error) {
	t.Helper()
	container := r.pod.Spec.Containers[0]
	var ids []string
	for _, c := range container.Resources.Claims {
		for _, d := range r.prepared[r.claims[c.Name].Uid].Devices {
			if c.Request == "" || slices.Contains(d.RequestNames, c.Request) {
				ids = append(ids, d.CdiDeviceIds...)
			}
		}
	}
	cache, err := cdi.NewCache(cdi.WithSpecDirs(r.k.dir+"/cdi"), cdi.WithAutoRefresh(false))
	if err != nil {
		t.Fatal(err)
	}
	spec := &specs.Spec{Process: &specs.Process{}}
	if missing, err := cache.InjectDevices(spec, ids...); err != nil {
		t.Fatalf("%v: %v, %v", missing, err, cache.GetErrors())
	}
	root := t.TempDir()
	if err := os.Chmod(filepath.Dir(root), 0o755); err != nil { // of the test
		t.Fatal(err)
	}
	var script strings.Builder
	script.WriteString("set -e\n")
	for _, dir := range []string{"/proc", "/dev"} {
		script.WriteString("mkdir -p " + root + dir + "; mount --rbind " + dir + " " + root + dir + "\n")
	}
	script.WriteString("cp " + r.k.site.dir + "/" + program[0] + " " + root + "/\n")
	script.WriteString("for f in $(ldd " + r.k.site.dir + "/hello_hip " + r.k.site.dir + "/lib/librocwire.so | grep -o '/[^ :]*'); do case $f in " + r.k.site.dir + "*) ;; *) mkdir -p " + root + "/${f%/*}; cp -n $f " + root + "$f ;; esac; done\n")
	for _, m := range spec.Mounts {
		at := root + m.Destination
		script.WriteString("mkdir -p " + at + "; mount --bind " + m.Source + " " + at + "; mount -o remount,bind,ro " + at + "\n")
	}
	user := "0:0"
	if s := r.pod.Spec.SecurityContext; s != nil && s.RunAsUser != nil {
		user = "1234:1234"
	}
	script.WriteString("exec env -i " + strings.Join(spec.Process.Env, " ") + " $(command -v chroot) --userspec=" + user + " " + root + " /" + strings.Join(program, " ") + "\n")
	out, err := exec.CommandContext(t.Context(), "unshare", "--mount", "--propagation", "private", "sh", "-c", script.String()).CombinedOutput()
	return string(out), err
}

// end has the pod end: its claims are taken back, and it is gone.
func (r *running) end(t *testing.T) {
	t.Helper()
	q := &drapb.NodeUnprepareResourcesRequest{}
	for _, c := range r.claims {
		q.Claims = append(q.Claims, c)
	}
	a, err := r.k.NodeUnprepareResources(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	for uid, c := range a.Claims {
		if c.Error != "" {
			t.Errorf("claim %s: %s", uid, c.Error)
		}
	}
	r.k.site.remove(t, r.pod.Name)
}

// remove has a pod be gone, as a kubelet does whose containers have ended.
func (s *site) remove(t *testing.T, pod string) {
	t.Helper()
	now := int64(0)
	if err := s.Client.CoreV1().Pods(namespace).Delete(t.Context(), pod, metav1.DeleteOptions{GracePeriodSeconds: &now}); err != nil && !apierrors.IsNotFound(err) {
		t.Fatal(err)
	}
}

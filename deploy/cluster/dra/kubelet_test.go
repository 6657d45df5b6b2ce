package dra

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/remotecommand"

	"github.com/rocwire/rocwire/deploy/cluster"
)

// image is what pods run: hello_hip, unless they are told to wait by /pause.
const image = "localhost/hello:1"

// kubelet is a node with the driver on it.
type kubelet struct {
	*cluster.Kubelet
	site *site
}

// newKubelet adds one.
func (s *site) newKubelet(t *testing.T, address string) *kubelet {
	t.Helper()
	k := &kubelet{s.Cluster.Kubelet(t, cluster.KubeletOptions{Address: address, Images: []string{s.image}}), s}
	s.daemon(t, s.env, "rocwire-dra", "node", "--node-name", k.Name, "--state", k.state(), "--registry", k.Root+"/plugins_registry", "--cdi", k.CDI, "--library", s.dir+"/lib",
		"--kubeconfig", s.account(t, "rocwire-dra-node"))
	return k
}

// state is the driver's folder.
func (k *kubelet) state() string { return k.Root + "/plugins/rocwire.io" }

// makeImage puts the programs of containers, what those and the library are linked with, and a program that waits into an image.
func (s *site) makeImage(t *testing.T) {
	t.Helper()
	root := t.TempDir()
	cluster.Pause(t, root+"/pause")
	files, args := map[string]string{}, []string{s.dir + "/lib/librocwire.so"}
	for name := range programs {
		files[name] = filepath.Join(s.dir, name)
		args = append(args, files[name])
	}
	out, err := exec.CommandContext(t.Context(), "ldd", args...).Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range regexp.MustCompile(`/[^ :]+`).FindAllString(string(out), -1) {
		if !strings.HasPrefix(f, s.dir+"/") {
			files[f] = f
		}
	}
	for to, from := range files {
		at := filepath.Join(root, to)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, b, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	s.image = cluster.Image(t, image, root, "/hello_hip")
}

// running is a pod on a node whose containers were started.
type running struct {
	k      *kubelet
	pod    *corev1.Pod
	claims map[string]string // by the pod's name for it
}

// admit waits until the scheduler has given the node a pod, and its containers have started there.
func (k *kubelet) admit(t *testing.T, name string) *running {
	t.Helper()
	r := &running{k: k, claims: map[string]string{}}
	defer k.site.explain(t, name)
	eventually(t, "pod "+name+" runs on "+k.Name, func(ctx context.Context) bool {
		p, err := k.site.Client.CoreV1().Pods(namespace).Get(ctx, name, metav1.GetOptions{})
		r.pod = p
		return err == nil && p.Spec.NodeName == k.Name && (p.Status.Phase == corev1.PodRunning || p.Status.Phase == corev1.PodSucceeded)
	})
	for _, c := range r.pod.Spec.ResourceClaims {
		of := c.ResourceClaimName
		for _, s := range r.pod.Status.ResourceClaimStatuses {
			if s.Name == c.Name {
				of = s.ResourceClaimName
			}
		}
		r.claims[c.Name] = *of
	}
	return r
}

// explain says what there is to know of a pod whose test has failed.
func (s *site) explain(t *testing.T, pod string) {
	t.Helper()
	if !t.Failed() {
		return
	}
	ctx := context.WithoutCancel(t.Context())
	say := func(what string, o any, err error) {
		if err != nil {
			t.Logf("%s: %v", what, err)
			return
		}
		b, err := json.MarshalIndent(o, "", " ")
		t.Logf("%s: %v\n%s", what, err, b)
	}
	p, err := s.Client.CoreV1().Pods(namespace).Get(ctx, pod, metav1.GetOptions{})
	say("pod "+pod, p.Status, err)
	events, err := s.Client.CoreV1().Events(namespace).List(ctx, metav1.ListOptions{FieldSelector: "involvedObject.name=" + pod})
	if err != nil {
		t.Log(err)
		return
	}
	for _, e := range events.Items {
		t.Logf("%s %d x %s of %s: %s", e.LastTimestamp.UTC().Format(time.TimeOnly), e.Count, e.Reason, cmp.Or(e.Source.Component, e.ReportingController), e.Message)
	}
	claims, err := s.Client.ResourceV1().ResourceClaims(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		t.Log(err)
		return
	}
	for _, c := range claims.Items {
		say("claim "+c.Name, []any{c.CreationTimestamp, c.DeletionTimestamp, c.OwnerReferences, c.Spec, c.Status}, nil)
	}
}

// output is that of a program which is run in the pod's first container.
func (r *running) output(t *testing.T, program ...string) (string, error) {
	t.Helper()
	q := r.k.site.Client.CoreV1().RESTClient().Post().Resource("pods").Namespace(namespace).Name(r.pod.Name).SubResource("exec").
		VersionedParams(&corev1.PodExecOptions{Container: r.pod.Spec.Containers[0].Name, Command: program, Stdout: true, Stderr: true}, scheme.ParameterCodec)
	e, err := remotecommand.NewWebSocketExecutor(r.k.site.Config, "GET", q.URL().String())
	if err != nil {
		t.Fatal(err)
	}
	out := new(log)
	err = e.StreamWithContext(t.Context(), remotecommand.StreamOptions{Stdout: out, Stderr: out})
	return out.String(), err
}

// printed is what the pod's first container has written when it has ended.
func (r *running) printed(t *testing.T) string {
	t.Helper()
	eventually(t, "pod "+r.pod.Name+" ends by itself", func(ctx context.Context) bool {
		p, err := r.k.site.Client.CoreV1().Pods(namespace).Get(ctx, r.pod.Name, metav1.GetOptions{})
		return err == nil && (p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed)
	})
	out, err := r.log(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// log is what the pod's first container has written.
func (r *running) log(ctx context.Context) (string, error) {
	out, err := r.k.site.Client.CoreV1().Pods(namespace).GetLogs(r.pod.Name, &corev1.PodLogOptions{}).DoRaw(ctx)
	return string(bytes.TrimSpace(out)), err
}

// steal copies what the containers with the node's only claim are given, and says how to run hello_hip with that elsewhere.
func (k *kubelet) steal(t *testing.T) func() (string, error) {
	t.Helper()
	shares, err := filepath.Glob(k.state() + "/claims/*/*")
	if err != nil || len(shares) != 1 {
		t.Fatalf("%q, %v", shares, err)
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir+"/share", os.DirFS(shares[0])); err != nil {
		t.Fatal(err)
	}
	return func() (string, error) {
		cmd := exec.CommandContext(t.Context(), k.site.dir+"/hello_hip")
		cmd.Env = append(os.Environ(), "ROCWIRE_CONFIG="+dir, "LD_LIBRARY_PATH="+k.site.dir+"/lib")
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
}

// end deletes the pod, and waits until the kubelet has ended it and taken its claims back.
func (r *running) end(t *testing.T) {
	t.Helper()
	r.k.site.remove(t, r.pod.Name)
}

// remove deletes a pod and waits until it is gone.
func (s *site) remove(t *testing.T, pod string) {
	t.Helper()
	pods := s.Client.CoreV1().Pods(namespace)
	if err := pods.Delete(t.Context(), pod, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "pod "+pod+" is gone", func(ctx context.Context) bool {
		_, err := pods.Get(ctx, pod, metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	})
}

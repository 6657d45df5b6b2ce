package chart

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
)

func certificate(t testing.TB, b []byte) *x509.Certificate {
	t.Helper()
	block, _ := pem.Decode(b)
	if block == nil {
		t.Fatalf("no PEM: %q", b)
	}
	c, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// held is what a Secret holds.
func held(t testing.TB, o *unstructured.Unstructured) map[string][]byte {
	t.Helper()
	data, _, err := unstructured.NestedStringMap(o.Object, "data")
	if err != nil {
		t.Fatal(err)
	}
	m := map[string][]byte{}
	for k, v := range data {
		if m[k], err = base64.StdEncoding.DecodeString(v); err != nil {
			t.Fatal(err)
		}
	}
	return m
}

// TestWorkerRuns: the program starts as the pod of a simulated worker does, with the keys that the chart makes; who has a token comes in by the CA and the name
// that clients are told, and who has the password reads its metrics.
func TestWorkerRuns(t *testing.T) {
	bin := t.TempDir()
	build := exec.Command("go", "build", "-C", "../../..", "-o", bin+"/", "./cmd/hip-worker", "./cmd/hip-session", "./cmd/smi-remote")
	build.Env = append(os.Environ(), "CGO_ENABLED=1")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	all := render(t, set(map[string]any{
		"worker.backend": "sim", "worker.sim.cards": 2, "worker.access.serviceAccounts": false, "worker.access.tokensSecret": "tokens", "worker.access.issuedTokens": true,
		"worker.sessions.max": 5, "worker.quota.compute": 50, "worker.quota.memory": "256M", "clusterName": "test",
	}), nil)
	template, _ := templateOf(all.one(t, "Deployment", "rocwire-worker"))
	c := template.Spec.Containers[0]

	token := filepath.Join(t.TempDir(), "token")
	tokens, err := exec.Command(filepath.Join(bin, "hip-worker"), "token", "new", "alice", "--out", token).Output()
	if err != nil {
		t.Fatal(err)
	}
	tokens = append([]byte("tokens:\n"), tokens...)

	// Volumes are folders here.
	node := t.TempDir()
	if err := os.Chmod(node, 0o755); err != nil {
		t.Fatal(err)
	}
	var moves []string
	for _, m := range c.VolumeMounts {
		moves = append(moves, m.MountPath, filepath.Join(node, m.Name))
	}
	metrics, hip := port(t), port(t)
	moves = append(moves, "0.0.0.0:9400", metrics, "$(POD_NAME)", "pod-0")
	moved := strings.NewReplacer(moves...)
	for _, v := range template.Spec.Volumes {
		dir := filepath.Join(node, v.Name)
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if v.Secret == nil {
			continue
		}
		data := map[string][]byte{"tokens.yaml": tokens}
		if v.Secret.SecretName != "tokens" {
			data = held(t, all.one(t, "Secret", v.Secret.SecretName))
		}
		for _, item := range v.Secret.Items {
			if data[item.Key] == nil {
				t.Fatalf("%s has no %s", v.Secret.SecretName, item.Key)
			}
			if err := os.WriteFile(filepath.Join(dir, item.Path), []byte(moved.Replace(string(data[item.Key]))), 0o400); err != nil {
				t.Fatal(err)
			}
		}
	}
	_, hipPort, _ := net.SplitHostPort(hip)
	args := []string{"--port", hipPort}
	for _, a := range c.Args {
		args = append(args, strings.Replace(moved.Replace(a), "0.0.0.0", "127.0.0.1", 1))
	}
	worker := exec.Command(filepath.Join(bin, c.Command[0]), args...)
	worker.Env = append(os.Environ(), "NODE_NAME=node-0", "POD_NAME=pod-0")
	worker.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	worker.Stdout, worker.Stderr = log, log
	if err := worker.Start(); err != nil {
		t.Fatal(err)
	}
	ctx, ended := context.WithCancelCause(t.Context())
	done := make(chan struct{})
	go func() {
		err := worker.Wait()
		said, _ := os.ReadFile(log.Name())
		ended(fmt.Errorf("the worker ended: %w\n%s", err, said))
		close(done)
	}()
	t.Cleanup(func() { _ = worker.Process.Kill(); <-done })
	if err := wait.PollUntilContextCancel(ctx, 50*time.Millisecond, true, func(context.Context) (bool, error) {
		for _, a := range []string{hip, metrics} {
			c, err := net.Dial("tcp", a)
			if err != nil {
				return false, nil
			}
			c.Close()
		}
		return true, nil
	}); err != nil {
		t.Fatal(errors.Join(err, context.Cause(ctx)))
	}

	// A client has the ConfigMap's CA.
	pemCA, _, _ := unstructured.NestedString(all.one(t, "ConfigMap", "rocwire-ca").Object, "data", "ca.crt")
	ca := filepath.Join(t.TempDir(), "ca.crt")
	if err := os.WriteFile(ca, []byte(pemCA), 0o600); err != nil {
		t.Fatal(err)
	}
	env := func(token, name string) []string {
		return append(os.Environ(), "TF_WORKER_HOST=127.0.0.1", "TF_WORKER_PORT="+hipPort, "TF_WORKER_TLS_CA="+ca, "TF_WORKER_TLS_SERVER_NAME="+name, "TF_WORKER_TOKEN_FILE="+token,
			"ROCWIRE_CONFIG="+os.DevNull)
	}
	wrong := filepath.Join(t.TempDir(), "wrong")
	if err := os.WriteFile(wrong, []byte("not-a-token-of-this-worker-0123456789"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, x := range map[string]struct {
		token, host string
		in          bool
	}{
		"the service's name":            {token, "rocwire-worker.gpus", true},
		"its whole name":                {token, "rocwire-worker.gpus.svc.cluster.local", true},
		"another's name":                {token, "rocwire-exporter.gpus", false},
		"no token of the worker's file": {wrong, "rocwire-worker.gpus", false},
	} {
		list := exec.Command(filepath.Join(bin, "smi-remote"), "list")
		list.Env = env(x.token, x.host)
		if out, err := list.CombinedOutput(); x.in != (err == nil) || x.in && strings.Count(string(out), "gfx90a") != 2 {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}

	// The pod of helm test does, too, with the CA of its volume, and the name that it has for the worker.
	hook := render(t, set(map[string]any{"worker.backend": "sim"}), nil).one(t, "Pod", "rocwire-test")
	var pod corev1.Pod
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(hook.Object, &pod); err != nil {
		t.Fatal(err)
	}
	hc := pod.Spec.Containers[0]
	paths := map[string]string{}
	for _, v := range pod.Spec.Volumes {
		dir := t.TempDir()
		for _, m := range hc.VolumeMounts {
			if m.Name == v.Name {
				paths[m.MountPath] = dir
			}
		}
		if v.Secret != nil {
			for _, item := range v.Secret.Items {
				if err := os.WriteFile(filepath.Join(dir, item.Path), held(t, all.one(t, "Secret", v.Secret.SecretName))[item.Key], 0o400); err != nil {
					t.Fatal(err)
				}
			}
			continue
		}
		for _, source := range v.Projected.Sources { // a service account's, of which this worker knows nothing
			b, err := os.ReadFile(token)
			if err == nil {
				err = os.WriteFile(filepath.Join(dir, source.ServiceAccountToken.Path), b, 0o400)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	test := exec.Command(filepath.Join(bin, hc.Command[0]), append(hc.Command[1:], hc.Args...)...)
	test.Env = []string{"ROCWIRE_CONFIG=" + os.DevNull, "TF_WORKER_PORT=" + hipPort}
	for _, e := range hc.Env {
		v := e.Value
		for at, dir := range paths {
			v = strings.Replace(v, at, dir, 1)
		}
		if e.Name == "TF_WORKER_HOST" { // a cluster's name, which nobody here knows
			test.Env = append(test.Env, "TF_WORKER_TLS_SERVER_NAME="+v)
			v = "127.0.0.1"
		}
		test.Env = append(test.Env, e.Name+"="+v)
	}
	if out, err := test.CombinedOutput(); err != nil || strings.Count(string(out), "gfx90a") != 2 {
		t.Errorf("helm test: %v\n%s", err, out)
	}

	// Prometheus has what the monitor names.
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(held(t, all.one(t, "Secret", "rocwire-worker-tls"))["ca.crt"])
	client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, ServerName: "rocwire-worker.gpus.svc"}}}
	defer client.CloseIdleConnections()
	who := held(t, all.one(t, "Secret", "rocwire-metrics"))
	for password, code := range map[string]int{string(who["password"]): http.StatusOK, "guessed": http.StatusUnauthorized} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+metrics+"/metrics", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.SetBasicAuth(string(who["username"]), password)
		answer, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if err != nil || answer.StatusCode != code || code == http.StatusOK && !strings.Contains(string(body), "gpu_host_info{") {
			t.Errorf("%d, %v\n%.300s", answer.StatusCode, err, body)
		}
	}
}

// port is a free one of this machine.
func port(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

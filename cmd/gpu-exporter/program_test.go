package main

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"

	"github.com/rocwire/rocwire/internal/cli"
	"github.com/rocwire/rocwire/smi/smitest"
	"github.com/rocwire/rocwire/smiremote"
	"github.com/rocwire/rocwire/smiremote/remotetest"
)

// The program is built once for all tests that run it.
var buildDir string

func TestMain(m *testing.M) {
	code := m.Run()
	if buildDir != "" {
		_ = os.RemoveAll(buildDir)
	}
	os.Exit(code)
}

func build(t testing.TB) string {
	t.Helper()
	if buildDir == "" {
		dir, err := os.MkdirTemp("", "gpu-exporter-test")
		if err != nil {
			t.Fatal(err)
		}
		buildDir = dir
		if out, err := exec.Command("go", "build", "-o", filepath.Join(dir, program), ".").CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	return filepath.Join(buildDir, program)
}

// process is a running program.
type process struct {
	*exec.Cmd
	log logLines
	url string // of its metrics
}

// launch starts the program and waits until it serves.
func launch(t testing.TB, env []string, args ...string) *process {
	t.Helper()
	p := &process{Cmd: exec.Command(build(t), args...)}
	p.Env = append(os.Environ(), env...)
	p.Stderr = &p.log
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if p.ProcessState == nil {
			_ = p.Process.Kill()
			_ = p.Wait()
		}
	})
	for range 3000 {
		if m := regexp.MustCompile(`url=(\S+)`).FindStringSubmatch(p.log.String()); m != nil {
			p.url = m[1]
			return p
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("it does not serve:\n%s", p.log.String())
	return nil
}

// terminate ends it as a service manager does, and tells its exit code.
func (p *process) terminate(t testing.TB) int {
	t.Helper()
	if err := p.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := p.Wait(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return p.ProcessState.ExitCode()
}

func TestProgram(t *testing.T) {
	worker, stop := remotetest.Run(smiremote.HandlerOptions{Source: smitest.NewFake(smitest.Cards()...), Sessions: smitest.Clients{}})
	defer stop()
	var taken atomic.Int64
	sink := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/metrics" {
			taken.Add(1)
		}
	}))
	defer sink.Close()
	queue := t.TempDir()
	p := launch(t, []string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + sink.URL, "STATE_DIRECTORY=" + queue, "NODE_NAME=node-7"},
		"--worker", worker, "--listen", "127.0.0.1:0", "--cluster", "eu", "--otlp-interval", "1h")
	eventually(t, "figures of the worker", func() bool { return strings.Contains(get(p.url), "\ngpu_power_watts{") })
	for _, want := range []string{`host="node-7"`, `cluster="eu"`, `gpu_exporter_sink_queue_records{sink="otlp-metrics"} 0`} {
		if !strings.Contains(get(p.url), want) {
			t.Errorf("no %s", want)
		}
	}
	if _, err := os.Stat(filepath.Join(queue, "queue", "otlp-metrics")); err != nil {
		t.Error(err)
	}
	if page := get(strings.TrimSuffix(p.url, "metrics")); !strings.Contains(page, "<title>GPUs of node-7") {
		t.Errorf("the page: %.300s", page)
	}
	if code := p.terminate(t); code != 0 {
		t.Errorf("exit %d\n%s", code, p.log.String())
	}
	if taken.Load() != 1 {
		t.Errorf("%d requests with the last figures", taken.Load())
	}
}

// Other machines may ask with a password over TLS.
func TestProgramPassword(t *testing.T) {
	config, pool := webConfig(t, "secret")
	p := launch(t, nil, "--listen", "0.0.0.0:0", "--web-config", config)
	_, port, err := net.SplitHostPort(strings.TrimSuffix(strings.TrimPrefix(p.url, "https://"), "/metrics"))
	if err != nil {
		t.Fatal(p.url, err)
	}
	c := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}}
	for password, code := range map[string]int{"secret": 200, "wrong": 401, "": 401} {
		r, err := http.NewRequest("GET", "https://127.0.0.1:"+port+"/metrics", nil)
		if err != nil {
			t.Fatal(err)
		}
		if password != "" {
			r.SetBasicAuth("prometheus", password)
		}
		resp, err := c.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != code || (code == 200) != bytes.Contains(b, []byte("gpu_exporter_build_info")) {
			t.Errorf("%q: %d, %v", password, resp.StatusCode, err)
		}
		_ = resp.Body.Close()
	}
	if code := p.terminate(t); code != 0 {
		t.Errorf("exit %d\n%s", code, p.log.String())
	}
}

// webConfig makes a web configuration with a certificate and a user called prometheus.
func webConfig(t *testing.T, password string) (file string, pool *x509.CertPool) {
	t.Helper()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	check(err)
	c := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{{127, 0, 0, 1}}}
	der, err := x509.CreateCertificate(rand.Reader, c, c, key.Public(), key)
	check(err)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	check(err)
	hash, err := bcrypt.GenerateFromPassword([]byte(password), bcrypt.MinCost)
	check(err)
	dir := t.TempDir()
	cert := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	for name, b := range map[string][]byte{
		"cert.pem": cert,
		"key.pem":  pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}),
		"web.yml": fmt.Appendf(nil, "tls_server_config:\n  cert_file: cert.pem\n  key_file: key.pem\nbasic_auth_users:\n  prometheus: %s\n",
			hash),
	} {
		check(os.WriteFile(filepath.Join(dir, name), b, 0o600))
	}
	pool = x509.NewCertPool()
	pool.AppendCertsFromPEM(cert)
	return filepath.Join(dir, "web.yml"), pool
}

// On a machine without cards --local says so.
func TestProgramLocal(t *testing.T) {
	if _, err := os.Stat("/dev/kfd"); err == nil {
		t.Skip("there are cards here; the test is about machines without")
	}
	var errs bytes.Buffer
	c := exec.Command(build(t), "--local", "--listen", "127.0.0.1:0")
	c.Stderr = &errs
	var exit *exec.ExitError
	if err := c.Run(); !errors.As(err, &exit) || exit.ExitCode() != cli.ExitFailure {
		t.Error(err)
	}
	for _, want := range []string{"this machine's cards cannot be asked", "amdsmi:", "sysfs:"} {
		if !strings.Contains(errs.String(), want) {
			t.Errorf("it does not say %q:\n%s", want, errs.String())
		}
	}
}

package dashboards

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rocwire/rocwire/exporter"
	"github.com/rocwire/rocwire/internal/freeport"
	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/smiremote"
)

// The stand: two workers with two simulated cards each. East tells its metrics
// itself, as it comes. West is watched by an exporter in this process, as
// gpu-exporter is made, because that can have what a simulated machine without
// root has not (see gaps_test.go).
const (
	eastJob, westJob = "worker", "exporter"
	eastHost         = "east-1"
	westHost         = "west-1"
	westCluster      = "west"
	westPool         = "blue"
)

// stand starts it all, with clients at work and faults injected, and a Prometheus
// that scrapes it.
func stand(t *testing.T) *server {
	t.Helper()
	dir := t.TempDir()
	build := exec.Command("go", "build", "-o", dir, "../cmd/hip-worker", "../cmd/hip-session")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	eastMetrics := freeport.Later(t)
	east := startWorker(t, dir, "east", "--metrics-addr", eastMetrics, "--host", eastHost) // nobody named its cluster and pool
	west := startWorker(t, dir, "west")
	westMetrics := startExporter(t, west)
	p := startPrometheus(t, fmt.Sprintf(`
global: {scrape_interval: 1s, evaluation_interval: 1s, always_scrape_classic_histograms: true}
rule_files: [%q]
scrape_configs:
- {job_name: %s, static_configs: [{targets: [%q]}]}
- {job_name: %s, static_configs: [{targets: [%q]}]}
`, absolute(t, "rules/*.yaml"), eastJob, eastMetrics, westJob, westMetrics))
	p.await("both workers are scraped", "count(count_over_time(hip_worker_sessions_total[5m]) >= 2) == 2")
	for _, w := range []string{east, west} {
		startClient(t, w, "ml", "train-0")
		startClient(t, w, "web", "serve-0")
		refuse(t, w)
		breakCards(t, w)
	}
	p.await("clients work on all cards", "count(rate(gpu_process_busy_seconds_total[5s]) > 0) == 8")
	p.await("sessions were seen to start", "count(increase(hip_worker_sessions_total[5m]) > 0) == 2")
	p.await("errors were counted", `count(increase(gpu_ecc_errors_total{severity="uncorrectable"}[5m]) > 0) == 4`)
	p.await("calls fail on both", `count(count by (job) (rate(hip_rpc_duration_seconds_count{op="hipMalloc",code!="hipSuccess",side="client"}[5s]) > 0)) == 2`)
	p.await("phases are measured on both", `count(count by (job) (rate(hip_rpc_phase_duration_seconds_count{phase="network"}[5s]) > 0)) == 2`)
	p.await("sinks deliver", "rate(gpu_exporter_sink_sent_bytes_total[5s]) > 0")
	p.await("seldom asked details are there", "count(gpu_partition_info) == 4")
	return p
}

func absolute(t *testing.T, path string) string {
	t.Helper()
	a, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// startWorker starts a worker and returns its address.
func startWorker(t *testing.T, dir, name string, flags ...string) string {
	t.Helper()
	port := filepath.Join(dir, name+".port")
	args := append([]string{"--backend", "sim", "--sim-arch", "gfx942", "--sim-cards", "2", "--sim-memory", "512M", "-p", "0", "--port-file", port}, flags...)
	start(t, exec.Command(filepath.Join(dir, "hip-worker"), args...))
	var number []byte
	eventually(t, time.Minute, name+" listens", func() bool {
		number, _ = os.ReadFile(port)
		return len(number) > 0
	})
	return "127.0.0.1:" + strings.TrimSpace(string(number))
}

// startClient starts a HIP client at work, in a pod so to say.
func startClient(t *testing.T, worker, namespace, pod string) {
	t.Helper()
	host, port, err := net.SplitHostPort(worker)
	if err != nil {
		t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), loadEnv+"=1", "TF_WORKER_HOST="+host, "TF_WORKER_PORT="+port, "POD_NAME="+pod, "POD_NAMESPACE="+namespace, "HIP_VISIBLE_DEVICES=")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	start(t, cmd)
	t.Cleanup(func() { _ = stdin.Close() })
}

// start runs a program until the test ends, and shows what it said if that failed.
func start(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = log.Close()
		if b, err := os.ReadFile(log.Name()); err == nil && t.Failed() {
			t.Logf("%s says:\n%.2000s", cmd, b)
		}
	})
}

// startExporter serves a worker's metrics from this process and returns where.
func startExporter(t *testing.T, worker string) string {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	client := smiremote.NewClient(smiremote.Options{Address: worker, Name: "gpu-exporter"})
	t.Cleanup(func() { _ = client.Close() })
	mirror := smiremote.NewMirror(client, time.Second)
	e, err := exporter.New(exporter.Options{
		Source: cooled{client}, Sessions: mirror, Calls: mirror, Local: locals{time.Now()}, Sinks: sinks(t),
		Place:   exporter.Place{Host: westHost, Cluster: westCluster, Pool: westPool},
		Version: "test", Runtime: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	go e.Run(ctx)
	go mirror.Run(ctx)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{Handler: e.Handler(), ReadHeaderTimeout: 5 * time.Second}
	go func() { _ = srv.Serve(ln) }()
	t.Cleanup(func() { _ = srv.Close() })
	return ln.Addr().String()
}

// refuse makes a worker refuse a connection: one that hangs up before it says who it is.
func refuse(t *testing.T, worker string) {
	t.Helper()
	c, err := net.Dial("tcp", worker)
	if err != nil {
		t.Fatal(err)
	}
	_ = c.Close()
}

// breakCards injects what a healthy card has not: errors, and too much heat.
func breakCards(t *testing.T, worker string) {
	t.Helper()
	client := smiremote.NewClient(smiremote.Options{Address: worker})
	defer client.Close()
	for card := range 2 {
		for _, f := range []smi.Fault{
			{Kind: smi.FaultECC, Error: "correctable", Count: 5},
			{Kind: smi.FaultECC, Error: "uncorrectable", Count: 1},
			{Kind: smi.FaultThermal, Temperature: smi.Some(smi.Celsius(108))},
		} {
			if err := client.Inject(t.Context(), card, f); err != nil {
				t.Fatalf("card %d: %s: %v", card, f.Kind, err)
			}
		}
	}
}

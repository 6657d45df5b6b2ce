package greptime

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/rocwire/rocwire/examples/kernels"
	"github.com/rocwire/rocwire/exporter"
	"github.com/rocwire/rocwire/exporter/greptime/greptimetest"
	"github.com/rocwire/rocwire/exporter/rows"
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hipremote"
	"github.com/rocwire/rocwire/worker"
	"github.com/rocwire/rocwire/worker/simbackend"
	"github.com/rocwire/rocwire/worker/workertest"
)

// The test binary is its own session process, and the exporter that is killed.
func TestMain(m *testing.M) {
	workertest.SimulatedSession()
	if len(os.Args) > 1 && os.Args[1] == "__exporter" {
		victim(os.Args[2], os.Args[3], os.Args[4])
	}
	os.Exit(m.Run())
}

// spin makes a client, whose run keeps the card busy for as long as its argument says.
func spin(t *testing.T, w *worker.Server) (run func(rounds uint64), end func()) {
	t.Helper()
	c := hipremote.New(hipremote.Config{Host: "127.0.0.1", Port: fmt.Sprint(w.Addr().Port), Logf: t.Logf})
	t.Cleanup(func() { _ = c.Close() })
	var self hip.Thread
	must := func(e hip.Error) {
		t.Helper()
		if e != hip.Success {
			t.Fatal(e)
		}
	}
	image, err := kernels.Object("gfx942", "spin")
	if err != nil {
		t.Fatal(err)
	}
	m, e := c.ModuleLoadData(self, image)
	must(e)
	f, e := c.ModuleGetFunction(self, m, "spin")
	must(e)
	p, e := c.Malloc(self, 32<<20)
	must(e)
	run = func(rounds uint64) {
		t.Helper()
		args := binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, uint64(p)), rounds), 64)
		must(c.LaunchKernel(self, &hip.Launch{Function: f, Grid: hip.Dim3{X: 1, Y: 1, Z: 1}, Block: hip.Dim3{X: 64, Y: 1, Z: 1}, Args: args}))
		must(c.DeviceSynchronize(self))
	}
	return run, func() { _ = c.Close() } // which reports its last calls
}

// A worker under work, from its card to the rows of the database.
func TestWorkerUnderWork(t *testing.T) {
	w := workertest.Simulated(t, simbackend.Options{MemoryBytes: 256 << 20})
	e, err := exporter.New(exporter.Options{Source: w.Source(), Sessions: w, Calls: w.Calls(), Interval: 100 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	s := serve(t, &greptimetest.Server{})
	sink, err := Open(Options{Address: s.Address()}, rows.RunnerOptions{Options: rows.Options{Interval: time.Second}, Place: place, Read: e.Read})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() { e.Run(ctx) })
	wg.Go(func() { sink.Run(ctx) })
	run, end := spin(t, w)
	made := 0
	for sink.Stats().Sent < 7 {
		run(40_000)
		made++
		if sink.Stats().Sent > 4 {
			time.Sleep(50 * time.Millisecond) // less work than before
		}
	}
	end()
	counted := func(side string) (n uint64) {
		for _, c := range w.Calls().Calls() {
			if c.Side == side && c.Op == "hipDeviceSynchronize" {
				n += c.Count()
			}
		}
		return n
	}
	wait(t, "the last calls are reported", func() bool { return counted("client") == uint64(made) && counted("network") == uint64(made) })
	cancel()
	wg.Wait()
	if err := sink.Close(); err != nil {
		t.Fatal(err)
	}
	tables := s.Tables()

	figures := func(table, column string) (list []float64, distinct map[float64]bool) {
		distinct = map[float64]bool{}
		for _, r := range tables[table].Rows {
			switch v := r[column].(type) {
			case float64:
				list = append(list, v)
			case int64:
				list = append(list, float64(v))
			}
		}
		for _, v := range list {
			distinct[v] = true
		}
		return list, distinct
	}
	for _, c := range []struct {
		table, column string
		least, most   float64 // of the largest value
		changes       bool
	}{
		{"tf_gpu_usage", "compute_percentage", 5, 100, true},
		{"tf_gpu_usage", "compute_tflops", 1, 1400, true},
		{"tf_gpu_usage", "memory_bytes", 32 << 20, 256 << 20, false},
		{"tf_gpu_usage", "memory_percentage", 12, 100, false},
		{"tf_gpu_usage", "power_usage", 50, 1500, true},
		{"tf_gpu_usage", "temperature", 20, 110, true},
		{"tf_worker_usage", "memory_bytes", 32 << 20, 256 << 20, false},
		{"tf_worker_usage", "compute_percentage", 5, 100, true},
		{"tf_node_metrics", "gpu_count", 1, 1, false},
		{"tf_node_metrics", "allocated_vram_bytes", 32 << 20, 256 << 20, false},
		{"gpu_process_usage", "busy_ratio", 0.05, 1, true},
		{"gpu_process_usage", "vram_bytes", 32 << 20, 256 << 20, false},
		{"hip_rpc_latency", "le", 1e-5, 100, true},
		{"hip_rpc_latency", "seconds", 1e-3, 100, true},
	} {
		list, distinct := figures(c.table, c.column)
		most := 0.0
		for _, v := range list {
			most = max(most, v)
		}
		if len(list) < 3 || most < c.least || most > c.most || c.changes && len(distinct) < 3 {
			t.Errorf("%s.%s: %d values, %d different, largest %v; want %v to %v", c.table, c.column, len(list), len(distinct), most, c.least, c.most)
		}
	}
	// Every call is in exactly one bucket, and in the sum, on both sides of the wire and in
	// all of its parts.
	for _, side := range []string{"client", "worker", "queue", "execution", "network"} {
		var calls, buckets uint64
		for _, r := range tables["hip_rpc_latency"].Rows {
			if r["side"] != side || r["op"] != "hipDeviceSynchronize" {
				continue
			}
			if n, ok := r["calls"].(uint64); ok {
				calls += n
			}
			if n, ok := r["count"].(uint64); ok {
				buckets += n
			}
		}
		if calls != uint64(made) || buckets != uint64(made) {
			t.Errorf("%s: %d calls in sums, %d in buckets, %d were made", side, calls, buckets, made)
		}
	}
	who := map[any]bool{}
	for _, r := range tables["gpu_process_usage"].Rows {
		who[r["client_pid"]] = true
		if r["remote"] != true || r["session"] == nil || r["client_executable"] == nil {
			t.Errorf("%v", r)
		}
	}
	if !who[int64(os.Getpid())] || len(who) != 1 {
		t.Errorf("clients %v, and this is %d", who, os.Getpid())
	}
}

package exporter

import (
	"errors"
	"strings"
	"testing"

	"github.com/rocwire/rocwire/calls/rpcstats"
	"github.com/rocwire/rocwire/exporter/local"
	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/smi/smitest"
)

// localFake is a local.Source of fixed figures.
type localFake struct {
	r   local.Reading
	err error
}

func (l *localFake) Local() local.Reading { return l.r }
func (l *localFake) Err() error           { return l.err }

func someLocal() *localFake {
	return &localFake{r: local.Reading{
		Libraries: 2, Dropped: []local.Dropped{{Reason: "process"}, {Reason: "abandoned", Count: 3}},
		Processes: []local.Process{{
			PID: 4711, Name: "train\xff", Executable: "/usr/bin/python3.13", Library: "/opt/rocm/lib/libamdhip64.so.6", User: "ada",
			Container: smi.Container{ID: strings.Repeat("ab", 32), Name: "main", Pod: "train-0", PodUID: "u", Namespace: "lab"}, Since: smitest.Then,
			Calls: []local.Call{
				{Op: "hipMalloc", Codes: []local.Code{{Code: "hipErrorOutOfMemory", Count: 1}, {Code: "hipSuccess", Count: 3}},
					Latency: rpcstats.Hist{Nanos: 8_000_000, Buckets: []rpcstats.Bucket{{Index: -80, Count: 3}, {Index: -64, Count: 1}}}},
			},
			Launches: 3, Grid: local.Sizes{Buckets: []uint64{1, 0, 0, 2}, Sum: 17}, Block: local.Sizes{Buckets: []uint64{1, 2}, Sum: 5},
			Copies: []local.Copies{{Kind: "host_to_device", Count: 2, Bytes: 4096}},
			Device: local.Memory{Allocations: 3, Held: smi.Some(uint64(1 << 30))}, Managed: local.Memory{Allocations: 1, Held: smi.Some(uint64(4096))}, Host: local.Memory{Allocations: 2, Held: smi.Some(uint64(0))},
		}},
	}}
}

func TestLocalEnded(t *testing.T) {
	src := someLocal()
	p := &src.r.Processes[0]
	p.Ended, p.Device.Held = true, smi.Opt[uint64]{}
	p.Grid = local.Sizes{}
	e := start(t, Options{Local: src})
	e.Poll(t.Context())
	text := e.metrics(t)
	for series, want := range map[string]string{
		`hip_local_calls_total{code="hipSuccess",op="hipMalloc",pid="4711"}`:                  "3",
		`hip_local_call_duration_seconds_bucket{op="hipMalloc",pid="4711",le="0.0009765625"}`: "3",
		`hip_local_call_duration_seconds_count{op="hipMalloc",pid="4711"}`:                    "4",
		`hip_local_kernel_block_threads_bucket{pid="4711",le="1"}`:                            "1",
		`hip_local_kernel_block_threads_bucket{pid="4711",le="2"}`:                            "3",
		`hip_local_allocated_bytes{pid="4711"}`:                                               "", // what it held is free
		`hip_local_allocations_total{pid="4711"}`:                                             "3",
		`hip_local_kernel_grid_threads_count{pid="4711"}`:                                     "", // no launch had sizes
	} {
		if got := value(text, series); got != want {
			t.Errorf("%s: %q, want %q", series, got, want)
		}
	}
	src.err = errors.New("no")
	text = e.metrics(t)
	if strings.Contains(text, "hip_local_") || value(text, `gpu_exporter_collector_success{collector="local"}`) != "0" {
		t.Error("what is not known is shown")
	}
	if r := e.Read(); r.LocalErr == nil || len(r.Local.Processes) > 0 {
		t.Error("what is not known is told")
	}
}

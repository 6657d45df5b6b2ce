package exporter

import (
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"github.com/rocwire/rocwire/simgpu"
	simcard "github.com/rocwire/rocwire/simgpu/card"
	"github.com/rocwire/rocwire/smi"
)

// A simulated card, which has errors and a slow link on demand, is told as it is.
func TestSimulatedCard(t *testing.T) {
	seg, err := simcard.Create([]uint64{1 << 30, 1 << 30}, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer seg.Close()
	src, err := simgpu.NewSource(simgpu.Options{Segment: seg})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	for _, f := range []smi.Fault{
		{Kind: smi.FaultECC, Block: "sdma", Error: "uncorrectable", Count: 3},
		{Kind: smi.FaultECC, Count: 5},
		{Kind: smi.FaultLink, Width: smi.Some(4)},
	} {
		if err := src.Inject(t.Context(), 1, f); err != nil {
			t.Fatal(err)
		}
	}
	e := start(t, Options{Source: src})
	e.Poll(t.Context())
	s := e.metrics(t)
	for series, want := range map[string]string{
		`gpu_ecc_errors_total{gpu="1",severity="uncorrectable"}`:                    "3",
		`gpu_ecc_errors_total{gpu="1",severity="correctable"}`:                      "5",
		`gpu_ecc_errors_total{gpu="0",severity="correctable"}`:                      "0",
		`gpu_ecc_block_errors_total{block="sdma",gpu="1",severity="uncorrectable"}`: "3",
		`gpu_ecc_block_errors_total{block="umc",gpu="1",severity="correctable"}`:    "5",
		`gpu_pcie_width_lanes{gpu="1"}`:                                             "4",
		`gpu_pcie_width_lanes{gpu="0"}`:                                             "16",
		`gpu_metrics_stale_seconds{gpu="0"}`:                                        "0",
		`gpu_up{gpu="1"}`:                                                           "1",
		`gpu_exporter_collector_success{collector="device"}`:                        "1",
		`gpu_exporter_dropped_series_total{collector="device"}`:                     "0",
		`gpu_exporter_dropped_series_total{collector="ecc"}`:                        "0",
	} {
		if got := value(s, series); got != want {
			t.Errorf("%s = %q, want %q", series, got, want)
		}
	}
	problems, err := promlint.New(strings.NewReader(s)).Lint()
	if err != nil || len(problems) > 0 {
		t.Errorf("promlint: %v %v", problems, err)
	}
	if _, err := e.Gather(); err != nil {
		t.Error(err)
	}
}

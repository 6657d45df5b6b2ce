package exporter

import (
	"flag"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/rocwire/rocwire/exporter/collector"
)

func TestFlags(t *testing.T) {
	var o Options
	fs := flag.NewFlagSet("", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	o.AddFlags(fs)
	args := "--slow-interval 5s --max-processes 3 --max-series 4 --histograms native --metrics-compat device-metrics-exporter --events on --metrics-allow gpu_*,hip_* --metrics-deny *_info --compat-owner-labels --health-thresholds uncorrectable=2,umc=0 --health-thresholds bad-pages=7"
	if err := fs.Parse(strings.Fields(args)); err != nil {
		t.Fatal(err)
	}
	if o.SlowInterval != 5*time.Second || o.MaxProcesses != 3 || o.MaxSeries != 4 || o.Histograms != collector.HistogramsNative || o.Compat != collector.CompatDME || o.Events != EventsOn || len(o.Allow) != 2 || len(o.Deny) != 1 ||
		!o.CompatOwners || o.Health.String() != "uncorrectable=2,umc=0,bad-pages=7" {
		t.Errorf("%+v", o)
	}
	fs.VisitAll(func(f *flag.Flag) {
		if !strings.Contains(Usage(), "\n  --"+f.Name+" ") && !strings.HasPrefix(Usage(), "  --"+f.Name+" ") {
			t.Errorf("the help lacks --%s", f.Name)
		}
	})
}

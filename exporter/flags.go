package exporter

import (
	"flag"
	"time"

	"github.com/rocwire/rocwire/exporter/collector"
)

// AddFlags adds the flags that say which metrics are served and in which form. Values
// that make no sense are refused by New.
func (o *Options) AddFlags(fs *flag.FlagSet) {
	fs.DurationVar(&o.SlowInterval, "slow-interval", 30*time.Second, "how often what hardly changes is asked")
	fs.StringVar(&o.Events, "events", EventsAuto, "auto, on or off")
	fs.IntVar(&o.MaxProcesses, "max-processes", 256, "processes of one GPU that have series")
	fs.IntVar(&o.MaxSeries, "max-series", 5000, "series of one metric")
	fs.StringVar(&o.Histograms, "histograms", collector.HistogramsBoth, "both, native or classic")
	fs.Var(&o.Allow, "metrics-allow", "patterns of the only metrics to serve")
	fs.Var(&o.Deny, "metrics-deny", "patterns of metrics not to serve")
	fs.StringVar(&o.Compat, "metrics-compat", "", "names of another exporter to serve as well: "+collector.CompatDME)
	fs.BoolVar(&o.CompatOwners, "compat-owner-labels", false, "with --metrics-compat, fill in the labels of a GPU's owner")
	fs.Var(&o.Health, "health-thresholds", "how much a healthy GPU may have had")
}

// Usage is the help for the flags of AddFlags.
func Usage() string {
	return `  --slow-interval TIME  how often links, partitions, firmware and bad pages are
                      asked for                                      [30s]
  --events WHEN       count faults, resets and other events of the GPUs: auto (of
                      simulated ones), on, off; listening to real ones keeps them
                      from being divided otherwise                   [auto]
  --max-processes N   processes of one GPU that have series at most: those that
                      hold most of its memory                        [256]
  --max-series N      series of one metric at most                   [5000]
  --histograms FORM   both, native or classic                        [both]
  --metrics-allow GLOB,…  serve only metrics with such names: gpu_*  [all]
  --metrics-deny GLOB,…   do not serve metrics with such names; goes before
                      --metrics-allow                                [none]
  --metrics-compat device-metrics-exporter
                      serve the names of AMD's exporter beside ours  [no]
  --compat-owner-labels  with --metrics-compat, fill in pod, namespace, container
                      and job of GPUs that have one owner; its change ends the
                      GPU's series                                   [no]
  --health-thresholds WHAT=N,…  gpu_health of --metrics-compat is 0 with more than N:
                      uncorrectable errors, bad-pages, or errors of one part (umc=3)
                      [uncorrectable=0, and the GPU's own limit of bad pages]
`
}

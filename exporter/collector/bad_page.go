package collector

import "github.com/rocwire/rocwire/smi"

func init() { register("bad_page", func(*Options) collector { return badPageCollector{} }) }

var badPages = define(gauge, "gpu_bad_pages",
	"Pages of the GPU's memory that are not used any more: reserved (taken out of use), pending (will be), unreservable (could not be).", "gpu", "state")

// badPageCollector counts the pages of memory that are lost.
type badPageCollector struct{}

func (badPageCollector) update(v *View, emit *emitter) error {
	return eachDetail(v, emit, "bad_pages", func(c *Card) *Answer[[]smi.BadPage] { return &c.BadPages }, func(gpu string, list []smi.BadPage) {
		states := []string{smi.PageReserved, smi.PagePending, smi.PageUnreservable}
		n := map[string]int{}
		for _, p := range list {
			n[p.State]++
		}
		for _, s := range states {
			emit.gauge(badPages, float64(n[s]), gpu, s)
		}
	})
}

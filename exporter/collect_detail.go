package exporter

import (
	"errors"
	"strconv"
	"time"

	"github.com/rocwire/rocwire/smi"
)

func init() {
	registerCollector("partition", func(*Options) collector { return partitionCollector{} })
	registerCollector("firmware", func(*Options) collector { return firmwareCollector{} })
	registerCollector("bad_page", func(*Options) collector { return badPageCollector{} })
}

var (
	detailAge = define(gauge, "gpu_detail_age_seconds",
		"Time since the GPU last told what is asked seldom: xgmi, partitions, firmware, bad_pages.", "gpu", "detail")
	detailTook = define(gauge, "gpu_detail_duration_seconds", "How long the GPU's last answer took, whether good or not.", "gpu", "detail")

	partInfo    = define(gauge, "gpu_partition_info", "How the GPU is divided: into SPX, DPX, … parts, its memory into NPS1, NPS2, ….", "gpu", "compute", "memory")
	partCompute = define(gauge, "gpu_partition_compute_mode", "1 for the way in which the GPU is divided, 0 for those in which it could be.", "gpu", "mode")
	partMemory  = define(gauge, "gpu_partition_memory_mode", "1 for the way in which the GPU's memory is divided (NPS1, NPS2, …), 0 for those in which it could be.", "gpu", "mode")
	partFixed   = define(gauge, "gpu_partition_fixed", "1 if it is known that the GPU cannot be divided otherwise, else 0.", "gpu")

	firmwareInfo = define(gauge, "gpu_firmware_info", "Version of one piece of firmware the GPU runs.", "gpu", "firmware", "version")

	badPages = define(gauge, "gpu_bad_pages",
		"Pages of the GPU's memory that are not used any more: reserved (taken out of use), pending (will be), unreservable (could not be).", "gpu", "state")
)

// detailTimes tells how fresh an answer is, and what it cost.
func detailTimes(emit *emitter, gpu, detail string, asked, known bool, age, took time.Duration) {
	if known {
		emit.gauge(detailAge, age.Seconds(), gpu, detail)
	}
	if asked {
		emit.gauge(detailTook, took.Seconds(), gpu, detail)
	}
}

// eachDetail calls f with one detail of each card that is fresh and tells it.
func eachDetail[T any](v *view, emit *emitter, name string, of func(*detailView) *partView[T], f func(gpu string, value T)) error {
	var errs []error
	for i := range v.cards {
		c := &v.cards[i]
		gpu, p := strconv.Itoa(c.snap.Device.Index), of(&c.detail)
		detailTimes(emit, gpu, name, p.asked, p.known, p.age, p.took)
		errs = append(errs, p.failure(gpu, name))
		if c.fresh && p.known {
			f(gpu, p.value)
		}
	}
	return errors.Join(errs...)
}

// partitionCollector tells how the cards are divided and could be.
type partitionCollector struct{}

func (partitionCollector) update(v *view, emit *emitter) error {
	return eachDetail(v, emit, "partitions", func(d *detailView) *partView[*smi.Partitions] { return &d.partitions }, func(gpu string, p *smi.Partitions) {
		emit.info(partInfo, gpu, p.Compute, p.Memory)
		boolOpt(emit, partFixed, smi.Some(p.Fixed), gpu)
		choices := make([]string, 0, len(p.Profiles))
		for i := range p.Profiles {
			choices = append(choices, p.Profiles[i].Type)
		}
		modes(emit, partCompute, gpu, p.Compute, choices)
		modes(emit, partMemory, gpu, p.Memory, p.Memories)
	})
}

// modes emits 1 for the mode in force and 0 for the other choices.
func modes(emit *emitter, m *metric, gpu, now string, choices []string) {
	if now != "" {
		emit.gauge(m, 1, gpu, now)
	}
	told := map[string]bool{now: true}
	for _, c := range choices {
		if !told[c] { // a chip has one profile for each way, but a source may list more
			told[c] = true
			emit.gauge(m, 0, gpu, c)
		}
	}
}

// firmwareCollector tells what software the cards run themselves.
type firmwareCollector struct{}

func (firmwareCollector) update(v *view, emit *emitter) error {
	return eachDetail(v, emit, "firmware", func(d *detailView) *partView[[]smi.Firmware] { return &d.firmware }, func(gpu string, list []smi.Firmware) {
		for _, f := range list {
			emit.info(firmwareInfo, gpu, f.Name, f.Version)
		}
	})
}

// badPageCollector counts the pages of memory that are lost.
type badPageCollector struct{}

func (badPageCollector) update(v *view, emit *emitter) error {
	return eachDetail(v, emit, "bad_pages", func(d *detailView) *partView[[]smi.BadPage] { return &d.badPages }, func(gpu string, list []smi.BadPage) {
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

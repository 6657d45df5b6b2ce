//go:build linux && amd64

package ebpf

import (
	"errors"

	"github.com/cilium/ebpf"
)

// figures are what the tables in the kernel hold at one moment, by program.
type figures struct {
	totals    map[uint32]*probeTotals
	processes map[uint32]uint32 // the program's number, by that of the process
	series    map[uint32][]seriesRow
	failures  map[uint32][]failureRow
	drops     []uint64
}

type seriesRow struct {
	op uint32
	probeSeries
}

type failureRow struct {
	op    uint32
	code  int32
	count uint64
}

// read reads all tables but the allocations. Programs come before processes, so that
// one whose process is not there yet is one that was just begun, or one that ended.
func (k *kernel) read() (*figures, error) {
	f := &figures{
		totals: map[uint32]*probeTotals{}, processes: map[uint32]uint32{}, series: map[uint32][]seriesRow{}, failures: map[uint32][]failureRow{},
		drops: make([]uint64, len(dropReasons)),
	}
	err := errors.Join(
		each(k.objs.TotalsOf, func(id uint32, t *probeTotals) { c := *t; f.totals[id] = &c }),
		each(k.objs.Processes, func(pid uint32, p *probeProcess) { f.processes[pid] = p.Id }),
		each(k.objs.SeriesOf, func(key probeSeriesKey, s *probeSeries) {
			f.series[key.Id] = append(f.series[key.Id], seriesRow{key.Op, *s})
		}),
		each(k.objs.Failures, func(key probeFailureKey, n *uint64) {
			f.failures[key.Id] = append(f.failures[key.Id], failureRow{key.Op, key.Code, *n})
		}),
	)
	for i := range f.drops {
		err = errors.Join(err, k.objs.Drops.Lookup(uint32(i), &f.drops[i]))
	}
	return f, err
}

// chunk is how many entries are read at once: more than collide in one place of a table.
const chunk = 128

// each calls f with every entry of a table. What it is given is used again.
func each[K, V any](m *ebpf.Map, f func(K, *V)) error {
	keys, values := make([]K, chunk), make([]V, chunk)
	var at ebpf.MapBatchCursor
	for {
		n, err := m.BatchLookup(&at, keys, values, nil)
		for i := range n {
			f(keys[i], &values[i])
		}
		if errors.Is(err, ebpf.ErrKeyNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// remove deletes all that is kept of programs that ended.
func (k *kernel) remove(ended map[uint32]*probeTotals, f *figures) error {
	var errs []error
	drop := func(m *ebpf.Map, key any) {
		if err := m.Delete(key); err != nil && !errors.Is(err, ebpf.ErrKeyNotExist) {
			errs = append(errs, err)
		}
	}
	held := false
	for id, t := range ended {
		if pid := uint32(t.Tgid); f.processes[pid] == id {
			drop(k.objs.Processes, pid)
		}
		for i := range f.series[id] {
			drop(k.objs.SeriesOf, probeSeriesKey{Id: id, Op: f.series[id][i].op})
		}
		for _, r := range f.failures[id] {
			drop(k.objs.Failures, probeFailureKey{Id: id, Op: r.op, Code: r.code})
		}
		held = held || t.Remembered > 0
		drop(k.objs.TotalsOf, id)
	}
	if !held {
		return errors.Join(errs...)
	}
	var keys []probeAllocationKey
	errs = append(errs, each(k.objs.Allocations, func(key probeAllocationKey, _ *probeAllocation) {
		if ended[uint32(key.Id)] != nil {
			keys = append(keys, key)
		}
	}))
	for i := range keys {
		drop(k.objs.Allocations, &keys[i])
	}
	return errors.Join(errs...)
}

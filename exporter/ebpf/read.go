//go:build linux && amd64

package ebpf

import (
	"errors"

	"github.com/cilium/ebpf"

	"github.com/rocwire/rocwire/calls/rpcstats"
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
	op      uint32
	success uint64
	latency rpcstats.Hist
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
		each(k.objs.TotalsOf, &k.room.totals, func(id uint32, t *probeTotals) { c := *t; f.totals[id] = &c }),
		each(k.objs.Processes, &k.room.processes, func(pid uint32, p *probeProcess) { f.processes[pid] = p.Id }),
		each(k.objs.SeriesOf, &k.room.series, func(key probeSeriesKey, s *probeSeries) {
			f.series[key.Id] = append(f.series[key.Id], seriesRow{key.Op, s.Success, durations(s)})
		}),
		each(k.objs.Failures, &k.room.failures, func(key probeFailureKey, n *uint64) {
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

// entries is room for entries of a table.
type entries[K, V any] struct {
	keys   [chunk]K
	values [chunk]V
}

// room is used for each reading again.
type room struct {
	totals    entries[uint32, probeTotals]
	processes entries[uint32, probeProcess]
	series    entries[probeSeriesKey, probeSeries]
	failures  entries[probeFailureKey, uint64]
}

// each calls f with every entry of a table, which is in the room until f returns.
func each[K, V any](m *ebpf.Map, room *entries[K, V], f func(K, *V)) error {
	var at ebpf.MapBatchCursor
	for {
		n, err := m.BatchLookup(&at, room.keys[:], room.values[:], nil)
		for i := range n {
			f(room.keys[i], &room.values[i])
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
	errs = append(errs, each(k.objs.Allocations, new(entries[probeAllocationKey, probeAllocation]), func(key probeAllocationKey, _ *probeAllocation) {
		if ended[uint32(key.Id)] != nil {
			keys = append(keys, key)
		}
	}))
	for i := range keys {
		drop(k.objs.Allocations, &keys[i])
	}
	return errors.Join(errs...)
}

package amdsmi

import (
	"context"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/rocwire/rocwire/smi"
)

// Processes implements smi.Source. The driver lists a process under every card it
// may use; here it is listed where it holds or does something.
func (s *Source) Processes(ctx context.Context, index int) ([]smi.Process, error) {
	return ask(ctx, s, index, askProcesses, (*reader).processes)
}

// someProcesses is how many are asked for first.
const someProcesses = 256

// maxProcesses is how many are read at most; a variable for tests that have no time.
var maxProcesses = uint32(1 << 14)

func (r *reader) processes() ([]smi.Process, error) {
	var list []smi.Process
	for _, b := range r.processList() {
		if p, ok := r.process(b); ok {
			list = append(list, p)
		}
	}
	if err := r.failure(); err != nil {
		return nil, err
	}
	slices.SortFunc(list, func(a, b smi.Process) int { return int(int64(a.PID) - int64(b.PID)) })
	return slices.CompactFunc(list, func(a, b smi.Process) bool { return a.PID == b.PID }), nil
}

// processList asks with more room for as long as the library has more.
func (r *reader) processList() (list []buf) {
	size := r.l().procInfo.size
	for room := someProcesses; ; room *= 4 {
		count, n := r.mem.alloc(4)
		n.putUint32(uint32(room))
		at, array := r.mem.alloc(size * room)
		status := r.lib.call(fnProcessList, r.card.handle, count, at)
		found := n.length(oneUint32, maxProcesses)
		more := status == r.lib.abi.moreData || found > room
		if more && uint32(room) < maxProcesses {
			continue
		}
		if more { // more than anybody reads
			status = success
		}
		if err := r.lib.abi.failed(fnProcessList, status); err != nil {
			r.err = err
			return nil
		}
		r.answered = true
		for i := range min(found, room) {
			list = append(list, array[i*size:(i+1)*size])
		}
		return list
	}
}

// span is a number of units of time.
func span(o smi.Opt[uint64], unit time.Duration) smi.Opt[smi.Duration] {
	return optMap(o, func(v uint64) (smi.Duration, bool) {
		return smi.Duration(v) * smi.Duration(unit), v <= math.MaxInt64/uint64(unit)
	})
}

// process is one row, and whether the process holds or does anything on the card.
func (r *reader) process(b buf) (smi.Process, bool) {
	l, engines, memory := &r.l().procInfo, &r.l().procInfoEngineUsage, &r.l().procInfoMemoryUsage
	use, mem := b.part(l.engineUsage, 0), b.part(l.memoryUsage, 0)
	bytes := func(o smi.Opt[uint64]) smi.Opt[smi.Bytes] {
		return optMap(o, func(v uint64) (smi.Bytes, bool) { return smi.Bytes(v), v <= 1<<56 })
	}
	p := smi.Process{
		Device:      r.card.index,
		PID:         asUint32(b.counter(l.pid)).Or(0),
		VRAM:        or(bytes(mem.counter(memory.vramMem)), bytes(b.counter(l.mem))),
		GTT:         bytes(mem.counter(memory.gttMem)),
		HostMemory:  bytes(mem.counter(memory.cpuMem)),
		SDMA:        span(b.counter(l.sdmaUsage), time.Microsecond),
		Evicted:     span(b.counter(l.evictedTime), time.Millisecond),
		GFXTime:     span(use.counter(engines.gfx), time.Nanosecond),
		EncodeTime:  span(use.counter(engines.enc), time.Nanosecond),
		CUOccupancy: asInt(b.num(l.cuOccupancy)),
		Origin:      smi.OriginAMDSMI,
	}
	if p.VRAM == smi.Some(smi.Bytes(0)) { // some releases fill only the sum
		p.VRAM = or(bytes(b.counter(l.mem)), p.VRAM)
	}
	p.Name = baseName(b.text(l.name))
	if c := b.text(l.containerName); c != "" {
		p.Container = container(c)
	}
	idle := p.VRAM.Or(0) == 0 && p.GTT.Or(0) == 0 && p.HostMemory.Or(0) == 0 && p.SDMA.Or(0) == 0 && p.Evicted.Or(0) == 0 &&
		p.GFXTime.Or(0) == 0 && p.EncodeTime.Or(0) == 0 && p.CUOccupancy.Or(0) == 0
	return p, p.PID != 0 && !idle
}

// baseName is a program's name without its folder.
func baseName(s string) string { return s[strings.LastIndexByte(s, '/')+1:] }

// container is the container the library names: by its identity, or else by a name.
func container(s string) *smi.Container {
	if len(s) == 64 && hexDigits(s) == s {
		return &smi.Container{ID: s}
	}
	return &smi.Container{Name: s}
}

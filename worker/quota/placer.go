package quota

import "github.com/rocwire/rocwire/hip"

// Placer is the runtime's hip.Placer within the limits, nil if it has none.
func (q *Runtime) Placer() hip.Placer {
	if q.placer == nil {
		return nil
	}
	return placer{q}
}

type placer struct{ q *Runtime }

func (p placer) Unit() uint64 { return p.q.placer.Unit() }

func (p placer) ReserveRange(all, own hip.Span, part bool) (hip.Span, hip.Error) {
	return p.q.placer.ReserveRange(all, own, part)
}

// Grant gives what the limit leaves, and at most size.
func (p placer) Grant(t hip.Thread, size, least uint64) (uint64, hip.Error) {
	d := p.q.device(t.Device)
	if d == nil {
		return p.q.placer.Grant(t, size, least)
	}
	want, ok := d.takeSome(pages(size), least, true)
	if !ok || want == 0 {
		return 0, hip.ErrorOutOfMemory
	}
	got, code := p.grant(t, want, least)
	d.give(want - min(got, want))
	d.use(-int64(got))
	return got, code
}

// grant has the runtime grant want, once others have given way, or else as much of it as there is, if that is least.
func (p placer) grant(t hip.Thread, want, least uint64) (got uint64, code hip.Error) {
	got, code = p.q.placer.Grant(t, want, least)
	for range mostPresses {
		if code == hip.Success && got >= want || code != hip.Success && code != hip.ErrorOutOfMemory {
			break
		}
		if code == hip.Success {
			_ = p.q.placer.Return(t, got) // it was granted just now, and who makes room is to see it
		}
		more := p.q.press(t.Device, want)
		if got, code = p.q.placer.Grant(t, want, least); !more {
			break
		}
	}
	if code != hip.Success {
		got = 0
	}
	return got, code
}

func (p placer) Return(t hip.Thread, size uint64) hip.Error {
	code := p.q.placer.Return(t, size)
	if d := p.q.device(t.Device); d != nil && code == hip.Success {
		d.use(int64(size))
		d.give(size)
	}
	return code
}

func (p placer) MallocAt(t hip.Thread, addr hip.Ptr, size uint64) hip.Error {
	if p.Unit() != hip.Granule { // nothing was granted
		_, code := p.q.allocate(t, size, func() (hip.Ptr, hip.Error) { return addr, p.q.placer.MallocAt(t, addr, size) })
		return code
	}
	code := p.q.placer.MallocAt(t, addr, size)
	if d := p.q.device(t.Device); d != nil && code == hip.Success {
		d.use(int64(size))
		p.q.keep(addr, block{device: t.Device, size: size, placed: true})
	}
	return code
}

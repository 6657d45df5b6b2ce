package hiptest

import (
	"fmt"
	"math"
	"slices"

	"github.com/rocwire/rocwire/hip"
)

// source is where a piece of a sequence's memory is from.
type source struct {
	name    string
	device  int32 // -1: it is the program's
	managed bool
	get     func(size uint64, st *line) (at hip.Ptr, mem []byte, err hip.Error)
	free    func(p *piece, st *line) hip.Error
	inTurn  bool // both in the turn of the stream
	home    bool // no other device uses it
	busy    bool // it must not be freed while it is used
}

func (s *sequence) ofDevice(th hip.Thread) *source {
	return &source{name: "device", device: th.Device,
		get: func(size uint64, _ *line) (hip.Ptr, []byte, hip.Error) {
			p, err := s.e.Malloc(th, size)
			return p, nil, err
		},
		free: func(p *piece, _ *line) hip.Error { return s.e.Free(th, p.at) },
	}
}

func (s *sequence) ofPool(th hip.Thread) *source {
	return &source{name: "pool's", device: th.Device, inTurn: true,
		get: func(size uint64, st *line) (hip.Ptr, []byte, hip.Error) {
			p, err := s.e.MallocAsync(st.th, size, st.stream)
			return p, nil, err
		},
		free: func(p *piece, st *line) hip.Error { return s.e.FreeAsync(st.th, p.at, st.stream) },
	}
}

// pool makes one of the program's.
func (s *sequence) pool(th hip.Thread) hip.MemPool {
	s.e.Helper()
	p := s.e.pool(th.Device, 0)
	if s.r.IntN(2) == 0 {
		s.ok("MemPoolSetAttribute", s.e.MemPoolSetAttribute(th, p, hip.MemPoolAttrReleaseThreshold, 1<<20))
	}
	if s.r.IntN(2) == 0 {
		s.ok("MemPoolSetAttribute", s.e.MemPoolSetAttribute(th, p, hip.MemPoolReuseAllowOpportunistic, 0))
	}
	return p
}

func (s *sequence) ofOwnPool(th hip.Thread) *source {
	from := s.ofPool(th)
	from.name = "own pool's"
	from.get = func(size uint64, st *line) (hip.Ptr, []byte, hip.Error) {
		p, err := s.e.MallocFromPoolAsync(st.th, size, s.pools[th.Device], st.stream)
		return p, nil, err
	}
	return from
}

// anyPool is one of a device.
func (s *sequence) anyPool(th hip.Thread) *source {
	if s.r.IntN(2) == 0 {
		return s.ofOwnPool(th)
	}
	return s.ofPool(th)
}

// mapped is memory at addresses of the program's, which other devices may use if they can: AMD's library has one of them copy it where the other side is
// pinned memory that was made for that device.
func (s *sequence) mapped(th hip.Thread) *source {
	_, all := s.e.whoCan(th.Device)
	unmap := map[hip.Ptr]func() hip.Error{}
	return &source{
		name: "mapped", device: th.Device, busy: true, home: !all,
		get: func(size uint64, _ *line) (p hip.Ptr, _ []byte, _ hip.Error) {
			p, free := s.e.mapOf(th, size)
			unmap[p] = free
			return p, nil, hip.Success
		},
		free: func(p *piece, _ *line) hip.Error { return unmap[p.at]() },
	}
}

// addVariable makes a piece of a variable of a module.
func (s *sequence) addVariable(th hip.Thread, st *line) {
	s.e.Helper()
	m, err := s.e.ModuleLoadData(th, s.e.image("variables"))
	s.ok("ModuleLoadData", err)
	at, n, err := s.e.ModuleGetGlobal(th, m, "big_table")
	s.ok("ModuleGetGlobal", err)
	s.addCleared(&piece{name: "variable", device: th.Device, at: at, want: make([]float32, n/4)}, st)
}

// addCleared makes a piece of memory that is there, whose first stream clears it.
func (s *sequence) addCleared(p *piece, st *line) {
	s.e.Helper()
	p.name, p.owner = fmt.Sprintf("%s %d", p.name, len(s.pieces)), st
	s.ok("MemsetD32Async", s.e.MemsetD32Async(st.th, p.at, 0, uint64(len(p.want)), st.stream))
	s.pieces = append(s.pieces, p)
}

// addForeign makes a piece of memory that another process has. AMD's 6.4 crashes now and then when rows of it are copied between devices.
func (s *sequence) addForeign(th hip.Thread, st *line) {
	s.e.Helper()
	o, n := s.other, s.size()
	p, err := o.Malloc(th, uint64(4*n))
	s.ok("Malloc of another", err)
	h, err := o.IpcGetMemHandle(th, p)
	s.ok("IpcGetMemHandle of another", err)
	at, err := s.e.IpcOpenMemHandle(th, &h, 1)
	s.ok("IpcOpenMemHandle", err)
	s.addCleared(&piece{name: "another's memory", device: th.Device, home: true, at: at, want: make([]float32, n)}, st)
}

func (s *sequence) managed() *source {
	return &source{name: "managed", device: -1, managed: true,
		get: func(size uint64, _ *line) (hip.Ptr, []byte, hip.Error) {
			p, err := s.e.MallocManaged(s.e.th, size, hip.MemAttachGlobal)
			if err != hip.Success {
				return 0, nil, err
			}
			return p, hostBytes(p, int(size)), err
		},
		free: func(p *piece, _ *line) hip.Error { return s.e.Free(s.e.th, p.at) },
	}
}

func (s *sequence) pinned() *source {
	return &source{name: "pinned", device: -1,
		get: func(size uint64, _ *line) (hip.Ptr, []byte, hip.Error) {
			p, err := s.e.HostMalloc(s.e.th, size, 0)
			if err != hip.Success {
				return 0, nil, err
			}
			at, err := s.e.HostGetDevicePointer(s.e.th, p, 0)
			return at, hostBytes(p, int(size)), err
		},
		free: func(p *piece, _ *line) hip.Error { return s.e.HostFree(s.e.th, ptr(p.mem)) },
	}
}

// size is one of a piece, in floats.
func (s *sequence) size() int { return []int{100, 3000, 40000}[s.r.IntN(3)] + s.r.IntN(64) }

// add gets a piece, and gives it back in the end.
func (s *sequence) add(from *source, st *line) {
	s.e.Helper()
	p := &piece{name: fmt.Sprintf("%s memory %d", from.name, len(s.pieces)), device: from.device, home: from.home, from: from}
	s.pieces = append(s.pieces, p)
	s.fill(p, st)
	if from.name == "pinned" { // the others end with the session
		s.e.Cleanup(func() { _ = from.free(p, nil) })
	}
}

// fill gets memory for a piece, whose first stream writes it.
func (s *sequence) fill(p *piece, st *line) {
	s.e.Helper()
	n := s.size()
	at, mem, err := p.from.get(uint64(4*n), st)
	s.ok(p.name, err)
	p.at, p.mem, p.want, p.owner = at, mem, make([]float32, n), st
	if mem != nil && s.r.IntN(2) == 0 {
		copy(mem, s.values(p.want))
		return
	}
	v := float32(s.r.IntN(100))
	for i := range p.want {
		p.want[i] = v
	}
	s.ok("MemsetD32Async", s.e.MemsetD32Async(st.th, at, int32(math.Float32bits(v)), uint64(n), st.stream))
}

// renew gives the memory of a piece back, while what uses it is perhaps still under way, and gets other.
func (s *sequence) renew(p *piece, st *line) {
	s.e.Helper()
	if !p.here(st.th) {
		return
	}
	s.plans = slices.DeleteFunc(s.plans, func(g *plan) bool {
		gone := slices.Contains(g.pieces, p)
		if gone {
			s.say("%s ends", g.name)
			s.ok("GraphExecDestroy", s.e.GraphExecDestroy(g.th, g.exec))
		}
		return gone
	})
	if p.from.inTurn {
		s.use(p, st)
	} else if p.device < 0 || p.owner.th.Device != p.device || p.from.busy { // that another device uses it, a free does not wait for
		s.ok("StreamSynchronize", s.e.StreamSynchronize(p.owner.th, p.owner.stream))
	}
	s.say("%s: %s is freed and got again", st.name, p.name)
	s.ok("free of "+p.name, p.from.free(p, st))
	s.fill(p, st)
}

func (s *sequence) create(th hip.Thread, flags uint32) hip.Stream {
	s.e.Helper()
	st, err := s.e.StreamCreateWithPriority(th, flags, 0)
	s.ok("StreamCreate", err)
	return st
}

// end destroys a stream that has perhaps still something to do, behind which another one is put, and makes it anew.
func (s *sequence) end(st *line) {
	s.e.Helper()
	i := slices.IndexFunc(s.streams, func(o *line) bool { return o.th == st.th && o != st && o.stream != hip.StreamNull })
	if st.stream == hip.StreamNull || i < 0 {
		return
	}
	heir := s.streams[i]
	s.behind(st, heir)
	for _, p := range s.pieces {
		if p.owner == st {
			p.owner = heir
		}
	}
	for _, g := range s.plans {
		if g.last == st {
			g.last = heir
		}
	}
	heir.later, st.later = append(heir.later, st.later...), nil
	s.say("%s ends, and begins again", st.name)
	s.ok("StreamDestroy", s.e.StreamDestroy(st.th, st.stream))
	flags := uint32(nonBlocking)
	if st.blocking {
		flags = 0
	}
	st.stream, st.word, st.written = s.create(st.th, flags), 0, 0
}

// manyWords is how many streams of a device may be waited for.
const manyWords = 1 << 10

// flag has a stream wait for a value that another one of its device writes. Each stream has a word of its own for that: of several, who writes first is not known.
func (s *sequence) flag(from, st *line) {
	s.e.Helper()
	if from.word == 0 {
		from.word = s.words[from.th.Device]
		s.words[from.th.Device] += 8
	}
	from.written++
	s.ok("StreamWriteValue64", s.e.StreamWriteValue64(from.th, from.stream, from.word, from.written, 0))
	s.ok("StreamWaitValue64", s.e.StreamWaitValue64(st.th, st.stream, from.word, from.written, hip.StreamWaitValueGte, ^uint64(0)))
}

// remember keeps an event behind what a stream has, or has the stream wait for one from before, which it need not.
func (s *sequence) remember(st *line) {
	s.e.Helper()
	if len(s.old) < 4 || s.r.IntN(4) == 0 {
		s.old = append(s.old, s.event(st))
		return
	}
	i := s.r.IntN(len(s.old))
	s.say("%s waits for an event from before", st.name)
	s.ok("StreamWaitEvent", s.e.StreamWaitEvent(st.th, st.stream, s.old[i], 0))
	if s.r.IntN(2) == 0 {
		s.ok("EventDestroy", s.e.EventDestroy(st.th, s.old[i]))
		s.old = slices.Delete(s.old, i, i+1)
	}
}

// lend has a stream copy to memory of a pool, and another one copy from there and free it.
func (s *sequence) lend(st *line, a, b *piece) {
	s.e.Helper()
	o := s.streams[s.r.IntN(len(s.streams))]
	if a == b || o.th != st.th || a.grid != nil || b.grid != nil || !together(st.th, a, b) {
		return
	}
	x, y, n := s.part(a, b)
	get := s.anyPool(st.th).get
	s.use(a, st)
	s.say("%s: %s+%d = %s+%d, %d floats, by way of a pool and %s", st.name, b.name, y, a.name, x, n, o.name)
	m, _, err := get(uint64(4*n), st)
	s.ok("memory of a pool", err)
	s.ok("MemcpyAsync", s.e.MemcpyAsync(st.th, m, a.at+hip.Ptr(4*x), uint64(4*n), hip.MemcpyDefault, st.stream))
	s.behind(st, o)
	s.use(b, o)
	s.ok("MemcpyAsync", s.e.MemcpyAsync(o.th, b.at+hip.Ptr(4*y), m, uint64(4*n), hip.MemcpyDefault, o.stream))
	s.ok("FreeAsync", s.e.FreeAsync(o.th, m, o.stream))
	copy(b.want[y:][:n], a.want[x:])
}

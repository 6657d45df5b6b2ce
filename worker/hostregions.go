package worker

import (
	"math"
	"runtime/debug"
	"sync"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/aside"
	"github.com/rocwire/rocwire/hip/hiprpc"
	"github.com/rocwire/rocwire/internal/pagewatch"
	"github.com/rocwire/rocwire/wire"
	"github.com/rocwire/rocwire/worker/hostmem"
)

// hostRegions are pieces of device memory that stand for host memory of the client. Its kernels use them here; what either side wrote
// travels as a difference at HIP's synchronization points.
type hostRegions struct {
	mu      sync.Mutex
	open    map[hip.Ptr]*hostRegion
	claims  claims
	try     sync.Once
	inPlace bool // devices see memory of this process at its own address; known after try

	streams aside.Streams
}

type hostRegion struct {
	device  int32
	claimed bool             // lies where the client has it
	mu      sync.Mutex       // one comparison at a time; of what follows
	size    int              // 0 when it has ended
	twin    []byte           // what the client has, as far as both know
	watch   *pagewatch.Watch // nil where this process does not look at the memory itself
}

// maxHostBytes bounds the twins of one session.
const maxHostBytes = 8 << 30

// hostPlacer is a Placer that can place host memory, which does not count as device memory.
type hostPlacer interface {
	HostMallocAt(t hip.Thread, addr hip.Ptr, size uint64, flags uint32) hip.Error
}

// doHostExpose makes device memory that stands for host memory of the client. It is zero, and so is the twin.
func (s *session) doHostExpose(r *wire.Request) {
	var q hiprpc.Host
	if !q.Decode(r.Fixed) {
		s.malformed(r)
		return
	}
	if !s.checked(r, s.device(q.Device)) {
		return
	}
	if s.direct == nil {
		s.mayWait(r, func(r *wire.Request) { s.expose(r, &q) }) // as for other memory of such a runtime
		return
	}
	s.expose(r, &q)
}

// expose makes a region.
func (s *session) expose(r *wire.Request, q *hiprpc.Host) {
	h := &s.host
	h.mu.Lock()
	defer h.mu.Unlock()
	claim, claimed := h.claims.find(uint64(q.Addr))
	pages := (q.Size + hip.Granule - 1) &^ (hip.Granule - 1)
	switch {
	case claimed && claim.size == q.Size:
	case claimed, pages < q.Size, !s.placeable(hiprpc.Place{Addr: q.Addr, Size: pages}):
		s.reply(r, hip.ErrorInvalidValue, nil)
		return
	}
	total := q.Size
	for _, x := range h.open {
		total += uint64(x.size)
	}
	if total > maxHostBytes {
		s.reply(r, hip.ErrorOutOfMemory, nil)
		return
	}
	if _, twice := h.open[q.Addr]; twice {
		s.reply(r, hip.ErrorInvalidValue, nil)
		return
	}
	if !s.takes(r, regionSize(q.Size)) {
		return
	}
	x := &hostRegion{device: q.Device, claimed: claimed, size: int(q.Size), twin: make([]byte, q.Size)}
	if h.open == nil {
		h.open = map[hip.Ptr]*hostRegion{}
	}
	h.open[q.Addr] = x
	var code hip.Error
	switch t := (hip.Thread{Device: q.Device}); {
	case claimed:
		code = s.registerClaim(t, q.Addr, q.Size)
	case s.direct != nil:
		code = s.mallocHostAt(t, q.Addr, pages)
	default: // the library may wait for what comes by the line, on which other regions are looked for
		x.mu.Lock()
		h.mu.Unlock()
		if code = s.mallocHostAt(t, q.Addr, pages); code == hip.Success {
			code = s.clearRegion(t, q.Addr, pages)
		}
		x.mu.Unlock()
		h.mu.Lock()
		if h.open[q.Addr] != x { // the device was reset meanwhile
			s.reply(r, hip.ErrorContextIsDestroyed, nil)
			return
		}
	}
	if code != hip.Success {
		delete(h.open, q.Addr)
		s.ended(x)
		s.reply(r, code, nil)
		return
	}
	if s.direct != nil || claimed {
		x.watch = pagewatch.New(uint64(q.Addr), q.Size, pagewatch.Options{Off: s.direct == nil, Private: true}) // a card's writes are not this process's
	}
	s.reply(r, hip.Success, nil)
}

// regionSize is the host memory that a region of n bytes takes, with its twin.
func regionSize(n uint64) uint64 { return 2*up(n) + hostmem.Mapping }

// ended gives back what a region has taken. It is in the table no more.
func (s *session) ended(x *hostRegion) {
	if size := x.end(); size > 0 {
		s.mem.Give(regionSize(uint64(size)))
	}
}

// mallocHostAt makes memory for a region: host memory if the runtime has such, otherwise device memory.
func (s *session) mallocHostAt(t hip.Thread, addr hip.Ptr, pages uint64) hip.Error {
	if s.hosts != nil {
		return s.hosts.HostMallocAt(t, addr, pages, hip.HostMallocMapped)
	}
	if unit := s.placer.Unit(); unit != hip.Granule {
		return s.placer.MallocAt(t, addr, (pages+unit-1)&^(unit-1))
	}
	if _, code := s.placer.Grant(t, pages, pages); code != hip.Success {
		return code
	}
	return s.placer.MallocAt(t, addr, pages)
}

// hostAddress decodes a device and an address that stands for the client's host memory, and checks the device.
func (s *session) hostAddress(r *wire.Request) (t hip.Thread, addr hip.Ptr, ok bool) {
	d := wire.NewDec(r.Fixed)
	t, addr = hip.Thread{Device: d.I32()}, hip.Ptr(d.U64())
	if !d.Done() {
		s.malformed(r)
		return t, addr, false
	}
	return t, addr, s.checked(r, s.device(t.Device))
}

// doHostHide ends a region. The client knows that nothing uses it.
func (s *session) doHostHide(r *wire.Request) {
	t, addr, ok := s.hostAddress(r)
	if !ok {
		return
	}
	s.host.mu.Lock()
	x := s.host.open[addr]
	ok = x != nil && !x.claimed
	if ok {
		delete(s.host.open, addr)
	}
	s.host.mu.Unlock()
	if !ok {
		s.reply(r, hip.ErrorInvalidValue, nil)
		return
	}
	s.ended(x)
	s.reply(r, s.freeNow(t, addr), nil)
}

// hostRegion decodes address and offset and finds the region.
func (s *session) hostRegion(r *wire.Request) (x *hostRegion, addr hip.Ptr, from int, ok bool) {
	d := wire.NewDec(r.Fixed)
	addr = hip.Ptr(d.U64())
	off := d.U64()
	if !d.Done() {
		s.malformed(r)
		return nil, 0, 0, false
	}
	s.host.mu.Lock()
	x = s.host.open[addr]
	s.host.mu.Unlock()
	if x == nil || off > math.MaxInt {
		s.reply(r, hip.ErrorInvalidValue, nil)
		return nil, 0, 0, false
	}
	return x, addr, int(off), true
}

// doHostPush takes over what the client wrote. It happens at once: host memory has no stream.
func (s *session) doHostPush(r *wire.Request) {
	x, addr, from, ok := s.hostRegion(r)
	if !ok {
		return
	}
	if r.BulkLen > hiprpc.MaxDiff+4096 {
		s.malformed(r)
		return
	}
	diff := make([]byte, r.BulkLen)
	if r.ReadBulk(diff) != nil {
		return
	}
	if s.direct == nil && !x.claimed {
		s.reply(r, s.pushRegion(x, addr, diff, from), nil)
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	code := s.guarded(x, addr, from, func(mem []byte) hip.Error {
		if hiprpc.ApplyDiff(mem, x.twin, diff, from) != nil {
			return hip.ErrorInvalidValue
		}
		return hip.Success
	})
	s.reply(r, code, nil)
}

// atOnce is how many bytes of a region are compared on the line; more would hold up what comes next for longer than to leave the line takes.
const atOnce = 128 << 10

// manyPages is how large a region may be for the question what was written to be asked on the line.
const manyPages = 1 << 30

// doHostPull answers with what the device wrote since it was last asked.
func (s *session) doHostPull(r *wire.Request) {
	x, addr, from, ok := s.hostRegion(r)
	if !ok {
		return
	}
	near := s.direct != nil || x.claimed
	if near && x.mu.TryLock() { // nobody else is at it, and nearly always there is next to nothing to compare
		p, done := s.pullAtOnce(x, addr, from)
		x.mu.Unlock()
		if done {
			s.pulled(r, p)
			return
		}
	}
	s.wait(r, func(r *wire.Request) {
		var p pull
		if near {
			x.mu.Lock()
			p = s.pullNear(x, addr, from, from == 0)
			x.mu.Unlock()
		} else {
			p.diff, p.next, p.code = s.pullRegion(x, addr, from)
		}
		s.pulled(r, p)
	})
}

// pull is what the device wrote to a region from some offset up to the next.
type pull struct {
	diff []byte
	next int
	code hip.Error
}

// pulled answers a pull.
func (s *session) pulled(r *wire.Request, p pull) {
	if p.code != hip.Success {
		s.reply(r, p.code, nil)
		return
	}
	var buf [8]byte
	e := wire.Enc{B: buf[:0]}
	e.U64(uint64(p.next))
	s.replyBulk(r, e.B, p.diff)
}

// pullAtOnce is pullNear if that is short. Called with the region's mu.
func (s *session) pullAtOnce(x *hostRegion, addr hip.Ptr, from int) (p pull, done bool) {
	if from != 0 || x.size > manyPages || x.size == 0 {
		return p, false
	}
	x.watch.Look()
	if x.watch.Due() > atOnce {
		return p, false
	}
	return s.pullNear(x, addr, 0, false), true
}

// pullNear compares a region whose memory is this process's, after a look at what was written if that is asked for. Called with its mu.
func (s *session) pullNear(x *hostRegion, addr hip.Ptr, from int, look bool) (p pull) {
	p.code = s.guarded(x, addr, from, func(mem []byte) hip.Error {
		if from%hiprpc.Block != 0 && from != len(mem) {
			return hip.ErrorInvalidValue
		}
		if look {
			x.watch.Look()
		}
		d := hiprpc.NewDiffer(mem, x.twin, from, hiprpc.MaxDiff)
		p.next = d.LookAt(x.watch)
		p.diff = d.Diff
		return hip.Success
	})
	return p
}

// guarded runs f on a region's device memory, of which it looks at what begins at from. The client may free it meanwhile, against its own interest:
// that is an error, no crash. Called with its mu.
func (s *session) guarded(x *hostRegion, addr hip.Ptr, from int, f func(mem []byte) hip.Error) (code hip.Error) {
	if x.size == 0 || from > x.size {
		return hip.ErrorInvalidValue
	}
	mem := bytesAt(uint64(addr), uint64(x.size))
	if !x.claimed {
		var ok bool
		if mem, ok = s.memory(addr, uint64(x.size)); !ok {
			return hip.ErrorInvalidValue
		}
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if e := recover(); e != nil {
			if _, fault := e.(interface{ Addr() uintptr }); !fault {
				panic(e)
			}
			code = hip.ErrorInvalidValue
		}
	}()
	return f(mem)
}

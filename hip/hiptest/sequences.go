package hiptest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/rocwire/rocwire/hip"
)

// sequence is a random program without races: what it does to memory is done to a model at the time of the call, and looked at when HIP says that it must be done.
// Each piece of memory is one stream's; another stream that uses it is put behind that one first, unless HIP does that.
type sequence struct {
	e       *env
	r       *rand.Rand
	f       hip.Function
	streams []hip.Stream // the null stream, blocking ones, others
	null    int          // how many of them the null stream waits for, itself included
	pieces  []*piece
	later   [][]landing // copies to memory that HIP knows nothing of, by stream
	did     []string    // the last calls, for who looks for what is wrong
}

// piece is memory of floats.
type piece struct {
	name  string
	at    hip.Ptr // where kernels see it
	mem   []byte  // the same for the program; nil: it is the device's
	want  []float32
	owner int // stream
}

// landing is where a copy arrives that has been asked for.
type landing struct {
	got  []byte
	want []float32
}

func (s *sequence) say(format string, args ...any) {
	s.did = append(s.did, fmt.Sprintf(format, args...))
}

// wrong ends the test with the last calls.
func (s *sequence) wrong(what string, i int, got, want float32) {
	s.e.Helper()
	for _, d := range s.did[max(0, len(s.did)-40):] {
		s.e.Log(d)
	}
	s.e.Fatalf("%s: element %d is %v, want %v", what, i, got, want)
}

func (s *sequence) compare(what string, got []byte, want []float32) {
	s.e.Helper()
	if bytes.Equal(got, f32s(want)) {
		return
	}
	for i := range want {
		if x := math.Float32frombits(binary.LittleEndian.Uint32(got[4*i:])); x != want[i] {
			s.wrong(what, i, x, want[i])
		}
	}
}

// use puts a stream behind what was done to a piece.
func (s *sequence) use(p *piece, st int) {
	if from := p.owner; from != st && !(from < s.null && st < s.null && (from == 0 || st == 0)) {
		v := s.e.event(0)
		s.e.ok("EventRecord", s.e.EventRecord(s.e.th, v, s.streams[from]))
		s.e.ok("StreamWaitEvent", s.e.StreamWaitEvent(s.e.th, s.streams[st], v, 0))
		s.e.ok("EventDestroy", s.e.EventDestroy(s.e.th, v))
		s.say("stream %d waits for %d", st, from)
	}
	p.owner = st
}

// part is a range of both pieces, as long: often all of it, or little of it.
func (s *sequence) part(a, b *piece) (x, y, n int) {
	most := min(len(a.want), len(b.want))
	n = 1 + s.r.IntN([]int{most, 8, 200, 5000}[s.r.IntN(4)])
	if n = min(n, most); s.r.IntN(3) == 0 {
		n = most
	}
	return s.r.IntN(len(a.want) - n + 1), s.r.IntN(len(b.want) - n + 1), n
}

func (s *sequence) any() *piece { return s.pieces[s.r.IntN(len(s.pieces))] }

// step is one asynchronous call.
func (s *sequence) step() {
	e, st := s.e, s.r.IntN(len(s.streams))
	stream := s.streams[st]
	a, b := s.any(), s.any()
	x, y, n := s.part(a, b)
	size := uint64(4 * n)
	to, from := b.at+hip.Ptr(4*y), a.at+hip.Ptr(4*x)
	switch s.r.IntN(8) {
	case 0: // the stream is late
		d := time.Duration(s.r.IntN(3000)) * time.Microsecond
		s.say("stream %d is late by %v", st, d)
		e.ok("LaunchHostFunc", e.LaunchHostFunc(e.th, stream, func() { time.Sleep(d) }))
	case 1: // from memory that HIP knows nothing of, and that stays as it is
		s.use(b, st)
		h := e.host(int(size))
		copy(h, s.values(b.want[y:][:n]))
		s.say("stream %d: %d floats to %s+%d", st, n, b.name, y)
		e.ok("MemcpyAsync", e.MemcpyAsync(e.th, to, ptr(h), size, hip.MemcpyHostToDevice, stream))
	case 2: // and to such
		s.use(a, st)
		h := e.host(int(size))
		s.say("stream %d: %d floats from %s+%d", st, n, a.name, x)
		e.ok("MemcpyAsync", e.MemcpyAsync(e.th, ptr(h), from, size, hip.MemcpyDeviceToHost, stream))
		s.later[st] = append(s.later[st], landing{h, append([]float32(nil), a.want[x:][:n]...)})
	case 3:
		s.use(b, st)
		v := float32(s.r.IntN(100))
		s.say("stream %d: %s+%d, %d floats = %v", st, b.name, y, n, v)
		e.ok("MemsetD32Async", e.MemsetD32Async(e.th, to, int32(math.Float32bits(v)), uint64(n), stream))
		for i := range n {
			b.want[y+i] = v
		}
	case 4, 5:
		if a == b {
			return
		}
		s.use(a, st)
		s.use(b, st)
		s.say("stream %d: %s+%d = %s+%d, %d floats", st, b.name, y, a.name, x, n)
		e.ok("MemcpyAsync", e.MemcpyAsync(e.th, to, from, size, hip.MemcpyDefault, stream))
		copy(b.want[y:][:n], a.want[x:])
	default:
		s.use(a, st)
		s.use(b, st)
		if a == b {
			y = x
			to = from
		}
		s.say("stream %d: %s+%d += %s+%d, %d floats", st, b.name, y, a.name, x, n)
		e.launch(s.f, uint32(n+63)/64, 64, stream, uint32(n), float32(1), from, to)
		large := false
		for i := range n {
			b.want[y+i] += a.want[x+i]
			large = large || b.want[y+i] > 1<<20
		}
		if large { // sums stay exact
			e.ok("MemsetD32Async", e.MemsetD32Async(e.th, b.at, 0, uint64(len(b.want)), stream))
			clear(b.want)
		}
	}
}

// values makes new ones.
func (s *sequence) values(f []float32) []byte {
	base := s.r.IntN(1000)
	for i := range f {
		f[i] = float32((base + i) % 1009)
	}
	return f32s(f)
}

// wait has the program wait in some way for a stream, and says for which others that was, too.
func (s *sequence) wait(st int) (others func(st int) bool) {
	e, stream := s.e, s.streams[st]
	e.Helper()
	one := func(i int) bool { return i == st }
	every := func(int) bool { return true }
	event := func() hip.Event {
		v := e.event(0)
		e.ok("EventRecord", e.EventRecord(e.th, v, stream))
		return v
	}
	until := func(what string, f func() hip.Error) {
		for code := f(); code != hip.Success; code = f() {
			if code != hip.ErrorNotReady {
				e.ok(what, code)
			}
		}
	}
	way := s.r.IntN(9)
	s.say("wait for stream %d, way %d", st, way)
	switch way {
	case 0:
		e.ok("DeviceSynchronize", e.DeviceSynchronize(e.th))
		return every
	case 1:
		v := event()
		e.ok("EventSynchronize", e.EventSynchronize(e.th, v))
		e.ok("EventDestroy", e.EventDestroy(e.th, v))
	case 2:
		v := event()
		until("EventQuery", func() hip.Error { return e.EventQuery(e.th, v) })
		e.ok("EventDestroy", e.EventDestroy(e.th, v))
	case 3:
		until("StreamQuery", func() hip.Error { return e.StreamQuery(e.th, stream) })
	case 4:
		e.ok("Free", e.Free(e.th, e.malloc(uint64(1+s.r.IntN(1<<20)))))
		return every
	case 5, 6: // a copy on the null stream, which waits for all that are not apart from it
		p := s.any()
		if st >= s.null || p.owner >= s.null {
			e.ok("StreamSynchronize", e.StreamSynchronize(e.th, stream))
			return one
		}
		x, _, n := s.part(p, p)
		h := e.host(4 * n)
		if way == 5 {
			e.ok("Memcpy", e.Memcpy(e.th, ptr(h), p.at+hip.Ptr(4*x), uint64(4*n), hip.MemcpyDeviceToHost))
			s.compare("a copy of "+p.name, h, p.want[x:][:n])
		} else {
			copy(h, s.values(p.want[x:][:n]))
			e.ok("Memcpy", e.Memcpy(e.th, p.at+hip.Ptr(4*x), ptr(h), uint64(4*n), hip.MemcpyHostToDevice))
		}
		s.say("a copy of %s+%d, %d floats", p.name, x, n)
		return func(i int) bool { return i < s.null }
	case 7: // on the stream itself
		for _, p := range s.pieces {
			if p.owner == st {
				x, _, n := s.part(p, p)
				h := e.host(4 * n)
				e.ok("MemcpyWithStream", e.MemcpyWithStream(e.th, ptr(h), p.at+hip.Ptr(4*x), uint64(4*n), hip.MemcpyDeviceToHost, stream))
				s.compare("a copy of "+p.name, h, p.want[x:][:n])
				return one
			}
		}
		fallthrough
	default:
		e.ok("StreamSynchronize", e.StreamSynchronize(e.th, stream))
	}
	return one
}

// look has the program wait for a stream, look at all that it did, and write where it may.
func (s *sequence) look() {
	s.e.Helper()
	done := s.wait(s.r.IntN(len(s.streams)))
	for st := range s.streams {
		if !done(st) {
			continue
		}
		for _, l := range s.later[st] {
			s.compare("a copy that was asked for", l.got, l.want)
		}
		s.later[st] = nil
	}
	for _, p := range s.pieces {
		if !done(p.owner) || p.mem == nil {
			continue
		}
		s.compare(p.name, p.mem, p.want)
		if s.r.IntN(3) == 0 {
			x, _, n := s.part(p, p)
			copy(p.mem[4*x:], s.values(p.want[x:][:n]))
			s.say("the program writes %s+%d, %d floats", p.name, x, n)
		}
	}
}

// run makes the memory, does what is random, and looks at everything.
func (s *sequence) run(steps int) {
	e := s.e
	s.f = e.kernel("saxpy", "saxpy")
	s.streams = []hip.Stream{hip.StreamNull, e.stream(0), e.stream(0), e.stream(nonBlocking), e.stream(nonBlocking)}
	s.null, s.later = 3, make([][]landing, len(s.streams))
	size := func() int { return []int{100, 3000, 40000}[s.r.IntN(3)] + s.r.IntN(64) }
	for i := range 3 {
		n := size()
		p := &piece{name: fmt.Sprintf("device memory %d", i), want: make([]float32, n), at: e.malloc(uint64(4 * n))}
		s.pieces = append(s.pieces, p)
	}
	for i := range 2 {
		n := size()
		m, err := e.MallocManaged(e.th, uint64(4*n), hip.MemAttachGlobal)
		e.ok("MallocManaged", err)
		s.pieces = append(s.pieces, &piece{name: fmt.Sprintf("managed memory %d", i), want: make([]float32, n), at: m, mem: hostBytes(m, 4*n)})
		n = size()
		m, err = e.HostMalloc(e.th, uint64(4*n), 0)
		e.ok("HostMalloc", err)
		d, err := e.HostGetDevicePointer(e.th, m, 0)
		e.ok("HostGetDevicePointer", err)
		s.pieces = append(s.pieces, &piece{name: fmt.Sprintf("pinned memory %d", i), want: make([]float32, n), at: d, mem: hostBytes(m, 4*n)})
	}
	for _, p := range s.pieces {
		e.write(p.at, s.values(p.want))
	}
	s.sync()
	for range steps {
		if s.r.IntN(5) == 0 {
			s.look()
		} else {
			s.step()
		}
	}
	s.sync()
}

// sync waits for everything and looks at it.
func (s *sequence) sync() {
	s.e.Helper()
	s.e.sync()
	for _, p := range s.pieces {
		s.compare(p.name, s.e.download(p.at, 4*len(p.want)), p.want)
		if p.mem != nil {
			s.compare(p.name, p.mem, p.want)
		}
	}
}

var sequenceTests = []test{
	{"Random", func(e *env) {
		for seed := range uint64(8) {
			n := e.another()
			(&sequence{e: n, r: rand.New(rand.NewPCG(seed, 41))}).run(150)
		}
	}},
}

package hiptest

import (
	"bytes"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/rocwire/rocwire/hip"
)

// For who looks for what a change broke, or for what nobody has found yet: go test ./worker -run 'TestConformance//Sequences/Random' -args -hiptest.programs 40 -hiptest.first 1000.
var (
	randomPrograms = flag.Uint64("hiptest.programs", 0, "how many random `programs` Sequences/Random runs; 0: what is usual")
	firstProgram   = flag.Uint64("hiptest.first", 0, "the `number` of the first one")
)

// sequence is a random program without races: what it does to memory is done to a model at the time of the call, and looked at when HIP says that it must be done.
// Each piece of memory is one stream's; another stream that uses it is put behind that one first, unless HIP does that.
type sequence struct {
	e       *env
	other   *env // another process, whose memory it has, too
	r       *rand.Rand
	f       []hip.Function // by device
	streams []*line
	pieces  []*piece
	plans   []*plan
	words   []hip.Ptr     // by device: of its memory the next that no stream has, see flag
	pools   []hip.MemPool // by device: the program's
	old     []hip.Event   // that were recorded some time
	did     []string      // the last calls, for who looks for what is wrong
	beside  bool          // other threads wait for the devices, which no capture survives
}

// line is a stream.
type line struct {
	name     string
	stream   hip.Stream
	th       hip.Thread
	blocking bool      // the null stream and it wait for each other; the null stream itself, too
	later    []landing // copies that were asked for to memory that HIP knows nothing of
	mark     hip.Event // that is recorded again and again; 0: it was not needed yet
	word     hip.Ptr   // by which others wait for it; 0 likewise
	written  uint64    // what was last written there
}

// piece is memory of floats.
type piece struct {
	name   string
	at     hip.Ptr // where kernels see it
	device int32   // -1: it is the program's
	home   bool    // no other device uses it, nor its memory with it
	grid   *grid   // nil: it is no array
	mem    []byte  // that of the program
	want   []float32
	owner  *line
	from   *source // nil: it stays
}

// here says whether a piece is a device's, or the program's.
func (p *piece) here(th hip.Thread) bool { return p.device < 0 || p.device == th.Device }

// together says whether a device may use both pieces for one operation.
func together(th hip.Thread, a, b *piece) bool { return !a.home && !b.home || a.here(th) && b.here(th) }

// memoryType is what a copy of a box is told of a piece.
func (p *piece) memoryType() hip.MemoryType {
	if p.device < 0 {
		return hip.MemoryTypeUnified
	}
	return hip.MemoryTypeDevice
}

// landing is where a copy arrives that has been asked for.
type landing struct {
	got  []byte
	want []float32
}

func (s *sequence) say(format string, args ...any) {
	s.did = append(s.did, fmt.Sprintf(format, args...))
}

// ok ends the test unless err is Success.
func (s *sequence) ok(what string, err hip.Error) {
	s.e.Helper()
	if err != hip.Success {
		s.tell()
		s.e.Fatalf("%s: %v", what, err)
	}
}

// tell logs the last calls.
func (s *sequence) tell() {
	s.e.Helper()
	for _, d := range s.did[max(0, len(s.did)-40):] {
		s.e.Log(d)
	}
}

func (s *sequence) compare(what string, got []byte, want []float32) {
	s.e.Helper()
	if bytes.Equal(got, f32s(want)) {
		return
	}
	s.tell()
	for i := range want {
		if x := math.Float32frombits(u32At(got, i)); x != want[i] {
			s.e.Fatalf("%s: element %d is %v, want %v", what, i, x, want[i])
		}
	}
}

// event is one behind what a stream has.
func (s *sequence) event(st *line) hip.Event {
	s.e.Helper()
	v, err := s.e.EventCreateWithFlags(st.th, 0)
	s.ok("EventCreate", err)
	s.ok("EventRecord", s.e.EventRecord(st.th, v, st.stream))
	return v
}

// use puts a stream behind what was done to a piece.
func (s *sequence) use(p *piece, st *line) {
	s.e.Helper()
	s.behind(p.owner, st)
	p.owner = st
}

// behind puts a stream behind what another has now.
func (s *sequence) behind(from, st *line) {
	s.e.Helper()
	turns := from.th == st.th && from.blocking && st.blocking && (from.stream == 0 || st.stream == 0)
	if from == st || turns {
		return
	}
	switch way := s.r.IntN(4); {
	case way == 0 && from.th == st.th:
		s.say("%s waits for %s by a value in memory", st.name, from.name)
		s.flag(from, st)
	case way == 1:
		s.say("%s waits for %s by an event that was recorded before", st.name, from.name)
		if from.mark == 0 {
			from.mark = s.event(from)
		}
		s.ok("EventRecord", s.e.EventRecord(from.th, from.mark, from.stream))
		s.ok("StreamWaitEvent", s.e.StreamWaitEvent(st.th, st.stream, from.mark, 0))
	default:
		s.say("%s waits for %s", st.name, from.name)
		s.follow(from, st)
	}
}

// follow puts a stream behind another by an event.
func (s *sequence) follow(from, st *line) {
	s.e.Helper()
	v := s.event(from)
	s.ok("StreamWaitEvent", s.e.StreamWaitEvent(st.th, st.stream, v, 0))
	s.ok("EventDestroy", s.e.EventDestroy(st.th, v))
}

// saxpy is the launch that adds n floats to others.
func (s *sequence) saxpy(th hip.Thread, n int, from, to hip.Ptr) *hip.Launch {
	return &hip.Launch{Function: s.f[th.Device], Grid: hip.Dim3{X: uint32(n+63) / 64, Y: 1, Z: 1}, Block: hip.Dim3{X: 64, Y: 1, Z: 1}, Args: pack(uint32(n), float32(1), from, to)}
}

// exact empties a piece whose sums become too large to be exact.
func (s *sequence) exact(p *piece, st *line) {
	s.e.Helper()
	if !p.here(st.th) || p.grid != nil || slices.Max(p.want) <= 1<<20 {
		return
	}
	s.ok("MemsetD32Async", s.e.MemsetD32Async(st.th, p.at, 0, uint64(len(p.want)), st.stream))
	clear(p.want)
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

// step is one asynchronous call, or a few.
func (s *sequence) step() {
	e, st := s.e, s.streams[s.r.IntN(len(s.streams))]
	b := s.any()
	switch s.r.IntN(24) {
	case 0: // the stream is late
		d := time.Duration(s.r.IntN(3000)) * time.Microsecond
		s.say("%s is late by %v", st.name, d)
		s.ok("LaunchHostFunc", e.LaunchHostFunc(st.th, st.stream, func() { time.Sleep(d) }))
	case 1:
		s.plan()
	case 2, 3:
		if len(s.plans) == 0 {
			return
		}
		g := s.plans[s.r.IntN(len(s.plans))]
		if g.th == st.th {
			s.launch(g, st)
		}
	case 4:
		if len(s.plans) > 0 && s.r.IntN(2) == 0 {
			s.change(s.plans[s.r.IntN(len(s.plans))])
		}
	case 5: // managed memory goes to and fro
		if b.from == nil || !b.from.managed {
			return
		}
		to := []int32{st.th.Device, hip.CPUDeviceID}[s.r.IntN(2)]
		s.use(b, st)
		s.say("%s: %s to %d", st.name, b.name, to)
		s.ok("MemPrefetchAsync", e.MemPrefetchAsync(st.th, b.at, uint64(4*len(b.want)), to, st.stream))
	case 6:
		if b.from != nil && s.r.IntN(2) == 0 {
			s.renew(b, st)
		}
	case 7:
		if s.r.IntN(3) == 0 {
			s.end(st)
		}
	case 8:
		if c, ok := e.Runtime.(Capturer); ok && !s.beside {
			s.capture(c)
		}
	case 9:
		s.remember(st)
	case 10:
		s.lend(st, s.any(), b)
	default:
		s.tellStream(st, s.any(), b)
	}
}

// tellStream has a stream do some operation on two pieces.
func (s *sequence) tellStream(st *line, a, b *piece) {
	s.e.Helper()
	p, ok := s.operation(s.r.IntN(kinds), st.th, a, b)
	if !ok {
		return
	}
	if p.reads {
		s.use(a, st)
	}
	if p.writes {
		s.use(b, st)
	}
	s.say("%s: %s", st.name, p.say)
	p.issue(st)
	p.do()
	if p.got != nil {
		st.later = append(st.later, landing{p.got, slices.Clone(p.want)})
	}
	if p.sums {
		s.exact(b, st)
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
func (s *sequence) wait(st *line) (others func(*line) bool) {
	e := s.e
	e.Helper()
	one := func(o *line) bool { return o == st }
	device := func(o *line) bool { return o.th == st.th }
	until := func(what string, f func() hip.Error) {
		for code := f(); code != hip.Success; code = f() {
			if code != hip.ErrorNotReady {
				s.ok(what, code)
			}
		}
	}
	way := s.r.IntN(9)
	s.say("wait for %s, way %d", st.name, way)
	switch way {
	case 0:
		s.ok("DeviceSynchronize", e.DeviceSynchronize(st.th))
		return device
	case 1:
		v := s.event(st)
		s.ok("EventSynchronize", e.EventSynchronize(st.th, v))
		s.ok("EventDestroy", e.EventDestroy(st.th, v))
		return one
	case 2:
		v := s.event(st)
		until("EventQuery", func() hip.Error { return e.EventQuery(st.th, v) })
		s.ok("EventDestroy", e.EventDestroy(st.th, v))
		return one
	case 3:
		until("StreamQuery", func() hip.Error { return e.StreamQuery(st.th, st.stream) })
		return one
	case 4:
		p, err := e.Malloc(st.th, uint64(1+s.r.IntN(1<<20)))
		s.ok("Malloc", err)
		s.ok("Free", e.Free(st.th, p))
		return device
	case 5, 6: // a copy on the null stream, which waits for all that are not apart from it
		p := s.any()
		if !st.blocking || !p.owner.blocking || p.owner.th != st.th || !p.here(st.th) || p.grid != nil {
			break
		}
		x, _, n := s.part(p, p)
		h := e.host(4 * n)
		s.say("a copy of %s+%d, %d floats", p.name, x, n)
		if way == 5 {
			s.ok("Memcpy", e.Memcpy(st.th, ptr(h), p.at+hip.Ptr(4*x), uint64(4*n), hip.MemcpyDeviceToHost))
			s.compare("a copy of "+p.name, h, p.want[x:][:n])
		} else {
			copy(h, s.values(p.want[x:][:n]))
			s.ok("Memcpy", e.Memcpy(st.th, p.at+hip.Ptr(4*x), ptr(h), uint64(4*n), hip.MemcpyHostToDevice))
		}
		return func(o *line) bool { return o.blocking && o.th == st.th }
	case 7: // a copy on the stream itself
		for _, p := range s.pieces {
			if p.owner == st && p.grid == nil && (!p.home || p.here(st.th)) {
				x, _, n := s.part(p, p)
				h := e.host(4 * n)
				s.ok("MemcpyWithStream", e.MemcpyWithStream(st.th, ptr(h), p.at+hip.Ptr(4*x), uint64(4*n), hip.MemcpyDeviceToHost, st.stream))
				s.compare("a copy of "+p.name, h, p.want[x:][:n])
				return one
			}
		}
	}
	s.ok("StreamSynchronize", e.StreamSynchronize(st.th, st.stream))
	return one
}

// look has the program wait for a stream, look at all that it did, and write where it may.
func (s *sequence) look() {
	s.e.Helper()
	done := s.wait(s.streams[s.r.IntN(len(s.streams))])
	for _, st := range s.streams {
		if !done(st) {
			continue
		}
		for _, l := range st.later {
			s.compare("a copy that was asked for", l.got, l.want)
		}
		st.later = nil
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

// begin makes streams and memory, on up to two devices.
func (s *sequence) begin() {
	e := s.e
	n, err := e.GetDeviceCount()
	s.ok("GetDeviceCount", err)
	for d := range min(n, 2) {
		th := hip.Thread{Device: d, ID: e.th.ID}
		m, err := e.ModuleLoadData(th, e.image("saxpy"))
		s.ok("ModuleLoadData", err)
		f, err := e.ModuleGetFunction(th, m, "saxpy")
		s.ok("ModuleGetFunction", err)
		s.f = append(s.f, f)
		words, err := e.Malloc(th, 8*manyWords)
		s.ok("Malloc", err)
		s.ok("Memset", e.Memset(th, words, 0, 8*manyWords))
		s.words = append(s.words, words)
		null := &line{name: fmt.Sprintf("null stream %d", d), th: th, blocking: true}
		s.streams = append(s.streams, null)
		for i := range 4 {
			flags := uint32(i / 2 * nonBlocking)
			s.streams = append(s.streams, &line{name: fmt.Sprintf("stream %d of %d, flags %d", i, d, flags), stream: s.create(th, flags), th: th, blocking: flags == 0})
		}
		for range 3 {
			s.add(s.ofDevice(th), null)
		}
		last := s.streams[len(s.streams)-1]
		s.add(s.ofPool(th), last)
		s.pools = append(s.pools, s.pool(th))
		s.add(s.ofOwnPool(th), last)
		s.add(s.mapped(th), null)
		s.addArray(th, null)
		s.addArray(th, last)
		s.addVariable(th, null)
		s.addForeign(th, null)
	}
	for range 2 {
		s.add(s.managed(), s.streams[0])
		s.add(s.pinned(), s.streams[0])
	}
	k := s.size()
	mem := e.apart(4*k + 4096)[100:][:4*k]
	s.ok("HostRegister", e.HostRegister(e.th, ptr(mem), uint64(len(mem)), 0))
	e.Cleanup(func() { e.HostUnregister(e.th, ptr(mem)) })
	at, err := e.HostGetDevicePointer(e.th, ptr(mem), 0)
	s.ok("HostGetDevicePointer", err)
	s.pieces = append(s.pieces, &piece{name: "registered memory", want: make([]float32, k), device: -1, at: at, mem: mem, owner: s.streams[0]})
	s.all()
}

// all waits for everything and looks at it.
func (s *sequence) all() {
	s.e.Helper()
	for d := range s.f {
		s.ok("DeviceSynchronize", s.e.DeviceSynchronize(hip.Thread{Device: int32(d), ID: s.e.th.ID}))
	}
	for _, p := range s.pieces {
		s.compare(p.name, s.read(p), p.want)
		if p.mem != nil {
			s.compare(p.name, p.mem, p.want)
		}
	}
}

var sequenceTests = []test{
	{"CopyOnTheHostInTurn", func(e *env) { // a stream that waits for the null stream is not come to before that
		const n = 1000
		h, err := e.MallocManaged(e.th, 4*n, hip.MemAttachGlobal)
		e.ok("MallocManaged", err)
		mem, got, s := hostBytes(h, 4*n), e.host(4*n), e.stream(0)
		e.sync()
		clear(mem)
		g := e.gate(hip.StreamNull)
		e.ok("MemsetD32Async", e.MemsetD32Async(e.th, h, 7, n, hip.StreamNull))
		time.AfterFunc(10*time.Millisecond, g.open)
		e.ok("MemcpyAsync", e.MemcpyAsync(e.th, ptr(got), h, 4*n, hip.MemcpyDefault, s))
		e.ok("StreamSynchronize", e.StreamSynchronize(e.th, s))
		if !bytes.Equal(got, bytes.Repeat(u32s(7), n)) {
			e.Errorf("it copied %x, which is not what the null stream has before it", got[:4])
		}
	}},
	{"ShownToAllThreads", func(e *env) { // what one thread waits for, another that waits sees as well
		const n, times = 1 << 18, 60
		h, err := e.MallocManaged(e.th, 4*n, hip.MemAttachGlobal)
		e.ok("MallocManaged", err)
		mem, s := hostBytes(h, 4*n), e.stream(nonBlocking)
		one := make([]float32, n)
		for i := range one {
			one[i] = 1
		}
		x, add := e.upload(f32s(one)), e.kernel("saxpy", "saxpy")
		clear(mem)
		for i := range times {
			e.launch(add, n/64, 64, s, uint32(n), float32(1), x, h)
			waited := make(chan hip.Error, 1)
			go func() { waited <- e.StreamSynchronize(hip.Thread{ID: 2}, s) }()
			time.Sleep(time.Duration(rand.IntN(2000)) * time.Microsecond)
			p, err := e.Malloc(e.th, 4096)
			e.ok("Malloc", err)
			e.ok("Free", e.Free(e.th, p)) // waits for the device
			if got := math.Float32frombits(u32At(mem, n-1)); got != float32(i+1) {
				e.Errorf("after %d launches it is %v", i+1, got)
			}
			e.ok("StreamSynchronize", <-waited)
		}
	}},
	{"FreedBehindHostFunction", func(e *env) { // what is copied to in a stream's turn is there until then
		const n = 4096
		from := e.pinned(n)
		for i := range from {
			from[i] = byte(i * 7)
		}
		s, to := e.stream(nonBlocking), e.malloc(n)
		for _, stream := range []bool{true, false} {
			e.ok("Memset", e.Memset(e.th, to, 0, n))
			e.sync()
			p, err := e.MallocAsync(e.th, n, s)
			if !stream {
				p, err = e.Malloc(e.th, n)
			}
			e.ok("Malloc", err)
			g := e.gate(s)
			e.ok("MemcpyAsync", e.MemcpyAsync(e.th, p, ptr(from), n, hip.MemcpyHostToDevice, s))
			e.ok("MemcpyAsync", e.MemcpyAsync(e.th, to, p, n, hip.MemcpyDeviceToDevice, s))
			if stream {
				e.ok("FreeAsync", e.FreeAsync(e.th, p, s))
				g.open()
			} else {
				time.AfterFunc(10*time.Millisecond, g.open)
				e.ok("Free", e.Free(e.th, p))
			}
			e.ok("StreamSynchronize", e.StreamSynchronize(e.th, s))
			if !bytes.Equal(e.download(to, n), from) {
				e.Error("the copy was not made")
			}
		}
	}},
	{"FreedAgainBehindHostFunction", func(e *env) { // what a stream frees, gets again and frees again before it has come to the first
		const n = 4096
		s, to := e.stream(nonBlocking), e.malloc(4*n)
		g := e.gate(s)
		for i := range 4 {
			p, err := e.MallocAsync(e.th, n, s)
			e.ok("MallocAsync", err)
			e.ok("MemsetAsync", e.MemsetAsync(e.th, p, int32(i+1), n, s))
			e.ok("MemcpyAsync", e.MemcpyAsync(e.th, to+hip.Ptr(i*n), p, n, hip.MemcpyDeviceToDevice, s))
			if i == 0 { // a program that waited here for the gate would find it open
				time.AfterFunc(10*time.Millisecond, g.open)
			}
			e.ok("FreeAsync", e.FreeAsync(e.th, p, s))
		}
		e.ok("StreamSynchronize", e.StreamSynchronize(e.th, s))
		for i, got := range e.download(to, 4*n) {
			if got != byte(i/n+1) {
				e.Fatalf("byte %d is %d", i, got)
			}
		}
	}},
	{"FreedOnAnotherStream", func(e *env) { // who got memory that another stream frees has it again when that one has come there
		const n = 4096
		want := pattern(n, 5)
		s, to := e.stream(nonBlocking), e.malloc(n)
		for range 5 {
			other := e.stream(nonBlocking) // one that is not in the same queue of a card as s, some time
			p, err := e.MallocAsync(e.th, n, s)
			e.ok("MallocAsync", err)
			e.write(p, want)
			g := e.gate(other)
			e.ok("MemcpyAsync", e.MemcpyAsync(e.th, to, p, n, hip.MemcpyDeviceToDevice, other))
			e.ok("FreeAsync", e.FreeAsync(e.th, p, other))
			time.AfterFunc(10*time.Millisecond, g.open)
			again, err := e.MallocAsync(e.th, n, s)
			e.ok("MallocAsync", err)
			e.ok("MemsetAsync", e.MemsetAsync(e.th, again, 0xff, n, s))
			e.ok("FreeAsync", e.FreeAsync(e.th, again, s))
			e.sync()
			e.equal("what was copied before it was freed", e.download(to, n), want)
		}
	}},
	{"FreedBehindAnotherDevice", func(e *env) { // what is copied between devices is there until the copy's turn, whose memory ever it is
		if n, _ := e.GetDeviceCount(); n < 2 {
			return
		}
		const n = 64 << 10
		want, other := pattern(n, 5), hip.Thread{Device: 1, ID: 1}
		taken := func(th hip.Thread, s hip.Stream) hip.Ptr {
			p, err := e.MallocAsync(th, n, s)
			e.ok("MallocAsync", err)
			e.write(p, want)
			return p
		}
		to, err := e.Malloc(other, n)
		e.ok("Malloc", err)
		check := func(what string) {
			for _, th := range []hip.Thread{e.th, other} {
				e.ok("DeviceSynchronize", e.DeviceSynchronize(th))
			}
			e.equal(what, e.download(to, n), want)
			e.ok("Memset", e.Memset(other, to, 0, n))
		}
		p := taken(e.th, hip.StreamNull)
		g := e.gate(hip.StreamNull)
		time.AfterFunc(10*time.Millisecond, g.open)
		e.ok("Memcpy", e.Memcpy(e.th, to, p, n, hip.MemcpyDeviceToDevice))
		e.ok("FreeAsync", e.FreeAsync(e.th, p, hip.StreamNull))
		check("what was freed behind a copy to another device")

		s, err := e.StreamCreateWithPriority(other, nonBlocking, 0)
		e.ok("StreamCreate", err)
		p = taken(other, s)
		blocking := e.stream(0)
		g = e.gate(hip.StreamNull)
		e.ok("MemcpyAsync", e.MemcpyAsync(e.th, to, p, n, hip.MemcpyDeviceToDevice, hip.StreamNull))
		time.AfterFunc(10*time.Millisecond, g.open)
		e.ok("FreeAsync", e.FreeAsync(e.th, p, blocking))
		again, err := e.MallocAsync(other, n, s)
		e.ok("MallocAsync", err)
		e.ok("MemsetAsync", e.MemsetAsync(other, again, 0xff, n, s))
		check("what was freed on a stream behind the null stream's copy")

		p = taken(e.th, hip.StreamNull)
		own := e.stream(nonBlocking)
		g = e.gate(own)
		e.ok("MemcpyAsync", e.MemcpyAsync(e.th, to, p, n, hip.MemcpyDeviceToDevice, own))
		e.ok("FreeAsync", e.FreeAsync(e.th, p, own))
		time.AfterFunc(10*time.Millisecond, g.open)
		e.ok("StreamDestroy", e.StreamDestroy(e.th, own))
		e.sync()
		check("what was freed on a stream that was destroyed before it came to that")
	}},
	{"CopiesApart", func(e *env) { // a copy of a device does not wait for other streams' copies, of that device or of another
		const n = 64 << 10
		devices, err := e.GetDeviceCount()
		e.ok("GetDeviceCount", err)
		for d := range devices {
			th := hip.Thread{Device: d, ID: 1}
			create := func() hip.Stream {
				s, err := e.StreamCreateWithPriority(th, nonBlocking, 0)
				e.ok("StreamCreate", err)
				return s
			}
			p, err := e.Malloc(th, n)
			e.ok("Malloc", err)
			other, err := e.Malloc(th, n)
			e.ok("Malloc", err)
			held, s, pieces := create(), create(), []hip.Ptr{p, e.mappedOf(th, n)}
			e.ok("DeviceSynchronize", e.DeviceSynchronize(th))
			g := e.gate(held)
			late := time.AfterFunc(time.Minute, g.open)
			e.ok("MemcpyAsync", e.MemcpyAsync(th, other, ptr(e.host(n)), n, hip.MemcpyHostToDevice, held))
			for i, mem := range pieces {
				want, got := pattern(n, byte(3+i)), e.host(n)
				e.ok("MemcpyAsync", e.MemcpyAsync(th, mem, ptr(want), n, hip.MemcpyHostToDevice, s))
				e.ok("MemcpyAsync", e.MemcpyAsync(th, ptr(got), mem, n, hip.MemcpyDeviceToHost, s))
				e.ok("StreamSynchronize", e.StreamSynchronize(th, s))
				e.equal("what came back", got, want)
			}
			if !late.Stop() {
				e.Errorf("copies on device %d waited for those of another stream", d)
			}
			g.open()
			e.ok("DeviceSynchronize", e.DeviceSynchronize(th))
		}
	}},
	{"CopyFromAnotherDeviceInTurn", func(e *env) { // a copy that waits for a stream waits for all that it has, whose memory ever it copies
		if n, _ := e.GetDeviceCount(); n < 2 {
			return
		}
		const n = 1000
		other := hip.Thread{Device: 1, ID: 1}
		h, err := e.MallocManaged(e.th, 4*n, hip.MemAttachGlobal)
		e.ok("MallocManaged", err)
		from, err := e.Malloc(other, n)
		e.ok("Malloc", err)
		e.ok("Memset", e.Memset(other, from, 3, n))
		mem, got := hostBytes(h, 4*n), e.host(n)
		for i, s := range []hip.Stream{hip.StreamNull, e.stream(0), e.stream(nonBlocking)} {
			e.sync()
			clear(mem)
			g := e.gate(s)
			e.ok("MemsetD32Async", e.MemsetD32Async(e.th, h, int32(i+7), n, s))
			time.AfterFunc(10*time.Millisecond, g.open)
			e.ok("MemcpyWithStream", e.MemcpyWithStream(e.th, ptr(got), from, n, hip.MemcpyDeviceToHost, s))
			if !bytes.Equal(got, bytes.Repeat([]byte{3}, n)) {
				e.Errorf("stream %d: it copied %x", i, got[:4])
			}
			if !bytes.Equal(mem, bytes.Repeat(u32s(uint32(i+7)), n)) {
				e.Errorf("stream %d: what it had before is not seen: %x", i, mem[:4])
			}
		}
	}},
	{"LaunchedAfterItsStream", func(e *env) { // a graph whose stream was destroyed while the launch was under way comes behind that launch all the same
		const n = 64
		one := make([]float32, n)
		for i := range one {
			one[i] = 1
		}
		x, sum := e.upload(f32s(one)), e.upload(make([]byte, 4*n))
		add := &hip.Launch{Function: e.kernel("saxpy", "saxpy"), Grid: hip.Dim3{X: 1, Y: 1, Z: 1}, Block: hip.Dim3{X: n, Y: 1, Z: 1}, Args: pack(uint32(n), float32(1), x, sum)}
		double := *add
		double.Args = pack(uint32(n), float32(1), sum, sum)
		exec, err := e.GraphInstantiate(e.th, &hip.GraphDesc{Ops: []hip.GraphOp{{Type: hip.GraphNodeTypeKernel, Kernel: add}, {Type: hip.GraphNodeTypeKernel, Kernel: &double, After: []uint32{0}}}})
		e.ok("GraphInstantiate", err)
		first, second := e.stream(nonBlocking), e.stream(nonBlocking)
		g := e.gate(first)
		e.ok("GraphLaunch", e.GraphLaunch(e.th, exec, first))
		e.ok("StreamDestroy", e.StreamDestroy(e.th, first))
		time.AfterFunc(10*time.Millisecond, g.open)
		e.ok("GraphLaunch", e.GraphLaunch(e.th, exec, second))
		e.ok("StreamSynchronize", e.StreamSynchronize(e.th, second))
		if got := math.Float32frombits(u32At(e.download(sum, 4*n), n-1)); got != 6 { // (0+1)·2, (2+1)·2
			e.Errorf("after two launches it is %v", got)
		}
		e.ok("GraphExecDestroy", e.GraphExecDestroy(e.th, exec))
	}},
	{"Random", func(e *env) {
		n := uint64(shorter(8, 3))
		if *randomPrograms > 0 {
			n = *randomPrograms
		}
		for seed := *firstProgram; seed < *firstProgram+n; seed++ {
			e.Run(fmt.Sprint(seed), func(t *testing.T) {
				own := *e
				own.T = t
				(&sequence{e: own.another(), other: &own, r: rand.New(rand.NewPCG(seed, 41))}).run(150)
			})
		}
	}},
	{"RandomThreads", func(e *env) { // each with streams and memory of its own, on the same devices
		var all sync.WaitGroup
		these := e.another()
		for i := range uint64(4) {
			own := *these
			own.th.ID += uint32(i)
			all.Go(func() {
				(&sequence{e: &own, other: e, r: rand.New(rand.NewPCG(4**firstProgram+i, 43)), beside: true}).run(shorter(250, 60))
			})
		}
		all.Wait()
	}},
}

// shorter is the one or the other number of what is tried.
func shorter(n, short int) int {
	if testing.Short() {
		return short
	}
	return n
}

// run makes up a program of so many steps.
func (s *sequence) run(steps int) {
	s.begin()
	for range steps {
		if s.r.IntN(5) == 0 {
			s.look()
		} else {
			s.step()
		}
	}
	s.all()
}

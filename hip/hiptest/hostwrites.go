package hiptest

import (
	"bytes"
	"math"
	"math/rand/v2"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rocwire/rocwire/hip"
)

// hostWrites is memory of floats that the program writes in every way there is while kernels read and write it.
type hostWrites struct {
	e      *env
	r      *rand.Rand
	f      hip.Function
	mem    []byte
	device hip.Ptr // where kernels see it
	out    hip.Ptr
	want   []byte
}

// value is a float that sums stay exact of.
func (w *hostWrites) value() []byte { return f32s([]float32{float32(w.r.IntN(1 << 12))}) }

// piece is a random range of floats, often at the ends and often small.
func (w *hostWrites) piece() (from, n int) {
	all := len(w.mem) / 4
	n = 1 + w.r.IntN([]int{1, 20, 3000, all / 2}[w.r.IntN(4)])
	from = w.r.IntN(all - n + 1)
	switch w.r.IntN(4) {
	case 0:
		from = 0
	case 1:
		from = all - n
	}
	return from * 4, n * 4
}

// write has the program write to the memory, in one of its ways.
func (w *hostWrites) write() {
	e := w.e
	e.Helper()
	from, n := w.piece()
	b, to := bytes.Repeat(w.value(), n/4), w.mem[from:from+n]
	copy(w.want[from:], b)
	switch w.r.IntN(4) {
	case 0:
		copy(to, b)
	case 1:
		var wg sync.WaitGroup
		wg.Go(func() { copy(to, b) })
		wg.Wait()
	case 2: // a system call writes
		var p [2]int
		if err := unix.Pipe(p[:]); err != nil {
			e.Fatal(err)
		}
		for len(b) > 0 {
			k, err := unix.Write(p[1], b[:min(len(b), 4096)])
			if err != nil {
				e.Fatal(err)
			}
			if k, err = unix.Read(p[0], to[:k]); err != nil {
				e.Fatal(err)
			}
			b, to = b[k:], to[k:]
		}
		_, _ = unix.Close(p[0]), unix.Close(p[1])
	case 3: // HIP's own copy, of the processor
		h := e.host(len(b))
		copy(h, b)
		e.ok("Memcpy on the host", e.Memcpy(e.th, ptr(to), ptr(h), uint64(len(b)), hip.MemcpyHostToHost))
	}
}

// read has a kernel read all of it.
func (w *hostWrites) read(what string) {
	e, n := w.e, len(w.mem)
	e.Helper()
	e.ok("Memset", e.Memset(e.th, w.out, 0, uint64(n)))
	e.launch(w.f, uint32(n/4+255)/256, 256, 0, uint32(n/4), float32(1), w.device, w.out)
	e.equal("what a kernel has read "+what, e.download(w.out, n), w.want)
}

// addOnDevice has a kernel double a part while the program writes beside it.
func (w *hostWrites) addOnDevice(s hip.Stream) {
	e := w.e
	e.Helper()
	half := len(w.mem) / 8 * 4
	from := w.r.IntN(half/4) * 4
	n := min(half-from, 4*(1+w.r.IntN(5000)))
	at := w.device + hip.Ptr(from)
	e.launch(w.f, uint32(n/4+255)/256, 256, s, uint32(n/4), float32(1), at, at)
	beside := half + w.r.IntN(half/4)*4 // between launch and wait
	copy(w.mem[beside:], w.value())
	copy(w.want[beside:beside+4], w.mem[beside:])
	for i := from; i < from+n; i += 4 {
		copy(w.want[i:], f32s([]float32{2 * math.Float32frombits(uint32(w.want[i])|uint32(w.want[i+1])<<8|uint32(w.want[i+2])<<16|uint32(w.want[i+3])<<24)}))
	}
	e.ok("StreamSynchronize", e.StreamSynchronize(e.th, s))
	e.equal("what a kernel has written", w.mem, w.want)
}

// everyWay writes and reads for many rounds, in some of which nothing happens for a while.
func (w *hostWrites) everyWay() {
	e := w.e
	w.r, w.f = rand.New(rand.NewPCG(11, 12)), e.kernel("saxpy", "saxpy")
	w.want, w.out = bytes.Clone(w.mem), e.malloc(uint64(len(w.mem)))
	s := e.stream(hip.StreamNonBlocking)
	for round := range 60 {
		for range w.r.IntN(3) {
			w.write()
		}
		if round%8 == 0 {
			for range 5 { // nothing is written: a client may come to rely on being told
				w.read("again")
				time.Sleep(6 * time.Millisecond)
			}
			continue
		}
		w.read("after writes")
		if w.r.IntN(2) == 0 {
			w.addOnDevice(s)
		}
	}
}

var hostWriteTests = []test{
	{"WrittenInEveryWay", func(e *env) {
		const n = 300 << 10
		h, err := e.HostMalloc(e.th, n, 0)
		e.ok("HostMalloc", err)
		d, err := e.HostGetDevicePointer(e.th, h, 0)
		e.ok("HostGetDevicePointer", err)
		w := hostWrites{e: e, mem: hostBytes(h, n), device: d}
		w.everyWay()
		e.ok("HostFree", e.HostFree(e.th, h))
	}},
	{"RegisteredWrittenInEveryWay", func(e *env) { // its first and last page have other memory, too
		const n = 100<<10 + 4
		b := e.apart(120 << 10)[1000 : 1000+n]
		e.ok("HostRegister", e.HostRegister(e.th, ptr(b), n, 0))
		d, err := e.HostGetDevicePointer(e.th, ptr(b), 0)
		e.ok("HostGetDevicePointer", err)
		w := hostWrites{e: e, mem: b, device: d}
		w.everyWay()
		e.ok("HostUnregister", e.HostUnregister(e.th, ptr(b)))
	}},
	{"LargePagesWritten", func(e *env) {
		const n = 6 << 20
		h, err := e.HostMalloc(e.th, n, 0)
		e.ok("HostMalloc", err)
		b := hostBytes(h, n)
		for i := range b {
			b[i] = 0
		}
		f, out := e.kernel("saxpy", "saxpy"), e.malloc(4096)
		for round := range 40 {
			at := (round * 7919 * 4096) % n
			copy(b[at:], f32s([]float32{float32(round)}))
			e.ok("Memset", e.Memset(e.th, out, 0, 4096))
			e.launch(f, 1, 64, 0, uint32(1), float32(1), h+hip.Ptr(at), out)
			e.equal("what a kernel has read", e.download(out, 4), f32s([]float32{float32(round)}))
			e.launch(f, 1, 64, 0, uint32(1), float32(1), out, h+hip.Ptr(at))
			e.sync()
			e.equal("what a kernel has written", b[at:at+4], f32s([]float32{float32(2 * round)}))
		}
		e.ok("HostFree", e.HostFree(e.th, h))
	}},
}

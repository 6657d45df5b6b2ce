package hiptest

import (
	"bytes"
	"fmt"
	"slices"
	"sync"

	"github.com/rocwire/rocwire/hip"
)

// graph builds a description.
type graphBuilder struct{ hip.GraphDesc }

func (g *graphBuilder) add(op hip.GraphOp, after ...uint32) uint32 {
	op.After = after
	g.Ops = append(g.Ops, op)
	return uint32(len(g.Ops) - 1)
}

// addition is the operation c = a + b of n floats.
func (e *env) addition(a, b, c hip.Ptr, n int) hip.GraphOp {
	e.Helper()
	return hip.GraphOp{Type: hip.GraphNodeTypeKernel, Kernel: &hip.Launch{
		Function: e.kernel("vector_add", "vector_add"), Grid: hip.Dim3{X: uint32(n+255) / 256, Y: 1, Z: 1}, Block: hip.Dim3{X: 256, Y: 1, Z: 1},
		Args: pack(a, b, c, int32(n)),
	}}
}

func copyOp(dst, src hip.Ptr, n uint64, kind hip.MemcpyKind) hip.GraphOp {
	return hip.GraphOp{Type: hip.GraphNodeTypeMemcpy, Copy: &hip.GraphCopy{
		Dst: dst, Src: src, DstPitch: n, SrcPitch: n, DstSlice: n, SrcSlice: n, Width: n, Height: 1, Depth: 1, Kind: kind}}
}

func setOp(dst hip.Ptr, value uint32, n uint64) hip.GraphOp {
	return hip.GraphOp{Type: hip.GraphNodeTypeMemset, Set: &hip.GraphSet{Dst: dst, Value: value, Element: 1, Width: n, Height: 1}}
}

func (e *env) instantiate(g *graphBuilder) hip.GraphExec {
	e.Helper()
	h, code := e.GraphInstantiate(e.th, &g.GraphDesc)
	e.ok("GraphInstantiate", code)
	return h
}

var graphTests = []test{
	{"Branches", func(e *env) {
		const n = 1000
		one := make([]float32, n)
		for i := range one {
			one[i] = 1
		}
		a, b, c := e.upload(f32s(one)), e.upload(f32s(one)), e.upload(f32s(one))
		out := e.host(4 * n)
		var g graphBuilder
		root := g.add(e.addition(a, a, a, n))                                                   // a doubles
		left, right := g.add(e.addition(a, b, b, n), root), g.add(e.addition(a, c, c, n), root) // b += a, c += a
		last := g.add(e.addition(b, c, c, n), left, right)                                      // c += b
		g.add(copyOp(ptr(out), c, 4*n, hip.MemcpyDeviceToHost), last)
		h := e.instantiate(&g)
		s, s2 := e.stream(0), e.stream(1)
		wa, wb, wc := float32(1), float32(1), float32(1)
		for i := range 6 {
			e.ok("GraphLaunch", e.GraphLaunch(e.th, h, []hip.Stream{s, s2, 0}[i%3]))
			wa *= 2
			wb += wa
			wc += wa + wb
		}
		for _, s := range []hip.Stream{s, s2, 0} {
			e.ok("StreamSynchronize", e.StreamSynchronize(e.th, s))
		}
		want := make([]float32, n)
		for i := range want {
			want[i] = wc
		}
		e.equal("what came back", out, f32s(want))
		e.ok("GraphExecDestroy", e.GraphExecDestroy(e.th, h))
		if code := e.GraphLaunch(e.th, h, s); code != hip.ErrorInvalidValue {
			e.Errorf("a graph that is gone: %v", code)
		}
	}},
	{"HostMemoryInTurn", func(e *env) { e.hostMemoryInTurn(e.host(256), e.host(256), copyOp) }},
	{"PinnedMemoryInTurn", func(e *env) { e.hostMemoryInTurn(e.pinned(256), e.pinned(256), copyOp) }},
	{"PinnedBoxInTurn", func(e *env) {
		e.hostMemoryInTurn(e.pinned(256), e.pinned(256), func(dst, src hip.Ptr, n uint64, kind hip.MemcpyKind) hip.GraphOp {
			to, from := volume{hip.MemoryTypeDevice, dst, 0, 32, n / 32}, volume{hip.MemoryTypeDevice, src, 0, 32, n / 32}
			switch kind {
			case hip.MemcpyHostToDevice:
				from.kind = hip.MemoryTypeHost
			case hip.MemcpyDeviceToHost:
				to.kind = hip.MemoryTypeHost
			}
			return hip.GraphOp{Type: hip.GraphNodeTypeMemcpy, Copy: &hip.GraphCopy{General: box(to, 0, 0, 0, from, 0, 0, 0, 32, n/32, 1)}}
		})
	}},
	{"Boxes", func(e *env) {
		const pitch, rows, slices = 32, 4, 3
		src := make([]byte, pitch*rows*slices)
		for i := range src {
			src[i] = byte(i)
		}
		from, to := e.upload(src), e.malloc(uint64(len(src)))
		back := e.host(len(src))
		var g graphBuilder
		clear := g.add(setOp(to, 0xee, uint64(len(src))))
		box := func(dst, src hip.Ptr, kind hip.MemcpyKind) hip.GraphOp {
			return hip.GraphOp{Type: hip.GraphNodeTypeMemcpy, Copy: &hip.GraphCopy{Dst: dst, Src: src, DstPitch: pitch, SrcPitch: pitch, DstSlice: pitch * rows,
				SrcSlice: pitch * rows, Width: 8, Height: 2, Depth: 2, Kind: kind}}
		}
		inner := g.add(box(to+pitch*rows+pitch+4, from, hip.MemcpyDeviceToDevice), clear)
		fill := g.add(hip.GraphOp{Type: hip.GraphNodeTypeMemset, Set: &hip.GraphSet{Dst: to, Pitch: pitch, Value: 0x4142, Element: 2, Width: 3, Height: 2}}, inner)
		fill = g.add(hip.GraphOp{Type: hip.GraphNodeTypeMemset, Set: &hip.GraphSet{Dst: to + pitch - 4, Pitch: pitch, Value: 'C', Element: 1, Width: 3, Height: 2,
			Slice: pitch * rows, Depth: 2}}, fill)
		out := g.add(copyOp(ptr(back), to, uint64(len(src)), hip.MemcpyDeviceToHost), fill)
		g.add(box(ptr(back)+16, from, hip.MemcpyDefault), out)
		h := e.instantiate(&g)
		e.ok("GraphLaunch", e.GraphLaunch(e.th, h, 0))
		e.ok("StreamSynchronize", e.StreamSynchronize(e.th, 0))
		want := make([]byte, len(src))
		for i := range want {
			want[i] = 0xee
		}
		put := func(at int) {
			for z := range 2 {
				for y := range 2 {
					copy(want[at+z*pitch*rows+y*pitch:][:8], src[z*pitch*rows+y*pitch:])
				}
			}
		}
		put(pitch*rows + pitch + 4)
		for y := range 2 {
			copy(want[y*pitch:], "BABABA")
			for z := range 2 {
				copy(want[z*pitch*rows+(y+1)*pitch-4:], "CCC")
			}
		}
		put(16)
		e.equal("the volume", back, want)
	}},
	{"Update", func(e *env) {
		const n = 64
		p, q := e.malloc(n), e.malloc(n)
		out := e.host(n)
		var g graphBuilder
		a := g.add(setOp(p, 1, n))
		b := g.add(setOp(p, 2, n/2), a)
		g.add(copyOp(ptr(out), p, n, hip.MemcpyDeviceToHost), b)
		h := e.instantiate(&g)
		run := func(first, second byte) {
			e.Helper()
			e.ok("GraphLaunch", e.GraphLaunch(e.th, h, 0))
			e.ok("StreamSynchronize", e.StreamSynchronize(e.th, 0))
			if out[0] != first || out[n-1] != second {
				e.Errorf("%d and %d, want %d and %d", out[0], out[n-1], first, second)
			}
		}
		change := func(want hip.Error, cs ...hip.GraphChange) {
			e.Helper()
			if code := e.GraphExecUpdate(e.th, h, cs); code != want {
				e.Errorf("GraphExecUpdate: %v, want %v", code, want)
			}
		}
		run(2, 1)
		change(hip.Success, hip.GraphChange{Index: 0, Op: setOp(p, 7, n)})
		run(2, 7)
		off := setOp(p, 2, n/2)
		off.Disabled = true
		change(hip.Success, hip.GraphChange{Index: 1, Op: off})
		run(7, 7)
		change(hip.Success, hip.GraphChange{Index: 1, Op: setOp(p, 3, n/2)})
		run(3, 7)
		back := copyOp(ptr(out), p, n, hip.MemcpyDeviceToHost)
		back.Disabled = true
		change(hip.Success, hip.GraphChange{Index: 2, Op: back}, hip.GraphChange{Index: 0, Op: setOp(p, 9, n)})
		run(3, 7) // nothing came back
		change(hip.Success, hip.GraphChange{Index: 2, Op: copyOp(q, p, n, hip.MemcpyDeviceToDevice)})
		run(3, 7)
		e.equal("the other memory", e.download(q, n)[n-1:], []byte{9})
		change(hip.Success, hip.GraphChange{Index: 2, Op: copyOp(ptr(out), q, n, hip.MemcpyDefault)})
		run(3, 9)
		if code := e.GraphExecUpdate(e.th, h+1, nil); code != hip.ErrorInvalidValue {
			e.Errorf("an update of no graph: %v", code)
		}
	}},
	{"LandsInOrdinaryMemory", func(e *env) { // a launch that brings something there returns when it is there
		const n = 1 << 16
		p := e.malloc(n)
		out := e.host(n)
		var g graphBuilder
		set := g.add(setOp(p, 5, n))
		g.add(copyOp(ptr(out), p, n, hip.MemcpyDeviceToHost), set)
		h := e.instantiate(&g)
		for range 20 {
			clear(out)
			e.ok("GraphLaunch", e.GraphLaunch(e.th, h, 0))
			if out[0] != 5 || out[n-1] != 5 {
				e.Fatalf("%d and %d", out[0], out[n-1])
			}
		}
	}},
	{"MemoryOfAnotherDevice", func(e *env) { // copies of host memory there do not wait for the stream that waits for the graph
		if n, code := e.GetDeviceCount(); code != hip.Success || n < 2 {
			return // needs two devices
		}
		there := hip.Thread{Device: 1, ID: 1}
		const n = 4096
		p, code := e.Malloc(there, n)
		e.ok("Malloc", code)
		launchers := []hip.Thread{e.th}
		if e.peers() { // a graph and its stream are of devices of one machine
			launchers = append(launchers, there)
		}
		pieces := []hip.Ptr{p, e.mappedOf(there, n)}
		for k, launcher := range launchers {
			s, code := e.StreamCreateWithPriority(launcher, 0, 0) // the null stream waits for it
			e.ok("StreamCreateWithPriority", code)
			for i, mem := range pieces {
				for j, host := range [][2][]byte{{e.host(n), e.host(n)}, {e.pinned(n), e.pinned(n)}} {
					in, out := host[0], host[1]
					copy(in, bytes.Repeat([]byte{byte(7 + i + 2*j + 4*k)}, n))
					var g graphBuilder // on device 0
					up := g.add(copyOp(mem, ptr(in), n, hip.MemcpyHostToDevice))
					g.add(copyOp(ptr(out), mem, n, hip.MemcpyDeviceToHost), up)
					h := e.instantiate(&g)
					e.ok("GraphLaunch", e.GraphLaunch(launcher, h, s))
					e.ok("StreamSynchronize", e.StreamSynchronize(launcher, s))
					e.equal(fmt.Sprintf("what came back of memory %d to memory %d of the host by a stream of device %d", i, j, launcher.Device), out, in)
				}
			}
		}
	}},
	{"EventOfAnotherDevice", func(e *env) {
		if n, code := e.GetDeviceCount(); code != hip.Success || n < 2 {
			return // needs two devices
		}
		if !e.together() {
			return
		}
		there := hip.Thread{Device: 1, ID: 1}
		v, code := e.EventCreateWithFlags(there, 0)
		e.ok("EventCreateWithFlags", code)
		p := e.malloc(64)
		var g graphBuilder
		set := g.add(setOp(p, 5, 64))
		g.add(hip.GraphOp{Type: hip.GraphNodeTypeEventRecord, Event: v}, set)
		h := e.instantiate(&g)
		e.ok("GraphLaunch", e.GraphLaunch(e.th, h, e.stream(1)))
		e.ok("EventSynchronize", e.EventSynchronize(there, v))
		e.equal("what was set before", e.download(p, 64)[:1], []byte{5})

		q, code := e.Malloc(there, 64) // a copy of its memory before
		e.ok("Malloc", code)
		e.ok("Memset", e.Memset(there, q, 6, 64))
		out := e.pinned(64)
		g = graphBuilder{}
		down := g.add(copyOp(ptr(out), q, 64, hip.MemcpyDeviceToHost))
		g.add(hip.GraphOp{Type: hip.GraphNodeTypeEventRecord, Event: v}, down)
		h = e.instantiate(&g)
		e.ok("GraphLaunch", e.GraphLaunch(e.th, h, e.stream(1)))
		e.ok("EventSynchronize", e.EventSynchronize(there, v))
		e.ok("DeviceSynchronize", e.DeviceSynchronize(e.th))
		e.equal("what was copied before", out, bytes.Repeat([]byte{6}, 64))
	}},
	{"Events", func(e *env) {
		p := e.malloc(64)
		v := e.event(0)
		var g graphBuilder
		a := g.add(setOp(p, 1, 64))
		g.add(hip.GraphOp{Type: hip.GraphNodeTypeEventRecord, Event: v}, a)
		h := e.instantiate(&g)
		var w graphBuilder
		first := w.add(hip.GraphOp{Type: hip.GraphNodeTypeWaitEvent, Event: v})
		w.add(setOp(p, 2, 64), first)
		h2 := e.instantiate(&w)
		s, s2 := e.stream(1), e.stream(1)
		e.ok("GraphLaunch", e.GraphLaunch(e.th, h, s))
		e.ok("GraphLaunch", e.GraphLaunch(e.th, h2, s2))
		e.ok("EventSynchronize", e.EventSynchronize(e.th, v))
		e.ok("StreamSynchronize", e.StreamSynchronize(e.th, s2))
		e.equal("what was written last", e.download(p, 64)[:1], []byte{2})
	}},
	{"Refused", func(e *env) {
		p := e.malloc(64)
		for what, ops := range map[string][]hip.GraphOp{
			"an operation that waits for itself":  {{Type: hip.GraphNodeTypeEmpty, After: []uint32{0}}},
			"a type that is none":                 {{Type: 77}},
			"a child graph that is not flattened": {{Type: hip.GraphNodeTypeGraph}},
			"a kernel without a launch":           {{Type: hip.GraphNodeTypeKernel}},
			"a copy without a description":        {{Type: hip.GraphNodeTypeMemcpy}},
			"an element of three bytes":           {{Type: hip.GraphNodeTypeMemset, Set: &hip.GraphSet{Dst: p, Element: 3, Width: 1, Height: 1}}},
			"slices that overlap":                 {{Type: hip.GraphNodeTypeMemset, Set: &hip.GraphSet{Dst: p, Element: 1, Width: 4, Height: 2, Pitch: 8, Slice: 8, Depth: 2}}},
			"slices of broken rows":               {{Type: hip.GraphNodeTypeMemset, Set: &hip.GraphSet{Dst: p, Element: 1, Width: 4, Height: 2, Pitch: 8, Slice: 20, Depth: 2}}},
			"rows that overlap":                   {{Type: hip.GraphNodeTypeMemset, Set: &hip.GraphSet{Dst: p, Element: 4, Width: 4, Height: 2, Pitch: 8}}},
			"an event that is none":               {{Type: hip.GraphNodeTypeEventRecord}},
		} {
			if _, code := e.GraphInstantiate(e.th, &hip.GraphDesc{Ops: ops}); code == hip.Success {
				e.Errorf("%s was taken", what)
			}
		}
		var empty graphBuilder
		h := e.instantiate(&empty)
		e.ok("GraphLaunch", e.GraphLaunch(e.th, h, 0))
		for _, wrong := range []hip.GraphExec{0, 1, h + 1} {
			if code := e.GraphLaunch(e.th, wrong, 0); code != hip.ErrorInvalidValue {
				e.Errorf("launch of %d: %v", wrong, code)
			}
			if code := e.GraphExecDestroy(e.th, wrong); code != hip.ErrorInvalidValue {
				e.Errorf("destruction of %d: %v", wrong, code)
			}
		}
		if code := e.GraphLaunch(e.th, h, 0x7777); code != hip.ErrorContextIsDestroyed {
			e.Errorf("on a stream that is none: %v", code)
		}
	}},
	{"ManyOperations", func(e *env) {
		const n = 2000
		p := e.upload(f32s(make([]float32, 64)))
		one := make([]float32, 64)
		for i := range one {
			one[i] = 1
		}
		q := e.upload(f32s(one))
		var g graphBuilder
		for i := range uint32(n) {
			if i == 0 {
				g.add(e.addition(p, q, p, 64))
			} else {
				g.add(e.addition(p, q, p, 64), i-1)
			}
		}
		h := e.instantiate(&g)
		e.ok("GraphLaunch", e.GraphLaunch(e.th, h, 0))
		e.ok("GraphLaunch", e.GraphLaunch(e.th, h, 0))
		want := make([]float32, 64)
		for i := range want {
			want[i] = 2 * n
		}
		e.equal("the sum", e.download(p, 4*64), f32s(want))
	}},
}

// hostMemoryInTurn has a graph's copy read what a function of the graph has written just before, and a function what a copy has brought.
func (e *env) hostMemoryInTurn(in, out []byte, move func(dst, src hip.Ptr, n uint64, kind hip.MemcpyKind) hip.GraphOp) {
	e.Helper()
	n := uint64(len(in))
	d, far := e.malloc(n), e.malloc(n)
	var mu sync.Mutex
	var seen []byte
	round := byte(0)
	var g graphBuilder
	w := g.add(hip.GraphOp{Type: hip.GraphNodeTypeHost, Host: func() {
		mu.Lock()
		defer mu.Unlock()
		round++
		for i := range in {
			in[i] = round
		}
	}})
	up := g.add(move(d, ptr(in), n, hip.MemcpyHostToDevice), w)
	over := g.add(move(far, d, n, hip.MemcpyDeviceToDevice), up)
	down := g.add(move(ptr(out), far, n, hip.MemcpyDeviceToHost), over)
	g.add(hip.GraphOp{Type: hip.GraphNodeTypeHost, Host: func() {
		mu.Lock()
		defer mu.Unlock()
		seen = append(seen, out[0], out[n-1])
	}}, down)
	h := e.instantiate(&g)
	s := e.stream(0)
	for range 3 {
		e.ok("GraphLaunch", e.GraphLaunch(e.th, h, s))
	}
	e.ok("GraphExecDestroy", e.GraphExecDestroy(e.th, h)) // what was launched goes on
	e.returns("StreamSynchronize", func() hip.Error { return e.StreamSynchronize(e.th, s) })
	mu.Lock()
	defer mu.Unlock()
	if !slices.Equal(seen, []byte{1, 1, 2, 2, 3, 3}) {
		e.Errorf("the functions saw %v", seen)
	}
}

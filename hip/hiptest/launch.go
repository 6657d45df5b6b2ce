package hiptest

import (
	"bytes"
	"fmt"

	"github.com/rocwire/rocwire/examples/kernels"
	"github.com/rocwire/rocwire/hip"
)

// vectorAdd adds n elements on a stream and checks the sum.
func (e *env) vectorAdd(n int, s hip.Stream) {
	e.Helper()
	for _, p := range e.addOn(n, s) {
		e.ok("Free", e.Free(e.th, p))
	}
}

// addOn is vectorAdd without Free, which would wait for the whole device.
func (e *env) addOn(n int, s hip.Stream) [3]hip.Ptr {
	e.Helper()
	a, b, want := make([]float32, n), make([]float32, n), make([]float32, n)
	for i := range a {
		a[i], b[i] = float32(i)*0.5, float32(n-i)
		want[i] = a[i] + b[i]
	}
	da, db, dc := e.upload(f32s(a)), e.upload(f32s(b)), e.malloc(uint64(4*n))
	e.launch(e.kernel("vector_add", "vector_add"), uint32(n+255)/256, 256, s, da, db, dc, int32(n))
	e.ok("StreamSynchronize", e.StreamSynchronize(e.th, s))
	e.equal("vector_add", e.download(dc, 4*n), f32s(want))
	return [3]hip.Ptr{da, db, dc}
}

func dim(v [3]uint32) hip.Dim3 { return hip.Dim3{X: v[0], Y: v[1], Z: v[2]} }

var launchTests = []test{
	{"VectorAdd", func(e *env) {
		for _, n := range []int{1, 64, 1000, 100_000} {
			e.vectorAdd(n, 0)
		}
		e.vectorAdd(1000, e.stream(0))
		e.vectorAdd(1000, hip.StreamLegacy)
	}},
	{"Sizes", func(e *env) {
		f := e.kernel("vector_add", "vector_add")
		bounded := e.kernel("reduce", "reduce_sum_f32") // compiled for 256 threads
		p := e.malloc(4096)
		args := pack(p, p, p, int32(1))
		one := [3]uint32{1, 1, 1}
		for _, c := range []struct {
			what        string
			f           hip.Function
			grid, block [3]uint32
			lds         uint32
			args        []byte
			want        []hip.Error
		}{
			{"good", f, one, one, 0, args, []hip.Error{hip.Success}},
			{"the largest workgroup", f, one, [3]uint32{1024, 1, 1}, 0, args, []hip.Error{hip.Success}},
			{"as much LDS as there is", f, one, one, 65536, args, []hip.Error{hip.Success}},
			{"a tall grid", f, [3]uint32{1, 1<<16 + 1, 1}, one, 0, args, []hip.Error{hip.Success}},
			{"no grid", f, [3]uint32{0, 1, 1}, one, 0, args, []hip.Error{hip.ErrorInvalidValue}},
			{"no workgroup", f, one, [3]uint32{1, 0, 1}, 0, args, []hip.Error{hip.ErrorInvalidValue, hip.ErrorInvalidConfiguration}},
			{"too many threads", f, one, [3]uint32{1025, 1, 1}, 0, args, []hip.Error{hip.ErrorInvalidValue, hip.ErrorInvalidConfiguration}},
			{"too many threads together", f, one, [3]uint32{32, 32, 2}, 0, args, []hip.Error{hip.ErrorInvalidValue, hip.ErrorInvalidConfiguration}},
			{"threads that wrap", f, one, [3]uint32{1 << 16, 1 << 16, 1}, 0, args, []hip.Error{hip.ErrorInvalidValue, hip.ErrorInvalidConfiguration}},
			{"more than the kernel is compiled for", bounded, one, [3]uint32{512, 1, 1}, 0, pack(p, p, uint32(1)), []hip.Error{hip.ErrorLaunchFailure, hip.ErrorInvalidValue}},
			{"too much LDS", f, one, one, 65537, args, []hip.Error{hip.ErrorInvalidValue}},
			{"too much LDS with the kernel's own", bounded, one, [3]uint32{256, 1, 1}, 65536, pack(p, p, uint32(1)), []hip.Error{hip.ErrorInvalidValue, hip.ErrorLaunchOutOfResources}},
			{"a grid that is too wide", f, [3]uint32{1 << 31, 1, 1}, one, 0, args, []hip.Error{hip.ErrorInvalidValue, hip.ErrorInvalidConfiguration}},
			{"more threads than can be counted", f, [3]uint32{1<<31 - 1, 1, 1}, [3]uint32{1024, 1, 1}, 0, args, []hip.Error{hip.ErrorInvalidConfiguration, hip.ErrorInvalidValue}},
			{"no arguments", f, one, one, 0, nil, []hip.Error{hip.ErrorInvalidValue}},
			{"an argument too few", f, one, one, 0, args[:24], []hip.Error{hip.ErrorInvalidValue}},
			{"no function", 0, one, one, 0, args, []hip.Error{hip.ErrorInvalidHandle}},
			{"unknown function", invalid, one, one, 0, args, []hip.Error{hip.ErrorInvalidHandle}},
		} {
			err := e.LaunchKernel(e.th, &hip.Launch{Function: c.f, Grid: dim(c.grid), Block: dim(c.block), SharedMem: c.lds, Args: c.args})
			found := false
			for _, w := range c.want {
				found = found || err == w
			}
			if !found {
				e.Errorf("%s: %s, want %s", c.what, err.Name(), c.want[0].Name())
			}
		}
		err := e.LaunchKernel(e.th, &hip.Launch{Function: f, Grid: dim(one), Block: dim(one), Args: args, Stream: invalid})
		e.is("unknown stream", err, hip.ErrorInvalidValue)
		e.sync() // none of it harmed the device
		e.vectorAdd(100, 0)
	}},
	{"PartialWorkgroup", func(e *env) {
		// Kernels say whether their workgroups must all be complete.
		image := bytes.Clone(e.image("spin"))
		key := []byte(".uniform_work_group_size")
		for at := bytes.Index(image, key); at >= 0; {
			at += len(key)
			image[at] = 0 // was 1
			next := bytes.Index(image[at:], key)
			if next < 0 {
				break
			}
			at += next
		}
		m, err := e.ModuleLoadData(e.th, image)
		e.ok("ModuleLoadData", err)
		loose, err := e.ModuleGetFunction(e.th, m, "spin")
		e.ok("ModuleGetFunction", err)
		out := e.malloc(4 * 1000)
		for _, c := range []struct {
			what    string
			f       hip.Function
			threads uint32
			want    hip.Error
		}{
			{"complete workgroups", e.kernel("spin", "spin"), 768, hip.Success},
			{"a partial one of a kernel that does not know them", e.kernel("spin", "spin"), 700, hip.ErrorInvalidValue},
			{"a partial one", loose, 700, hip.Success},
			{"only a partial one", loose, 100, hip.Success},
		} {
			e.ok("Memset", e.Memset(e.th, out, 0, 4000))
			err := e.LaunchKernel(e.th, &hip.Launch{
				Function: c.f, Grid: hip.Dim3{X: 3, Y: 1, Z: 1}, Block: hip.Dim3{X: 256, Y: 1, Z: 1},
				GlobalSize: hip.Dim3{X: c.threads, Y: 1, Z: 1}, Args: pack(out, uint64(0), uint32(1000)),
			})
			if e.is(c.what, err, c.want); err != hip.Success {
				continue
			}
			d := e.download(out, 4000)
			for i := range uint32(1000) {
				want := uint32(0)
				if i < c.threads {
					want = i*2654435761 + 12345
				}
				if got := u32At(d, int(i)); got != want {
					e.Fatalf("%s: element %d is %d, want %d", c.what, i, got, want)
				}
			}
		}
	}},
	{"Events", func(e *env) {
		s := e.stream(0)
		start, stop := e.event(0), e.event(0)
		out := e.malloc(4 * 64)
		l := &hip.Launch{Function: e.kernel("spin", "spin"), Grid: hip.Dim3{X: 1, Y: 1, Z: 1}, Block: hip.Dim3{X: 64, Y: 1, Z: 1},
			Stream: s, Args: pack(out, uint64(10000), uint32(64)), Start: start, Stop: stop}
		g := e.gate(s)
		e.ok("LaunchKernel", e.LaunchKernel(e.th, l))
		e.is("the stop event of a kernel that waits", e.EventQuery(e.th, stop), hip.ErrorNotReady)
		g.open()
		e.ok("EventSynchronize", e.EventSynchronize(e.th, stop))
		ms, err := e.EventElapsedTime(e.th, start, stop)
		if e.ok("EventElapsedTime", err); ms <= 0 {
			e.Errorf("the kernel took %v ms", ms)
		}
		l.Start = invalid
		e.is("an event that does not exist", e.LaunchKernel(e.th, l), hip.ErrorInvalidHandle)
	}},
	{"ArgumentsAreCopied", func(e *env) {
		s := e.stream(nonBlocking)
		out := e.malloc(4 * 64 * 8)
		g := e.gate(s)
		for i := range 8 {
			args := pack(out+hip.Ptr(4*64*i), uint64(i), uint32(64))
			e.ok("LaunchKernel", e.LaunchKernel(e.th, &hip.Launch{Function: e.kernel("spin", "spin"),
				Grid: hip.Dim3{X: 1, Y: 1, Z: 1}, Block: hip.Dim3{X: 64, Y: 1, Z: 1}, Stream: s, Args: args}))
			clear(args)
		}
		g.open()
		e.ok("StreamSynchronize", e.StreamSynchronize(e.th, s))
		d := e.download(out, 4*64*8)
		x := uint32(12345)
		for i := range 8 {
			if got := u32At(d, 64*i); got != x {
				e.Fatalf("launch %d: %d, want %d", i, got, x)
			}
			x = x*1664525 + 1013904223
		}
	}},
	{"Cooperative", func(e *env) {
		out := e.malloc(4 * 4 * 256)
		l := &hip.Launch{Function: e.kernel("spin", "spin"), Grid: hip.Dim3{X: 4, Y: 1, Z: 1}, Block: hip.Dim3{X: 256, Y: 1, Z: 1},
			Flags: hip.LaunchCooperative, Args: pack(out, uint64(3), uint32(1024))}
		e.ok("LaunchKernel", e.LaunchKernel(e.th, l))
		e.sync()
		l.Grid.X = 1 << 20
		e.is("more workgroups than can be resident", e.LaunchKernel(e.th, l), hip.ErrorCooperativeLaunchTooLarge)
	}},
	{"Kernels", func(e *env) {
		e.cases([]string{"vector_add", "saxpy", "reduce", "dynamic_lds", "histogram", "scratch", "variables"})
	}},
}

// cases runs launches whose results are known from running the same source on
// the CPU.
func (e *env) cases(objects []string) {
	var list []*kernels.Case
	for _, o := range objects {
		list = append(list, kernels.CasesOf(o, 1)...)
	}
	if len(list) == 0 {
		e.Fatal("no cases")
	}
	cpu, err := kernels.BuildCPU(e.TempDir(), kernels.Lanes(e.arch))
	if err != nil {
		e.Fatal(err)
	}
	for _, c := range list {
		want, err := cpu.Run(c)
		if err != nil {
			e.Fatalf("%s on the CPU: %v", c.Name, err)
		}
		if err := c.Diff(want, e.runCase(c)); err != nil {
			e.Error(err)
		}
	}
}

// runCase launches a case in a module of its own.
func (e *env) runCase(c *kernels.Case) *kernels.Result {
	e.Helper()
	m, err := e.ModuleLoadData(e.th, e.image(c.Object))
	e.ok("ModuleLoadData", err)
	f, err := e.ModuleGetFunction(e.th, m, c.Kernel)
	e.ok(fmt.Sprintf("ModuleGetFunction %s", c.Name), err)
	for _, v := range c.Set {
		p, n, err := e.ModuleGetGlobal(e.th, m, v.Name)
		e.ok("ModuleGetGlobal", err)
		if n != uint64(len(v.Data)) {
			e.Fatalf("%s: variable %s has %d bytes", c.Name, v.Name, n)
		}
		e.write(p, v.Data)
	}
	var bufs []hip.Ptr
	for _, b := range c.Buffers {
		bufs = append(bufs, e.upload(b.Data))
	}
	e.ok("LaunchKernel "+c.Name, e.LaunchKernel(e.th, &hip.Launch{Function: f, Grid: dim(c.Grid), Block: dim(c.Block), SharedMem: c.Shared,
		Args: c.Segment(func(i int) uint64 { return uint64(bufs[i]) })}))
	if err := e.DeviceSynchronize(e.th); err != hip.Success {
		e.Fatalf("%s: %v", c.Name, err)
	}
	r := &kernels.Result{}
	for i, b := range c.Buffers {
		r.Buffers = append(r.Buffers, e.download(bufs[i], len(b.Data)))
		e.ok("Free", e.Free(e.th, bufs[i]))
	}
	for _, name := range c.Read {
		p, n, err := e.ModuleGetGlobal(e.th, m, name)
		e.ok("ModuleGetGlobal", err)
		r.Variables = append(r.Variables, e.download(p, int(n)))
	}
	e.ok("ModuleUnload", e.ModuleUnload(e.th, m))
	return r
}

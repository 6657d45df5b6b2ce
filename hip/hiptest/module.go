package hiptest

import (
	"bytes"
	"encoding/binary"

	"github.com/rocwire/rocwire/examples/kernels"
	"github.com/rocwire/rocwire/hip"
)

var moduleTests = []test{
	{"NotAnImage", func(e *env) {
		good := e.image("vector_add")
		for what, image := range map[string][]byte{
			"text":      []byte("this is no code object, it is only long enough to be looked at as one"),
			"zeros":     make([]byte, 4096),
			"truncated": good[:len(good)/3],
		} {
			m, err := e.ModuleLoadData(e.th, image)
			if err == hip.Success || m != 0 {
				e.Errorf("%s was loaded", what)
			}
			if err != hip.ErrorInvalidImage && err != hip.ErrorInvalidValue && err != hip.ErrorInvalidKernelFile {
				e.Errorf("%s: %s", what, err.Name())
			}
		}
	}},
	{"OtherTarget", func(e *env) {
		for _, arch := range kernels.Arches {
			if arch == e.arch {
				continue
			}
			image, oerr := kernels.Object(arch, "vector_add")
			if oerr != nil {
				e.Fatal(oerr)
			}
			_, err := e.ModuleLoadData(e.th, image)
			e.is("code for "+arch, err, hip.ErrorNoBinaryForGpu)
		}
	}},
	{"Names", func(e *env) {
		m := e.module("saxpy")
		_, err := e.ModuleGetFunction(e.th, m, "no_such_kernel")
		e.is("a kernel that does not exist", err, hip.ErrorNotFound)
		_, err = e.ModuleGetFunction(e.th, m, string(bytes.Repeat([]byte("x"), 100_000)))
		e.is("a very long name", err, hip.ErrorNotFound)
		_, _, err = e.ModuleGetGlobal(e.th, m, "no_such_variable")
		e.is("a variable that does not exist", err, hip.ErrorNotFound)
		f, err := e.ModuleGetFunction(e.th, m, "saxpy")
		e.ok("ModuleGetFunction", err)
		g, err := e.ModuleGetFunction(e.th, m, "saxpy_unfused")
		e.ok("ModuleGetFunction", err)
		if f == g || f == 0 || g == 0 {
			e.Errorf("functions %d and %d", f, g)
		}
	}},
	{"Unload", func(e *env) {
		before, _, err := e.MemGetInfo(e.th)
		e.ok("MemGetInfo", err)
		for range 3 {
			m, err := e.ModuleLoadData(e.th, e.image("vector_add"))
			e.ok("ModuleLoadData", err)
			f, err := e.ModuleGetFunction(e.th, m, "vector_add")
			e.ok("ModuleGetFunction", err)
			e.ok("ModuleUnload", e.ModuleUnload(e.th, m))
			if e.LaunchKernel(e.th, &hip.Launch{Function: f, Grid: hip.Dim3{X: 1, Y: 1, Z: 1}, Block: hip.Dim3{X: 1, Y: 1, Z: 1}, Args: make([]byte, 28)}) == hip.Success {
				e.Error("a function survived its module")
			}
			_, err = e.ModuleGetFunction(e.th, m, "vector_add")
			if err == hip.Success {
				e.Error("a module survived")
			}
			if e.ModuleUnload(e.th, m) != hip.ErrorNotFound {
				e.Error("unloaded twice")
			}
		}
		if after, _, _ := e.MemGetInfo(e.th); after != before {
			e.Errorf("free %d before, %d after", before, after)
		}
		e.is("unload nothing", e.ModuleUnload(e.th, 0), hip.ErrorInvalidHandle)
	}},
	{"VariablesOfDevices", func(e *env) { // a variable is its device's, whose streams copy it although another's is held up
		if n, _ := e.GetDeviceCount(); n < 2 {
			return
		}
		other := hip.Thread{Device: 1, ID: 1}
		m, err := e.ModuleLoadData(other, e.image("variables"))
		e.ok("ModuleLoadData", err)
		p, n, err := e.ModuleGetGlobal(other, m, "big_table")
		e.ok("ModuleGetGlobal", err)
		if a, err := e.PointerGetAttributes(e.th, p); err != hip.Success || a.Device != 1 {
			e.Errorf("it is device %d's: %v", a.Device, err)
		}
		s, err := e.StreamCreateWithPriority(other, nonBlocking, 0)
		e.ok("StreamCreate", err)
		rows, err := e.Malloc(other, n)
		e.ok("Malloc", err)
		g, h := e.gate(hip.StreamNull), e.host(int(n))
		for range 2 {
			e.ok("MemcpyWithStream", e.MemcpyWithStream(other, ptr(h), p, n, hip.MemcpyDeviceToHost, s))
			e.ok("Memcpy2DAsync", e.Memcpy2DAsync(other, rows, 256, p, 256, 128, 2, hip.MemcpyDefault, s))
			e.ok("StreamSynchronize", e.StreamSynchronize(other, s))
		}
		g.open()
		e.sync()
		if binary.LittleEndian.Uint64(h[8*3:]) != 4 {
			e.Errorf("it is %v", h[:32])
		}
	}},
	{"Variables", func(e *env) {
		m := e.module("variables")
		p, n, err := e.ModuleGetGlobal(e.th, m, "launches")
		e.ok("ModuleGetGlobal", err)
		if n != 4 || u32At(e.download(p, 4), 0) != 5 {
			e.Fatalf("launches: %d bytes, value %v", n, e.download(p, int(n)))
		}
		table, n, err := e.ModuleGetGlobal(e.th, m, "big_table")
		e.ok("ModuleGetGlobal", err)
		if n != 64*8 || binary.LittleEndian.Uint64(e.download(table, 8*64)[8*3:]) != 4 {
			e.Errorf("big_table: %d bytes", n)
		}
		rows := e.malloc(512)
		for _, s := range []hip.Stream{hip.StreamNull, e.stream(nonBlocking)} {
			e.ok("Memcpy2DAsync of a variable", e.Memcpy2DAsync(e.th, rows, 256, table, 256, 128, 2, hip.MemcpyDefault, s))
			e.sync()
			e.equal("rows of big_table", e.download(rows, 128), e.download(table, 128))
		}
		e.write(p, u32s(40))
		out := e.malloc(8 * 64)
		e.launch(e.kernel("variables", "globals"), 1, 64, 0, out, uint32(2))
		if v := u32At(e.download(p, 4), 0); v != 42 {
			e.Errorf("launches is %d after the kernel", v)
		}
		un, _, err := e.ModuleGetGlobal(e.th, m, "uninitialised")
		e.ok("ModuleGetGlobal", err)
		if b := e.download(un, 64); u32At(b, 1) != 84 || u32At(b, 15) != 7 || u32At(b, 0) != 0 {
			e.Errorf("uninitialised is %v after the kernel", b)
		}
		// A second copy of the module has variables of its own.
		m2, err := e.ModuleLoadData(e.th, e.image("variables"))
		e.ok("ModuleLoadData", err)
		p2, _, err := e.ModuleGetGlobal(e.th, m2, "launches")
		e.ok("ModuleGetGlobal", err)
		if v := u32At(e.download(p2, 4), 0); p2 == p || v != 5 {
			e.Errorf("the second module's launches at %v is %d", p2, v)
		}
	}},
}

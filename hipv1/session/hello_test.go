package session

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/rocwire/rocwire/examples/kernels"
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hipv1"
)

const elements = 1000

// vectors are the inputs of vector_add and what it makes of them.
func vectors() (a, b, sum []byte) {
	return floats(elements, func(i int) float32 { return float32(i) }), floats(elements, func(i int) float32 { return float32(2 * i) }),
		floats(elements, func(i int) float32 { return float32(3 * i) })
}

// launch is April's, of a segment that came whole.
func launch(f, stream uint64, grid, block uint32, seg []byte) (*hipv1.LaunchKernelRequest, []byte) {
	q := &hipv1.LaunchKernelRequest{
		Function: f, GridDimX: grid, GridDimY: 1, GridDimZ: 1, BlockDimX: block, BlockDimY: 1, BlockDimZ: 1, Stream: stream, NumArgs: 1, LaunchFlags: 1,
	}
	tail := binary.LittleEndian.AppendUint32(nil, uint32(len(seg)))
	tail = binary.LittleEndian.AppendUint32(tail, 0)
	return q, append(tail, seg...)
}

// segment is vector_add's arguments.
func segment(a, b, c uint64, n uint32) []byte {
	var seg []byte
	for _, p := range []uint64{a, b, c} {
		seg = binary.LittleEndian.AppendUint64(seg, p)
	}
	return binary.LittleEndian.AppendUint64(seg, uint64(n))
}

// What hello_hip does, as April's client does it: it invents every name and address, and waits for nothing but the result.
func TestHelloApril(t *testing.T) {
	p := start(t, nil)
	co := vectorAdd(t)
	a, b, sum := vectors()
	p.ask(hipv1.OpInit, nil, nil, nil)
	var n hipv1.DeviceCountReply
	p.ask(hipv1.OpGetDeviceCount, nil, nil, &n)
	if n.Count != 2 {
		t.Fatalf("%d devices", n.Count)
	}
	props := p.ask(hipv1.OpGetDeviceProperties, &hipv1.DeviceRequest{}, nil, nil)
	if len(props) != 1472 || !bytes.HasPrefix(props, []byte("AMD Instinct")) {
		t.Fatalf("%d bytes of properties, %q", len(props), props[:min(32, len(props))])
	}
	addr := func(i uint64) uint64 { return firstAddress + i*0x1000 }
	for i := range uint64(3) {
		p.post(hipv1.OpMallocVaddr, &hipv1.MallocVaddrRequest{Vaddr: addr(i), Size: 4 * elements}, nil)
	}
	p.post(hipv1.OpStreamCreateWithFlags, &hipv1.StreamCreateRequest{Flags: hip.StreamNonBlocking, Vhandle: vstream}, nil)
	p.post(hipv1.OpModuleLoadData, &hipv1.ModuleLoadRequest{DataSize: uint64(len(co)), Vhandle: vmodule}, co)
	p.post(hipv1.OpMemcpyAsync, &hipv1.MemcpyRequest{Dst: addr(0), Size: 4 * elements, Kind: 1, Stream: vstream}, a)
	p.post(hipv1.OpMemcpyAsync, &hipv1.MemcpyRequest{Dst: addr(1), Size: 4 * elements, Kind: 1, Stream: vstream}, b)
	var f hipv1.ModuleGetFunctionReply
	p.ask(hipv1.OpModuleGetFunction, &hipv1.ModuleGetFunctionRequest{Module: vmodule, Vhandle: vfunc, FunctionName: name1024("vector_add")}, nil, &f)
	if f.Function != vfunc || f.NumParams != 4 || f.Params[3].Offset != 24 || f.Params[3].Size != 4 || f.Params[0].IsPointer != 1 || f.Params[3].IsPointer != 0 || f.NumArgs < 28 {
		t.Fatalf("%#x, %d parameters, %+v, a segment of %d bytes", f.Function, f.NumParams, f.Params[:4], f.NumArgs)
	}
	q, tail := launch(vfunc, vstream, 4, 256, segment(addr(0), addr(1), addr(2), elements))
	p.post(hipv1.OpLaunchKernel, q, tail)
	got := p.ask(hipv1.OpMemcpyAsync, &hipv1.MemcpyRequest{Src: addr(2), Size: 4 * elements, Kind: 2, Stream: vstream}, nil, nil)
	if !bytes.Equal(got, sum) {
		t.Error("the sum is wrong")
	}
	for i := range uint64(3) {
		p.post(hipv1.OpFree, &hipv1.FreeRequest{DevicePtr: addr(i)}, nil)
	}
	p.post(hipv1.OpStreamDestroy, &hipv1.StreamRequest{Stream: vstream}, nil)
	p.post(hipv1.OpModuleUnload, &hipv1.ModuleUnloadRequest{Module: vmodule}, nil)
	p.sync()
	p.empty()
	p.ask(hipv1.OpShutdown, nil, nil, nil)
	if err := <-p.ended; err != nil {
		t.Error(err)
	}
	p.ended <- nil
}

// empty says that the session has nothing left of what it took.
func (p *pair) empty() {
	p.t.Helper()
	if n := p.sess.Memory.(*ledger).held; n != 0 {
		p.t.Errorf("%d bytes are still in the account", n)
	}
	free, total := p.info()
	if free != total {
		p.t.Errorf("%d bytes of the device are not free", total-free)
	}
	for d, n := range p.sess.place.owed {
		if n != 0 {
			p.t.Errorf("device %d: %d bytes of capacity did not go back", d, n)
		}
	}
}

func (p *pair) info() (free, total uint64) {
	p.t.Helper()
	var m hipv1.MemGetInfoReply
	p.ask(hipv1.OpMemGetInfo, nil, nil, &m)
	return m.FreeBytes, m.TotalBytes
}

// The same as February's client does it: the worker gives all names and addresses, and an argument is eight bytes.
func TestHelloFebruary(t *testing.T) {
	p := start(t, nil)
	co := vectorAdd(t)
	a, b, sum := vectors()
	p.ask(hipv1.OpInit, nil, nil, nil)
	var ptr [3]hipv1.MallocReply
	for i := range ptr {
		p.ask(hipv1.OpMalloc, &hipv1.MallocRequest{Size: 4 * elements}, nil, &ptr[i])
	}
	var st hipv1.StreamCreateReply
	p.ask(hipv1.OpStreamCreate, &struct {
		Flags    uint32
		Priority int32
	}{}, nil, &st)
	var m hipv1.ModuleLoadReply
	p.ask(hipv1.OpModuleLoadData, uint64(len(co)), co, &m)
	var f hipv1.FunctionFebruary
	q := struct {
		Module uint64
		Name   [256]byte
	}{Module: m.Module}
	hipv1.PutText(q.Name[:], "vector_add")
	p.ask(hipv1.OpModuleGetFunction, &q, nil, &f)
	if f.NumArgs != 4 || f.Function == 0 || st.Stream == 0 {
		t.Fatalf("%+v, stream %#x", f, st.Stream)
	}
	if props := p.ask(hipv1.OpGetDeviceProperties, &hipv1.DeviceRequest{}, nil, new(hipv1.DevicePropertiesReply)); len(props) != 0 {
		t.Errorf("%d bytes behind February's properties", len(props))
	}
	p.ask(hipv1.OpMemcpy, &hipv1.MemcpyRequest{Dst: ptr[0].DevicePtr, Size: 4 * elements, Kind: 1}, a, nil)
	p.ask(hipv1.OpMemcpy, &hipv1.MemcpyRequest{Dst: ptr[1].DevicePtr, Size: 4 * elements, Kind: 1}, b, nil)
	l := struct {
		Function                               uint64
		GridX, GridY, GridZ, BlockX, Y, Z, LDS uint32
		Stream                                 uint64
		NumArgs                                uint32
		Args                                   [4]hipv1.KernelArg
	}{Function: f.Function, GridX: 4, GridY: 1, GridZ: 1, BlockX: 256, Y: 1, Z: 1, Stream: st.Stream, NumArgs: 4}
	var data []byte
	for i := range l.Args {
		l.Args[i] = hipv1.KernelArg{Size: 8, Offset: uint32(8 * i)}
	}
	for _, p := range ptr {
		data = binary.LittleEndian.AppendUint64(data, p.DevicePtr)
	}
	data = binary.LittleEndian.AppendUint64(data, 0xdeadbeef00000000|elements) // what is behind four bytes of an int is anything
	p.ask(hipv1.OpLaunchKernel, &l, data, nil)
	p.ask(hipv1.OpStreamSynchronize, &hipv1.StreamRequest{Stream: st.Stream}, nil, nil)
	if got := p.ask(hipv1.OpMemcpy, &hipv1.MemcpyRequest{Src: ptr[2].DevicePtr, Size: 4 * elements, Kind: 2}, nil, nil); !bytes.Equal(got, sum) {
		t.Error("the sum is wrong")
	}
	for i := range ptr {
		p.ask(hipv1.OpFree, &hipv1.FreeRequest{DevicePtr: ptr[i].DevicePtr}, nil, nil)
	}
	p.ask(hipv1.OpStreamDestroy, &hipv1.StreamRequest{Stream: st.Stream}, nil, nil)
	p.ask(hipv1.OpModuleUnload, &hipv1.ModuleUnloadRequest{Module: m.Module}, nil, nil)
	p.empty()
}

// Memory is where the client thinks it is, at both ends of what it may choose.
func TestAddresses(t *testing.T) {
	p := start(t, nil)
	p.ask(hipv1.OpMemGetInfo, nil, nil, new(hipv1.MemGetInfoReply))
	where := []uint64{firstAddress, firstAddress + 1<<30, p.sess.place.span.Base + p.sess.place.span.Size - 0x1000}
	for _, addr := range where {
		p.post(hipv1.OpMallocVaddr, &hipv1.MallocVaddrRequest{Vaddr: addr, Size: 4096}, nil)
		var a hipv1.PointerGetAttributesReply
		p.ask(hipv1.OpPointerGetAttributes, &hipv1.PointerGetAttributesRequest{Ptr: addr + 8}, nil, &a)
		if a.DevicePointer != addr+8 {
			t.Errorf("%#x is %#x on the device", addr+8, a.DevicePointer)
		}
	}
	p.sync()
}

// A number that is an address by chance arrives as it was, and so does one in a struct: nothing in arguments is looked for.
func TestNumbersStayNumbers(t *testing.T) {
	p := start(t, nil)
	co, err := kernels.Object("gfx942", "memory")
	if err != nil {
		t.Fatal(err)
	}
	const out, number = firstAddress, firstAddress + 0x1234
	p.post(hipv1.OpMallocVaddr, &hipv1.MallocVaddrRequest{Vaddr: out, Size: 1 << 20}, nil)
	p.post(hipv1.OpModuleLoadData, &hipv1.ModuleLoadRequest{DataSize: uint64(len(co)), Vhandle: vmodule}, co)
	p.ask(hipv1.OpModuleGetFunction, &hipv1.ModuleGetFunctionRequest{Module: vmodule, Vhandle: vfunc, FunctionName: name1024("arguments")}, nil, new(hipv1.ModuleGetFunctionReply))
	seg := make([]byte, 64)
	binary.LittleEndian.PutUint64(seg, out)
	binary.LittleEndian.PutUint64(seg[24:], number)
	q, tail := launch(vfunc, 0, 1, 64, seg)
	p.post(hipv1.OpLaunchKernel, q, tail)
	got := p.get(out, 8*64)
	for i := range uint64(64) {
		if v := binary.LittleEndian.Uint64(got[8*i:]); v != number*17+i {
			t.Fatalf("element %d is %#x, want %#x", i, v, number*17+i)
		}
	}
	// The struct that comes last has 24 bytes. Who sends eight of each argument has not sent it, and nobody makes it up.
	q.LaunchFlags, q.NumArgs, tail = 0, 10, nil
	for i := range uint32(10) {
		tail = binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(tail, 8), 8*i)
	}
	p.fails(hip.ErrorInvalidValue, hipv1.OpLaunchKernel, q, append(tail, make([]byte, 80)...))
}

// Memory of the client's choice outside of what can be had is refused, and heard of.
func TestBeyondTheRange(t *testing.T) {
	p := start(t, nil)
	p.ask(hipv1.OpMemGetInfo, nil, nil, new(hipv1.MemGetInfoReply))
	end := p.sess.place.span.Base + p.sess.place.span.Size
	for _, addr := range []uint64{0x1000, firstAddress - 0x1000, firstAddress + 8, end, end - 0x1000, ^uint64(0xfff)} {
		p.post(hipv1.OpMallocVaddr, &hipv1.MallocVaddrRequest{Vaddr: addr, Size: 8192}, nil)
		p.fails(hip.ErrorOutOfMemory, hipv1.OpDeviceSynchronize, nil, nil)
	}
	p.sync()
}

// Who lets the worker choose has no range of its own, which would be a part of the addresses only; who chooses has.
func TestWhoHasARange(t *testing.T) {
	for name, c := range map[string]struct {
		op   hipv1.Op
		req  any
		want bool
	}{
		"begins with hipMalloc":         {hipv1.OpMalloc, &hipv1.MallocRequest{Size: 4096}, false},
		"begins with an address":        {hipv1.OpMallocVaddr, &hipv1.MallocVaddrRequest{Vaddr: firstAddress, Size: 4096}, true},
		"begins with April's stream":    {hipv1.OpStreamCreate, &hipv1.StreamCreateRequest{Vhandle: vstream}, true},
		"begins with a stream of old":   {hipv1.OpStreamCreate, uint64(0), true},
		"begins with February's lookup": {hipv1.OpModuleGetFunction, make([]byte, 264), false},
	} {
		t.Run(name, func(t *testing.T) { // one at a time has the range
			p := start(t, nil)
			_, _ = p.Call(c.op, c.req, nil, nil) // the lookup finds nothing
			p.ask(hipv1.OpPing, nil, nil, nil)
			if got := p.sess.place.placer != nil; got != c.want {
				t.Errorf("a range: %v", got)
			}
		})
	}
}

// A runtime that places memory itself serves who lets it choose, and says so to others.
func TestNoPlacer(t *testing.T) {
	p := start(t, func(c *Config) { c.Placer = nil })
	p.post(hipv1.OpMallocVaddr, &hipv1.MallocVaddrRequest{Vaddr: firstAddress, Size: 4096}, nil)
	p.fails(hip.ErrorNotSupported, hipv1.OpDeviceSynchronize, nil, nil)
	var m hipv1.MallocReply
	p.ask(hipv1.OpMalloc, &hipv1.MallocRequest{Size: 16}, nil, &m)
	p.ask(hipv1.OpMemcpy, &hipv1.MemcpyRequest{Dst: m.DevicePtr, Size: 16, Kind: 1}, []byte("0123456789abcdef"), nil)
	if got := p.ask(hipv1.OpMemcpy, &hipv1.MemcpyRequest{Src: m.DevicePtr + 4, Size: 4, Kind: 2}, nil, nil); string(got) != "4567" {
		t.Errorf("%q", got)
	}
}

package session

import (
	"encoding/binary"
	"errors"
	"io"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hipv1"
	"github.com/rocwire/rocwire/simgpu"
)

// end is how a session ends by itself.
func (p *pair) end() error {
	p.t.Helper()
	err := <-p.ended
	p.ended <- err
	return err
}

// What is no message is answered, and ends the session with an error that says what it was.
func TestHostile(t *testing.T) {
	arg := func(size, offset uint32) []byte {
		return binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, size), offset)
	}
	for _, x := range []struct {
		name string
		op   hipv1.Op
		req  any
		tail []byte
		say  string
	}{
		{"an argument at 0xfffffff0", hipv1.OpLaunchKernel, &hipv1.LaunchKernelRequest{NumArgs: 1, LaunchFlags: 1}, append(arg(8, 0xFFFFFFF0), make([]byte, 8)...), "argument 0 has 8 bytes at 0xfffffff0"},
		{"65 arguments", hipv1.OpLaunchKernel, &hipv1.LaunchKernelRequest{NumArgs: 65}, make([]byte, 65*8), "65 arguments"},
		{"a copy of more than it brings", hipv1.OpMemcpy, &hipv1.MemcpyRequest{Dst: firstAddress, Size: 1 << 40, Kind: 1}, []byte("four"), "comes with 4"},
		{"rows of more than they bring", hipv1.OpMemcpy2D, &hipv1.Memcpy2DRequest{DstPitch: 1 << 33, SrcPitch: 1 << 33, Width: 8, Height: 1 << 33, Kind: 1}, []byte("four"), "come with 4"},
		{"a code object of more than it brings", hipv1.OpModuleLoadData, &hipv1.ModuleLoadRequest{DataSize: ^uint64(0)}, []byte("four"), "code object"},
		{"a hash of more than it brings", hipv1.OpMemcpyHtoDCached, &hipv1.MemcpyCachedRequest{Size: 5}, []byte("four"), "comes with 4"},
		{"a list of more than there is", hipv1.OpStreamUpdateCaptureDependencies, &hipv1.StreamUpdateCaptureDependenciesRequest{NumDependencies: 1 << 30}, nil, "a list of"},
		{"nodes of more than there are", hipv1.OpGraphAddEmptyNode, &hipv1.GraphAddEmptyNodeRequest{NumDeps: 3}, make([]byte, 8), "a list of 3"},
		{"too few bytes", hipv1.OpFree, uint32(0), nil, "4 bytes where 8 belong"},
		{"too many bytes", hipv1.OpFree, uint64(0), make([]byte, hipv1.MaxSmall), "a payload of"},
	} {
		t.Run(x.name, func(t *testing.T) {
			p := start(t, nil)
			p.fails(hip.ErrorInvalidValue, x.op, x.req, x.tail)
			if err := p.end(); !errors.Is(err, hipv1.ErrProtocol) || !strings.Contains(err.Error(), x.say) || !strings.Contains(err.Error(), x.op.String()) {
				t.Errorf("%v", err)
			}
		})
	}
	for name, b := range map[string]string{
		"other bytes": strings.Repeat("GET / HTTP/1.1\r\n", 4), "rocwire's version": "RPIH\x00\x02" + strings.Repeat("\x00", 14), "a response": "RPIH\x00\x01\x01\x00" + strings.Repeat("\x00", 8) + "\x01\x00\x00\x00",
		"half a message": "RPIH\x00\x01\x01\x02\x00\x00\x00\x00\x08\x00\x00\x00\x00\x00\x00\x00four", "half a header": "RPIH\x00\x01",
	} {
		t.Run(name, func(t *testing.T) {
			p := start(t, nil)
			if _, err := io.WriteString(p.conn, b); err != nil {
				t.Fatal(err)
			}
			if strings.HasPrefix(name, "half") {
				_ = p.Close()
			}
			if err := p.end(); err == nil {
				t.Error("the session has ended as if nothing were")
			}
		})
	}
}

// An operation that is not known is HIP's error, whatever comes with it, and the session goes on.
func TestUnknownOperations(t *testing.T) {
	p := start(t, nil)
	for _, op := range []hipv1.Op{0x0000, 0x0216, 0x0511, 0x0730, 0x0900, 0x1234, 0xffff} {
		p.fails(hip.ErrorNotSupported, op, nil, make([]byte, 100_000))
	}
	p.post(0x0730, nil, nil)
	p.fails(hip.ErrorNotSupported, hipv1.OpDeviceSynchronize, nil, nil)
	p.sync()
}

// A client that does not read its replies is given up.
func TestNeverReads(t *testing.T) {
	p := start(t, func(c *Config) { c.Stall = 50 * time.Millisecond })
	const d = firstAddress // which nothing is answered about: a reply, too, may be late on a busy machine
	p.post(hipv1.OpMallocVaddr, &hipv1.MallocVaddrRequest{Vaddr: d, Size: 64 << 20}, nil)
	h := hipv1.Header{Version: hipv1.Version, Op: hipv1.OpMemcpy, Length: 36}
	b, err := binary.Append(h.Append(nil), binary.LittleEndian, &hipv1.MemcpyRequest{Src: d, Size: 64 << 20, Kind: 2})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.conn.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := p.end(); err == nil || !strings.Contains(err.Error(), "has not read a reply") {
		t.Errorf("%v", err)
	}
}

// What a client may have kept here is bounded, and comes back.
func TestAccount(t *testing.T) {
	p := start(t, func(c *Config) { c.Memory = &ledger{limit: 64 << 10} })
	names := []uint64{}
	for {
		var e hipv1.EventCreateReply
		if _, err := p.Call(hipv1.OpEventCreate, &hipv1.EventCreateRequest{}, nil, &e); err != nil {
			if !errors.Is(err, hip.ErrorOutOfMemory) {
				t.Fatal(err)
			}
			break
		}
		names = append(names, e.Event)
	}
	for _, x := range []struct {
		op   hipv1.Op
		req  any
		tail []byte
	}{
		{hipv1.OpStreamCreate, &hipv1.StreamCreateRequest{}, nil}, {hipv1.OpMalloc, &hipv1.MallocRequest{Size: 16}, nil}, {hipv1.OpGraphCreate, &hipv1.GraphCreateRequest{}, nil},
		{hipv1.OpMallocVaddr, &hipv1.MallocVaddrRequest{Vaddr: firstAddress, Size: 16}, nil}, {hipv1.OpModuleLoadData, &hipv1.ModuleLoadRequest{DataSize: 4}, []byte("\x7fELF")},
		{hipv1.OpStreamQuery, &hipv1.StreamRequest{Stream: uint64(hip.StreamPerThread)}, nil},
	} {
		p.fails(hip.ErrorOutOfMemory, x.op, x.req, x.tail)
	}
	if len(names) != 64 {
		t.Errorf("%d events in 64 KiB", len(names))
	}
	for _, e := range names {
		p.ask(hipv1.OpEventDestroy, &hipv1.EventRequest{Event: e}, nil, nil)
	}
	p.empty()
}

// modest refuses kernels that would take hours: a session of a worker is ended with its process, this one is not.
type modest struct{ *simgpu.Runtime }

func big(l *hip.Launch) bool {
	n := uint64(1)
	for _, x := range []uint32{l.Grid.X, l.Grid.Y, l.Grid.Z, l.Block.X, l.Block.Y, l.Block.Z} {
		if n *= uint64(x); n > 1<<20 {
			return true
		}
	}
	return false
}

func (m modest) LaunchKernel(t hip.Thread, l *hip.Launch) hip.Error {
	if big(l) {
		return hip.ErrorInvalidConfiguration
	}
	return m.Runtime.LaunchKernel(t, l)
}

func (m modest) GraphInstantiate(t hip.Thread, d *hip.GraphDesc) (hip.GraphExec, hip.Error) {
	for i := range d.Ops {
		if l := d.Ops[i].Kernel; l != nil && big(l) {
			return 0, hip.ErrorInvalidConfiguration
		}
	}
	return m.Runtime.GraphInstantiate(t, d)
}

// FuzzSession gives a session a client's bytes: whatever they are, it ends when the client does, without a panic.
func FuzzSession(f *testing.F) {
	message := func(op hipv1.Op, flags hipv1.Flags, req any, tail []byte) []byte {
		b := make([]byte, hipv1.HeaderSize)
		if req != nil {
			var err error
			if b, err = binary.Append(b, binary.LittleEndian, req); err != nil {
				f.Fatal(err)
			}
		}
		b = append(b, tail...)
		h := hipv1.Header{Version: hipv1.Version, Op: op, Length: uint32(len(b) - hipv1.HeaderSize), Flags: flags}
		h.Append(b[:0])
		return b
	}
	co := vectorAdd(f)
	q, tail := launch(vfunc, vstream, 1, 64, segment(firstAddress, firstAddress, firstAddress, 16))
	all := [][]byte{
		message(hipv1.OpInit, 0, nil, nil), message(hipv1.OpGetDeviceProperties, 0, &hipv1.DeviceRequest{}, nil),
		message(hipv1.OpMallocVaddr, hipv1.FlagNoReply, &hipv1.MallocVaddrRequest{Vaddr: firstAddress, Size: 4096}, nil),
		message(hipv1.OpStreamCreate, hipv1.FlagNoReply, &hipv1.StreamCreateRequest{Vhandle: vstream}, nil),
		message(hipv1.OpModuleLoadData, hipv1.FlagInlineData, &hipv1.ModuleLoadRequest{DataSize: uint64(len(co)), Vhandle: vmodule}, co),
		message(hipv1.OpModuleGetFunction, 0, &hipv1.ModuleGetFunctionRequest{Module: vmodule, Vhandle: vfunc, FunctionName: name1024("vector_add")}, nil),
		message(hipv1.OpMemcpy, hipv1.FlagInlineData, &hipv1.MemcpyRequest{Dst: firstAddress, Size: 8, Kind: 1}, make([]byte, 8)),
		message(hipv1.OpMemcpy2D, hipv1.FlagInlineData, &hipv1.Memcpy2DRequest{Dst: firstAddress, DstPitch: 8, SrcPitch: 4, Width: 4, Height: 2, Kind: 1}, make([]byte, 8)),
		message(hipv1.OpMemcpyHtoDCached, hipv1.FlagInlineData, &hipv1.MemcpyCachedRequest{Hash: 1, Dst: firstAddress, Size: 8}, make([]byte, 8)),
		message(hipv1.OpLaunchKernel, hipv1.FlagNoReply, q, tail), message(hipv1.OpStreamBeginCapture, 0, &hipv1.StreamBeginCaptureRequest{Stream: vstream}, nil),
		message(hipv1.OpMemsetAsync, 0, &hipv1.MemsetRequest{Dst: firstAddress, Size: 16, Stream: vstream}, nil),
		message(hipv1.OpStreamEndCapture, 0, &hipv1.StreamEndCaptureRequest{Stream: vstream}, nil),
		message(hipv1.OpGraphCreate, 0, &hipv1.GraphCreateRequest{}, nil), message(hipv1.OpGraphAddEmptyNode, 0, &hipv1.GraphAddEmptyNodeRequest{Graph: firstName + 16}, nil),
		message(hipv1.OpMemcpy, 0, &hipv1.MemcpyRequest{Src: firstAddress, Size: 8, Kind: 2}, nil), message(hipv1.OpSMIGetProcessorCount, 0, nil, nil),
		message(hipv1.OpDeviceSynchronize, 0, nil, nil), message(hipv1.OpShutdown, 0, nil, nil),
	}
	var whole []byte
	for _, m := range all {
		f.Add(m)
		whole = append(whole, m...)
	}
	f.Add(whole)
	f.Fuzz(func(t *testing.T, b []byte) {
		rt, err := simgpu.New(simgpu.Options{Arch: "gfx942", MemoryBytes: 64 << 20, Workers: 1})
		if err != nil {
			t.Fatal(err)
		}
		defer rt.Close()
		ours, theirs := sockets(t)
		books := &ledger{limit: 16 << 20}
		done := make(chan struct{})
		go func() {
			defer close(done)
			defer theirs.Close()
			s := New(Config{Conn: theirs, Runtime: modest{rt}, Placer: rt, Memory: books, Cost: func(hip.HandleKind) uint64 { return 16 }, GraphCost: 16, PlaceCost: 16, Cards: func(hipv1.Op, []byte) (int32, []byte) { return 0, nil }})
			_ = s.Serve(nil) // any end will do
		}()
		go func() { _, _ = io.Copy(io.Discard, ours) }()
		_, _ = ours.Write(b)
		if c, ok := ours.(interface{ CloseWrite() error }); ok {
			_ = c.CloseWrite()
		}
		select {
		case <-done:
		case <-time.After(time.Minute):
			debug.SetTraceback("all") // a panic in a test shows its own goroutine only
			panic("the session does not end")
		}
		_ = ours.Close()
	})
}

package hipmulti

import (
	"bytes"
	"encoding/binary"
	"math"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rocwire/rocwire/examples/kernels"
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hipremote"
	"github.com/rocwire/rocwire/simgpu"
)

// on is a thread whose device is n.
func on(n int32) hip.Thread { return hip.Thread{Device: n, ID: 1} }

// memory is n bytes of this process that no garbage collector moves.
func memory(t *testing.T, n int) []byte {
	t.Helper()
	b, err := unix.Mmap(-1, 0, max(n, 1), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Munmap(b) })
	return b[:n]
}

func pattern(t *testing.T, n int, seed byte) []byte {
	b := memory(t, n)
	for i := range b {
		b[i] = byte(i*7) ^ byte(i>>8) ^ byte(i>>16) ^ seed
	}
	return b
}

func alloc(t *testing.T, r hip.Runtime, device int32, n uint64) hip.Ptr {
	t.Helper()
	p, code := r.Malloc(on(device), n)
	must(t, "Malloc", code)
	return p
}

func upload(t *testing.T, r hip.Runtime, device int32, b []byte) hip.Ptr {
	t.Helper()
	p := alloc(t, r, device, uint64(len(b)))
	must(t, "Memcpy to the device", r.Memcpy(on(device), p, address(b), uint64(len(b)), hip.MemcpyHostToDevice))
	return p
}

func download(t *testing.T, r hip.Runtime, device int32, p hip.Ptr, n int) []byte {
	t.Helper()
	b := memory(t, n)
	must(t, "Memcpy to the host", r.Memcpy(on(device), address(b), p, uint64(n), hip.MemcpyDeviceToHost))
	return b
}

func stream(t *testing.T, r hip.Runtime, device int32) hip.Stream {
	t.Helper()
	s, code := r.StreamCreateWithPriority(on(device), hip.StreamNonBlocking, 0)
	must(t, "StreamCreate", code)
	return s
}

func event(t *testing.T, r hip.Runtime, device int32) hip.Event {
	t.Helper()
	e, code := r.EventCreateWithFlags(on(device), 0)
	must(t, "EventCreate", code)
	return e
}

// adder is the vector_add kernel on a device.
func adder(t *testing.T, r hip.Runtime, device int32) func(s hip.Stream, a, b, sum hip.Ptr, n uint32) hip.Error {
	t.Helper()
	image, err := kernels.Object("gfx942", "vector_add")
	if err != nil {
		t.Fatal(err)
	}
	m, code := r.ModuleLoadData(on(device), image)
	must(t, "ModuleLoadData", code)
	f, code := r.ModuleGetFunction(on(device), m, "vector_add")
	must(t, "ModuleGetFunction", code)
	return func(s hip.Stream, a, b, sum hip.Ptr, n uint32) hip.Error {
		args := binary.LittleEndian.AppendUint64(nil, uint64(a))
		args = binary.LittleEndian.AppendUint64(args, uint64(b))
		args = binary.LittleEndian.AppendUint64(args, uint64(sum))
		args = binary.LittleEndian.AppendUint32(args, n)
		return r.LaunchKernel(on(device), &hip.Launch{
			Function: f, Grid: hip.Dim3{X: (n + 255) / 256, Y: 1, Z: 1}, Block: hip.Dim3{X: 256, Y: 1, Z: 1}, Stream: s, Args: args,
		})
	}
}

func floats(t *testing.T, v ...float32) []byte {
	b := memory(t, 4*len(v))
	for i, x := range v {
		binary.LittleEndian.PutUint32(b[4*i:], math.Float32bits(x))
	}
	return b
}

// gate holds a stream up until it is opened, and waits until the stream has got there.
func gate(t *testing.T, r hip.Runtime, device int32, s hip.Stream) (open func()) {
	t.Helper()
	began, end := make(chan struct{}), make(chan struct{})
	must(t, "LaunchHostFunc", r.LaunchHostFunc(on(device), s, func() { close(began); <-end }))
	select {
	case <-began:
	case <-time.After(time.Minute):
		t.Fatal("the stream never called the host function")
	}
	open = sync.OnceFunc(func() { close(end) })
	t.Cleanup(open)
	return open
}

// TestCopies: copies between workers have the same bytes as copies within one.
func TestCopies(t *testing.T) {
	r := join(t, nil, serve(t, 1), serve(t, 1))
	s, s1 := stream(t, r, 0), stream(t, r, 1)
	for _, n := range []int{1, 4096, stage, stage + 1, 3*stage + 12345} {
		want := pattern(t, n, byte(n))
		a, b := upload(t, r, 0, want), alloc(t, r, 1, uint64(n))
		for name, f := range map[string]func() hip.Error{
			"Memcpy":           func() hip.Error { return r.Memcpy(on(0), b, a, uint64(n), hip.MemcpyDeviceToDevice) },
			"Memcpy, default":  func() hip.Error { return r.Memcpy(on(1), b, a, uint64(n), hip.MemcpyDefault) },
			"MemcpyPeer":       func() hip.Error { return r.MemcpyPeer(on(0), b, 1, a, 0, uint64(n)) },
			"MemcpyWithStream": func() hip.Error { return r.MemcpyWithStream(on(0), b, a, uint64(n), hip.MemcpyDefault, s) },
			"MemcpyAsync": func() hip.Error {
				if code := r.MemcpyAsync(on(0), b, a, uint64(n), hip.MemcpyDefault, s); code != hip.Success {
					return code
				}
				return r.StreamSynchronize(on(0), s)
			},
			"MemcpyPeerAsync on the other": func() hip.Error {
				if code := r.MemcpyPeerAsync(on(0), b, 1, a, 0, uint64(n), s1); code != hip.Success {
					return code
				}
				return r.StreamSynchronize(on(0), s1)
			},
			"MemcpyPeerAsync on the null stream": func() hip.Error {
				if code := r.MemcpyPeerAsync(on(1), b, 1, a, 0, uint64(n), 0); code != hip.Success {
					return code
				}
				return r.DeviceSynchronize(on(1))
			},
		} {
			must(t, "Memset", r.Memset(on(1), b, 0, uint64(n)))
			must(t, "DeviceSynchronize", r.DeviceSynchronize(on(1)))
			must(t, name, f())
			if !bytes.Equal(download(t, r, 1, b, n), want) {
				t.Fatalf("%s of %d bytes: other bytes", name, n)
			}
		}
		is(t, "a copy beyond the end", r.Memcpy(on(0), b, a, uint64(n+1), hip.MemcpyDefault), hip.ErrorInvalidValue)
		is(t, "a copy of nothing", r.Memcpy(on(0), b, a, 0, hip.MemcpyDefault), hip.Success)
		is(t, "a copy in no direction", r.Memcpy(on(0), b, a, 1, 77), hip.ErrorInvalidMemcpyDirection)
		must(t, "Free", r.Free(on(1), a)) // whichever the thread's device is
		must(t, "Free", r.Free(on(0), b))
		is(t, "a copy of freed memory", r.Memcpy(on(0), b, a, 1, hip.MemcpyDefault), hip.ErrorInvalidValue)
	}
}

// TestRows: copies of rows, with gaps on both sides, and rows larger than a piece.
func TestRows(t *testing.T) {
	r := join(t, nil, serve(t, 1), serve(t, 1))
	s := stream(t, r, 1)
	for _, c := range []struct{ dpitch, spitch, width, height uint64 }{
		{100, 64, 33, 17}, {64, 64, 64, 50}, {300_000, 200_000, 200_000, 100}, {stage + 4096, stage + 10, stage + 5, 3}, {8, 8, 5, 1},
	} {
		src, was := pattern(t, int(c.spitch*c.height), 1), pattern(t, int(c.dpitch*c.height), 2)
		want := bytes.Clone(was)
		for y := range c.height {
			copy(want[y*c.dpitch:][:c.width], src[y*c.spitch:])
		}
		a, b := upload(t, r, 0, src), upload(t, r, 1, was)
		must(t, "Memcpy2D", r.Memcpy2D(on(0), b, c.dpitch, a, c.spitch, c.width, c.height, hip.MemcpyDeviceToDevice))
		if !bytes.Equal(download(t, r, 1, b, len(want)), want) {
			t.Errorf("Memcpy2D %+v: other bytes", c)
		}
		must(t, "Memcpy", r.Memcpy(on(1), b, address(was), uint64(len(was)), hip.MemcpyHostToDevice))
		must(t, "Memcpy2DAsync", r.Memcpy2DAsync(on(0), b, c.dpitch, a, c.spitch, c.width, c.height, hip.MemcpyDefault, s))
		must(t, "StreamSynchronize", r.StreamSynchronize(on(0), s))
		if !bytes.Equal(download(t, r, 1, b, len(want)), want) {
			t.Errorf("Memcpy2DAsync %+v: other bytes", c)
		}
		must(t, "Free", r.Free(on(0), a))
		must(t, "Free", r.Free(on(0), b))
	}
	is(t, "a pitch below the width", r.Memcpy2D(on(0), alloc(t, r, 1, 100), 5, alloc(t, r, 0, 100), 10, 6, 2, hip.MemcpyDefault), hip.ErrorInvalidPitchValue)
}

// TestOrder: an asynchronous copy between workers takes its turn on its stream, whichever worker's that is.
func TestOrder(t *testing.T) {
	r := join(t, nil, serve(t, 1), serve(t, 1))
	for turn := range int32(2) {
		const n = 1000
		before, after := pattern(t, n, 1), pattern(t, n, 2)
		a, b := upload(t, r, 0, before), upload(t, r, 1, before)
		s := stream(t, r, turn)
		open := gate(t, r, turn, s)
		must(t, "MemcpyPeerAsync", r.MemcpyPeerAsync(on(turn), b, 1, a, 0, n, s))
		must(t, "Memcpy", r.Memcpy(on(0), a, address(after), n, hip.MemcpyHostToDevice))
		is(t, "StreamQuery before it is its turn", r.StreamQuery(on(turn), s), hip.ErrorNotReady)
		if !bytes.Equal(download(t, r, 1, b, n), before) {
			t.Errorf("on %d's stream: copied before its turn", turn)
		}
		open()
		must(t, "StreamSynchronize", r.StreamSynchronize(on(turn), s))
		if !bytes.Equal(download(t, r, 1, b, n), after) {
			t.Errorf("on %d's stream: not copied in its turn", turn)
		}
	}
}

// TestElsewhere: a copy of one worker's memory in the turn of another's stream.
func TestElsewhere(t *testing.T) {
	r := join(t, nil, serve(t, 1), serve(t, 1))
	const n = 5000
	one, two := pattern(t, n, 1), pattern(t, n, 2)
	b, s := alloc(t, r, 1, n), stream(t, r, 0)
	open := gate(t, r, 0, s)
	must(t, "MemcpyAsync to the device", r.MemcpyAsync(on(0), b, address(one), n, hip.MemcpyHostToDevice, s))
	clear(one) // pageable memory may be used again
	must(t, "Memset", r.Memset(on(1), b, 0, n))
	must(t, "DeviceSynchronize", r.DeviceSynchronize(on(1)))
	open()
	must(t, "StreamSynchronize", r.StreamSynchronize(on(0), s))
	if !bytes.Equal(download(t, r, 1, b, n), pattern(t, n, 1)) {
		t.Error("to the device: other bytes")
	}
	must(t, "Memcpy", r.Memcpy(on(0), b, address(two), n, hip.MemcpyDefault))
	got := memory(t, n)
	must(t, "MemcpyAsync to the host", r.MemcpyAsync(on(0), address(got), b, n, hip.MemcpyDeviceToHost, s))
	if !bytes.Equal(got, two) {
		t.Error("pageable memory: not there when the call returned")
	}
	pinned, code := r.HostMalloc(on(0), n, 0)
	must(t, "HostMalloc", code)
	must(t, "MemcpyAsync to pinned memory", r.MemcpyAsync(on(0), pinned, b, n, hip.MemcpyDefault, s))
	must(t, "StreamSynchronize", r.StreamSynchronize(on(0), s))
	if !bytes.Equal(hostBytes(pinned, n), two) {
		t.Error("pinned memory: other bytes")
	}
	must(t, "MemcpyWithStream", r.MemcpyWithStream(on(0), address(got), b, n, hip.MemcpyDefault, s))
	must(t, "HostFree", r.HostFree(on(1), pinned))
}

// TestWaitEvent: a stream waits for what another worker's event marked when it was told to.
func TestWaitEvent(t *testing.T) {
	r := join(t, nil, serve(t, 1), serve(t, 1))
	s0, s1, e := stream(t, r, 0), stream(t, r, 1), event(t, r, 0)
	open := gate(t, r, 0, s0)
	must(t, "EventRecord", r.EventRecord(on(0), e, s0))
	must(t, "StreamWaitEvent", r.StreamWaitEvent(on(1), s1, e, 0))
	ran := make(chan struct{})
	must(t, "LaunchHostFunc", r.LaunchHostFunc(on(1), s1, func() { close(ran) }))
	// Recorded again, behind a gate that opens last: this is not what s1 waits for.
	other := stream(t, r, 0)
	last := gate(t, r, 0, other)
	must(t, "EventRecord again", r.EventRecord(on(0), e, other))
	select {
	case <-ran:
		t.Fatal("the stream did not wait")
	case <-time.After(50 * time.Millisecond):
	}
	is(t, "StreamQuery of the one that waits", r.StreamQuery(on(1), s1), hip.ErrorNotReady)
	open()
	must(t, "StreamSynchronize", r.StreamSynchronize(on(1), s1))
	<-ran
	last()
	must(t, "DeviceSynchronize", r.DeviceSynchronize(on(0)))
	must(t, "an event that was never recorded", r.StreamWaitEvent(on(0), s0, event(t, r, 1), 0))
	must(t, "StreamSynchronize", r.StreamSynchronize(on(0), s0))
	is(t, "flags", r.StreamWaitEvent(on(1), s1, e, 1), hip.ErrorInvalidValue)
}

// TestPipeline: work that goes through both workers, ordered by events alone, many times and with many waits open at once.
func TestPipeline(t *testing.T) {
	r := join(t, nil, serve(t, 1), serve(t, 1))
	const n = 1000
	add := [2]func(hip.Stream, hip.Ptr, hip.Ptr, hip.Ptr, uint32) hip.Error{adder(t, r, 0), adder(t, r, 1)}
	ones := make([]float32, n)
	for i := range ones {
		ones[i] = 1
	}
	var one, sum [2]hip.Ptr
	var s [2]hip.Stream
	for d := range int32(2) {
		one[d], sum[d], s[d] = upload(t, r, d, floats(t, ones...)), upload(t, r, d, floats(t, ones...)), stream(t, r, d)
	}
	const rounds = 40
	for i := range int32(rounds) {
		from, to := i%2, 1-i%2
		must(t, "LaunchKernel", add[from](s[from], one[from], sum[from], sum[from], n))
		must(t, "MemcpyPeerAsync", r.MemcpyPeerAsync(on(from), sum[to], to, sum[from], from, 4*n, s[from]))
		e := event(t, r, from)
		must(t, "EventRecord", r.EventRecord(on(from), e, s[from]))
		must(t, "StreamWaitEvent", r.StreamWaitEvent(on(to), s[to], e, 0))
		must(t, "EventDestroy", r.EventDestroy(on(from), e))
	}
	must(t, "StreamSynchronize", r.StreamSynchronize(on(0), s[0]))
	must(t, "StreamSynchronize", r.StreamSynchronize(on(1), s[1]))
	for d := range int32(2) {
		for i, b := 0, download(t, r, d, sum[d], 4*n); i < n; i++ {
			if v := math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:])); v != rounds+1 {
				t.Fatalf("device %d, element %d is %v after %d additions", d, i, v, rounds)
			}
		}
	}
}

// TestHostMemory: host memory of every kind, allocated on one worker's device, is read and written by kernels of both.
func TestHostMemory(t *testing.T) {
	r := join(t, nil, serve(t, 1), serve(t, 1))
	const n = 256
	add := [2]func(hip.Stream, hip.Ptr, hip.Ptr, hip.Ptr, uint32) hip.Error{adder(t, r, 0), adder(t, r, 1)}
	values := make([]float32, n)
	for i := range values {
		values[i] = float32(i)
	}
	for name, make := range map[string]func(home int32) (host, dev hip.Ptr, end func() hip.Error){
		"HostMalloc": func(home int32) (hip.Ptr, hip.Ptr, func() hip.Error) {
			p, code := r.HostMalloc(on(home), 4*n, 0)
			must(t, "HostMalloc", code)
			return p, p, func() hip.Error { return r.HostFree(on(1-home), p) }
		},
		"MallocManaged": func(home int32) (hip.Ptr, hip.Ptr, func() hip.Error) {
			p, code := r.MallocManaged(on(home), 4*n, hip.MemAttachGlobal)
			must(t, "MallocManaged", code)
			return p, p, func() hip.Error { return r.Free(on(1-home), p) }
		},
		"HostRegister": func(home int32) (hip.Ptr, hip.Ptr, func() hip.Error) {
			p := address(memory(t, 4*n))
			must(t, "HostRegister", r.HostRegister(on(home), p, 4*n, 0))
			d, code := r.HostGetDevicePointer(on(home), p, 0)
			must(t, "HostGetDevicePointer", code)
			if other, code := r.HostGetDevicePointer(on(1-home), p, 0); code != hip.Success || other != d {
				t.Errorf("registered memory is at %v on one device and at %v on the other, %v", d, other, code)
			}
			return p, d, func() hip.Error { return r.HostUnregister(on(1-home), p) }
		},
	} {
		for home := range int32(2) {
			host, dev, end := make(home)
			copy(hostBytes(host, 4*n), floats(t, values...))
			factor := float32(1)
			for range 3 {
				for d := range int32(2) { // doubled by each in turn, read by the host in between
					must(t, "LaunchKernel", add[d](0, dev, dev, dev, n))
					must(t, "DeviceSynchronize", r.DeviceSynchronize(on(d)))
					factor *= 2
					for i := range n {
						if v := math.Float32frombits(binary.LittleEndian.Uint32(hostBytes(host, 4*n)[4*i:])); v != factor*float32(i) {
							t.Fatalf("%s at %d, after device %d: element %d is %v, want %v", name, home, d, i, v, factor*float32(i))
						}
					}
				}
			}
			a, code := r.PointerGetAttributes(on(1-home), host)
			if must(t, "PointerGetAttributes", code); a.Device != home {
				t.Errorf("%s: of device %d, want %d", name, a.Device, home)
			}
			must(t, name+": its end", end())
			if a, code := r.PointerGetAttributes(on(0), host); code == hip.Success && a.Type != hip.MemoryTypeUnregistered {
				t.Errorf("%s: still there after its end", name)
			}
		}
	}
	// The wrong end leaves it as it was.
	p, code := r.HostMalloc(on(0), 4*n, 0)
	must(t, "HostMalloc", code)
	is(t, "HostFree inside", r.HostFree(on(0), p+4), hip.ErrorInvalidValue)
	is(t, "HostUnregister", r.HostUnregister(on(0), p), hip.ErrorHostMemoryNotRegistered)
	must(t, "LaunchKernel", add[1](0, p, p, p, n))
	must(t, "DeviceSynchronize", r.DeviceSynchronize(on(1)))
	must(t, "HostFree", r.HostFree(on(0), p))
}

// TestResetManaged: a reset takes the device's managed memory with it, on all workers, and leaves the others'.
func TestResetManaged(t *testing.T) {
	r := join(t, nil, serve(t, 1), serve(t, 1))
	add := adder(t, r, 1)
	gone, code := r.MallocManaged(on(0), 4096, hip.MemAttachGlobal)
	must(t, "MallocManaged", code)
	stays, code := r.MallocManaged(on(1), 4096, hip.MemAttachGlobal)
	must(t, "MallocManaged", code)
	a := alloc(t, r, 1, 4096)
	must(t, "DeviceReset", r.DeviceReset(on(0)))
	copy(hostBytes(stays, 8), floats(t, 1, 2))
	must(t, "LaunchKernel", add(0, stays, stays, a, 2))
	if got := download(t, r, 1, a, 8); !bytes.Equal(got, floats(t, 2, 4)) {
		t.Errorf("what stays: %x", got)
	}
	is(t, "Free of what is gone", r.Free(on(0), gone), hip.ErrorInvalidValue)
	must(t, "Free of what stays", r.Free(on(0), stays))
}

// TestHandles: a handle is its worker's, and calls with handles of two answer what HIP does to a wrong one.
func TestHandles(t *testing.T) {
	r := join(t, nil, serve(t, 1), serve(t, 1))
	s0, s1, e0, e1 := stream(t, r, 0), stream(t, r, 1), event(t, r, 0), event(t, r, 1)
	if s0 == s1 || e0 == e1 {
		t.Fatal("two workers' handles are the same")
	}
	for d := range int32(2) { // from a thread of either device
		must(t, "StreamSynchronize", r.StreamSynchronize(on(d), s0))
		must(t, "StreamSynchronize", r.StreamSynchronize(on(d), s1))
		must(t, "EventRecord", r.EventRecord(on(d), e1, s1))
		must(t, "EventSynchronize", r.EventSynchronize(on(d), e1))
		for i, s := range []hip.Stream{s0, s1} {
			if got, code := r.StreamGetDevice(on(d), s); code != hip.Success || got != int32(i) {
				t.Errorf("StreamGetDevice: %d, %v, want %d", got, code, i)
			}
			p, code := r.MallocAsync(on(d), 4096, s)
			must(t, "MallocAsync", code)
			if a, code := r.PointerGetAttributes(on(d), p); code != hip.Success || a.Device != int32(i) {
				t.Errorf("MallocAsync on device %d's stream: of %d, %v", i, a.Device, code)
			}
			must(t, "FreeAsync on the other's stream", r.FreeAsync(on(d), p, []hip.Stream{s1, s0}[i]))
		}
	}
	is(t, "EventRecord of another's event", r.EventRecord(on(0), e1, s0), hip.ErrorInvalidHandle)
	must(t, "EventRecord", r.EventRecord(on(0), e0, s0))
	_, code := r.EventElapsedTime(on(0), e0, e1)
	is(t, "EventElapsedTime", code, hip.ErrorInvalidHandle)
	is(t, "StreamSynchronize of no worker's", r.StreamSynchronize(on(0), s0|0x77<<tagShift), hip.ErrorContextIsDestroyed)
	is(t, "EventDestroy of no worker's", r.EventDestroy(on(0), ^hip.Event(0)), hip.ErrorContextIsDestroyed)
	_, code = r.Malloc(on(2), 1)
	is(t, "Malloc of no device", code, hip.ErrorInvalidDevice)
	is(t, "LaunchKernel of nothing", r.LaunchKernel(on(0), nil), hip.ErrorInvalidValue)
}

// TestPeers: devices of two workers are no peers.
func TestPeers(t *testing.T) {
	r := join(t, nil, serve(t, 2), serve(t, 1))
	for _, c := range []struct{ a, b, want int32 }{{0, 1, 1}, {1, 0, 1}, {0, 2, 0}, {2, 1, 0}, {2, 2, 0}} {
		if got, code := r.DeviceCanAccessPeer(c.a, c.b); code != hip.Success || got != c.want {
			t.Errorf("%d and %d: %d, %v", c.a, c.b, got, code)
		}
	}
	is(t, "EnablePeerAccess", r.DeviceEnablePeerAccess(on(0), 2, 0), hip.ErrorInvalidDevice)
	is(t, "DisablePeerAccess", r.DeviceDisablePeerAccess(on(0), 2), hip.ErrorInvalidDevice)
	must(t, "EnablePeerAccess within a worker", r.DeviceEnablePeerAccess(on(1), 0, 0))
	_, code := r.DeviceCanAccessPeer(0, 3)
	is(t, "CanAccessPeer of no device", code, hip.ErrorInvalidDevice)
}

// TestVisible: the lists choose among the devices of all workers.
func TestVisible(t *testing.T) {
	a, b := serve(t, 2), serve(t, 2)
	for _, c := range []struct {
		rocr, hip string
		want      []int32 // bus numbers, of which the cards of both workers have the same
	}{
		{"", "", []int32{0, 1, 0, 1}}, {"", "3,0", []int32{1, 0}}, {"1,2", "", []int32{1, 0}}, {"3,2,0", "2,0", []int32{0, 1}}, {"", "-1", nil}, {"-1", "", nil},
		{"", simgpu.UUID("gfx942", 1), []int32{1}},
	} {
		r := join(t, func(x *hipremote.Config) { x.ROCrDevices, x.Devices = c.rocr, c.hip }, a, b)
		n, code := r.GetDeviceCount()
		if c.want == nil {
			is(t, "GetDeviceCount of none", code, hip.ErrorNoDevice)
			continue
		}
		must(t, "GetDeviceCount", code)
		if int(n) != len(c.want) {
			t.Errorf("%+v: %d devices", c, n)
			continue
		}
		for i, want := range c.want {
			p, code := r.GetDevicePropertiesR0600(int32(i))
			if must(t, "GetDeviceProperties", code); p.PciBusID != 0x10+want {
				t.Errorf("%+v: device %d is on bus %d", c, i, p.PciBusID)
			}
			v, code := r.DeviceGetAttribute(hip.DeviceAttributePciBusId, int32(i))
			if code != hip.Success || v != p.PciBusID {
				t.Errorf("%+v: device %d, attribute %d, property %d, %v", c, i, v, p.PciBusID, code)
			}
		}
	}
}

// TestNoRange: workers that have no agreed range of addresses still have their memory told apart, or refuse.
func TestNoRange(t *testing.T) {
	r := join(t, func(c *hipremote.Config) { c.NoReserve = true }, serve(t, 1), serve(t, 1))
	want := pattern(t, 10000, 5)
	a, code := r.Malloc(on(0), 10000)
	must(t, "Malloc", code)
	must(t, "Memcpy", r.Memcpy(on(1), a, address(want), 10000, hip.MemcpyHostToDevice))
	b, code := r.Malloc(on(1), 10000)
	if code != hip.Success { // both workers' runtimes begin at the same address
		is(t, "Malloc at an address that another worker has given out", code, hip.ErrorUnknown)
		return
	}
	must(t, "Memcpy", r.Memcpy(on(0), b, a, 10000, hip.MemcpyDeviceToDevice))
	if !bytes.Equal(download(t, r, 1, b, 10000), want) {
		t.Error("other bytes")
	}
}

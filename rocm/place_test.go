package rocm

import (
	"runtime"
	"testing"
	"time"
	"unsafe"

	"github.com/rocwire/rocwire/hip"
)

// virtual builds the stub with virtual memory, of a kind.
func virtual(t *testing.T, kind string) *Runtime {
	t.Helper()
	t.Setenv("STUB_VMM", kind)
	return stub(t, "testdata/stub_vmm.c")
}

const (
	placeBase = 0x5100_0000_0000
	placeSize = 1 << 40
	mib       = 1 << 20
)

var thread = hip.Thread{}

func reserved(t *testing.T, kind string, part bool) (*Runtime, hip.Span) {
	t.Helper()
	r := virtual(t, kind)
	if r.Unit() != 2*mib {
		t.Fatal("unit", r.Unit())
	}
	return r, reserve(t, r, part)
}

// reserve gives a runtime its range until the test ends.
func reserve(t *testing.T, r *Runtime, part bool) hip.Span {
	t.Helper()
	got, e := r.ReserveRange(hip.Span{Base: placeBase, Size: placeSize}, hip.Span{}, part)
	must(t, "ReserveRange", e)
	t.Cleanup(func() {
		r.placed.settle()
		must(t, "the range", r.memAddressFree(thread, hip.Ptr(got.Base), got.Size))
	})
	return got
}

func is(t *testing.T, what string, got, want hip.Error) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// free is how much of the first device's memory is, once what is being freed is.
func free(t *testing.T, r *Runtime) uint64 {
	t.Helper()
	r.placed.settle()
	n, _, e := r.MemGetInfo(thread)
	must(t, "MemGetInfo", e)
	return n
}

func TestPlace(t *testing.T) {
	r, all := reserved(t, "", false)
	if all != (hip.Span{Base: placeBase, Size: placeSize}) {
		t.Fatal(all)
	}
	if _, e := r.ReserveRange(all, hip.Span{}, false); e != hip.ErrorInvalidValue {
		t.Error("a second range:", e)
	}
	at := hip.Ptr(placeBase)
	must(t, "MallocAt", r.MallocAt(thread, at+4*mib, 4*mib))
	if n := free(t, r); n != 60*mib {
		t.Error("free", n)
	}
	in, out := []byte("what was written"), make([]byte, 16)
	var pins runtime.Pinner
	defer pins.Unpin()
	pins.Pin(&in[0])
	pins.Pin(&out[0])
	address := func(b []byte) hip.Ptr { return hip.Ptr(uintptr(unsafe.Pointer(&b[0]))) }
	must(t, "copy in", r.Memcpy(thread, at+8*mib-16, address(in), 16, hip.MemcpyHostToDevice))
	must(t, "copy out", r.Memcpy(thread, address(out), at+8*mib-16, 16, hip.MemcpyDeviceToHost))
	if string(out) != string(in) {
		t.Errorf("%q", out)
	}
	for name, e := range map[string]hip.Error{
		"taken at its beginning": r.MallocAt(thread, at+4*mib, 2*mib),
		"taken at its end":       r.MallocAt(thread, at+6*mib, 4*mib),
		"taken within":           r.MallocAt(thread, at+2*mib, 8*mib),
		"before the range":       r.MallocAt(thread, at-2*mib, 2*mib),
		"over its end":           r.MallocAt(thread, at+placeSize-2*mib, 4*mib),
		"not aligned":            r.MallocAt(thread, at+mib, 2*mib),
		"part of a unit":         r.MallocAt(thread, at, mib),
		"nothing":                r.MallocAt(thread, at, 0),
		"wraps":                  r.MallocAt(thread, at, ^uint64(0)&^(2*mib-1)),
	} {
		is(t, name, e, hip.ErrorInvalidValue)
	}
	is(t, "no such device", r.MallocAt(hip.Thread{Device: 2}, at, 2*mib), hip.ErrorInvalidDevice)
	is(t, "too much", r.MallocAt(thread, at+64*mib, 62*mib), hip.ErrorOutOfMemory)
	must(t, "beside", r.MallocAt(thread, at+8*mib, 2*mib))
	must(t, "another device's", r.MallocAt(hip.Thread{Device: 1}, at+2*mib, 2*mib))
	for l, want := range map[hip.MemLocation]uint64{{Type: hip.MemLocationTypeDevice, Id: 0}: 3, {Type: hip.MemLocationTypeDevice, Id: 1}: 3} {
		if flags, e := r.memGetAccess(thread, &l, at+2*mib); e != hip.Success || flags != want {
			t.Errorf("access of device %d: %d, %v", l.Id, flags, e)
		}
	}

	a, e := r.PointerGetAttributes(thread, at+2*mib+5)
	if must(t, "PointerGetAttributes", e); a.Type != hip.MemoryTypeDevice || a.Device != 1 || a.DevicePointer != at+2*mib+5 {
		t.Errorf("%+v", a)
	}
	base, size, e := r.MemGetAddressRange(thread, at+8*mib-1)
	if must(t, "MemGetAddressRange", e); base != at+4*mib || size != 4*mib {
		t.Error(base, size)
	}
	if size, e = r.MemPtrGetInfo(thread, at+8*mib); e != hip.Success || size != 2*mib {
		t.Error(size, e)
	}

	// Nobody else may change what lies in the range, or have it.
	is(t, "MemUnmap", r.MemUnmap(thread, at+4*mib, 4*mib), hip.ErrorInvalidValue)
	is(t, "MemAddressFree", r.MemAddressFree(thread, at, placeSize), hip.ErrorInvalidValue)
	is(t, "MemMap", r.MemMap(thread, at-2*mib, 4*mib, 0, 1, 0), hip.ErrorInvalidValue)
	is(t, "MemSetAccess", r.MemSetAccess(thread, at+4*mib, 4*mib, make([]hip.MemAccessDesc, 1)), hip.ErrorInvalidValue)
	_, e = r.MemRetainAllocationHandle(thread, at+4*mib)
	is(t, "MemRetainAllocationHandle", e, hip.ErrorInvalidValue)
	_, e = r.IpcGetMemHandle(thread, at+4*mib)
	is(t, "IpcGetMemHandle", e, hip.ErrorNotSupported)

	is(t, "Free of the middle", r.Free(thread, at+6*mib), hip.ErrorInvalidValue)
	must(t, "Free", r.Free(thread, at+4*mib))
	is(t, "Free again", r.Free(thread, at+4*mib), hip.ErrorInvalidValue)
	if n := free(t, r); n != 62*mib {
		t.Error("free", n)
	}
	if _, _, e = r.MemGetAddressRange(thread, at+4*mib); e != hip.ErrorInvalidValue {
		t.Error("freed:", e)
	}
	must(t, "the same place again", r.MallocAt(thread, at+4*mib, 2*mib))
	must(t, "Free", r.Free(thread, at+4*mib))
	must(t, "Free", r.Free(thread, at+8*mib))
	must(t, "Free", r.Free(thread, at+2*mib))

	// The library's own memory is the library's.
	p, e := r.Malloc(thread, 64)
	must(t, "Malloc", e)
	must(t, "Free", r.Free(thread, p))
}

// Memory that a stream is to free is there again for who waits for room.
func TestPlaceFreeAsync(t *testing.T) {
	r, _ := reserved(t, "", false)
	for range 50 {
		must(t, "MallocAt", r.MallocAt(thread, placeBase, 48*mib))
		must(t, "FreeAsync", r.FreeAsync(thread, placeBase, 0))
		is(t, "FreeAsync again", r.FreeAsync(thread, placeBase, 0), hip.ErrorInvalidValue)
		if n, _, e := r.MemGetInfo(thread); e != hip.Success || n < 62*mib {
			t.Error("free", n, e)
		}
		must(t, "MallocAt elsewhere", r.MallocAt(thread, placeBase+64*mib, 48*mib))
		must(t, "Free", r.Free(thread, placeBase+64*mib))
	}
	if n := free(t, r); n != 64*mib {
		t.Error("free", n)
	}
}

// A reset ends what is on the device, and only that.
func TestPlaceReset(t *testing.T) {
	r, _ := reserved(t, "", false)
	other := hip.Thread{Device: 1}
	must(t, "MallocAt", r.MallocAt(thread, placeBase, 2*mib))
	must(t, "MallocAt", r.MallocAt(other, placeBase+2*mib, 2*mib))
	must(t, "DeviceReset", r.DeviceReset(thread))
	is(t, "Free", r.Free(thread, placeBase), hip.ErrorInvalidValue)
	must(t, "the same place again", r.MallocAt(thread, placeBase, 64*mib/32))
	must(t, "Free of the other device's", r.Free(other, placeBase+2*mib))
	must(t, "Free", r.Free(thread, placeBase))
}

// A reset does not wait for what only it can end.
func TestPlaceResetStuck(t *testing.T) {
	r, _ := reserved(t, "stuck", false)
	must(t, "MallocAt", r.MallocAt(thread, placeBase, 2*mib))
	must(t, "DeviceReset", r.DeviceReset(thread))
	must(t, "the same place again", r.MallocAt(thread, placeBase, 2*mib))
	must(t, "Free", r.Free(thread, placeBase))
}

// Memory whose access cannot be set is not kept.
func TestPlaceFails(t *testing.T) {
	r, _ := reserved(t, "no access", false)
	is(t, "MallocAt", r.MallocAt(thread, placeBase, 2*mib), hip.ErrorInvalidValue)
	if n := free(t, r); n != 64*mib {
		t.Error("free", n)
	}
}

// A library that places reservations itself gives a part of the range, and
// keeps room for others.
func TestPlacePart(t *testing.T) {
	r := virtual(t, "elsewhere")
	all := hip.Span{Base: placeBase, Size: placeSize}
	if _, e := r.ReserveRange(all, hip.Span{}, false); e != hip.ErrorInvalidValue {
		t.Error("all of the range:", e)
	}
	r, got := reserved(t, "elsewhere", true)
	if got != (hip.Span{Base: placeBase + 4096*mib, Size: 2048 * mib}) {
		t.Errorf("%#x", got)
	}
	must(t, "MallocAt", r.MallocAt(thread, hip.Ptr(got.Base), 2*mib))
	must(t, "Free", r.Free(thread, hip.Ptr(got.Base)))
}

// Where devices cannot place, nothing does.
func TestNoPlace(t *testing.T) {
	if n := stub(t).Unit(); n != 0 {
		t.Error("without the functions:", n)
	}
	for _, kind := range []string{"no", "huge", "apart"} {
		if n := virtual(t, kind).Unit(); n != 0 {
			t.Errorf("%q: %d", kind, n)
		}
	}
	r, _ := reserved(t, "one way", false)
	must(t, "MallocAt", r.MallocAt(thread, placeBase, 2*mib))
	for d, want := range []uint64{3, 0} {
		l := hip.MemLocation{Type: hip.MemLocationTypeDevice, Id: int32(d)}
		if flags, e := r.memGetAccess(thread, &l, placeBase); e != hip.Success || flags != want {
			t.Errorf("access of device %d: %d, %v", d, flags, e)
		}
	}
	must(t, "Free", r.Free(thread, placeBase))
}

// Memory that was being freed when it was missed counts, also if it is free before
// anybody waits for it.
func TestPlaceRoom(t *testing.T) {
	var r Runtime
	p := &r.placed
	p.start(hip.Span{Base: placeBase, Size: placeSize}, make([][]hip.MemAccessDesc, 1))
	x := &region{base: placeBase, size: placeUnit}
	again, e := p.enter(x)
	if must(t, "enter", e); again {
		t.Error("memory that nobody had is there again")
	}
	p.made(x)
	freed := p.take(placeBase)
	tries := 0
	must(t, "memory that has come back", r.withRoom(func() hip.Error {
		if tries++; tries == 1 {
			p.remove(freed)
			return hip.ErrorOutOfMemory
		}
		return hip.Success
	}))
	tries = 0
	is(t, "no memory", r.withRoom(func() hip.Error { tries++; return hip.ErrorOutOfMemory }), hip.ErrorOutOfMemory)
	if tries != 1 {
		t.Error("tried", tries, "times although nothing came back")
	}
}

// Memory that is asked for right behind a hipFree of as much is there, for physical memory, too, and what the library places itself.
func TestRoomBehindFree(t *testing.T) {
	r, _ := reserved(t, "", false)
	at, prop := hip.Ptr(placeBase), physicalOn(0)
	for name, alloc := range map[string]func() hip.Error{
		"MemCreate": func() hip.Error {
			h, e := r.MemCreate(thread, 60*mib, &prop, 0)
			if e == hip.Success {
				e = r.MemRelease(thread, h)
			}
			return e
		},
		"ExtMallocWithFlags": func() hip.Error {
			p, e := r.ExtMallocWithFlags(thread, 60*mib, 0)
			if e == hip.Success {
				e = r.Free(thread, p)
			}
			return e
		},
		"Array3DCreate": func() hip.Error {
			a, e := r.Array3DCreate(thread, &hip.DrvArray3dDescriptor{Width: 1024, Height: 15 << 10, Format: hip.DrvAdFormatFloat, NumChannels: 1})
			if e == hip.Success {
				e = r.ArrayDestroy(thread, a)
			}
			return e
		},
		"MipmappedArrayCreate": func() hip.Error {
			m, e := r.MipmappedArrayCreate(thread, &hip.DrvArray3dDescriptor{Width: 1024, Height: 15 << 10, Format: hip.DrvAdFormatFloat, NumChannels: 1}, 1)
			if e == hip.Success {
				e = r.MipmappedArrayDestroy(thread, m)
			}
			return e
		},
	} {
		must(t, "MallocAt", r.MallocAt(thread, at, 60*mib))
		x := r.placed.take(at) // hipFree has begun, and waits for the device
		done := make(chan hip.Error)
		go func() { done <- alloc() }()
		select {
		case e := <-done:
			t.Errorf("%s while as much is being freed: %v", name, e)
			r.giveBack(x)
			continue
		case <-time.After(20 * time.Millisecond):
		}
		r.giveBack(x)
		must(t, name, <-done)
	}
}

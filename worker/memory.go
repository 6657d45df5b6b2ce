package worker

import (
	"encoding/binary"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/hiprpc"
	"github.com/rocwire/rocwire/wire"
)

// The lower half of the agreed address range is the client's to place memory in; from the upper half, or its part of it (hiprpc.OwnSpan), the
// runtime takes its own addresses.

// placeable says whether [p.Addr, p.Addr+p.Size) is for the client to place something at.
func (s *session) placeable(p hiprpc.Place) bool {
	base, half := s.span.Base, s.span.Size/2
	a := uint64(p.Addr)
	return half != 0 && p.Size != 0 && a%hip.Granule == 0 && p.Size%hip.Granule == 0 && a >= base && p.Size <= half && a-base <= half-p.Size
}

// place decodes a Place and checks its device.
func (s *session) place(r *wire.Request) (p hiprpc.Place, t hip.Thread, ok bool) {
	if !p.Decode(r.Fixed) {
		s.malformed(r)
		return p, t, false
	}
	return p, hip.Thread{Device: p.Device}, s.checked(r, s.device(p.Device))
}

// doGrant sets capacity aside for a client that places memory itself.
func (s *session) doGrant(r *wire.Request) {
	p, t, ok := s.place(r)
	if !ok {
		return
	}
	if s.placer == nil || s.span.Size == 0 || s.placer.Unit() != hip.Granule {
		s.reply(r, hip.ErrorNotSupported, nil)
		return
	}
	got, code := s.placer.Grant(t, p.Size, uint64(p.Addr))
	s.replyU64(r, got, code)
}

func (s *session) doReturn(r *wire.Request) {
	p, t, ok := s.place(r)
	if !ok {
		return
	}
	if s.placer == nil || s.placer.Unit() != hip.Granule {
		s.reply(r, hip.ErrorNotSupported, nil)
		return
	}
	s.reply(r, s.placer.Return(t, p.Size), nil)
}

func (s *session) doMallocAt(r *wire.Request) {
	p, t, ok := s.place(r)
	if !ok {
		return
	}
	if s.placer == nil || !s.placeable(p) {
		s.reply(r, hip.ErrorInvalidValue, nil)
		return
	}
	if s.placer.Unit() == hip.Granule {
		s.reply(r, s.placer.MallocAt(t, p.Addr, p.Size), nil)
		return
	}
	s.mayWait(r, func(r *wire.Request) { s.reply(r, s.placer.MallocAt(t, p.Addr, p.Size), nil) })
}

// doMalloc is for a session without an agreed range: the runtime places.
func (s *session) doMalloc(r *wire.Request) {
	p, t, ok := s.place(r)
	if !ok {
		return
	}
	ptr, code := s.rt.Malloc(t, p.Size)
	s.replyU64(r, uint64(ptr), code)
}

// doFree frees device memory. With a reply wanted it waits for the device, as hipFree does; without, the client knows that nothing uses it.
func (s *session) doFree(r *wire.Request) {
	var o hiprpc.StreamOp
	if !o.Decode(r.Fixed) {
		s.malformed(r)
		return
	}
	if !s.checked(r, s.device(o.Device)) {
		return
	}
	t := hip.Thread{Device: o.Device}
	free := func(r *wire.Request) { s.replyIdle(r, s.rt.Free(t, o.Ptr)) }
	switch {
	case s.allIdle(t):
		free(r)
	case r.NoReply():
		s.reply(r, s.freeNow(t, o.Ptr), nil)
	default:
		s.wait(r, free)
	}
}

// freeNow frees memory that nothing uses any more, without waiting for what else the device has to do: in the turn of a stream that has
// nothing else to do. The line must not wait, and the capacity must be there for the next message.
func (s *session) freeNow(t hip.Thread, p hip.Ptr) hip.Error {
	q, code := s.host.streams.On(s.rt, t)
	if code != hip.Success {
		return code
	}
	if code := s.rt.FreeAsync(t, p, q); code != hip.Success {
		return code
	}
	if s.idler == nil { // AMD's may wait for more, and for what comes by the line
		return s.settled(t, q)
	}
	return s.rt.StreamSynchronize(t, q)
}

func (s *session) doMallocAsync(r *wire.Request) {
	d := wire.NewDec(r.Fixed)
	t, size, st := hip.Thread{Device: d.I32()}, d.U64(), hip.Stream(d.U64())
	if !d.Done() {
		s.malformed(r)
		return
	}
	if !s.checked(r, s.device(t.Device)) || !s.checked(r, s.handles.check(hip.HandleStream, uint64(st))) {
		return
	}
	ptr, code := s.rt.MallocAsync(t, size, st)
	s.replyU64(r, uint64(ptr), code)
}

func (s *session) doFreeAsync(r *wire.Request) {
	var o hiprpc.StreamOp
	if !o.Decode(r.Fixed) {
		s.malformed(r)
		return
	}
	if s.checked(r, s.device(o.Device)) && s.checked(r, s.handles.check(hip.HandleStream, uint64(o.Stream))) {
		s.reply(r, s.rt.FreeAsync(hip.Thread{Device: o.Device}, o.Ptr, o.Stream), nil)
	}
}

// doMemGetAddressRange is asked about addresses the client did not place.
func (s *session) doMemGetAddressRange(r *wire.Request) {
	p, t, ok := s.place(r)
	if !ok {
		return
	}
	base, size, code := s.rt.MemGetAddressRange(t, p.Addr)
	if code != hip.Success {
		s.reply(r, code, nil)
		return
	}
	var buf [16]byte
	e := wire.Enc{B: buf[:0]}
	e.U64(uint64(base))
	e.U64(size)
	s.reply(r, code, e.B)
}

func (s *session) replyU64(r *wire.Request, v uint64, code hip.Error) {
	if code != hip.Success {
		s.reply(r, code, nil)
		return
	}
	var buf [8]byte
	binary.LittleEndian.PutUint64(buf[:], v)
	s.reply(r, code, buf[:])
}

// What the client answers itself: its memory is nothing the worker knows.

func (s *session) doHostMalloc(r *wire.Request)           { s.reply(r, hip.ErrorNotSupported, nil) }
func (s *session) doHostFree(r *wire.Request)             { s.reply(r, hip.ErrorNotSupported, nil) }
func (s *session) doHostRegister(r *wire.Request)         { s.reply(r, hip.ErrorNotSupported, nil) }
func (s *session) doHostUnregister(r *wire.Request)       { s.reply(r, hip.ErrorNotSupported, nil) }
func (s *session) doHostGetDevicePointer(r *wire.Request) { s.reply(r, hip.ErrorNotSupported, nil) }
func (s *session) doHostGetFlags(r *wire.Request)         { s.reply(r, hip.ErrorNotSupported, nil) }
func (s *session) doMallocManaged(r *wire.Request)        { s.reply(r, hip.ErrorNotSupported, nil) }
func (s *session) doPointerGetAttributes(r *wire.Request) { s.reply(r, hip.ErrorNotSupported, nil) }
func (s *session) doMemPtrGetInfo(r *wire.Request)        { s.reply(r, hip.ErrorNotSupported, nil) }

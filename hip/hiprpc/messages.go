package hiprpc

import (
	"encoding/binary"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/wire"
)

// Dir is where a copy goes, seen from the worker.
type Dir uint8

// Directions of a copy.
const (
	ToDevice   Dir = 1 // the bytes are the message's bulk
	FromDevice Dir = 2 // the bytes are the reply's bulk
	Within     Dir = 3 // device to device
	NearTo     Dir = 4 // the client has copied to the device itself, in memory that it has mapped; Spitch is how many nanoseconds that took. Never answered
	NearFrom   Dir = 5 // likewise from the device
)

// Copy is a copy of Height rows of Width bytes; a plain copy has one row. Rows are Dpitch and Spitch bytes apart on the device; in bulk
// they follow each other closely.
type Copy struct {
	Device               int32
	Dir                  Dir
	Stream               hip.Stream
	Dst, Src             hip.Ptr // the host side's address is 0
	Dpitch, Spitch       uint64
	Width, Height        uint64
	DstDevice, SrcDevice int32 // of a peer copy, otherwise -1
	Async                bool  // the caller does not wait: a failure is reported as an asynchronous one, too
}

// Bytes is Width times Height, false if that is more than any device memory (2^46).
func (c *Copy) Bytes() (uint64, bool) {
	const most = 1 << 46
	if c.Width > most || c.Height > most || c.Width != 0 && c.Height > most/c.Width {
		return 0, false
	}
	return c.Width * c.Height, true
}

// copyLen is the length of an encoded Copy.
const copyLen = 4 + 1 + 7*8 + 2*4 + 1

// Append encodes c. It does without an Enc so that b may be on the caller's stack.
func (c *Copy) Append(b []byte) []byte {
	var a [copyLen]byte
	le := binary.LittleEndian
	le.PutUint32(a[0:], uint32(c.Device))
	a[4] = uint8(c.Dir)
	le.PutUint64(a[5:], uint64(c.Stream))
	le.PutUint64(a[13:], uint64(c.Dst))
	le.PutUint64(a[21:], uint64(c.Src))
	le.PutUint64(a[29:], c.Dpitch)
	le.PutUint64(a[37:], c.Spitch)
	le.PutUint64(a[45:], c.Width)
	le.PutUint64(a[53:], c.Height)
	le.PutUint32(a[61:], uint32(c.DstDevice))
	le.PutUint32(a[65:], uint32(c.SrcDevice))
	if c.Async {
		a[69] = 1
	}
	return append(b, a[:]...)
}

// Decode reads what Append wrote; false if b is anything else.
func (c *Copy) Decode(b []byte) bool {
	if len(b) != copyLen || b[69] > 1 {
		return false
	}
	le, a := binary.LittleEndian, (*[copyLen]byte)(b)
	c.Device, c.Dir, c.Stream = int32(le.Uint32(a[0:])), Dir(a[4]), hip.Stream(le.Uint64(a[5:]))
	c.Dst, c.Src = hip.Ptr(le.Uint64(a[13:])), hip.Ptr(le.Uint64(a[21:]))
	c.Dpitch, c.Spitch = le.Uint64(a[29:]), le.Uint64(a[37:])
	c.Width, c.Height = le.Uint64(a[45:]), le.Uint64(a[53:])
	c.DstDevice, c.SrcDevice, c.Async = int32(le.Uint32(a[61:])), int32(le.Uint32(a[65:])), a[69] != 0
	_, ok := c.Bytes()
	return ok && c.Dir >= ToDevice && c.Dir <= NearFrom
}

// AppendLaunch encodes a launch from a thread whose current device is device.
func AppendLaunch(b []byte, device int32, l *hip.Launch) []byte {
	e := wire.Enc{B: b}
	e.I32(device)
	e.U64(uint64(l.Function))
	for _, d := range [...]hip.Dim3{l.Grid, l.Block, l.GlobalSize} {
		e.U32(d.X)
		e.U32(d.Y)
		e.U32(d.Z)
	}
	e.U32(l.SharedMem)
	e.U64(uint64(l.Stream))
	e.U64(uint64(l.Start))
	e.U64(uint64(l.Stop))
	e.U32(l.Flags)
	e.Bytes(l.Args)
	return e.B
}

// DecodeLaunch reads what AppendLaunch wrote. Args lies in b.
func DecodeLaunch(b []byte, l *hip.Launch) (device int32, ok bool) {
	d := wire.NewDec(b)
	device = d.I32()
	l.Function = hip.Function(d.U64())
	for _, v := range [...]*hip.Dim3{&l.Grid, &l.Block, &l.GlobalSize} {
		v.X, v.Y, v.Z = d.U32(), d.U32(), d.U32()
	}
	l.SharedMem, l.Stream = d.U32(), hip.Stream(d.U64())
	l.Start, l.Stop, l.Flags = hip.Event(d.U64()), hip.Event(d.U64()), d.U32()
	l.Args = d.Bytes()
	return device, d.Done() && len(l.Args) <= MaxArgs
}

// Place is a piece of device memory of a device: what Grant, Return, MallocAt and the like are about. Addr is 0 where there is none; in a Grant it is the least that is of use.
type Place struct {
	Device int32
	Addr   hip.Ptr
	Size   uint64
}

// Append encodes p.
func (p Place) Append(b []byte) []byte {
	b = binary.LittleEndian.AppendUint32(b, uint32(p.Device))
	b = binary.LittleEndian.AppendUint64(b, uint64(p.Addr))
	return binary.LittleEndian.AppendUint64(b, p.Size)
}

// Decode reads what Append wrote; false if b is anything else or the range wraps.
func (p *Place) Decode(b []byte) bool {
	d := wire.NewDec(b)
	p.Device, p.Addr, p.Size = d.I32(), hip.Ptr(d.U64()), d.U64()
	return d.Done() && uint64(p.Addr)+p.Size >= uint64(p.Addr)
}

// Host is host memory that kernels are going to use, at its device address.
type Host struct {
	Device  int32
	Addr    hip.Ptr
	Size    uint64 // bytes; the address space taken is whole pages
	Flags   uint32 // of hipHostMalloc, hipMallocManaged or hipHostRegister
	Managed bool
}

// Append encodes h.
func (h Host) Append(b []byte) []byte {
	e := wire.Enc{B: b}
	e.I32(h.Device)
	e.U64(uint64(h.Addr))
	e.U64(h.Size)
	e.U32(h.Flags)
	e.Bool(h.Managed)
	return e.B
}

// Decode reads what Append wrote; false if b is anything else.
func (h *Host) Decode(b []byte) bool {
	d := wire.NewDec(b)
	h.Device, h.Addr, h.Size, h.Flags, h.Managed = d.I32(), hip.Ptr(d.U64()), d.U64(), d.U32(), d.Bool()
	return d.Done()
}

// StreamOp is a call about one pointer and one stream: FreeAsync, and Free with Wait.
type StreamOp struct {
	Device int32
	Ptr    hip.Ptr
	Stream hip.Stream
}

// Append encodes s.
func (s StreamOp) Append(b []byte) []byte {
	b = binary.LittleEndian.AppendUint32(b, uint32(s.Device))
	b = binary.LittleEndian.AppendUint64(b, uint64(s.Ptr))
	return binary.LittleEndian.AppendUint64(b, uint64(s.Stream))
}

// Decode reads what Append wrote; false if b is anything else.
func (s *StreamOp) Decode(b []byte) bool {
	d := wire.NewDec(b)
	s.Device, s.Ptr, s.Stream = d.I32(), hip.Ptr(d.U64()), hip.Stream(d.U64())
	return d.Done()
}

// AsyncError tells the client that a call it got no reply to has failed, or that a stream has.
type AsyncError struct {
	Seq    uint64 // counts up; the reply that tells of the same failure carries it, too: a Failure
	Device int32  // that it happened on, or AllDevices: the session is about to end of it
	Op     uint16 // of the failed call, 0 for a failure while executing
	Stream hip.Stream
	Code   hip.Error
	Sticky bool // the device context is dead: every later call fails
	Text   string
}

// AllDevices is the device of a failure that is all devices'.
const AllDevices int32 = -1

// Failure is the only result of a reply that tells of a failure which a notice tells of, too.
type Failure struct {
	Seq    uint64
	Device int32
}

// FailureLen is the length of a Failure in bytes.
const FailureLen = 12

// Append encodes f.
func (f Failure) Append(b []byte) []byte {
	e := wire.Enc{B: b}
	e.U64(f.Seq)
	e.I32(f.Device)
	return e.B
}

// Decode reads what Append wrote; false if b is anything else.
func (f *Failure) Decode(b []byte) bool {
	d := wire.NewDec(b)
	f.Seq, f.Device = d.U64(), d.I32()
	return d.Done()
}

// maxText bounds AsyncError.Text in bytes.
const maxText = 4 << 10

// Append encodes a.
func (a *AsyncError) Append(b []byte) []byte {
	e := wire.Enc{B: b}
	e.U64(a.Seq)
	e.I32(a.Device)
	e.U16(a.Op)
	e.U64(uint64(a.Stream))
	e.I32(int32(a.Code))
	e.Bool(a.Sticky)
	e.Str(a.Text[:min(len(a.Text), maxText)])
	return e.B
}

// Decode reads what Append wrote; false if b is anything else or says success.
func (a *AsyncError) Decode(b []byte) bool {
	d := wire.NewDec(b)
	a.Seq, a.Device, a.Op, a.Stream, a.Code, a.Sticky = d.U64(), d.I32(), d.U16(), hip.Stream(d.U64()), hip.Error(d.I32()), d.Bool()
	t := d.Bytes()
	if !d.Done() || len(t) > maxText || a.Code == hip.Success {
		return false
	}
	if !a.Code.Valid() {
		a.Code = hip.ErrorUnknown
	}
	a.Text = string(t)
	return true
}

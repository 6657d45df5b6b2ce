package hiprpc

import (
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/wire"
)

// Copy3D is a copy of a box of bytes between volumes and arrays. Where one side is host memory its rows follow each other closely in the
// message's bulk, or the reply's, and the box says nothing of that side but hip.MemoryTypeHost. The other sides are said to be hip.MemoryTypeDevice or
// hip.MemoryTypeArray.
type Copy3D struct {
	Device int32
	Stream hip.Stream
	Async  bool // as in Copy
	Box    hip.DrvMEMCPY3D
}

// Dir is where the copy goes.
func (c *Copy3D) Dir() Dir {
	switch hip.MemoryTypeHost {
	case c.Box.SrcMemoryType:
		return ToDevice
	case c.Box.DstMemoryType:
		return FromDevice
	}
	return Within
}

// Bytes is the size of the box, false if that is more than any device memory (2^46).
func (c *Copy3D) Bytes() (uint64, bool) {
	const most = 1 << 46
	n := uint64(1)
	for _, k := range [...]uint64{c.Box.WidthInBytes, c.Box.Height, c.Box.Depth} {
		if k > most || n != 0 && k > most/n {
			return 0, false
		}
		n *= k
	}
	return n, true
}

// Append encodes c.
func (c *Copy3D) Append(b []byte) []byte {
	e := wire.Enc{B: b}
	e.I32(c.Device)
	e.U64(uint64(c.Stream))
	if c.Async {
		e.U8(1)
	} else {
		e.U8(0)
	}
	appendStruct(&e, &c.Box)
	return e.B
}

// Decode reads what Append wrote; false if b is anything else.
func (c *Copy3D) Decode(b []byte) bool {
	d := wire.NewDec(b)
	c.Device, c.Stream = d.I32(), hip.Stream(d.U64())
	async := d.U8()
	takeStruct(&d, &c.Box)
	if !d.Done() || async > 1 {
		return false
	}
	c.Async = async != 0
	on := func(k hip.MemoryType) bool { return k == hip.MemoryTypeDevice || k == hip.MemoryTypeArray }
	from, to := c.Box.SrcMemoryType, c.Box.DstMemoryType
	if from == hip.MemoryTypeHost && !on(to) || to == hip.MemoryTypeHost && !on(from) || from != hip.MemoryTypeHost && to != hip.MemoryTypeHost && !(on(from) && on(to)) {
		return false
	}
	if from == hip.MemoryTypeHost && (c.Box.SrcHost != 0 || c.Box.SrcXInBytes|c.Box.SrcY|c.Box.SrcZ|c.Box.SrcPitch|c.Box.SrcHeight != 0) {
		return false
	}
	if to == hip.MemoryTypeHost && (c.Box.DstHost != 0 || c.Box.DstXInBytes|c.Box.DstY|c.Box.DstZ|c.Box.DstPitch|c.Box.DstHeight != 0) {
		return false
	}
	_, ok := c.Bytes()
	return ok
}

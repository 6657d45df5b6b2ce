package hiprpc

import (
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/wire"
)

// FeatureContent: a module can be loaded by what it is, its SHA-256, if the worker has seen it from the same user before.
const FeatureContent = "content"

// MinContent is the size in bytes from which a client asks for a code object by what it is: below it the bytes are there as soon as the answer.
const MinContent = 64 << 10

// Content is what OpModuleLoadContent asks for: i32 device, u64 size of the code object, 32 bytes SHA-256. The reply is that of hipModuleLoadData, or
// ErrorNotFound: the worker does not have it, and the client sends it.
type Content struct {
	Device int32
	Size   uint64
	Sum    [32]byte
}

// Append adds the encoding to b.
func (c *Content) Append(b []byte) []byte {
	e := wire.Enc{B: b}
	e.I32(c.Device)
	e.U64(c.Size)
	e.B = append(e.B, c.Sum[:]...)
	return e.B
}

// Decode reads what Append wrote, and reports whether it was that.
func (c *Content) Decode(b []byte) bool {
	d := wire.NewDec(b)
	c.Device, c.Size = d.I32(), d.U64()
	copy(c.Sum[:], d.Raw(len(c.Sum)))
	return d.Done() && c.Size >= MinContent && c.Size <= MaxImage
}

// ErrorNoContent is how OpModuleLoadContent is answered by a worker that does not have the code object.
const ErrorNoContent = hip.ErrorNotFound

package hiprpc

import (
	"encoding/binary"

	"github.com/rocwire/rocwire/hip"
)

// FeatureNear: on one machine the client can have device memory mapped into its own process (OpNear), and then copies between that and host memory itself,
// whenever nothing else that it has asked for is under way.
const FeatureNear = "near"

// Near is the reply to OpNear: the allocation that an address lies in. Its memory has been passed (wire.ServerConn.Pass) with Base as its number.
type Near struct {
	Base hip.Ptr
	Size uint64 // bytes, whole pages
}

const nearLen = 16

// Append encodes n.
func (n Near) Append(b []byte) []byte {
	b = binary.LittleEndian.AppendUint64(b, uint64(n.Base))
	return binary.LittleEndian.AppendUint64(b, n.Size)
}

// Decode reads what Append wrote; false if b is anything else or the range wraps.
func (n *Near) Decode(b []byte) bool {
	if len(b) != nearLen {
		return false
	}
	n.Base, n.Size = hip.Ptr(binary.LittleEndian.Uint64(b)), binary.LittleEndian.Uint64(b[8:])
	return uint64(n.Base)+n.Size >= uint64(n.Base)
}

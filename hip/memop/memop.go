// Package memop is what hipStreamWaitValue and hipStreamWriteValue do with memory:
// the comparisons, and the accesses, which others make at the same time.
package memop

import (
	"encoding/binary"
	"sync/atomic"
	"unsafe"

	"github.com/rocwire/rocwire/hip"
)

// MaxBatch is the most operations of one hipStreamBatchMemOp.
const MaxBatch = 256

// Op is one wait of a stream for a value in memory, or one write of it.
type Op struct {
	Ptr         hip.Ptr
	Value, Mask uint64 // Mask is a wait's
	Wide        bool   // 64 bits rather than 32
	Wait        bool
	Compare     uint32 // of a wait: hip.StreamWaitValueGte and its kin; a write's flags, which mean nothing
}

// Of reads an operation of hipStreamBatchMemOp: kind, address, value and flags,
// eight bytes each. False for barriers, which AMD's runtime refuses too, and for
// what is no operation.
func Of(u *hip.StreamBatchMemOpParamsUnion) (Op, bool) {
	o := Op{Ptr: hip.Ptr(u[1]), Value: u[2], Mask: ^uint64(0), Compare: uint32(u[3])}
	switch hip.StreamBatchMemOpType(uint32(u[0])) {
	case hip.StreamMemOpWaitValue32:
		o.Wait = true
	case hip.StreamMemOpWaitValue64:
		o.Wait, o.Wide = true, true
	case hip.StreamMemOpWriteValue32:
	case hip.StreamMemOpWriteValue64:
		o.Wide = true
	default:
		return o, false
	}
	if !o.Wide {
		o.Value, o.Mask = uint64(uint32(o.Value)), uint64(uint32(o.Mask))
	}
	return o, true
}

// Valid reports whether the operation names memory and, if it waits, a comparison.
func (o *Op) Valid() bool { return o.Ptr != 0 && !(o.Wait && o.Compare > hip.StreamWaitValueNor) }

// Size is how many bytes it concerns.
func (o *Op) Size() uint64 {
	if o.Wide {
		return 8
	}
	return 4
}

// Passes reports whether a wait is over when the memory holds v.
func (o *Op) Passes(v uint64) bool {
	switch o.Compare {
	case hip.StreamWaitValueGte:
		return v&o.Mask >= o.Value
	case hip.StreamWaitValueEq:
		return v&o.Mask == o.Value
	case hip.StreamWaitValueAnd:
		return v&o.Mask&o.Value != 0
	}
	return ^(v|o.Value)&o.Mask != 0
}

// Load reads b, of Size bytes: in one access, where its address allows that.
func (o *Op) Load(b []byte) uint64 {
	p := unsafe.Pointer(unsafe.SliceData(b))
	aligned := uintptr(p)%uintptr(o.Size()) == 0
	switch {
	case o.Wide && aligned:
		return atomic.LoadUint64((*uint64)(p))
	case o.Wide:
		return binary.LittleEndian.Uint64(b)
	case aligned:
		return uint64(atomic.LoadUint32((*uint32)(p)))
	}
	return uint64(binary.LittleEndian.Uint32(b))
}

// Store writes the operation's value to b, of Size bytes, as Load reads.
func (o *Op) Store(b []byte) {
	p := unsafe.Pointer(unsafe.SliceData(b))
	aligned := uintptr(p)%uintptr(o.Size()) == 0
	switch {
	case o.Wide && aligned:
		atomic.StoreUint64((*uint64)(p), o.Value)
	case o.Wide:
		binary.LittleEndian.PutUint64(b, o.Value)
	case aligned:
		atomic.StoreUint32((*uint32)(p), uint32(o.Value))
	default:
		binary.LittleEndian.PutUint32(b, uint32(o.Value))
	}
}

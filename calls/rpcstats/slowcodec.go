package rpcstats

import (
	"encoding/binary"
	"fmt"
	"time"

	"github.com/rocwire/rocwire/calls/internal/packed"
)

// Limits of encoded slow calls.
const (
	MaxSlow   = 64  // calls in one message
	MaxKernel = 256 // bytes of a kernel's name
)

const (
	slowVersion = 1
	slowClient  = 1 // flag: measured by the client
	// slowMin is the size of the smallest call.
	slowMin = 1 + 2 + 4 + 4 + 5 + 1
)

// AppendSlow appends calls in their compact form to b; those beyond MaxSlow are left
// out.
//
//	u8 version, uvarint calls
//	each: u8 flags (1: by the client), u16 op, i32 code, u32 request (little endian),
//	      uvarint age, total, 1+queue, 1+network, 1+execution in ns (0: not known),
//	      uvarint length of the kernel's name, its bytes
func AppendSlow(b []byte, list []Slow) []byte {
	list = list[:min(len(list), MaxSlow)]
	b = append(b, slowVersion)
	b = binary.AppendUvarint(b, uint64(len(list)))
	for i := range list {
		s := &list[i]
		var flags byte
		if s.Client {
			flags |= slowClient
		}
		b = append(b, flags)
		b = binary.LittleEndian.AppendUint16(b, s.Op)
		b = binary.LittleEndian.AppendUint32(b, uint32(s.Code))
		b = binary.LittleEndian.AppendUint32(b, s.Request)
		b = binary.AppendUvarint(b, nanos(s.Age))
		b = binary.AppendUvarint(b, nanos(s.Total))
		for _, d := range [...]time.Duration{s.Queue, s.Network, s.Execution} {
			if d < 0 {
				b = append(b, 0)
			} else {
				b = binary.AppendUvarint(b, 1+nanos(d))
			}
		}
		k := packed.Cut(s.Kernel, MaxKernel)
		b = binary.AppendUvarint(b, uint64(len(k)))
		b = append(b, k...)
	}
	return b
}

func nanos(d time.Duration) uint64 { return uint64(min(max(d, 0), maxNanos)) }

// DecodeSlow reads what AppendSlow made, whole. Its errors are ErrInvalid with a
// reason. A name may hold any bytes.
func DecodeSlow(b []byte) ([]Slow, error) {
	r := packed.Reader{B: b}
	if v := r.U8(); v != slowVersion && !r.Bad {
		return nil, fmt.Errorf("%w: slow calls of version %d", ErrInvalid, v)
	}
	n := r.Uvarint(MaxSlow)
	if r.Bad || n > uint64(len(r.B)/slowMin) {
		return nil, fmt.Errorf("%w: %d slow calls do not fit", ErrInvalid, n)
	}
	list := make([]Slow, n)
	for i := range list {
		s := &list[i]
		flags := r.U8()
		s.Client = flags&slowClient != 0
		s.Op, s.Code, s.Request = r.U16(), int32(r.U32()), r.U32()
		s.Age, s.Total = time.Duration(r.Uvarint(maxNanos)), time.Duration(r.Uvarint(maxNanos))
		for _, d := range [...]*time.Duration{&s.Queue, &s.Network, &s.Execution} {
			*d = time.Duration(r.Uvarint(maxNanos+1)) - 1
		}
		s.Kernel = string(r.Take(r.Uvarint(MaxKernel)))
		if r.Bad || flags&^slowClient != 0 {
			return nil, fmt.Errorf("%w: in slow call %d of %d", ErrInvalid, i, n)
		}
	}
	if len(r.B) != 0 {
		return nil, fmt.Errorf("%w: %d bytes too many", ErrInvalid, len(r.B))
	}
	return list, nil
}

package hipv1

import (
	"encoding/binary"
)

// Codes of replies that are no hipError_t.
const (
	SMINotInitialised = -1
	SMIBadIndex       = -2 // or a payload that is too short
	SMIBadMetrics     = -3 // the index of OpSMIGetGPUMetrics
)

// AppendReply adds the reply to a request: with its struct v, nil for one that has none, and with bulk bytes that are sent behind it. A reply that is
// only a code though its operation has more is filled with zeros.
func AppendReply(b []byte, h Header, d Dialect, code int32, v any, bulk int) []byte {
	at := len(b)
	b = append(b, make([]byte, HeaderSize)...)
	b = le.AppendUint32(b, uint32(code))
	var list []uint64
	if l, ok := v.(*Listed); ok {
		v, list = l.Fixed, l.List
	}
	if v != nil {
		b, _ = binary.Append(b, le, v) // a struct of this package or bytes, which have a size
	}
	for _, x := range list {
		b = le.AppendUint64(b, x)
	}
	for len(b)-at-HeaderSize < ReplySize(h.Op, d) {
		b = append(b, 0)
	}
	head := Header{Version: Version, Op: replyOp(h.Op), ID: h.ID, Length: uint32(len(b) - at - HeaderSize + bulk), Flags: FlagResponse}
	head.Append(b[at:at])
	return b
}

// replyOp is the operation that a reply names: one for all copies.
func replyOp(op Op) Op {
	if op == OpMemcpyAsync {
		return OpMemcpy
	}
	return op
}

// Listed is a reply's struct with a list behind it.
type Listed struct {
	Fixed any
	List  []uint64
}

// MaxBulk is the most that can be sent behind a reply's code.
const MaxBulk = MaxPayload - 4

// Refusal is how a client is told that it is not let in: the reply to its first request, with a code.
func Refusal(h Header, code int32) []byte {
	if h.NoReply() {
		return nil
	}
	return AppendReply(nil, h, Unknown, code, nil, 0)
}

// EncodeReply is a reply's struct as bytes, none for nil.
func EncodeReply(v any) []byte {
	if v == nil {
		return nil
	}
	b, _ := binary.Append(nil, le, v) // a struct of this package, which has a size
	return b
}

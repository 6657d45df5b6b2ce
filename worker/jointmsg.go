package worker

import (
	"encoding/binary"
	"fmt"

	"github.com/rocwire/rocwire/wire"
	"github.com/rocwire/rocwire/worker/quota/joint"
)

// What a jointRequest asks for.
const (
	jointTake    = 1
	jointAdd     = 2
	jointGive    = 3
	jointLeft    = 4
	jointRoom    = 5
	jointDraw    = 6 // A is what was granted, B when there will be more, both in nanoseconds
	jointSpend   = 7 // is not answered
	jointTrimmed = 8 // answers a msgTrim; is not answered
)

// jointRequest is the content of msgJoint: a question about the account that sessions of one token have together.
type jointRequest struct {
	ID   uint32 // of the reply
	Kind uint8
	Card joint.Card
	A    uint64 // bytes, or nanoseconds
	B    uint64 // for jointTake, the least
}

func (q *jointRequest) encode() []byte {
	b := make([]byte, 0, 46)
	b = append(b, msgJoint)
	b = binary.LittleEndian.AppendUint32(b, q.ID)
	b = append(b, q.Kind)
	b = binary.LittleEndian.AppendUint64(b, q.Card.At)
	b = append(b, q.Card.UUID[:]...)
	b = binary.LittleEndian.AppendUint64(b, q.A)
	return binary.LittleEndian.AppendUint64(b, q.B)
}

// decode reads what encode wrote behind the message's kind.
func (q *jointRequest) decode(b []byte) error {
	d := wire.NewDec(b)
	q.ID, q.Kind, q.Card.At = d.U32(), d.U8(), d.U64()
	copy(q.Card.UUID[:], d.Raw(len(q.Card.UUID)))
	q.A, q.B = d.U64(), d.U64()
	if !d.Done() || q.Kind < jointTake || q.Kind > jointTrimmed {
		return fmt.Errorf("%w: joint", errControl)
	}
	return nil
}

// jointReply is the content of msgJointly.
type jointReply struct {
	ID   uint32
	A, B uint64
}

func (a *jointReply) encode() []byte {
	b := make([]byte, 0, 21)
	b = append(b, msgJointly)
	b = binary.LittleEndian.AppendUint32(b, a.ID)
	b = binary.LittleEndian.AppendUint64(b, a.A)
	return binary.LittleEndian.AppendUint64(b, a.B)
}

func (a *jointReply) decode(b []byte) error {
	d := wire.NewDec(b)
	a.ID, a.A, a.B = d.U32(), d.U64(), d.U64()
	if !d.Done() {
		return fmt.Errorf("%w: jointly", errControl)
	}
	return nil
}

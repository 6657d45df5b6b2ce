package worker

import (
	"fmt"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/wire"
)

// What a shareRequest asks for.
const (
	sharePublish  = 1 // the descriptor comes along
	shareFetch    = 2
	shareWithdraw = 3
	shareFind     = 4 // a module, whose SHA-256 is the token, of a size
	shareKeep     = 5 // a module, whose file comes along; is not answered
	shareRoom     = 6 // that others give way: so many bytes are missing on the card at an address
	shareSpare    = 7 // how many bytes of the card at an address others would give way with; the reply's size
)

// shareRequest is the content of msgShare.
type shareRequest struct {
	ID     uint32 // of the reply
	Kind   uint8
	Token  hip.ShareToken
	Shared hip.Shared // without the descriptor
	At     busAddress // of shareRoom and shareSpare: session and parent number cards differently
}

func (q *shareRequest) encode() []byte {
	e := wire.Enc{B: make([]byte, 0, 64)}
	e.U8(msgShare)
	e.U32(q.ID)
	e.U8(q.Kind)
	e.B = append(e.B, q.Token[:]...)
	appendShared(&e, q.Shared)
	e.U64(uint64(q.At))
	return e.B
}

// decode reads what encode wrote behind the message's kind.
func (q *shareRequest) decode(b []byte) error {
	d := wire.NewDec(b)
	q.ID, q.Kind = d.U32(), d.U8()
	copy(q.Token[:], d.Raw(len(q.Token)))
	q.Shared = decodeShared(&d)
	q.At = busAddress(d.U64())
	if !d.Done() || q.Kind < sharePublish || q.Kind > shareSpare {
		return fmt.Errorf("%w: share", errControl)
	}
	return nil
}

// shareReply is the content of msgShared. The descriptor of what was fetched comes along.
type shareReply struct {
	ID     uint32
	Code   hip.Error
	Token  hip.ShareToken
	Shared hip.Shared
}

func (a *shareReply) encode() []byte {
	e := wire.Enc{B: make([]byte, 0, 64)}
	e.U8(msgShared)
	e.U32(a.ID)
	e.I32(int32(a.Code))
	e.B = append(e.B, a.Token[:]...)
	appendShared(&e, a.Shared)
	return e.B
}

func (a *shareReply) decode(b []byte) error {
	d := wire.NewDec(b)
	a.ID, a.Code = d.U32(), hip.Error(d.I32())
	copy(a.Token[:], d.Raw(len(a.Token)))
	a.Shared = decodeShared(&d)
	if !d.Done() || !a.Code.Valid() {
		return fmt.Errorf("%w: shared", errControl)
	}
	return nil
}

func appendShared(e *wire.Enc, s hip.Shared) {
	e.U64(s.Size)
	e.U32(s.Card)
	e.U32(s.Kind)
}

func decodeShared(d *wire.Dec) hip.Shared {
	return hip.Shared{FD: -1, Size: d.U64(), Card: d.U32(), Kind: d.U32()}
}

package worker

import (
	"time"

	"github.com/rocwire/rocwire/hipv1"
	"github.com/rocwire/rocwire/wire"
)

// v1Cards asks the parent what a client wants to know of cards: management data is the parent's. One question at a time.
type v1Cards struct {
	ctl     *control
	last    uint32 // number of a question
	answers chan v1Answer
}

type v1Answer struct {
	to   uint32
	code int32
	rest []byte
}

// maxAnswer bounds a reply to a question about cards.
const maxAnswer = 1 << 10

func (c *v1Cards) ask(op hipv1.Op, payload []byte) (int32, []byte) {
	if len(payload) > maxQuestion {
		return hipv1.SMIBadIndex, nil
	}
	c.last++
	e := wire.Enc{}
	e.U8(msgCards)
	e.U32(c.last)
	e.U16(uint16(op))
	e.Bytes(payload)
	if c.ctl.send(e.B, -1) != nil {
		return hipv1.SMINotInitialised, nil
	}
	late := time.NewTimer(2 * cardTime)
	defer late.Stop()
	for {
		select {
		case a := <-c.answers:
			if a.to == c.last { // and did not come too late for another
				return a.code, a.rest
			}
		case <-late.C:
			return hipv1.SMINotInitialised, nil
		}
	}
}

// told takes a msgTold.
func (c *v1Cards) told(msg []byte) {
	d := wire.NewDec(msg[1:])
	a := v1Answer{to: d.U32(), code: d.I32()}
	a.rest = append(a.rest, d.Bytes()...)
	if !d.Done() || len(a.rest) > maxAnswer {
		return
	}
	select {
	case c.answers <- a:
	default: // nobody waits for it
	}
}

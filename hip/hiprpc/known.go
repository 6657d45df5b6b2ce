package hiprpc

import (
	"fmt"

	"github.com/rocwire/rocwire/wire"
)

// Answer is the reply to a call that has not been made: what every program asks of its devices first, and never changes.
type Answer struct {
	Op  uint16 `msgpack:"op"`
	Req []byte `msgpack:"req"` // the request's fixed part
	Rep []byte `msgpack:"rep"` // the results of a call that succeeded
}

// MaxKnown bounds a Chosen's answers together, in bytes of requests and results, and maxAnswers their number.
const (
	MaxKnown   = 12 << 10
	maxAnswers = 1024
)

func checkKnown(list []Answer) error {
	n := 0
	for _, a := range list {
		n += len(a.Req) + len(a.Rep)
	}
	if len(list) > maxAnswers || n > MaxKnown {
		return fmt.Errorf("%w: %d answers of %d bytes", wire.ErrProtocol, len(list), n)
	}
	return nil
}

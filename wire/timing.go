package wire

import (
	"encoding/binary"
	"time"
)

// FeatureTiming lets replies carry where the time of their request went. A client wants it in its Hello; a server that has granted it may
// send replies with the flag TIMED.
const FeatureTiming = "timing"

// Timing is where the time of a request went on the server. Together it is what passed from arrival to reply without the wait for the
// request's own bulk data, which is the network's.
type Timing struct {
	Queue     time.Duration // from when the request had been read from the socket until Handle was called
	Execution time.Duration // from there until the reply began to be sent
}

// Total is both together.
func (t Timing) Total() time.Duration { return t.Queue + t.Execution }

const (
	timingSize = 16      // bytes on the wire
	maxTiming  = 1 << 60 // ns, 36 years: the sum of two cannot overflow
)

// append adds the wire form; what is out of range is cut to it.
func (t Timing) append(b []byte) []byte {
	b = binary.LittleEndian.AppendUint64(b, uint64(min(max(t.Queue, 0), maxTiming)))
	return binary.LittleEndian.AppendUint64(b, uint64(min(max(t.Execution, 0), maxTiming)))
}

// parseTiming reads the 16 bytes at the start of b; false if they are out of range.
func parseTiming(b []byte) (Timing, bool) {
	q, x := binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])
	return Timing{time.Duration(q), time.Duration(x)}, q <= maxTiming && x <= maxTiming
}

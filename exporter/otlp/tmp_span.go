package otlp

import "time"

type rpcKind uint8

const (
	spanClient rpcKind = iota
	spanWorker
	spanKernel
)

type rpcSpan struct {
	TraceID     [16]byte
	ID, Parent  [8]byte
	Kind        rpcKind
	Op, Code    string
	Start       time.Time
	Duration    time.Duration
	Device      int
	Stream      uint64
	Kernel      string
	Grid, Block [3]uint32
	Bytes       uint64
}

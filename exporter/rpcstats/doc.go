// Package rpcstats measures how long calls take, where they are made: one
// recorder in each client and each session process, whose deltas travel to the
// worker and are added up there.
//
// A series is one function (wire opcode) with one result code, seen from one
// side. Its figures are the sum of the durations and an exponential histogram of
// schema 3: bucket i holds the durations in (2^((i-1)/8), 2^(i/8)] seconds, so a
// quantile is known to within 9 %. The buckets are those of Prometheus' native
// histograms and OpenTelemetry's exponential ones; nothing is converted on the way.
//
// Recording costs a few loads and two atomic additions, takes no lock and
// allocates nothing after the first call of a series. The package imports nothing
// beyond the standard library's basics, because it is linked into programs that
// only wanted a HIP library.
//
// Trust: [Decode] checks every number it reads, and bounds what it returns. What a
// client reports about itself is the client's word; [Delta.Side] says whose word
// it is, and a receiver accepts only the side that its peer is.
package rpcstats

// Op is the wire opcode of a message that carries one encoded Delta, from client
// to worker, no reply wanted.
const Op uint16 = 0x0820

// Side says where durations were measured.
type Side uint8

// The sides of a call.
const (
	Client Side = 1 // issue to return, as the calling program sees it
	Worker Side = 2 // arrival to reply, as the session process sees it
)

// String is the label value of the side.
func (s Side) String() string {
	switch s {
	case Client:
		return "client"
	case Worker:
		return "worker"
	}
	return "other"
}

// OpOther and CodeOther stand for the functions and results that were too many to
// count apart.
const (
	OpOther   uint16 = 0xFFFF
	CodeOther int32  = -0x80000000
)

// Package rpctrace says which calls of a HIP program are traced, and carries what is
// known of them: a span from issue to return in the program (client), one from arrival
// to reply on the worker (worker), and one for the execution of a kernel (kernel),
// each the child of the one before.
//
// # Sampling
//
// The program's side decides. With its Hello it sends the W3C trace context it was
// started in (TRACEPARENT), a seed and a rate: of N calls, about one is traced. Whether
// a call is, and the identities of its spans, follow from the seed and the number of
// its request, so both sides come to the same result and nothing is sent with a call.
// In a context the spans belong to its trace, below its span; without one each call is
// a trace of its own.
//
// A program sends its part, see [AppendRecords], about once a second, to a worker that
// has granted [Feature]. Both sides trace at most [MaxRate] spans a second; what is
// more is dropped and counted.
//
// # Time
//
// A worker and its client do not have the same clock. A client says how long ago a call
// began; the worker moves that so that its own span lies in the middle of one that
// contains it, as network time protocols do.
//
// Trust: [DecodeRecords] and [ParseTraceParent] check and bound all that they read.
// What a client says of its calls is its word; it can only say it of its own trace.
// The package imports nothing beyond the standard library's basics, because it is
// linked into programs that only wanted a HIP library.
package rpctrace

// Op is the wire opcode of a client's records, no reply wanted.
const Op uint16 = 0x0822

// Feature is the name, in Hello and Welcome, of a worker's interest in traces.
const Feature = "trace"

// MaxRate is how many spans one side of a session traces in a second.
const MaxRate = 1000

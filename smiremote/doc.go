// Package smiremote carries package smi over a wire connection: a worker answers
// with a [Handler], and a [Client] is an smi.Source of the worker's cards. Besides
// the cards a worker tells about its sessions and how long their calls took.
//
// # Messages
//
// A connection of purpose "smi" carries requests with these operations. A request
// is empty, or the u32 index of a card; the reply's results are MessagePack. A
// code other than 0 is an smi.Code, and the results are the reason as text.
//
//	0x0840  snapshot            → smi.Snapshot
//	0x0841  devices             → [] smi.Device
//	0x0842  info of a card      → smi.Info
//	0x0843  metrics of a card   → smi.Metrics
//	0x0844  processes of a card → [] smi.Process
//	0x0845  sessions            → SessionList
//	0x0846  calls               → [] call totals
//
// Fields that a receiver does not know are ignored and missing ones are "not
// available", so both sides may be of different age.
//
// # Trust
//
// The worker checks the few bytes of a request and does a bounded amount of work
// for each connection at a time. The client does not trust the worker either: a
// reply is walked through before it is decoded, its nesting, lengths and number of
// list elements are bounded, and indices, times and figures must make sense.
package smiremote

// Purpose is what a Hello says to be served by a Handler.
const Purpose = "smi"

// Operations.
const (
	opSnapshot uint16 = 0x0840 + iota
	opDevices
	opInfo
	opMetrics
	opProcesses
	opSessions
	opCalls
)

// Package smiremote carries package smi over a wire connection: a worker answers
// with a [Handler], and a [Client] is an smi.Source of the worker's cards. Besides
// the cards a worker tells about itself, about its sessions and how long their
// calls took.
//
// # Messages
//
// A connection of purpose "smi" carries requests with the operations below, none
// with bulk data. Integers are little-endian; a card is an i32 index. A reply with
// code 0 has results in MessagePack, with the keys that package smi's types state;
// any other code is an smi.Code, and the results are the reason as text, at most
// 1 KiB.
//
//	op      name             request               results
//	0x0840  snapshot         –                     smi.Snapshot
//	0x0841  devices          –                     [] smi.Device
//	0x0842  info             card                  smi.Info
//	0x0843  metrics          card                  smi.Metrics
//	0x0844  processes        card                  [] smi.Process
//	0x0845  sessions         –                     SessionList
//	0x0846  calls            –                     [] call totals
//	0x0847  firmware         card                  [] smi.Firmware
//	0x0848  ECC              card                  smi.ECC
//	0x0849  bad pages        card                  [] smi.BadPage
//	0x084a  XGMI             card                  smi.XGMI
//	0x084b  partitions       card                  smi.Partitions
//	0x084c  topology         –                     smi.Topology
//	0x084d  server           –                     ServerInfo
//	0x084e  set              card | smi.Setting    nil
//	0x084f  inject           card | smi.Fault      nil
//	0x0850  kill session     id as text            nil
//	0x0851  packed snapshot  –                     not MessagePack, see below
//	0x0852  subscribe        –                     u32 subscription, as an integer
//	0x0853  next events      u32 subscription      [] smi.Event
//	0x0854  unsubscribe      u32 subscription      nil
//	0x0855  slowest calls    –                     [] slow calls
//	0x0856  quota            card | map            nil
//	0x0860  issue token      smi.Token             [] place of each card
//	0x0861  revoke token     id as text            number of sessions that ended
//	0x0862  tokens           –                     [] smi.Token
//
// A quota's map has the session's id as "s", missing for all sessions, and the
// smi.Quota as "q". A request is at most 4 KiB long; one of more than 16 KiB ends the
// connection, before it is read. A question that wants no reply is not worked on. Texts that a program chose for itself (command
// lines, names) and those of events are cut at 1 KiB.
//
// A token that is issued with the id of another takes its place. Tokens are listed without their digests.
//
// A slow call is a map: session "s"; of the client host "h", executable "x" and process
// "p", as it says itself; function "o" and result "c"; start "t"; and in nanoseconds how
// long it took "d" and of that the queue "q", the network "n" and the execution "e",
// each nil if not measured; the kernel's name "k"; the W3C trace it is part of "i". They come slowest first.
//
// # Packed snapshots
//
// The results are one zstd frame, of at most 8 MiB when unpacked:
//
//	u32 length | smi.Snapshot without processes | table of processes
//
// the length being that of the snapshot, and both MessagePack. The table is a map
// whose first key, "rows", has the number of processes of all cards together, those
// of one card standing together; every other key is a column, which has a value for
// each row. Columns have the keys of smi.Process; the fields of its structs have
// those of the struct and the field with a dot between. A column in which no row has
// anything is left out, and one that the receiver does not know is ignored. It is
//
//   - for an integer, an array of integers; 0 is nothing,
//   - for an integer that may be missing, an array of integers and nils,
//   - for a struct, an array of booleans: whether the row has it. It stands before the
//     columns of its fields, whose values in a row without the struct mean nothing,
//   - for a text, an array of two: an array of the different texts, and one with the
//     number of each row's text, where 1 is the first one and 0 the empty text.
//
// # Events
//
// A connection may have up to 16 subscriptions. Next events is answered as soon as
// there is an event, with at most 256 of them; one such request may wait for each
// subscription, a second is ErrBusy. Nothing is sent that was not asked for, so a
// client that is slow takes nothing from anybody: of each subscription the worker
// keeps 1024 events, the oldest make room for new ones, and an event of kind
// smi.EventMissed in their place says how many they were. When the source fails, the
// request is answered with its failure. Unsubscribe answers a request that waits
// with ErrUnavailable; a subscription also ends with its connection.
//
// # Age
//
// Fields that a receiver does not know are ignored and missing ones are "not
// available", so both sides may be of different age. An operation that a worker does
// not know is ErrNotSupported. Workers before operation 0x0847 answered
// ErrInvalid to those with a request; in either case their reason begins with
// "operation 0x" and its number, by which a client tells an old worker from a card
// that lacks something.
//
// # Trust
//
// The worker checks the few bytes of a request and does a bounded amount of work
// for each connection at a time: connections take turns, answers to what all ask alike are
// made once in a quarter of a second, what a client does not read is not made twice, and
// with the connection ends what it has asked for. Settings and quotas are only taken where the worker was told
// to take them, sessions are ended for clients on the same machine only unless it
// was told otherwise, and faults reach cards that are simulated, no others. The
// client does not trust the worker either: a reply is walked through before it is
// decoded, its nesting, lengths and number of list elements are bounded, a packed
// one is unpacked into a bounded memory, and indices, times and figures must make
// sense.
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
	opFirmware
	opECC
	opBadPages
	opXGMI
	opPartitions
	opTopology
	opServer
	opSet
	opInject
	opKill
	opPacked
	opSubscribe
	opNext
	opUnsubscribe
)

// Bounds that both sides know.
const (
	maxRequest       = 4 << 10
	maxReason        = 1 << 10 // of an error's text
	maxSubscriptions = 16      // of one connection
	maxBatch         = 256     // events in a reply
	maxQueued        = 1 << 10 // events of a subscription that nobody asks for
)

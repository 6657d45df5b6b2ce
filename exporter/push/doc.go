// Package push delivers records to a server that may be down, and loses none of them
// within bounds: each sink has a queue of records on disk, from which one goroutine
// sends them, in order, with growing pauses while the server does not take them.
//
// A record is what one request carries, already encoded, so that what waits on disk is
// independent of what is known when it is sent. It is removed once Send has taken it:
// after a crash in between it is sent again, so records are made such that a second
// one changes nothing where the protocol allows that (same series, same time, same
// value).
package push

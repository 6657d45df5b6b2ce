// Package push delivers records to a server that may be down, and loses none of them
// within bounds: each sink has a queue of records on disk, from which one goroutine
// sends them, in order, with growing pauses while the server does not take them.
//
// A record is what one request carries, already encoded, so that what waits on disk is
// independent of what is known when it is sent. It is removed once Send has taken it:
// after a crash in between it is sent again, so records are made such that a second
// one changes nothing where the protocol allows that (same series, same time, same
// value).
//
// # What survives
//
// The end of the process, also by kill -9, loses no record for which Put has returned:
// it was written to a file by then. The record that was being sent is sent again, no
// other is. A power cut or a crash of the kernel may lose what was put in the last
// second, because files are synced together, a second after the first change; and what
// was sent in that second may be sent again. Without a folder, and for as long as
// the disk takes no more (Stats.DiskError says so, InMemory how many), records wait in
// memory only, of which 8 MiB are used beside a folder.
//
// # What is dropped
//
// Each reason is counted. The oldest go first: those put longer than MaxAge ago, when
// their turn comes, by the clock of the machine; and those that take more than
// MaxBytes of disk, a file of at most a sixteenth of it at a time. Records whose bytes
// are not what was written are recognized by their checksums and passed over; those
// behind them in the same file are found again.
//
// # Trust
//
// Records name users, hosts and programs: folders and files are for their owner alone,
// and a folder that belongs to somebody else is refused. One process at a time
// uses a folder. Files are read as if anybody had written them: a length is checked
// against the file before memory is taken. What looks like a record inside another
// record's text is not one, as the checksum of a record's head begins with a number that is
// random for each file.
package push

package push

import "time"

// Stats are a pusher's figures; counters since the process began.
type Stats struct {
	Name             string
	Waiting          int64     // records on the queue
	WaitingBytes     int64     // of them, with 32 bytes each of overhead
	InMemory         int64     // of Waiting, those that a crash would lose: all without a folder, else those the disk does not take
	Oldest           time.Time // when the oldest that waits was put; zero: none waits
	Sent, SentBytes  uint64    // records taken by the server
	Failures         uint64    // attempts that failed and are repeated
	Refused          uint64    // records dropped because the server refused them
	Expired, Crowded uint64    // records dropped because they were too old, because there were too many
	Corrupt          uint64    // records dropped because the disk no longer had what was written
	Up               bool      // the last attempt was taken
	LastError        string    // of the last attempt that failed, "" if the last was taken
	DiskError        string    // why records are InMemory although there is a folder, else ""
}

package push

import (
	"context"
	"errors"
	"log/slog"
	"time"
)

// Options say where records wait and how they are sent.
type Options struct {
	Name     string        // of the sink, a label value and the name of its folder in Dir: "otlp-metrics", "greptimedb"
	Dir      string        // of all queues; "" keeps records in memory, which does not survive a restart
	MaxBytes int64         // of records that wait; the oldest go first. Default 256 MiB
	MaxAge   time.Duration // of records that wait. Default 24 h
	// Send delivers one record. An error that Is ErrPermanent drops the record (and
	// counts it), any other has it tried again later.
	Send func(ctx context.Context, record []byte) error
	Log  *slog.Logger
}

// ErrPermanent is what a record that the server will never take fails with.
var ErrPermanent = errors.New("the server refuses the record")

// Stats are a pusher's figures; counters since the process began.
type Stats struct {
	Name             string
	Waiting          int64 // records on the queue
	WaitingBytes     int64
	Oldest           time.Time // when the oldest that waits was put; zero: none waits
	Sent, SentBytes  uint64    // records taken by the server
	Failures         uint64    // attempts that failed and are repeated
	Refused          uint64    // records dropped because the server refused them
	Expired, Crowded uint64    // records dropped because they were too old, because there were too many
	Corrupt          uint64    // records dropped because the disk no longer had what was written
	Up               bool      // the last attempt was taken
	LastError        string    // of the last attempt that failed, "" if the last was taken
}

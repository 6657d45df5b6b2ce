package push

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"
)

// Options say where records wait and how they are sent. Name and Send are necessary.
type Options struct {
	Name     string        // of the sink, a label value and the name of its folder in Dir: "otlp-metrics", "greptimedb"
	Dir      string        // of all queues; "" keeps records in memory, which does not survive a restart
	MaxBytes int64         // of records that wait; the oldest go first. Default 256 MiB, 16 MiB in memory, at least 64 KiB
	MaxAge   time.Duration // of records that wait. Default 24 h
	// Send delivers one record. An error that Is ErrPermanent drops the record (and
	// counts it), any other has it tried again later; a RetryError says when.
	Send    func(ctx context.Context, record []byte) error
	Timeout time.Duration // of one Send. Default 30 s
	Drain   time.Duration // how long Run goes on sending once its ctx is done. Default 3 s
	Log     *slog.Logger  // default: discard
}

const (
	defaultDiskBytes   = 256 << 20
	defaultMemoryBytes = 16 << 20
	minBytes           = 64 << 10
	defaultAge         = 24 * time.Hour
	defaultTimeout     = 30 * time.Second
	defaultDrain       = 3 * time.Second
)

// Sentinel errors of Put and Open.
var (
	ErrClosed   = errors.New("the queue is closed")
	ErrTooLarge = errors.New("the record is larger than the queue may be")
	ErrInUse    = errors.New("another process uses the queue")
)

func (o *Options) check() error {
	if o.Send == nil {
		return errors.New("push: no Send")
	}
	if o.Name == "" || strings.ContainsAny(o.Name, "/\x00") || strings.HasPrefix(o.Name, ".") {
		return fmt.Errorf("push: %q is no name of a sink", o.Name)
	}
	if o.MaxBytes <= 0 {
		o.MaxBytes = defaultDiskBytes
		if o.Dir == "" {
			o.MaxBytes = defaultMemoryBytes
		}
	}
	o.MaxBytes = max(o.MaxBytes, minBytes)
	setDefault(&o.MaxAge, defaultAge)
	setDefault(&o.Timeout, defaultTimeout)
	setDefault(&o.Drain, defaultDrain)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	o.Log = o.Log.With("sink", o.Name)
	return nil
}

func setDefault(d *time.Duration, def time.Duration) {
	if *d <= 0 {
		*d = def
	}
}

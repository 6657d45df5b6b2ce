package page

import (
	"errors"
	"fmt"
	"time"

	"github.com/rocwire/rocwire/exporter"
	"github.com/rocwire/rocwire/exporter/push"
)

// Options say what is shown and how much of it is kept.
type Options struct {
	Read  func() exporter.Reading // what is known now; necessary. It must answer from memory
	Sinks func() []push.Stats     // how delivery to push sinks goes; nil: there are none
	Place exporter.Place          // shown in the head of the page

	Title   string // of the page; default: "GPUs", of Place.Host if that is known
	Version string // of the program

	History  time.Duration // how far back figures are kept; default 1 h, at most 24 h
	Step     time.Duration // how close together they are; default 5 s, at least 1 s
	MaxBytes int64         // memory of the history; default 6 MiB, at least 256 KiB
	// MaxRequests is how many requests are answered at once; more get 503. Default 16.
	MaxRequests int

	now func() time.Time
}

const (
	defaultHistory  = time.Hour
	defaultStep     = 5 * time.Second
	defaultBytes    = 6 << 20
	defaultRequests = 16

	maxHistory = 24 * time.Hour
	minStep    = time.Second
	minBytes   = 256 << 10
)

// ErrOptions is the error of options that cannot be used.
var ErrOptions = errors.New("page: bad options")

// complete fills in what is not given, and checks the rest.
func (o *Options) complete() error {
	if o.Read == nil {
		return fmt.Errorf("%w: nothing to read", ErrOptions)
	}
	setDefault(&o.History, defaultHistory)
	setDefault(&o.Step, defaultStep)
	setDefault(&o.MaxBytes, defaultBytes)
	setDefault(&o.MaxRequests, defaultRequests)
	if o.now == nil {
		o.now = time.Now
	}
	switch {
	case o.Step < minStep:
		return fmt.Errorf("%w: a step of %v is less than %v", ErrOptions, o.Step, minStep)
	case o.History < o.Step || o.History > maxHistory:
		return fmt.Errorf("%w: a history of %v is not between one step (%v) and %v", ErrOptions, o.History, o.Step, maxHistory)
	case o.MaxBytes < minBytes:
		return fmt.Errorf("%w: %d bytes of history are less than %d", ErrOptions, o.MaxBytes, minBytes)
	}
	if o.Title == "" {
		o.Title = "GPUs"
		if o.Place.Host != "" {
			o.Title += " of " + o.Place.Host
		}
	}
	return nil
}

func setDefault[T ~int | ~int64](v *T, def T) {
	if *v == 0 {
		*v = def
	}
}

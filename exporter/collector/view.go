package collector

import (
	"time"

	"github.com/rocwire/rocwire/smi"
)

// View is what is known of the cards at one moment.
type View struct {
	Now      time.Time
	MaxAge   time.Duration // what is older is not shown
	Err      error         // the source cannot be asked; Cards are the last known ones
	Cards    []Card
	Topology Answer[*smi.Topology]
	Events   Events
}

// Card is one card of a View. When nothing recent is known about it, Snap has only what it is
// (Device, Info) and whom it was given to (Owners).
type Card struct {
	Snap  smi.DeviceSnapshot
	Known bool          // it was read at least once
	Fresh bool          // and not too long ago
	Age   time.Duration // since then
	Took  time.Duration // how long its last reading took

	OwnersAge time.Duration // of Snap.Owners, where they are of a card that does not answer; else 0

	XGMI       Answer[*smi.XGMI]
	LinkErrors uint64 // readings of XGMI in which links had had errors since the one before
	Partitions Answer[*smi.Partitions]
	Firmware   Answer[[]smi.Firmware]
	BadPages   Answer[[]smi.BadPage]
}

// Answer is what became of a question that is asked seldom.
type Answer[T any] struct {
	Value T // if Known
	Known bool
	Asked bool  // and the card knows the question
	Err   error // of the last answer
	Age   time.Duration
	Took  time.Duration
}

// failure is why a detail is not known, or out of date; nil where the card does not
// have it, or was not asked yet.
func (a *Answer[T]) failure(gpu, what string) error {
	if a.Err == nil || !a.Asked {
		return nil
	}
	return failed(gpu, what, smi.FailureOf(a.Err))
}

// Events is how often what happened since somebody began to listen.
type Events struct {
	Counts map[EventKey]uint64
	Missed uint64
	Heard  bool  // the source can be listened to
	Err    error // why it cannot now, although it should
}

// EventKey is a card, or smi.NoCard, and one of EventKinds.
type EventKey struct {
	Device int
	Kind   string
}

package smi

import "context"

// Source tells what there is to know about the cards of one machine.
//
// A card is named by its index, 0 … n-1, which stays the same for the life of the
// source; a card that is gone keeps its index and answers ErrUnavailable or
// ErrIO. An index that never existed is ErrNotFound.
//
// All methods may be called from several goroutines. What they return belongs to
// the caller. A method returns ctx's error soon after ctx is done when it has to
// wait for something; it may answer from memory without looking at ctx.
//
// An implementation embeds [Unimplemented], so that Source can grow.
type Source interface {
	// Devices lists the cards in order of their index.
	Devices(ctx context.Context) ([]Device, error)
	// Info is what does not change about a card while its driver is loaded.
	Info(ctx context.Context, index int) (*Info, error)
	// Metrics is what the card measures now.
	Metrics(ctx context.Context, index int) (*Metrics, error)
	// Processes lists who holds memory or queues on the card, by ascending PID.
	Processes(ctx context.Context, index int) ([]Process, error)
	// Close releases what the source holds. Afterwards every method answers
	// ErrUnavailable. Closing twice is no error.
	Close() error

	mustEmbedUnimplemented()
}

// Unimplemented answers ErrNotSupported to every question. Embed it by value.
type Unimplemented struct{}

// Devices answers ErrNotSupported.
func (Unimplemented) Devices(context.Context) ([]Device, error) { return nil, ErrNotSupported }

// Info answers ErrNotSupported.
func (Unimplemented) Info(context.Context, int) (*Info, error) { return nil, ErrNotSupported }

// Metrics answers ErrNotSupported.
func (Unimplemented) Metrics(context.Context, int) (*Metrics, error) { return nil, ErrNotSupported }

// Processes answers ErrNotSupported.
func (Unimplemented) Processes(context.Context, int) ([]Process, error) {
	return nil, ErrNotSupported
}

// Close does nothing.
func (Unimplemented) Close() error { return nil }

func (Unimplemented) mustEmbedUnimplemented() {}

// Snapshotter is a Source that can tell everything at once for less than the
// questions one by one would cost (a remote worker: one round trip).
type Snapshotter interface {
	Snapshot(ctx context.Context) (*Snapshot, error)
}

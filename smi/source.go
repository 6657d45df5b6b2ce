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
	// Firmware lists the firmware the card runs, by name.
	Firmware(ctx context.Context, index int) ([]Firmware, error)
	// ECC is how many errors the card's memories and engines had.
	ECC(ctx context.Context, index int) (*ECC, error)
	// BadPages lists the pages of memory that are not used any more.
	BadPages(ctx context.Context, index int) ([]BadPage, error)
	// XGMI is what the card's links to other cards do.
	XGMI(ctx context.Context, index int) (*XGMI, error)
	// Partitions is how the card is divided and could be.
	Partitions(ctx context.Context, index int) (*Partitions, error)
	// Topology says how the cards reach each other.
	Topology(ctx context.Context) (*Topology, error)
	// Events hands what happens to the cards to each, one after the other on one
	// goroutine, until ctx is done (its error is returned then) or the source fails.
	Events(ctx context.Context, each func(Event)) error
	// Set changes the card. A source that only looks answers ErrNotSupported, one that
	// may not, ErrNoPermission; a value out of the card's range is ErrInvalid.
	Set(ctx context.Context, index int, s Setting) error
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

// Firmware answers ErrNotSupported.
func (Unimplemented) Firmware(context.Context, int) ([]Firmware, error) {
	return nil, ErrNotSupported
}

// ECC answers ErrNotSupported.
func (Unimplemented) ECC(context.Context, int) (*ECC, error) { return nil, ErrNotSupported }

// BadPages answers ErrNotSupported.
func (Unimplemented) BadPages(context.Context, int) ([]BadPage, error) { return nil, ErrNotSupported }

// XGMI answers ErrNotSupported.
func (Unimplemented) XGMI(context.Context, int) (*XGMI, error) { return nil, ErrNotSupported }

// Partitions answers ErrNotSupported.
func (Unimplemented) Partitions(context.Context, int) (*Partitions, error) {
	return nil, ErrNotSupported
}

// Topology answers ErrNotSupported.
func (Unimplemented) Topology(context.Context) (*Topology, error) { return nil, ErrNotSupported }

// Events answers ErrNotSupported.
func (Unimplemented) Events(context.Context, func(Event)) error { return ErrNotSupported }

// Set answers ErrNotSupported.
func (Unimplemented) Set(context.Context, int, Setting) error { return ErrNotSupported }

// Close does nothing.
func (Unimplemented) Close() error { return nil }

func (Unimplemented) mustEmbedUnimplemented() {}

// Snapshotter is a Source that can tell everything at once for less than the
// questions one by one would cost (a remote worker: one round trip).
type Snapshotter interface {
	Snapshot(ctx context.Context) (*Snapshot, error)
}

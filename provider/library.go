package provider

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rocwire/rocwire/smi"
)

// patience is how long a call may wait for the source.
const patience = 5 * time.Second

// changePatience is how long a change of a card may take: the driver may be loaded anew.
const changePatience = time.Minute

// pause is how long a call that did not ask for it does not try again to open a source
// that could not be opened.
const pause = time.Second

// Origin is where the figures come from.
type Origin struct {
	Source smi.Source
	// Local says that the cards are this machine's, so that its device files are theirs.
	Local bool
	// Worker is the address of the worker that is asked; "" if none is.
	Worker string
	// Rights tells what the source lets this library do; nil: nothing is known against
	// dividing cards, and it keeps nobody within limits.
	Rights func(context.Context) (Rights, error)
}

// Rights are what a source lets this library do.
type Rights struct {
	Divide bool // cards may be divided otherwise
	Limit  bool // its users are kept within limits
}

// Opener opens the source. What should be known goes to the log.
type Opener func(*slog.Logger) (Origin, error)

// library is what is open between AccelInit and AccelShutdown.
type library struct {
	origin Origin
	src    smi.Source
	log    *slog.Logger
	ctx    context.Context // ends with the library
	cancel context.CancelFunc

	now        cached[*smi.Snapshot]
	links      cached[map[int]*smi.XGMI]
	paths      cached[*smi.Topology]
	partitions cached[map[int]*smi.Partitions]
	allowed    cached[Rights]

	mu      sync.Mutex
	infos   map[int]*smi.Info       // the last that was told of each card
	divided map[int]*smi.Partitions // likewise
	shares  shares
	traffic map[int]*traffic
}

// host is the library's state for the life of the process.
type host struct {
	log     *slog.Logger
	current atomic.Pointer[library]
	known   atomic.Pointer[told]

	mu     sync.Mutex // held while the library is opened or closed
	opener Opener
	failed error // why it could not be opened last
	ended  time.Time
	ledger ledger
}

func newHost(open Opener, log *slog.Logger) *host {
	return &host{opener: open, log: log, ledger: ledger{log: log}}
}

// init opens the library, if it is not open. Who had to wait while somebody else tried
// in vain, and who tries again at once without having asked for it, gets that error.
func (h *host) init(explicit bool) (*library, error) {
	if l := h.current.Load(); l != nil {
		return l, nil
	}
	began := time.Now()
	h.mu.Lock()
	defer h.mu.Unlock()
	if l := h.current.Load(); l != nil {
		return l, nil
	}
	if h.failed != nil && (h.ended.After(began) || !explicit && time.Since(h.ended) < pause) {
		return nil, h.failed
	}
	l, err := h.open()
	h.failed, h.ended = err, time.Now()
	if err != nil {
		h.log.Error("the library cannot begin", "error", err)
		return nil, err
	}
	h.current.Store(l)
	return l, nil
}

// open opens a library. mu is held.
func (h *host) open() (*library, error) {
	h.ledger.load()
	if h.opener == nil {
		return nil, smi.Errorf(smi.ErrNoDriver, "no source of figures")
	}
	o, err := h.opener(h.log)
	if err != nil {
		return nil, err
	}
	l := &library{origin: o, src: o.Source, log: h.log, infos: map[int]*smi.Info{}, divided: map[int]*smi.Partitions{}, shares: shares{}, traffic: map[int]*traffic{}}
	if o.Worker == "" { // a worker does this itself
		l.src = smi.NewShared(o.Source, smi.SharedOptions{Fresh: fresh / 2})
	}
	l.ctx, l.cancel = context.WithCancel(context.Background())
	ctx, cancel := context.WithTimeout(l.ctx, 2*patience)
	defer cancel()
	devices, err := l.src.Devices(ctx)
	if err != nil {
		l.close()
		return nil, err
	}
	h.log.Info("the library has begun", "cards", len(devices), "worker", o.Worker)
	return l, nil
}

// shutdown closes the library; calls under way end with an error.
func (h *host) shutdown() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.failed = nil
	if l := h.current.Swap(nil); l != nil {
		l.close()
	}
}

// reopen opens the source anew, because a card was divided otherwise and is now another
// number of them. The old one is closed first: AMD's library counts its users, and looks
// for cards for the first one alone. Calls under way fail; later ones wait for the new.
func (h *host) reopen() (*library, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if old := h.current.Swap(nil); old != nil {
		old.close()
	}
	l, err := h.open()
	h.failed, h.ended = err, time.Now()
	if err != nil {
		return nil, err
	}
	h.current.Store(l)
	return l, nil
}

func (l *library) close() {
	l.cancel()
	if err := l.src.Close(); err != nil && !errors.Is(err, context.Canceled) {
		l.log.Debug("the source did not close in order", "error", err)
	}
}

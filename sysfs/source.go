package sysfs

import (
	"context"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/rocwire/rocwire/smi"
)

// Options say where to read.
type Options struct {
	// Root is the directory below which sys, proc, dev and usr stand; "" is "/".
	Root string
	// Log gets what an operator should know: a table of an unknown version, files that
	// may not be read. nil is slog.Default.
	Log *slog.Logger
}

// Open finds the cards. ErrNoDriver says that amdgpu drives none; ErrNoPermission
// names the file that may not be read.
func Open(o Options) (smi.Source, error) { return open(newTree(o.Root), o) }

func open(t tree, o Options) (*source, error) {
	if o.Log == nil {
		o.Log = slog.Default()
	}
	cards, err := findCards(t)
	if err != nil {
		return nil, err
	}
	if len(cards) == 0 {
		if !t.exists("sys/module/amdgpu") {
			return nil, smi.Errorf(smi.ErrNoDriver, "the driver amdgpu is not loaded: there is no %s", t.path("sys/module/amdgpu"))
		}
		return nil, smi.Errorf(smi.ErrNoDriver, "the driver amdgpu drives no card in %s", t.path("sys/class/drm"))
	}
	s := &source{tree: t, log: o.Log, cards: cards, flights: map[flightKey]*flight{}, done: make(chan struct{}), watchEvery: time.Second, scanFresh: 200 * time.Millisecond}
	s.kfd.tree = t
	s.openEvents = s.openKFDEvents
	s.procs.init(t)
	top := s.kfd.read()
	list := ids{}
	if text, err := t.text(idsFile); err == nil {
		list = parseIDs(text)
	}
	for _, c := range cards {
		if ns := top.gpus(c.BDF.Or(smi.BDF{})); len(ns) > 0 {
			c.Target = ns[0].target()
		}
		c.Name = c.name(list)
	}
	return s, nil
}

type source struct {
	smi.Unimplemented
	tree  tree
	log   *slog.Logger
	cards []*card
	kfd   compute
	procs scanner
	users users
	told  sync.Map // what was logged once

	closing sync.Once
	done    chan struct{} // closed when the source is

	watchEvery time.Duration                             // how often events are looked for
	scanFresh  time.Duration                             // how old a list of processes may be
	openEvents func(gpuID uint64) (io.ReadCloser, error) // tests have no /dev/kfd

	mu      sync.Mutex
	flights map[flightKey]*flight
}

// once logs what is worth saying one time.
func (s *source) once(msg string, args ...any) {
	if _, told := s.told.LoadOrStore(msg, true); !told {
		s.log.Warn(msg, args...)
	}
}

func (s *source) ready() error {
	select {
	case <-s.done:
		return smi.Errorf(smi.ErrUnavailable, "the source is closed")
	default:
		return nil
	}
}

func (s *source) card(index int) (*card, error) {
	if err := s.ready(); err != nil {
		return nil, err
	}
	if index < 0 || index >= len(s.cards) {
		return nil, smi.NoDevice(index, len(s.cards))
	}
	return s.cards[index], nil
}

// Devices implements smi.Source. The list is that of when the source was opened: a
// card that is removed stays in it, and one that comes is for the next source.
func (s *source) Devices(context.Context) ([]smi.Device, error) {
	if err := s.ready(); err != nil {
		return nil, err
	}
	ds := make([]smi.Device, len(s.cards))
	for i, c := range s.cards {
		ds[i] = c.Device
	}
	return ds, nil
}

// Close implements smi.Source. Readings under way end by themselves.
func (s *source) Close() error {
	s.closing.Do(func() { close(s.done) })
	return nil
}

type flightKey struct {
	what  string
	index int
}

// flight is a reading under way.
type flight struct {
	done  chan struct{}
	value any
	err   error
}

// ask reads something of a card aside, so that a file that blocks in the driver holds
// up nobody longer than ctx allows, and is not read a second time meanwhile. Who
// joins a reading gets a copy.
func ask[T any](ctx context.Context, s *source, what string, index int, clone func(T) T, read func(*card) (T, error)) (T, error) {
	var zero T
	c, err := s.card(index)
	if err != nil {
		return zero, err
	}
	if err := ctx.Err(); err != nil {
		return zero, err
	}
	key := flightKey{what, index}
	s.mu.Lock()
	f := s.flights[key]
	if f == nil {
		f = &flight{done: make(chan struct{})}
		s.flights[key] = f
		go func() {
			v, err := read(c)
			f.value, f.err = v, err
			s.mu.Lock()
			delete(s.flights, key)
			s.mu.Unlock()
			close(f.done)
		}()
	}
	s.mu.Unlock()
	select {
	case <-f.done:
	case <-ctx.Done():
		return zero, ctx.Err()
	}
	if f.err != nil {
		return zero, f.err
	}
	v := f.value.(T)
	// The one who started the reading shares with those who joined, so all copy.
	return clone(v), nil
}

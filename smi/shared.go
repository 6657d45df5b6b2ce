package smi

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Shared is src for many askers: what several ask for at the same moment is read
// once, and a reading that hangs is not started again but waited for, each asker as
// long as its own context allows. Closing it closes src.
func Shared(src Source) Source {
	return &shared{src: src, flights: map[flightKey]*flight{}}
}

// flightTime is how long a reading may take that nobody may be waiting for any more.
const flightTime = time.Minute

type shared struct {
	Unimplemented
	src Source

	mu      sync.Mutex
	flights map[flightKey]*flight
}

type flightKey struct {
	what  byte // 'd', 'i', 'm', 'p'
	index int
}

// errNothing is the answer of a source that breaks its promise.
var errNothing = Errorf(ErrInternal, "the source answered nothing")

// flight is a reading under way; its fields are set when done is closed.
type flight struct {
	done  chan struct{}
	value any
	err   error
}

// ask joins the reading of key, or starts it.
func (s *shared) ask(ctx context.Context, key flightKey, read func(context.Context) (any, error)) (any, error) {
	s.mu.Lock()
	f := s.flights[key]
	if f == nil {
		f = &flight{done: make(chan struct{})}
		s.flights[key] = f
		go func() {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), flightTime)
			defer cancel()
			f.value, f.err = read(ctx)
			s.mu.Lock()
			delete(s.flights, key)
			s.mu.Unlock()
			close(f.done)
		}()
	}
	s.mu.Unlock()
	select {
	case <-f.done:
		return f.value, f.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (s *shared) Devices(ctx context.Context) ([]Device, error) {
	v, err := s.ask(ctx, flightKey{'d', 0}, func(ctx context.Context) (any, error) { return s.src.Devices(ctx) })
	if err != nil {
		return nil, err
	}
	return slices.Clone(v.([]Device)), nil
}

func (s *shared) Info(ctx context.Context, index int) (*Info, error) {
	v, err := s.ask(ctx, flightKey{'i', index}, func(ctx context.Context) (any, error) { return s.src.Info(ctx, index) })
	if err != nil {
		return nil, err
	}
	if i := v.(*Info).Clone(); i != nil {
		return i, nil
	}
	return nil, errNothing
}

func (s *shared) Metrics(ctx context.Context, index int) (*Metrics, error) {
	v, err := s.ask(ctx, flightKey{'m', index}, func(ctx context.Context) (any, error) { return s.src.Metrics(ctx, index) })
	if err != nil {
		return nil, err
	}
	if m := v.(*Metrics).Clone(); m != nil {
		return m, nil
	}
	return nil, errNothing
}

func (s *shared) Processes(ctx context.Context, index int) ([]Process, error) {
	v, err := s.ask(ctx, flightKey{'p', index}, func(ctx context.Context) (any, error) { return s.src.Processes(ctx, index) })
	if err != nil {
		return nil, err
	}
	return CloneProcesses(v.([]Process)), nil
}

// Close waits for nothing: a reading that hangs would never let go.
func (s *shared) Close() error { return s.src.Close() }

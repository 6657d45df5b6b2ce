package smi

import (
	"context"
	"errors"
	"sync"
	"time"
)

// SharedOptions tune a SharedSource. What is zero is the default.
type SharedOptions struct {
	// Wait is how long a reading is waited for before the last known figures, marked
	// with their age, are told instead; default 1 s.
	Wait time.Duration
	// Fresh is how long what was read is told again without asking the card; default
	// 250 ms, negative: never.
	Fresh time.Duration
	// Static is the same for Info and Firmware; default 30 s, negative: never.
	Static time.Duration
}

// SharedSource is a source for many askers.
//
//   - What several ask for at the same moment is read once, and what was read a moment
//     ago is told again.
//   - A reading that hangs is not started again. Figures that do not come in time are
//     the last known ones with their age (Metrics.Stale, ECC.Stale, XGMI.Stale,
//     DeviceSnapshot.ProcessesStale); what cannot carry an age and may change is waited
//     for as long as the asker's own context allows. A snapshot waits for no card
//     longer than SharedOptions.Wait.
//   - Set and Inject make everything be read again.
//   - Events are read once for all listeners; a slow one misses events and is told so.
type SharedSource struct {
	Unimplemented
	src Source
	opt SharedOptions

	mu      sync.Mutex
	closed  bool
	epoch   uint64 // counts what makes everything known out of date
	known   map[question]*known
	flights map[question]*flight
	view    *view
	views   uint64
	events  *broadcast
}

var (
	_ Source      = (*SharedSource)(nil)
	_ Snapshotter = (*SharedSource)(nil)
	_ Injector    = (*SharedSource)(nil)
	_ Limiter     = (*SharedSource)(nil)
)

// NewShared stands in front of src. Closing it closes src.
func NewShared(src Source, opt SharedOptions) *SharedSource {
	if opt.Wait <= 0 {
		opt.Wait = time.Second
	}
	if opt.Fresh == 0 {
		opt.Fresh = 250 * time.Millisecond
	}
	if opt.Static == 0 {
		opt.Static = 30 * time.Second
	}
	return &SharedSource{src: src, opt: opt, known: map[question]*known{}, flights: map[question]*flight{}}
}

// Shared is NewShared with the defaults.
func Shared(src Source) Source { return NewShared(src, SharedOptions{}) }

// Unwrap is the source behind s.
func (s *SharedSource) Unwrap() Source { return s.src }

// flightTime is how long a reading may take that nobody may be waiting for any more,
// and what it is waited for at most.
const flightTime = time.Minute

// maxKnown bounds the index of a card about which something is remembered, whatever
// is asked.
const maxKnown = 1 << 12

// question is one that a source can be asked; index is 0 where it is about no card.
type question struct {
	what  what
	index int
}

type what byte

const (
	devices what = iota
	info
	metrics
	processes
	firmware
	ecc
	badPages
	xgmi
	partitions
	topology
)

// static is what is remembered for long.
func (w what) static() bool { return w == info || w == firmware }

// lasting is what may be told late: it carries its age, or does not change.
func (w what) lasting() bool {
	return w.static() || w == devices || w == metrics || w == ecc || w == xgmi
}

// read asks the source.
func (s *SharedSource) read(ctx context.Context, q question) (any, error) {
	switch q.what {
	case devices:
		return s.src.Devices(ctx)
	case info:
		return some(s.src.Info(ctx, q.index))
	case metrics:
		return some(s.src.Metrics(ctx, q.index))
	case processes:
		return s.src.Processes(ctx, q.index)
	case firmware:
		return s.src.Firmware(ctx, q.index)
	case ecc:
		return some(s.src.ECC(ctx, q.index))
	case badPages:
		return s.src.BadPages(ctx, q.index)
	case xgmi:
		return some(s.src.XGMI(ctx, q.index))
	case partitions:
		return some(s.src.Partitions(ctx, q.index))
	}
	return some(s.src.Topology(ctx))
}

// some refuses the answer of a source that breaks its promise.
func some[T any](v *T, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	if v == nil {
		return nil, Errorf(ErrInternal, "the source answered nothing")
	}
	return v, nil
}

// known is the last answer to a question. Its fields do not change.
type known struct {
	value any
	err   error         // instead of value
	at    time.Time     // when it was there
	took  time.Duration // to read
	until time.Time     // it is told again
	epoch uint64
	last  *known // if err is not nil: the last value
}

// flight is a reading under way; got is set when done is closed.
type flight struct {
	start time.Time
	epoch uint64
	done  chan struct{}
	got   *known
}

// answer is what an asker gets.
type answer struct {
	value any // not to be changed
	err   error
	stale bool          // value is the last known one
	age   time.Duration // of a stale value
	until time.Time     // the answer would be the same
}

// ask answers from memory, or joins the reading of q, or starts it. In a hurry it
// waits for Wait, whatever it is.
func (s *SharedSource) ask(ctx context.Context, q question, hurry bool) answer {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return answer{err: Errorf(ErrUnavailable, "the source is closed")}
	}
	now := time.Now()
	k := s.known[q]
	if k != nil && k.epoch == s.epoch && now.Before(k.until) {
		s.mu.Unlock()
		return answer{value: k.value, err: k.err, until: k.until}
	}
	f := s.flights[q]
	if f == nil || f.epoch != s.epoch && now.Sub(f.start) < s.opt.Wait { // one that hangs is not started again
		f = s.start(ctx, q, now)
	}
	epoch := s.epoch
	s.mu.Unlock()
	if k != nil && k.err != nil {
		k = k.last
	}
	spare := k != nil && (hurry || q.what.lasting()) // k may be told instead

	patience := flightTime - now.Sub(f.start)
	if spare || hurry {
		patience = s.opt.Wait - now.Sub(f.start)
	}
	if spare && k.took > max(s.opt.Fresh, s.opt.Wait/4) && now.Sub(k.at) < 3*s.opt.Wait {
		patience = 0 // it is always slow, and what is known is not old
	}
	err := f.wait(ctx, patience)
	switch {
	case err == nil && f.epoch < epoch: // from before a change; the next one will not be
		return s.ask(ctx, q, hurry)
	case err == nil:
		return answer{value: f.got.value, err: f.got.err, until: f.got.until}
	case spare && !errors.Is(err, context.Canceled):
		now = time.Now()
		return answer{value: k.value, stale: true, age: now.Sub(k.at), until: now.Add(s.opt.Fresh)}
	}
	return answer{err: err, until: time.Now().Add(s.opt.Fresh)}
}

// wait ends with the reading, with ctx, or after some time.
func (f *flight) wait(ctx context.Context, patience time.Duration) error {
	select {
	case <-f.done:
		return nil
	default:
	}
	late := Errorf(ErrTimeout, "no answer in time")
	if patience <= 0 {
		return late
	}
	t := time.NewTimer(patience)
	defer t.Stop()
	select {
	case <-f.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return late
	}
}

// start starts a reading, with mu.
func (s *SharedSource) start(ctx context.Context, q question, now time.Time) *flight {
	f := &flight{start: now, epoch: s.epoch, done: make(chan struct{})}
	s.flights[q] = f
	go func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), flightTime)
		defer cancel()
		v, err := s.read(ctx, q)
		s.land(q, f, v, err)
	}()
	return f
}

// land remembers what a reading brought.
func (s *SharedSource) land(q question, f *flight, v any, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	fresh := s.opt.Fresh
	if q.what.static() && err == nil {
		fresh = s.opt.Static
	}
	k := &known{value: v, err: err, at: now, took: now.Sub(f.start), until: now.Add(fresh), epoch: f.epoch}
	if err != nil {
		k.value = nil
		if last := s.known[q]; last != nil && last.err != nil {
			k.last = last.last
		} else {
			k.last = last
		}
	}
	if s.flights[q] == f {
		delete(s.flights, q)
	}
	if old := s.known[q]; q.index >= 0 && q.index < maxKnown && !errors.Is(err, ErrNotFound) && (old == nil || old.epoch <= f.epoch) {
		s.known[q] = k
	}
	if errors.Is(err, ErrUnavailable) || errors.Is(err, ErrIO) { // the card may be another one when it is back
		for _, w := range []what{info, firmware} {
			if w != q.what {
				delete(s.known, question{w, q.index})
			}
		}
	}
	f.got = k
	close(f.done)
}

// forget makes everything be read again.
func (s *SharedSource) forget() {
	s.mu.Lock()
	s.epoch++
	s.mu.Unlock()
}

package smi

import (
	"context"
	"slices"
)

// Set implements Source.
func (s *SharedSource) Set(ctx context.Context, index int, set Setting) error {
	defer s.forget() // also of one that failed: it may have got half way
	return s.src.Set(ctx, index, set)
}

// Inject implements Injector: ErrNotSupported, unless the source behind s is one.
func (s *SharedSource) Inject(ctx context.Context, index int, f Fault) error {
	in := InjectorOf(s.src)
	if in == nil {
		return Errorf(ErrNotSupported, "only simulated cards can be told to fail")
	}
	defer s.forget()
	return in.Inject(ctx, index, f)
}

// SetQuota implements Limiter: ErrNotSupported, unless the source behind s is one.
func (s *SharedSource) SetQuota(ctx context.Context, index int, session string, q Quota) error {
	l := LimiterOf(s.src)
	if l == nil {
		return Errorf(ErrNotSupported, "there are no sessions here that could have a quota")
	}
	return l.SetQuota(ctx, index, session, q)
}

// Close waits for nothing: a reading that hangs would never let go.
func (s *SharedSource) Close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	return s.src.Close()
}

// told is the answer to a question and the value in it.
func told[T any](ctx context.Context, s *SharedSource, q question) (v T, a answer, err error) {
	if a = s.ask(ctx, q, false); a.err == nil {
		v = a.value.(T)
	}
	return v, a, a.err
}

// mark writes how old an answer is. A source that reads figures late itself has
// marked them already.
func (a *answer) mark(stale *Opt[Duration]) {
	if a.stale {
		*stale = Some(stale.Or(0) + Duration(a.age))
	}
}

// Devices implements Source.
func (s *SharedSource) Devices(ctx context.Context) ([]Device, error) {
	ds, _, err := told[[]Device](ctx, s, question{what: devices})
	return slices.Clone(ds), err
}

// Info implements Source.
func (s *SharedSource) Info(ctx context.Context, index int) (*Info, error) {
	i, _, err := told[*Info](ctx, s, question{info, index})
	return i.Clone(), err
}

// Metrics implements Source.
func (s *SharedSource) Metrics(ctx context.Context, index int) (*Metrics, error) {
	m, a, err := told[*Metrics](ctx, s, question{metrics, index})
	if err != nil {
		return nil, err
	}
	m = m.Clone()
	a.mark(&m.Stale)
	return m, nil
}

// Processes implements Source.
func (s *SharedSource) Processes(ctx context.Context, index int) ([]Process, error) {
	ps, _, err := told[[]Process](ctx, s, question{processes, index})
	return CloneProcesses(ps), err
}

// Firmware implements Source.
func (s *SharedSource) Firmware(ctx context.Context, index int) ([]Firmware, error) {
	fs, _, err := told[[]Firmware](ctx, s, question{firmware, index})
	return slices.Clone(fs), err
}

// ECC implements Source.
func (s *SharedSource) ECC(ctx context.Context, index int) (*ECC, error) {
	e, a, err := told[*ECC](ctx, s, question{ecc, index})
	if err != nil {
		return nil, err
	}
	e = e.Clone()
	a.mark(&e.Stale)
	return e, nil
}

// BadPages implements Source.
func (s *SharedSource) BadPages(ctx context.Context, index int) ([]BadPage, error) {
	ps, _, err := told[[]BadPage](ctx, s, question{badPages, index})
	return slices.Clone(ps), err
}

// XGMI implements Source.
func (s *SharedSource) XGMI(ctx context.Context, index int) (*XGMI, error) {
	x, a, err := told[*XGMI](ctx, s, question{xgmi, index})
	if err != nil {
		return nil, err
	}
	x = x.Clone()
	a.mark(&x.Stale)
	return x, nil
}

// Partitions implements Source.
func (s *SharedSource) Partitions(ctx context.Context, index int) (*Partitions, error) {
	p, _, err := told[*Partitions](ctx, s, question{partitions, index})
	return p.Clone(), err
}

// Topology implements Source.
func (s *SharedSource) Topology(ctx context.Context) (*Topology, error) {
	t, _, err := told[*Topology](ctx, s, question{what: topology})
	return t.Clone(), err
}

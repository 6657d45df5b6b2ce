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

// Close waits for nothing: a reading that hangs would never let go.
func (s *SharedSource) Close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	return s.src.Close()
}

// Devices implements Source.
func (s *SharedSource) Devices(ctx context.Context) ([]Device, error) {
	a := s.ask(ctx, question{what: devices}, false)
	if a.err != nil {
		return nil, a.err
	}
	return slices.Clone(a.value.([]Device)), nil
}

// Info implements Source.
func (s *SharedSource) Info(ctx context.Context, index int) (*Info, error) {
	a := s.ask(ctx, question{info, index}, false)
	if a.err != nil {
		return nil, a.err
	}
	return a.value.(*Info).Clone(), nil
}

// Metrics implements Source.
func (s *SharedSource) Metrics(ctx context.Context, index int) (*Metrics, error) {
	a := s.ask(ctx, question{metrics, index}, false)
	if a.err != nil {
		return nil, a.err
	}
	m := a.value.(*Metrics).Clone()
	a.mark(&m.Stale)
	return m, nil
}

// mark writes how old an answer is. A source that reads figures late itself has
// marked them already.
func (a *answer) mark(stale *Opt[Duration]) {
	if a.stale {
		*stale = Some(stale.Or(0) + Duration(a.age))
	}
}

// Processes implements Source.
func (s *SharedSource) Processes(ctx context.Context, index int) ([]Process, error) {
	a := s.ask(ctx, question{processes, index}, false)
	if a.err != nil {
		return nil, a.err
	}
	return CloneProcesses(a.value.([]Process)), nil
}

// Firmware implements Source.
func (s *SharedSource) Firmware(ctx context.Context, index int) ([]Firmware, error) {
	a := s.ask(ctx, question{firmware, index}, false)
	if a.err != nil {
		return nil, a.err
	}
	return slices.Clone(a.value.([]Firmware)), nil
}

// ECC implements Source.
func (s *SharedSource) ECC(ctx context.Context, index int) (*ECC, error) {
	a := s.ask(ctx, question{ecc, index}, false)
	if a.err != nil {
		return nil, a.err
	}
	e := a.value.(*ECC).Clone()
	a.mark(&e.Stale)
	return e, nil
}

// BadPages implements Source.
func (s *SharedSource) BadPages(ctx context.Context, index int) ([]BadPage, error) {
	a := s.ask(ctx, question{badPages, index}, false)
	if a.err != nil {
		return nil, a.err
	}
	return slices.Clone(a.value.([]BadPage)), nil
}

// XGMI implements Source.
func (s *SharedSource) XGMI(ctx context.Context, index int) (*XGMI, error) {
	a := s.ask(ctx, question{xgmi, index}, false)
	if a.err != nil {
		return nil, a.err
	}
	x := a.value.(*XGMI).Clone()
	a.mark(&x.Stale)
	return x, nil
}

// Partitions implements Source.
func (s *SharedSource) Partitions(ctx context.Context, index int) (*Partitions, error) {
	a := s.ask(ctx, question{partitions, index}, false)
	if a.err != nil {
		return nil, a.err
	}
	return a.value.(*Partitions).Clone(), nil
}

// Topology implements Source.
func (s *SharedSource) Topology(ctx context.Context) (*Topology, error) {
	a := s.ask(ctx, question{what: topology}, false)
	if a.err != nil {
		return nil, a.err
	}
	return a.value.(*Topology).Clone(), nil
}

package smitest

import (
	"context"
	"slices"

	"github.com/rocwire/rocwire/smi"
)

// Detail is what a Fake's card tells besides its snapshot; nil is ErrNotSupported.
type Detail struct {
	Firmware   []smi.Firmware
	BadPages   []smi.BadPage
	XGMI       *smi.XGMI
	Partitions *smi.Partitions
}

// Change is one Set that a Fake was asked for.
type Change struct {
	Index   int
	Setting smi.Setting
}

// SetDetails gives the cards, by index, details; a card beyond the list has none.
func (f *Fake) SetDetails(details ...Detail) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.detail = details
}

// SetTopology gives the topology; nil is ErrNotSupported.
func (f *Fake) SetTopology(t *smi.Topology) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.topo = t
}

// Refuse makes Set fail with err, until Refuse(nil).
func (f *Fake) Refuse(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.setErr = err
}

// Changes are the settings that were asked for, refused ones not.
func (f *Fake) Changes() []Change {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.done)
}

// Emit hands an event to whoever reads events; up to 64 wait for one.
func (f *Fake) Emit(e smi.Event) { f.events <- e }

func (f *Fake) details(index int) (Detail, error) {
	if _, err := f.card(index); err != nil {
		return Detail{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if index >= len(f.detail) {
		return Detail{}, nil
	}
	return f.detail[index], nil
}

// Firmware implements smi.Source.
func (f *Fake) Firmware(_ context.Context, index int) ([]smi.Firmware, error) {
	d, err := f.details(index)
	if err == nil && d.Firmware == nil {
		err = smi.ErrNotSupported
	}
	return slices.Clone(d.Firmware), err
}

// ECC implements smi.Source.
func (f *Fake) ECC(_ context.Context, index int) (*smi.ECC, error) {
	c, err := f.card(index)
	if err != nil {
		return nil, err
	}
	if c.ECC == nil && c.ECCErr == nil {
		return nil, smi.ErrNotSupported
	}
	return c.ECC.Clone(), c.ECCErr.Err()
}

// BadPages implements smi.Source.
func (f *Fake) BadPages(_ context.Context, index int) ([]smi.BadPage, error) {
	d, err := f.details(index)
	if err == nil && d.BadPages == nil {
		err = smi.ErrNotSupported
	}
	return slices.Clone(d.BadPages), err
}

// XGMI implements smi.Source.
func (f *Fake) XGMI(_ context.Context, index int) (*smi.XGMI, error) {
	d, err := f.details(index)
	if err == nil && d.XGMI == nil {
		err = smi.ErrNotSupported
	}
	return d.XGMI.Clone(), err
}

// Partitions implements smi.Source.
func (f *Fake) Partitions(_ context.Context, index int) (*smi.Partitions, error) {
	d, err := f.details(index)
	if err == nil && d.Partitions == nil {
		err = smi.ErrNotSupported
	}
	return d.Partitions.Clone(), err
}

// Topology implements smi.Source.
func (f *Fake) Topology(context.Context) (*smi.Topology, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.ready(); err != nil {
		return nil, err
	}
	if f.topo == nil {
		return nil, smi.ErrNotSupported
	}
	return f.topo.Clone(), nil
}

// Events implements smi.Source.
func (f *Fake) Events(ctx context.Context, each func(smi.Event)) error {
	f.mu.Lock()
	err := f.ready()
	f.mu.Unlock()
	if err != nil {
		return err
	}
	for {
		select {
		case e := <-f.events:
			each(e)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Set implements smi.Source: it remembers what was asked for, unless no card could
// do it.
func (f *Fake) Set(_ context.Context, index int, s smi.Setting) error {
	c, err := f.card(index)
	if err != nil {
		return err
	}
	if err := s.Check(); err != nil {
		return err
	}
	if err := possible(&c, &s); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.setErr != nil {
		return f.setErr
	}
	f.done = append(f.done, Change{index, s})
	return nil
}

// possible checks the range of a setting.
func possible(c *smi.DeviceSnapshot, s *smi.Setting) error {
	least, most := smi.Watts(0), smi.Watts(1000)
	if c.Metrics != nil {
		least, most = c.Metrics.Power.MinCap.Or(least), c.Metrics.Power.MaxCap.Or(most)
	}
	if w, ok := s.PowerCap.Get(); ok && (w < least || w > most) {
		return smi.Errorf(smi.ErrInvalid, "a power cap of %v W is not within %v W to %v W", w, least, most)
	}
	if s.PerfLevel != "" && !slices.Contains(perfLevels, s.PerfLevel) {
		return smi.Errorf(smi.ErrInvalid, "no performance level %q", s.PerfLevel)
	}
	const fastest = smi.Hertz(10e9)
	if r := s.Clock; r != nil && (!slices.Contains(clocks, r.Domain) || r.Min.Or(0) > fastest || r.Max.Or(0) > fastest) {
		return smi.Errorf(smi.ErrInvalid, "no clock %q from %v Hz to %v Hz", r.Domain, r.Min, r.Max)
	}
	if s.Determinism.Or(0) > fastest || s.Fan.Or(0) > 1 || s.Fan.Or(0) < 0 {
		return smi.Errorf(smi.ErrInvalid, "out of range")
	}
	if p := s.ComputePartition; p != "" && !slices.Contains(computePartitions, p) {
		return smi.Errorf(smi.ErrInvalid, "no compute partition %q", p)
	}
	if p := s.MemoryPartition; p != "" && !slices.Contains(memoryPartitions, p) {
		return smi.Errorf(smi.ErrInvalid, "no memory partition %q", p)
	}
	return nil
}
